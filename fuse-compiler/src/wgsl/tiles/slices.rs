//! The slices of the operands in workgroup memory: which elements an invocation loads, and where it puts them.

use crate::kernel::{Block, Ty};
use fuse_artifact::{
    DType,
    schedule::{TILE_PAD, Tile},
};

use super::MatmulKernel;
use crate::{
    fusion::Contraction,
    schedule::contraction::Direction,
    wgsl::{
        builtins::vector_type,
        operand::{Operand, OperandPlace},
        row_prologue::RowNames,
        shader::storage_type,
    },
};

/// An operand.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    /// The left operand.
    Lhs,
    /// The right operand of the product with this number.
    Rhs(usize),
}

impl Side {
    /// The operands of a contraction, the left one first.
    pub(super) fn all(contraction: &Contraction) -> Vec<Self> {
        std::iter::once(Self::Lhs).chain((0..contraction.rhs.len()).map(Self::Rhs)).collect()
    }

    /// The side's slice in workgroup memory: for each depth, its rows or columns in vectors of four.
    pub(super) fn array(self, contraction: &Contraction) -> String {
        match self {
            Self::Lhs => "lhs_tile".to_owned(),
            Self::Rhs(_) if contraction.rhs.len() == 1 => "rhs_tile".to_owned(),
            Self::Rhs(product) => format!("rhs_tile{product}"),
        }
    }

    /// Rows or columns of the side's slice.
    pub(super) const fn span(self, tile: Tile) -> u32 {
        match self {
            Self::Lhs => tile.rows,
            Self::Rhs(_) => tile.columns,
        }
    }

    /// Vectors of four from one depth of the slice to the next.
    pub(super) const fn row_vectors(self, tile: Tile) -> u32 {
        (self.span(tile) + TILE_PAD) / 4
    }

    /// The workgroup's first row or column.
    pub(super) const fn origin(self) -> &'static str {
        match self {
            Self::Lhs => "row0",
            Self::Rhs(_) => "column0",
        }
    }
}

impl<'a> MatmulKernel<'a> {
    pub(super) fn direction(&self, side: Side) -> Direction {
        match side {
            Side::Lhs => self.scheduled.lhs,
            Side::Rhs(product) => self.scheduled.rhs[product],
        }
    }

