//! [`LazyTensor`]: a value that is computed when needed.

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, AtomicU64},
    },
};

use fuse_artifact::DType;
use fuse_runtime::{
    __private::{RawTensor, Shape},
    Bits, Device, Element, QTensor, Tensor,
};
use smallvec::SmallVec;

use crate::{
    api::dim::{Dim, Form},
    error::Error,
    eval::{Keep, evaluate},
    node::{
        Input, Inputs, Node, NodeState,
        value::{Data, Value},
    },
    op::Op,
};

/// A tensor that is computed on request with its pending inputs, in as few kernels as `fuse!` would use.
///
/// Dtype and rank are dynamic. Clones share the value, also between threads. Methods check dtypes and shapes, record,
/// and run nothing. Operators (`&a + &b`) cannot return errors: their value carries the error to the next method.
#[derive(Clone)]
pub struct LazyTensor {
    node: Result<Arc<Node>, Arc<Error>>,
}

impl LazyTensor {
    pub(crate) fn of_node(node: Node) -> Self {
        Self { node: Ok(Arc::new(node)) }
    }

    pub(crate) fn of_result(result: Result<Self, Error>) -> Self {
        result.unwrap_or_else(|error| match error {
            Error::Earlier(error) => Self { node: Err(error) },
            error => Self { node: Err(Arc::new(error)) },
        })
    }

    pub(crate) fn node(&self) -> Result<&Arc<Node>, Error> {
        self.node.as_ref().map_err(|error| Error::Earlier(Arc::clone(error)))
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        matches!((&self.node, &other.node), (Ok(a), Ok(b)) if Arc::ptr_eq(a, b))
    }

    fn leaf(device: &Device, dtype: DType, shape: Shape, data: Data, is_weight: bool) -> Self {
        let bytes = if let Data::Tensor(tensor) = &data { tensor.bytes() } else { 0 };
        let packing = match &data {
            Data::Tensor(_) => None,
            Data::Quantized(tensor) => Some((tensor.packing(), tensor.axis())),
        };
        Self::of_node(Node {
            number: Node::next_number(),
            op: Op::Leaf,
            dtype,
            shape,
            packing,
            has_grad: false,
            is_weight,
            device: device.clone(),
            pending: AtomicU32::new(0),
            base: AtomicU64::new(0),
            counted: AtomicU32::new(0),
            bytes: AtomicU64::new(bytes),
            recount: AtomicU32::new(0),
            reads: AtomicU32::new(0),
            writes: SmallVec::new(),
            evaluated: AtomicBool::new(true),
            state: Mutex::new(NodeState {
                inputs: Inputs::new(),
                value: Some(Value::new(data)),
                ..NodeState::default()
            }),
        })
    }

    /// A weight: products read it quantized under
    /// [`FusionConfig::quantize_weights`](crate::FusionConfig::quantize_weights).
    pub fn weight<T: Element, const D: usize>(tensor: &Tensor<T, D>) -> Self {
        Self::leaf(tensor.device(), T::DTYPE, tensor.shape().into(), Data::Tensor(tensor.raw().follow()), true)
    }

    /// Element type; `f32` for a quantized tensor.
    ///
    /// # Errors
    /// The error that an operator's value carries.
    pub fn dtype(&self) -> Result<DType, Error> {
        Ok(self.node()?.dtype)
    }

    /// Dimensions, outermost first.
    ///
    /// # Errors
    /// The error that an operator's value carries.
    pub fn shape(&self) -> Result<Vec<usize>, Error> {
        Ok(self.node()?.shape.to_vec())
    }

    /// Extent of an axis as an open size: the compiled function serves other extents too. Negative axes count from the
    /// end.
    ///
    /// A missing axis or an error gives 0, which the operations that take it refuse.
    pub fn dim(&self, axis: isize) -> Dim {
        let Ok(node) = self.node() else { return Dim::from(0) };
        let rank = node.shape.len();
        let position = if axis < 0 { rank.checked_sub(axis.unsigned_abs()) } else { Some(axis.unsigned_abs()) };
        match position.filter(|&position| position < rank) {
            // The compiler treats extents of 1 as literals.
            Some(position) if node.shape[position] == 1 => Dim::from(1),
            Some(position) => {
                Dim { size: node.shape[position], form: Form::Axis(axis_origin(node, position), position as u8) }
            }
            None => Dim::from(0),
        }
    }

    /// The device that holds it.
    ///
    /// # Errors
    /// As [`dtype`](Self::dtype).
    pub fn device(&self) -> Result<&Device, Error> {
        Ok(&self.node.as_ref().map_err(|error| Error::Earlier(Arc::clone(error)))?.device)
    }

    /// True if its value is in memory or its computation was launched.
    ///
    /// # Errors
    /// As [`dtype`](Self::dtype).
    pub fn is_evaluated(&self) -> Result<bool, Error> {
        Ok(self.node()?.is_evaluated())
    }

