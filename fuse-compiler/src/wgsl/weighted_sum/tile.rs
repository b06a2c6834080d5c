//! The text of tiled schedules.
//!
//! For each step of keys a workgroup computes tiles of its products in registers, and from them the weights. These go to workgroup
//! memory, transposed, one sum after the other, and are multiplied with what the sum adds up. Operands pass through workgroup
//! memory in slices; while one is multiplied, the next is on its way into registers.

use crate::kernel::{Block, Ty};
use std::collections::BTreeSet;

use fuse_artifact::{Grid, Pass, schedule::WeightedSum as Tile};

use super::{COMPUTED, Extents, Input, Source};
use crate::wgsl::{
    rank_one,
    shader::Shader,
    stage::{Stage, is_multiple, swizzle},
};

/// The array of weights of one sum, for each key its rows.
const WEIGHTS: &str = "weight_tile";

/// Writes the rest of the pass, after the declarations and the place of the workgroup.
pub(super) fn write<'k>(mut shader: Shader<'k>, mut main: Block<'k>, source: Source<'_>, extents: Extents<'k>) -> Pass {
    let tile = source.scheduled.schedule;
    let mut array = |name: &str, elements: u32| shader.workgroup_array_text(name, "vec4<f32>", elements / 4, 16);
    array("lhs_tile", tile.lhs_elements());
    array("stage", tile.stage_elements());
    array(WEIGHTS, tile.weight_elements());
    let (products, sums) = (source.sum.products.len(), source.sum.values.len());
    let mut stage = |input, array, steps, span| {
        let stage = Stage::new(source.staged(&mut shader, &extents, input), array, [steps, span, tile.invocations()]);
        stage.declare(&mut shader, &mut main);
        stage
    };
    let products = (0..products).map(|i| {
        let lhs = stage(Input::Lhs(i), "lhs_tile", tile.depth_step, tile.rows);
        Operands { lhs, rhs: stage(Input::Rhs(i), "stage", tile.depth_step, tile.keys()) }
    });
    let products: Vec<Operands<'_>> = products.collect();
    let values = (0..sums).map(|i| stage(Input::Value(i), "stage", tile.value_step, tile.columns)).collect();
    let mut text = WeightedSumTile { shader, main, source, tile, extents, products, values };
    text.declare();
    text.prepare();
    text.walk();
    text.store();
    let WeightedSumTile { mut shader, main, .. } = text;
    shader.main = main;
    shader.finish(Grid::Tiles { rows: tile.rows, columns: tile.columns }, tile.invocations())
}

/// The operands of a product.
struct Operands<'a> {
    lhs: Stage<'a>,
    rhs: Stage<'a>,
}

struct WeightedSumTile<'a> {
    shader: Shader<'a>,
    main: Block<'a>,
    source: Source<'a>,
    tile: Tile,
    extents: Extents<'a>,
    products: Vec<Operands<'a>>,
    values: Vec<Stage<'a>>,
}

