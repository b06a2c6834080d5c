//! From values to what must run: the pending nodes behind them in order, the tensors that these read, and what is written.
//!
//! A trace is rebuilt at every evaluation and keeps its memory, so that it allocates nothing once it has been large enough.

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use fuse_artifact::{DType, Packing};
use fuse_runtime::__private::Arg;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;

use crate::{
    error::Error,
    node::{
        Input, Inputs, Lesson, Node,
        value::{Data, Value},
    },
    op::Op,
};

/// An input of a node of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ref {
    /// The node with this index.
    Node(u32),
    /// The number of the host with this index.
    Number(u32),
    /// The size of the host with this index.
    Size(u32),
}

/// What an evaluation runs.
#[derive(Default)]
pub(crate) struct Trace {
    /// Every node behind its inputs.
    pub(crate) nodes: Vec<Arc<Node>>,
    /// The inputs of all nodes, one after the other.
    refs: Vec<Ref>,
    /// Where the inputs of each node end in `refs`.
    ends: Vec<u32>,
    /// The nodes that are tensors, and their values.
    pub(crate) leaves: Vec<(u32, Value)>,
    /// The numbers of the host.
    pub(crate) numbers: Vec<(DType, u32)>,
    /// The sizes of the host.
    pub(crate) sizes: Vec<u32>,
    /// The nodes to write: those asked for, then those that somebody holds and that were or will be needed again.
    pub(crate) outputs: Vec<u32>,
    /// How many of them are asked for.
    pub(crate) asked: usize,
    /// The nodes that somebody holds, directly or by what waits elsewhere, and that are not written.
    pub(crate) left: Vec<u32>,
    /// The hash of its structure and of what is asked for, if somebody holds more.
    pub(crate) graph: u64,
    /// The nodes that an earlier evaluation left, or wrote although nobody had asked for them, and where.
    pub(crate) lessons: Vec<(u32, Lesson)>,
    /// The lessons of those of them that are needed here.
    pub(crate) needed: Vec<Lesson>,
    /// The nodes that gradients need to be computed here, whatever is in memory.
    pinned: Vec<u32>,
    /// How many inputs each node is.
    uses: Vec<u32>,
    /// Bytes of values that nobody but the record holds.
    pub(crate) own: Vec<(u32, u64)>,
    /// What tells it from traces that compile to another function, but for sizes that are symbols.
    pub(crate) key: Vec<u64>,
    /// The extents of all leaves, one after the other, and the sizes of the host: the values of the function's symbols.
    pub(crate) extents: Vec<u64>,
    /// For each node, the checkpoint that it is computed again with, if it is in one; empty if there are none.
    pub(crate) owners: Vec<Option<u32>>,
    places: FxHashMap<*const Node, u32>,
    /// Where the sizes with these identities are in `sizes`.
    size_places: FxHashMap<u32, u32>,
    stack: Vec<Frame>,
    marks: Vec<Mark>,
}

/// A node on the way to it.
struct Frame {
    node: Arc<Node>,
    inputs: Inputs,
    next: usize,
    lesson: Option<Lesson>,
    is_pinned: bool,
    /// The bytes of its value, if it is in memory all the same and nobody else holds them.
    bytes: u64,
}

/// The fate of a node that an evaluation computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// Nobody needs it afterwards, as far as is known.
    Free,
    /// Something that is recorded afterwards needs it.
    Stays,
    /// It is asked for.
    Asked,
}

/// Which nodes in memory are computed here all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expand {
    Nothing,
    /// Those that a gradient needs.
    Pinned,
    /// All that know how.
    Kept,
}

