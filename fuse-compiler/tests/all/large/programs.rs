//! Generated programs of any number of operations.

use std::iter::once;

fn chained(operations: usize, kinds: [&str; 4]) -> String {
    (0..operations).map(|i| format!("let x = {};", kinds[i % 4])).collect()
}

pub(crate) fn chain(operations: usize) -> String {
    let body = chained(operations, ["sin(x)", "x * y", "x + y", "x - y"]);
    format!("pub fn f(x: f32[M, N], y: f32[M, N]) -> f32[M, N] {{ {body} x }}")
}

/// Layers `relu(x·w + b)`: a product and five operations each.
pub(crate) fn layers(count: usize) -> String {
    let parameters = (0..count).fold(String::new(), |text, i| text + &format!(", w{i}: f32[32, 32], b{i}: f32[32]"));
    let body: String = (0..count).map(|i| format!("let x = relu(matmul(x, w{i}) + b{i}) * 0.5 + x;")).collect();
    format!("pub fn f(x: f32[M, 32]{parameters}) -> f32[M, 32] {{ {body} x }}")
}

pub(crate) fn reductions(count: usize) -> String {
    let sum = |i: usize| format!("let s{i} = sum(exp(x * {i}.5), axis = 1);\n");
    let total = (1..count).fold("let t = s0;\n".to_owned(), |text, i| text + &format!("let t = t + s{i};\n"));
    format!("pub fn f(x: f32[M, N]) -> f32[M] {{ {} {total} t }}", (0..count).map(sum).collect::<String>())
}

/// Each generation reads nine elements of the previous one.
pub(crate) fn generations(count: usize) -> String {
    let generation = "let r = roll(x, axis = 0, shift = 1) + x + roll(x, axis = 0, shift = -1);
        let n = roll(r, axis = 1, shift = 1) + r + roll(r, axis = 1, shift = -1) - x;
        let x = select(n == 3.0, 1.0, select(n == 2.0, x, 0.0));\n";
    format!("pub fn f(x: f32[M, N]) -> f32[M, N] {{ {} x }}", generation.repeat(count))
}

pub(crate) fn wide(results: usize) -> String {
    let all = |text: &dyn Fn(usize) -> String| (0..results).map(text).collect::<Vec<_>>().join(", ");
    let (parameters, types, values) = (
        all(&|i| format!("x{i}: f32[N, {}]", i % 7 + 1)),
        all(&|i| format!("f32[N, {}]", i % 7 + 1)),
        all(&|i| format!("sin(x{i}) * 2.0 + x{i}")),
    );
    format!("pub fn f({parameters}) -> ({types}) {{ ({values}) }}")
}

pub(crate) fn gradient_of_chain(operations: usize) -> String {
    let body = chained(operations, ["sin(x)", "x * w", "x + w", "tanh(x)"]);
    format!("pub fn f(x: f32[N], w: f32[N]) -> f32[N] {{ {body} grad(sum(x), wrt = w) }}")
}

const WEIGHTS: [(&str, &[usize]); 12] = [
    ("g1", &[64]),
    ("c1", &[64]),
    ("wq", &[64, 64]),
    ("wk", &[64, 64]),
    ("wv", &[64, 64]),
    ("wo", &[64, 64]),
    ("g2", &[64]),
    ("c2", &[64]),
    ("w1", &[64, 256]),
    ("b1", &[256]),
    ("w2", &[256, 64]),
    ("b2", &[64]),
];