    pub(super) fn operand(&self, side: Side) -> Operand<'a> {
        let (body, value) = match side {
            Side::Lhs => &self.contraction.lhs,
            Side::Rhs(product) => &self.contraction.rhs[product],
        };
        let outer_axis = if side == Side::Lhs { self.axes.batch } else { self.axes.batch + 1 };
        let depth_axis = if side == Side::Lhs { self.axes.batch + 1 } else { self.axes.batch };
        let lane_axis = if self.direction(side) == Direction::Depth { depth_axis } else { outer_axis };
        Operand {
            group: self.group,
            body,
            value: *value,
            prefix: match side {
                Side::Lhs => "a",
                Side::Rhs(product) => self.rhs_prefixes[product],
            },
            lanes: self.tile.lanes,
            buffer_lanes: self.tile.lanes,
            lane_axis,
        }
    }

    /// The accesses that loads of a slice read.
    fn accesses(&self, side: Side) -> Vec<u16> {
        match (&self.row_prologue, side) {
            (Some(rows), Side::Lhs) => rows.loads(),
            _ => self.operand(side).loads(),
        }
    }

    /// Values of a row per load: of vectors along the rows, one for each lane.
    fn row_lanes(&self) -> u32 {
        if self.scheduled.lhs == Direction::Depth { 1 } else { self.tile.lanes }
    }

    /// Declares what the `l`-th load of the left slice needs of its rows.
    fn declare_rows(&mut self, l: u32) {
        let Some(rows) = &self.row_prologue else { return };
        let lanes = self.row_lanes();
        let mut at = self.axes.batch_names();
        at.extend([format!("a{l}_at"), "0u".to_owned()]);
        // Invocations that do not take part in the load have no row in the tile.
        let row = match self.is_full(Side::Lhs, l) {
            true => format!("a{l}_o"),
            false => format!("min(a{l}_o, {}u)", self.tile.rows - lanes),
        };
        let prefix = format!("a{l}_row");
        let (at, row) = (self.shader.raws(&at), self.shader.raw(row, Ty::U32));
        rows.declare(&mut self.shader, &mut self.main, RowNames { prefix: &prefix, lanes }, &at, row);
    }

    /// Loads of a slice.
    fn units(&self, side: Side) -> u32 {
        side.span(self.tile) * self.tile.depth / self.tile.lanes
    }

    /// Loads of a slice per invocation.
    fn loads(&self, side: Side) -> u32 {
        self.units(side).div_ceil(self.tile.invocations())
    }

    /// Whether all invocations take part in the `l`-th load of a slice.
    fn is_full(&self, side: Side, l: u32) -> bool {
        (l + 1) * self.tile.invocations() <= self.units(side)
    }

    /// Opens a block for the invocations that take part in the `l`-th load, if some do not.
    fn open_load(&mut self, side: Side, l: u32) -> bool {
        let partial = !self.is_full(side, l);
        if partial {
            self.main.line(format!("if local + {}u < {}u {{", l * self.tile.invocations(), self.units(side)));
        }
        partial
    }

    /// Declares where each of this invocation's loads lies in its slice: `{p}{l}_o` (row or column in the
    /// tile), `{p}{l}_k` (depth in the step), and the part of each offset that stays.
    pub(super) fn declare_loads(&mut self, side: Side) {
        if let Some(weights) = self.packed(side) {
            self.declare_packed(side, weights);
            return;
        }
        let operand = self.operand(side);
        let (p, lanes) = (operand.prefix, self.tile.lanes);
        let origin = side.origin();
        let extent = if side == Side::Lhs { self.axes.rows } else { self.axes.columns };
        for l in 0..self.loads(side) {
            let unit = format!("(local + {}u)", l * self.tile.invocations());
            let (o, k, last) = match self.direction(side) {
                Direction::Depth => {
                    let units = self.tile.depth / lanes;
                    (format!("{unit} / {units}u"), format!("({unit} % {units}u) * {lanes}u"), 1)
                }
                Direction::Outer => {
                    let units = side.span(self.tile) / lanes;
                    (format!("({unit} % {units}u) * {lanes}u"), format!("{unit} / {units}u"), lanes)
                }
            };
            self.main.line(format!("let {p}{l}_o = {o};"));
            self.main.line(format!("let {p}{l}_k = {k};"));
            self.main.line(format!("let {p}{l}_at = min({origin} + {p}{l}_o, {extent} - {last}u);"));
            if side == Side::Lhs {
                self.declare_rows(l);
            }
            for access in self.accesses(side) {
                let mut at: Vec<_> = self.axes.batch().into_iter().map(Some).collect();
                let outer = Some(self.index(&format!("{p}{l}_at")));
                at.extend(if side == Side::Lhs { [outer, None] } else { [None, outer] });
                let offset = operand.offset(&mut self.shader, access, &at);
                self.main.line(format!("let {p}{l}_base{access} = {offset};"));
                let dtype = self.group.accesses[usize::from(access)].dtype;
                let ty = match self.tile.coop_matrix() {
                    None => vector_type(dtype, lanes),
                    Some(_) => storage_type(dtype, lanes),
                };
                self.main.line(format!("var {p}{l}_x{access}: {ty};"));
            }
        }
    }

    /// Loads the slices of the step that starts at depth `step` into registers.
    pub(super) fn fetch(&mut self, step: &str) {
        for side in self.staged() {
            if let Some(weights) = self.packed(side) {
                self.fetch_packed(side, weights, step);
                continue;
            }
            let operand = self.operand(side);
            let p = operand.prefix;
            let depth_axis = if side == Side::Lhs { self.axes.batch + 1 } else { self.axes.batch };
            let last = if self.direction(side) == Direction::Depth { self.tile.lanes } else { 1 };
            for l in 0..self.loads(side) {
                let partial = self.open_load(side, l);
                match self.tile.k_aligned {
                    true => self.main.statement(format_args!("let {p}{l}_depth = {step} + {p}{l}_k;")),
                    false => {
                        self.main.statement(format_args!("let {p}{l}_depth = min({step} + {p}{l}_k, k_end - {last}u);"))
                    }
                }
                for access in self.accesses(side) {
                    let [base, depth] =
                        [format!("{p}{l}_base{access}"), format!("{p}{l}_depth")].map(|name| self.index(&name));
                    let offset = operand.advance(&mut self.shader, access, depth_axis, base, depth);
                    let load = match self.tile.coop_matrix() {
                        None => operand.load(&mut self.shader, access, offset),
                        Some(_) => operand.load_stored(&mut self.shader, access, offset),
                    };
                    self.main.statement(format_args!("{p}{l}_x{access} = {load};"));
                }
                if partial {
                    self.main.line("}");
                }
            }
        }
    }

    /// Writes the fetched slices, after their prologues, to workgroup memory.
    pub(super) fn fill(&mut self) {
        for side in self.staged() {
            if let Some(weights) = self.packed(side) {
                self.fill_packed(side, weights);
                continue;
            }
            let operand = self.operand(side);
            let (p, origin) = (operand.prefix, side.origin());
            let ty = match self.tile.coop_matrix() {
                None => vector_type(self.sum, self.tile.lanes),
                Some(_) => storage_type(DType::F16, self.tile.lanes),
            };
            for l in 0..self.loads(side) {
                let partial = self.open_load(side, l);
                let mut at = self.axes.batch_names();
                let outer = format!("{origin} + {p}{l}_o");
                let depth = format!("k0 + {p}{l}_k");
                at.extend(if side == Side::Lhs { [outer, depth] } else { [depth, outer] });
                let (arena, at) = (self.shader.arena(), self.shader.raws(&at));
                let loaded = |access| operand.named(arena, access, format!("{p}{l}_x{access}"));
                let mut lines = Block::new();
                let value = match (&self.row_prologue, side) {
                    _ if self.tile.coop_matrix().is_some() => loaded(operand.loads()[0]),
                    (Some(rows), Side::Lhs) => {
                        let (place, prefix) = (
                            OperandPlace { operand: &operand, loaded: &loaded, at: &at, accumulators: &[] },
                            format!("a{l}_row"),
                        );
                        let names = RowNames { prefix: &prefix, lanes: self.row_lanes() };
                        rows.value(&mut self.shader, &mut lines, names, &place)
                    }
                    _ => operand.value(&mut self.shader, &mut lines, &loaded, &at),
                };
                let value = match self.tile.k_aligned {
                    true => value.to_string(),
                    false => format!("select({ty}(), {value}, k0 + {p}{l}_k < k_end)"),
                };
                let put = self.declare_put(side, &ty);
                lines.line(format!("{put}({p}{l}_o, {p}{l}_k, {value});"));
                let block = !partial && !lines.is_single();
                if block {
                    self.main.line("{");
                }
                self.main.append(&lines);
                if partial || block {
                    self.main.line("}");
                }
            }
        }
    }

    /// The name of the function that writes a load of a slice to its place in workgroup memory, declared once.
    fn declare_put(&mut self, side: Side, ty: &str) -> String {
        let array = side.array(self.contraction);
        let name = format!("put_{array}");
        if self.shader.is_declared(&name) {
            return name;
        }
        let mut lines = Block::new();
        lines.line(format!("fn {name}(outer: u32, depth: u32, value: {ty}) {{"));
        let vectors = side.row_vectors(self.tile);
        let at = |k: u32| format!("{array}[(depth + {k}u) * {vectors}u + outer / 4u]");
        if self.tile.coop_matrix().is_some() {
            let at = self.matrix_slice_place(side, "outer", "depth");
            lines.line(format!("{array}[{at}] = value;"));
        } else if side == Side::Lhs && self.slices_along_depth() {
            let at = format!("outer * {}u + depth / 4u", self.depth_vectors());
            lines.line(format!("{array}[{at}] = value;"));
        } else {
            match (self.tile.lanes, self.direction(side)) {
                (1, _) => lines.line(format!("{}[outer % 4u] = value;", at(0))),
                (_, Direction::Outer) => lines.line(format!("{} = value;", at(0))),
                (lanes, Direction::Depth) => {
                    for e in 0..lanes {
                        lines.line(format!("{}[outer % 4u] = value[{e}];", at(e)));
                    }
                }
            }
        }
        lines.line("}");
        self.shader.declare(name.clone(), lines);
        name
    }
}
