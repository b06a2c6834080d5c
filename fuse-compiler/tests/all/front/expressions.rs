//! Tests of the expression form: variables, dtype classes, ranks and padded graphs.

use fuse_artifact::DType;
use fuse_compiler::{front::*, graph::print::print};

use super::expression_of;

fn checked(source: &str) -> Expression {
    let expression = expression_of(source);
    let messages: Vec<String> = expression.diagnostics.iter().map(ToString::to_string).collect();
    assert!(messages.is_empty(), "{source}: {messages:?}");
    expression
}

fn of(index: usize) -> Box<RankExpr> {
    Box::new(RankExpr::Of(index))
}

#[test]
fn a_linear_layer() {
    let expression = checked("relu(matmul(x, w) + b + r)");
    let names: Vec<String> = expression.variables.iter().map(|variable| variable.place.text.clone()).collect();
    assert_eq!(names, ["x", "w", "b", "r"]);
    assert_eq!(expression.classes, [DTypeClass::Float]);
    assert!(expression.variables.iter().all(|variable| variable.dtype == ExpressionDType::Class(0)));
    assert_eq!(expression.instances.len(), 2);
    let matmul = RankExpr::Matmul(of(0), of(1));
    let with_b = RankExpr::Broadcast(Box::new(matmul), of(2));
    assert_eq!(expression.results[0].rank, RankExpr::Broadcast(Box::new(with_b), of(3)));
    let graph = &expression.instances[0].graph;
    assert_eq!(graph.checks.len(), 1);
    assert!(graph.params.iter().all(|param| param.padded && param.ty.rank() == 6));
    let text = print(graph);
    assert!(text.contains("check x.5 == w.4 (inner dimension of `matmul`)"), "{text}");
    assert!(text.contains("let x.0|w.0|b.0 = broadcast [x.0, w.0, b.0]"), "{text}");
}

#[test]
fn a_variable_used_twice_is_one_parameter() {
    let expression = checked("x * sigmoid(x)");
    assert_eq!(expression.variables.len(), 1);
    assert_eq!(expression.results[0].rank, RankExpr::Of(0));
    let text = print(&expression.instances[0].graph);
    assert!(!text.contains("broadcast"), "{text}");
}

#[test]
fn classes_follow_from_operations() {
    let classes = |source: &str| checked(source).classes;
    assert_eq!(classes("a * b + c"), [DTypeClass::Number]);
    assert_eq!(classes("a * 0.5"), [DTypeClass::Float]);
    assert_eq!(classes("transpose(a)"), [DTypeClass::Any]);
    assert_eq!(classes("a * -1"), [DTypeClass::Signed]);
    assert_eq!(classes("clamp(a, -1, 1) * 0.5"), [DTypeClass::Float]);
    assert_eq!(classes("a << b"), [DTypeClass::Integer]);
    assert_eq!(classes("!(a & 7) | popcount(b)"), [DTypeClass::Integer]);
    // Not every dtype can represent these.
    assert_eq!(classes("a * 70000"), [DTypeClass::Wide]);
    assert_eq!(classes("a * -70000"), [DTypeClass::SignedWide]);
    assert_eq!(classes("(a + 3000000000) * 70000"), [DTypeClass::UnsignedWide]);
    for known in ["a + 1e-8", "a * 70000.0", "a * 70000 + 0.5", "a + 5000000000", "a - 3000000000 + -3000000000"] {
        assert_eq!(checked(known).variables[0].dtype, ExpressionDType::Known(DType::F32), "{known}");
    }
    assert_eq!(classes("layer_norm(a, g, b, eps = 1e-12)"), [DTypeClass::Float]);
    assert_eq!(checked("a ^ -1").variables[0].dtype, ExpressionDType::Known(DType::I32));
    assert_eq!(checked("to_bits(a)").variables[0].dtype, ExpressionDType::Known(DType::F32));
    assert_eq!(checked("isnan(a) && !b").variables[1].dtype, ExpressionDType::Known(DType::Bool));
    assert_eq!(classes("select(a > b, c, d)"), [DTypeClass::Number, DTypeClass::Any]);
    assert_eq!(classes("x + (i as f32)"), [DTypeClass::Any]);
    let select = checked("select(m, x, 0.0)");
    assert_eq!(select.variables[0].dtype, ExpressionDType::Known(DType::Bool));
    let both = checked("(x > 0, x)");
    assert_eq!(both.results[0].dtype, ExpressionDType::Known(DType::Bool));
    assert_eq!(both.results[1].dtype, ExpressionDType::Class(0));
}

