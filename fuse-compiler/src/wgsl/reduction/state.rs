//! State of a reduction as 32-bit words, and the merge of two states.
//!
//! Maxima, minima and their indices are compared as integers ordered as the numbers, with NaN above all: `max` of
//! floats may lose NaN, and float comparisons may flush subnormal numbers.

use fuse_artifact::DType;

use crate::{
    graph::ReduceOp,
    kernel::{Arena, Block, IntoVal, Literal, Scalar, Ty, Val},
    wgsl::builtins::Helpers,
};

#[derive(Clone, Copy, Debug)]
pub(in crate::wgsl) struct ReductionState {
    op: ReduceOp,
    dtype: DType,
}

/// Key of negative infinity, the neutral element of `max`: below every other float's.
const KEY_OF_NEGATIVE_INFINITY: i32 = -2_139_095_041;

const SIGN: u32 = 0x8000_0000;

const NO_INDEX: u32 = u32::MAX;

impl ReductionState {
    pub(in crate::wgsl) fn new(op: ReduceOp, dtype: DType) -> Self {
        Self { op, dtype }
    }

    /// True if running sums should keep rounding errors.
    pub(in crate::wgsl) fn is_float_sum(self) -> bool {
        self.op == ReduceOp::Sum && self.dtype.is_float()
    }

    pub(in crate::wgsl) fn words(self) -> Vec<DType> {
        match self.op {
            ReduceOp::Sum | ReduceOp::Prod if self.dtype.is_float() => vec![DType::F32],
            ReduceOp::Sum | ReduceOp::Prod => vec![self.dtype],
            ReduceOp::ArgMax | ReduceOp::ArgMin => vec![DType::I32, DType::U32],
            ReduceOp::Max | ReduceOp::Min | ReduceOp::Any | ReduceOp::All => vec![DType::I32],
        }
    }