    /// Computes the value into memory, without waiting for the device.
    ///
    /// Other held values on the way stay recorded and are recomputed on request; [`eval_all`](crate::eval_all) computes
    /// several at once.
    ///
    /// Unless it was computed from gradients, the value keeps its inputs for later gradients. It drops them when it
    /// leaves the 256 values requested last, or when more than 4,096 operations are behind these. It also drops them
    /// when tensors that only these keep alive exceed
    /// [`FusionConfig::max_pending_bytes`](crate::FusionConfig::max_pending_bytes).
    ///
    /// # Errors
    /// [`Error::Written`] if a tensor was written to after it was recorded; those of compiling and launching.
    pub fn eval(&self) -> Result<(), Error> {
        evaluate(&[self.node()?], Keep::Forward)
    }

    /// Value as a tensor of `D` axes.
    ///
    /// # Errors
    /// [`Error::Operation`] if its dtype or rank differs, and those of [`eval`](Self::eval).
    pub fn tensor<T: Element, const D: usize>(&self) -> Result<Tensor<T, D>, Error> {
        let node = self.node()?;
        if node.dtype != T::DTYPE || node.shape.len() != D || node.packing.is_some() {
            let message = format!("expected `{}` with {D} axes, found `{}`", T::DTYPE, node.type_text());
            return Err(Error::operation("tensor", message, "ask for the dtype and the rank that it has"));
        }
        Ok(Tensor::from_raw(self.raw()?))
    }

    /// Reads the values back, last axis fastest.
    ///
    /// # Errors
    /// [`Error::Operation`] if the dtype differs, those of [`eval`](Self::eval), and those of reading back.
    pub async fn to_vec<T: Element>(&self) -> Result<Vec<T>, Error> {
        let flat = self.flat::<T>()?;
        Ok(flat.to_vec().await?)
    }

    /// As [`to_vec`](Self::to_vec), blocking.
    ///
    /// # Errors
    /// As [`to_vec`](Self::to_vec).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn to_vec_blocking<T: Element>(&self) -> Result<Vec<T>, Error> {
        Ok(self.flat::<T>()?.to_vec_blocking()?)
    }

    pub(crate) fn flat<T: Element>(&self) -> Result<Tensor<T, 1>, Error> {
        let node = self.node()?;
        if node.dtype != T::DTYPE || node.packing.is_some() {
            let message = format!("expected values of `{}`, found `{}`", T::DTYPE, node.type_text());
            return Err(Error::operation("to_vec", message, "ask for the dtype that it has"));
        }
        Ok(Tensor::from_raw(self.raw()?.reshape(&[node.elements()])?))
    }

    pub(crate) fn of_number(tensor: RawTensor) -> Self {
        let (device, dtype) = (tensor.device().clone(), tensor.dtype());
        Self::leaf(&device, dtype, [].into(), Data::Tensor(tensor), false)
    }

    pub(crate) fn raw(&self) -> Result<RawTensor, Error> {
        let node = self.node()?;
        evaluate(&[node], Keep::Forward)?;
        match &node.lock().value {
            Some(Value { data: Data::Tensor(tensor), .. }) => Ok(tensor.value()),
            _ => Err(Error::operation("tensor", "a quantized tensor has no values in memory", "write `dequantize`")),
        }
    }
}

/// Operations recorded after a later write to the tensor read the new values.
impl<T: Element, const D: usize> From<&Tensor<T, D>> for LazyTensor {
    fn from(tensor: &Tensor<T, D>) -> Self {
        Self::leaf(tensor.device(), T::DTYPE, tensor.shape().into(), Data::Tensor(tensor.raw().follow()), false)
    }
}

impl<T: Element, const D: usize> From<Tensor<T, D>> for LazyTensor {
    fn from(tensor: Tensor<T, D>) -> Self {
        Self::leaf(tensor.device(), T::DTYPE, tensor.shape().into(), Data::Tensor(tensor.raw().clone()), false)
    }
}

/// Right operand of [`matmul`](LazyTensor::matmul), also transposed. Other operations need
/// [`dequantize`](LazyTensor::dequantize).
impl<Q: Bits, const D: usize> From<&QTensor<Q, D>> for LazyTensor {
    fn from(tensor: &QTensor<Q, D>) -> Self {
        Self::leaf(tensor.device(), DType::F32, tensor.shape().into(), Data::Quantized(tensor.raw().clone()), false)
    }
}

/// Shows dtype, shape and operation without evaluation.
impl fmt::Debug for LazyTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.node {
            Ok(node) => node.fmt(f),
            Err(error) => write!(f, "error: {error}"),
        }
    }
}

/// Operand that an axis comes from, through pointwise operations of equal rank, so a size keeps no intermediate alive.
fn axis_origin(node: &Arc<Node>, axis: usize) -> Arc<Node> {
    let mut at = Arc::clone(node);
    loop {
        let next = {
            let state = at.lock();
            let pointwise = matches!(at.op, Op::Pointwise(_) | Op::Call(_) | Op::Cast(_));
            let fits = |input: &&Arc<Node>| input.shape.len() == at.shape.len() && input.shape[axis] == at.shape[axis];
            match state.inputs.iter().filter_map(Input::node).find(fits) {
                Some(input) if pointwise && state.value.is_none() => Arc::clone(input),
                _ => break,
            }
        };
        at = next;
    }
    at
}
