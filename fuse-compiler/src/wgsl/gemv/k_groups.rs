//! Passes of few rows, whose workgroups share the depth: invocations have sums of four neighbouring columns each, for all rows,
//! in k-groups that take turns with the depth. The k-groups' sums are added in workgroup memory.
//!
//! More than four rows are taken in bundles, so that fewer rows skip what the later bundles would do.

use crate::kernel::{Block, Ty};
use std::ops::Range;

use fuse_artifact::{
    Grid, Pass, Space, Uniform,
    schedule::{Gemv, GemvRows, LANES},
};

use crate::{
    fusion::{Contraction, Group},
    wgsl::{
        builtins::vector_type,
        epilogue::{Axes, Epilogue, declare_partial, sum_dtype},
        grid,
        names::Names,
        shader::Shader,
    },
};

/// Rows of a bundle.
const TOGETHER: u32 = 4;

/// How the invocations of a workgroup lie: k-groups are those that share four columns.
#[derive(Clone, Copy)]
pub(super) struct KGroups(pub Gemv);

impl KGroups {
    /// K-groups of a workgroup.
    pub(super) const fn count(&self) -> u32 {
        self.0.depth_lanes
    }

    /// Invocations of a workgroup.
    pub(super) const fn invocations(&self) -> u32 {
        self.0.across() * self.count()
    }

    /// The most rows of an invocation.
    pub(super) const fn rows(&self) -> u32 {
        self.0.rows()
    }

    /// Whether workgroups share the depth.
    const fn is_split(&self) -> bool {
        self.0.is_split()
    }

    /// The name of a row's sum of a product.
    pub(super) fn sum(&self, suffix: &str, row: u32) -> String {
        if self.rows() == 1 { format!("sum{suffix}") } else { format!("sum{suffix}_r{row}") }
    }