#[test]
fn lets_and_blocks_work() {
    for source in ["{ let a = x + y; a * a }", "let a = x + y; a * a"] {
        let expression = checked(source);
        assert_eq!(expression.variables.len(), 2, "{source}");
        assert_eq!(expression.results.len(), 1);
    }
}

#[test]
fn ranks_follow_from_shape_operations() {
    let rank = |source: &str| checked(source).results[0].rank.clone();
    assert_eq!(rank("transpose(x)"), RankExpr::AtLeast(2, of(0)));
    assert_eq!(rank("unsqueeze(x, axis = -1)"), RankExpr::Plus1(of(0)));
    assert_eq!(rank("squeeze(x, axis = -2)"), RankExpr::Minus1(of(0)));
    assert_eq!(rank("reshape(x, [2, 8])"), RankExpr::Known(2));
    assert_eq!(rank("squeeze(reshape(x, [1, 8]), axis = 0)"), RankExpr::Known(1));
    assert_eq!(rank("dot(x, y)"), RankExpr::Known(0));
    assert_eq!(rank("outer(x, y)"), RankExpr::Known(2));
    assert_eq!(rank("broadcast_to(x, [4, 8])"), RankExpr::Known(2));
    assert_eq!(rank("permute(x, [2, 0, 1])"), RankExpr::Known(3));
    assert_eq!(rank("slice(x, axis = -1, start = 1, end = 3)"), RankExpr::Of(0));
    assert_eq!(rank("index(x, axis = -1)"), RankExpr::Of(0));
    assert_eq!(rank("sum(x)"), RankExpr::Known(0));
    assert_eq!(rank("sum(x, axis = -1)"), RankExpr::Minus1(of(0)));
    assert_eq!(rank("mean(x, axis = [-1, -3], keepdim = true)"), RankExpr::Of(0));
    assert_eq!(rank("x - unsqueeze(mean(x, axis = -1), axis = -1)"), RankExpr::Of(0));
    assert_eq!(rank("var(x, axis = [-1, -2])"), RankExpr::Minus1(Box::new(RankExpr::Minus1(of(0)))));
    assert_eq!(rank("softmax(x)"), RankExpr::Of(0));
    assert_eq!(rank("layer_norm(x, g, b)"), RankExpr::Of(0));
    assert_eq!(rank("embedding(t, i)"), RankExpr::Plus1(of(1)));
    assert_eq!(rank("gather(t, i, axis = -1)"), RankExpr::Of(0));
    assert_eq!(rank("one_hot(i, classes = 4)"), RankExpr::Plus1(of(0)));
    assert_eq!(rank("concat([x, y], axis = -1)"), RankExpr::Same(of(0), of(1)));
    assert_eq!(rank("concat([x, reshape(y, [2, 3])], axis = -1)"), RankExpr::Exactly(2, of(0)));
    assert_eq!(rank("flip(dropout(x, p, seed), axis = -1)"), RankExpr::Of(0));
}

