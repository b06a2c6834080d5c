//! Recording: an operation and its operands become a node, if the operands fit.
//!
//! Only inputs in memory are locked, and nothing but the node is allocated. Where too much is pending, the value is evaluated at once.

use std::{
    cell::RefCell,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
};

use fuse_artifact::{DType, DTypes, Packing};
use fuse_runtime::{__private::Shape, Element, f16};
use smallvec::SmallVec;

use crate::{
    Error, LazyTensor,
    config::Session,
    evaluate::evaluate_kept,
    infer::{Numbers, infer},
    node::{Input, Inputs, Node, NodeState, PENDING},
    op::Op,
    operations::named,
    trace::behind,
};

/// What an operation takes: a lazy tensor, or a number of the host.
///
/// A number takes the dtype of the tensor that it meets, if that can hold it, and is an argument of the compiled function.
#[derive(Clone, Debug)]
pub struct Operand(pub(crate) Given);

#[derive(Clone, Debug)]
pub(crate) enum Given {
    Value(LazyTensor),
    /// A number, the dtype that it has by itself, and its value.
    Number(DType, f64),
}

impl From<&LazyTensor> for Operand {
    fn from(value: &LazyTensor) -> Self {
        Self(Given::Value(value.clone()))
    }
}

impl From<LazyTensor> for Operand {
    fn from(value: LazyTensor) -> Self {
        Self(Given::Value(value))
    }
}

macro_rules! numbers {
    ($($ty:ty),*) => { $(
        impl From<$ty> for Operand {
            fn from(value: $ty) -> Self {
                Self(Given::Number(<$ty>::DTYPE, value.into()))
            }
        }
    )* };
}

numbers! { f32, f16, i32, u32 }

/// As an `f32`.
impl From<f64> for Operand {
    fn from(value: f64) -> Self {
        Self(Given::Number(DType::F32, value))
    }
}

macro_rules! integers {
    ($($ty:ty),*) => { $(
        /// An integer of the dtype that it meets.
        impl From<$ty> for Operand {
            fn from(value: $ty) -> Self {
                Self(Given::Number(DType::I32, value as f64))
            }
        }
    )* };
}

integers! { i64, usize }

impl From<bool> for Operand {
    fn from(value: bool) -> Self {
        Self(Given::Number(DType::Bool, f64::from(u8::from(value))))
    }
}

impl Operand {
    /// The dtype, if it is a tensor's.
    pub(crate) fn tensor_dtype(&self) -> Result<Option<DType>, Error> {
        match &self.0 {
            Given::Value(value) => Ok(Some(value.node()?.dtype)),
            Given::Number(..) => Ok(None),
        }
    }

    /// The operand as an input of this dtype; a number only if the dtype can hold it.
    pub(crate) fn input(self, operation: &'static str, dtype: DType) -> Result<Input, Error> {
        match self.0 {
            Given::Value(value) => {
                value.node()?;
                Ok(Input::Value(value))
            }
            Given::Number(own, number) => match bits(own, number, dtype) {
                Some(bits) => Ok(Input::Number { dtype, bits }),
                None => Err(Error::operation(
                    operation,
                    match own {
                        DType::Bool => format!("a number of `{own}` meets `{dtype}`, which does not hold it"),
                        _ => format!("the number {number} of `{own}` meets `{dtype}`, which does not hold it"),
                    },
                    "convert the tensor with `cast`, or give a number of its dtype",
                )),
            },
        }
    }

    /// One number: of the host, or a tensor of rank 0.
    pub(crate) fn single(self, operation: &'static str, name: &str, dtype: DType) -> Result<Input, Error> {
        if let Given::Value(value) = &self.0 {
            let node = value.node()?;
            if node.dtype != dtype || !node.shape.is_empty() || node.packing.is_some() {
                let message = format!("`{name}` is one `{dtype}`, found `{}`", node.type_text());
                return Err(Error::operation(operation, message, format!("give a number, or a tensor `{dtype}`")));
            }
        }
        self.input(operation, dtype)
    }
}

