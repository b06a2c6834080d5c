//! Expressions from source to artifact, for every choice of dtypes.
//!
//! Every stage must preserve relations of shapes known only at launch.

use fuse_compiler::{
    compile::{Options, compile},
    front::expression,
};

const EXPRESSIONS: &[&str] = &[
    "sigmoid(a * b + c)",
    "relu(matmul(x, w) + b + r)",
    "matmul(relu(matmul(x, w) + b), v) + c",
    "matmul(x + y, transpose(z) * 0.5)",
    "reshape(matmul(x, w) + b, [4, 8])",
    "broadcast_to(matmul(x, w) + b, [3, 4])",
    "slice(matmul(x, w) + b, axis = -1, start = 0, end = 4)",
    "squeeze(unsqueeze(matmul(x, w) * s, axis = -1), axis = -1) + b",
    "permute(matmul(x, w) + b, [1, 0])",
    "matmul(x, w) + b + dot(c, d)",
    "outer(a, b) + matmul(x, w)",
    "select(index(axis = -1) <= index(axis = -2), matmul(x, transpose(y)) * 0.5, -1e9)",
    "(matmul(x, w) + b, x > 0)",
    // More results than a kernel may store on small devices.
    "(sum(x, axis = -1), max(x, axis = -1), min(x, axis = -1), prod(x, axis = -1), sum(x * x, axis = -1),
      sum(exp(x), axis = -1), max(abs(x), axis = -1), min(x * x, axis = -1), sum(tanh(x), axis = -1))",
];

#[test]
fn every_expression_compiles_for_every_choice_of_dtypes() {
    let mut failures = Vec::new();
    for text in EXPRESSIONS {
        let expression = expression(text.parse().expect("the text is balanced"));
        failures.extend(expression.diagnostics.iter().map(|diagnostic| format!("{text}: {diagnostic}")));
        for instance in &expression.instances {
            if let Err(error) = compile(&instance.graph, &Options::default()) {
                failures.push(format!("{text} {:?}: {error}", instance.dtypes));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
