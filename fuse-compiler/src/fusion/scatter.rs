//! Scatter-adds: sums of `select(index == coordinate, x, 0)` over all elements.
//!
//! Gradients of gathers have this form, with adjoints for `x`. Other stages see an ordinary reduction. Only its
//! schedule uses that few elements count: those whose index a workgroup owns. Not here: the kernel
//! (`wgsl/reduction/scatter.rs`).

use fuse_artifact::DType;

use super::body::{Body, KernelAccess, ValueId, ValueOp};
use crate::graph::{CompareOp, Literal, ReduceOp};

/// Guard of a scatter-add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scatter {
    /// Kept axis whose coordinate is compared.
    pub axis: u8,
    /// Compared index of each sum; independent of this axis and later kept axes.
    pub indices: Vec<ValueId>,
}

impl Scatter {
    /// Finds the common guard of a body's reductions.
    ///
    /// `None` if reductions depend on each other or lack a guard. Axes are `kept` ones, then reduced ones.
    pub fn of(body: &Body, accesses: &[KernelAccess], kept: usize) -> Option<Self> {
        let axes = axes(body, accesses);
        let mut found: Option<Self> = None;
        for value in &body.values {
            let ValueOp::Reduce(op, x) = value.op else { continue };
            let (axis, index) = if op == ReduceOp::Sum { guard(body, x)? } else { return None };
            let from = usize::from(axis);
            let fixed = |d: usize| axes[index] >> d & 1 == 0;
            let waits = axes[x] & AFTER_ROWS != 0;
            if from >= kept || !(from..kept).all(fixed) || waits {
                return None;
            }
            let scatter = found.get_or_insert_with(|| Self { axis, indices: vec![] });
            if scatter.axis != axis {
                return None;
            }
            if !scatter.indices.contains(&index) {
                scatter.indices.push(index);
            }
        }
        found
    }
}

const AFTER_ROWS: u32 = 1 << 31;

/// Bit set of axes that each value varies along.
fn axes(body: &Body, accesses: &[KernelAccess]) -> Vec<u32> {
    let mut axes: Vec<u32> = Vec::with_capacity(body.values.len());
    for value in &body.values {
        let walked = value.op.accesses().into_iter().flat_map(|access| {
            let walks = accesses[usize::from(access)].access.axes.iter().enumerate();
            walks.filter(|(_, axis)| axis.is_some()).map(|(d, _)| 1 << d)
        });
        let own = match value.op {
            ValueOp::Coordinate { axis: Some(axis), .. } => 1 << axis,
            ValueOp::Reduce(..) | ValueOp::Accumulator(_) => AFTER_ROWS,
            _ => 0,
        };
        let of_operands = Body::operands(&value.op).into_iter().map(|x| axes[x]);
        axes.push(walked.chain(of_operands).fold(own, |all, bits| all | bits));
    }
    axes
}

fn guard(body: &Body, x: ValueId) -> Option<(u8, ValueId)> {
    let op = |x: ValueId| &body.values[x].op;
    let ValueOp::Select(condition, _, otherwise) = *op(x) else { return None };
    let zero = match *op(otherwise) {
        ValueOp::Literal(Literal::Float(number)) => number == 0.0,
        ValueOp::Literal(Literal::Integer(number)) => number == 0,
        _ => false,
    };
    let ValueOp::Compare(CompareOp::Eq, a, b) = *op(condition) else { return None };
    let coordinate = |x: ValueId| match op(x) {
        ValueOp::Coordinate { axis: Some(axis), start } if *start == Default::default() => Some(*axis),
        _ => None,
    };
    let (axis, index) = match (coordinate(a), coordinate(b)) {
        (None, Some(axis)) => (axis, a),
        (Some(axis), None) => (axis, b),
        (Some(_), Some(_)) | (None, None) => return None,
    };
    (zero && body.values[index].dtype == DType::I32).then_some((axis, index))
}
