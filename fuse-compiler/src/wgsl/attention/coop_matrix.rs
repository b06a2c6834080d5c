//! The text of schedules with cooperative matrices.
//!
//! A subgroup multiplies its queries with a slice of keys that the workgroup shares. Invocations see the elements of matrices
//! only in memory, so that each matrix of scores goes through a strip of workgroup memory that belongs to the subgroup: four
//! neighboring invocations have four neighboring scores of a row each, of two rows of every matrix. What they make of them,
//! exponentials relative to a reference, goes to workgroup memory as `f16`, and from there into matrices that are multiplied
//! with the values.
//!
//! Scaling the sums of a row would take all matrices of outputs through memory. So the reference of a row is not its largest
//! score: it follows only when a score exceeds it by more than [`SLACK`], which after the first step is rare (the idea is that
//! of FlashAttention-4, 2025). Exponentials are then at most `exp(SLACK)`, which `f16` holds, and no less exact. Where numbers
//! per row are results, the largest score is kept as well, and the sum is scaled to it at the end.
//!
//! The last tile of queries is moved inside; what lies before belongs to the tiles before.

use crate::kernel::Block;
use fuse_artifact::{
    Grid, Pass,
    schedule::{AttentionCoopMatrix, LANES},
};

use super::{
    Extents, Input, LOWEST, Source, begin, locate,
    matrices::{
        HALF_ROWS, HALF_VECTORS, HALVES, SIZE, STRIP_LINE, declare_places, declare_sums, load_rows, multiply_keys,
        multiply_values, row,
    },
    output,
};
use crate::wgsl::{names::Names, shader::Shader, slice::Slice, stage::is_multiple};

/// By how much a score may exceed the reference of its row: `exp(8)` is 2981, and the largest `f16` is 65504.
const SLACK: &str = "8.0";

/// This invocation's vector of a half of the matrix on its subgroup's strip.
fn on_strip(half: u32) -> String {
    format!("strips[strip_lane + {}u]", half * HALF_VECTORS)
}

/// The pass of a schedule with cooperative matrices.
pub(super) fn pass(source: Source<'_>, names: &Names, tile: AttentionCoopMatrix) -> Pass {
    let arena = crate::kernel::Arena::default();
    let (mut shader, extents) = begin(&arena, source, names);
    shader.use_coop_matrix(SIZE);
    shader.pin_loads();
    let [keys, values, weights] = tile.slice_vectors();
    for (array, vectors) in [("key_slice", keys), ("value_slice", values), ("weights", weights)] {
        if vectors > 0 {
            shader.workgroup_array_text(array, "vec4<f16>", vectors, 8);
        }
    }
    shader.workgroup_array_text("strips", "vec4<f32>", tile.strip_vectors(), 16);
    // Matrices are loaded from multiples of 16 bytes, and the driver puts arrays one after the other: so 16 bytes, not 4.
    shader.workgroup_array_text("grown", "u32", 4, 4);
    let mut main = Block::new();
    locate(&source.walk(), &mut shader, &extents, &mut main, [tile.queries(), tile.keys], true);
    let masked = !is_multiple(&source.attention.keys, tile.keys);
    let has_numbers = output::stores_rows(source.group);
    let mut text = MatrixText { shader, main, source, tile, extents, masked, has_numbers };
    text.prepare();
    text.walk();
    text.store();
    let MatrixText { mut shader, main, .. } = text;
    shader.main = main;
    shader.finish(Grid::Tiles { rows: tile.queries(), columns: tile.columns }, tile.invocations())
}

/// The axis of an input's space from one query, key or row of values to the next.
const fn line_axis(source: Source<'_>, input: Input) -> usize {
    let [summed, outer] = source.axes(input);
    if let Input::Value = input { summed } else { outer }
}

/// The slices of keys or of values.
fn slice(source: Source<'_>, tile: AttentionCoopMatrix, input: Input) -> Slice<'_> {
    let (elements, array) = match input {
        Input::Value => (tile.columns, value_array(tile)),
        Input::Query | Input::Key => (tile.depth, "key_slice"),
    };
    let operand = source.operand(input, LANES);
    let line_axis = line_axis(source, input);
    Slice { operand, line_axis, elements, lines: tile.keys, invocations: tile.invocations(), array }
}

/// The array that holds slices of values.
const fn value_array(tile: AttentionCoopMatrix) -> &'static str {
    if tile.own_values { "value_slice" } else { "key_slice" }
}

