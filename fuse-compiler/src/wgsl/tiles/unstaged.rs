//! Tiles without workgroup memory or barriers, for CPU adapters: each invocation reads its factors from buffers.
//!
//! Neighbors read the same rows and neighboring columns, which caches serve. Without barriers, such an adapter need not
//! interleave invocations, nor zero workgroup memory first.

use fuse_artifact::schedule::{LANES, Tile};

use super::{MatmulKernel, Side, row_in_tile};
use crate::{
    kernel::{Block, Ty, Val},
    schedule::contraction::Direction,
    wgsl::operand::Operand,
};

/// A load of a step: a row or column (or the first of four), and a depth (or the first of four).
struct Read {
    outer: u32,
    depth: u32,
}

/// A row or column that an invocation reads, or the first of four.
struct Line<'k> {
    outer: u32,
    /// Offset of each access at depth 0.
    bases: Vec<(u16, Val<'k>)>,
}

/// Values of an operand in a step, each with its row or column and depth.
type Step<'k> = Vec<([u32; 2], Val<'k>)>;

impl<'k> MatmulKernel<'k> {
    pub(super) fn multiply_unstaged(&mut self) {
        let mut b = Block::new();
        let [row, column] = [self.outer(Side::Lhs, 0), self.outer(Side::Rhs(0), 0)];
        b.return_if(row.ge(self.axes.rows).or(column.ge(self.axes.columns)));
        let mut sides = vec![];
        for side in self.sides.clone() {
            sides.push((side, self.operand(side), self.bind_lines(&mut b, side)));
        }
        let [begin, end] = ["k_begin", "k_end"].map(|name| self.index(name));
        let depth = self.tile.depth;
        b.range("k", begin, end, depth, |b, k| {
            let steps: Vec<Step<'k>> =
                sides.iter().map(|(side, operand, lines)| self.read_step(b, *side, operand, lines, k)).collect();
            for d in 0..depth {
                let vectors = sides.iter().zip(&steps).flat_map(|((side, ..), step)| {
                    (0..self.span(*side) / LANES).map(|group| self.vector(*side, step, group, d))
                });
                self.update(b, vectors.collect());
            }
        });
        self.main.append(&b);
    }

    /// Stores the accumulators in a loop: unrolled, epilogues would be most of the code.
    pub(super) fn store_unstaged(&mut self) {
        let Tile { rows, columns, invocation_rows, invocation_columns, .. } = self.tile;
        let across = invocation_columns / LANES;
        let places = invocation_rows * across;
        let arena = self.shader.arena();
        let ty = arena.array(Ty::of(self.sum, LANES), Some(places));
        let mut b = Block::new();
        let mut sums = vec![];
        for (product, of_product) in self.products.iter().zip(self.all_sums().chunks(places as usize)) {
            sums.push(b.var(format!("sums{product}"), arena.construct(ty, of_product)));
        }
        let [row0, column0, tx, ty] = ["row0", "column0", "tx", "ty"].map(|name| self.index(name));
        let [rows_apart, columns_apart] = [rows * LANES / invocation_rows, columns / invocation_columns];
        b.range("place", arena.u32(0), places, 1, |b, place| {
            let own = b.bind("own", place / across);
            let row = row0 + ty * LANES + own / LANES * rows_apart + own % LANES;
            let column = column0 + (tx + place % across * columns_apart) * LANES;
            let sums: Vec<Val<'k>> = sums.iter().map(|sums| sums.at(place)).collect();
            b.run(self.finish_call([row, column], &sums, ""));
        });
        self.main.append(&b);
    }

    const fn span(&self, side: Side) -> u32 {
        match side {
            Side::Lhs => self.tile.invocation_rows,
            Side::Rhs(_) => self.tile.invocation_columns,
        }
    }