/// Attention, `layer_norm`, a `gelu` MLP, cross entropy, AdamW in place.
pub(crate) fn training_step(layers: usize) -> String {
    let own = |layer: usize| WEIGHTS.iter().map(move |(name, shape)| (format!("{name}_{layer}"), shape.to_vec()));
    let weights: Vec<(String, Vec<usize>)> =
        (0..layers).flat_map(own).chain(once(("out".to_owned(), vec![64, 512]))).collect();
    let mut parameters = String::new();
    for (name, shape) in &weights {
        let shape = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        for state in ["", "m_", "s_"] {
            parameters += &format!(", {state}{name}: &mut f32[{shape}]");
        }
    }
    let block = |l: usize| {
        format!(
            "let h = layer_norm(x, g1_{l}, c1_{l});
             let (q, k, v) = (heads(matmul(h, wq_{l})), heads(matmul(h, wk_{l})), heads(matmul(h, wv_{l})));
             let scores = matmul(q, transpose(k)) / sqrt(16.0);
             let visible = index(scores, axis = 3) <= index(scores, axis = 2);
             let context = matmul(softmax(select(visible, scores, -inf)), v);
             let x = x + matmul(reshape(permute(context, [0, 2, 1, 3]), [B, S, 64]), wo_{l});
             let h = layer_norm(x, g2_{l}, c2_{l});
             let x = x + matmul(gelu(matmul(h, w1_{l}) + b1_{l}), w2_{l}) + b2_{l};\n"
        )
    };
    let names: Vec<&str> = weights.iter().map(|(name, _)| name.as_str()).collect();
    let update = |name: &&str| {
        format!(
            "let m = 0.9 * m_{name} + 0.1 * d_{name};
             let s = 0.999 * s_{name} + 0.001 * d_{name} * d_{name};
             *m_{name} = m;
             *s_{name} = s;
             *{name} = {name} * 0.999 - rate * (m / c1) / (sqrt(s / c2) + 0.00000001);\n"
        )
    };
    format!(
        "fn heads(x: f32[B, S, 64]) -> f32[B, 4, S, 16] {{ permute(reshape(x, [B, S, 4, 16]), [0, 2, 1, 3]) }}
         pub fn f(x: f32[B, S, 64], classes: i32[B, S], rate: f32, step: f32{parameters}) -> f32 {{
             {}
             let loss = mean(cross_entropy(matmul(x, out), classes));
             let ({}) = grad(loss, wrt = [{}]);
             let (c1, c2) = (-expm1(step * log(0.9)), -expm1(step * log(0.999)));
             {}
             loss
         }}",
        (0..layers).map(block).collect::<String>(),
        names.iter().map(|name| format!("d_{name}")).collect::<Vec<_>>().join(", "),
        names.join(", "),
        names.iter().map(update).collect::<String>(),
    )
}

/// Tensors with numeric or symbolic extents, slices, numbers; gradients of the first and third.
pub(crate) fn pieces(count: usize) -> [String; 6] {
    let all = |text: &dyn Fn(usize) -> String| (0..count).map(text).collect::<Vec<_>>().join(", ");
    let (names, tensors) = (all(&|i| format!("x{i}")), all(&|i| format!("x{i}: f32[4]")));
    let (symbols, sum) = (all(&|i| format!("x{i}: f32[N{i}]")), all(&|i| format!("N{i}")).replace(", ", " + "));
    let slices = all(&|i| format!("slice(x, axis = 0, start = {}, end = {})", 4 * i, 4 * i + 4));
    let joined = 4 * count;
    [
        format!("pub fn f({tensors}) -> f32[{joined}] {{ concat([{names}], axis = 0) }}"),
        format!("pub fn f({symbols}) -> f32[{sum}] {{ concat([{names}], axis = 0) }}"),
        format!("pub fn f(x: f32[{joined}]) -> f32[{joined}] {{ concat([{slices}], axis = 0) }}"),
        format!(
            "pub fn f(x: f32[{count}]) -> f32[{count}] {{ x * stack([{}], axis = 0) }}",
            all(&|i| format!("{i}.5"))
        ),
        format!(
            "pub fn f({tensors}) -> ({}) {{ let y = concat([{names}], axis = 0); grad(sum(y * y), wrt = [{names}]) }}",
            all(&|_| "f32[4]".to_owned())
        ),
        format!(
            "pub fn f(x: f32[{joined}]) -> f32[{joined}] {{
                 let y = concat([{slices}], axis = 0); grad(sum(y * y), wrt = x)
             }}"
        ),
    ]
}
