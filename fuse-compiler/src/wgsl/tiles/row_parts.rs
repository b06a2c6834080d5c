//! The second pass of a split schedule whose epilogue reduces rows: a workgroup adds the partial sums of whole rows, and
//! then does what a tile that owns its rows does.

use fuse_artifact::{Grid, Pass, Uniform, schedule::Tile};

use super::{MatmulTile, product_prefixes, rows::Rows};
use crate::{
    fusion::{Contraction, Group},
    schedule::contraction::ScheduleSpec,
    wgsl::{grid, names::Names, second_pass::Parts, shader::CodeBuffer},
};

/// The pass. `tile` has all columns of its rows.
pub fn row_parts(
    group: &Group,
    contraction: &Contraction,
    names: &Names,
    scheduled: &ScheduleSpec,
    tile: Tile,
) -> Pass {
    let Parts { mut shader, scratch, axes, sum } = Parts::new(names, group, contraction, tile.lanes);
    let products = product_prefixes(&axes);
    let rows = Rows::new(group, &axes, tile, &products);
    if let Some(rows) = &rows {
        rows.declare(&mut shader);
    }
    let mut text = MatmulTile {
        shader,
        main: CodeBuffer::indented(),
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
    text.add_parts(&scratch);
    text.store();
    let MatmulTile { mut shader, main, .. } = text;
    shader.main = main;
    shader.finish(Grid::WholeRows { rows: tile.rows }, tile.invocations())
}

impl MatmulTile<'_> {
    /// Which rows and batch this workgroup has, and which columns this invocation.
    fn locate_rows(&mut self) {
        let row_tiles = self.shader.uniform(Uniform::RowTiles);
        let across = self.tile.columns / self.tile.invocation_columns;
        grid::workgroups(&mut self.shader, &mut self.main);
        self.main.line(format!("let batch = id / {row_tiles};"));
        self.axes.decode_batch(&mut self.shader, &mut self.main);
        self.main.line(format!("let row0 = id % {row_tiles} * {}u;", self.tile.rows));
        self.main.line("let column0 = 0u;");
        self.main.line(format!("let tx = local % {across}u;"));
        self.main.line(format!("let ty = local / {across}u;"));
    }

    /// Adds the partial sums of all parts, which lie as `declare_partial` says.
    fn add_parts(&mut self, scratch: &str) {
        let splits = self.shader.uniform(Uniform::Splits);
        let batches = self.axes.batches(&mut self.shader);
        let (rows, columns) = (self.axes.rows.clone(), self.axes.columns.clone());
        self.main.line(format!("for (var s = 0u; s < {splits}; s++) {{"));
        for (p, prefix) in self.products.iter().enumerate() {
            for i in 0..self.tile.invocation_rows {
                for j in 0..self.tile.invocation_columns / 4 {
                    let part = format!("(s * {}u + {p}u) * {batches} + batch", self.products.len());
                    let at = format!("(({part}) * {rows} + at_row_{i}) * {columns} + at_column_{j}");
                    self.main.line(format!("c.s{prefix}{i}_{j} += {scratch}[({at}) / 4u];"));
                }
            }
        }
        self.main.line("}");
    }
}