    fn outer(&self, side: Side, i: u32) -> Val<'k> {
        let (tile, span) = (self.tile, self.span(side));
        match side {
            Side::Lhs => self.index("row0") + self.index("ty") * LANES + row_in_tile(i, tile.rows, span),
            Side::Rhs(_) => self.index("column0") + self.index("tx") * LANES + row_in_tile(i, tile.columns, span),
        }
    }

    /// True if vectors are loaded along the rows or columns.
    fn is_across(&self, side: Side) -> bool {
        self.tile.lanes > 1 && self.direction(side) == Direction::Outer
    }

    fn reads(&self, side: Side) -> Vec<Read> {
        let (step, depths) = if self.is_across(side) { (LANES as usize, self.tile.depth) } else { (1, 1) };
        let of_depths = |outer| (0..depths).map(move |depth| Read { outer, depth });
        (0..self.span(side)).step_by(step).flat_map(of_depths).collect()
    }

    /// Four rows or columns at one depth of a step.
    fn vector(&self, side: Side, step: &Step<'k>, group: u32, depth: u32) -> Val<'k> {
        let read = |outer: u32, depth: u32| {
            let known = step.iter().find(|(at, _)| *at == [outer, depth]);
            known.expect("a step reads all of its rows and columns").1
        };
        if self.is_across(side) {
            return read(LANES * group, depth);
        }
        let lanes: Vec<Val<'k>> =
            (LANES * group..LANES * (group + 1)).map(|outer| read(outer, 0).lane(depth)).collect();
        self.shader.arena().construct(Ty::of(self.sum, LANES), &lanes)
    }

    fn bind_lines(&mut self, b: &mut Block<'k>, side: Side) -> Vec<Line<'k>> {
        let operand = self.operand(side);
        let p = operand.prefix;
        let extent = if side == Side::Lhs { self.axes.rows } else { self.axes.columns };
        let last = if self.is_across(side) { LANES } else { 1 };
        let mut lines = vec![];
        for Read { outer, .. } in self.reads(side).into_iter().filter(|read| read.depth == 0) {
            let inside = b.bind(format!("{p}{outer}_at"), self.outer(side, outer).min(extent - last));
            let place = if side == Side::Lhs { [Some(inside), None] } else { [None, Some(inside)] };
            let at: Vec<Option<Val<'k>>> = self.axes.batch().into_iter().map(Some).chain(place).collect();
            let mut bases = vec![];
            for access in operand.loads() {
                let offset = operand.offset(&mut self.shader, access, &at);
                bases.push((access, b.bind(format!("{p}{outer}_base{access}"), offset)));
            }
            lines.push(Line { outer, bases });
        }
        lines
    }

    fn read_step(
        &mut self,
        b: &mut Block<'k>,
        side: Side,
        operand: &Operand<'_>,
        lines: &[Line<'k>],
        k: Val<'k>,
    ) -> Step<'k> {
        let (arena, p) = (self.shader.arena(), operand.prefix);
        let [depth_axis, _] = side.axes(self.axes.batch);
        let mut step = vec![];
        for Read { outer, depth } in self.reads(side) {
            let line = lines.iter().find(|line| line.outer == outer).expect("each row and column has its offsets");
            let read = b.declare(arena, format!("{p}{outer}_{depth}"), Ty::of(self.sum, self.tile.lanes));
            let (k, row_or_column) = (k + depth, self.outer(side, outer));
            b.scope(|b| {
                for &(access, base) in &line.bases {
                    let offset = operand.advance(&mut self.shader, access, depth_axis, base, k);
                    let value = operand.load(&mut self.shader, access, offset);
                    b.bind(format!("{p}_x{access}"), value);
                }
                let place = if side == Side::Lhs { [row_or_column, k] } else { [k, row_or_column] };
                let at: Vec<Val<'k>> = self.axes.batch().into_iter().chain(place).collect();
                let loaded = |access| operand.loaded(arena, access);
                let value = operand.value(&mut self.shader, b, &loaded, &at);
                b.set(read, value);
            });
            step.push(([outer, depth], read));
        }
        step
    }
}
