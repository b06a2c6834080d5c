//! Values that evaluations leave behind: values that keep their inputs, and values computed but not written.
//!
//! An evaluation writes the requested values; other held values stay recorded ("left"). A left value that is requested
//! later is recomputed once: the second evaluation that computes it writes it. A [`Lesson`] notes this place in the
//! graph, so the next evaluation of such a graph writes the value at once. If nobody reads it then, the next evaluation
//! leaves it again. Loops therefore recompute nothing from their second round on, and temporaries are never written.
//!
//! A requested value keeps its inputs for later gradients, unless it was computed from gradients.

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

/// Maximum number of values that keep inputs, and of left values.
const MOST_VALUES: usize = 256;

/// Maximum number of operations behind them: more than the compiler accepts with their gradients.
const MOST_OPERATIONS: u64 = 4096;

/// Divisor of the device's memory budget for them.
const SHARE: u64 = 8;

const MOST_GRAPHS: usize = 4096;

#[derive(Default)]
pub(crate) struct Memory {
    state: Mutex<MemoryState>,
    share: OnceLock<u64>,
}

#[derive(Default)]
struct MemoryState {
    kept: VecDeque<Entry>,
    left: VecDeque<Entry>,
    operations: u64,
    /// Upper bound on the bytes that only these values keep alive, without tensors that the program held at the last
    /// count.
    bytes: u64,
    needed: FxHashMap<u64, SmallVec<[u32; 4]>>,
}

/// A value; the newest of an evaluation carries the operations and bytes of all.
struct Entry {
    node: Weak<Node>,
    operations: u64,
    bytes: u64,
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, MemoryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn needed(&self, graph: u64) -> SmallVec<[u32; 4]> {
        self.lock().needed.get(&graph).cloned().unwrap_or_default()
    }

    /// Notes if a value that was left, or written because of a note, was needed.
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

    pub(crate) fn note_read(&self, node: &Node) {
        let lesson = node.lock().lesson.take();
        if let Some(lesson) = lesson {
            self.note(lesson, true);
        }
    }

    /// Adds values that keep their inputs. If there are too many, the oldest drop theirs.
    pub(crate) fn keep<'n>(&self, nodes: impl Iterator<Item = &'n Arc<Node>>, operations: u64, bytes: u64) {
        let mut gone: SmallVec<[Entry; 4]> = SmallVec::new();
        let mut state = self.lock();
        // Values that were dropped at once leave nothing here.
        while state.kept.front().is_some_and(Entry::is_gone) {
            state.pop_kept();
        }
        let before = state.kept.len();
        state.kept.extend(nodes.map(Entry::new));
        if state.kept.len() == before {
            return;
        }
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

    /// Makes room before an evaluation.
    ///
    /// While more than `limit` bytes are kept alive, the oldest kept values drop their inputs; then `evaluate` computes
    /// the oldest left values, also while there are too many. Does nothing within a capture, which would record this.
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

    /// True if at most `most` bytes are kept alive by these values only.
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