/// The bits of a number as a `dtype`, as launches take scalars, if that holds it.
fn bits(own: DType, number: f64, dtype: DType) -> Option<u32> {
    let is_whole = own.is_integer();
    match dtype {
        DType::F32 | DType::F16 if own != DType::Bool => dtype.keeps(number).then_some((number as f32).to_bits()),
        DType::I32 if is_whole && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number) => {
            Some((number as i32).cast_unsigned())
        }
        DType::U32 if is_whole && (0.0..=f64::from(u32::MAX)).contains(&number) => Some(number as u32),
        DType::Bool if own == DType::Bool => Some(u32::from(number != 0.0)),
        _ => None,
    }
}

/// A request to record.
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

    /// Records it, if the shapes fit.
    pub(crate) fn record(self) -> Result<LazyTensor, Error> {
        let shapes: SmallVec<[&[usize]; 3]> = self
            .inputs
            .iter()
            .map(|input| match input {
                Input::Value(value) => Ok(&*value.node()?.shape),
                Input::Number { .. } => Ok(&[][..]),
                Input::Size { size, .. } => Ok(std::slice::from_ref(size)),
            })
            .collect::<Result<_, Error>>()?;
        let shape = infer(&self.op, &shapes, &mut Numbers).map_err(|misfit| Error::Operation {
            operation: self.op.name(),
            message: misfit.message,
            help: misfit.help,
        })?;
        let shape = Shape::new(&shape)?;
        drop(shapes);
        self.record_as(shape)
    }

    /// Records it with a shape that is right.
    pub(crate) fn record_as(self, shape: Shape) -> Result<LazyTensor, Error> {
        let Self { op, dtype, inputs, packing } = self;
        let mut device = None;
        let (mut pending, mut bytes, mut recount) = (1u32, 0u64, 0u32);
        let number = Node::next_number();
        let mut bound: Option<Bound> = None;
        let mut has_grad = matches!(op, Op::Grad { .. });
        let mut writes = SmallVec::from_elem(PENDING, inputs.len());
        for (input, writes) in inputs.iter().zip(&mut writes) {
            let Input::Value(value) = input else { continue };
            let node = value.node()?;
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
            keep_within_limits(std::slice::from_ref(&value))?;
        }
        Ok(value)
    }
}

/// A bound on how many operations wait behind a value: so many, and those that were recorded after the node with number `base`.
///
/// The sum over operands counts what they share twice, so that it doubles with every value that has two readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bound {
    base: u64,
    counted: u32,
}

impl Bound {
    fn of(node: &Node) -> Self {
        Self { base: node.base.load(Ordering::Relaxed), counted: node.counted.load(Ordering::Relaxed) }
    }

    /// The bound of two operands together.
    fn and(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        Self { base: self.base.min(other.base), counted: self.counted.saturating_add(other.counted) }
    }

    /// How many operations it allows behind the node with this number, itself among them.
    fn at(self, number: u64) -> u32 {
        u32::try_from(number - self.base).unwrap_or(u32::MAX).saturating_add(self.counted)
    }
}

/// Evaluates values, behind each of which the same waits, if that is too much.
pub(crate) fn keep_within_limits(values: &[LazyTensor]) -> Result<(), Error> {
    let Some(first) = values.first() else { return Ok(()) };
    let node = first.node()?;
    let (pending, bytes) = (node.pending.load(Ordering::Relaxed), node.bytes.load(Ordering::Relaxed));
    let limits = Session::of(&node.device).limits();
    let many = pending >= limits.operations;
    let large = bytes >= limits.bytes && pending >= node.recount.load(Ordering::Relaxed);
    if !many && !large {
        return Ok(());
    }
    // What was counted twice, or is held by others, does not count.
    let (operations, own) = behind(node);
    if operations >= limits.operations || own >= limits.bytes {
        return evaluate_kept(&values.iter().collect::<SmallVec<[_; 4]>>());
    }
    node.pending.store(operations, Ordering::Relaxed);
    node.base.store(node.number, Ordering::Relaxed);
    node.counted.store(operations, Ordering::Relaxed);
    node.recount.store(operations + operations / 2 + 8, Ordering::Relaxed);
    Ok(())
}

