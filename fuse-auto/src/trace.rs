//! Traces: the pending nodes behind some values in topological order, their leaves, and the nodes to write.
//!
//! Evaluations reuse the buffers of earlier traces, so a large enough one allocates nothing.

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ref {
    Node(u32),
    Number(u32),
    Size(u32),
}

#[derive(Default)]
pub(crate) struct Trace {
    pub(crate) nodes: Vec<Arc<Node>>,
    refs: Vec<Ref>,
    /// End of each node's inputs in `refs`.
    ends: Vec<u32>,
    pub(crate) leaves: Vec<(u32, Value)>,
    pub(crate) numbers: Vec<(DType, u32)>,
    pub(crate) sizes: Vec<u32>,
    /// Nodes to write: the requested ones, then held ones that are or were needed again.
    pub(crate) outputs: Vec<u32>,
    pub(crate) asked: usize,
    /// Nodes held, directly or by pending operations elsewhere, and not written.
    pub(crate) left: Vec<u32>,
    /// Hash of the structure and of the requested outputs, if other nodes are held.
    pub(crate) graph: u64,
    /// Nodes that an earlier evaluation left or wrote unasked, with the places.
    pub(crate) lessons: Vec<(u32, Lesson)>,
    /// Lessons of those nodes that this trace needs.
    pub(crate) needed: Vec<Lesson>,
    /// Nodes that gradients must recompute, even if they are in memory.
    pinned: Vec<u32>,
    uses: Vec<u32>,
    /// Bytes of values that only the record holds.
    pub(crate) own: Vec<(u32, u64)>,
    /// Identifies the compiled function, up to symbolic sizes.
    pub(crate) key: Vec<u64>,
    /// Values of the function's symbols: extents of all leaves, then sizes of the host.
    pub(crate) extents: Vec<u64>,
    /// Checkpoint around each node; empty without checkpoints.
    pub(crate) owners: Vec<Option<u32>>,
    places: FxHashMap<*const Node, u32>,
    size_places: FxHashMap<u32, u32>,
    stack: Vec<Frame>,
    marks: Vec<Mark>,
}

struct Frame {
    node: Arc<Node>,
    inputs: Inputs,
    next: usize,
    lesson: Option<Lesson>,
    is_pinned: bool,
    /// Bytes of its value if in memory and held only by the record.
    bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Free,
    /// An operation recorded later needs it.
    Stays,
    Asked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expand {
    Nothing,
    Pinned,
    Kept,
}

impl Trace {
    /// Keeps its buffers.
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

    pub(crate) fn inputs(&self, node: usize) -> &[Ref] {
        &self.refs[self.start(node)..self.ends[node] as usize]
    }

    fn start(&self, node: usize) -> usize {
        if node == 0 { 0 } else { self.ends[node - 1] as usize }
    }

    pub(crate) fn args(&self) -> SmallVec<[Arg<'_>; 16]> {
        let tensors = self.leaves.iter().map(|(_, value)| value.data.arg());
        let sizes = self.sizes.iter().map(|&bits| Arg::Scalar { dtype: DType::U32, bits });
        tensors.chain(self.numbers.iter().map(|&(dtype, bits)| Arg::Scalar { dtype, bits })).chain(sizes).collect()
    }

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

    pub(crate) fn operations(&self) -> usize {
        self.nodes.len() - self.leaves.len()
    }

    pub(crate) fn is_leaf(&self, node: usize) -> bool {
        self.leaves.binary_search_by_key(&(node as u32), |(leaf, _)| *leaf).is_ok()
    }

    pub(crate) fn packing(&self, node: usize) -> Option<Packing> {
        let position = self.leaves.binary_search_by_key(&(node as u32), |(leaf, _)| *leaf).ok()?;
        match &self.leaves[position].1.data {
            Data::Quantized(tensor) => Some(tensor.packing()),
            Data::Tensor(_) => None,
        }
    }

    /// True also with permuted axes.
    pub(crate) fn is_quantized(&self, node: usize) -> bool {
        let moved = || match (&self.nodes[node].op, self.inputs(node)) {
            (Op::Transpose | Op::Permute(_), [Ref::Node(of)]) => self.is_quantized(*of as usize),
            _ => false,
        };
        self.packing(node).is_some() || moved()
    }

