//! Epilogues that reduce rows: a workgroup has whole rows of sums in registers and walks through the body stage by stage.
//!
//! The values of a stage are computed for each of an invocation's elements, once per row or column where they do not
//! differ along the other. A reduction takes the elements of an invocation together, then, through workgroup memory, the
//! parts of a row in [`GROUPS`] groups, then the groups; each step is a balanced tree, so that sums are as accurate as
//! pairwise ones. Columns beyond the last count as no element; rows beyond the last are computed from the last one and
//! not stored.

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
    schedule::{
        contraction::{reduces, rows::GROUPS},
        layout::along,
    },
    wgsl::{
        builtins::vector_type,
        epilogue::Axes,
        expr::{ElementContext, literal, operation},
        loads::{Gather, Load},
        reduction::state::{ReductionState, from_bits, to_bits},
        shader::{CodeBuffer, Shader, to_storage},
    },
};

/// The body of an epilogue with reductions, and what its text needs to know of it.
pub(super) struct Rows<'a> {
    group: &'a Group,
    tile: Tile,
    /// What names of the products' sums start with.
    products: Vec<String>,
    levels: Vec<Level>,
    /// For each value, whether it differs between rows.
    differs_by_row: Vec<bool>,
    /// Whether all columns of the tile exist.
    full: bool,
    rows: String,
    columns: String,
    batch: usize,
}

impl<'a> Rows<'a> {
    /// The body of a group, if it has reductions.
    pub(super) fn new(group: &'a Group, axes: &Axes, tile: Tile, products: &[String]) -> Option<Self> {
        let batch = axes.batch;
        let levels = group.body.levels(&group.accesses, |axis| axis == batch + 1);
        let full = group.shape[batch + 1].as_constant() == Some(tile.columns.into());
        let (rows, columns) = (axes.rows.clone(), axes.columns.clone());
        let differs_by_row = differing(group, batch);
        let products = products.to_vec();
        let body = Self { group, tile, products, levels, differs_by_row, full, rows, columns, batch };
        reduces(&group.body).then_some(body)
    }

