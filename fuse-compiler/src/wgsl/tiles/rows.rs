//! Epilogues that reduce rows: a workgroup has whole rows of accumulators and evaluates the body by stages.
//!
//! A stage computes values per element, or once per row or column if they do not vary along the other axis. A reduction
//! first merges an invocation's elements, then, through workgroup memory, the parts of a row in [`GROUPS`] groups, then
//! the groups. Each step is a balanced tree, so that sums are as accurate as pairwise ones. Columns beyond the last do
//! not count; rows beyond the last repeat it and are not stored.

use fuse_artifact::{
    Uniform,
    schedule::{TILE_PAD, Tile},
};

use super::row_in_tile;
use crate::{
    fusion::{
        Group, Store,
        body::{Body, ValueId, ValueOp},
        reduction_depth::Level,
    },
    kernel::{Arena, Block, Scalar, Ty, Val},
    schedule::{
        contraction::{reduces, rows::GROUPS},
        layout::along,
    },
    wgsl::{
        epilogue::Axes,
        expr::{ElementContext, literal, operation},
        loads::{Gather, Load},
        rank_one,
        reduction::state::{ReductionState, from_bits, to_bits},
        shader::{Shader, lane_coordinates, to_storage},
    },
};

pub(super) struct Rows<'a, 'k> {
    group: &'a Group,
    tile: Tile,
    products: Vec<String>,
    levels: Vec<Level>,
    /// For each value, true if it varies between rows.
    differs_by_row: Vec<bool>,
    /// True if all columns of the tile exist.
    full: bool,
    axes: Axes<'k>,
}

impl<'a, 'k> Rows<'a, 'k> {
    pub(super) fn new(group: &'a Group, axes: Axes<'k>, tile: Tile, products: &[String]) -> Option<Self> {
        let batch = axes.batch;
        let levels = group.body.levels(&group.accesses, |axis| axis == batch + 1);
        let full = group.shape[batch + 1].as_constant() == Some(tile.columns.into());
        let differs_by_row = differing(group, batch);
        let body = Self { group, tile, products: products.to_vec(), levels, differs_by_row, full, axes };
        reduces(&group.body).then_some(body)
    }

