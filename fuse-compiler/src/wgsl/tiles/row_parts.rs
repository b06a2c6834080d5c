//! The second pass of a split schedule whose epilogue reduces rows: a workgroup adds the partial sums of whole rows, and
//! then does what a tile that owns its rows does.

use fuse_artifact::{Grid, Pass, Uniform, schedule::Tile};

use super::{MatmulKernel, product_prefixes, rows::Rows};
use crate::{
    fusion::{Contraction, Group},
    kernel::{Arena, Block, Ty, Val},
    schedule::contraction::ScheduleSpec,
    wgsl::{grid, names::Names, second_pass::Parts},
};

/// The pass. `tile` has all columns of its rows.
pub fn row_parts(
    group: &Group,
    contraction: &Contraction,
    names: &Names,
    scheduled: &ScheduleSpec,
    tile: Tile,
) -> Pass {
    let arena = Arena::default();
    let Parts { mut shader, scratch, axes, sum } = Parts::new(&arena, names, group, contraction, tile.lanes);
    let products = product_prefixes(&axes);
    let rows = Rows::new(group, axes, (tile, sum), &products);
    if let Some(rows) = &rows {
        rows.declare(&mut shader);
    }
    let mut text = MatmulKernel {
        shader,
        main: Block::new(),
        group,
        contraction,
        scheduled,
        tile,
        axes,
        sum,
        sides: vec![],
        products,
        rhs_prefixes: vec![],
        rows,
        row_prologue: None,
        product: None,
    };
    text.locate_rows();
    text.declare_sums();
    text.preload();
    text.add_parts(scratch);
    text.store();
    let MatmulKernel { mut shader, main, .. } = text;
    shader.main = main;
    shader.finish(Grid::WholeRows { rows: tile.rows }, tile.invocations())
}

impl<'k> MatmulKernel<'k> {
    /// Which rows and batch this workgroup has, and which columns this invocation.
    fn locate_rows(&mut self) {
        let row_tiles = self.shader.uniform(Uniform::RowTiles);
        let across = self.tile.columns / self.tile.invocation_columns;
        let (b, local) = (&mut self.main, self.shader.local());
        let id = grid::workgroups(&mut self.shader, b);
        let batch = b.bind("batch", id / row_tiles);
        self.axes.decode_batch(&mut self.shader, b, batch);
        b.bind("row0", id % row_tiles * self.tile.rows);
        b.bind("column0", self.shader.u32(0));
        b.bind("tx", local % across);
        b.bind("ty", local / across);
    }

    /// Adds the partial sums of all parts, which lie as `declare_partial` says.
    fn add_parts(&mut self, scratch: Val<'k>) {
        let arena = self.shader.arena();
        let splits = self.shader.uniform(Uniform::Splits);
        let batches = self.axes.batches(&mut self.shader);
        let (rows, columns) = (self.axes.rows, self.axes.columns);
        let index = |name: String| arena.name(name, Ty::U32);
        let batch = index("batch".to_owned());
        let products = self.products.len() as u32;
        self.main.range("s", arena.u32(0), splits, 1, |b, s| {
            for (p, prefix) in (0..).zip(&self.products) {
                for i in 0..self.tile.invocation_rows {
                    for j in 0..self.tile.invocation_columns / 4 {
                        let part = (s * products + p) * batches + batch;
                        let [row, column] = [format!("at_row_{i}"), format!("at_column_{j}")].map(index);
                        let sum = arena.name(format!("c.s{prefix}{i}_{j}"), Ty::of(self.sum, 4));
                        b.set(sum, sum + scratch.at(((part * rows + row) * columns + column) / 4));
                    }
                }
            }
        });
    }
}
