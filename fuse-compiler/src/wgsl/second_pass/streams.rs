//! Sums of parts of the tiles whose depths workgroups shared (stream-K).

use fuse_artifact::{Grid, Pass, Uniform, schedule::Tile};

use super::{Parts, WORKGROUP};
use crate::{
    fusion::{Contraction, Group},
    wgsl::{
        builtins::vector_type,
        epilogue::Epilogue,
        grid,
        names::Names,
        shader::CodeBuffer,
        tiles::streams::{declare_shares, vectors},
    },
};

/// Workgroups of the second pass per tile.
const fn finish_workgroups(tile: Tile) -> u32 {
    vectors(tile) / WORKGROUP
}

/// The second pass: adds the parts of the tiles that were cut, and applies the epilogue.
pub fn streams(group: &Group, contraction: &Contraction, names: &Names, tile: Tile) -> Pass {
    debug_assert!(vectors(tile).is_multiple_of(WORKGROUP), "tiles have whole workgroups");
    let Parts { mut shader, scratch, axes, sum } = Parts::new(names, group, contraction, tile.lanes);
    Epilogue::new(group, &axes, sum, tile.lanes, tile.lanes).declare(&mut shader);
    let mut main = CodeBuffer::indented();
    grid::workgroups(&mut shader, &mut main);
    declare_shares(&mut shader, &mut main, &axes, tile);
    let of_tile = finish_workgroups(tile);
    main.line(format!("let cut = id / {of_tile}u;"));
    main.line("let first = cut * steps / share;");
    main.line("let parts = (cut * steps + steps - 1u) / share - first + 1u;");
    main.line("if parts == 1u {");
    main.line("return;");
    main.line("}");
    let (whole, splits) = (shader.uniform(Uniform::WholeTiles), shader.uniform(Uniform::Splits));
    main.line(format!("let place = {whole} + cut;"));
    main.line("let tile = place % tiles;");
    main.line("let batch = place / tiles;");
    axes.decode_batch(&mut shader, &mut main);
    grid::tile_origin(&mut shader, &mut main, tile, ["row0", "column0"]);
    main.line(format!("let vector = id % {of_tile}u * {WORKGROUP}u + local;"));
    let across = tile.columns / 4;
    let names = axes.sum_names();
    for name in &names {
        main.line(format!("var {name} = {}();", vector_type(sum, tile.lanes)));
    }
    let size = axes.products * vectors(tile);
    main.unrollable("s", "0u", "parts", 1);
    for (product, name) in names.iter().enumerate() {
        let product = product as u32 * vectors(tile);
        main.line(format!("{name} += {scratch}[(cut * {splits} + s) * {size}u + {product}u + vector];"));
    }
    main.line("}");
    let place = format!("row0 + vector / {across}u, column0 + vector % {across}u * 4u");
    main.line(format!("finish(batch, {}{place}, {});", axes.batch_arguments(), names.join(", ")));
    shader.main = main;
    shader.finish(Grid::SharedTiles { workgroups: of_tile }, WORKGROUP)
}
