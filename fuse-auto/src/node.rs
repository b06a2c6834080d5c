//! A node of the record: an operation with its inputs, or a tensor that was given, or one that has been computed.
//!
//! Recording makes nodes and changes none. It locks the inputs that are in memory, to count the writes to them. Evaluation gives a node
//! its value; its inputs are forgotten later.
//! Invariant: a node has inputs or a value; it has both only while a gradient needs its inputs (`pins`), or may (`persistence`).

pub(crate) mod claim;
pub(crate) mod origin;
pub(crate) mod value;

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
};

use fuse_artifact::{DType, Packing};
use fuse_runtime::{__private::Shape, Device};
use smallvec::SmallVec;

use crate::{
    node::{
        claim::Claim,
        origin::Origin,
        value::{PENDING, QuantizedWeight, Value},
    },
    op::Op,
};

/// An operand, or a value whose extents an operation reads.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// A value of the record.
    Value(Arc<Node>),
    /// A number of the host, which is an argument of the compiled function.
    Number { dtype: DType, bits: u32 },
    /// A size that is an argument of the compiled function. Equal identities are one argument.
    Size { identity: u32, size: usize },
}

impl Input {
    /// The value of a node.
    pub(crate) fn of(node: &Arc<Node>) -> Self {
        Self::Value(Arc::clone(node))
    }

    /// The node of a value.
    pub(crate) fn node(&self) -> Option<&Arc<Node>> {
        match self {
            Self::Value(node) => Some(node),
            Self::Number { .. } | Self::Size { .. } => None,
        }
    }
}

/// A place in the graphs of one structure: a value there was computed, held and not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lesson {
    /// The hash of the graph's structure and of what was asked for.
    pub(crate) graph: u64,
    /// The node of the trace.
    pub(crate) node: u32,
}

/// The inputs of a node: three without an allocation of their own.
pub(crate) type Inputs = SmallVec<[Input; 3]>;

/// A node of the record.
pub(crate) struct Node {
    /// Nodes that were recorded later have higher numbers.
    pub(crate) number: u64,
    pub(crate) op: Op,
    pub(crate) dtype: DType,
    pub(crate) shape: Shape,
    /// The packing and the packed axis of a quantized tensor, also of one whose axes were permuted.
    pub(crate) packing: Option<(Packing, u8)>,
    /// Whether a gradient is part of it, directly or not.
    pub(crate) has_grad: bool,
    /// Whether it is a weight: quantized where that is asked for.
    pub(crate) is_weight: bool,
    pub(crate) device: Device,
    /// At most how many operations wait behind it, itself among them.
    pub(crate) pending: AtomicU32,
    /// A bound on these that counts shared ones once: so many, and those that were recorded after the node with this number.
    pub(crate) base: AtomicU64,
    pub(crate) counted: AtomicU32,
    /// At least how many bytes of tensors are behind it.
    pub(crate) bytes: AtomicU64,
    /// At how many pending operations to count these bytes again.
    pub(crate) recount: AtomicU32,
    /// In how many evaluations it was a tensor that is read.
    pub(crate) reads: AtomicU32,
    /// For each input, the number of writes to its memory at recording; [`PENDING`] for one without memory.
    pub(crate) writes: SmallVec<[u64; 3]>,
    /// Whether it has a value; set once.
    pub(crate) evaluated: AtomicBool,
    pub(crate) state: Mutex<NodeState>,
}

/// What evaluation changes.
#[derive(Default)]
pub(crate) struct NodeState {
    pub(crate) inputs: Inputs,
    pub(crate) value: Option<Value>,
    /// How many gradients need the inputs although there is a value.
    pub(crate) pins: u32,
    /// Whether the inputs stay although there is a value: gradients may be asked for yet. [`Memory`](crate::cache::memory::Memory) ends it.
    pub(crate) kept: bool,
    /// Of a gradient, the nodes that it pins.
    pub(crate) pinned: Vec<Weak<Node>>,
    /// The values that it was computed from, for when its inputs are forgotten.
    pub(crate) origin: Option<Arc<Origin<Node>>>,
    /// Where it was left, if it was computed and not written; or why it was written although nobody asked for it.
    pub(crate) lesson: Option<Lesson>,
    /// Of a weight, its quantized values, where they were wanted.
    #[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "a page cannot make it"))]
    pub(crate) quantized: Option<Box<QuantizedWeight>>,
    /// The evaluation that is computing it.
    pub(crate) claim: Option<Arc<Claim>>,
}

