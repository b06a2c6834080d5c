//! Nodes of the record: an operation with its inputs, or a value.
//!
//! Recording creates nodes and changes none; it locks inputs in memory to count their writes. Evaluation gives a node
//! its value.
//!
//! # Invariant
//!
//! A node has inputs or a value. It has both only while a gradient needs its inputs (`pins`) or may need them (`kept`).

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

/// An operand, or a value read for its extents.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// A value of the record.
    Value(Arc<Node>),
    /// A number of the host: an argument of the compiled function.
    Number { dtype: DType, bits: u32 },
    /// One argument of the compiled function per identity.
    Size { identity: u32, size: usize },
}

impl Input {
    pub(crate) fn of(node: &Arc<Node>) -> Self {
        Self::Value(Arc::clone(node))
    }

    pub(crate) fn node(&self) -> Option<&Arc<Node>> {
        match self {
            Self::Value(node) => Some(node),
            Self::Number { .. } | Self::Size { .. } => None,
        }
    }
}

/// Place of a node in a graph structure: computed and held, but not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lesson {
    /// Hash of the structure and of the requested values.
    pub(crate) graph: u64,
    pub(crate) node: u32,
}

/// Up to three inputs need no allocation.
pub(crate) type Inputs = SmallVec<[Input; 3]>;

pub(crate) struct Node {
    /// Increases in the order of recording.
    pub(crate) number: u64,
    pub(crate) op: Op,
    pub(crate) dtype: DType,
    pub(crate) shape: Shape,
    /// Packing and packed axis of a quantized tensor, also after permutations.
    pub(crate) packing: Option<(Packing, u8)>,
    /// True if it depends on a gradient.
    pub(crate) has_grad: bool,
    pub(crate) is_weight: bool,
    pub(crate) device: Device,
    /// Upper bound on the pending operations behind it, itself included.
    pub(crate) pending: AtomicU32,
    /// A second bound that counts shared operations once: `counted`, and all nodes recorded after number `base`.
    pub(crate) base: AtomicU64,
    pub(crate) counted: AtomicU32,
    /// Bytes of tensors behind it; shared ones count repeatedly.
    pub(crate) bytes: AtomicU64,
    /// Pending operations at which `bytes` is recounted.
    pub(crate) recount: AtomicU32,
    pub(crate) reads: AtomicU32,
    /// Writes to each input's memory at recording; [`PENDING`] without memory.
    pub(crate) writes: SmallVec<[u64; 3]>,
    pub(crate) evaluated: AtomicBool,
    pub(crate) state: Mutex<NodeState>,
}

/// Part of a node that evaluations change.
#[derive(Default)]
pub(crate) struct NodeState {
    pub(crate) inputs: Inputs,
    pub(crate) value: Option<Value>,
    /// Gradients that need the inputs in spite of a value.
    pub(crate) pins: u32,
    /// True while the inputs stay for later gradients in spite of a value; [`Memory`](crate::cache::memory::Memory)
    /// clears it.
    pub(crate) kept: bool,
    pub(crate) pinned: Vec<Weak<Node>>,
    /// Values it was computed from, once its inputs are dropped.
    pub(crate) origin: Option<Arc<Origin<Node>>>,
    /// Place where an evaluation computed it without writing it, or wrote it unasked.
    pub(crate) lesson: Option<Lesson>,
    #[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "a page cannot make it"))]
    pub(crate) quantized: Option<Box<QuantizedWeight>>,
    pub(crate) claim: Option<Arc<Claim>>,
}

static NEXT: AtomicU64 = AtomicU64::new(1);

impl Node {
    pub(crate) fn next_number() -> u64 {
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, NodeState> {
        // Every change is one assignment, so a panic elsewhere leaves a consistent state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn elements(&self) -> usize {
        self.shape.elements().and_then(|elements| elements.try_into().ok()).unwrap_or(usize::MAX)
    }

    pub(crate) fn is_evaluated(&self) -> bool {
        self.evaluated.load(Ordering::Acquire)
    }

    /// Upper bound on the pending operations behind it; 0 once evaluated.
    pub(crate) fn waiting(&self) -> u32 {
        if self.is_evaluated() { 0 } else { self.pending.load(Ordering::Relaxed) }
    }

    /// Writes to its memory so far; [`PENDING`] without memory.
    pub(crate) fn writes_now(&self) -> u64 {
        if !self.is_evaluated() {
            return PENDING;
        }
        self.lock().value.as_ref().map_or(PENDING, |value| value.data.writes())
    }

    pub(crate) fn source(node: &Arc<Self>) -> (Weak<Self>, Option<Arc<Origin<Self>>>) {
        (Arc::downgrade(node), node.lock().origin.clone())
    }

    pub(crate) fn type_text(&self) -> String {
        type_text(self.dtype, self.packing.map(|(packing, _)| packing), &self.shape)
    }

    /// Sets the value; returns the dropped inputs, for the caller to drop without locks.
    pub(crate) fn materialize(&self, value: Value, origin: &Arc<Origin<Node>>, keeps: bool) -> Inputs {
        let mut state = self.lock();
        if state.value.is_none() {
            state.kept = keeps;
            state.value = Some(value);
            state.origin = Some(Arc::clone(origin));
            self.bytes.store(self.elements() as u64 * self.dtype.bytes(), Ordering::Relaxed);
            self.recount.store(0, Ordering::Relaxed);
            self.evaluated.store(true, Ordering::Release);
        }
        if state.pins == 0 && !state.kept { std::mem::take(&mut state.inputs) } else { Inputs::new() }
    }

    /// Ends the retention of its inputs; returns them as [`materialize`](Self::materialize).
    pub(crate) fn forget(&self) -> Inputs {
        let mut state = self.lock();
        state.kept = false;
        if state.pins == 0 && state.value.is_some() { std::mem::take(&mut state.inputs) } else { Inputs::new() }
    }

    fn unpin(&self) -> Inputs {
        let mut state = self.lock();
        state.pins = state.pins.saturating_sub(1);
        let forgets = state.pins == 0 && !state.kept && state.value.is_some();
        if forgets { std::mem::take(&mut state.inputs) } else { Inputs::new() }
    }
}

pub(crate) fn type_text(dtype: DType, packing: Option<Packing>, shape: &[usize]) -> String {
    let element = packing.map_or(dtype.name(), Packing::name);
    if shape.is_empty() { element.to_owned() } else { format!("{element}{shape:?}") }
}

/// Drops inputs, and nodes that only they hold. Iterative: recursion would overflow the stack on long chains.
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
    fn empty_into(&mut self, left: &mut Inputs) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        left.extend(std::mem::take(&mut state.inputs));
        for pinned in std::mem::take(&mut state.pinned) {
            if let Some(node) = pinned.upgrade() {
                left.extend(node.unpin());
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
