//! Values that evaluations leave behind: values that keep how they were computed, values that were computed and not written, and which of
//! those were needed again.
//!
//! An evaluation writes what is asked for. A value that is held besides stays recorded ("left"): asked for later, it is computed
//! again, once, since the second evaluation that computes it writes it. That it was needed is noted with the graph and its place
//! there ([`Lesson`]), so that the next evaluation of such a graph writes it at once; one that is written so and not needed is left
//! again the time after. Loops thus compute nothing twice from their second round on, and temporaries are never written.
//!
//! A value that was asked for keeps its inputs ("kept"), so that gradients may be asked for afterwards, unless it was computed from
//! gradients: an update ends what a step of training keeps.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
};

use fuse_runtime::{__private::is_deferred, Device};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::{
    node::{Lesson, Node, drop_all},
    trace::retained,
};

/// The most values that keep how they were computed, and the most that are left.
const MOST_VALUES: usize = 256;

/// The most operations behind values that keep how they were computed: more than the compiler takes with their gradients.
const MOST_OPERATIONS: u64 = 4096;

/// A device's budget divided by the memory that such values may keep alive.
const SHARE: u64 = 8;

/// The most graphs with lessons.
const MOST_GRAPHS: usize = 4096;

/// Values that evaluations on a device leave behind.
#[derive(Default)]
pub(crate) struct Memory {
    state: Mutex<MemoryState>,
    /// How many bytes of the device's budget it may keep alive.
    share: OnceLock<u64>,
}

#[derive(Default)]
struct MemoryState {
    kept: VecDeque<Entry>,
    left: VecDeque<Entry>,
    /// The operations behind what is kept.
    operations: u64,
    /// At most how many bytes of tensors only these values keep alive, but for what the program held when they were counted last.
    bytes: u64,
    needed: FxHashMap<u64, SmallVec<[u32; 4]>>,
}

/// A value, and what it and the others of its evaluation are computed from at most.
struct Entry {
    node: Weak<Node>,
    operations: u64,
    bytes: u64,
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, MemoryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The nodes of a graph that were needed after they had been left.
    pub(crate) fn needed(&self, graph: u64) -> SmallVec<[u32; 4]> {
        self.lock().needed.get(&graph).cloned().unwrap_or_default()
    }

    /// Notes whether values that were left, or written because of such a note, were needed.
    pub(crate) fn note(&self, lesson: Lesson, is_needed: bool) {
        let needed = &mut self.lock().needed;
        if needed.len() >= MOST_GRAPHS {
            needed.clear();
        }
        let nodes = needed.entry(lesson.graph).or_default();
        match (nodes.iter().position(|&node| node == lesson.node), is_needed) {
            (None, true) => nodes.push(lesson.node),
            (Some(position), false) => drop(nodes.swap_remove(position)),
            _ => {}
        }
    }

    /// Notes that a value was read after it had been written because of a note.
    pub(crate) fn note_read(&self, node: &Node) {
        let lesson = node.lock().lesson.take();
        if let Some(lesson) = lesson {
            self.note(lesson, true);
        }
    }

    /// Adds values of one evaluation that keep their inputs; the oldest ones forget theirs, if these are too many.
    pub(crate) fn keep<'n>(&self, nodes: impl Iterator<Item = &'n Arc<Node>>, operations: u64, bytes: u64) {
        let mut gone: SmallVec<[Entry; 4]> = SmallVec::new();
        let mut state = self.lock();
        // Of values that are dropped at once nothing stays here.
        while state.kept.front().is_some_and(Entry::is_gone) {
            state.pop_kept();
        }
        let before = state.kept.len();
        state.kept.extend(nodes.map(Entry::new));
        if state.kept.len() == before {
            return;
        }
        // Shared operations and bytes count with the last of them.
        if let Some(last) = state.kept.back_mut() {
            (last.operations, last.bytes) = (operations, bytes);
        }
        state.operations += operations;
        state.bytes += bytes;
        let newest = state.kept.len() - before;
        while state.kept.len() > MOST_VALUES || state.operations > MOST_OPERATIONS && state.kept.len() > newest {
            gone.extend(state.pop_kept());
        }
        drop(state);
        gone.iter().for_each(Entry::forget);
    }

    /// Adds values that are held, and that one evaluation computed and did not write.
    pub(crate) fn leave<'n>(&self, nodes: impl Iterator<Item = &'n Arc<Node>>, bytes: u64) {
        let mut entries = nodes.map(Entry::new).peekable();
        if entries.peek().is_none() {
            return;
        }
        let mut state = self.lock();
        while state.left.front().is_some_and(Entry::is_gone) {
            let bytes = state.left.pop_front().map_or(0, |entry| entry.bytes);
            state.bytes = state.bytes.saturating_sub(bytes);
        }
        state.left.extend(entries);
        if let Some(last) = state.left.back_mut() {
            last.bytes = bytes;
        }
        state.bytes += bytes;
    }

    /// Makes room before an evaluation. While more than `limit` bytes are kept alive, the oldest values that are kept forget their
    /// inputs, and then `evaluate` computes the oldest that are left; the latter also while they are too many. Not within a capture, which such an
    /// evaluation would become part of.
    pub(crate) fn trim(&self, device: &Device, limit: u64, evaluate: impl Fn(&Arc<Node>)) {
        let share = || device.memory_report().budget_bytes.map_or(u64::MAX, |budget| budget / SHARE);
        let most = limit.min(*self.share.get_or_init(share));
        let mut state = self.lock();
        let is_large = state.bytes > most;
        if !is_large && state.left.len() <= MOST_VALUES || is_deferred(device) {
            return;
        }
        state.left.retain(|entry| entry.node.upgrade().is_some_and(|node| !node.is_evaluated()));
        while is_large && !state.counted(most) {
            let Some(entry) = state.pop_kept() else { break };
            drop(state);
            entry.forget();
            state = self.lock();
        }
        while state.left.len() > MOST_VALUES || is_large && !state.counted(most) {
            let Some(entry) = state.left.pop_front() else { break };
            drop(state);
            if let Some(node) = entry.node.upgrade() {
                evaluate(&node);
            }
            state = self.lock();
        }
    }
}

impl MemoryState {
    fn pop_kept(&mut self) -> Option<Entry> {
        let entry = self.kept.pop_front()?;
        self.operations -= entry.operations;
        self.bytes = self.bytes.saturating_sub(entry.bytes);
        Some(entry)
    }

    /// Counts the bytes that only these values keep alive; whether they are at most so many.
    fn counted(&mut self, most: u64) -> bool {
        let is_kept = |entry: &Entry| entry.node.upgrade().is_some_and(|node| node.lock().kept);
        self.kept.retain(is_kept);
        self.operations = self.kept.iter().map(|entry| entry.operations).sum();
        let entries = || self.kept.iter().chain(&self.left);
        self.bytes = retained(&entries().filter_map(|entry| entry.node.upgrade()).collect::<Vec<_>>());
        self.kept.iter_mut().chain(&mut self.left).for_each(|entry| entry.bytes = 0);
        self.bytes <= most
    }
}

impl Entry {
    fn new(node: &Arc<Node>) -> Self {
        Self { node: Arc::downgrade(node), operations: 0, bytes: 0 }
    }

    fn is_gone(&self) -> bool {
        self.node.strong_count() == 0
    }

    fn forget(&self) {
        if let Some(node) = self.node.upgrade() {
            drop_all(node.forget());
        }
    }
}