    fn arena(&self) -> &'k Arena {
        self.axes.rows.arena()
    }

    fn index(&self, name: impl Into<String>) -> Val<'k> {
        self.arena().name(name, Ty::U32)
    }

    fn body(&self) -> &'a Body {
        &self.group.body
    }

    const fn extents(&self) -> [u32; 2] {
        [self.tile.invocation_rows, self.tile.invocation_columns / 4]
    }

    const fn across(&self) -> u32 {
        self.tile.columns / self.tile.invocation_columns
    }

    /// Rows and columns where a value is computed, one of those along which it does not vary.
    fn places(&self, value: ValueId) -> Vec<[u32; 2]> {
        let [rows, columns] = self.extents();
        let rows = if self.differs_by_row[value] { rows } else { 1 };
        let columns = if self.levels[value].per_element { columns } else { 1 };
        (0..rows).flat_map(|i| (0..columns).map(move |j| [i, j])).collect()
    }

    fn lanes(&self, value: ValueId) -> u32 {
        if self.levels[value].per_element { 4 } else { 1 }
    }

    fn name(&self, value: ValueId, [i, j]: [u32; 2]) -> String {
        match (self.differs_by_row[value], self.levels[value].per_element) {
            (true, true) => format!("v{value}_{i}_{j}"),
            (true, false) => format!("v{value}_row{i}"),
            (false, true) => format!("v{value}_column{j}"),
            (false, false) => format!("v{value}"),
        }
    }

    fn operand(&self, value: ValueId, place: [u32; 2], lanes: u32) -> Val<'k> {
        let dtype = self.body().values[value].dtype;
        match self.body().values[value].op {
            ValueOp::Literal(value) => literal(self.arena(), value, dtype, lanes),
            _ => self.arena().name(self.name(value, place), Ty::of(dtype, self.lanes(value))).splat(lanes),
        }
    }

    /// Declares workgroup memory for parts of rows, as bits.
    pub(super) fn declare(&self, shader: &mut Shader<'k>) {
        for store in &self.group.stores {
            let lanes = if is_row_store(store, self.axes.batch) { 1 } else { self.tile.lanes };
            shader.buffer(store.slot, self.body().values[store.value].dtype, lanes, true);
        }
        let words = self.body().values.iter().filter_map(|value| match value.op {
            ValueOp::Reduce(op, x) => Some(ReductionState::new(op, self.body().values[x].dtype).words().len()),
            _ => None,
        });
        for w in 0..words.max().unwrap_or(0) {
            for (name, lanes, count) in self.shared_arrays(w) {
                shader.workgroup_array(&name, Ty::vector(Scalar::U32, lanes), count);
            }
        }
    }

    fn shared_arrays(&self, w: usize) -> [(String, u32, u32); 2] {
        let parts = self.tile.rows * (self.across() + TILE_PAD);
        [(format!("row_parts{w}"), 1, parts), (format!("row_groups{w}"), 4, self.tile.rows)]
    }

    /// Word `w` of parts of rows, and of their groups.
    fn shared(&self, w: usize) -> [Val<'k>; 2] {
        self.shared_arrays(w).map(|(name, lanes, count)| {
            self.arena().name(name, self.arena().array(Ty::vector(Scalar::U32, lanes), Some(count)))
        })
    }

    fn locate(&self, b: &mut Block<'k>) {
        let Tile { columns, invocation_columns, lanes, .. } = self.tile;
        let [rows, vectors] = self.extents();
        let [row0, column0, tx] = ["row0", "column0", "tx"].map(|name| self.index(name));
        for i in 0..rows {
            let row = b.bind(format!("row_{i}"), row0 + self.index("ty") * 4 + row_in_tile(i, self.tile.rows, rows));
            b.bind(format!("at_row_{i}"), row.min(self.axes.rows - 1));
        }
        for j in 0..vectors {
            let first = column0 + (tx + j * (columns / invocation_columns)) * 4;
            let column = b.bind(format!("column_{j}"), first);
            let at = b.bind(format!("at_column_{j}"), column.min(self.axes.columns - lanes));
            if lanes == 1 {
                b.bind(format!("last_lane_{j}"), self.axes.columns - 1 - at);
            }
            if !self.full {
                let inside = match lanes {
                    1 => self.lane_columns(j).lt(self.axes.columns.splat(4)),
                    _ => column.lt(self.axes.columns),
                };
                b.bind(format!("inside_{j}"), inside);
            }
        }
    }

    fn lane_columns(&self, j: u32) -> Val<'k> {
        lane_coordinates(self.index(format!("column_{j}")), 4, true)
    }

    fn load(&self, shader: &mut Shader<'k>, b: &mut Block<'k>) {
        for (value, op) in self.body().values.iter().map(|value| &value.op).enumerate() {
            let ValueOp::Load(access) = *op else { continue };
            for place in self.places(value) {
                let loaded = self.element(shader, access, place, self.lanes(value));
                b.bind(self.name(value, place), loaded);
            }
        }
    }

    fn element(&self, shader: &mut Shader<'k>, index: u16, place: [u32; 2], lanes: u32) -> Val<'k> {
        let access = &self.group.accesses[usize::from(index)];
        let offset = self.offset(shader, index, place, lanes == 1);
        let lane_axis = self.axes.batch + 1;
        let (along, buffer_lanes) = (along(access, lane_axis), self.tile.lanes);
        let load = Load { access, lane_axis: lane_axis as u8, along, index, buffer_lanes };
        load.read(shader, offset, lanes, Some(self.last_lane(place)))
    }

    /// Offset of an access at a place, without the column unless the access moves along columns.
    fn offset(&self, shader: &mut Shader<'k>, index: u16, [i, j]: [u32; 2], single: bool) -> Val<'k> {
        let access = &self.group.accesses[usize::from(index)].access;
        let mut offset = shader.uniform(Uniform::Offset { access: index });
        let place = [format!("at_row_{i}"), format!("at_column_{j}")].map(|name| self.index(name));
        for (axis, coordinate) in self.axes.batch().into_iter().chain(place).enumerate() {
            if access.axes[axis].is_some() && !(single && axis == self.axes.batch + 1) {
                offset = offset + coordinate * shader.uniform(Uniform::Stride { access: index, axis: axis as u8 });
            }
        }
        offset
    }

    pub(super) fn finish(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, sums: Val<'k>) {
        if !self.preloads() {
            self.load(shader, b);
        }
        let stages = self.levels.iter().map(|level| level.stage).max().unwrap_or(0);
        for stage in 0..=stages {
            self.stage(shader, b, sums, stage);
            self.reduce(shader, b, stage);
        }
        self.store(shader, b);
    }

    /// Binds this invocation's place, and loads the body's inputs if few enough.
    pub(super) fn prepare(&self, shader: &mut Shader<'k>, b: &mut Block<'k>) {
        self.locate(b);
        if self.preloads() {
            self.load(shader, b);
        }
    }

    /// True if registers are left for the body's inputs during the products.
    const fn preloads(&self) -> bool {
        self.tile.lanes == 4
            && self.tile.k_groups() == 1
            && self.tile.invocation_rows * self.tile.invocation_columns <= 16
    }

    /// The last existing lane at a place; always 3 in aligned schedules.
    fn last_lane(&self, [_, j]: [u32; 2]) -> Val<'k> {
        if self.tile.lanes == 1 { self.index(format!("last_lane_{j}")) } else { self.arena().u32(3) }
    }

    fn stage(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, sums: Val<'k>, stage: usize) {
        for (value, known) in self.body().values.iter().enumerate() {
            let elsewhere = matches!(known.op, ValueOp::Literal(_) | ValueOp::Load(_) | ValueOp::Reduce(..));
            if elsewhere || self.levels[value].stage != stage {
                continue;
            }
            let lanes = self.lanes(value);
            for place in self.places(value) {
                let operand = |x: ValueId| self.operand(x, place, lanes);
                let at = RowPlace { rows: self, sums, place, lanes };
                let computed = operation(shader, self.body(), value, lanes, &operand, &at);
                b.bind(self.name(value, place), computed);
            }
        }
    }

    /// Computes reductions of operands known after `stage` reductions.
    fn reduce(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, stage: usize) {
        for (value, reduction) in self.body().values.iter().enumerate() {
            if let ValueOp::Reduce(op, x) = reduction.op
                && self.levels[value].stage == stage + 1
            {
                let state = ReductionState::new(op, self.body().values[x].dtype);
                self.gather_parts(shader, b, state, value, x);
                b.workgroup_barrier();
                self.combine_parts(shader, b, state);
                b.workgroup_barrier();
                self.combine_groups(shader, b, state, value);
            }
        }
    }

    fn gather_parts(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        state: ReductionState,
        value: ValueId,
        x: ValueId,
    ) {
        let [rows, vectors] = self.extents();
        let neutral = state.neutral(self.arena(), 4);
        let inside_lanes = if self.tile.lanes == 1 { 4 } else { 1 };
        b.when_some(self.first_layer(), |b| {
            for i in 0..rows {
                let name = format!("part{value}_{i}");
                let mut parts = vec![];
                for j in 0..vectors {
                    let element = self.operand(x, [i, j], 4);
                    let inside = self.arena().name(format!("inside_{j}"), Ty::vector(Scalar::Bool, inside_lanes));
                    let words = state.of_element(&mut shader.helpers, element, self.lane_columns(j));
                    let words = words.into_iter().zip(&neutral).enumerate().map(|(w, (word, &neutral))| {
                        let word = if self.full { word } else { inside.select(word, neutral) };
                        b.bind(format!("{name}_{j}_word{w}"), word)
                    });
                    parts.push(words.collect::<Vec<_>>());
                }
                let vector = state.tree(b, parts, &format!("{name}_v"));
                let part = state.of_lanes(b, vector, &name);
                for (w, word) in part.into_iter().enumerate() {
                    let at = self.row_in_tile(i) * (self.across() + TILE_PAD) + self.index("tx");
                    b.set(self.shared(w)[0].at(at), to_bits(word));
                }
            }
        });
    }

    /// The condition to have the tile's accumulators; `None` if all do.
    fn first_layer(&self) -> Option<Val<'k>> {
        (self.tile.k_groups() > 1).then(|| self.index("k_group").eq(0))
    }

    /// Reduces the parts of rows in groups, one invocation per row and group.
    fn combine_parts(&self, shader: &Shader<'k>, b: &mut Block<'k>, state: ReductionState) {
        let (workers, invocations) = (self.tile.rows * GROUPS, self.tile.invocations());
        for first in (0..workers).step_by(invocations as usize) {
            let worker = shader.local() + first;
            let combine = |b: &mut Block<'k>| {
                let row = b.bind("part_row", worker / GROUPS);
                let group = b.bind("part_group", worker % GROUPS);
                let at = b.bind("parts", row * (self.across() + TILE_PAD) + group);
                let mut parts = vec![];
                for part in 0..self.across() / GROUPS {
                    let words = state.words().into_iter().enumerate().map(|(w, dtype)| {
                        let bits = self.shared(w)[0].at(at + part * GROUPS);
                        b.bind(format!("part{part}_word{w}"), from_bits(dtype, bits))
                    });
                    parts.push(words.collect::<Vec<_>>());
                }
                let words = state.tree(b, parts, "group");
                for (w, word) in words.into_iter().enumerate() {
                    b.set(self.shared(w)[1].at(row).at(group), to_bits(word));
                }
            };
            if first + invocations <= workers {
                b.scope(combine);
            } else {
                b.when(worker.lt(workers), combine);
            }
        }
    }

    fn combine_groups(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, state: ReductionState, value: ValueId) {
        for i in 0..self.extents()[0] {
            let name = format!("groups{value}_{i}");
            let words = state.words().into_iter().enumerate().map(|(w, dtype)| {
                let bits = self.shared(w)[1].at(self.row_in_tile(i));
                b.bind(format!("{name}_word{w}"), from_bits(dtype, bits))
            });
            let words: Vec<Val<'k>> = words.collect();
            let row = state.of_lanes(b, words, &name);
            let result = state.value(&mut shader.helpers, &row);
            b.bind(self.name(value, [i, 0]), result);
        }
    }

    fn row_in_tile(&self, i: u32) -> Val<'k> {
        self.index("ty") * 4 + row_in_tile(i, self.tile.rows, self.tile.invocation_rows)
    }

    /// Stores elements; a row's first invocation stores row values.
    fn store(&self, shader: &mut Shader<'k>, b: &mut Block<'k>) {
        let [rows, vectors] = self.extents();
        let (of_rows, of_elements): (Vec<&Store>, Vec<&Store>) =
            self.group.stores.iter().partition(|store| is_row_store(store, self.axes.batch));
        let [batch, tx] = ["batch", "tx"].map(|name| self.index(name));
        b.when_some(self.first_layer(), |b| {
            for i in 0..rows {
                let row = self.index(format!("row_{i}"));
                b.when(row.lt(self.axes.rows), |b| {
                    let line = batch * self.axes.rows + row;
                    for j in 0..if of_elements.is_empty() { 0 } else { vectors } {
                        let column = self.index(format!("column_{j}"));
                        b.when(column.lt(self.axes.columns), |b| {
                            let at = b.bind("at", line * self.axes.columns + column);
                            for store in &of_elements {
                                self.store_elements(shader, b, store, [i, j], at);
                            }
                        });
                    }
                    if !of_rows.is_empty() {
                        b.when(tx.eq(0), |b| {
                            for store in &of_rows {
                                let dtype = self.body().values[store.value].dtype;
                                let buffer = shader.buffer(store.slot, dtype, 1, true);
                                b.set(buffer.at(line), to_storage(dtype, self.operand(store.value, [i, 0], 1)));
                            }
                        });
                    }
                });
            }
        });
    }

    fn store_elements(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, store: &Store, place: [u32; 2], at: Val<'k>) {
        let dtype = self.body().values[store.value].dtype;
        let buffer = shader.buffer(store.slot, dtype, self.tile.lanes, true);
        let value = self.operand(store.value, place, 4);
        if self.tile.lanes == 4 {
            b.set(buffer.at(at / 4), to_storage(dtype, value));
            return;
        }
        for e in 0..4 {
            b.when(self.arena().u32(e).le(self.last_lane(place)), |b| {
                b.set(buffer.at(at + e), to_storage(dtype, value.lane(e)));
            });
        }
    }
}

