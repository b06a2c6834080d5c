//! Tiles without workgroup memory: each invocation reads what it multiplies from storage, and waits for no other.
//!
//! Neighbors read the same rows and neighboring columns, which is work for caches. Where there are no others to wait for, an
//! adapter that runs on processors need not interleave invocations, nor fill workgroup memory with zeros first.

use fuse_artifact::schedule::{LANES, Tile};

use super::{MatmulTile, Side, row_in_tile};
use crate::{schedule::contraction::Direction, wgsl::builtins::vector_type};

/// A load of a step: a row or column of the invocation's, or the first of four, and a depth, or the first of four.
struct Read {
    outer: u32,
    depth: u32,
}

impl MatmulTile<'_> {
    /// Multiplies all depths.
    pub(super) fn multiply_unstaged(&mut self) {
        let [row, column] = [self.outer(Side::Lhs, 0), self.outer(Side::Rhs(0), 0)];
        self.main.line(format!("if {row} >= {} || {column} >= {} {{", self.axes.rows, self.axes.columns));
        self.main.line("return;");
        self.main.line("}");
        for side in self.sides.clone() {
            self.declare_places(side);
        }
        let depth = self.tile.depth;
        self.main.line(format!("for (var k = k_begin; k < k_end; k += {depth}u) {{"));
        for side in self.sides.clone() {
            for read in self.reads(side) {
                self.read(side, &read);
            }
        }
        for k in 0..depth {
            let vectors = |side: Side| (0..self.span(side) / LANES).map(move |group| (side, group));
            let vectors = self.sides.iter().copied().flat_map(vectors);
            let arguments: String = vectors.map(|(side, group)| format!(", {}", self.vector(side, group, k))).collect();
            self.main.line(format!("update(&c{arguments});"));
        }
        self.main.line("}");
    }

    /// Stores the sums of all places, one after the other: written out, epilogues would be most of what there is to compile.
    pub(super) fn store_unstaged(&mut self) {
        let Tile { rows, columns, invocation_rows, invocation_columns, .. } = self.tile;
        let across = invocation_columns / LANES;
        let ty = vector_type(self.sum, LANES);
        let places = invocation_rows * across;
        let fields: Vec<String> = self.sum_fields().into_iter().map(|field| format!("c.{field}")).collect();
        let mut sums = vec![];
        for (p, fields) in self.products.iter().zip(fields.chunks(places as usize)) {
            self.main.line(format!("var sums{p} = array<{ty}, {places}>({});", fields.join(", ")));
            sums.push(format!("sums{p}[place]"));
        }
        self.main.line(format!("for (var place = 0u; place < {places}u; place++) {{"));
        let [rows_apart, columns_apart] = [rows * LANES / invocation_rows, columns / invocation_columns];
        self.main.line(format!("let own = place / {across}u;"));
        let row = format!("row0 + ty * {LANES}u + own / {LANES}u * {rows_apart}u + own % {LANES}u");
        let column = format!("column0 + (tx + place % {across}u * {columns_apart}u) * {LANES}u");
        let call = self.finish_call([&row, &column], &sums.join(", "), "");
        self.main.line(call);
        self.main.line("}");
    }

    /// Rows or columns of an invocation.
    const fn span(&self, side: Side) -> u32 {
        match side {
            Side::Lhs => self.tile.invocation_rows,
            Side::Rhs(_) => self.tile.invocation_columns,
        }
    }

    /// The expression of an invocation's `i`-th row or column.
    fn outer(&self, side: Side, i: u32) -> String {
        let (tile, span) = (self.tile, self.span(side));
        match side {
            Side::Lhs => format!("row0 + ty * {LANES}u + {}u", row_in_tile(i, tile.rows, span)),
            Side::Rhs(_) => format!("column0 + tx * {LANES}u + {}u", row_in_tile(i, tile.columns, span)),
        }
    }

    /// Whether vectors are loaded along the rows or columns.
    fn is_across(&self, side: Side) -> bool {
        self.tile.lanes > 1 && self.direction(side) == Direction::Outer
    }

    /// The loads of a step.
    fn reads(&self, side: Side) -> Vec<Read> {
        let (step, depths) = if self.is_across(side) { (LANES as usize, self.tile.depth) } else { (1, 1) };
        let of_depths = |outer| (0..depths).map(move |depth| Read { outer, depth });
        (0..self.span(side)).step_by(step).flat_map(of_depths).collect()
    }

    /// The name of what a load reads.
    fn name(&self, side: Side, Read { outer, depth }: &Read) -> String {
        format!("{}{outer}_{depth}", self.operand(side).prefix)
    }

    /// Four rows or columns at one depth of a step.
    fn vector(&self, side: Side, group: u32, depth: u32) -> String {
        if self.is_across(side) {
            return self.name(side, &Read { outer: LANES * group, depth });
        }
        let lane = |outer| {
            let name = self.name(side, &Read { outer, depth: 0 });
            if self.tile.lanes == 1 { name } else { format!("{name}[{depth}]") }
        };
        let lanes: Vec<String> = (LANES * group..LANES * (group + 1)).map(lane).collect();
        format!("{}({})", vector_type(self.sum, LANES), lanes.join(", "))
    }

    /// Declares the part of each load's offset that stays, of rows and columns inside the operand.
    fn declare_places(&mut self, side: Side) {
        let operand = self.operand(side);
        let p = operand.prefix;
        let extent = if side == Side::Lhs { self.axes.rows.clone() } else { self.axes.columns.clone() };
        let last = if self.is_across(side) { LANES } else { 1 };
        for Read { outer, depth } in self.reads(side) {
            if depth > 0 {
                continue;
            }
            let place = self.outer(side, outer);
            self.main.line(format!("let {p}{outer}_at = min({place}, {extent} - {last}u);"));
            let mut at: Vec<Option<String>> = self.axes.batch_names().into_iter().map(Some).collect();
            let inside = Some(format!("{p}{outer}_at"));
            at.extend(if side == Side::Lhs { [inside, None] } else { [None, inside] });
            for access in operand.loads() {
                let offset = operand.offset(&mut self.shader, access, &at);
                self.main.line(format!("let {p}{outer}_base{access} = {offset};"));
            }
        }
    }

    /// Declares what a load reads, after its prologue.
    fn read(&mut self, side: Side, read: &Read) {
        let operand = self.operand(side);
        let (p, name) = (operand.prefix, self.name(side, read));
        let Read { outer, depth } = *read;
        let depth_axis = if side == Side::Lhs { self.axes.batch + 1 } else { self.axes.batch };
        self.main.line(format!("var {name}: {};", vector_type(self.sum, self.tile.lanes)));
        self.main.line("{");
        let k = format!("(k + {depth}u)");
        for access in operand.loads() {
            let step = operand.step(&mut self.shader, access, depth_axis, &k);
            let load = operand.load(&mut self.shader, access, &format!("{p}{outer}_base{access}{step}"));
            self.main.line(format!("let {p}_x{access} = {load};"));
        }
        let mut at = self.axes.batch_names();
        let outer = format!("({})", self.outer(side, outer));
        at.extend(if side == Side::Lhs { [outer, k] } else { [k, outer] });
        let loaded = |access: u16| format!("{p}_x{access}");
        let value = operand.value(&mut self.shader, &mut self.main, &loaded, &at);
        self.main.line(format!("{name} = {value};"));
        self.main.line("}");
    }
}