impl WeightedSumTile<'_> {
    /// Vectors of four rows per invocation.
    const fn row_groups(&self) -> u32 {
        self.tile.invocation_rows / 4
    }

    /// Vectors of four rows of a tile.
    const fn row_vectors(&self) -> u32 {
        self.tile.rows / 4
    }

    /// Vectors of four sums per row of an invocation.
    const fn output_vectors(&self) -> u32 {
        self.tile.outputs() / 4
    }

    /// In how many ways the vectors of a key's rows are moved, against bank conflicts.
    const fn weight_turns(&self) -> u32 {
        if self.row_vectors() < 8 { self.row_vectors() } else { 8 }
    }

    /// Declares the sums of products and outputs, and the functions that add to them.
    fn declare(&mut self) {
        let (rows, outputs) = (self.tile.invocation_rows, self.output_vectors());
        rank_one::declare(
            &mut self.shader,
            ["Products", "add_products"],
            Ty::of(COMPUTED, 4),
            [rows, 1],
            &[String::new()],
        );
        rank_one::declare(
            &mut self.shader,
            ["Outputs", "add_outputs"],
            Ty::of(COMPUTED, 4),
            [rows, outputs],
            &[String::new()],
        );
    }

    /// Places of this invocation, and its sums.
    fn prepare(&mut self) {
        let Tile { across, invocation_rows, rows, .. } = self.tile;
        self.main.line(format!("let tx = local % {across}u;"));
        self.main.line(format!("let ty = local / {across}u;"));
        for g in 0..self.row_groups() {
            self.main.line(format!("let rows{g} = ty + {}u;", g * (rows / invocation_rows)));
        }
        for step in (0..self.tile.depth_step.max(self.tile.value_step)).step_by(4) {
            self.main.line(format!("let tx{0} = tx ^ {0}u;", swizzle(step)));
        }
        for i in 0..self.values.len() {
            self.main.line(format!("var o{i} = Outputs();"));
        }
    }

    /// Whether every product certainly has some depth: schedules with vector loads require it.
    const fn has_depth(&self) -> bool {
        self.tile.lanes > 1
    }

    /// The extent of a product's depth.
    fn depth(&mut self, product: usize) -> String {
        let axis = (self.source.batch() + 3 + product) as u8;
        self.shader.uniform(fuse_artifact::Uniform::Extent { axis }).to_string()
    }

    /// Loads the slices of a product that begin at a depth.
    fn fetch_product(&mut self, product: usize, depth: &str, first: &str) {
        let Operands { lhs, rhs } = &self.products[product];
        lhs.fetch(&mut self.shader, &mut self.main, depth, "row0");
        rhs.fetch(&mut self.shader, &mut self.main, depth, first);
    }

    fn fetch_values(&mut self, sum: usize, first: &str) {
        self.values[sum].fetch(&mut self.shader, &mut self.main, first, "0u");
    }

    fn walk(&mut self) {
        let keys = self.tile.keys();
        if self.has_depth() {
            self.main.line("if key_begin < key_end {");
            self.fetch_product(0, "0u", "key_begin");
            self.main.line("}");
        }
        self.main.line(format!("for (var k0 = key_begin; k0 < key_end; k0 += {keys}u) {{"));
        for product in 0..self.products.len() {
            self.product(product);
        }
        self.weights();
        for sum in 0..self.values.len() {
            self.add_values(sum);
        }
        self.main.line("}");
    }

    /// Products of rows and of a step's keys.
    fn product(&mut self, product: usize) {
        let (step, depth) = (self.tile.depth_step, self.depth(product));
        self.main.line(format!("var c{product} = Products();"));
        if !self.has_depth() {
            self.main.line(format!("if {depth} > 0u {{"));
            self.fetch_product(product, "0u", "k0");
            self.main.line("}");
        }
        self.main.line(format!("for (var d0 = 0u; d0 < {depth}; d0 += {step}u) {{"));
        let Operands { lhs, rhs } = &self.products[product];
        lhs.fill(&mut self.shader, &mut self.main, ["d0", "row0", "0u"]);
        rhs.fill(&mut self.shader, &mut self.main, ["d0", "k0", "0u"]);
        self.main.line("workgroupBarrier();");
        self.main.line(format!("if d0 + {step}u < {depth} {{"));
        self.fetch_product(product, &format!("d0 + {step}u"), "k0");
        if self.has_depth() {
            self.main.line("} else {");
            if product + 1 < self.products.len() {
                self.fetch_product(product + 1, "0u", "k0");
            } else {
                self.fetch_values(0, "k0");
            }
        }
        self.main.line("}");
        let (row_vectors, across) = (self.row_vectors(), self.tile.across);
        let turns: BTreeSet<u32> = (0..step).map(swizzle).collect();
        for g in 0..self.row_groups() {
            for turn in &turns {
                self.main.line(format!("let lhs{g}_{turn} = rows{g} ^ {turn}u;"));
            }
        }
        for d in 0..step {
            let mut arguments = format!("&c{product}");
            for g in 0..self.row_groups() {
                arguments += &format!(", lhs_tile[lhs{g}_{} + {}u]", swizzle(d), d * row_vectors);
            }
            arguments += &format!(", stage[tx{} + {}u]", swizzle(d), d * across);
            self.main.line(format!("add_products({arguments});"));
        }
        self.main.line("workgroupBarrier();");
        self.main.line("}");
    }

    /// From products to weights.
    fn weights(&mut self) {
        let keys = self.tile.keys();
        let batch = self.extents.axes.batch_arguments_text();
        for i in 0..self.tile.invocation_rows {
            let row = self.row(i);
            let products: String = (0..self.products.len()).map(|product| format!(", c{product}.s{i}_0")).collect();
            self.main.line(format!("var w{i} = weights({batch}{row}, k0 + tx * 4u{products});"));
        }
        if !is_multiple(&self.source.sum.keys, keys) {
            self.main.line(format!("if k0 + {keys}u > {} {{", self.extents.keys()));
            let places = "vec4<u32>(k0 + tx * 4u) + vec4<u32>(0u, 1u, 2u, 3u)";
            self.main.line(format!("let exists = {places} < vec4<u32>({});", self.extents.keys()));
            for i in 0..self.tile.invocation_rows {
                for sum in 0..self.values.len() {
                    self.main.line(format!("w{i}.w{sum} = select(vec4<f32>(), w{i}.w{sum}, exists);"));
                }
            }
            self.main.line("}");
        }
    }

    /// The row of an invocation's `i`-th row.
    fn row(&self, i: u32) -> String {
        format!("row0 + rows{} * 4u + {}u", i / 4, i % 4)
    }

    /// Adds what the weights of a step give to a sum.
    fn add_values(&mut self, sum: usize) {
        let Tile { value_step, across, .. } = self.tile;
        let (keys, row_vectors, turns) = (self.tile.keys(), self.row_vectors(), self.weight_turns());
        if !self.has_depth() {
            self.fetch_values(sum, "k0");
        }
        for g in 0..self.row_groups() {
            self.main.line(format!("let weight{sum}_{g} = rows{g} ^ (tx % {turns}u);"));
            for e in 0..4 {
                let rows: Vec<String> = (4 * g..4 * g + 4).map(|i| format!("w{i}.w{sum}[{e}]")).collect();
                let at = format!("(tx * 4u + {e}u) * {row_vectors}u + weight{sum}_{g}");
                self.main.line(format!("{WEIGHTS}[{at}] = vec4<f32>({});", rows.join(", ")));
            }
        }
        self.main.line(format!("for (var v0 = 0u; v0 < {keys}u && k0 + v0 < key_end; v0 += {value_step}u) {{"));
        self.values[sum].fill(&mut self.shader, &mut self.main, ["k0 + v0", "0u", "0u"]);
        self.main.line("workgroupBarrier();");
        self.main.line(format!("if v0 + {value_step}u < {keys}u && k0 + v0 + {value_step}u < key_end {{"));
        self.fetch_values(sum, &format!("k0 + v0 + {value_step}u"));
        if self.has_depth() {
            if sum + 1 < self.values.len() {
                self.main.line("} else {");
                self.fetch_values(sum + 1, "k0");
            } else {
                self.main.line(format!("}} else if k0 + {keys}u < key_end {{"));
                self.fetch_product(0, "0u", &format!("k0 + {keys}u"));
            }
        }
        self.main.line("}");
        // The vectors of a key's rows were moved by the number of its group of four.
        for turn in 0..value_step / 4 {
            for g in 0..self.row_groups() {
                let moved = format!("(rows{g} ^ ((v0 / 4u + {turn}u) % {turns}u))");
                self.main.line(format!("let at{g}_{turn} = v0 * {row_vectors}u + {moved};"));
            }
        }
        let column_vectors = self.tile.columns / 4;
        for k in 0..value_step {
            let mut arguments = format!("&o{sum}");
            for g in 0..self.row_groups() {
                arguments += &format!(", {WEIGHTS}[at{g}_{} + {}u]", k / 4, k * row_vectors);
            }
            for j in 0..self.output_vectors() {
                arguments += &format!(", stage[tx{} + {}u]", swizzle(k), k * column_vectors + j * across);
            }
            self.main.line(format!("add_outputs({arguments});"));
        }
        self.main.line("workgroupBarrier();");
        self.main.line("}");
    }

    fn store(&mut self) {
        let finish = if self.tile.lanes == 1 { "finish_four" } else { "finish" };
        let batch = self.extents.axes.batch_arguments_text();
        for i in 0..self.tile.invocation_rows {
            for j in 0..self.output_vectors() {
                let column = format!("(tx + {}u) * 4u", j * self.tile.across);
                let sums: Vec<String> = (0..self.values.len()).map(|sum| format!("o{sum}.s{i}_{j}")).collect();
                self.main.line(format!("{finish}(batch, {batch}{}, {column}, {});", self.row(i), sums.join(", ")));
            }
        }
    }
}