    pub(in crate::wgsl) fn neutral(self, arena: &Arena, lanes: u32) -> Vec<Val<'_>> {
        let ty = Ty::of(self.words()[0], lanes);
        let key = |key: i32| arena.literal(Literal::I32(key)).splat(lanes);
        match self.op {
            ReduceOp::Sum => vec![arena.construct(ty, &[])],
            ReduceOp::Prod => vec![1u32.into_val(arena.construct(ty, &[]))],
            ReduceOp::Any | ReduceOp::All => vec![key(0)],
            ReduceOp::Max | ReduceOp::Min if self.dtype.is_float() => vec![key(KEY_OF_NEGATIVE_INFINITY)],
            ReduceOp::Max | ReduceOp::Min => vec![key(i32::MIN)],
            ReduceOp::ArgMax | ReduceOp::ArgMin => vec![key(i32::MIN), arena.u32(NO_INDEX).splat(lanes)],
        }
    }

    pub(in crate::wgsl) fn of_element<'k>(self, helpers: &mut Helpers, value: Val<'k>, index: Val<'k>) -> Vec<Val<'k>> {
        let key = |key: i32| value.arena().literal(Literal::I32(key)).splat(value.ty().lanes());
        match self.op {
            ReduceOp::Sum | ReduceOp::Prod => vec![value],
            ReduceOp::Any => vec![value.select(key(1), key(0))],
            ReduceOp::All => vec![value.select(key(0), key(1))],
            ReduceOp::Max | ReduceOp::Min | ReduceOp::ArgMax | ReduceOp::ArgMin => {
                let least = matches!(self.op, ReduceOp::Min | ReduceOp::ArgMin);
                let key = match self.dtype {
                    DType::F32 | DType::F16 => {
                        // Zeros of either sign have different keys, but the index must be the first zero's.
                        let value = if self.op.yields_index() { helpers.call("one_zero", &[value]) } else { value };
                        helpers.call(if least { "min_key" } else { "max_key" }, &[value])
                    }
                    DType::U32 | DType::Bool => {
                        let key = (value ^ SIGN).bitcast(Scalar::I32);
                        if least { key.bit_not() } else { key }
                    }
                    DType::I32 if least => value.bit_not(),
                    DType::I32 => value,
                };
                if self.op.yields_index() { vec![key, index] } else { vec![key] }
            }
        }
    }

    /// Merges two states; of equal keys the lower index wins.
    pub(in crate::wgsl) fn merge<'k>(self, a: &[Val<'k>], b: &[Val<'k>]) -> Vec<Val<'k>> {
        match self.op {
            ReduceOp::Sum => vec![a[0] + b[0]],
            ReduceOp::Prod => vec![a[0] * b[0]],
            ReduceOp::ArgMax | ReduceOp::ArgMin => {
                let other = b[0].gt(a[0]).select(b[1], a[1]);
                vec![a[0].max(b[0]), a[0].eq(b[0]).select(a[1].min(b[1]), other)]
            }
            ReduceOp::Max | ReduceOp::Min | ReduceOp::Any | ReduceOp::All => vec![a[0].max(b[0])],
        }
    }

    pub(in crate::wgsl) fn tree<'k>(
        self,
        b: &mut Block<'k>,
        mut states: Vec<Vec<Val<'k>>>,
        name: &str,
    ) -> Vec<Val<'k>> {
        let mut count = 0;
        while states.len() > 1 {
            let mut merged = Vec::with_capacity(states.len().div_ceil(2));
            for pair in states.chunks(2) {
                let [x, y] = pair else {
                    merged.push(pair[0].clone());
                    continue;
                };
                merged.push(b.bind_all(&format!("{name}_{count}"), &self.merge(x, y)));
                count += 1;
            }
            states = merged;
        }
        states.pop().expect("there is a state")
    }

    pub(in crate::wgsl) fn of_lanes<'k>(self, b: &mut Block<'k>, words: Vec<Val<'k>>, name: &str) -> Vec<Val<'k>> {
        let lanes = words[0].ty().lanes();
        if lanes == 1 {
            return words;
        }
        let lane = |lane: u32| words.iter().map(|word| word.lane(lane)).collect();
        self.tree(b, (0..lanes).map(lane).collect(), name)
    }

    pub(in crate::wgsl) fn value<'k>(self, helpers: &mut Helpers, words: &[Val<'k>]) -> Val<'k> {
        let word = words[0];
        let inverted = || if self.op == ReduceOp::Min { word.bit_not() } else { word };
        match self.op {
            ReduceOp::Sum | ReduceOp::Prod => word,
            ReduceOp::Any => word.ne(0),
            ReduceOp::All => word.eq(0),
            ReduceOp::ArgMax | ReduceOp::ArgMin => {
                let index = words[1].convert(Scalar::I32);
                words[1].eq(NO_INDEX).select(0u32.into_val(index), index)
            }
            ReduceOp::Max | ReduceOp::Min => match self.dtype {
                DType::F32 | DType::F16 => helpers.call("of_key", &[inverted()]),
                DType::I32 => inverted(),
                DType::U32 | DType::Bool => inverted().bitcast(Scalar::U32) ^ SIGN,
            },
        }
    }

    /// Merges a subgroup's states; all invocations get the result.
    pub(in crate::wgsl) fn of_subgroup<'k>(self, b: &mut Block<'k>, words: &[Val<'k>], name: &str) -> Vec<Val<'k>> {
        let collective = match self.op {
            ReduceOp::Sum => "subgroupAdd",
            ReduceOp::Prod => "subgroupMul",
            _ => "subgroupMax",
        };
        let mut results = vec![b.bind(format!("{name}_0"), words[0].call(collective, &[]))];
        if let [key, index] = words {
            let candidate = key.eq(results[0]).select(*index, NO_INDEX);
            results.push(b.bind(format!("{name}_1"), candidate.call("subgroupMin", &[])));
        }
        results
    }
}

pub(in crate::wgsl) fn to_bits(word: Val<'_>) -> Val<'_> {
    word.bitcast(Scalar::U32)
}

pub(in crate::wgsl) fn from_bits(dtype: DType, bits: Val<'_>) -> Val<'_> {
    debug_assert!(dtype != DType::Bool, "truth values are kept as keys");
    bits.bitcast(Scalar::of(dtype))
}
