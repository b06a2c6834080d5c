//! Stream-K: the depths of tiles are distributed evenly over the workgroups that run concurrently.
//!
//! With 288 tiles and 132 concurrent workgroups, the third round would leave most of a machine idle. So only the first
//! tiles have a workgroup each. The steps of the others are cut into equal shares: the end of a tile, perhaps whole
//! ones, the beginning of another. Whole tiles go to the epilogue at once, partial sums to scratch memory for a second
//! pass.
//!
//! After Osama, Merrill, Cecka, Garland and Owens, "Stream-K: Work-centric Parallel Decomposition for Dense
//! Matrix-Matrix Multiplication on the GPU" (PPoPP 2023), where workgroups wait for each other; WGSL does not guarantee
//! that they run concurrently.

use fuse_artifact::{DType, Slot, Uniform, schedule::Tile};

use super::MatmulKernel;
use crate::{
    kernel::{Block, Ty, Val},
    wgsl::{epilogue::Axes, shader::Shader},
};

pub(in crate::wgsl) const fn vectors(tile: Tile) -> u32 {
    tile.rows * tile.columns / 4
}

/// A workgroup's part of a depth, in private variables that `finish` reads.
#[derive(Clone, Copy)]
pub(super) struct Part<'k> {
    /// True if it is not the whole depth.
    is_part: Val<'k>,
    /// First vector of its partial sums in scratch memory.
    at: Val<'k>,
    origin: [Val<'k>; 2],
}

impl<'k> Part<'k> {
    pub(super) fn declare(shader: &mut Shader<'k>) -> Self {
        Self {
            is_part: shader.private("is_part", Ty::BOOL),
            at: shader.private("part_at", Ty::U32),
            origin: ["part_row", "part_column"].map(|name| shader.private(name, Ty::U32)),
        }
    }

    pub(super) fn begin(&self, b: &mut Block<'k>, origin: [Val<'k>; 2]) {
        for (variable, place) in self.origin.into_iter().zip(origin) {
            b.set(variable, place);
        }
    }

    /// The start of `finish`, which stores partial sums. A tile's parts are consecutive in scratch memory, each with
    /// its products.
    pub(super) fn keep(&self, shader: &mut Shader<'k>, axes: &Axes<'k>, sum: DType, tile: Tile) -> Block<'k> {
        let scratch = shader.buffer(Slot::Scratch, sum, tile.lanes, true);
        let [row, column] = ["row", "column"].map(|name| shader.arena().name(name, Ty::U32));
        let [first_row, first_column] = self.origin;
        let keep = |b: &mut Block<'k>| {
            let row_at = self.at + (row - first_row) * (tile.columns / 4);
            let vector = b.bind("vector", row_at + (column - first_column) / 4);
            for (sum, product) in axes.accumulators(Ty::of(sum, tile.lanes)).into_iter().zip(0..) {
                b.set(scratch.at(vector + product * vectors(tile)), sum);
            }
            b.leave();
        };
        Block::of(|b| b.when(self.is_part, keep))
    }
}

impl<'k> MatmulKernel<'k> {
    /// Walks a share; `finish` stores partial sums.
    pub(super) fn walk_share(&mut self, id: Val<'k>, part: Part<'k>) {
        let tile = self.tile;
        let Shares { steps, share, tiles } = Shares::bind(&mut self.shader, &mut self.main, &self.axes, tile);
        let whole = self.shader.uniform(Uniform::WholeTiles);
        let splits = self.shader.uniform(Uniform::Splits);
        let batches = self.axes.batches(&mut self.shader);
        let has_tile = id.lt(whole);
        let at = self.main.var("at", has_tile.select(id * steps, whole * steps + (id - whole) * share));
        let end = self.main.bind("end", (at + has_tile.select(steps, share)).min(tiles * batches * steps));
        let body = self.block(|kernel| {
            let b = &mut kernel.main;
            let place = b.bind("place", at / steps);
            let first = b.bind("first", at - place * steps);
            let last = b.bind("last", steps.min(first + end - at));
            b.bind("k_begin", first * tile.depth);
            b.bind("k_end", last * tile.depth);
            b.set(part.is_part, (last - first).lt(steps));
            b.when(part.is_part, |b| {
                let cut = b.bind("cut", place - whole);
                let number = b.bind("part", id - whole - cut * steps / share);
                b.set(part.at, (cut * splits + number) * (kernel.axes.products * vectors(tile)));
            });
            b.bind("tile", place % tiles);
            b.bind("batch", place / tiles);
            kernel.compute();
            kernel.main.set(at, at + (last - first));
        });
        self.main.repeat_while(at.lt(end), |b| b.append(&body));
    }
}

/// Steps of a tile, steps of a share, tiles of a batch.
pub(in crate::wgsl) struct Shares<'k> {
    pub(in crate::wgsl) steps: Val<'k>,
    pub(in crate::wgsl) share: Val<'k>,
    pub(in crate::wgsl) tiles: Val<'k>,
}

impl<'k> Shares<'k> {
    pub(in crate::wgsl) fn bind(shader: &mut Shader<'k>, b: &mut Block<'k>, axes: &Axes<'k>, tile: Tile) -> Self {
        let share = shader.uniform(Uniform::SplitDepth);
        let (row_tiles, column_tiles) = (shader.uniform(Uniform::RowTiles), shader.uniform(Uniform::ColumnTiles));
        let steps = b.bind("steps", axes.depth / tile.depth);
        let share = b.bind("share", share / tile.depth);
        let tiles = b.bind("tiles", row_tiles * column_tiles);
        Self { steps, share, tiles }
    }
}
