//! Tests of literals, which take dtypes of results, parameters and operands, and of constants.

use fuse_artifact::DType;
use fuse_compiler::{diag::Code, graph::Op, interp::Value};

use super::{expression_of, items_of, messages, value, values};

fn dtypes(source: &str) -> Vec<DType> {
    let items = items_of(source);
    let messages: Vec<String> = items.diagnostics.iter().map(ToString::to_string).collect();
    assert!(messages.is_empty(), "{source}: {messages:?}");
    let graph = &items.functions.last().expect("a function").instances[0].graph;
    graph.results.iter().map(|result| graph.nodes[*result].ty.dtype).collect()
}

#[test]
fn literals_take_the_declared_dtype() {
    for (body, dtype) in [
        ("select(c, 255, 0)", DType::U32),
        ("select(c, 255, 0)", DType::F32),
        ("select(c, 1.0, -inf)", DType::F16),
        ("select(c, -1, 0) * 2", DType::F16),
        ("let m = select(c, 255, 0); let n = m; n", DType::U32),
        ("reshape(select(c, 2 * 100, 0), [M, N])", DType::U32),
        ("concat([select(c, 1, 0), select(!c, 1, 0)], axis = 0)", DType::U32),
        ("let s = max(select(c, 7, 1), axis = 0, keepdim = true); broadcast_to(s, [M, N])", DType::U32),
        ("x + select(c, 1, 0)", DType::U32),
        ("select(c, x, select(c, 3, 4))", DType::F16),
        ("g(select(c, 1, 0))", DType::U32),
        ("select(c, broadcast_to(1, [M, N]), 0)", DType::U32),
        ("{ let low = select(c, 0, 9); clamp(x, low, low + 1) }", DType::F16),
        ("let two = 2; x * two + select(c, two, 0)", DType::U32),
    ] {
        let rows = if body.starts_with("concat") { "2 * M" } else { "M" };
        let source = format!(
            "fn g(x: {dtype}[M, N]) -> {dtype}[M, N] {{ x }}
             fn f(c: bool[M, N], _x: {dtype}[M, N]) -> {dtype}[{rows}, N] {{ {} }}",
            body.replace('x', "_x").replace("ma_x", "max").replace("a_xis", "axis")
        );
        assert_eq!(dtypes(&source), [dtype], "{source}");
    }
}

#[test]
fn a_literal_may_meet_several_dtypes() {
    let source = "fn f(x: f32[N], i: i32[N], u: u32[N]) -> (f32[N], i32[N], u32[N]) {
                      let two = 2; (x * two, i * two, u * two) }";
    assert_eq!(dtypes(source), [DType::F32, DType::I32, DType::U32]);
    assert_eq!(dtypes("fn f(c: bool[N]) -> f32[N] { select(c, 7, 2) / 2 }"), [DType::F32]);
    assert_eq!(dtypes("fn f(c: bool[N]) -> f32[N] { (select(c, 7, 2) / 2) as f32 }"), [DType::F32]);
    let found = messages("fn f(c: bool[N]) -> u32[N] { select(c, -1, 0) }");
    assert_eq!(found[0].code, Code::ResultDType);
    let found = messages("fn f(c: bool[N]) -> u32[N] { select(c, 5000000000, 0) }");
    assert_eq!(found[0].code, Code::LiteralOutOfRange);
}

#[test]
fn literals_of_expressions_take_the_dtype_of_other_operands() {
    let expression = expression_of("select(c, 255, 0) + u % 7 + 1u32");
    assert!(expression.diagnostics.iter().next().is_none());
    let graph = &expression.instances[0].graph;
    assert_eq!(graph.nodes[graph.results[0]].ty.dtype, DType::U32);
    let expression = expression_of("x * select(c, 1, 2)");
    for instance in &expression.instances {
        let graph = &instance.graph;
        let mut literals = graph.nodes.iter().filter(|(_, node)| matches!(node.op, Op::Literal(_)));
        assert!(literals.all(|(_, node)| node.ty.dtype == instance.dtypes[0]));
    }
}

