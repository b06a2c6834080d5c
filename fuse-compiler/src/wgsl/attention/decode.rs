//! The text of schedules for few queries, whose time goes into reading keys and values once.
//!
//! Groups of neighboring invocations share four keys at a time: each invocation reads its part of the keys' depth and of
//! the values' columns, so that a group reads whole rows. The parts of the products are added through workgroup memory;
//! then every invocation of a group knows its group's scores. Each group keeps its own largest score and sums, and the
//! groups are combined at the end.

use crate::kernel::Block;
use fuse_artifact::{
    CHAIN, CHAIN_END, Grid, Pass,
    schedule::{DECODE_GROUPS, DECODE_KEYS, DECODE_LANES, DECODE_SPAN, Decode, LANES},
};

use super::{Extents, Input, LOWEST, Source, begin, four_keys, locate};
use crate::wgsl::{names::Names, shader::Shader};

/// Invocations of a workgroup.
const INVOCATIONS: u32 = DECODE_GROUPS * DECODE_LANES;

/// Vectors of columns that an invocation hands to the combination of groups at once.
const COMBINED: u32 = 2;

/// The pass of a schedule for few queries.
pub(super) fn pass(source: Source<'_>, names: &Names, decode: Decode) -> Pass {
    let arena = crate::kernel::Arena::default();
    let (mut shader, extents) = begin(&arena, source, names);
    // Two sets of parts, so that one barrier per step is enough.
    shader.workgroup_array_text("parts", "vec4<f32>", 2 * decode.queries * INVOCATIONS, 16);
    shader.workgroup_array_text("group_rows", "vec2<f32>", decode.queries * DECODE_GROUPS, 8);
    let mut main = Block::new();
    locate(&source.walk(), &mut shader, &extents, &mut main, [decode.queries, DECODE_KEYS], false);
    let mut text = DecodeText { shader, main, source, decode, extents };
    text.prepare();
    text.walk();
    text.combine();
    let DecodeText { mut shader, main, .. } = text;
    shader.main = main;
    shader.finish(Grid::Tiles { rows: decode.queries, columns: decode.columns }, INVOCATIONS)
}

struct DecodeText<'a> {
    shader: Shader<'a>,
    main: Block<'a>,
    source: Source<'a>,
    decode: Decode,
    extents: Extents<'a>,
}