#[test]
fn ranks_are_required_even_where_no_result_shows_them() {
    let required = |source: &str| checked(source).requirements;
    assert_eq!(required("transpose(x)"), []);
    assert_eq!(required("sum(transpose(x))"), [RankExpr::AtLeast(2, of(0))]);
    assert_eq!(required("sum(x, axis = -1)"), []);
    assert_eq!(required("sum(x, axis = -2)"), [RankExpr::AtLeast(2, of(0))]);
    assert_eq!(required("sum(x, axis = [-1, -2])"), []);
    assert_eq!(required("softmax(x)"), [RankExpr::AtLeast(1, of(0))]);
    assert_eq!(required("sum(relu(matmul(x, y) + z))"), [RankExpr::Matmul(of(0), of(1))]);
    assert_eq!(required("permute(x, [1, 0])"), [RankExpr::Exactly(2, of(0))]);
    assert_eq!(required("dot(x, y)"), [RankExpr::Exactly(1, of(0)), RankExpr::Exactly(1, of(1))]);
    assert_eq!(required("outer(x, x)"), [RankExpr::Exactly(1, of(0))]);
    assert_eq!(required("argmax(x)"), [RankExpr::Exactly(1, of(0))]);
    assert_eq!(required("dropout(x, p, 3)"), [RankExpr::Exactly(0, of(1))]);
    assert_eq!(required("matmul(softmax(matmul(q, transpose(k)) + m), v)"), []);
    let norm = [RankExpr::AtLeast(1, of(0)), RankExpr::Exactly(1, of(1))];
    assert_eq!(required("rms_norm(x, g)"), norm);
}

#[test]
fn dtypes_of_operands_that_are_not_values() {
    let dtype = |source: &str, variable: usize| checked(source).variables[variable].dtype;
    assert_eq!(dtype("embedding(t, i)", 1), ExpressionDType::Known(DType::I32));
    assert_eq!(dtype("one_hot(i, classes = 4)", 0), ExpressionDType::Known(DType::I32));
    assert_eq!(dtype("dropout(x, p, seed)", 1), ExpressionDType::Known(DType::F32));
    assert_eq!(dtype("dropout(x, p, seed)", 2), ExpressionDType::Known(DType::U32));
    assert_eq!(dtype("rms_norm(x, g, eps = e)", 2), ExpressionDType::Known(DType::F32));
    assert_eq!(dtype("any(x, axis = -1)", 0), ExpressionDType::Known(DType::Bool));
    assert_eq!(checked("argmax(x, axis = -1)").results[0].dtype, ExpressionDType::Known(DType::I32));
    assert_eq!(checked("concat([x, y * 0.5], axis = -1)").classes, [DTypeClass::Float]);
    assert_eq!(checked("mean(x)").classes, [DTypeClass::Float]);
    assert_eq!(checked("max(x)").classes, [DTypeClass::Number]);
}

#[test]
fn an_expression_computes_what_a_function_does() {
    let value = |shape: &[usize], data: &[f64]| super::value(shape, data);
    let result = |source: &str, inputs: &[fuse_compiler::interp::Value]| {
        let expression = checked(source);
        fuse_compiler::interp::run(&expression.instances[0].graph, inputs).expect("the inputs fit").remove(0)
    };
    let x = value(&[2, 3], &[1.0, 2.0, 6.0, 0.0, -1.0, 1.0]);
    let found = result("sum(x, axis = -1)", std::slice::from_ref(&x));
    assert_eq!((found.data, found.shape), (vec![9.0, 0.0], vec![1, 1, 1, 1, 1, 2]));
    assert_eq!(result("max(x)", std::slice::from_ref(&x)).data, [6.0]);
    let y = value(&[1, 3], &[7.0, 8.0, 9.0]);
    let joined = result("concat([y, x], axis = -2)", &[y.clone(), x.clone()]);
    assert_eq!(joined.data, [7.0, 8.0, 9.0, 1.0, 2.0, 6.0, 0.0, -1.0, 1.0]);
    let ids = fuse_compiler::interp::Value { dtype: DType::I32, ..value(&[2], &[1.0, 0.0]) };
    let taken = result("embedding(x, ids)", &[x.clone(), ids.clone()]);
    assert_eq!((taken.data, taken.shape), (vec![0.0, -1.0, 1.0, 1.0, 2.0, 6.0], vec![1, 1, 1, 1, 2, 3]));
    assert_eq!(result("gather(x, ids, axis = -1)", &[x.clone(), ids]).data, [2.0, 1.0, -1.0, 0.0]);
    let gamma = value(&[2], &[1.0, 2.0]);
    let normed = result("rms_norm(x, g, axis = -2, eps = 1e-9)", &[value(&[2, 1], &[3.0, 3.0]), gamma]);
    assert!((normed.data[0] - 1.0).abs() < 1e-6 && (normed.data[1] - 2.0).abs() < 1e-6, "{normed:?}");
    let odd = fuse_compiler::interp::run(&checked("concat([y, x], axis = -1)").instances[0].graph, &[y, x]);
    assert!(odd.is_err(), "rows differ in number");
}

