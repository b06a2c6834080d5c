//! Tests that every catalogue entry is reachable and helps a newcomer.

use fuse_compiler::diag::Code;

use super::messages;

macro_rules! body {
    ($body:literal) => {
        concat!(
            "fn f(x: f32[M, N], y: f32[M, J], v: f32[N], i: i32[N], b: bool[N], c: f32[B, M, 1], s: f32) -> f32[M, N] {",
            $body,
            "}"
        )
    };
}

const CASES: &[(Code, &str)] = &[
    (Code::SyntaxError, body!("x + + v +")),
    (Code::SyntaxError, body!("relu(x) relu(x)")),
    (Code::EmptyBlock, ""),
    (Code::ExpectedFunction, "struct S;"),
    (Code::ExpectedFunction, "pub struct S { x: f32 }"),
    (Code::FunctionQualifier, "pub async fn f(x: f32[N]) -> f32[N] { x }"),
    (Code::BadParameter, "fn f(&self) -> f32[N] { x }"),
    (Code::BadParameter, "fn f(mut x: f32[N]) -> f32[N] { x }"),
    (Code::BadParameter, "fn f(x: &f32[N]) -> f32[N] { x }"),
    (Code::BadParameter, "fn f(x) -> f32[N] { x }"),
    (Code::MissingResultType, "fn f(x: f32[N]) { x }"),
    (Code::MissingResultType, "fn f(x: f32[N]) -> () { x }"),
    (Code::MissingValue, "fn f(x: f32[N]) -> f32[N] { }"),
    (Code::MissingValue, "fn f(x: f32[N]) -> f32[N];"),
    (Code::MissingValue, body!("let a = x;")),
    (Code::UnknownAttribute, "#[no_fuze] fn f(x: f32[N]) -> f32[N] { x }"),
    (Code::BadSchedule, "#[schedule(tile = [1, 2])] fn f(x: f32[N]) -> f32[N] { x }"),
    (Code::BadSchedule, "#[schedule(lanes = 4)] fn f(x: f32[N]) -> f32[N] { x }"),
    (Code::UnknownType, "fn f(x: float32[N]) -> f32[N] { x }"),
    (Code::UnknownType, "fn f(x: [f32; 4]) -> f32[N] { x }"),
    (Code::UnknownType, body!("x as vec2")),
    (Code::UnsupportedType, "fn f(x: f64[N]) -> f32[N] { x }"),
    (Code::NotInWebNn, "#[webnn] fn f(x: f32[N]) -> f32[N] { atan(x) }"),
    (Code::DifferentiableParameter, "#[differentiable(y)] fn f(x: f32[N]) -> f32[N] { x }"),
    (Code::DifferentiablePath, "#[differentiable] fn f(x: f32[N], y: f32[N]) -> f32[N] { stop_gradient(y) * x }"),
    (Code::DifferentiableResult, "#[differentiable] fn f(x: f32[N]) -> bool[N] { x > 0.0 }"),
    (Code::MissingBound, "fn f<T>(x: T[N]) -> T[N] { x }"),
    (Code::UnknownBound, "fn f<T: Copy>(x: T[N]) -> T[N] { x }"),
    (Code::UnsupportedGeneric, "fn f<const N: usize>(x: f32[N]) -> f32[N] { x }"),
    (Code::UnsupportedGeneric, "fn f<'a>(x: f32[N]) -> f32[N] { x }"),
    (Code::UnsupportedGeneric, "fn f<T: Float>(x: T[N]) -> T[N] where T: Copy { x }"),
    (Code::UnsupportedGeneric, "fn f<T: Float, U: Float, V: Float>(x: T[N], y: U[N], z: V[N]) -> T[N] { x }"),
    (Code::UnusedGeneric, "fn f<T: Float>(x: f32[N]) -> f32[N] { x }"),
    (Code::RankTooHigh, "fn f(x: f32[A, B, C, D, E, F, G]) -> f32[A] { x }"),
    (Code::UnboundDimension, "fn f(x: f32[N]) -> f32[M] { x }"),
    (Code::UnboundDimension, "fn f(x: f32[H * D]) -> f32[H * D] { x }"),
    (Code::UnboundDimension, body!("reshape(x, [Q, N])")),
    (Code::BadDimension, "fn f(x: f32[N / 2]) -> f32[N] { x }"),
    (Code::BadDimension, "fn f(x: f32[..]) -> f32[N] { x }"),
    (Code::BadDimension, body!("reshape(x, [-1, -1])")),
    (Code::BadDimension, body!("reshape(x, [-2, N])")),
    (Code::ReshapeElements, body!("reshape(x, [-1, 3])")),
    (Code::BadDimension, "fn f(x: f32[N], i: i32) -> f32[1] { slice(x, axis = 0, start = i, end = i + 1) }"),
    (
        Code::BadDimension,
        "fn f(x: f32[N], i: u32) -> f32[1] { let j = i * 2; slice(x, axis = 0, start = j, end = j + 1) }",
    ),
    (
        Code::BadDimension,
        "fn g(x: f32[N], n: u32) -> f32[n] { slice(x, axis = 0, end = n) } fn f(x: f32[N], i: u32) -> f32[4] { g(x, i * 2) }",
    ),
    (Code::UnboundDimension, "fn f(x: f32[N], n: f32) -> f32[n] { slice(x, axis = 0, end = 4) }"),
    (Code::DuplicateFunction, "fn f(x: f32[N]) -> f32[N] { x } fn f(x: f32[N]) -> f32[N] { x }"),
    (Code::DuplicateParameter, "fn f(x: f32[N], x: f32[N]) -> f32[N] { x }"),
    (Code::ReservedName, "fn relu(x: f32[N]) -> f32[N] { x }"),
    (Code::ReservedName, "fn f(type: f32[N]) -> f32[N] { x }"),
    (Code::ReservedName, "fn loop(x: f32[N]) -> f32[N] { x }"),
    (Code::ReservedName, body!("let fn = x; x")),
    (Code::NoTensorParameter, "fn f(s: f32) -> f32 { s }"),
    (Code::UnusedParameter, "fn f(x: f32[N], y: f32[N]) -> f32[N] { x }"),
    (Code::UnusedLet, "fn f(x: f32[N]) -> f32[N] { let y = x; x }"),
    (Code::Recursion, "fn f(x: f32[N]) -> f32[N] { f(x) }"),
    (Code::Recursion, "fn f(x: f32[N]) -> f32[N] { g(x) } fn g(x: f32[N]) -> f32[N] { f(x) }"),
    (Code::IfExpression, body!("if x > 0.0 { x } else { y }")),
    (Code::IfExpression, body!("match x { _ => x }")),
    (Code::LoopExpression, body!("for i in 0..3 { x } x")),
    (Code::LoopExpression, body!("while true { } x")),
    (Code::MethodCall, body!("x.relu()")),
    (Code::MethodCall, body!("x.0")),
    (Code::IndexExpression, body!("x[0]")),
    (Code::ReturnExpression, body!("return x")),
    (Code::ReturnExpression, body!("x?")),
    (Code::ClosureExpression, body!("|a| a")),
    (Code::Assignment, body!("x = x + 1.0; x")),
    (Code::Assignment, body!("x += 1.0; x")),
    (Code::IntegerRequired, body!("x << 1")),
    (Code::IntegerRequired, body!("popcount(x)")),
    (Code::FloatRequired, body!("lerp(x, v, i)")),
    (Code::UnsupportedOperator, body!("*x")),
    (Code::UnsupportedSyntax, body!("&x")),
    (Code::UnsupportedSyntax, body!("std::exp(x)")),
    (Code::UnsupportedSyntax, body!("vec!(x)")),
    (Code::ChainedComparison, body!("select(0.0 < x < 1.0, x, v)")),
    (Code::BadLet, body!("let mut a = x; a")),
    (Code::BadLet, body!("let a: f32 = x; a")),
    (Code::UselessStatement, body!("relu(x); x")),
    (Code::UnsupportedLiteral, body!("x + \"one\"")),
    (Code::UnexpectedList, body!("relu([x, x])")),
    (Code::UnexpectedList, body!("[x, x]")),
    (Code::UnknownVariable, body!("x + w")),
    (Code::UnknownVariable, body!("x + relu")),
    (Code::UnknownOperation, body!("rleu(x)")),
    (Code::UnknownOperation, body!("conv3d(x)")),
    (Code::DimensionAsValue, body!("x / N")),
    (Code::CallOfVariable, body!("x(v)")),
    (Code::ArgumentCount, body!("relu(x, v)")),
    (Code::ArgumentCount, body!("matmul(x)")),
    (Code::ArgumentCount, body!("layer_norm(x, v)")),
    (Code::ArgumentCount, body!("max(x, v, axis = 0)")),
    (Code::ArgumentCount, body!("max()")),
    (Code::UnknownOption, body!("slice(x, axs = 1, axis = 0)")),
    (Code::UnknownOption, body!("relu(x, axis = 1)")),
    (Code::UnknownOption, body!("sum(x, axes = 1)")),
    (Code::UnknownOption, body!("layer_norm(x, v, v, epsilon = 1e-5)")),
    (Code::UnknownOption, body!("embedding(x, i, axis = 1)")),
    (Code::DuplicateOption, body!("squeeze(x, axis = 1, axis = 1)")),
    (Code::MissingOption, body!("squeeze(x)")),
    (Code::MissingOption, body!("argmin(x)")),
    (Code::MissingOption, body!("one_hot(i)")),
    (Code::MissingOption, body!("concat([x, x])")),
    (Code::MissingOption, body!("group_norm(x, v, v)")),
    (Code::BadOption, body!("squeeze(x, axis = 1.5)")),
    (Code::BadOption, body!("permute(x, 1)")),
    (Code::BadOption, body!("sum(x, axis = [])")),
    (Code::BadOption, body!("sum(x, axis = s + 1.0)")),
    (Code::BadOption, body!("sum(x, axis = 0, keepdim = 1)")),
    (Code::BadOption, body!("softmax(x, axis = [0, 1])")),
    (Code::BadOption, body!("argmax(x, axis = [0, 1])")),
    (Code::BadOption, body!("var(x, correction = s)")),
    (Code::BadOption, body!("layer_norm(x, v, v, eps = [1])")),
    (Code::BadOption, body!("concat([], axis = 0)")),
    (Code::BadOption, body!("concat(x, axis = 0)")),
    (Code::BadOption, body!("stack([x, x], axis = M)")),
    (Code::OptionRange, body!("rms_norm(x, v, eps = 0.0)")),
    (Code::OptionRange, body!("group_norm(c, c, c, groups = 0)")),
    (Code::OptionRange, body!("dropout(x, -0.1, 0)")),
    (Code::OptionRange, body!("dropout(x, 1.5, 0)")),
    (Code::OptionRange, body!("var(x, correction = -1)")),
    (Code::OptionRange, body!("one_hot(i, classes = 0)")),
    (Code::TupleAsValue, body!("relu((x, v))")),
    (Code::ResultCount, body!("(x, x)")),
    (Code::ResultCount, body!("let (p, q) = relu(x); p + q")),
    (Code::DTypeMismatch, body!("x + i")),
    (Code::DTypeMismatch, body!("matmul(x, transpose(x) as f16)")),
    (Code::DTypeMismatch, body!("select(b, b, 1)")),
    (Code::DTypeMismatch, body!("concat([v, i], axis = 0)")),
    (Code::DTypeMismatch, body!("layer_norm(x, v, v as f16)")),
    (Code::DTypeMismatch, body!("dropout(x, 0.5, s)")),
    (Code::DTypeMismatch, body!("dropout(x, s as f16, 1)")),
    (Code::DTypeMismatch, body!("dropout(x, 0.5, 1.5)")),
    (Code::DTypeMismatch, body!("rms_norm(x, v, eps = true)")),
    (Code::ComparisonDType, body!("select(v < i, x, v)")),
    (Code::FloatRequired, body!("exp(i)")),
    (Code::FloatRequired, body!("pow(i, i)")),
    (Code::FloatRequired, body!("leaky_relu(i)")),
    (Code::FloatRequired, body!("mean(i)")),
    (Code::FloatRequired, body!("softmax(i)")),
    (Code::FloatRequired, body!("dropout(i, 0.5, 1)")),
    (Code::NumberRequired, body!("x + b")),
    (Code::NumberRequired, body!("-b")),
    (Code::NumberRequired, body!("sum(b)")),
    (Code::NumberRequired, body!("argmax(b, axis = 0)")),
    (Code::NumberRequired, body!("select(N as bool, x, x)")),
    (Code::NumberRequired, body!("matmul(x, reshape(b, [N, 1]))")),
    (Code::BoolRequired, body!("select(v && b, x, v)")),
    (Code::BoolRequired, body!("!x")),
    (Code::BoolRequired, body!("any(x)")),
    (Code::ConditionNotBool, body!("select(x, x, v)")),
    (Code::FloatLiteralForInteger, body!("i + 0.5")),
    (Code::LiteralOutOfRange, body!("i + 3000000000")),
    (Code::LiteralOutOfRange, body!("x + 1e40")),
    (Code::LiteralOutOfRange, body!("x + 1e-50")),
    (Code::LiteralOutOfRange, body!("layer_norm(x, v, v, eps = 1e-50)")),
    (Code::LiteralOutOfRange, body!("(x as f16 + 70000.0) as f32")),
    (Code::LiteralOutOfRange, body!("(x as f16 + 65520) as f32")),
    (Code::LiteralOutOfRange, body!("max(x as f16, 1e-8) as f32")),
    (Code::LiteralOutOfRange, body!("(x as f16 * (1e-4 * 1e-4)) as f32")),
    (Code::LiteralOutOfRange, body!("leaky_relu(x as f16, slope = 1e-9) as f32")),
    (Code::LiteralOutOfRange, body!("pad(x as f16, axis = 0, after = 1, value = -1e9) as f32")),
    (Code::LiteralOutOfRange, "fn f<T: Float>(x: T[N]) -> T[N] { x / max(abs(x), 1e-8) }"),
    (Code::LiteralOutOfRange, body!("(i as u32 + 4294967296) as f32")),
    (Code::LiteralOutOfRange, body!("dropout(x, 0.5, 4294967296)")),
    (Code::LiteralOutOfRange, body!("x + 1000000000000000000000000000000000000000")),
    (Code::LiteralOutOfRange, body!("x + 99999999999999999999999999999999999999999999")),
    (Code::LiteralSuffix, body!("x + 1.0f64")),
    (Code::DivisionByZero, body!("i / 0")),
    (Code::GenericArgument, "fn g<T: Float>(x: T[N]) -> T[N] { x } fn f(i: i32[N]) -> i32[N] { g(i) }"),
    (Code::ResultDType, body!("x as f16")),
    (Code::IntegerRequired, body!("gather(x, v)")),
    (Code::IntegerRequired, body!("one_hot(x, classes = 3)")),
    (Code::IntegerRequired, body!("philox(v, 1)")),
    (Code::QuantizedOperand, "fn f(x: q8[N]) -> f32[N] { x }"),
    (Code::QuantizedOperand, "fn f(w: q4[K, N], x: f32[N, M]) -> f32[K, M] { matmul(w, x) }"),
    (Code::QuantizedOperand, "fn f(w: q4[K, N], x: f32[K, N]) -> f32[K, N] { x + w }"),
    (Code::QuantizedOperand, "fn f(w: q3[N]) -> f32[N] { relu(w) }"),
    (Code::QuantizedOperand, "fn f(w: q2[N]) -> f16[N] { w as f16 }"),
    (Code::QuantizedOperand, "fn f(w: q1[N, K]) -> f32[N] { sum(w, axis = 1) }"),
    (Code::QuantizedOperand, "fn f(w: q1[N]) -> f32[N] { g(w) } fn g(x: f32[N]) -> f32[N] { x }"),
    (Code::QuantizedOperand, "fn f(x: f32[N]) -> f32[N] { g(x) } fn g(w: q1[N]) -> f32[N] { dequantize(w) }"),
    (Code::QuantizedOperand, "fn f(w: q8[N]) -> f32[N] { g(w) } fn g(w: q4[N]) -> f32[N] { dequantize(w) }"),
    (
        Code::QuantizedOperand,
        "fn f(x: f32[M, K], w: q4[K, N]) -> f32[M, N] { matmul(x, w) + sum(dequantize(w, axis = 1)) }",
    ),
    (Code::QuantizedOperand, body!("dequantize(x)")),
    (Code::QuantizedType, "fn f(x: f32[N]) -> q8[N] { x }"),
    (Code::QuantizedType, "fn f(x: f32[N], s: q4) -> f32[N] { x }"),
    (Code::QuantizedType, "fn f(w: q4[A, B, C, D, E]) -> f32[A, B, C, D, E] { dequantize(w) }"),
    (Code::QuantizedType, body!("x as q4")),
    (Code::RankMismatch, "fn g(x: f32[N]) -> f32[N] { x } fn f(y: f32[M, N]) -> f32[M, N] { g(y) }"),
    (
        Code::DimensionMismatch,
        "fn g(x: f32[N], y: f32[N]) -> f32[N] { x + y } fn f(a: f32[P], b: f32[Q]) -> f32[P] { g(a, b) }",
    ),
    (Code::DimensionMismatch, "fn f(a: f32[P], b: f32[Q]) -> f32 { dot(a, b) }"),
    (Code::DimensionMismatch, body!("rms_norm(x, sum(x, axis = 1))")),
    (Code::DimensionMismatch, body!("concat([x, y], axis = 0)")),
    (Code::DimensionMismatch, body!("stack([x, y], axis = 0)")),
    (Code::RankMismatch, body!("concat([x, v], axis = 0)")),
    (Code::RankMismatch, body!("dropout(x, v, 1)")),
    (Code::RankMismatch, body!("rms_norm(x, v, eps = v)")),
    (Code::BroadcastMismatch, body!("x + y")),
    (Code::MatmulRank, body!("matmul(x, v)")),
    (Code::MatmulInner, body!("matmul(x, y)")),
    (Code::MatmulBatch, "fn f(a: f32[P, M, K], b: f32[Q, K, N]) -> f32[P, M, N] { matmul(a, b) }"),
    (Code::ResultRank, body!("v")),
    (Code::ResultShape, body!("y")),
    (Code::ReshapeElements, "fn f(x: f32[M, 6]) -> f32[M, 4] { reshape(x, [M, 4]) }"),
    (Code::AxisOutOfRange, body!("squeeze(x, axis = 2)")),
    (Code::AxisOutOfRange, body!("unsqueeze(x, axis = -4)")),
    (Code::AxisOutOfRange, body!("sum(x, axis = 2)")),
    (Code::AxisOutOfRange, body!("sum(x, axis = [0, -3])")),
    (Code::AxisOutOfRange, body!("softmax(s)")),
    (Code::AxisOutOfRange, body!("batch_norm(v, v, v, v, v)")),
    (Code::AxisOutOfRange, body!("concat([s, s], axis = 0)")),
    (Code::UnknownAxis, body!("slice(x, axis = J, start = 0, end = 1)")),
    (Code::UnknownAxis, body!("slice(x, axis = Z, start = 0, end = 1)")),
    (Code::UnknownAxis, body!("sum(x, axis = J)")),
    (Code::UnknownAxis, body!("sum(x, axis = [0, Z])")),
    (Code::AmbiguousAxis, "fn f(x: f32[N, N]) -> f32[N, N] { slice(x, axis = N, start = 0, end = N) }"),
    (Code::DuplicateAxis, body!("permute(x, [0, 0])")),
    (Code::DuplicateAxis, body!("sum(x, axis = [1, 0, -1])")),
    (Code::DuplicateAxis, body!("sum(x, axis = [1, N])")),
    (Code::PermuteLength, body!("permute(x, [0])")),
    (Code::TransposeRank, body!("transpose(v)")),
    (Code::SliceOutOfRange, "fn f(x: f32[8]) -> f32[9] { slice(x, axis = 0, start = 0, end = 9) }"),
    (Code::SliceOutOfRange, body!("slice(x, axis = 1, start = 0, end = N + 1)")),
    (Code::SliceReversed, body!("slice(x, axis = 1, start = 4, end = 2)")),
    (Code::SqueezeExtent, body!("squeeze(x, axis = 0)")),
    (Code::BroadcastToShape, body!("broadcast_to(x, [N, M])")),
    (Code::BroadcastToShape, body!("broadcast_to(x, [N])")),
    (Code::VectorRequired, body!("outer(x, v)")),
    (Code::VectorRequired, body!("rms_norm(x, x)")),
    (Code::IndexWithoutShape, body!("transpose(index(axis = 0))")),
    (Code::IndexWithoutShape, body!("sum(index(axis = 0))")),
    (Code::EmptyAxis, "fn f(x: f32[N, 0]) -> i32[N] { argmax(x, axis = 1) }"),
    (Code::EmptyAxis, "fn f(x: f32[N]) -> i32 { argmin(slice(x, axis = 0, start = N, end = N)) }"),
    (Code::GroupCount, "fn f(x: f32[B, 10, N], g: f32[10]) -> f32[B, 10, N] { group_norm(x, g, g, groups = 4) }"),
    (Code::MissingOption, body!("pad(x, before = 1)")),
    (Code::MissingOption, body!("roll(x, axis = 0)")),
    (Code::MissingOption, body!("tile(x, axis = 0)")),
    (Code::MissingOption, body!("let (p, q) = split(x, axis = 0); p")),
    (Code::BadDimension, body!("pad(x, axis = 0, before = -1)")),
    (Code::BadOption, body!("pad(x, axis = 0, after = [1])")),
    (Code::BadOption, body!("pad(x, axis = 0, after = 1, value = [1])")),
    (Code::DTypeMismatch, body!("pad(x, axis = 0, after = 1, value = b)")),
    (Code::FloatRequired, body!("norm(i)")),
    (Code::FloatRequired, body!("glu(i)")),
    (Code::FloatRequired, body!("cross_entropy(i, i)")),
    (Code::BadOption, body!("roll(x, axis = 0, shift = [1])")),
    (Code::DTypeMismatch, body!("roll(x, axis = 0, shift = 1.5)")),
    (Code::RankMismatch, body!("roll(x, axis = 0, shift = i)")),
    (Code::OptionRange, body!("repeat(x, axis = 0, times = 0)")),
    (Code::BadDimension, body!("repeat(x, axis = 0, times = -2)")),
    (Code::BadOption, body!("let (p, q) = split(x, axis = 0, parts = M); p")),
    (Code::BadOption, body!("let (p, q) = split(x, axis = 0, parts = 0); p")),
    (Code::BadOption, body!("let (p, q) = split(x, axis = 0, parts = 2, sizes = [1, 2]); p")),
    (Code::BadOption, body!("let (p, q) = split(x, axis = 0, sizes = 2); p")),
    (Code::ResultCount, body!("let (p, q) = split(x, axis = 0, parts = 3); p")),
    (Code::TupleAsValue, body!("relu(split(x, axis = 0, parts = 2))")),
    (Code::GroupCount, "fn f(x: f32[N, 7]) -> f32[N, 3] { let (a, b) = split(x, axis = 1, parts = 2); a + b }"),
    (Code::GroupCount, "fn f(x: f32[N, 7]) -> f32[N, 3] { glu(x) }"),
    (Code::DimensionMismatch, "fn f(x: f32[N, 7]) -> f32[N, 3] { let (a, b) = split(x, axis = 1, sizes = [3, 5]); a }"),
    (Code::AxisOutOfRange, body!("tril(v)")),
    (Code::AxisOutOfRange, body!("glu(x, axis = 2)")),
    (Code::RankMismatch, body!("cross_entropy(x, reshape(i, [N, 1]))")),
    (Code::DimensionMismatch, body!("cross_entropy(x, i)")),
    (Code::IntegerRequired, body!("cross_entropy(x, v)")),
    (Code::UnknownOperation, body!("where(b, x, v)")),
    (Code::UnknownType, "fn f(x: Tensor<f32, 2>, y: f32[N]) -> f32[N] { y }"),
    (Code::BadDimension, "fn f(x: f32[99999999999]) -> f32[1] { x }"),
    (Code::MethodCall, "x.relu() + model.w"),
    (Code::MethodCall, "x.layer(w)"),
    (Code::MethodCall, "let a = x * 2.0; a.w"),
    (Code::IndexExpression, "x[0..4]"),
    (Code::PositiveAxis, "slice(x, axis = 1, start = 0, end = 1)"),
    (Code::PositiveAxis, "x + index(axis = 0) as f32"),
    (Code::PositiveAxis, "sum(x, axis = 0)"),
    (Code::PositiveAxis, "batch_norm(x, m, v, g, b)"),
    (Code::PositiveAxis, "group_norm(x, g, b, groups = 4)"),
    (Code::PositiveAxis, "stack([x, y], axis = 0)"),
    (Code::UnknownAxis, "sum(x, axis = N)"),
    (Code::TooManyDTypes, "(x + 1, y + 1, z + 1)"),
    (Code::NoVariable, "1.0 + 2.0"),
    (Code::TooLarge, TOO_LARGE),
    (Code::BadConstant, "const EPS: f32 = crate::EPS; fn f(x: f32[N]) -> f32[N] { x + EPS }"),
    (Code::BadImport, "use a::*; fn f(x: f32[N]) -> f32[N] { x }"),
    (Code::BadImport, "use a::b as _; fn f(x: f32[N]) -> f32[N] { x }"),
    (Code::BadImport, "pub use a::b; fn f(x: f32[N]) -> f32[N] { b(x) }"),
    (Code::BadImport, "#[cfg(unix)] use a::b; fn f(x: f32[N]) -> f32[N] { b(x) }"),
    (Code::BadImport, "use a::b; b(x)"),
    (Code::BadImport, "fn f(x: f32[N]) -> f32[N] { x } use a::b;"),
    (Code::SyntaxError, "use a::b fn f(x: f32[N]) -> f32[N] { b(x) }"),
    (Code::UnusedImport, "use a::b; fn f(x: f32[N]) -> f32[N] { x }"),
    (
        Code::ImportCollision,
        "@fuse [f { 1 a sound {} { fn g(x: f32[N]) -> f32[N] { x } } }] fn f(x: f32[N]) -> f32[N] { x }",
    ),
    (
        Code::ImportVersion,
        "@fuse [g { 0 a sound {} { fn g(x: f32[N]) -> f32[N] { x } } }] fn f(x: f32[N]) -> f32[N] { g(x) }",
    ),
    (Code::GradientPath, body!("let g = grad(sum(x), wrt = v); x + g")),
    (Code::GradientPath, body!("let g = grad(sum((x < 0.0) as f32), wrt = x); g")),
    (Code::GradientPath, body!("grad(sum(stop_gradient(x)), wrt = x)")),
    (Code::GradientOf, body!("grad(x, wrt = x)")),
    (Code::GradientOf, body!("grad(sum(i), wrt = x)")),
    (Code::GradientWrt, body!("grad(sum(x), wrt = i)")),
    (Code::GradientWrt, body!("grad(sum(x), wrt = 1.0)")),
    (Code::GradientCotangent, body!("grad(x * v, wrt = x, cotangent = v)")),
    (Code::UpdateTarget, "fn f(x: f32[N]) -> f32[N] { *x = x * 2.0; x }"),
    (Code::UpdateTarget, "fn f(x: &mut f32[N]) { let y = x * 2.0; *y = x; *x = y; }"),
    (Code::UpdateTarget, "*x = x * 2.0; x"),
    (Code::UpdateTarget, "fn f(x: &mut f32[N], y: f32[N]) { (*x, *y) = (y, x); }"),
    (Code::ResultCount, "fn f(x: &mut f32[N], y: &mut f32[N]) { (*x, *y) = x + y; }"),
    (Code::UpdateTwice, "fn f(x: &mut f32[N]) { (*x, *x) = (x, x); }"),
    (Code::UpdateTwice, "fn f(x: &mut f32[N]) { *x *= 2.0; *x += 1.0; }"),
    (Code::StaleRead, "fn f(x: &mut f32[N]) -> f32[N] { *x *= 2.0; x }"),
    (Code::UpdateMissing, "fn f(x: &mut f32[N]) -> f32[N] { x * 2.0 }"),
    (Code::GradientInExpression, "grad(sum(x), wrt = x)"),
    (Code::BadOption, body!("grad(sum(x), wrt = [])")),
    (Code::MissingOption, body!("grad(sum(x))")),
];

