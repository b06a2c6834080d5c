//! The text of members without workgroup memory: each invocation has a few queries, reads keys and values as it needs them,
//! four at a time, and waits for no other. For adapters that run on processors.

use fuse_artifact::{Grid, Pass};

use super::{Extents, Input, LOWEST, Source, begin, locate, stage::is_multiple};
use crate::{
    schedule::{
        attention::{DIRECT_INVOCATIONS, Direct},
        contraction::LANES,
    },
    wgsl::{
        names::Names,
        row::read,
        shader::{Lines, Shader},
    },
};

/// The pass of a member without workgroup memory.
pub(super) fn pass(source: Source<'_>, names: &Names, direct: Direct) -> Pass {
    let (mut shader, extents) = begin(source, names);
    let mut main = Lines::indented();
    locate(source, &mut shader, &extents, &mut main, [direct.rows(), LANES], false);
    let mut text = DirectText { shader, main, source, direct, extents };
    text.prepare();
    text.walk();
    text.store();
    let DirectText { mut shader, main, .. } = text;
    shader.main = main;
    shader.finish(Grid::Tiles { rows: direct.rows(), columns: direct.columns }, DIRECT_INVOCATIONS)
}

struct DirectText<'a> {
    shader: Shader<'a>,
    main: Lines,
    source: Source<'a>,
    direct: Direct,
    extents: Extents,
}

impl DirectText<'_> {
    /// Vectors of four columns.
    const fn vectors(&self) -> u32 {
        self.direct.columns / LANES
    }

    /// Writes the load of four elements of an input into `name`. `step` and `outer` are coordinates along the axis that is
    /// summed over and along the other one, both inside the input.
    fn load(&mut self, input: Input, name: &str, [step, outer]: [&str; 2]) {
        let operand = self.source.operand(input, LANES);
        let mut at = self.extents.axes.batch_names();
        at.extend(if input == Input::Query { [outer.into(), step.into()] } else { [step.into(), outer.into()] });
        self.main.line(format!("var {name}: vec4<f32>;"));
        self.main.line("{");
        let value = read(&mut self.shader, &mut self.main, &operand, &at);
        self.main.line(format!("{name} = {value};"));
        self.main.line("}");
    }

    /// This invocation's queries, and what is kept for each.
    fn prepare(&mut self) {
        let queries = self.extents.queries().to_owned();
        self.main.line(format!("let first = row0 + local * {}u;", self.direct.queries));
        self.main.line(format!("if first >= {queries} {{"));
        self.main.line("return;");
        self.main.line("}");
        for m in 0..self.direct.queries {
            self.main.line(format!("let query{m} = min(first + {m}u, {queries} - 1u);"));
            self.main.line(format!("var largest{m} = negative_infinity;"));
            self.main.line(format!("var total{m} = 0.0;"));
            for i in 0..self.vectors() {
                self.main.line(format!("var o{m}_{i} = vec4<f32>();"));
            }
        }
    }

    fn walk(&mut self) {
        let keys = self.extents.keys().to_owned();
        self.main.line(format!("for (var key = key_begin; key < key_end; key += {LANES}u) {{"));
        for j in 0..LANES {
            self.main.line(format!("let key{j} = min(key + {j}u, {keys} - 1u);"));
        }
        self.scores();
        for m in 0..self.direct.queries {
            self.softmax(m, &keys);
        }
        self.outputs(&keys);
        self.main.line("}");
    }

    /// The products of queries and four keys.
    fn scores(&mut self) {
        for m in 0..self.direct.queries {
            self.main.line(format!("var s{m} = vec4<f32>();"));
        }
        self.main.line(format!("for (var depth = 0u; depth < {}; depth += {LANES}u) {{", self.extents.depth));
        for j in 0..LANES {
            self.load(Input::Key, &format!("k{j}"), ["depth", &format!("key{j}")]);
        }
        for m in 0..self.direct.queries {
            self.load(Input::Query, &format!("q{m}"), ["depth", &format!("query{m}")]);
            let products: Vec<String> = (0..LANES).map(|j| format!("dot(q{m}, k{j})")).collect();
            self.main.line(format!("s{m} += vec4<f32>({});", products.join(", ")));
        }
        self.main.line("}");
    }

    /// Whether the number of keys is known to be a multiple of those of a step.
    fn has_whole_steps(&self) -> bool {
        is_multiple(&self.source.attention.keys, LANES)
    }

    /// From products to weights of four keys, and what follows for the sums of query `m` so far.
    fn softmax(&mut self, m: u32, keys: &str) {
        let batch = self.extents.axes.batch_arguments();
        self.main.line(format!("s{m} = score({batch}first + {m}u, key, s{m});"));
        if !self.has_whole_steps() {
            let exists = format!("vec4<u32>(key) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>({keys})");
            self.main.line(format!("s{m} = select(vec4<f32>(negative_infinity), s{m}, {exists});"));
        }
        let most = format!("max(max(s{m}.x, s{m}.y), max(s{m}.z, s{m}.w))");
        self.main.line(format!("let larger{m} = max(largest{m}, {most});"));
        self.main.line(format!("let reference{m} = select(larger{m}, 0.0, larger{m} < {LOWEST});"));
        self.main.line(format!("let scale{m} = exp(largest{m} - reference{m});"));
        self.main.line(format!("let weights{m} = exp(s{m} - vec4<f32>(reference{m}));"));
        self.main.line(format!("largest{m} = larger{m};"));
        self.main.line(format!("total{m} = total{m} * scale{m} + dot(weights{m}, vec4<f32>(1.0));"));
    }

    /// The products of weights and values. What does not exist is zero, whatever the last value is.
    fn outputs(&mut self, keys: &str) {
        let columns = self.extents.columns().to_owned();
        for i in 0..self.vectors() {
            self.main.line("{");
            self.main.line(format!("let column = min({}u, {columns} - {LANES}u);", i * LANES));
            for j in 0..LANES {
                self.load(Input::Value, &format!("v{j}"), [&format!("key{j}"), "column"]);
                if j > 0 && !self.has_whole_steps() {
                    self.main.line(format!("v{j} = select(vec4<f32>(), v{j}, key + {j}u < {keys});"));
                }
            }
            for m in 0..self.direct.queries {
                self.main.line(format!("o{m}_{i} *= vec4<f32>(scale{m});"));
                for j in 0..LANES {
                    self.main.line(format!("o{m}_{i} = fma(vec4<f32>(weights{m}[{j}]), v{j}, o{m}_{i});"));
                }
            }
            self.main.line("}");
        }
    }

    fn store(&mut self) {
        let batch = self.extents.axes.batch_arguments();
        for m in 0..self.direct.queries {
            self.main.line(format!("let factor{m} = vec4<f32>(normalizer(total{m}));"));
            for i in 0..self.vectors() {
                let output = format!("o{m}_{i} * factor{m}");
                self.main.line(format!("finish(batch, {batch}first + {m}u, {}u, {output});", i * LANES));
            }
        }
    }
}
