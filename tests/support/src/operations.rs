//! Source of pointwise operations, for each dtype.

use fuse_artifact::DType;
use fuse_compiler::{
    graph::CompareOp,
    operations::{BinaryOp, UnaryOp},
};

/// Float dtypes.
pub const FLOATS: [DType; 2] = [DType::F32, DType::F16];
/// Numeric dtypes.
pub const NUMBERS: [DType; 4] = [DType::F32, DType::F16, DType::I32, DType::U32];
/// All dtypes.
pub const ALL: [DType; 5] = [DType::F32, DType::F16, DType::I32, DType::U32, DType::Bool];

/// Results per kernel: with two operands, they fit the portable limit of eight storage buffers.
const RESULTS: usize = 6;

/// Source of each unary operation on `x` between two dtypes.
pub fn unary_texts(dtype: DType, result: DType, x: &str) -> Vec<String> {
    let ops = UnaryOp::ALL.iter().filter(|op| op.takes(dtype) && op.result(dtype) == result);
    ops.map(|op| unary_text(*op, x)).collect()
}

/// Source of a unary operation.
pub fn unary_text(op: UnaryOp, x: &str) -> String {
    match op.row().symbol {
        Some(symbol) => format!("{symbol}{x}"),
        None => format!("{}({x})", op.name()),
    }
}

/// Source of each binary operation on `x` and `y`.
pub fn binary_texts(dtype: DType, x: &str, y: &str) -> Vec<String> {
    let ops = BinaryOp::ALL.iter().filter(|op| op.takes(dtype) && **op != BinaryOp::Philox);
    ops.map(|op| binary_text(*op, x, y)).collect()
}

/// Binary form of [`unary_text`].
pub fn binary_text(op: BinaryOp, x: &str, y: &str) -> String {
    match op.row().symbol {
        Some(symbol) => format!("{x} {symbol} {y}"),
        None => format!("{}({x}, {y})", op.name()),
    }
}

/// Comparison form of [`binary_texts`].
pub fn compare_texts(dtype: DType, x: &str, y: &str) -> Vec<String> {
    let ops = CompareOp::ALL.iter().filter(|op| dtype != DType::Bool || matches!(op, CompareOp::Eq | CompareOp::Ne));
    ops.map(|op| format!("{x} {} {y}", compare_symbol(*op))).collect()
}

/// Operator of a comparison.
pub fn compare_symbol(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "==",
        CompareOp::Ne => "!=",
        CompareOp::Lt => "<",
        CompareOp::Le => "<=",
        CompareOp::Gt => ">",
        CompareOp::Ge => ">=",
    }
}

/// Functions of type `result` that compute the expressions `texts`, a few each.
pub fn functions(params: &str, result: &str, texts: &[String]) -> String {
    let function = |(i, texts): (usize, &[String])| {
        let results = vec![result; texts.len()].join(", ");
        if let [text] = texts {
            return format!("pub fn f{i}({params}) -> {result} {{ {text} }}\n");
        }
        format!("pub fn f{i}({params}) -> ({results}) {{ ({}) }}\n", texts.join(", "))
    };
    texts.chunks(RESULTS).enumerate().map(function).collect()
}