#[test]
fn constants_of_a_block_are_literals() {
    let source = "
        /// A small number.
        pub const EPS: f32 = 0.25;
        const HALF: f32 = -(EPS + EPS);
        const ROWS: usize = 2;
        const AXIS: usize = ROWS - 1;
        const LOW: f32 = f32::NEG_INFINITY;
        fn g(x: f32[ROWS, N]) -> f32[ROWS] { max(sum(x, axis = AXIS) * HALF, LOW) }
        const LAST: i32 = -3;
        fn f(x: f32[ROWS, N]) -> f32[ROWS] { g(x) + EPS + (LAST as f32) * (ROWS as f32) }";
    let input = value(&[2, 2], &[1.0, 2.0, 3.0, 5.0]);
    assert_eq!(values(source, &[input]), [-1.5 + 0.25 - 6.0, -4.0 + 0.25 - 6.0]);
    let items = items_of(source);
    assert_eq!(items.constants.to_string().matches("const").count(), 6);
    let definition = items.definitions(0, Clone::clone).remove(0).function.to_string();
    assert!(!definition.contains("ROWS") && !definition.contains("HALF"), "{definition}");
    let turns = "const TURN: f32 = 2.0 * std::f32::consts::PI; fn f(x: f32[N]) -> f32[N] { x * TURN }";
    assert_eq!(values(turns, &[value(&[1], &[1.0])]), [f64::from(std::f32::consts::TAU)]);
}

#[test]
fn constants_that_cannot_be_read_are_errors() {
    for source in [
        "const EPS: f32 = crate::EPS; fn f(x: f32[N]) -> f32[N] { x + EPS }",
        "const EPS: f64 = 1.0; fn f(x: f32[N]) -> f32[N] { x + EPS }",
        "const EPS: u32 = -1; fn f(x: u32[N]) -> u32[N] { x + EPS }",
        "const N: usize = size(); fn f(x: f32[N]) -> f32[N] { x }",
        "const eps: f32 = 1.0; fn f(x: f32[N]) -> f32[N] { x + eps }",
        "#[cfg(unix)] const EPS: f32 = 1.0; fn f(x: f32[N]) -> f32[N] { x + EPS }",
        "const K: i32 = 1 / 0; fn f(x: i32[N]) -> i32[N] { x + K }",
    ] {
        let found = messages(source);
        assert_eq!((found.len(), found[0].code), (1, Code::BadConstant), "{source}");
    }
    for declared in ["fn f(EPS: f32[N]) -> f32[N] { EPS }", "fn f(x: f32[N]) -> f32[N] { let EPS = x; EPS }"] {
        assert_eq!(messages(&format!("const EPS: f32 = 1.0; {declared}"))[0].code, Code::BadConstant);
    }
}

#[test]
fn constants_of_the_standard_library_are_literals() {
    let body = "x * std::f32::consts::PI + select(x > f32::INFINITY, f32::NEG_INFINITY, core::f32::consts::E)";
    let source = format!("fn f(x: f32[N]) -> f32[N] {{ {body} }}");
    let [pi, e] = [std::f64::consts::PI, std::f64::consts::E];
    assert!((values(&source, &[value(&[1], &[1.0])])[0] - (pi + e)).abs() < 1e-5);
    assert!(messages("x + std::f32::consts::TAU").is_empty());
    let expression = expression_of("x + crate::scale::EPS * LIMIT");
    assert!(expression.diagnostics.iter().next().is_none());
    let names: Vec<&str> = expression.variables.iter().map(|variable| variable.place.text.as_str()).collect();
    assert_eq!(names, ["x", "crate::scale::EPS", "LIMIT"]);
}