    /// Declares the sums of all products and rows.
    pub(super) fn declare_sums<'k>(&self, main: &mut Block<'k>, axes: &Axes<'k>, ty: &str) {
        for suffix in axes.product_suffixes() {
            for row in 0..self.rows() {
                main.line(format!("var {} = {ty}();", self.sum(&suffix, row)));
            }
        }
    }

    /// The expression of the number of an invocation's row, of one that exists.
    pub(super) fn row(&self, axes: &Axes, row: u32) -> String {
        match (self.0.rows, row) {
            (GemvRows::One, _) => "row".to_owned(),
            (_, 0) => "0u".to_owned(),
            _ => format!("min({row}u, {} - 1u)", axes.rows),
        }
    }

    /// Writes what `text` has for each bundle of rows, where there are such rows.
    pub(super) fn bundles<'k>(
        &self,
        main: &mut Block<'k>,
        axes: &Axes<'k>,
        mut text: impl FnMut(&mut Block<'k>, Range<u32>),
    ) {
        for first in (0..self.rows()).step_by(TOGETHER as usize) {
            let bundle = first..self.rows().min(first + TOGETHER);
            if first == 0 {
                text(main, bundle);
            } else {
                main.line(format!("if {} > {first}u {{", axes.rows));
                text(main, bundle);
                main.line("}");
            }
        }
    }

    /// The pass: `products` declares an invocation's sums and adds what its k-group has of the depth from `k_begin` to `k_end`.
    pub(super) fn pass(
        &self,
        group: &Group,
        contraction: &Contraction,
        names: &Names,
        products: impl for<'k> FnOnce(&mut Shader<'k>, &mut Block<'k>, &Axes<'k>),
    ) -> Pass {
        let arena = crate::kernel::Arena::default();
        let mut shader = Shader::new(&arena, names, group);
        let sum = sum_dtype(group, contraction);
        for access in &group.accesses {
            if !(self.is_split() && access.access.space == Space::Point) {
                shader.buffer(access.access.slot, access.dtype, LANES, false);
            }
        }
        let axes = Axes::new(&mut shader, group, contraction);
        if self.is_split() {
            declare_partial(&mut shader, &axes, sum, LANES);
        } else {
            Epilogue::new(group, axes, sum, LANES, LANES).declare(&mut shader);
        }
        let suffixes = axes.product_suffixes();
        let places = self.places() * self.rows().min(TOGETHER);
        for suffix in &suffixes {
            shader.workgroup_array_text(&format!("partial{suffix}"), &vector_type(sum, LANES), places, 16);
        }
        let mut main = Block::new();
        self.locate(&mut shader, &mut main, &axes);
        products(&mut shader, &mut main, &axes);
        self.bundles(&mut main, &axes, |main, bundle| self.finish(main, &axes, &suffixes, &bundle));
        shader.main = main;
        let grid = match self.0.rows {
            GemvRows::AtMost { rows, .. } => Grid::Tiles { rows, columns: self.0.columns },
            GemvRows::One => Grid::Elements { per_workgroup: self.0.columns },
        };
        shader.finish(grid, self.invocations())
    }

    /// Which columns, batch and part of the depth this workgroup and invocation have.
    fn locate<'k>(&self, shader: &mut Shader<'k>, main: &mut Block<'k>, axes: &Axes<'k>) {
        let id = grid::workgroups(shader, main);
        let (inner, [lane, k_group]) = match self.0.along_depth() {
            true => (self.count(), ["/", "%"]),
            false => (self.0.across(), ["%", "/"]),
        };
        main.line(format!("let lane = local {lane} {inner}u;"));
        main.line(format!("let k_group = local {k_group} {inner}u;"));
        if let GemvRows::One = self.0.rows {
            let count = shader.uniform(Uniform::Count);
            main.line(format!("let output = id * {}u + lane * {LANES}u;", self.0.columns));
            main.line(format!("let stores = output < {count};"));
            main.line(format!("let element = min(output, {count} - {LANES}u);"));
            let element = shader.raw("element", Ty::U32);
            axes.decode_element(shader, main, element);
            grid::whole_depth(main, axes);
            return;
        }
        let tiles = shader.uniform(Uniform::ColumnTiles);
        if self.is_split() {
            let [_, part] = grid::batch_and_part(shader, main, axes, id, tiles);
            grid::depth_of_part(shader, main, axes, part);
        } else {
            main.line(format!("let batch = id / {tiles};"));
            grid::whole_depth(main, axes);
        }
        let batch = shader.raw("batch", Ty::U32);
        axes.decode_batch(shader, main, batch);
        main.line(format!("let first = (id % {tiles}) * {}u;", self.0.across()));
        main.line(format!("let columns_in_units = {} / {LANES}u;", axes.columns));
        main.line("let stores = first + lane < columns_in_units;");
        main.line(format!("let column = min(first + lane, columns_in_units - 1u) * {LANES}u;"));
    }

    /// K-groups whose sums have places in workgroup memory: the others add theirs to them.
    const fn half(&self) -> u32 {
        self.count() / 2
    }

    /// Places of a row's sums in workgroup memory.
    const fn places(&self) -> u32 {
        self.0.across() * self.half()
    }

    /// Adds the k-groups' sums of some rows, and stores the results.
    fn finish<'k>(&self, main: &mut Block<'k>, axes: &Axes<'k>, suffixes: &[String], bundle: &Range<u32>) {
        let (half, places) = (self.half(), self.places());
        let (of_lane, next) = match self.0.along_depth() {
            true => (format!("lane * {half}u"), 1),
            false => ("lane".to_owned(), self.0.across()),
        };
        // Sums of all rows of the bundle: `target` of places, from `value` of rows.
        let each = |main: &mut Block<'_>, text: &dyn Fn(&str, u32, u32) -> String| {
            for suffix in suffixes {
                for row in bundle.clone() {
                    main.line(text(suffix, row, (row - bundle.start) * places));
                }
            }
        };
        let place = |k_group: &str| format!("let place = {of_lane} + {k_group} * {next}u;");
        if bundle.start > 0 {
            main.line("workgroupBarrier();");
        }
        main.line(format!("if k_group >= {half}u {{"));
        main.line(place(&format!("(k_group - {half}u)")));
        each(main, &|suffix, row, at| format!("partial{suffix}[place + {at}u] = {};", self.sum(suffix, row)));
        main.line("}");
        main.line("workgroupBarrier();");
        main.line(format!("if k_group < {half}u {{"));
        main.line(place("k_group"));
        each(main, &|suffix, row, at| format!("partial{suffix}[place + {at}u] += {};", self.sum(suffix, row)));
        main.line("}");
        main.line(format!("for (var left = {}u; left > 0u; left /= 2u) {{", half / 2));
        main.line("workgroupBarrier();");
        main.line("if k_group < left {");
        main.line(place("k_group"));
        main.line(format!("let other = place + left * {next}u;"));
        each(main, &|suffix, _, at| format!("partial{suffix}[place + {at}u] += partial{suffix}[other + {at}u];"));
        main.line("}");
        main.line("}");
        // Each k-group stores a row.
        let rows = bundle.end - bundle.start;
        if rows > 1 {
            main.line("workgroupBarrier();");
        }
        main.line(format!("if k_group < {rows}u && stores {{"));
        let place = if rows > 1 { format!("{of_lane} + k_group * {places}u") } else { of_lane };
        let sums: Vec<String> = suffixes.iter().map(|suffix| format!("partial{suffix}[{place}]")).collect();
        let row = match bundle.start {
            _ if rows == 1 => self.row(axes, bundle.start),
            0 => "k_group".to_owned(),
            first => format!("k_group + {first}u"),
        };
        main.line(format!("finish(batch, {}{row}, column, {});", axes.batch_arguments_text(), sums.join(", ")));
        main.line("}");
    }
}
