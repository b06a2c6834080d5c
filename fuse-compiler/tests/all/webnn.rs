//! `#[webnn]` functions as calls of a graph builder, and refusals.

use fuse_artifact::{MlGraph, MlOp, MlOperand};
use fuse_compiler::{
    compile::{Options, compile},
    diag::Code,
    front, webnn,
};

fn calls(source: &str) -> Vec<String> {
    let items = front::items(source.parse().expect("the source has balanced brackets"));
    let messages: Vec<_> = items.diagnostics.iter().map(ToString::to_string).collect();
    assert!(!items.diagnostics.has_errors(), "{source}: {messages:?}");
    let graph = webnn::lower(&items.functions[0].instances[0].graph).expect("WebNN has all of it");
    let lines =
        graph.operands.iter().enumerate().map(|(index, operand)| format!("{index} = {}", call(operand, source)));
    lines.chain([format!("-> {:?}", graph.results)]).collect()
}

fn call(operand: &MlOperand, source: &str) -> String {
    let names: Vec<&str> = ["M", "K", "N"].into_iter().filter(|name| source.contains(name)).collect();
    let size = |size: &fuse_artifact::Size| size.display(|id| names.get(usize::from(id)).unwrap_or(&"?")).to_string();
    let shape = operand.shape.iter().map(size).collect::<Vec<_>>().join(", ");
    let op = match &operand.op {
        MlOp::Input(param) => format!("input {param}"),
        MlOp::Number(value) => format!("constant {value}"),
        MlOp::Size(value) => format!("constant {}", size(value)),
        MlOp::Counting => "counting".to_owned(),
        MlOp::Call { method, operands, options } => {
            let options: String =
                options.iter().map(|option| format!(" {}={:.4}", option.name, option.value)).collect();
            format!("{method} {operands:?}{options}")
        }
        MlOp::Cast(x) => format!("cast {x}"),
        MlOp::Reshape(x) => format!("reshape {x}"),
        MlOp::Expand(x) => format!("expand {x}"),
        MlOp::Transpose { x, permutation } => format!("transpose {x} {permutation:?}"),
        MlOp::Slice { x, axis, start } => format!("slice {x} {axis} from {}", size(start)),
        MlOp::Reduce { method, x, axes } => format!("{method} {x} {axes:?}"),
        MlOp::Gather { x, indices, axis } => format!("gatherElements {x} {indices} {axis}"),
    };
    format!("{op}: {}[{shape}]", operand.dtype)
}

fn refused(source: &str) -> Vec<String> {
    let items = front::items(source.parse().expect("the source has balanced brackets"));
    assert!(items.functions[0].instances.is_empty(), "{source} is not refused");
    let of_webnn = items.diagnostics.iter().filter(|diagnostic| diagnostic.code == Code::NotInWebNn);
    of_webnn.map(|diagnostic| diagnostic.message.clone()).collect()
}

#[test]
fn operations_of_elements_broadcast_by_themselves() {
    let found = calls("#[webnn] fn f(x: f32[M, K], w: f32[K, N], b: f32[N]) -> f32[M, N] { gelu(matmul(x, w) + b) }");
    let expected = [
        "0 = input 0: f32[M, K]",
        "1 = input 1: f32[K, N]",
        "2 = input 2: f32[N]",
        "3 = matmul [0, 1]: f32[M, N]",
        "4 = reshape 2: f32[1, N]",
        "5 = add [3, 4]: f32[M, N]",
        "6 = gelu [5]: f32[M, N]",
        "-> [6]",
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_repeats_everything_it_has_is_expanded_once() {
    let found = calls("#[webnn] fn f(x: f32[M, 1], y: f32[1, N]) -> f32[M, N] { x * y }");
    let expected = [
        "0 = input 0: f32[M, 1]",
        "1 = input 1: f32[1, N]",
        "2 = expand 0: f32[M, N]",
        "3 = mul [2, 1]: f32[M, N]",
        "-> [3]",
    ];
    assert_eq!(found, expected);
}

#[test]
fn results_are_computed_and_different() {
    let found = calls("#[webnn] fn f(x: f32[N]) -> (f32[N], f32[N], bool[N]) { let y = -x; (x, y, y > 0.5) }");
    let expected = [
        "0 = input 0: f32[N]",
        "1 = neg [0]: f32[N]",
        "2 = constant 0.5: f32[]",
        "3 = greater [1, 2]: bool[N]",
        "4 = identity [0]: f32[N]",
        "5 = cast 3: u32[N]",
        "-> [4, 1, 5]",
    ];
    assert_eq!(found, expected);
    let twice = calls("#[webnn] fn f(x: f32[N]) -> (f32[N], f32[N]) { let y = -x; (y, y) }");
    assert_eq!(twice.last().unwrap(), "-> [1, 2]");
}

#[test]
fn only_functions_that_ask_for_it_carry_it() {
    let text = "fn f(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { relu(matmul(x, w)) }";
    let webnn = |text: &str| -> Option<MlGraph> {
        let items = front::items(text.parse().unwrap());
        let function = compile(&items.functions[0].instances[0].graph, &Options::default()).unwrap().function;
        assert!(function.alternatives.iter().all(|alternative| alternative.webnn.is_none()));
        function.webnn
    };
    assert_eq!(webnn(text), None);
    assert_eq!(webnn(&format!("#[webnn] {text}")).unwrap().operands.len(), 4);
}

#[test]
fn what_webnn_lacks_is_refused_where_it_is_written() {
    let refusals = [
        ("fn f(x: f32[N]) -> f32[N] { atan(x) }", "`atan`, which WebNN does not have"),
        ("fn f(x: f32[N]) -> f32[N] { x % 2.0 }", "`rem`, which WebNN does not have"),
        ("fn f(x: i32[N]) -> i32[N] { x / 2 }", "a quotient of integers: WebNN does not say how it rounds"),
        ("fn f(x: u32[N]) -> u32[N] { abs(x) }", "`abs` of `u32`, which WebNN does not have"),
        (
            "fn f(x: i32[M, K], w: i32[K, N]) -> i32[M, N] { matmul(x, w) }",
            "a matrix product of integers, which WebNN does not have",
        ),
        (
            "fn f(x: f32[N]) -> i32[] { argmax(x, axis = 0) }",
            "`argmax`: WebNN does not say which of equal values it finds",
        ),
        ("fn f(x: bool[N]) -> bool[] { any(x) }", "`any`, which WebNN does not have"),
        (
            "fn f(x: f32[M, K], w: q4[K, N]) -> f32[M, N] { matmul(x, w) }",
            "a quantized tensor, which has no counterpart there yet",
        ),
        (
            "fn f(x: f32[N]) -> i32[N] { x as i32 }",
            "a conversion from `f32` to `i32`: WebNN does not say what becomes of other values",
        ),
    ];
    for (text, expected) in refusals {
        assert_eq!(refused(&format!("#[webnn] {text}")), [format!("`#[webnn]` function with {expected}")], "{text}");
    }
    assert_eq!(refused("#[webnn] fn f<T: Float>(x: T[N]) -> T[N] { atan(x) + expm1(x) }").len(), 2);
}
