//! Adds the partial sums of stream-K tiles.

use fuse_artifact::{Grid, Pass, Uniform, schedule::Tile};

use super::{Parts, WORKGROUP};
use crate::{
    fusion::{Contraction, Group},
    kernel::{Arena, Block},
    wgsl::{
        epilogue::{Epilogue, finish_call},
        grid,
        names::Names,
        tiles::streams::{Shares, vectors},
    },
};

const fn finish_workgroups(tile: Tile) -> u32 {
    vectors(tile) / WORKGROUP
}

/// The second pass of stream-K: adds the partial sums of split tiles, and applies the epilogue.
pub fn streams(group: &Group, contraction: &Contraction, names: &Names, tile: Tile) -> Pass {
    debug_assert!(vectors(tile).is_multiple_of(WORKGROUP), "tiles have whole workgroups");
    let arena = Arena::default();
    let mut parts = Parts::new(&arena, names, group, contraction, tile.lanes);
    let (axes, scratch) = (parts.axes, parts.scratch);
    Epilogue::new(group, axes, parts.sum, tile.lanes, tile.lanes).declare(&mut parts.shader);
    let mut b = Block::new();
    let id = grid::workgroups(&mut parts.shader, &mut b);
    let Shares { steps, share, tiles } = Shares::bind(&mut parts.shader, &mut b, &axes, tile);
    let of_tile = finish_workgroups(tile);
    let cut = b.bind("cut", id / of_tile);
    let first = b.bind("first", cut * steps / share);
    let count = b.bind("parts", (cut * steps + steps - 1) / share - first + 1);
    b.return_if(count.eq(1));
    let (whole, splits) = (parts.shader.uniform(Uniform::WholeTiles), parts.shader.uniform(Uniform::Splits));
    let place = b.bind("place", whole + cut);
    let number = b.bind("tile", place % tiles);
    let batch = b.bind("batch", place / tiles);
    axes.decode_batch(&mut parts.shader, &mut b, batch);
    let [row0, column0] = grid::tile_origin(&mut parts.shader, &mut b, tile, number, ["row0", "column0"]);
    let vector = b.bind("vector", id % of_tile * WORKGROUP + parts.shader.local());
    let across = tile.columns / 4;
    let accumulators = parts.accumulators(&mut b, tile.lanes);
    let size = axes.products * vectors(tile);
    b.unrollable("s", arena.u32(0), count, 1, |b, s| {
        for (&accumulator, product) in accumulators.iter().zip(0..) {
            let part = scratch.at((cut * splits + s) * size + product * vectors(tile) + vector);
            b.set(accumulator, accumulator + part);
        }
    });
    let [row, column] = [row0 + vector / across, column0 + vector % across * 4];
    b.run(finish_call("finish", &axes, [batch, row, column], &accumulators));
    let mut shader = parts.shader;
    shader.main = b;
    shader.finish(Grid::SharedTiles { workgroups: of_tile }, WORKGROUP)
}
