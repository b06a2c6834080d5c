//! Second pass of a split schedule whose epilogue reduces rows: a workgroup adds the partial sums of whole rows and
//! applies the epilogue as a tile that owns its rows.

use fuse_artifact::{Grid, Pass, Uniform, schedule::Tile};

use super::{MatmulKernel, product_prefixes, rows::Rows};
use crate::{
    fusion::{Contraction, Group},
    kernel::{Arena, Block, Ty, Val},
    schedule::contraction::ScheduleSpec,
    wgsl::{grid, names::Names, second_pass::Parts},
};

/// The second pass. `tile` covers all columns of its rows.
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
    let rows = Rows::new(group, axes, tile, &products);
    if let Some(rows) = &rows {
        rows.declare(&mut shader);
    }
    let mut kernel = MatmulKernel {
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
        sums: None,
        part: None,
        grouped: None,
        product: None,
    };
    kernel.locate_rows();
    kernel.declare_sums();
    kernel.bind_sums();
    kernel.preload();
    kernel.add_parts(scratch);
    kernel.store();
    let MatmulKernel { mut shader, main, .. } = kernel;
    shader.main = main;
    shader.finish(Grid::WholeRows { rows: tile.rows }, tile.invocations())
}

impl<'k> MatmulKernel<'k> {
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

    /// Adds all parts' sums, in the layout of `declare_partial`.
    fn add_parts(&mut self, scratch: Val<'k>) {
        let arena = self.shader.arena();
        let splits = self.shader.uniform(Uniform::Splits);
        let batches = self.axes.batches(&mut self.shader);
        let (rows, columns) = (self.axes.rows, self.axes.columns);
        let index = |name: String| arena.name(name, Ty::U32);
        let batch = index("batch".to_owned());
        let products = self.products.len() as u32;
        let mut b = Block::new();
        b.range("s", arena.u32(0), splits, 1, |b, s| {
            for (p, product) in (0..).zip(&self.products) {
                for [i, j] in self.vector_numbers() {
                    let part = (s * products + p) * batches + batch;
                    let [row, column] = [format!("at_row_{i}"), format!("at_column_{j}")].map(index);
                    let sum = self.sum(product, [i, j]);
                    b.set(sum, sum + scratch.at(((part * rows + row) * columns + column) / 4));
                }
            }
        });
        self.main.append(&b);
    }
}
