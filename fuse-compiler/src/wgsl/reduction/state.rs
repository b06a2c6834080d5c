//! What invocations hand to each other: the state of a reduction as 32-bit words, and how two states become one.
//!
//! Largest, smallest and their indices are compared as integers that are ordered as the numbers are, with NaN above
//! all of them: `max` of floats may lose NaN, and comparisons of floats may take a subnormal for zero.

use fuse_artifact::DType;

use crate::{
    graph::ReduceOp,
    wgsl::{
        builtins::{Helpers, scalar_type, vector_type},
        shader::CodeBuffer,
    },
};

/// The state of one reduction.
#[derive(Clone, Copy, Debug)]
pub(in crate::wgsl) struct ReductionState {
    op: ReduceOp,
    /// The dtype of the elements.
    dtype: DType,
}

/// The key below every float's: that of negative infinity, the neutral element of `max`.
const KEY_OF_NEGATIVE_INFINITY: i32 = -2_139_095_041;

/// An index that no element has.
const NO_INDEX: &str = "0xffffffffu";

impl ReductionState {
    /// The state of `op` over elements of `dtype`.
    pub(in crate::wgsl) fn new(op: ReduceOp, dtype: DType) -> Self {
        Self { op, dtype }
    }

    /// Whether running sums should keep what rounding loses.
    pub(in crate::wgsl) fn is_float_sum(self) -> bool {
        self.op == ReduceOp::Sum && self.dtype.is_float()
    }

    /// The dtypes of the words, which are values of a kernel.
    pub(in crate::wgsl) fn words(self) -> Vec<DType> {
        match self.op {
            ReduceOp::Sum | ReduceOp::Prod if self.dtype.is_float() => vec![DType::F32],
            ReduceOp::Sum | ReduceOp::Prod => vec![self.dtype],
            ReduceOp::ArgMax | ReduceOp::ArgMin => vec![DType::I32, DType::U32],
            ReduceOp::Max | ReduceOp::Min | ReduceOp::Any | ReduceOp::All => vec![DType::I32],
        }
    }

    /// The state of no element.
    pub(in crate::wgsl) fn neutral(self, lanes: u32) -> Vec<String> {
        let words = self.words();
        let t = |word: usize| vector_type(words[word], lanes);
        match self.op {
            ReduceOp::Sum => vec![format!("{}()", t(0))],
            ReduceOp::Prod => vec![format!("{}(1)", t(0))],
            ReduceOp::Any | ReduceOp::All => vec![format!("{}(0)", t(0))],
            ReduceOp::Max | ReduceOp::Min if self.dtype.is_float() => {
                vec![format!("{}({KEY_OF_NEGATIVE_INFINITY})", t(0))]
            }
            ReduceOp::Max | ReduceOp::Min => vec![format!("{}({})", t(0), i32::MIN)],
            ReduceOp::ArgMax | ReduceOp::ArgMin => {
                vec![format!("{}({})", t(0), i32::MIN), format!("{}({NO_INDEX})", t(1))]
            }
        }
    }

    /// The state of one element.
    pub(in crate::wgsl) fn of_element(
        self,
        helpers: &mut Helpers,
        lanes: u32,
        value: &str,
        index: &str,
    ) -> Vec<String> {
        let (i, u) = (vector_type(DType::I32, lanes), vector_type(DType::U32, lanes));
        match self.op {
            ReduceOp::Sum | ReduceOp::Prod => vec![value.to_owned()],
            ReduceOp::Any => vec![format!("select({i}(0), {i}(1), {value})")],
            ReduceOp::All => vec![format!("select({i}(1), {i}(0), {value})")],
            ReduceOp::Max | ReduceOp::Min | ReduceOp::ArgMax | ReduceOp::ArgMin => {
                let least = matches!(self.op, ReduceOp::Min | ReduceOp::ArgMin);
                let key = match self.dtype {
                    DType::F32 | DType::F16 => {
                        // As keys, the zeros differ, but an index is that of the first.
                        let value = if self.op.yields_index() {
                            helpers.call("one_zero", lanes, value)
                        } else {
                            value.to_owned()
                        };
                        helpers.call(if least { "min_key" } else { "max_key" }, lanes, &value)
                    }
                    DType::U32 | DType::Bool if least => format!("~bitcast<{i}>({value} ^ {u}(0x80000000u))"),
                    DType::U32 | DType::Bool => format!("bitcast<{i}>({value} ^ {u}(0x80000000u))"),
                    DType::I32 if least => format!("~{value}"),
                    DType::I32 => value.to_owned(),
                };
                if self.op.yields_index() { vec![key, index.to_owned()] } else { vec![key] }
            }
        }
    }

