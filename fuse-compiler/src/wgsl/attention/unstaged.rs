//! The text of schedules without workgroup memory: each invocation has a few queries, reads keys and values as it needs them,
//! four at a time, and waits for no other. For adapters that run on processors.

use crate::kernel::Block;
use fuse_artifact::{
    Grid, Pass,
    schedule::{LANES, UNSTAGED_INVOCATIONS, Unstaged},
};

use super::{Extents, Input, Source, begin, four_keys, locate};
use crate::wgsl::{names::Names, shader::Shader};

/// The pass of a schedule without workgroup memory.
pub(super) fn pass(source: Source<'_>, names: &Names, unstaged: Unstaged) -> Pass {
    let arena = crate::kernel::Arena::default();
    let (mut shader, extents) = begin(&arena, source, names);
    let mut main = Block::new();
    locate(&source.walk(), &mut shader, &extents, &mut main, [unstaged.rows(), LANES], false);
    let mut text = UnstagedText { shader, main, source, unstaged, extents };
    text.prepare();
    text.walk();
    text.store();
    let UnstagedText { mut shader, main, .. } = text;
    shader.main = main;
    shader.finish(Grid::Tiles { rows: unstaged.rows(), columns: unstaged.columns }, UNSTAGED_INVOCATIONS)
}

struct UnstagedText<'a> {
    shader: Shader<'a>,
    main: Block<'a>,
    source: Source<'a>,
    unstaged: Unstaged,
    extents: Extents<'a>,
}

impl UnstagedText<'_> {
    /// Vectors of four columns.
    const fn vectors(&self) -> u32 {
        self.unstaged.columns / LANES
    }

    fn load(&mut self, input: Input, name: &str, at: [&str; 2], exists: Option<String>) {
        let place = (self.source, &self.extents);
        four_keys::load(&mut self.shader, &mut self.main, place, (input, name), at, exists);
    }

    /// This invocation's queries, and what is kept for each.
    fn prepare(&mut self) {
        let queries = self.extents.queries().to_owned();
        self.main.line(format!("let first = row0 + local * {}u;", self.unstaged.queries));
        self.main.line(format!("if first >= {queries} {{"));
        self.main.line("return;");
        self.main.line("}");
        for m in 0..self.unstaged.queries {
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
        for m in 0..self.unstaged.queries {
            let row = format!("first + {m}u");
            four_keys::softmax(&mut self.main, (self.source, &self.extents), (m, &row), LANES);
        }
        self.outputs();
        self.main.line("}");
    }

    /// The products of queries and four keys.
    fn scores(&mut self) {
        for m in 0..self.unstaged.queries {
            self.main.line(format!("var s{m} = vec4<f32>();"));
        }
        self.main.line(format!("for (var depth = 0u; depth < {}; depth += {LANES}u) {{", self.extents.depth));
        for j in 0..LANES {
            self.load(Input::Key, &format!("k{j}"), ["depth", &format!("key{j}")], None);
        }
        for m in 0..self.unstaged.queries {
            self.load(Input::Query, &format!("q{m}"), ["depth", &format!("query{m}")], None);
            let products: Vec<String> = (0..LANES).map(|j| format!("dot(q{m}, k{j})")).collect();
            self.main.line(format!("s{m} += vec4<f32>({});", products.join(", ")));
        }
        self.main.line("}");
    }

    /// The products of weights and values. What does not exist is zero, whatever the last value is.
    fn outputs(&mut self) {
        let columns = self.extents.columns().to_owned();
        for i in 0..self.vectors() {
            self.main.line("{");
            self.main.line(format!("let column = min({}u, {columns} - {LANES}u);", i * LANES));
            for j in 0..LANES {
                let exists = four_keys::exists(self.source, &self.extents, j, LANES);
                self.load(Input::Value, &format!("v{j}"), [&format!("key{j}"), "column"], exists);
            }
            for m in 0..self.unstaged.queries {
                four_keys::add_outputs(&mut self.main, m, i, |j| format!("v{j}"));
            }
            self.main.line("}");
        }
    }

    fn store(&mut self) {
        let batch = self.extents.axes.batch_arguments_text();
        for m in 0..self.unstaged.queries {
            if self.source.stores_rows() {
                self.main.line(format!("finish_numbers(batch, {batch}first + {m}u, largest{m}, total{m});"));
            }
            self.main.line(format!("let factor{m} = vec4<f32>(normalizer(total{m}));"));
            for i in 0..self.vectors() {
                let output = format!("o{m}_{i} * factor{m}");
                self.main.line(format!("finish(batch, {batch}first + {m}u, {}u, {output});", i * LANES));
            }
        }
    }
}