#[test]
fn an_index_takes_the_shape_of_the_whole_expression() {
    let expression = checked("select(index(axis = -1) < n, x, 0.0)");
    let text = print(&expression.instances[0].graph);
    assert!(text.contains("= index axis=5"), "{text}");
    assert!(text.contains("let n.0|x.0 = broadcast [n.0, x.0]"), "{text}");
}

#[test]
fn launch_checks_replace_what_ranks_cannot_say() {
    let checks = |source: &str| -> Vec<String> {
        let text = print(&checked(source).instances[0].graph);
        text.lines().filter_map(|line| line.trim().strip_prefix("check ").map(str::to_string)).collect()
    };
    assert_eq!(checks("squeeze(x, axis = -1)"), ["x.5 == 1 (axis of `squeeze`)"]);
    assert_eq!(checks("broadcast_to(x, [4])")[5], "x.5|4 == 4 (shape of `broadcast_to`)");
    assert_eq!(checks("dot(x, x)"), ["x.0*x.1*x.2*x.3*x.4 == 1 (outer dimensions of a vector of `dot`)"]);
}

#[test]
fn items_and_expressions_are_told_apart() {
    for (source, items) in [
        ("fn f() {}", true),
        ("pub fn f() {}", true),
        ("/// docs\nfn f() {}", true),
        ("", true),
        ("relu(x)", false),
        ("{ x }", false),
        ("-x", false),
        ("1.0 + x", false),
        ("let a = x; a", false),
    ] {
        assert_eq!(is_items(&source.parse().expect("balanced")), items, "{source}");
    }
}

#[test]
fn paths_to_fields_are_operands() {
    let expression = checked("relu(matmul(self.x, model.layers[i + 1].w) + model.bias() + model.layers[i + 1].w)");
    let texts: Vec<&str> = expression.variables.iter().map(|variable| variable.place.text.as_str()).collect();
    assert_eq!(texts, ["self.x", "model.layers[i + 1].w", "model.bias()"]);
    let tokens = expression.variables[1].place.tokens.to_string();
    assert_eq!(tokens.replace(' ', ""), "model.layers[i+1].w");
    let pair = checked("{ let w = pair.0.1 * 2.0; w + pair.0 .1 }");
    assert_eq!(pair.variables.len(), 1);
    assert_eq!(checked("x + x.w").variables.len(), 2);
}

#[test]
fn split_gives_as_many_values_as_it_says() {
    let expression = checked("let (a, b, c) = split(x, axis = -1, parts = 3); (a + b, c)");
    assert_eq!(expression.results.len(), 2);
    assert_eq!(checked("split(x, axis = -2, sizes = [1, 4])").results.len(), 2);
    let ranks = |source: &str| checked(source).results[0].rank.clone();
    assert_eq!(ranks("cross_entropy(x, i)"), RankExpr::Minus1(of(0)));
    assert_eq!(ranks("roll(pad(x, axis = -1, before = 2), axis = -1, shift = s)"), RankExpr::Of(0));
    assert_eq!(ranks("tril(repeat(x, axis = -1, times = 2))"), RankExpr::AtLeast(2, of(0)));
    assert_eq!(ranks("norm(x, axis = -1)"), RankExpr::Minus1(of(0)));
}
