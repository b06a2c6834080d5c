//! The text of tiled schedules.
//!
//! A workgroup holds a tile of queries in workgroup memory, transposed. For each step of keys it computes a tile of
//! scores in registers, takes the rows' largest scores together through workgroup memory, writes the exponentials to
//! workgroup memory, transposed, and multiplies them with the values. Keys and values pass through workgroup memory in
//! slices; while one is multiplied, the next is on its way into registers. Invocations that share a row are neighbors;
//! each adds up the exponentials of its own scores, and only at the end are those sums taken together.

use crate::kernel::{Block, Ty};
use std::collections::BTreeSet;

use fuse_artifact::{Grid, Pass, schedule::AttentionTile};

use super::{COMPUTED, Extents, Input, LOWEST, Source, begin, locate, output::finish};
use crate::wgsl::{
    names::Names,
    rank_one,
    shader::Shader,
    stage::{Stage, is_multiple, swizzle},
};

/// The array of exponentials, for each key its rows.
const WEIGHTS: &str = "weights";
/// The array of the invocations' parts of what is known of each row.
const ROW_PARTS: &str = "row_parts";

/// The pass of a tiled schedule.
pub(super) fn pass(source: Source<'_>, names: &Names, tile: AttentionTile) -> Pass {
    let arena = crate::kernel::Arena::default();
    let (mut shader, extents) = begin(&arena, source, names);
    let mut array = |name: &str, elements: u32| shader.workgroup_array_text(name, "vec4<f32>", elements / 4, 16);
    array("query_tile", tile.query_elements());
    array("stage", tile.stage_elements());
    array(WEIGHTS, tile.weight_elements());
    if !tile.parts_share_weights() {
        array(ROW_PARTS, tile.across * tile.queries);
    }
    let mut main = Block::new();
    locate(&source.walk(), &mut shader, &extents, &mut main, [tile.queries, tile.keys], false);
    let stage = |input, array, steps, span| {
        Stage::new(source.staged(&extents, input, tile.lanes), array, [steps, span, tile.invocations()])
    };
    let query = stage(Input::Query, "query_tile", tile.depth_step, tile.queries);
    // Queries that stay are written once, and read by few invocations at a time.
    let query = if tile.resident { query.in_place() } else { query };
    let key = stage(Input::Key, "stage", tile.depth_step, tile.keys);
    let value = stage(Input::Value, "stage", tile.value_step, tile.columns);
    let mut text = AttentionKernel { shader, main, source, tile, extents, query, key, value };
    text.declare_sums();
    text.prepare();
    text.walk();
    text.store();
    let AttentionKernel { mut shader, main, .. } = text;
    shader.main = main;
    shader.finish(Grid::Tiles { rows: tile.queries, columns: tile.columns }, tile.invocations())
}

struct AttentionKernel<'a> {
    shader: Shader<'a>,
    main: Block<'a>,
    source: Source<'a>,
    tile: AttentionTile,
    extents: Extents<'a>,
    query: Stage<'a>,
    key: Stage<'a>,
    value: Stage<'a>,
}