impl DecodeText<'_> {
    /// Vectors of four along the depth and along the columns per invocation.
    const fn vectors(&self) -> [u32; 2] {
        [self.decode.depth / DECODE_SPAN, self.decode.columns / DECODE_SPAN]
    }

    fn load(&mut self, input: Input, name: &str, at: [&str; 2], exists: Option<String>) {
        let place = (self.source, &self.extents);
        four_keys::load(&mut self.shader, &mut self.main, place, (input, name), at, exists);
    }

    /// The condition that a depth exists, unless it always does.
    fn depth_exists(&self, i: u32) -> Option<String> {
        let always = self.source.attention.depth.as_constant() == Some(self.decode.depth.into());
        (!always).then(|| format!("depth{i} < {}", self.extents.depth))
    }

    fn prepare(&mut self) {
        let [depths, columns] = self.vectors();
        self.main.line(format!("let lane = local % {DECODE_LANES}u;"));
        self.main.line(format!("let group = local / {DECODE_LANES}u;"));
        for i in 0..depths {
            self.main.line(format!("let depth{i} = ({}u + lane) * {LANES}u;", i * DECODE_LANES));
            self.main.line(format!("let inside_depth{i} = min(depth{i}, {} - {LANES}u);", self.extents.depth));
        }
        for i in 0..columns {
            self.main.line(format!("let column{i} = ({}u + lane) * {LANES}u;", i * DECODE_LANES));
            self.main.line(format!("let inside_column{i} = min(column{i}, {} - {LANES}u);", self.extents.columns()));
        }
        for m in 0..self.decode.queries {
            self.main.line(format!("let query{m} = min(row0 + {m}u, {} - 1u);", self.extents.queries()));
            for i in 0..depths {
                let at = [format!("inside_depth{i}"), format!("query{m}")];
                let exists = self.depth_exists(i);
                self.load(Input::Query, &format!("q{m}_{i}"), [&at[0], &at[1]], exists);
            }
            self.main.line(format!("var largest{m} = negative_infinity;"));
            self.main.line(format!("var total{m} = 0.0;"));
            for i in 0..columns {
                self.main.line(format!("var o{m}_{i} = vec4<f32>();"));
            }
        }
    }

    fn walk(&mut self) {
        let [depths, columns] = self.vectors();
        let keys = self.extents.keys().to_owned();
        self.main.line("var turn = 0u;");
        self.main.line(format!("for (var k0 = key_begin; k0 < key_end; k0 += {DECODE_KEYS}u) {{"));
        self.main.line(format!("let key = k0 + group * {LANES}u;"));
        for j in 0..LANES {
            self.main.line(format!("let key{j} = min(key + {j}u, {keys} - 1u);"));
            for i in 0..depths {
                let (step, outer) = (format!("inside_depth{i}"), format!("key{j}"));
                let exists = self.depth_exists(i);
                self.load(Input::Key, &format!("k{j}_{i}"), [&step, &outer], exists);
            }
        }
        for j in 0..LANES {
            for i in 0..columns {
                let (step, outer) = (format!("key{j}"), format!("inside_column{i}"));
                let exists = four_keys::exists(self.source, &self.extents, j, DECODE_KEYS);
                self.load(Input::Value, &format!("v{j}_{i}"), [&step, &outer], exists);
            }
        }
        for m in 0..self.decode.queries {
            let product = |j: u32| {
                let terms: Vec<String> = (0..depths).map(|i| format!("dot(q{m}_{i}, k{j}_{i})")).collect();
                terms.join(" + ")
            };
            let products: Vec<String> = (0..LANES).map(product).collect();
            self.main.line(format!("{} = vec4<f32>({});", self.parts(m, "local"), products.join(", ")));
        }
        self.main.line("workgroupBarrier();");
        for m in 0..self.decode.queries {
            self.update(m);
        }
        self.main.line("turn = 1u - turn;");
        self.main.line("}");
    }

    /// The parts of query `m` that an invocation holds.
    fn parts(&self, m: u32, invocation: &str) -> String {
        format!("parts[(turn * {}u + {m}u) * {INVOCATIONS}u + {invocation}]", self.decode.queries)
    }

    /// Takes the step's four keys into the sums of query `m`.
    fn update(&mut self, m: u32) {
        self.main.line(format!("var s{m} = vec4<f32>();"));
        self.main.unrollable_line("x", "0u", &format!("{DECODE_LANES}u"), 1);
        let part = self.parts(m, &format!("group * {DECODE_LANES}u + x"));
        self.main.line(format!("s{m} += {part};"));
        self.main.line("}");
        let row = format!("row0 + {m}u");
        four_keys::softmax(&mut self.main, (self.source, &self.extents), (m, &row), DECODE_KEYS);
        for i in 0..self.vectors()[1] {
            four_keys::add_outputs(&mut self.main, m, i, |j| format!("v{j}_{i}"));
        }
    }

    /// Combines the groups, each row and [`COMBINED`] vectors of columns at a time, and stores.
    fn combine(&mut self) {
        let queries = self.decode.queries;
        self.main.line("if lane == 0u {");
        for m in 0..queries {
            let at = format!("{}u + group", m * DECODE_GROUPS);
            self.main.line(format!("group_rows[{at}] = vec2<f32>(largest{m}, total{m});"));
        }
        self.main.line("}");
        self.main.line("workgroupBarrier();");
        for m in 0..queries {
            let at = |x: &str| format!("group_rows[{}u + {x}]", m * DECODE_GROUPS);
            self.main.line(format!("var most{m} = negative_infinity;"));
            self.main.unrollable_line("x", "0u", &format!("{DECODE_GROUPS}u"), 1);
            self.main.line(format!("most{m} = max(most{m}, {}.x);", at("x")));
            self.main.line("}");
            self.main.line(format!("let common{m} = select(most{m}, 0.0, most{m} < {LOWEST});"));
            self.main.line(format!("var sum{m} = 0.0;"));
            self.main.unrollable_line("x", "0u", &format!("{DECODE_GROUPS}u"), 1);
            self.main.line(format!("sum{m} += {0}.y * exp({0}.x - common{m});", at("x")));
            self.main.line("}");
            let weight = format!("exp(largest{m} - common{m})");
            if self.source.scheduled.schedule.is_split() {
                self.main.line(format!("let factor{m} = {weight};"));
                self.main.line("if local == 0u {");
                self.main.line(format!("finish_row(batch, row0 + {m}u, most{m}, sum{m});"));
                self.main.line("}");
            } else {
                self.main.line(format!("let factor{m} = {weight} * normalizer(sum{m});"));
            }
            if self.source.stores_rows() {
                let batch = self.extents.axes.batch_arguments_text();
                self.main.line("if local == 0u {");
                self.main.line(format!("finish_numbers(batch, {batch}row0 + {m}u, most{m}, sum{m});"));
                self.main.line("}");
            }
        }
        let columns: Vec<u32> = (0..self.vectors()[1]).collect();
        for (round, columns) in columns.chunks(COMBINED as usize).enumerate() {
            if round > 0 {
                self.main.line("workgroupBarrier();");
            }
            self.round(columns);
        }
    }

    /// Each (row, vector of columns) is added up by one group of invocations.
    fn round(&mut self, columns: &[u32]) {
        let pairs: Vec<(u32, u32)> =
            (0..self.decode.queries).flat_map(|m| columns.iter().map(move |&i| (m, i))).collect();
        for (pair, (m, i)) in pairs.iter().enumerate() {
            let at = pair as u32 * INVOCATIONS;
            self.main.line(format!("parts[{at}u + local] = o{m}_{i} * vec4<f32>(factor{m});"));
        }
        self.main.line("workgroupBarrier();");
        let batch = self.extents.axes.batch_arguments_text();
        self.main.line(format!("{CHAIN}group {{"));
        for (pair, (m, i)) in pairs.iter().enumerate() {
            let at = pair as u32 * INVOCATIONS;
            self.main.line(format!("if group == {pair}u {{"));
            self.main.line("var output = vec4<f32>();");
            self.main.unrollable_line("x", "0u", &format!("{DECODE_GROUPS}u"), 1);
            self.main.line(format!("output += parts[{at}u + x * {DECODE_LANES}u + lane];"));
            self.main.line("}");
            self.main.line(format!("finish(batch, {batch}row0 + {m}u, column{i}, output);"));
            self.main.line("}");
        }
        self.main.line(CHAIN_END);
    }
}