struct RowPlace<'r, 'a, 'k> {
    rows: &'r Rows<'a, 'k>,
    sums: Val<'k>,
    place: [u32; 2],
    lanes: u32,
}

impl<'k> ElementContext<'k> for RowPlace<'_, '_, 'k> {
    fn load(&self, shader: &mut Shader<'k>, access: u16) -> Val<'k> {
        self.rows.element(shader, access, self.place, self.lanes)
    }

    fn gather(&self, shader: &mut Shader<'k>, index: u16) -> Gather<'_, 'k> {
        let access = &self.rows.group.accesses[usize::from(index)];
        let offset = self.rows.offset(shader, index, self.place, false);
        let column = self.rows.axes.batch + 1;
        let mut steps = vec![];
        if self.lanes > 1 && access.access.axes[column].is_some() {
            let stride = shader.uniform(Uniform::Stride { access: index, axis: column as u8 });
            let last = self.rows.last_lane(self.place);
            steps = (0..self.lanes).map(|lane| shader.u32(lane).min(last) * stride).collect();
        }
        let buffer_lanes = self.rows.tile.lanes;
        Gather { access, buffer_lanes, offset, steps, index }
    }

    fn coordinate(&self, _: &mut Shader<'k>, axis: u8) -> Val<'k> {
        let (batch, [i, j]) = (self.rows.axes.batch, self.place);
        let axis = usize::from(axis);
        let coordinate = self.rows.index(match axis {
            _ if axis == batch + 1 => format!("column_{j}"),
            _ if axis == batch => format!("row_{i}"),
            _ => format!("b{axis}"),
        });
        lane_coordinates(coordinate, self.lanes, axis == batch + 1)
    }

    fn accumulator(&self, product: u8) -> Val<'k> {
        let [i, j] = self.place;
        self.sums.field(&rank_one::field(&self.rows.products[usize::from(product)], i, j))
    }
}

fn is_row_store(store: &Store, batch: usize) -> bool {
    store.access.as_ref().is_some_and(|access| access.access.axes[batch + 1].is_none())
}

/// For each value of a body, true if it varies along the axis `row`. Reductions always count as varying.
fn differing(group: &Group, row: usize) -> Vec<bool> {
    let moves = |access: u16| group.accesses[usize::from(access)].access.axes[row].is_some();
    let mut differs: Vec<bool> = Vec::with_capacity(group.body.values.len());
    for value in &group.body.values {
        let of_operands = Body::operands(&value.op).into_iter().any(|x| differs[x]);
        differs.push(match value.op {
            ValueOp::Accumulator(_) | ValueOp::Reduce(..) => true,
            ValueOp::Coordinate { axis, .. } => axis.is_some_and(|axis| usize::from(axis) == row),
            ref op => of_operands || op.accesses().into_iter().any(moves),
        });
    }
    differs
}
