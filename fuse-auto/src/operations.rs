//! The pointwise operations by name, with the dtypes that they take: what recording needs of the compiler's table, which a program
//! without a compiler does not have. A test compares both.

use fuse_artifact::{DType, DTypes};

/// What a set of dtypes is called in messages.
pub(crate) fn named(dtypes: DTypes) -> &'static str {
    match dtypes {
        DTypes::F32 => "`f32`",
        DTypes::U32 => "`u32`",
        DTypes::BOOL => "`bool`",
        DTypes::FLOATS => "floats",
        DTypes::INTEGERS => "integers",
        DTypes::SIGNED => "signed numbers",
        DTypes::BITS => "integers or `bool`",
        DTypes::NUMBERS => "numbers",
        _ => "any dtype",
    }
}

/// A pointwise operation of one or two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The name in the language.
    pub name: &'static str,
    /// How it is written before or between its operands, if it is an operator.
    pub symbol: Option<&'static str>,
    /// The dtypes of its operands.
    pub takes: DTypes,
    /// The dtype of its result, where it is not the operands'.
    pub yields: Option<DType>,
}

/// A row.
const fn of(name: &'static str, takes: DTypes) -> Operation {
    Operation { name, symbol: None, takes, yields: None }
}

/// A row of an operator.
const fn operator(name: &'static str, symbol: &'static str, takes: DTypes) -> Operation {
    Operation { name, symbol: Some(symbol), takes, yields: None }
}

/// A row whose result has a dtype of its own.
const fn yields(operation: Operation, dtype: DType) -> Operation {
    Operation { yields: Some(dtype), ..operation }
}

/// A comparison.
const fn comparison(name: &'static str, symbol: &'static str, takes: DTypes) -> Operation {
    yields(operator(name, symbol, takes), DType::Bool)
}

/// Operations of one operand.
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

/// Operations of two operands.
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

/// The row of a name, in a table that has it.
pub(crate) const fn row(table: &'static [Operation], name: &str) -> &'static Operation {
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
