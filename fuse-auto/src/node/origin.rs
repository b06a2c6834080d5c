//! Origins: from which tensors an evaluated value was computed, after it has forgotten how.
//!
//! A gradient that reaches such a value must not miss a path through it. An origin names the values that an evaluation read, and
//! shares the origins of these, so that keeping a result costs as much as it reads, whatever was kept before.

use std::{
    ptr,
    sync::{Arc, Weak},
};

use rustc_hash::FxHashSet;

/// A value that an evaluation read, with its own origin.
type Source<N> = (Weak<N>, Option<Arc<Origin<N>>>);

/// The values that an evaluation read, each with its own origin.
#[derive(Debug)]
pub(crate) struct Origin<N> {
    read: Vec<Source<N>>,
    /// The length of the longest chain of origins behind it.
    depth: u32,
}

/// The depth at which values that are gone are left out: a loop that computes its state forever keeps no chain of all its steps, and
/// dropping an origin is no deep recursion.
const MOST_DEPTH: u32 = 256;

impl<N> Origin<N> {
    /// The origin of what is computed from these values.
    pub(crate) fn of(read: impl Iterator<Item = Source<N>>) -> Arc<Self> {
        let mut origin = Self { read: read.collect(), depth: 0 };
        let depths = origin.read.iter().filter_map(|(_, earlier)| Some(earlier.as_ref()?.depth + 1));
        origin.depth = depths.max().unwrap_or(0);
        if origin.depth >= MOST_DEPTH {
            origin = origin.flat();
        }
        Arc::new(origin)
    }

    /// The values that still exist, in one list.
    fn flat(&self) -> Self {
        let mut read = vec![];
        let mut seen = FxHashSet::default();
        self.visit(|node| {
            if node.strong_count() > 0 && seen.insert(node.as_ptr()) {
                read.push((node.clone(), None));
            }
            true
        });
        Self { read, depth: 0 }
    }

    /// Shows all values to `see`, until it says that this is enough.
    fn visit(&self, mut see: impl FnMut(&Weak<N>) -> bool) {
        let mut seen: FxHashSet<*const Self> = FxHashSet::default();
        let mut left = vec![self];
        while let Some(origin) = left.pop() {
            for (node, earlier) in &origin.read {
                if !see(node) {
                    return;
                }
                left.extend(earlier.as_deref().filter(|earlier| seen.insert(ptr::from_ref(*earlier))));
            }
        }
    }

    /// The first of some values that is among those that it names.
    pub(crate) fn first_of<'n>(&self, values: &[&'n Arc<N>]) -> Option<&'n Arc<N>> {
        let mut found = None;
        self.visit(|node| {
            found = values.iter().copied().find(|value| ptr::eq(Arc::as_ptr(value), node.as_ptr()));
            found.is_none()
        });
        found
    }
}
