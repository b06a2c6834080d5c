//! Recording: creates an operation's node if its operands fit.
//!
//! It locks only inputs in memory and allocates only the node. If too much is pending, it evaluates the value at once.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
};

use fuse_artifact::{DType, Packing};
use fuse_runtime::__private::Shape;
use smallvec::SmallVec;

use crate::{
    api::{evaluation::remember, lazy::LazyTensor},
    error::Error,
    eval::{Keep, evaluate, session::Session},
    node::{Input, Inputs, Node, NodeState, value::PENDING},
    op::Op,
    shape::infer::{Numbers, infer},
    trace::behind,
};

pub(crate) struct Request {
    pub(crate) op: Op,
    pub(crate) dtype: DType,
    pub(crate) inputs: Inputs,
    pub(crate) packing: Option<(Packing, u8)>,
}

impl Request {
    pub(crate) fn new(op: Op, dtype: DType, inputs: Inputs) -> Self {
        Self { op, dtype, inputs, packing: None }
    }

    pub(crate) fn record(self) -> Result<LazyTensor, Error> {
        let shapes: SmallVec<[&[usize]; 3]> = self
            .inputs
            .iter()
            .map(|input| match input {
                Input::Value(node) => &*node.shape,
                Input::Number { .. } => &[][..],
                Input::Size { size, .. } => std::slice::from_ref(size),
            })
            .collect();
        let shape = infer(&self.op, &shapes, &mut Numbers).map_err(|misfit| Error::Operation {
            operation: self.op.name(),
            message: misfit.message,
            help: misfit.help,
        })?;
        let shape = Shape::new(&shape)?;
        drop(shapes);
        self.record_as(shape)
    }

    pub(crate) fn record_as(self, shape: Shape) -> Result<LazyTensor, Error> {
        let Self { op, dtype, inputs, packing } = self;
        let mut device = None;
        let (mut pending, mut bytes, mut recount) = (1u32, 0u64, 0u32);
        let number = Node::next_number();
        let mut bound: Option<Bound> = None;
        let mut has_grad = matches!(op, Op::Grad { .. });
        let mut writes = SmallVec::from_elem(PENDING, inputs.len());
        for (input, writes) in inputs.iter().zip(&mut writes) {
            let Input::Value(node) = input else { continue };
            *writes = node.writes_now();
            match device {
                None => device = Some(&node.device),
                Some(first) if first.is(&node.device) => {}
                Some(_) => {
                    let message = "its operands are on different devices";
                    return Err(Error::operation(op.name(), message, "make all tensors on one device"));
                }
            }
            let waiting = node.waiting();
            pending = pending.saturating_add(waiting);
            if waiting > 0 {
                let of = Bound::of(node);
                bound = Some(bound.map_or(of, |bound| bound.and(of)));
            }
            bytes = bytes.saturating_add(node.bytes.load(Ordering::Relaxed));
            recount = recount.max(node.recount.load(Ordering::Relaxed));
            has_grad |= node.has_grad && !node.is_evaluated();
        }
        let Some(device) = device.cloned() else {
            return Err(Error::operation(op.name(), "it has no tensor", "use at least one tensor: it says the device"));
        };
        let bound = bound.unwrap_or(Bound { base: number - 1, counted: 0 });
        let has_value = !matches!(op, Op::Grad { .. });
        let is_part = matches!(op, Op::Part(_));
        let value = LazyTensor::of_node(Node {
            number,
            op,
            dtype,
            shape,
            packing,
            has_grad,
            is_weight: false,
            device,
            pending: AtomicU32::new(pending.min(bound.at(number))),
            base: AtomicU64::new(bound.base),
            counted: AtomicU32::new(bound.counted),
            bytes: AtomicU64::new(bytes),
            recount: AtomicU32::new(recount),
            reads: AtomicU32::new(0),
            writes,
            evaluated: AtomicBool::new(false),
            state: Mutex::new(NodeState { inputs, ..NodeState::default() }),
        });
        if has_value {
            remember(value.node()?);
        }
        if has_value && !is_part {
            keep_within_limits(&[value.node()?])?;
        }
        Ok(value)
    }
}

/// Upper bound on pending operations behind a value: `counted`, and all nodes recorded after number `base`.
///
/// Sums over operands would count shared operations twice and double with every value of two readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bound {
    base: u64,
    counted: u32,
}

impl Bound {
    fn of(node: &Node) -> Self {
        Self { base: node.base.load(Ordering::Relaxed), counted: node.counted.load(Ordering::Relaxed) }
    }

    fn and(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        Self { base: self.base.min(other.base), counted: self.counted.saturating_add(other.counted) }
    }

    /// Bound of the node with this number, itself included.
    fn at(self, number: u64) -> u32 {
        u32::try_from(number - self.base).unwrap_or(u32::MAX).saturating_add(self.counted)
    }
}

/// Evaluates values whose shared pending operations exceed the limits.
pub(crate) fn keep_within_limits(values: &[&Arc<Node>]) -> Result<(), Error> {
    let Some(node) = values.first() else { return Ok(()) };
    let (pending, bytes) = (node.pending.load(Ordering::Relaxed), node.bytes.load(Ordering::Relaxed));
    let limits = Session::of(&node.device).limits();
    let many = pending >= limits.operations;
    let large = bytes >= limits.bytes && pending >= node.recount.load(Ordering::Relaxed);
    if !many && !large {
        return Ok(());
    }
    // Counts shared operations once, without tensors that others hold.
    let (operations, own) = behind(node);
    if operations >= limits.operations || own >= limits.bytes {
        return evaluate(values, Keep::All);
    }
    node.pending.store(operations, Ordering::Relaxed);
    node.base.store(node.number, Ordering::Relaxed);
    node.counted.store(operations, Ordering::Relaxed);
    node.recount.store(operations + operations / 2 + 8, Ordering::Relaxed);
    Ok(())
}