struct MatrixText<'a> {
    shader: Shader<'a>,
    main: Block<'a>,
    source: Source<'a>,
    tile: AttentionCoopMatrix,
    extents: Extents<'a>,
    /// Whether a slice may have keys beyond the last.
    masked: bool,
    /// Whether numbers per row follow from the sums, in this pass or in the next.
    has_numbers: bool,
}

impl MatrixText<'_> {
    /// Matrices along a subgroup's queries, a step's keys, the depth and the columns.
    const fn counts(&self) -> [u32; 4] {
        let AttentionCoopMatrix { rows, keys, depth, columns, .. } = self.tile;
        [rows / SIZE, keys / SIZE, depth / SIZE, columns / SIZE]
    }

    /// Every row of which an invocation has vectors, as the matrix of queries and the half of it.
    fn row_parts(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let [rows, ..] = self.counts();
        (0..rows).flat_map(|r| (0..HALVES).map(move |half| (r, half)))
    }

    fn weight_line(&self) -> u32 {
        AttentionCoopMatrix::line_vectors(self.tile.keys)
    }

    /// Places of this invocation and of its subgroup, the queries' matrices, and what is kept for each row.
    fn prepare(&mut self) {
        let (rows, weight_line) = (self.tile.rows, self.weight_line());
        self.main.line("if local == 0u {");
        self.main.line("grown[0] = 0u;");
        self.main.line("}");
        declare_places(&mut self.main, rows, weight_line, 1);
        for input in [Input::Key, Input::Value] {
            let batch = self.extents.axes.batch_names();
            slice(self.source, self.tile, input).declare(&mut self.shader, &mut self.main, batch);
        }
        if self.masked {
            self.main.line(format!("let last_key = {} - 1u;", self.extents.keys()));
        }
        let [row_matrices, _, depth_matrices, column_matrices] = self.counts();
        let (queries, batch) = (self.source.operand(Input::Query, LANES), self.extents.axes.batch_names());
        let queries = (&queries, line_axis(self.source, Input::Query));
        load_rows((&mut self.shader, &mut self.main), queries, batch, "q", [row_matrices, depth_matrices]);
        declare_sums(&mut self.main, "o", [row_matrices, column_matrices]);
        for (r, half) in self.row_parts() {
            self.main.line(format!("var reference{r}_{half} = {LOWEST};"));
            self.main.line(format!("var total{r}_{half} = 0.0;"));
            if self.has_numbers {
                self.main.line(format!("var peak{r}_{half} = negative_infinity;"));
            }
        }
    }

    /// Loads the slice of the step that starts at key `step`.
    fn fetch(&mut self, input: Input, step: &str) {
        let (source, tile) = (self.source, self.tile);
        let slice = slice(source, tile, input);
        slice.fetch(&mut self.shader, &mut self.main, step, self.masked.then_some("last_key"));
    }

    /// Writes the loaded slice to workgroup memory.
    fn fill(&mut self, input: Input) {
        slice(self.source, self.tile, input).fill(&mut self.main);
    }

    /// Walks over the keys. While a step multiplies, the next slices are on their way into registers; values that have no
    /// memory of their own are those of the same step.
    fn walk(&mut self) {
        let keys = self.tile.keys;
        let ahead: &[Input] = if self.tile.own_values { &[Input::Key, Input::Value] } else { &[Input::Key] };
        self.main.line("if key_begin < key_end {");
        for input in ahead {
            self.fetch(*input, "key_begin");
        }
        self.main.line("}");
        self.main.line(format!("for (var k0 = key_begin; k0 < key_end; k0 += {keys}u) {{"));
        for input in ahead {
            self.fill(*input);
        }
        self.main.line("workgroupBarrier();");
        // What lies beyond the last slice is not used.
        self.main.line(match self.masked {
            true => format!("let next = k0 + {keys}u;"),
            false => format!("let next = min(k0 + {keys}u, {} - {keys}u);", self.extents.keys()),
        });
        for input in ahead {
            self.fetch(*input, "next");
        }
        if !self.tile.own_values {
            self.fetch(Input::Value, "k0");
        }
        let [rows, key_matrices, depth, columns] = self.counts();
        let (keys_slice, values_slice) =
            (slice(self.source, self.tile, Input::Key), slice(self.source, self.tile, Input::Value));
        multiply_keys(&mut self.main, &keys_slice, ["q", "s"], [rows, key_matrices, depth]);
        self.read_scores();
        self.mask();
        for (r, half) in self.row_parts() {
            self.weigh(r, half);
        }
        if !self.tile.own_values {
            self.main.line("workgroupBarrier();");
            self.fill(Input::Value);
        }
        self.follow();
        let weights = ("weights", self.weight_line());
        multiply_values(&mut self.main, &values_slice, weights, "o", [rows, key_matrices, columns]);
        self.main.line("workgroupBarrier();");
        self.main.line("}");
    }

    /// Takes the products out of their matrices and makes scores of them, `c{r}_{m}_{half}`.
    fn read_scores(&mut self) {
        let [rows, keys, ..] = self.counts();
        let batch = self.extents.axes.batch_arguments_text();
        for r in 0..rows {
            for m in 0..keys {
                if r + m > 0 {
                    // The matrix before was read from the same strip.
                    self.main.line("workgroupBarrier();");
                }
                self.put_on_strip(&format!("s{r}_{m}"));
                for half in 0..HALVES {
                    let (row, key) = (row(r, half), format!("k0 + {}u + lane_column", m * SIZE));
                    let product = on_strip(half);
                    self.main.line(format!("var c{r}_{m}_{half} = score({batch}{row}, {key}, {product});"));
                }
            }
        }
    }

    /// Puts a matrix on the subgroup's strip, where its invocations see the elements.
    fn put_on_strip(&mut self, matrix: &str) {
        self.main.line(format!("coopStoreT({matrix}, &strips[strip], {STRIP_LINE}u);"));
        self.main.line("workgroupBarrier();");
    }

    /// Leaves out keys beyond the last.
    fn mask(&mut self) {
        if !self.masked {
            return;
        }
        let (keys, [_, key_matrices, ..]) = (self.tile.keys, self.counts());
        self.main.line(format!("if k0 + {keys}u > {} {{", self.extents.keys()));
        for m in 0..key_matrices {
            let lanes = format!("vec4<u32>(k0 + {}u + lane_column) + vec4<u32>(0u, 1u, 2u, 3u)", m * SIZE);
            self.main.line(format!("let exists{m} = {lanes} < vec4<u32>({});", self.extents.keys()));
            for (r, half) in self.row_parts() {
                let score = format!("c{r}_{m}_{half}");
                self.main.line(format!("{score} = select(vec4<f32>(negative_infinity), {score}, exists{m});"));
            }
        }
        self.main.line("}");
    }

    /// From a row's scores to exponentials in workgroup memory and to their sum; `factor{r}_{half}` is what the sums so far
    /// are scaled with.
    fn weigh(&mut self, r: u32, half: u32) {
        let ([_, keys, ..], weight_line) = (self.counts(), self.weight_line());
        let scores: Vec<String> = (0..keys).map(|m| format!("c{r}_{m}_{half}")).collect();
        let n = format!("{r}_{half}");
        let largest = scores[1..].iter().fold(scores[0].clone(), |most, score| format!("max({most}, {score})"));
        self.main.line(format!("let most{n} = {largest};"));
        let of_lanes = format!("max(max(most{n}.x, most{n}.y), max(most{n}.z, most{n}.w))");
        self.main.line(format!("let own{n} = {of_lanes};"));
        self.across_row(&format!("largest{n}"), &format!("own{n}"), |a, b| format!("max({a}, {b})"));
        if self.has_numbers {
            self.main.line(format!("peak{n} = max(peak{n}, largest{n});"));
        }
        self.main.line(format!("var factor{n} = 1.0;"));
        self.main.line(format!("if largest{n} > reference{n} + {SLACK} {{"));
        self.main.line(format!("factor{n} = exp(reference{n} - largest{n});"));
        // Before the first score there is nothing to scale.
        self.main.line(format!("if reference{n} > {LOWEST} {{"));
        self.main.line("grown[0] = 1u;");
        self.main.line("}");
        self.main.line(format!("reference{n} = largest{n};"));
        self.main.line(format!("total{n} *= factor{n};"));
        self.main.line("}");
        for (m, score) in scores.iter().enumerate() {
            let at = (r * SIZE + half * HALF_ROWS) * weight_line + m as u32 * SIZE / LANES;
            self.main.line(format!("let e{n}_{m} = exp({score} - vec4<f32>(reference{n}));"));
            self.main.line(format!("weights[weight_lane + {at}u] = vec4<f16>(e{n}_{m});"));
        }
        let sum: Vec<String> = (0..keys).map(|m| format!("e{n}_{m}")).collect();
        self.main.line(format!("total{n} += dot({}, vec4<f32>(1.0));", sum.join(" + ")));
    }

    /// Declares `name`, a row's value of four invocations from `value`, that of each: `combine(a, b)` takes two together.
    fn across_row(&mut self, name: &str, value: &str, combine: impl Fn(&str, &str) -> String) {
        let (neighbor, pair, other) = (format!("{name}_neighbor"), format!("{name}_pair"), format!("{name}_other"));
        self.main.line(format!("let {neighbor} = subgroupShuffleXor({value}, 1u);"));
        self.main.line(format!("let {pair} = {};", combine(value, &neighbor)));
        self.main.line(format!("let {other} = subgroupShuffleXor({pair}, 2u);"));
        self.main.line(format!("let {name} = {};", combine(&pair, &other)));
    }

    /// Scales the outputs so far where the reference of some row of the workgroup has grown. Weights are written before this,
    /// and read after it.
    fn follow(&mut self) {
        let [rows, _, _, columns] = self.counts();
        self.main.line("let follows = workgroupUniformLoad(&grown[0]);");
        self.main.line("if follows != 0u {");
        for r in 0..rows {
            for j in 0..columns {
                self.put_on_strip(&format!("o{r}_{j}"));
                for half in 0..HALVES {
                    self.main.line(format!("{} *= vec4<f32>(factor{r}_{half});", on_strip(half)));
                }
                self.main.line("workgroupBarrier();");
                let load = format!("coopLoadT<coop_mat{SIZE}x{SIZE}<f32, C>>(&strips[strip], {STRIP_LINE}u)");
                self.main.line(format!("o{r}_{j} = {load};"));
                self.main.line("workgroupBarrier();");
            }
        }
        self.main.line("if local == 0u {");
        self.main.line("grown[0] = 0u;");
        self.main.line("}");
        self.main.line("}");
    }

    fn store(&mut self) {
        let split = self.source.scheduled.schedule.is_split();
        let batch = self.extents.axes.batch_arguments_text();
        for (r, half) in self.row_parts() {
            let n = format!("{r}_{half}");
            self.across_row(&format!("sum{n}"), &format!("total{n}"), |a, b| format!("{a} + {b}"));
            self.main.line(format!("let row{n} = {};", row(r, half)));
            // As in other schedules, what has seen no key says so.
            let is_empty = format!("reference{n} == {LOWEST}");
            let (largest, sum) = if self.has_numbers {
                self.main.line(format!("let rest{n} = select(exp(reference{n} - peak{n}), 1.0, {is_empty});"));
                (format!("peak{n}"), format!("sum{n} * rest{n}"))
            } else {
                (format!("select(reference{n}, negative_infinity, {is_empty})"), format!("sum{n}"))
            };
            let finish = if split {
                Some(format!("finish_row(batch, row{n}, {largest}, {sum});"))
            } else {
                self.main.line(format!("let factor{n} = vec4<f32>(normalizer(sum{n}));"));
                self.has_numbers.then(|| format!("finish_numbers(batch, {batch}row{n}, {largest}, {sum});"))
            };
            if let Some(finish) = finish {
                self.main.line(format!("if subgroup_lane % 4u == 0u && row{n} >= first_row {{"));
                self.main.line(finish);
                self.main.line("}");
            }
        }
        let [rows, _, _, columns] = self.counts();
        for r in 0..rows {
            for j in 0..columns {
                if r + j > 0 {
                    self.main.line("workgroupBarrier();");
                }
                self.put_on_strip(&format!("o{r}_{j}"));
                for half in 0..HALVES {
                    let n = format!("{r}_{half}");
                    let output = on_strip(half);
                    let output = match (split, self.has_numbers) {
                        (false, _) => format!("{output} * factor{n}"),
                        (true, true) => format!("{output} * rest{n}"),
                        (true, false) => output,
                    };
                    let column = format!("{}u + lane_column", j * SIZE);
                    self.main.line(format!("if row{n} >= first_row {{"));
                    self.main.line(format!("finish(batch, {batch}row{n}, {column}, {output});"));
                    self.main.line("}");
                }
            }
        }
    }
}
