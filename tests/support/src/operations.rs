//! How pointwise operations are written in programs, for each dtype.

use fuse_artifact::DType;
use fuse_compiler::{
    graph::CompareOp,
    operations::{BinaryOp, UnaryOp},
};

/// The dtypes of floats.
pub const FLOATS: [DType; 2] = [DType::F32, DType::F16];
/// The dtypes of numbers.
pub const NUMBERS: [DType; 4] = [DType::F32, DType::F16, DType::I32, DType::U32];
/// All dtypes.
pub const ALL: [DType; 5] = [DType::F32, DType::F16, DType::I32, DType::U32, DType::Bool];

/// Results of one kernel: with two operands they just fit the portable limit of eight storage buffers.
const RESULTS: usize = 6;

/// How a call of each operation is written that takes one dtype and yields another or the same, for the operand `x`.
pub fn unary_texts(dtype: DType, result: DType, x: &str) -> Vec<String> {
    let ops = UnaryOp::ALL.iter().filter(|op| op.takes(dtype) && op.result(dtype) == result);
    ops.map(|op| unary_text(*op, x)).collect()
}

/// How a call of an operation is written.
pub fn unary_text(op: UnaryOp, x: &str) -> String {
    match op.row().symbol {
        Some(symbol) => format!("{symbol}{x}"),
        None => format!("{}({x})", op.name()),
    }
}

/// How a call of each operation of one dtype is written, for operands `x` and `y`.
pub fn binary_texts(dtype: DType, x: &str, y: &str) -> Vec<String> {
    // Programs reach `philox` through `dropout`.
    let ops = BinaryOp::ALL.iter().filter(|op| op.takes(dtype) && **op != BinaryOp::Philox);
    ops.map(|op| binary_text(*op, x, y)).collect()
}

/// As [`unary_text`], with two operands.
pub fn binary_text(op: BinaryOp, x: &str, y: &str) -> String {
    match op.row().symbol {
        Some(symbol) => format!("{x} {symbol} {y}"),
        None => format!("{}({x}, {y})", op.name()),
    }
}

/// As [`binary_texts`], of comparisons.
pub fn compare_texts(dtype: DType, x: &str, y: &str) -> Vec<String> {
    let ops = CompareOp::ALL.iter().filter(|op| dtype != DType::Bool || matches!(op, CompareOp::Eq | CompareOp::Ne));
    ops.map(|op| format!("{x} {} {y}", compare_symbol(*op))).collect()
}

/// The operator of a comparison.
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

/// Functions that compute `texts`, a few of them each, all of type `result`.
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