    /// Collects the nodes behind `roots` and decides which to write. `needed` returns the nodes of a graph that were
    /// needed after an evaluation left them.
    ///
    /// # Errors
    /// [`Error::Written`] if a tensor was written to after an operation read it.
    pub(crate) fn collect(
        &mut self,
        roots: &[&Arc<Node>],
        needed: impl FnOnce(u64) -> SmallVec<[u32; 4]>,
    ) -> Result<(), Error> {
        // Gradients need the inputs of values, even of those in memory.
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
                    // Distinct from every dtype.
                    self.key.push(u64::from(index) << 8 | 0xff);
                }
            }
        }
        self.push(node);
    }

    fn check_writes(&self) -> Result<(), Error> {
        if self.leaves.iter().all(|(_, value)| value.data.writes() == 0) {
            return Ok(());
        }
        for (index, node) in self.nodes.iter().enumerate() {
            let inputs = self.inputs(index);
            // Reading only extents does not depend on the values.
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

    /// Bytes that only the trace's nodes keep alive; `roots` have one handle more each.
    fn own_bytes(&self, roots: &[Arc<Node>]) -> u64 {
        let roots: FxHashSet<u32> = roots.iter().map(|root| self.places[&Arc::as_ptr(root)]).collect();
        let is_own = |node: u32| self.held(node as usize) == usize::from(roots.contains(&node));
        self.own.iter().filter(|(node, _)| is_own(*node)).map(|(_, bytes)| bytes).sum()
    }

    /// Handles besides those of the trace and its nodes.
    pub(crate) fn held(&self, index: usize) -> usize {
        Arc::strong_count(&self.nodes[index]).saturating_sub(1 + self.uses[index] as usize)
    }

    /// Writes held values that are recomputed, or were needed after an earlier evaluation of such a graph. Others are
    /// left.
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
        // Readers follow what they read.
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

    fn is_again(&self, node: u32) -> bool {
        self.lessons.binary_search_by_key(&node, |(left, _)| *left).is_ok() && self.pinned.binary_search(&node).is_err()
    }

    /// Finds lessons of values that are needed here after an evaluation left them or wrote them unasked. A value
    /// recomputed only for other left values teaches nothing.
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

    /// Assigns nodes to the innermost checkpoint that recorded them, unless read outside.
    fn find_owners(&mut self) {
        self.owners = vec![None; self.nodes.len()];
        let readers = self.readers();
        // Inner checkpoints come first and keep their nodes.
        for checkpoint in 0..self.nodes.len() {
            let Op::Checkpoint(from, to) = self.nodes[checkpoint].op else { continue };
            let mut within = vec![false; self.nodes.len()];
            within[checkpoint] = true;
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

    pub(crate) fn owner(&self, node: usize) -> Option<usize> {
        self.owners.get(node).copied().flatten().map(|owner| owner as usize)
    }

    /// Nodes that a later gradient may be taken with respect to: tensors and held values.
    pub(crate) fn sources(&self) -> impl Iterator<Item = u32> + '_ {
        let is_source = |node: &u32| self.is_leaf(*node as usize) || self.held(*node as usize) > 0;
        (0..self.nodes.len() as u32).filter(is_source)
    }

    /// For each output, a bit set of the `sources` it depends on.
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

fn ones(shape: &[usize]) -> u64 {
    shape.iter().enumerate().fold(0, |bits, (axis, &extent)| bits | u64::from(extent == 1) << axis)
}

/// Pending operations behind a node, itself included, and bytes of tensors that only they keep alive.
pub(crate) fn behind(node: &Arc<Node>) -> (u32, u64) {
    let mut trace = Trace::default();
    trace.walk(&[node], Expand::Nothing);
    (trace.operations() as u32, trace.own_bytes(&[]))
}

pub(crate) fn retained(values: &[Arc<Node>]) -> u64 {
    let mut trace = Trace::default();
    trace.walk(&values.iter().collect::<Vec<_>>(), Expand::Kept);
    trace.own_bytes(values)
}

/// Values that others hold or that none of the values reads. Evaluating them together leaves none pending.
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
        // One handle belongs to the list.
        Arc::strong_count(node) > 1 + uses.get(&Arc::as_ptr(node)).copied().unwrap_or(0)
    };
    values.iter().filter(is_held).collect()
}