#[test]
fn dimensions_follow_from_products() {
    let heads = "fn heads(x: f32[B, S, 4 * D]) -> f32[B, 4, S, D] { permute(reshape(x, [B, S, 4, D]), [0, 2, 1, 3]) }";
    let input = value(&[1, 2, 8], &(0..16).map(f64::from).collect::<Vec<_>>());
    let shape = |source: &str, input: &Value| {
        let items = items_of(source);
        let messages: Vec<String> = items.diagnostics.iter().map(ToString::to_string).collect();
        assert!(messages.is_empty(), "{source}: {messages:?}");
        let graph = &items.functions.last().expect("a function").instances[0].graph;
        fuse_compiler::interp::run(graph, std::slice::from_ref(input)).map(|mut results| results.remove(0).shape)
    };
    assert_eq!(shape(heads, &input).expect("8 is a multiple of 4"), [1, 4, 2, 2]);
    assert!(shape(heads, &value(&[1, 2, 6], &[0.0; 12])).is_err(), "6 is no multiple of 4");
    // A dimension that is a whole extent defines others.
    let chain = "fn f(x: f32[2 * A * B, C * A, C]) -> f32[A, B, C] { reshape(sum(x), [1, 1, 1]) + (A as f32) * \
                 broadcast_to(1.0, [A, B, C]) }";
    assert_eq!(shape(chain, &value(&[12, 6, 3], &[0.0; 216])).expect("A = 2, B = 3, C = 3"), [2, 3, 3]);
    // Calls divide known extents, and the launch the rest.
    for (caller, extent) in [("4 * D", 8), ("N", 8), ("8", 8)] {
        let name = if caller == "4 * D" { "D" } else { caller };
        let result = if name == "D" { "f32[B, 4, S, D]" } else { "f32[B, 4, S, 2]" };
        let caller = format!("{heads} fn f(x: f32[B, S, {caller}]) -> {result} {{ heads(x) }}");
        if name == "N" {
            assert_eq!(messages(&caller)[0].code, Code::ResultShape, "`N / 4` has no name here");
            continue;
        }
        assert_eq!(shape(&caller, &value(&[1, 2, extent], &[0.0; 16])).expect("it fits"), [1, 4, 2, 2]);
    }
    let unnamed = format!("{heads} fn f(x: f32[B, S, N]) -> f32 {{ sum(heads(x)) }}");
    assert!(shape(&unnamed, &input).is_ok() && shape(&unnamed, &value(&[1, 2, 6], &[0.0; 12])).is_err());
    let wrong = format!("{heads} fn f(x: f32[B, S, 10]) -> f32 {{ sum(heads(x)) }}");
    let found = messages(&wrong);
    assert_eq!(found[0].message, "argument `x`: expected a multiple of `4`, found `10`");
    assert_eq!(messages("fn f(x: f32[H * D]) -> f32[H] { x }")[0].code, Code::UnboundDimension);
    assert_eq!(messages("fn f(x: f32[0 * D]) -> f32[D] { x }")[0].code, Code::UnboundDimension);
    assert!(messages("fn f(_x: f32[4 * D], y: f32[N]) -> f32[D, N] { broadcast_to(y, [D, N]) }").is_empty());
}

#[test]
fn a_reshape_leaves_one_size_open() {
    let input: Value = value(&[2, 6], &(0..12).map(f64::from).collect::<Vec<_>>());
    assert_eq!(values("fn f(x: f32[M, N]) -> f32 { sum(reshape(x, [-1])) }", &[input]), [66.0]);
    for (body, shape) in [("[-1, N]", "M, N"), ("[N, -1]", "N, M"), ("[N, M, -1]", "N, M, 1"), ("[-1]", "M * N")] {
        let source = format!("fn f(x: f32[M, N]) -> f32[{shape}] {{ reshape(x, {body}) }}");
        assert!(messages(&source).is_empty(), "{source}");
    }
    let source = "fn f(x: f32[M, 12]) -> f32[M, 4, 3] { reshape(x, [M, -1, 3]) }";
    assert!(messages(source).is_empty());
    assert!(messages("reshape(x, [-1])").is_empty());
}