impl Trace {
    /// Forgets everything but its memory.
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.refs.clear();
        self.ends.clear();
        self.leaves.clear();
        self.numbers.clear();
        self.sizes.clear();
        self.outputs.clear();
        self.asked = 0;
        self.left.clear();
        self.graph = 0;
        self.lessons.clear();
        self.needed.clear();
        self.pinned.clear();
        self.uses.clear();
        self.own.clear();
        self.key.clear();
        self.extents.clear();
        self.owners.clear();
        self.places.clear();
        self.size_places.clear();
        self.stack.clear();
        self.marks.clear();
    }

    /// The inputs of a node.
    pub(crate) fn inputs(&self, node: usize) -> &[Ref] {
        &self.refs[self.start(node)..self.ends[node] as usize]
    }

    fn start(&self, node: usize) -> usize {
        if node == 0 { 0 } else { self.ends[node - 1] as usize }
    }

    /// What its function is launched with.
    pub(crate) fn args(&self) -> SmallVec<[Arg<'_>; 16]> {
        let tensors = self.leaves.iter().map(|(_, value)| value.data.arg());
        let sizes = self.sizes.iter().map(|&bits| Arg::Scalar { dtype: DType::U32, bits });
        tensors.chain(self.numbers.iter().map(|&(dtype, bits)| Arg::Scalar { dtype, bits })).chain(sizes).collect()
    }

    /// For each node, which nodes read it, and as which input.
    pub(crate) fn readers(&self) -> Vec<Vec<(usize, usize)>> {
        let mut readers = vec![vec![]; self.nodes.len()];
        for node in 0..self.nodes.len() {
            for (position, input) in self.inputs(node).iter().enumerate() {
                if let Ref::Node(input) = *input {
                    readers[input as usize].push((node, position));
                }
            }
        }
        readers
    }

    /// How many operations it has.
    pub(crate) fn operations(&self) -> usize {
        self.nodes.len() - self.leaves.len()
    }

    /// Whether a node is a tensor.
    pub(crate) fn is_leaf(&self, node: usize) -> bool {
        self.leaves.binary_search_by_key(&(node as u32), |(leaf, _)| *leaf).is_ok()
    }

    /// How the values of a tensor are packed, if they are.
    pub(crate) fn packing(&self, node: usize) -> Option<Packing> {
        let position = self.leaves.binary_search_by_key(&(node as u32), |(leaf, _)| *leaf).ok()?;
        match &self.leaves[position].1.data {
            Data::Quantized(tensor) => Some(tensor.packing()),
            Data::Tensor(_) => None,
        }
    }

    /// Whether a node is a quantized tensor, or one whose axes are in another order.
    pub(crate) fn is_quantized(&self, node: usize) -> bool {
        let moved = || match (&self.nodes[node].op, self.inputs(node)) {
            (Op::Transpose | Op::Permute(_), [Ref::Node(of)]) => self.is_quantized(*of as usize),
            _ => false,
        };
        self.packing(node).is_some() || moved()
    }

    /// Collects what is behind some values, and decides what is written. `needed` has the nodes of a graph that were needed after
    /// they had been left.
    ///
    /// # Errors
    /// [`Error::Written`] if a tensor was written to since.
    pub(crate) fn collect(
        &mut self,
        roots: &[&Arc<Node>],
        needed: impl FnOnce(u64) -> SmallVec<[u32; 4]>,
    ) -> Result<(), Error> {
        // Gradients need how a value was computed, even where it is in memory.
        let expands = roots.iter().any(|root| root.has_grad);
        self.walk(roots, if expands { Expand::Pinned } else { Expand::Nothing });
        for root in roots {
            let index = self.places[&Arc::as_ptr(root)];
            if !self.outputs.contains(&index) {
                self.outputs.push(index);
            }
        }
        self.asked = self.outputs.len();
        self.extents.extend(self.sizes.iter().map(|&size| u64::from(size)));
        self.check_writes()?;
        self.find_needed();
        self.add_held(needed);
        self.key.push(u64::MAX - 1);
        self.key.extend(self.outputs.iter().map(|&output| u64::from(output)));
        if self.nodes.iter().any(|node| matches!(node.op, Op::Checkpoint(..))) {
            self.find_owners();
        }
        Ok(())
    }

    /// Finds the nodes behind some values.
    fn walk(&mut self, roots: &[&Arc<Node>], expand: Expand) {
        self.clear();
        for root in roots {
            self.visit(root, expand);
        }
    }

    fn visit(&mut self, root: &Arc<Node>, expand: Expand) {
        if !self.places.contains_key(&Arc::as_ptr(root)) {
            self.enter(Arc::clone(root), expand);
        }
        while let Some(frame) = self.stack.last_mut() {
            let Some(input) = frame.inputs.get(frame.next) else {
                if let Some(frame) = self.stack.pop() {
                    self.leave(frame);
                }
                continue;
            };
            frame.next += 1;
            let Input::Value(node) = input else { continue };
            if !self.places.contains_key(&Arc::as_ptr(node)) {
                let node = Arc::clone(node);
                self.enter(node, expand);
            }
        }
    }

    fn enter(&mut self, node: Arc<Node>, expand: Expand) {
        let state = node.lock();
        let is_expanded = match expand {
            Expand::Nothing => false,
            Expand::Pinned => state.pins > 0,
            Expand::Kept => true,
        };
        let lesson = state.lesson;
        if let Some(value) = state.value.as_ref().filter(|_| !is_expanded || state.inputs.is_empty()) {
            let index = self.nodes.len() as u32;
            self.own.push((index, value.data.own_bytes()));
            self.leaves.push((index, value.clone()));
            drop(state);
            self.lessons.extend(lesson.map(|lesson| (index, lesson)));
            self.extents.extend(node.shape.iter().map(|&extent| extent as u64));
            self.key.extend([
                u64::MAX,
                node.dtype as u64 | (node.shape.len() as u64) << 8 | ones(&node.shape) << 16,
                node.packing.map_or(0, |(packing, axis)| 1 + packing as u64 + (u64::from(axis) << 8)),
            ]);
            self.push(node);
            return;
        }
        let inputs = state.inputs.clone();
        let is_pinned = state.pins > 0;
        let bytes = state.value.as_ref().map_or(0, |value| value.data.own_bytes());
        drop(state);
        self.stack.push(Frame { node, inputs, next: 0, lesson, is_pinned, bytes });
    }

    fn push(&mut self, node: Arc<Node>) {
        self.places.insert(Arc::as_ptr(&node), self.nodes.len() as u32);
        self.nodes.push(node);
        self.ends.push(self.refs.len() as u32);
        self.uses.push(0);
    }

    fn leave(&mut self, Frame { node, inputs, lesson, is_pinned, bytes, .. }: Frame) {
        let index = self.nodes.len() as u32;
        if bytes > 0 {
            self.own.push((index, bytes));
        }
        self.lessons.extend(lesson.map(|lesson| (index, lesson)));
        if is_pinned {
            self.pinned.push(index);
        }
        node.op.key(&mut self.key);
        self.key.push(node.dtype as u64 | (inputs.len() as u64) << 8);
        for input in &inputs {
            match input {
                Input::Value(node) => {
                    let Some(index) = self.places.get(&Arc::as_ptr(node)) else { continue };
                    self.uses[*index as usize] += 1;
                    self.refs.push(Ref::Node(*index));
                    self.key.push(u64::from(*index) << 1);
                }
                Input::Number { dtype, bits } => {
                    self.refs.push(Ref::Number(self.numbers.len() as u32));
                    self.numbers.push((*dtype, *bits));
                    self.key.push((*dtype as u64) << 1 | 1);
                }
                Input::Size { identity, size } => {
                    let next = self.sizes.len() as u32;
                    let index = *self.size_places.entry(*identity).or_insert(next);
                    if index == next {
                        self.sizes.push(*size as u32);
                    }
                    self.refs.push(Ref::Size(index));
                    // No dtype has this number.
                    self.key.push(u64::from(index) << 8 | 0xff);
                }
            }
        }
        self.push(node);
    }

    /// Checks that no tensor was written to after an operation that reads it was recorded.
    fn check_writes(&self) -> Result<(), Error> {
        // Most tensors are never written to.
        if self.leaves.iter().all(|(_, value)| value.data.writes() == 0) {
            return Ok(());
        }
        for (index, node) in self.nodes.iter().enumerate() {
            let inputs = self.inputs(index);
            // An operation that reads only the extents of a tensor does not see its values.
            let operands = inputs.iter().zip(&node.writes).take(node.op.operands(inputs.len()));
            for (input, &recorded) in operands {
                let Ref::Node(leaf) = *input else { continue };
                let Ok(position) = self.leaves.binary_search_by_key(&leaf, |(leaf, _)| *leaf) else { continue };
                if self.leaves[position].1.changed_since(recorded) {
                    return Err(Error::Written {
                        tensor: format!("a tensor of `{}`", self.nodes[leaf as usize].type_text()),
                        operation: node.op.name(),
                    });
                }
            }
        }
        Ok(())
    }

    /// Bytes of values that nobody but its nodes keeps alive, and `roots`, which have a handle more.
    fn own_bytes(&self, roots: &[Arc<Node>]) -> u64 {
        let roots: FxHashSet<u32> = roots.iter().map(|root| self.places[&Arc::as_ptr(root)]).collect();
        let is_own = |node: u32| self.held(node as usize) == usize::from(roots.contains(&node));
        self.own.iter().filter(|(node, _)| is_own(*node)).map(|(_, bytes)| bytes).sum()
    }

    /// How many handles of a node there are besides those of the trace itself and of its nodes.
    pub(crate) fn held(&self, index: usize) -> usize {
        Arc::strong_count(&self.nodes[index]).saturating_sub(1 + self.uses[index] as usize)
    }

    /// Adds values that somebody holds to what is written, where they are computed a second time, or were needed when such a graph was
    /// evaluated before; the others are left.
    fn add_held(&mut self, needed: impl FnOnce(u64) -> SmallVec<[u32; 4]>) {
        self.marks.resize(self.nodes.len(), Mark::Free);
        self.outputs.iter().for_each(|&output| self.marks[output as usize] = Mark::Asked);
        let is_more =
            |index: usize| self.marks[index] == Mark::Free && !self.nodes[index].is_evaluated() && self.held(index) > 0;
        if !(0..self.nodes.len()).any(is_more) {
            return;
        }
        let mut hasher = FxHasher::default();
        (&self.key, &self.outputs).hash(&mut hasher);
        self.graph = hasher.finish();
        let mut needed = needed(self.graph);
        needed.extend(self.needed.iter().filter(|lesson| lesson.graph == self.graph).map(|lesson| lesson.node));
        // Readers come behind what they read.
        for index in (0..self.nodes.len()).rev() {
            let node = &self.nodes[index];
            let stays = self.marks[index] == Mark::Stays || self.marks[index] == Mark::Free && self.held(index) > 0;
            if !stays || node.is_evaluated() {
                continue;
            }
            if !matches!(node.op, Op::Grad { .. }) {
                if self.is_again(index as u32) || needed.contains(&(index as u32)) {
                    self.outputs.push(index as u32);
                    continue;
                }
                self.left.push(index as u32);
            }
            for at in self.start(index)..self.ends[index] as usize {
                if let Ref::Node(input) = self.refs[at]
                    && self.marks[input as usize] == Mark::Free
                {
                    self.marks[input as usize] = Mark::Stays;
                }
            }
        }
        self.outputs[self.asked..].reverse();
    }

    /// Whether a node was computed before, is computed again, and could have been read instead.
    fn is_again(&self, node: u32) -> bool {
        self.lessons.binary_search_by_key(&node, |(left, _)| *left).is_ok() && self.pinned.binary_search(&node).is_err()
    }

    /// Finds the lessons of values that are needed here after an earlier evaluation left them, or wrote them without being asked. Of
    /// a value that is computed again for others that were left as well, there is nothing to learn.
    fn find_needed(&mut self) {
        if self.lessons.is_empty() {
            return;
        }
        let is_new = |node: usize| self.lessons.binary_search_by_key(&(node as u32), |(left, _)| *left).is_err();
        let new = (0..self.nodes.len()).filter(|&node| is_new(node));
        let read = new.flat_map(|node| self.inputs(node)).filter_map(|input| match input {
            Ref::Node(input) => Some(*input),
            Ref::Number(_) | Ref::Size(_) => None,
        });
        let read: FxHashSet<u32> = self.outputs.iter().copied().chain(read).collect();
        let is_needed = |node: u32| self.is_leaf(node as usize) || self.is_again(node) && read.contains(&node);
        self.needed = self.lessons.iter().filter(|(node, _)| is_needed(*node)).map(|(_, lesson)| *lesson).collect();
    }

    /// Finds what is within checkpoints: what was recorded there and nothing outside reads. Of one in another, the inner one.
    fn find_owners(&mut self) {
        self.owners = vec![None; self.nodes.len()];
        let readers = self.readers();
        // Outer ones come behind inner ones, which they must not take from.
        for checkpoint in 0..self.nodes.len() {
            let Op::Checkpoint(from, to) = self.nodes[checkpoint].op else { continue };
            let mut within = vec![false; self.nodes.len()];
            within[checkpoint] = true;
            // Readers come behind what they read.
            for index in (0..checkpoint).rev() {
                let recorded = (from..to).contains(&self.nodes[index].number) && !self.is_leaf(index);
                let is_output = self.outputs.contains(&(index as u32));
                within[index] = recorded
                    && !is_output
                    && !readers[index].is_empty()
                    && readers[index].iter().all(|&(reader, _)| within[reader]);
                if within[index] && self.owners[index].is_none() {
                    self.owners[index] = Some(checkpoint as u32);
                }
            }
        }
        self.key.extend(self.owners.iter().map(|owner| owner.map_or(u64::MAX, u64::from)));
    }

    /// The checkpoint that a node is computed again with.
    pub(crate) fn owner(&self, node: usize) -> Option<usize> {
        self.owners.get(node).copied().flatten().map(|owner| owner as usize)
    }

    /// The nodes that gradients may be with respect to afterwards: tensors, and what somebody holds.
    pub(crate) fn sources(&self) -> impl Iterator<Item = u32> + '_ {
        let is_source = |node: &u32| self.is_leaf(*node as usize) || self.held(*node as usize) > 0;
        (0..self.nodes.len() as u32).filter(is_source)
    }

    /// For each output, which of some nodes it depends on, a bit each.
    pub(crate) fn dependencies(&self, sources: &[u32]) -> Vec<SmallVec<[u64; 1]>> {
        let words = sources.len().div_ceil(64).max(1);
        let mut sets: Vec<SmallVec<[u64; 1]>> = Vec::with_capacity(self.nodes.len());
        for index in 0..self.nodes.len() {
            let mut set = SmallVec::from_elem(0, words);
            for input in self.inputs(index) {
                if let Ref::Node(input) = *input {
                    let from: &SmallVec<[u64; 1]> = &sets[input as usize];
                    set.iter_mut().zip(from).for_each(|(word, other)| *word |= other);
                    if let Ok(source) = sources.binary_search(&input) {
                        set[source / 64] |= 1 << (source % 64);
                    }
                }
            }
            sets.push(set);
        }
        self.outputs.iter().map(|&output| sets[output as usize].clone()).collect()
    }
}