thread_local! {
    /// What this thread recorded, for `flush`.
    static RECORDED: RefCell<Recorded> = const { RefCell::new(Recorded { nodes: vec![], keep: 64 }) };
}

struct Recorded {
    nodes: Vec<Weak<Node>>,
    /// How long the list may be before those that are gone are left out.
    keep: usize,
}

fn remember(node: &Arc<Node>) {
    // A thread that ends records nothing that it could flush.
    _ = RECORDED.try_with(|recorded| {
        let mut recorded = recorded.borrow_mut();
        recorded.nodes.push(Arc::downgrade(node));
        if recorded.nodes.len() >= recorded.keep {
            recorded.nodes.retain(|node| node.upgrade().is_some_and(|node| !node.is_evaluated()));
            recorded.keep = (recorded.nodes.len() * 2).max(64);
        }
    });
}

/// The values that this thread recorded on a device and that nobody evaluated.
pub(crate) fn recorded(device: &fuse_runtime::Device) -> Vec<Arc<Node>> {
    let all: Vec<Arc<Node>> = RECORDED
        .try_with(|recorded| recorded.borrow_mut().nodes.drain(..).filter_map(|node| node.upgrade()).collect())
        .unwrap_or_default();
    // Those of other devices are still recorded.
    let (pending, others): (Vec<_>, Vec<_>) =
        all.into_iter().filter(|node| !node.is_evaluated()).partition(|node| node.device.is(device));
    others.iter().for_each(remember);
    pending
}

/// The node of an operand that is not quantized and has one of these dtypes.
pub(crate) fn plain<'n>(value: &'n LazyTensor, operation: &'static str, takes: DTypes) -> Result<&'n Node, Error> {
    let node = value.node()?;
    if let Some((packing, _)) = node.packing {
        return Err(quantized(operation, packing));
    }
    if !takes.contains(node.dtype) {
        let message = format!("takes {}, found `{}`", named(takes), node.type_text());
        return Err(Error::operation(operation, message, "convert it with `cast`"));
    }
    Ok(node)
}

/// What several operands of one dtype are recorded as: of numbers, tensors say the dtype.
pub(crate) fn common_inputs<const N: usize>(
    operation: &'static str,
    takes: DTypes,
    operands: [Operand; N],
) -> Result<(DType, Inputs), Error> {
    let mut dtype = None;
    for operand in &operands {
        if let Given::Value(value) = &operand.0 {
            let node = plain(value, operation, takes)?;
            match dtype {
                None => dtype = Some(node.dtype),
                Some(first) if first == node.dtype => {}
                Some(first) => {
                    let message = format!("operands have different dtypes: `{first}` and `{}`", node.dtype);
                    return Err(Error::operation(operation, message, format!("convert one: `cast(DType::{first:?})`")));
                }
            }
        }
    }
    let Some(dtype) = dtype else {
        return Err(Error::operation(operation, "it has no tensor", "use at least one tensor: it says the device"));
    };
    let inputs = operands.into_iter().map(|operand| operand.input(operation, dtype)).collect::<Result<_, _>>()?;
    Ok((dtype, inputs))
}

/// The error for a quantized tensor where numbers are needed.
pub(crate) fn quantized(operation: &'static str, packing: Packing) -> Error {
    Error::operation(
        operation,
        format!("takes numbers, found a quantized tensor of `{}`", packing.name()),
        "only the right operand of `matmul` may be quantized; elsewhere use `dequantize`, which is computed in place",
    )
}