/// Each calls the one before twice.
const TOO_LARGE: &str = "
    fn a(x: f32[N]) -> f32[N] { exp(exp(x)) } fn b(x: f32[N]) -> f32[N] { a(a(x)) }
    fn c(x: f32[N]) -> f32[N] { b(b(x)) } fn d(x: f32[N]) -> f32[N] { c(c(x)) }
    fn e(x: f32[N]) -> f32[N] { d(d(x)) } fn g(x: f32[N]) -> f32[N] { e(e(x)) }
    fn h(x: f32[N]) -> f32[N] { g(g(x)) } fn i(x: f32[N]) -> f32[N] { h(h(x)) }
    fn j(x: f32[N]) -> f32[N] { i(i(x)) } fn k(x: f32[N]) -> f32[N] { j(j(x)) }
    fn l(x: f32[N]) -> f32[N] { k(k(x)) } fn m(x: f32[N]) -> f32[N] { l(l(x)) }
    fn n(x: f32[N]) -> f32[N] { m(m(x)) } fn o(x: f32[N]) -> f32[N] { n(n(x)) }
";

#[test]
fn each_text_gives_its_code() {
    let mut wrong = Vec::new();
    for (code, source) in CASES {
        let found: Vec<Code> = messages(source).iter().map(|diagnostic| diagnostic.code).collect();
        if found.first() != Some(code) {
            wrong.push(format!("{code:?}: found {found:?} in {source}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_code_but_internal_errors_has_a_text() {
    let missing: Vec<_> = Code::ALL
        .iter()
        .filter(|code| **code != Code::InternalError && !CASES.iter().any(|(other, _)| other == *code))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn messages_follow_the_house_style() {
    for (code, source) in CASES {
        for diagnostic in messages(source) {
            let text = &diagnostic.message;
            assert!(!text.ends_with('.') && !text.starts_with(char::is_uppercase), "{code:?}: {text}");
            // syn's words state the expected tokens.
            let syntax = diagnostic.code == Code::SyntaxError;
            assert!(syntax || !diagnostic.help.is_empty(), "{code:?} gives no help: {text}");
        }
    }
}

#[test]
fn errors_are_collected() {
    let source = "
        fn a(x: f65[N]) -> f32[N] { x }
        fn b(x: f32[N], y: i32[N]) -> f32[N] { let p = x + y; let q = rleu(x); x.exp(); z }
        fn c(x: f32[N]) -> f32[N] { a(x) + b(x, x) + exp(true) }
    ";
    let codes: Vec<Code> = messages(source).iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(
        codes,
        [
            Code::UnknownType,
            Code::DTypeMismatch,
            Code::UnknownOperation,
            Code::MethodCall,
            Code::UnknownVariable,
            Code::FloatRequired,
        ]
    );
}

#[test]
fn a_mistake_has_no_echo() {
    for source in [
        body!("let mut a = x; a"),
        body!("let (mut a, c): f32 = x; a + c"),
        body!("let twice = |a| a * 2.0; twice(x)"),
        body!("let q = rleu(x); relu(q) + q"),
        body!("let unused = x; y + true"),
        body!("let a = relu(x) let b = a * 2.0; b + a"),
        body!("let a = relu(x) a * 2.0"),
        body!("let a = relu(x); let b = exp(a) let c = b; c"),
        body!("let a relu(x); a * x"),
        body!("let a = ; a * x"),
        body!("where(b, x, v) + relu(where)"),
        body!("let a = relu(where(b, x, v)); a + exp(a)"),
        "fn f(x: Tensor<f32, 2>, y: f32[N]) -> f32[N] { y }",
        "fn f(x: f32[M, N], w: &f32[N]) -> f32[M, N] { x * w } fn g(x: f32[M, N]) -> f32[M, N] { f(x, x) }",
        "let a = model.w; let model = a; model.w",
    ] {
        let found = messages(source);
        assert_eq!(found.len(), 1, "{source}: {found:?}");
    }
}

#[test]
fn a_header_survives_its_body() {
    let items = super::items_of("/// Docs.\npub fn f(x: f32[N]) -> f32[N] { x + } fn g(x: f32[N]) -> f32[N] { f(x) }");
    assert_eq!(items.functions.len(), 2);
    assert_eq!(items.functions[0].header.attributes.len(), 1);
    assert!(items.functions.iter().all(|function| function.instances.is_empty()));
    assert_eq!(items.diagnostics.iter().count(), 1, "the call of `f` is not reported");
}

#[test]
fn suggestions_name_what_was_meant() {
    for (source, help) in [
        (body!("sigmiod(x)"), "did you mean `sigmoid`?"),
        (body!("swish(x)"), "write `silu(x)`"),
        (
            body!("sort(x)"),
            "`fuse!` has no `sort`; return the values, read them with `to_vec_blocking()`, and do this in Rust",
        ),
        (body!("grad(x)"), "write `grad(loss, wrt = w)`"),
        (body!("arcsin(x)"), "write `asin(x)`"),
        (body!("gelo(x)"), "did you mean `gelu`?"),
        (body!("where(b, x, v)"), "write `select(condition, a, b)`"),
        (body!("let a = x let c = a; c"), "end the statement before it with `;`"),
        ("fn f(x: Tensor<f16, 3>) -> f32[N] { x }", "write `f16[K, M, N]`; the launch takes a `&Tensor<f16, 3>`"),
        ("fn f(x: Tensor1<f32>) -> f32[N] { x }", "write `f32[N]`; the launch takes a `&Tensor1<f32>`"),
        ("fn f(x: QTensor<Q4, 2>) -> f32[N] { x }", "write `q4[M, N]`; the launch takes a `&QTensor<Q4, 2>`"),
        ("fn f(x: f32[99999999999]) -> f32[1] { x }", "a dimension is from 0 to 4294967295"),
        ("model.w.exp()", "write `exp(x)`"),
        (body!("cat([x, x], axis = 0)"), "write `concat([x, x], axis = 0)`"),
        (body!("sotfmax(x)"), "did you mean `softmax`?"),
        (body!("sum(x, keepdims = true)"), "did you mean `keepdim`?"),
        (body!("sum(b)"), "to count write `sum(b as i32)`; `any(b)` and `all(b)` are bool"),
        (body!("mean(i)"), "convert it: `mean(i as f32)`"),
        (body!("any(v)"), "compare it: `any(v != 0)`"),
        (body!("argmax(x)"), "write `argmax(x, axis = 1)`"),
        (body!("gather(x, v)"), "convert them: `v as i32`"),
        (body!("x / N"), "its number is `N as f32`, or `as i32`"),
        ("group_norm(x, g, b, groups = 2)", "write a `fn` with types such as `f32[B, C, H, W]`"),
        (body!("i * x"), "convert one of them, for example `i as f32`"),
        ("fn f(x: float[N]) -> f32[N] { x }", "did you mean `f32`?"),
        (body!("slice(x, axis = 0, strat = 1)"), "did you mean `start`?"),
        ("fn f(input: f32[N]) -> f32[N] { inptu }", "did you mean `input`?"),
        ("fn f(x: f32[Rows]) -> f32[Row] { x }", "did you mean `Rows`?"),
        (
            "fn f(x: f32[M, K], w: f32[N, K]) -> f32[M, N] { matmul(x, w) }",
            "transpose the right operand: `matmul(x, transpose(w))`",
        ),
        (
            "fn f(x: f32[M, N], b: f32[M]) -> f32[M, N] { x + b }",
            "to align it with `M` on the left, write `reshape(b, [M, 1])`",
        ),
    ] {
        let messages = messages(source);
        assert_eq!(messages[0].help, [help], "{source}");
    }
}

#[test]
fn both_ends_of_a_mismatch_are_shown() {
    let found = messages("fn f(x: f32[M, K], w: f32[J, N]) -> f32[M, N] { matmul(x, w) }");
    assert_eq!(
        found[0].to_string(),
        "cannot multiply `f32[M, K]` by `f32[J, N]`: inner dimensions differ, expected `K`, found `J`\n\
         note: `K` is axis 1 of `x: f32[M, K]`\n\
         note: `J` is axis 0 of `w: f32[J, N]`\n\
         help: `matmul` multiplies `[.., M, K]` by `[.., K, N]`; give both dimensions one name"
    );
}

#[test]
fn an_underscore_silences_warnings() {
    assert!(messages("fn f(x: f32[N], _y: f32[N]) -> f32[N] { let _z = x; x }").is_empty());
}

#[test]
fn an_error_of_one_instance_says_which() {
    let found = messages("fn f<T: Float>(x: T[N], s: f32) -> T[N] { x * s }");
    assert_eq!(found[0].code, Code::DTypeMismatch);
    assert!(found[0].to_string().contains("this is about the kernel in which `T` is `f16`"), "{}", found[0]);
}

#[test]
fn a_long_body_is_told_to_be_cut_where_it_calls_nothing() {
    let lets: String = (0..4200).map(|_| "let x = tanh(x * 1.5) + 0.5 * x;".to_owned()).collect();
    let found = messages(&format!("fn f(x: f32[N]) -> f32[N] {{ {lets} x }}"));
    assert_eq!(found[0].code, Code::TooLarge);
    assert_eq!(found[0].help, ["cut it into functions that are launched one after the other"]);
    assert!(messages(TOO_LARGE)[0].help[0].starts_with("calls are inlined"));
}

#[test]
fn numbers_that_no_tensor_meets_are_few() {
    let lets = "let i = i + 1;".repeat(1100);
    let found = messages(&format!("fn f(x: i32[N]) -> i32[N] {{ let i = index(axis = 0); {lets} x + i }}"));
    let message = "`f` computes 1025 operations of numbers and coordinates alone in a row, at most 1024";
    assert_eq!((found.len(), found[0].code, found[0].message.as_str()), (1, Code::TooLarge, message));
}

#[test]
fn long_chains_of_operators_are_no_nesting() {
    for term in ["x", "x * x", "exp(x)", "-x", "(x as f16 as f32)", "x as f32", "0.5 * (x + 1.0)"] {
        let source = format!("fn f(x: f32[N]) -> f32[N] {{ x{} }}", format!(" + {term}").repeat(120));
        assert!(messages(&source).is_empty(), "{term}: {:?}", messages(&source)[0].message);
    }
    let found = messages(&format!("fn f(x: f32[N]) -> f32[N] {{ x{} }}", " + x".repeat(1000)));
    assert!(found.is_empty(), "{:?}", found[0].message);
    assert!(messages(&format!("a{}", " + b.c".repeat(300))).is_empty());
    let truth = format!("fn f(x: bool[N]) -> bool[N] {{ x{} }}", " && x == x || !x".repeat(150));
    assert!(messages(&truth).is_empty());
    let found = messages(&format!("fn f(x: f32[N]) -> f32[N] {{ x{} }}", " - x".repeat(1150)));
    assert!(found[0].message.contains("more than 1100 operators"), "{}", found[0].message);
}

#[test]
fn functions_may_have_the_names_of_operators_and_of_what_is_made_of_others() {
    let source = "fn add(x: f32[N]) -> f32[N] { x + 1.0 } fn norm(x: f32[N]) -> f32[N] { x * 2.0 }
                  fn f(x: f32[N]) -> f32[N] { add(norm(x)) }";
    assert!(messages(source).is_empty());
    assert_eq!(super::values(source, &[super::value(&[1], &[3.0])]), [7.0]);
}