/// The axes of extent 1, a bit each.
fn ones(shape: &[usize]) -> u64 {
    shape.iter().enumerate().fold(0, |bits, (axis, &extent)| bits | u64::from(extent == 1) << axis)
}

/// How many operations wait behind a node, itself among them, and how many bytes of tensors only they keep alive.
pub(crate) fn behind(node: &Arc<Node>) -> (u32, u64) {
    let mut trace = Trace::default();
    trace.walk(&[node], Expand::Nothing);
    (trace.operations() as u32, trace.own_bytes(&[]))
}

/// The bytes of tensors that only some values keep alive, by what they were computed from.
pub(crate) fn retained(values: &[Arc<Node>]) -> u64 {
    let mut trace = Trace::default();
    trace.walk(&values.iter().collect::<Vec<_>>(), Expand::Kept);
    trace.own_bytes(values)
}

/// The pending values among some that others hold, or nobody reads: these, evaluated together, leave nothing pending.
pub(crate) fn held(values: &[Arc<Node>]) -> Vec<&Arc<Node>> {
    let mut uses: FxHashMap<*const Node, usize> = FxHashMap::default();
    for value in values {
        for input in &value.lock().inputs {
            if let Input::Value(node) = input {
                *uses.entry(Arc::as_ptr(node)).or_default() += 1;
            }
        }
    }
    let is_held = |node: &&Arc<Node>| {
        // One handle is that of the list.
        Arc::strong_count(node) > 1 + uses.get(&Arc::as_ptr(node)).copied().unwrap_or(0)
    };
    values.iter().filter(is_held).collect()
}