    /// The state of two sets of elements; of equal keys the lower index stays.
    pub(in crate::wgsl) fn merge(self, a: &[String], b: &[String]) -> Vec<String> {
        match self.op {
            ReduceOp::Sum => vec![format!("({} + {})", a[0], b[0])],
            ReduceOp::Prod => vec![format!("({} * {})", a[0], b[0])],
            ReduceOp::ArgMax | ReduceOp::ArgMin => {
                let (key, index) = ((&a[0], &b[0]), (&a[1], &b[1]));
                let other = format!("select({}, {}, {} > {})", index.0, index.1, key.1, key.0);
                let lower = format!("min({}, {})", index.0, index.1);
                vec![format!("max({}, {})", key.0, key.1), format!("select({other}, {lower}, {} == {})", key.0, key.1)]
            }
            ReduceOp::Max | ReduceOp::Min | ReduceOp::Any | ReduceOp::All => vec![format!("max({}, {})", a[0], b[0])],
        }
    }

    /// Writes statements that take states together as a balanced tree; returns the words of the result, whose names start
    /// with `name`.
    pub(in crate::wgsl) fn tree(self, lines: &mut CodeBuffer, mut states: Vec<Vec<String>>, name: &str) -> Vec<String> {
        let mut count = 0;
        while states.len() > 1 {
            let mut merged = Vec::with_capacity(states.len().div_ceil(2));
            for pair in states.chunks(2) {
                let [a, b] = pair else {
                    merged.push(pair[0].clone());
                    continue;
                };
                let words = self.merge(a, b).into_iter().enumerate().map(|(w, word)| {
                    lines.line(format!("let {name}_{count}_{w} = {word};"));
                    format!("{name}_{count}_{w}")
                });
                merged.push(words.collect());
                count += 1;
            }
            states = merged;
        }
        states.pop().expect("there is a state")
    }

    /// The reduction's value.
    pub(in crate::wgsl) fn value(self, helpers: &mut Helpers, lanes: u32, words: &[String]) -> String {
        let (i, u) = (vector_type(DType::I32, lanes), vector_type(DType::U32, lanes));
        let word = &words[0];
        let inverted = if self.op == ReduceOp::Min { format!("~{word}") } else { word.clone() };
        match self.op {
            ReduceOp::Sum | ReduceOp::Prod => word.clone(),
            ReduceOp::Any => format!("{word} != {i}(0)"),
            ReduceOp::All => format!("{word} == {i}(0)"),
            ReduceOp::ArgMax | ReduceOp::ArgMin => {
                format!("select({i}({0}), {i}(0), {0} == {u}({NO_INDEX}))", words[1])
            }
            ReduceOp::Max | ReduceOp::Min => match self.dtype {
                DType::F32 | DType::F16 => helpers.call("of_key", lanes, &inverted),
                DType::I32 => inverted,
                DType::U32 | DType::Bool => format!("bitcast<{u}>({inverted}) ^ {u}(0x80000000u)"),
            },
        }
    }

    /// Writes statements that take together the states of a subgroup; all its invocations get the result.
    pub(in crate::wgsl) fn of_subgroup(self, lines: &mut CodeBuffer, words: &[String], name: &str) -> Vec<String> {
        let results: Vec<String> = (0..words.len()).map(|word| format!("{name}_{word}")).collect();
        let collective = match self.op {
            ReduceOp::Sum => "subgroupAdd",
            ReduceOp::Prod => "subgroupMul",
            _ => "subgroupMax",
        };
        lines.line(format!("let {} = {collective}({});", results[0], words[0]));
        if let [key, index] = words {
            let candidate = format!("select({NO_INDEX}, {index}, {key} == {})", results[0]);
            lines.line(format!("let {} = subgroupMin({candidate});", results[1]));
        }
        results
    }
}

/// The bits of a word, as memory holds them.
pub(in crate::wgsl) fn to_bits(dtype: DType, lanes: u32, word: &str) -> String {
    if dtype == DType::U32 { word.to_owned() } else { format!("bitcast<{}>({word})", vector_type(DType::U32, lanes)) }
}

/// A word from its bits.
pub(in crate::wgsl) fn from_bits(dtype: DType, lanes: u32, bits: &str) -> String {
    debug_assert!(scalar_type(dtype) != "bool", "truth values are kept as keys");
    if dtype == DType::U32 { bits.to_owned() } else { format!("bitcast<{}>({bits})", vector_type(dtype, lanes)) }
}