    fn body(&self) -> &'a Body {
        &self.group.body
    }

    /// Rows of an invocation, and its vectors of four columns.
    const fn extents(&self) -> [u32; 2] {
        [self.tile.invocation_rows, self.tile.invocation_columns / 4]
    }

    /// Invocations that share a row.
    const fn across(&self) -> u32 {
        self.tile.columns / self.tile.invocation_columns
    }

    /// The places at which a value is computed: rows and columns, one of those along which it does not differ.
    fn places(&self, value: ValueId) -> Vec<[u32; 2]> {
        let [rows, columns] = self.extents();
        let rows = if self.differs_by_row[value] { rows } else { 1 };
        let columns = if self.levels[value].per_element { columns } else { 1 };
        (0..rows).flat_map(|i| (0..columns).map(move |j| [i, j])).collect()
    }

    /// Elements of a value's variables.
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

    /// A value as an operand of `lanes` elements.
    fn operand(&self, value: ValueId, place: [u32; 2], lanes: u32) -> String {
        let dtype = self.body().values[value].dtype;
        match self.body().values[value].op {
            ValueOp::Literal(value) => literal(value, dtype, lanes),
            _ if lanes == self.lanes(value) => self.name(value, place),
            _ => format!("{}({})", vector_type(dtype, lanes), self.name(value, place)),
        }
    }

    /// Declares the workgroup memory through which the parts of rows are handed over, as bits.
    pub(super) fn declare(&self, shader: &mut Shader<'_>) {
        for store in &self.group.stores {
            let lanes = if is_row_store(store, self.batch) { 1 } else { self.tile.lanes };
            shader.buffer(store.slot, self.body().values[store.value].dtype, lanes, true);
        }
        let words = self.body().values.iter().filter_map(|value| match value.op {
            ValueOp::Reduce(op, x) => Some(ReductionState::new(op, self.body().values[x].dtype).words().len()),
            _ => None,
        });
        for w in 0..words.max().unwrap_or(0) {
            let parts = self.tile.rows * (self.across() + TILE_PAD);
            shader.workgroup_array(&format!("row_parts{w}"), "u32", parts, 4);
            shader.workgroup_array(&format!("row_groups{w}"), "vec4<u32>", self.tile.rows, 16);
        }
    }

    /// Declares the invocation's rows and columns, and those that it reads at.
    fn locate(&self, main: &mut CodeBuffer) {
        let Tile { columns, invocation_columns, lanes, .. } = self.tile;
        let [rows, vectors] = self.extents();
        for i in 0..rows {
            let first = row_in_tile(i, self.tile.rows, rows);
            main.line(format!("let row_{i} = row0 + ty * 4u + {first}u;"));
            main.line(format!("let at_row_{i} = min(row_{i}, {} - 1u);", self.rows));
        }
        for j in 0..vectors {
            main.line(format!("let column_{j} = column0 + (tx + {}u) * 4u;", j * (columns / invocation_columns)));
            main.line(format!("let at_column_{j} = min(column_{j}, {} - {lanes}u);", self.columns));
            if lanes == 1 {
                main.line(format!("let last_lane_{j} = {} - 1u - at_column_{j};", self.columns));
            }
            if !self.full {
                main.line(match lanes {
                    1 => format!("let inside_{j} = {} < vec4<u32>({});", lane_columns(j), self.columns),
                    _ => format!("let inside_{j} = column_{j} < {};", self.columns),
                });
            }
        }
    }

    /// Loads what the body reads at coordinates of the domain.
    fn load(&self, shader: &mut Shader<'_>, main: &mut CodeBuffer) {
        for (value, op) in self.body().values.iter().map(|value| &value.op).enumerate() {
            let ValueOp::Load(access) = *op else { continue };
            for place in self.places(value) {
                let load = self.element(shader, access, place, self.lanes(value));
                main.line(format!("let {} = {load};", self.name(value, place)));
            }
        }
    }

    /// The elements of an access at a place.
    fn element(&self, shader: &mut Shader<'_>, index: u16, place: [u32; 2], lanes: u32) -> String {
        let access = &self.group.accesses[usize::from(index)];
        let offset = self.offset(shader, index, place, lanes == 1);
        let lane_axis = self.batch + 1;
        let (along, buffer_lanes) = (along(access, lane_axis), self.tile.lanes);
        let load = Load { access, lane_axis: lane_axis as u8, along, index, buffer_lanes };
        load.read(shader, &offset, lanes, &self.last_lane(place))
    }

    /// The offset of an access at a place; without the column's part where the access does not move along columns.
    fn offset(&self, shader: &mut Shader<'_>, index: u16, [i, j]: [u32; 2], single: bool) -> String {
        let access = &self.group.accesses[usize::from(index)].access;
        let mut offset = shader.uniform(Uniform::Offset { access: index });
        let coordinates = (0..self.batch).map(|axis| format!("b{axis}"));
        let coordinates = coordinates.chain([format!("at_row_{i}"), format!("at_column_{j}")]);
        for (axis, coordinate) in coordinates.enumerate() {
            if access.axes[axis].is_some() && !(single && axis == self.batch + 1) {
                let stride = shader.uniform(Uniform::Stride { access: index, axis: axis as u8 });
                offset += &format!(" + {coordinate} * {stride}");
            }
        }
        offset
    }

    /// Stores what the body computes from the sums `c`.
    pub(super) fn finish(&self, shader: &mut Shader<'_>, main: &mut CodeBuffer) {
        if !self.preloads() {
            self.load(shader, main);
        }
        let stages = self.levels.iter().map(|level| level.stage).max().unwrap_or(0);
        for stage in 0..=stages {
            self.stage(shader, main, stage);
            self.reduce(shader, main, stage);
        }
        self.store(shader, main);
    }

    /// Declares where this invocation is, and loads what the body reads if little enough.
    pub(super) fn prepare(&self, shader: &mut Shader<'_>, main: &mut CodeBuffer) {
        self.locate(main);
        if self.preloads() {
            self.load(shader, main);
        }
    }

    /// Whether registers are left for what the body reads while products are summed.
    const fn preloads(&self) -> bool {
        self.tile.lanes == 4
            && self.tile.k_groups() == 1
            && self.tile.invocation_rows * self.tile.invocation_columns <= 16
    }

    /// The last lane that exists at a place: of aligned schedules each.
    fn last_lane(&self, [_, j]: [u32; 2]) -> String {
        if self.tile.lanes == 1 { format!("last_lane_{j}") } else { "3u".to_owned() }
    }

    /// Writes the values that are known after `stage` reductions.
    fn stage(&self, shader: &mut Shader<'_>, main: &mut CodeBuffer, stage: usize) {
        for (value, known) in self.body().values.iter().enumerate() {
            let elsewhere = matches!(known.op, ValueOp::Literal(_) | ValueOp::Load(_) | ValueOp::Reduce(..));
            if elsewhere || self.levels[value].stage != stage {
                continue;
            }
            let lanes = self.lanes(value);
            for place in self.places(value) {
                let operand = |x: ValueId| self.operand(x, place, lanes);
                let at = RowPlace { rows: self, place, lanes };
                let expression = operation(shader, self.body(), value, lanes, &operand, &at);
                main.line(format!("let {} = {expression};", self.name(value, place)));
            }
        }
    }

    /// Writes the reductions of values that are known after `stage` of them.
    fn reduce(&self, shader: &mut Shader<'_>, main: &mut CodeBuffer, stage: usize) {
        for (value, reduction) in self.body().values.iter().enumerate() {
            if let ValueOp::Reduce(op, x) = reduction.op
                && self.levels[value].stage == stage + 1
            {
                let state = ReductionState::new(op, self.body().values[x].dtype);
                self.gather_parts(shader, main, state, value, x);
                main.line("workgroupBarrier();");
                self.combine_parts(main, state);
                main.line("workgroupBarrier();");
                self.combine_groups(shader, main, state, value);
            }
        }
    }

    /// Writes each row's elements of this invocation, taken together, to workgroup memory.
    fn gather_parts(
        &self,
        shader: &mut Shader<'_>,
        main: &mut CodeBuffer,
        state: ReductionState,
        value: ValueId,
        x: ValueId,
    ) {
        let [rows, vectors] = self.extents();
        let neutral = state.neutral(4);
        self.open_first_layer(main);
        for i in 0..rows {
            let name = format!("part{value}_{i}");
            let mut parts = vec![];
            for j in 0..vectors {
                let element = self.operand(x, [i, j], 4);
                let words = state.of_element(&mut shader.helpers, 4, &element, &lane_columns(j));
                let words = words.iter().zip(&neutral).enumerate().map(|(w, (word, neutral))| {
                    let word = match self.full {
                        true => word.clone(),
                        false => format!("select({neutral}, {word}, inside_{j})"),
                    };
                    main.line(format!("let {name}_{j}_word{w} = {word};"));
                    format!("{name}_{j}_word{w}")
                });
                parts.push(words.collect::<Vec<_>>());
            }
            let vector = state.tree(main, parts, &format!("{name}_v"));
            let lanes = ["x", "y", "z", "w"].map(|lane| vector.iter().map(|word| format!("{word}.{lane}")).collect());
            let part = state.tree(main, lanes.to_vec(), &name);
            for (w, (word, dtype)) in part.iter().zip(state.words()).enumerate() {
                let at = format!("({}) * {}u + tx", self.row_in_tile(i), self.across() + TILE_PAD);
                main.line(format!("row_parts{w}[{at}] = {};", to_bits(dtype, 1, word)));
            }
        }
        self.close_first_layer(main);
    }

    /// Opens a block for the invocations that have the tile's sums.
    fn open_first_layer(&self, main: &mut CodeBuffer) {
        if self.tile.k_groups() > 1 {
            main.line("if k_group == 0u {");
        }
    }

    fn close_first_layer(&self, main: &mut CodeBuffer) {
        if self.tile.k_groups() > 1 {
            main.line("}");
        }
    }

    /// Takes the parts of each row together in groups: an invocation per row and group.
    fn combine_parts(&self, main: &mut CodeBuffer, state: ReductionState) {
        let (workers, invocations) = (self.tile.rows * GROUPS, self.tile.invocations());
        for first in (0..workers).step_by(invocations as usize) {
            let all = first + invocations <= workers;
            main.line(if all { "{".to_owned() } else { format!("if local + {first}u < {workers}u {{") });
            main.line(format!("let part_row = (local + {first}u) / {GROUPS}u;"));
            main.line(format!("let part_group = (local + {first}u) % {GROUPS}u;"));
            main.line(format!("let parts = part_row * {}u + part_group;", self.across() + TILE_PAD));
            let parts = (0..self.across() / GROUPS).map(|part| {
                let words = state.words().into_iter().enumerate().map(|(w, dtype)| {
                    let bits = format!("row_parts{w}[parts + {}u]", part * GROUPS);
                    main.line(format!("let part{part}_word{w} = {};", from_bits(dtype, 1, &bits)));
                    format!("part{part}_word{w}")
                });
                words.collect::<Vec<_>>()
            });
            let parts = parts.collect();
            let group = state.tree(main, parts, "group");
            for (w, (word, dtype)) in group.iter().zip(state.words()).enumerate() {
                main.line(format!("row_groups{w}[part_row][part_group] = {};", to_bits(dtype, 1, word)));
            }
            main.line("}");
        }
    }

    /// Declares the reduction's value of each row of this invocation.
    fn combine_groups(&self, shader: &mut Shader<'_>, main: &mut CodeBuffer, state: ReductionState, value: ValueId) {
        for i in 0..self.extents()[0] {
            let name = format!("groups{value}_{i}");
            let words = state.words().into_iter().enumerate().map(|(w, dtype)| {
                let bits = format!("row_groups{w}[{}]", self.row_in_tile(i));
                main.line(format!("let {name}_word{w} = {};", from_bits(dtype, 4, &bits)));
                format!("{name}_word{w}")
            });
            let words: Vec<String> = words.collect();
            let lanes = ["x", "y", "z", "w"].map(|lane| words.iter().map(|word| format!("{word}.{lane}")).collect());
            let row = state.tree(main, lanes.to_vec(), &name);
            let result = state.value(&mut shader.helpers, 1, &row);
            main.line(format!("let {} = {result};", self.name(value, [i, 0])));
        }
    }

    fn row_in_tile(&self, i: u32) -> String {
        format!("ty * 4u + {}u", row_in_tile(i, self.tile.rows, self.tile.invocation_rows))
    }

    /// Stores elements, and values of rows by the first invocation of a row.
    fn store(&self, shader: &mut Shader<'_>, main: &mut CodeBuffer) {
        let [rows, vectors] = self.extents();
        let (of_rows, of_elements): (Vec<&Store>, Vec<&Store>) =
            self.group.stores.iter().partition(|store| is_row_store(store, self.batch));
        self.open_first_layer(main);
        for i in 0..rows {
            main.line(format!("if row_{i} < {} {{", self.rows));
            for j in 0..if of_elements.is_empty() { 0 } else { vectors } {
                main.line(format!("if column_{j} < {} {{", self.columns));
                let line = format!("(batch * {} + row_{i}) * {}", self.rows, self.columns);
                main.line(format!("let at = {line} + column_{j};"));
                for store in &of_elements {
                    self.store_elements(shader, main, store, [i, j]);
                }
                main.line("}");
            }
            if !of_rows.is_empty() {
                main.line("if tx == 0u {");
                for store in &of_rows {
                    let dtype = self.body().values[store.value].dtype;
                    let buffer = shader.buffer(store.slot, dtype, 1, true);
                    let value = to_storage(dtype, 1, &self.operand(store.value, [i, 0], 1));
                    main.line(format!("{buffer}[batch * {} + row_{i}] = {value};", self.rows));
                }
                main.line("}");
            }
            main.line("}");
        }
        self.close_first_layer(main);
    }

    /// Stores the elements from `at` on.
    fn store_elements(&self, shader: &mut Shader<'_>, main: &mut CodeBuffer, store: &Store, place: [u32; 2]) {
        let dtype = self.body().values[store.value].dtype;
        let buffer = shader.buffer(store.slot, dtype, self.tile.lanes, true);
        let value = self.operand(store.value, place, 4);
        if self.tile.lanes == 4 {
            main.line(format!("{buffer}[at / 4u] = {};", to_storage(dtype, 4, &value)));
            return;
        }
        for e in 0..4 {
            main.line(format!("if {e}u <= last_lane_{} {{", place[1]));
            main.line(format!("{buffer}[at + {e}u] = {};", to_storage(dtype, 1, &format!("{value}[{e}]"))));
            main.line("}");
        }
    }
}