impl AttentionKernel<'_> {
    /// Vectors of four rows per invocation.
    const fn row_groups(&self) -> u32 {
        self.tile.rows / 4
    }

    /// Vectors of four rows of a tile.
    const fn row_vectors(&self) -> u32 {
        self.tile.queries / 4
    }

    /// Vectors of four scores and of four outputs per row of an invocation.
    const fn vectors(&self) -> [u32; 2] {
        [self.tile.scores() / 4, self.tile.outputs() / 4]
    }

    /// The array that rows' parts of maxima and sums pass through.
    const fn row_parts(&self) -> &'static str {
        if self.tile.parts_share_weights() { WEIGHTS } else { ROW_PARTS }
    }

    /// Vectors of four columns of a tile.
    const fn column_vectors(&self) -> u32 {
        self.tile.columns / 4
    }

    /// Declares the sums of scores and outputs, and the functions that add the products of one step to them.
    fn declare_sums(&mut self) {
        let [scores, outputs] = self.vectors();
        rank_one::declare(
            &mut self.shader,
            ["Scores", "add_scores"],
            Ty::of(COMPUTED, 4),
            [self.tile.rows, scores],
            &[String::new()],
        );
        rank_one::declare(
            &mut self.shader,
            ["Outputs", "add_outputs"],
            Ty::of(COMPUTED, 4),
            [self.tile.rows, outputs],
            &[String::new()],
        );
    }

    /// Places of this invocation, the resident queries, and what is kept for each row.
    fn prepare(&mut self) {
        let AttentionTile { across, rows, queries, .. } = self.tile;
        self.main.line(format!("let tx = local % {across}u;"));
        self.main.line(format!("let ty = local / {across}u;"));
        for g in 0..self.row_groups() {
            self.main.line(format!("let rows{g} = ty + {}u;", g * (queries / rows)));
        }
        for step in (0..self.tile.depth_step.max(self.tile.value_step)).step_by(4) {
            if step < 16 {
                self.main.line(format!("let tx{0} = tx ^ {0}u;", swizzle(step)));
            }
        }
        for stage in [&self.query, &self.key, &self.value] {
            stage.declare(&mut self.shader, &mut self.main);
        }
        if self.tile.resident {
            self.load_queries();
        }
        for g in 0..self.row_groups() {
            self.main.line(format!("var largest{g} = vec4<f32>(negative_infinity);"));
            self.main.line(format!("var total{g} = vec4<f32>();"));
        }
        self.main.line("var o = Outputs();");
    }

    fn load_queries(&mut self) {
        let (step, vectors) = (self.tile.depth_step, self.row_vectors());
        self.main.line(format!("for (var d0 = 0u; d0 < {}; d0 += {step}u) {{", self.extents.depth));
        self.query.fetch(&mut self.shader, &mut self.main, "d0", "row0");
        let first = format!("d0 * {vectors}u");
        self.query.fill(&mut self.shader, &mut self.main, ["d0", "row0", &first]);
        self.main.line("}");
    }

    /// Loads a slice of the keys, and of the queries where these are not resident.
    fn fetch_keys(&mut self, depth: &str, first: &str) {
        self.key.fetch(&mut self.shader, &mut self.main, depth, first);
        if !self.tile.resident {
            self.query.fetch(&mut self.shader, &mut self.main, depth, "row0");
        }
    }

    fn fetch_values(&mut self, first: &str) {
        self.value.fetch(&mut self.shader, &mut self.main, first, "0u");
    }

    /// Whether there may be no depth at all.
    fn may_lack_depth(&self) -> bool {
        // Schedules with vector loads require some depth.
        self.tile.lanes == 1 && self.source.attention.depth.as_constant().is_none_or(|depth| depth == 0)
    }

    fn walk(&mut self) {
        let keys = self.tile.keys;
        let some_depth = if self.may_lack_depth() { format!(" && {} > 0u", self.extents.depth) } else { String::new() };
        self.main.line(format!("if key_begin < key_end{some_depth} {{"));
        self.fetch_keys("0u", "key_begin");
        self.main.line("}");
        self.main.line(format!("for (var k0 = key_begin; k0 < key_end; k0 += {keys}u) {{"));
        self.scores();
        self.softmax();
        self.outputs(&some_depth);
        self.main.line("}");
    }

    /// The products of queries and keys.
    fn scores(&mut self) {
        let step = self.tile.depth_step;
        if self.may_lack_depth() {
            self.main.line(format!("if {} == 0u {{", self.extents.depth));
            self.fetch_values("k0");
            self.main.line("}");
        }
        self.main.line("var c = Scores();");
        self.main.line(format!("for (var d0 = 0u; d0 < {}; d0 += {step}u) {{", self.extents.depth));
        self.key.fill(&mut self.shader, &mut self.main, ["d0", "k0", "0u"]);
        if !self.tile.resident {
            self.query.fill(&mut self.shader, &mut self.main, ["d0", "row0", "0u"]);
        }
        self.main.line("workgroupBarrier();");
        self.main.line(format!("if d0 + {step}u < {} {{", self.extents.depth));
        self.fetch_keys(&format!("d0 + {step}u"), "k0");
        self.main.line("} else {");
        self.fetch_values("k0");
        self.main.line("}");
        let row_vectors = self.row_vectors();
        let first = if self.tile.resident { format!("d0 * {row_vectors}u + ") } else { String::new() };
        let turns: BTreeSet<u32> = (0..step).map(|d| self.query.turn(d)).collect();
        for g in 0..self.row_groups() {
            for turn in &turns {
                let moved = if *turn > 0 { format!("(rows{g} ^ {turn}u)") } else { format!("rows{g}") };
                self.main.line(format!("let query{g}_{turn} = {first}{moved};"));
            }
        }
        for d in 0..step {
            let turn = self.query.turn(d);
            let mut arguments = String::from("&c");
            for g in 0..self.row_groups() {
                arguments += &format!(", query_tile[query{g}_{turn} + {}u]", d * row_vectors);
            }
            for j in 0..self.vectors()[0] {
                let at = d * (self.tile.keys / 4) + j * self.tile.across;
                arguments += &format!(", stage[tx{} + {at}u]", swizzle(d));
            }
            self.main.line(format!("add_scores({arguments});"));
        }
        self.main.line("workgroupBarrier();");
        self.main.line("}");
    }

    /// The row (in the workgroup) and the first key or column (in the tile) of an invocation's vector of four.
    fn place(&self, i: u32, j: u32) -> [String; 2] {
        let row = format!("row0 + rows{} * 4u + {}u", i / 4, i % 4);
        [row, format!("(tx + {}u) * 4u", j * self.tile.across)]
    }

    /// From products to exponentials: scores, the rows' largest, and what follows for sums so far.
    fn softmax(&mut self) {
        let AttentionTile { rows, across, keys, .. } = self.tile;
        let [scores, outputs] = self.vectors();
        let (row_vectors, parts) = (self.row_vectors(), self.row_parts());
        let batch = self.extents.axes.batch_arguments_text();
        for i in 0..rows {
            for j in 0..scores {
                let [row, key] = self.place(i, j);
                self.main.line(format!("c.s{i}_{j} = score({batch}{row}, k0 + {key}, c.s{i}_{j});"));
            }
        }
        if !is_multiple(&self.source.attention.keys, keys) {
            self.main.line(format!("if k0 + {keys}u > {} {{", self.extents.keys()));
            for j in 0..scores {
                let [_, key] = self.place(0, j);
                let lanes = format!("vec4<u32>(k0 + {key}) + vec4<u32>(0u, 1u, 2u, 3u)");
                self.main.line(format!("let exists{j} = {lanes} < vec4<u32>({});", self.extents.keys()));
                for i in 0..rows {
                    let masked = format!("select(vec4<f32>(negative_infinity), c.s{i}_{j}, exists{j})");
                    self.main.line(format!("c.s{i}_{j} = {masked};"));
                }
            }
            self.main.line("}");
        }
        for g in 0..self.row_groups() {
            let largest = |i: u32| {
                let mut row = format!("c.s{i}_0");
                for j in 1..scores {
                    row = format!("max({row}, c.s{i}_{j})");
                }
                row
            };
            for i in 4 * g..4 * g + 4 {
                self.main.line(format!("let most{i} = {};", largest(i)));
            }
            let row = |i: u32| format!("max(max(most{i}.x, most{i}.y), max(most{i}.z, most{i}.w))");
            let rows: Vec<String> = (4 * g..4 * g + 4).map(row).collect();
            let most = format!("vec4<f32>({})", rows.join(", "));
            self.main.line(format!("{parts}[tx * {row_vectors}u + rows{g}] = {most};"));
        }
        self.main.line("workgroupBarrier();");
        for g in 0..self.row_groups() {
            self.main.line(format!("var larger{g} = largest{g};"));
        }
        self.main.unrollable_line("x", "0u", &format!("{across}u"), 1);
        for g in 0..self.row_groups() {
            self.main.line(format!("larger{g} = max(larger{g}, {parts}[x * {row_vectors}u + rows{g}]);"));
        }
        self.main.line("}");
        if self.tile.parts_share_weights() {
            self.main.line("workgroupBarrier();");
        }
        for g in 0..self.row_groups() {
            let nothing_seen = format!("larger{g} < vec4<f32>({LOWEST})");
            self.main.line(format!("let reference{g} = select(larger{g}, vec4<f32>(), {nothing_seen});"));
            self.main.line(format!("let scale{g} = exp(largest{g} - reference{g});"));
            self.main.line(format!("largest{g} = larger{g};"));
        }
        for i in 0..rows {
            let (g, e) = (i / 4, i % 4);
            for j in 0..scores {
                self.main.line(format!("c.s{i}_{j} = exp(c.s{i}_{j} - vec4<f32>(reference{g}[{e}]));"));
            }
            for j in 0..outputs {
                self.main.line(format!("o.s{i}_{j} *= vec4<f32>(scale{g}[{e}]);"));
            }
        }
        self.add_totals();
    }

    /// Adds the exponentials of each row.
    fn add_totals(&mut self) {
        let [scores, _] = self.vectors();
        for g in 0..self.row_groups() {
            let row = |i: u32| {
                let sum = (0..scores).map(|j| format!("c.s{i}_{j}")).collect::<Vec<_>>().join(" + ");
                format!("dot({sum}, vec4<f32>(1.0))")
            };
            let rows: Vec<String> = (4 * g..4 * g + 4).map(row).collect();
            self.main.line(format!("total{g} = total{g} * scale{g} + vec4<f32>({});", rows.join(", ")));
        }
    }

    /// The products of exponentials and values: for each vector of scores of an invocation, those of all invocations.
    fn outputs(&mut self, some_depth: &str) {
        let [scores, _] = self.vectors();
        for j in 0..scores {
            self.write_weights(j);
            self.add_outputs(j, some_depth);
        }
    }

    /// Writes the `j`-th vectors of exponentials to workgroup memory: for each key its rows.
    fn write_weights(&mut self, j: u32) {
        let row_vectors = self.row_vectors();
        for g in 0..self.row_groups() {
            self.main.line(format!("let weight{g}_{j} = rows{g} ^ (tx % {}u);", weight_turns(row_vectors)));
            for e in 0..4 {
                let row = |i: u32| format!("c.s{i}_{j}[{e}]");
                let rows = (4 * g..4 * g + 4).map(row).collect::<Vec<_>>().join(", ");
                self.main
                    .line(format!("{WEIGHTS}[(tx * 4u + {e}u) * {row_vectors}u + weight{g}_{j}] = vec4<f32>({rows});"));
            }
        }
    }

    fn add_outputs(&mut self, j: u32, some_depth: &str) {
        let AttentionTile { keys, value_step, across, .. } = self.tile;
        let (row_vectors, turns) = (self.row_vectors(), weight_turns(self.row_vectors()));
        let (begin, end) = (j * 4 * across, (j + 1) * 4 * across);
        self.main.line(format!("for (var v0 = {begin}u; v0 < {end}u && k0 + v0 < key_end; v0 += {value_step}u) {{"));
        self.value.fill(&mut self.shader, &mut self.main, ["k0 + v0", "0u", "0u"]);
        self.main.line("workgroupBarrier();");
        self.main.line(format!("if v0 + {value_step}u < {keys}u && k0 + v0 + {value_step}u < key_end {{"));
        self.fetch_values(&format!("k0 + v0 + {value_step}u"));
        self.main.line(format!("}} else if k0 + {keys}u < key_end{some_depth} {{"));
        self.fetch_keys("0u", &format!("k0 + {keys}u"));
        self.main.line("}");
        if begin > 0 {
            self.main.line(format!("let w0 = v0 - {begin}u;"));
        }
        let w0 = if begin > 0 { "w0" } else { "v0" };
        // The vectors of a key's rows were moved by the number of its group of four.
        for turn in 0..value_step / 4 {
            for g in 0..self.row_groups() {
                let moved = format!("(rows{g} ^ (({w0} / 4u + {turn}u) % {turns}u))");
                self.main.line(format!("let at{g}_{turn} = {w0} * {row_vectors}u + {moved};"));
            }
        }
        for k in 0..value_step {
            let mut arguments = String::from("&o");
            for g in 0..self.row_groups() {
                arguments += &format!(", {WEIGHTS}[at{g}_{} + {}u]", k / 4, k * row_vectors);
            }
            for j in 0..self.vectors()[1] {
                let at = k * self.column_vectors() + j * across;
                arguments += &format!(", stage[tx{} + {at}u]", swizzle(k));
            }
            self.main.line(format!("add_outputs({arguments});"));
        }
        self.main.line("workgroupBarrier();");
        self.main.line("}");
    }

    fn store(&mut self) {
        let AttentionTile { rows, across, lanes, .. } = self.tile;
        let (split, row_vectors, parts) =
            (self.source.scheduled.schedule.is_split(), self.row_vectors(), self.row_parts());
        for g in 0..self.row_groups() {
            self.main.line(format!("{parts}[tx * {row_vectors}u + rows{g}] = total{g};"));
        }
        self.main.line("workgroupBarrier();");
        for g in 0..self.row_groups() {
            self.main.line(format!("var sum{g} = vec4<f32>();"));
        }
        self.main.unrollable_line("x", "0u", &format!("{across}u"), 1);
        for g in 0..self.row_groups() {
            self.main.line(format!("sum{g} += {parts}[x * {row_vectors}u + rows{g}];"));
        }
        self.main.line("}");
        let finish = finish(split, lanes);
        let batch = self.extents.axes.batch_arguments_text();
        if split {
            self.main.line("if tx == 0u {");
            for i in 0..rows {
                let ([row, _], g, e) = (self.place(i, 0), i / 4, i % 4);
                self.main.line(format!("finish_row(batch, {row}, largest{g}[{e}], sum{g}[{e}]);"));
            }
            self.main.line("}");
        }
        if self.source.stores_rows() {
            self.main.line("if tx == 0u {");
            for i in 0..rows {
                let ([row, _], g, e) = (self.place(i, 0), i / 4, i % 4);
                self.main.line(format!("finish_numbers(batch, {batch}{row}, largest{g}[{e}], sum{g}[{e}]);"));
            }
            self.main.line("}");
        }
        for i in 0..rows {
            let (g, e) = (i / 4, i % 4);
            if !split {
                self.main.line(format!("let factor{i} = vec4<f32>(normalizer(sum{g}[{e}]));"));
            }
            for j in 0..self.vectors()[1] {
                let [row, column] = self.place(i, j);
                let output = if split { format!("o.s{i}_{j}") } else { format!("o.s{i}_{j} * factor{i}") };
                self.main.line(format!("{finish}(batch, {batch}{row}, {column}, {output});"));
            }
        }
    }
}

/// In how many ways the vectors of a key's rows are moved, against bank conflicts.
const fn weight_turns(row_vectors: u32) -> u32 {
    if row_vectors < 8 { row_vectors } else { 8 }
}