/// The number of the next node.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Node {
    /// A number for a new node.
    pub(crate) fn next_number() -> u64 {
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, NodeState> {
        // What a panic elsewhere leaves is consistent: every change is one assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of its elements; saturates.
    pub(crate) fn elements(&self) -> usize {
        self.shape.elements().and_then(|elements| elements.try_into().ok()).unwrap_or(usize::MAX)
    }

    pub(crate) fn is_evaluated(&self) -> bool {
        self.evaluated.load(Ordering::Acquire)
    }

    /// At least how many operations wait behind it.
    pub(crate) fn waiting(&self) -> u32 {
        if self.is_evaluated() { 0 } else { self.pending.load(Ordering::Relaxed) }
    }

    /// The number of writes to its memory so far; [`PENDING`] without memory.
    pub(crate) fn writes_now(&self) -> u64 {
        if !self.is_evaluated() {
            return PENDING;
        }
        self.lock().value.as_ref().map_or(PENDING, |value| value.data.writes())
    }

    /// The node as a source of an origin.
    pub(crate) fn source(node: &Arc<Self>) -> (Weak<Self>, Option<Arc<Origin<Self>>>) {
        (Arc::downgrade(node), node.lock().origin.clone())
    }

    /// The dtype and shape, as in `f32[2, 3]`.
    pub(crate) fn type_text(&self) -> String {
        type_text(self.dtype, self.packing.map(|(packing, _)| packing), &self.shape)
    }

    /// Gives it a value, unless it has one, and gives back the inputs that it forgets, for the caller to drop without locks.
    pub(crate) fn materialize(&self, value: Value, origin: &Arc<Origin<Node>>, keeps: bool) -> Inputs {
        let mut state = self.lock();
        if state.value.is_none() {
            state.kept = keeps;
            state.value = Some(value);
            state.origin = Some(Arc::clone(origin));
            // What waits behind it no longer does.
            self.bytes.store(self.elements() as u64 * self.dtype.bytes(), Ordering::Relaxed);
            self.recount.store(0, Ordering::Relaxed);
            self.evaluated.store(true, Ordering::Release);
        }
        if state.pins == 0 && !state.kept { std::mem::take(&mut state.inputs) } else { Inputs::new() }
    }

    /// Ends that it keeps its inputs, and gives them back as [`materialize`](Self::materialize) does.
    pub(crate) fn forget(&self) -> Inputs {
        let mut state = self.lock();
        state.kept = false;
        if state.pins == 0 && state.value.is_some() { std::mem::take(&mut state.inputs) } else { Inputs::new() }
    }

    /// Ends the need of a gradient for its inputs.
    fn unpin(&self) -> Inputs {
        let mut state = self.lock();
        state.pins = state.pins.saturating_sub(1);
        let forgets = state.pins == 0 && !state.kept && state.value.is_some();
        if forgets { std::mem::take(&mut state.inputs) } else { Inputs::new() }
    }
}

/// A dtype and a shape, as in `f32[2, 3]`.
pub(crate) fn type_text(dtype: DType, packing: Option<Packing>, shape: &[usize]) -> String {
    let element = packing.map_or(dtype.name(), Packing::name);
    if shape.is_empty() { element.to_owned() } else { format!("{element}{shape:?}") }
}

/// Drops inputs and what only they hold, one after the other: chains are as long as programs like.
pub(crate) fn drop_all(inputs: Inputs) {
    let mut left = inputs;
    while let Some(input) = left.pop() {
        let Input::Value(node) = input else { continue };
        if let Some(mut node) = Arc::into_inner(node) {
            node.empty_into(&mut left);
        }
    }
}

impl Node {
    /// Moves what it holds to a list.
    fn empty_into(&mut self, left: &mut Inputs) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        left.extend(std::mem::take(&mut state.inputs));
        for pinned in std::mem::take(&mut state.pinned) {
            if let Some(node) = pinned.upgrade() {
                left.extend(node.unpin());
                // The last handle may be this one.
                if let Some(mut node) = Arc::into_inner(node) {
                    node.empty_into(left);
                }
            }
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let mut left = Inputs::new();
        self.empty_into(&mut left);
        if !left.is_empty() {
            drop_all(left);
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.type_text(), self.op.name())
    }
}