/// A place of the body: a row and a vector of columns of the invocation.
struct RowPlace<'r, 'a> {
    rows: &'r Rows<'a>,
    place: [u32; 2],
    lanes: u32,
}

impl ElementContext for RowPlace<'_, '_> {
    fn load(&self, shader: &mut Shader<'_>, access: u16) -> String {
        self.rows.element(shader, access, self.place, self.lanes)
    }

    fn gather(&self, shader: &mut Shader<'_>, index: u16) -> Gather<'_> {
        let access = &self.rows.group.accesses[usize::from(index)];
        let offset = self.rows.offset(shader, index, self.place, false);
        let column = self.rows.batch + 1;
        let mut steps = vec![];
        if self.lanes > 1 && access.access.axes[column].is_some() {
            let stride = shader.uniform(Uniform::Stride { access: index, axis: column as u8 });
            let last = self.rows.last_lane(self.place);
            steps = (0..self.lanes).map(|lane| format!("min({lane}u, {last}) * {stride}")).collect();
        }
        let buffer_lanes = self.rows.tile.lanes;
        Gather { access, buffer_lanes, offset, steps, index }
    }

    fn coordinate(&self, axis: u8) -> String {
        let (batch, [i, j]) = (self.rows.batch, self.place);
        let coordinate = match usize::from(axis) {
            axis if axis == batch + 1 && self.lanes > 1 => return format!("({})", lane_columns(j)),
            axis if axis == batch + 1 => format!("column_{j}"),
            axis if axis == batch => format!("row_{i}"),
            axis => format!("b{axis}"),
        };
        if self.lanes == 1 { format!("({coordinate})") } else { format!("vec4<u32>({coordinate})") }
    }

    fn sum(&self, product: u8) -> String {
        let [i, j] = self.place;
        format!("c.s{}{i}_{j}", self.rows.products[usize::from(product)])
    }
}

/// The columns of the `j`-th vector.
fn lane_columns(j: u32) -> String {
    format!("vec4<u32>(column_{j}) + vec4<u32>(0u, 1u, 2u, 3u)")
}

/// Whether a store has one value per row.
fn is_row_store(store: &Store, batch: usize) -> bool {
    store.access.as_ref().is_some_and(|access| access.access.axes[batch + 1].is_none())
}

/// For each value of a group's body, whether it differs between rows, which are axis `row`. Reductions count as if.
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
