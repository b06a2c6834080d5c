//! The expression form: variables, dtype classes, ranks and padded graphs.

use fuse_artifact::DType;

use super::{super::*, expression_of};
use crate::graph::print::print;

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
    let names: Vec<String> = expression.variables.iter().map(|variable| variable.ident.to_string()).collect();
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
