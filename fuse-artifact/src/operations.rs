//! Signatures of the language's pointwise operations and reductions: names, operators and dtypes.
//!
//! The compiler's tables add semantics. Lazy tensors record by these rows, also without a compiler. The tables are
//! statics: a row's address identifies it, and programs that name no table link none.

use crate::{DType, DTypes};

/// Signature of an operation of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Name in the language and in prints.
    pub name: &'static str,
    /// Operator before its operand or between its operands.
    pub symbol: Option<&'static str>,
    /// Dtypes of its operands.
    pub takes: DTypes,
    /// Dtype of its result, where it differs from the operands'.
    pub yields: Option<DType>,
}

const fn of(name: &'static str, takes: DTypes) -> Operation {
    Operation { name, symbol: None, takes, yields: None }
}

const fn operator(name: &'static str, symbol: &'static str, takes: DTypes) -> Operation {
    Operation { name, symbol: Some(symbol), takes, yields: None }
}

const fn yields(operation: Operation, dtype: DType) -> Operation {
    Operation { yields: Some(dtype), ..operation }
}

const fn comparison(name: &'static str, symbol: &'static str, takes: DTypes) -> Operation {
    yields(operator(name, symbol, takes), DType::Bool)
}

/// Pointwise operations of one operand.
pub static UNARY: &[Operation] = &[
    operator("neg", "-", DTypes::NUMBERS),
    operator("not", "!", DTypes::BITS),
    of("abs", DTypes::NUMBERS),
    of("sign", DTypes::NUMBERS),
    of("floor", DTypes::FLOATS),
    of("ceil", DTypes::FLOATS),
    of("round", DTypes::FLOATS),
    of("trunc", DTypes::FLOATS),
    of("fract", DTypes::FLOATS),
    of("sqrt", DTypes::FLOATS),
    of("rsqrt", DTypes::FLOATS),
    of("exp", DTypes::FLOATS),
    of("exp2", DTypes::FLOATS),
    of("log", DTypes::FLOATS),
    of("log2", DTypes::FLOATS),
    of("log1p", DTypes::FLOATS),
    of("expm1", DTypes::FLOATS),
    of("sin", DTypes::FLOATS),
    of("cos", DTypes::FLOATS),
    of("tan", DTypes::FLOATS),
    of("tanh", DTypes::FLOATS),
    of("atan", DTypes::FLOATS),
    of("asin", DTypes::FLOATS),
    of("acos", DTypes::FLOATS),
    of("sinh", DTypes::FLOATS),
    of("cosh", DTypes::FLOATS),
    of("asinh", DTypes::FLOATS),
    of("acosh", DTypes::FLOATS),
    of("atanh", DTypes::FLOATS),
    of("erf", DTypes::FLOATS),
    of("erfc", DTypes::FLOATS),
    of("recip", DTypes::FLOATS),
    of("relu", DTypes::SIGNED),
    of("selu", DTypes::FLOATS),
    of("gelu", DTypes::FLOATS),
    of("gelu_tanh", DTypes::FLOATS),
    of("silu", DTypes::FLOATS),
    of("sigmoid", DTypes::FLOATS),
    of("hard_sigmoid", DTypes::FLOATS),
    of("hard_swish", DTypes::FLOATS),
    of("softplus", DTypes::FLOATS),
    of("mish", DTypes::FLOATS),
    yields(of("isnan", DTypes::FLOATS), DType::Bool),
    yields(of("isinf", DTypes::FLOATS), DType::Bool),
    yields(of("isfinite", DTypes::FLOATS), DType::Bool),
    of("popcount", DTypes::INTEGERS),
    yields(of("to_bits", DTypes::F32), DType::U32),
    yields(of("from_bits", DTypes::U32), DType::F32),
];

/// Pointwise operations of two operands of one dtype.
pub static BINARY: &[Operation] = &[
    operator("add", "+", DTypes::NUMBERS),
    operator("sub", "-", DTypes::NUMBERS),
    operator("mul", "*", DTypes::NUMBERS),
    operator("div", "/", DTypes::NUMBERS),
    operator("rem", "%", DTypes::NUMBERS),
    of("pow", DTypes::FLOATS),
    of("min", DTypes::NUMBERS),
    of("max", DTypes::NUMBERS),
    of("atan2", DTypes::FLOATS),
    of("hypot", DTypes::FLOATS),
    operator("and", "&&", DTypes::BOOL),
    operator("or", "||", DTypes::BOOL),
    operator("bitand", "&", DTypes::BITS),
    operator("bitor", "|", DTypes::BITS),
    operator("bitxor", "^", DTypes::BITS),
    operator("shl", "<<", DTypes::INTEGERS),
    operator("shr", ">>", DTypes::INTEGERS),
    of("philox", DTypes::U32),
    comparison("eq", "==", DTypes::ANY),
    comparison("ne", "!=", DTypes::ANY),
    comparison("lt", "<", DTypes::NUMBERS),
    comparison("le", "<=", DTypes::NUMBERS),
    comparison("gt", ">", DTypes::NUMBERS),
    comparison("ge", ">=", DTypes::NUMBERS),
];

/// Reductions along axes.
pub static REDUCTIONS: &[Operation] = &[
    of("sum", DTypes::NUMBERS),
    of("prod", DTypes::NUMBERS),
    of("max", DTypes::NUMBERS),
    of("min", DTypes::NUMBERS),
    of("mean", DTypes::FLOATS),
    of("var", DTypes::FLOATS),
    of("logsumexp", DTypes::FLOATS),
    of("norm", DTypes::FLOATS),
    yields(of("argmax", DTypes::NUMBERS), DType::I32),
    yields(of("argmin", DTypes::NUMBERS), DType::I32),
    of("any", DTypes::BOOL),
    of("all", DTypes::BOOL),
];

/// Row of a name in a table.
///
/// # Panics
/// If the table has no such row.
pub const fn row(table: &'static [Operation], name: &str) -> &'static Operation {
    let mut index = 0;
    while index < table.len() {
        if same(table[index].name.as_bytes(), name.as_bytes()) {
            return &table[index];
        }
        index += 1;
    }
    panic!("no operation has this name")
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut index = 0;
    while index < a.len() {
        if a[index] != b[index] {
            return false;
        }
        index += 1;
    }
    true
}
