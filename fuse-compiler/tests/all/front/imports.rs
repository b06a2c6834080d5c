//! Tests of `use` items, linked blocks, and answers to importers.

use fuse_artifact::DType;
use fuse_compiler::{
    diag::Code,
    front::{ExpressionDType, RankExpr, head},
    graph::Op,
    operations::UnaryOp,
};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};

use super::{Expression, Items, expression_of, items_of};

fn answer(items: &Items, index: usize, scope: &str) -> TokenStream {
    let definitions = items.definitions(index, |name| format_ident!("{scope}_{name}"));
    quote!(1 #(#definitions)*)
}

fn linked(imports: &[(&str, TokenStream)], block: &str) -> String {
    let answers: String = imports.iter().map(|(name, answer)| format!("{name} {{ {answer} }}")).collect();
    format!("@fuse [{answers}] {block}")
}

fn codes(items: &Items) -> Vec<Code> {
    items.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

fn unary_ops(items: &Items, index: usize) -> Vec<UnaryOp> {
    let graph = &items.functions[index].instances[0].graph;
    let ops = graph.nodes.iter().filter_map(|(_, node)| match node.op {
        Op::Unary(op, _) => Some(op),
        _ => None,
    });
    ops.collect()
}

const FIRST: &str = "pub fn wave(x: f32[N]) -> f32[N] { helper(tanh(x)) }
                     fn helper(x: f32[N]) -> f32[N] { sin(x) }";

const SECOND: &str = "pub fn both(x: f32[N]) -> f32[N] { helper(wavy(x)) }
                      fn helper(x: f32[N]) -> f32[N] { cos(x) }";

#[test]
fn a_call_of_an_import_is_inlined() {
    let first = items_of(FIRST);
    let block = "fn f(x: f32[M]) -> f32[M] { exp(wavy(x)) }";
    let items = items_of(&linked(&[("wavy", answer(&first, 0, "a"))], block));
    assert!(items.diagnostics.is_empty(), "{:?}", items.diagnostics);
    assert_eq!(items.functions.len(), 1, "imports are not functions of the block");
    assert_eq!(unary_ops(&items, 0), [UnaryOp::Tanh, UnaryOp::Sin, UnaryOp::Exp]);
}

#[test]
fn definitions_bring_what_they_call_and_helpers_stay_apart() {
    let first = items_of(FIRST);
    let second = items_of(&linked(&[("wavy", answer(&first, 0, "a"))], SECOND));
    let ids: Vec<String> =
        second.definitions(0, |name| format_ident!("b_{name}")).iter().map(|found| found.id.to_string()).collect();
    assert_eq!(ids, ["b_both", "b_helper", "a_wave", "a_helper"]);

    let block = "fn f(x: f32[M]) -> f32[M] { wave(helper(both(x))) } fn helper(x: f32[M]) -> f32[M] { sqrt(x) }";
    let imports = [("both", answer(&second, 0, "b")), ("wave", answer(&first, 0, "a"))];
    let items = items_of(&linked(&imports, block));
    assert!(items.diagnostics.is_empty(), "{:?}", items.diagnostics);
    assert_eq!(items.imported.len(), 4, "each definition once");
    use UnaryOp::{Cos, Sin, Sqrt, Tanh};
    assert_eq!(unary_ops(&items, 0), [Tanh, Sin, Cos, Sqrt, Tanh, Sin]);
}

#[test]
fn what_is_wrong_with_a_definition_is_not_said_again() {
    let broken = items_of("fn f(x: f32[N]) -> f32[N] { if x { 1 } } fn g(x: f32[N]) -> f32[N] { f(x) }");
    assert_eq!(codes(&broken), [Code::IfExpression]);
    let block = "fn caller(x: f32[N]) -> f32[N] { a(b(x)) }";
    let items = items_of(&linked(&[("a", answer(&broken, 0, "s")), ("b", answer(&broken, 1, "s"))], block));
    assert_eq!(codes(&items), []);
    assert!(items.functions[0].instances.is_empty());
    assert!(answer(&items, 0, "t").to_string().starts_with("1 t_caller broken { }"));
}

#[test]
fn names_of_imports_collide_with_functions_operations_and_each_other() {
    let first = items_of(FIRST);
    let answer = answer(&first, 0, "a");
    let block = "fn f(x: f32[N]) -> f32[N] { relu(x) }";
    for names in [&["f"][..], &["relu"], &["g", "g"]] {
        let imports: Vec<_> = names.iter().map(|name| (*name, answer.clone())).collect();
        assert_eq!(codes(&items_of(&linked(&imports, block))), [Code::ImportCollision], "{names:?}");
    }
}

#[test]
fn answers_of_other_versions_are_refused() {
    let block = "fn f(x: f32[N]) -> f32[N] { g(x) }";
    for answer in ["2 a_g sound {} { fn g(x: f32[N]) -> f32[N] { x } }", "", "1 a_g", "1 a_g sound {} { fn g() { } }"] {
        let items = items_of(&linked(&[("g", answer.parse().unwrap())], block));
        assert_eq!(codes(&items), [Code::ImportVersion], "{answer}");
    }
}

#[test]
fn mistakes_of_calls_are_at_the_call() {
    let first = items_of(FIRST);
    let block = "fn f(x: f32[M, N]) -> f32[M, N] { wave(x) } fn g(x: f32[N]) -> f32[N] { wave(x, x) }
                 fn h(x: f32[N]) -> f32[N] { wvae(x) }";
    let items = items_of(&linked(&[("wave", answer(&first, 0, "a"))], block));
    assert_eq!(codes(&items), [Code::RankMismatch, Code::ArgumentCount, Code::UnknownOperation]);
    let help = &items.diagnostics.iter().last().unwrap().help;
    assert_eq!(help[..], ["did you mean `wave`?"]);
}

#[test]
fn what_goes_wrong_in_a_sound_definition_is_said_at_the_call() {
    let first = items_of("fn first(x: f32[1, N]) -> f32[N] { squeeze(x, axis = 0) }");
    assert!(first.diagnostics.is_empty());
    let forged = answer(&first, 0, "a").to_string().replace("axis = 0", "axis = 1");
    let block = "fn f(x: f32[1, N]) -> f32[N] { first(x) }";
    let items = items_of(&linked(&[("first", forged.parse().unwrap())], block));
    let diagnostic = items.diagnostics.iter().next().expect("a diagnostic");
    assert_eq!(diagnostic.secondary[0].1, "in the definition of `first`");
}

#[test]
fn expressions_call_imports() {
    let generic = items_of("fn scale<T: Float>(x: T[M, N], s: T) -> (T[M, N], bool[M, N]) { (x * s, x > s) }");
    let imports = [("scale", answer(&generic, 0, "a"))];
    let expression = expression_of(&linked(&imports, "let (a, b) = scale(x, 2.0); select(b, a, y)"));
    assert!(expression.diagnostics.is_empty(), "{:?}", expression.diagnostics);
    assert_eq!(expression.instances.len(), 2, "f32 and f16");
    let [result] = &expression.results[..] else { panic!("one result") };
    assert_eq!(result.dtype, ExpressionDType::Class(0));
    assert_eq!(result.rank, RankExpr::Broadcast(Box::new(RankExpr::Known(2)), Box::new(RankExpr::Of(1))));

    let fixed = items_of("fn half(x: f32[N]) -> f32[N] { x / 2.0 }");
    let expression: Expression = expression_of(&linked(&[("half", answer(&fixed, 0, "a"))], "half(x)"));
    assert_eq!(expression.variables[0].dtype, ExpressionDType::Known(DType::F32));
    assert_eq!(expression.results[0].rank, RankExpr::Known(1));
    let checks: Vec<&str> = expression.instances[0].graph.checks.iter().map(|check| &*check.what).collect();
    assert_eq!(checks, ["axes of argument `x` of `half`, which takes 1"]);
}

#[test]
fn heads_are_read_and_bodies_are_not() {
    let uses = |source: &str| head(source.parse().unwrap());
    assert!(uses("pub fn f(x: f32[N]) -> f32[N] { x }").is_none());
    assert!(uses("user(x)").is_none());
    assert!(uses("").is_none());
    let found = uses("use ::a::{b, c::{self, d as e}}; use f; pub fn g(x: f32[N]) -> f32[N] { e(b(x)) }").unwrap();
    let imports: Vec<(String, String, bool)> = found
        .uses
        .imports
        .iter()
        .map(|import| (import.path.to_token_stream().to_string(), import.local.to_string(), import.used))
        .collect();
    let expected =
        [(":: a :: b", "b", true), (":: a :: c", "c", false), (":: a :: c :: d", "e", true), ("f", "f", false)];
    assert_eq!(imports, expected.map(|(path, local, used)| (path.to_owned(), local.to_owned(), used)));
    assert!(found.uses.rest.to_string().starts_with("pub fn g"));
    let found: Vec<Code> = found.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(found, [Code::UnusedImport; 2]);
}

#[test]
fn unreadable_imports_leave_the_functions() {
    let found = head("use a::b pub fn f(x: f32[N]) -> f32[N] { b(x) }".parse().unwrap()).unwrap();
    assert!(!found.uses.complete);
    assert!(found.uses.rest.to_string().starts_with("pub fn f"));
    let items = items_of(&format!("@fuse [*] {}", found.uses.rest));
    assert_eq!(codes(&items), [], "`b` counts as reported");
    assert!(items.functions[0].instances.is_empty());
}
