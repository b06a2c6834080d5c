//! Provenance of evaluated values whose inputs were dropped, so that gradients miss no path through them.
//!
//! An origin lists the values that an evaluation read and shares their origins, so its cost does not grow with the
//! history.

use std::{
    ptr,
    sync::{Arc, Weak},
};

use rustc_hash::FxHashSet;

type Source<N> = (Weak<N>, Option<Arc<Origin<N>>>);

#[derive(Debug)]
pub(crate) struct Origin<N> {
    read: Vec<Source<N>>,
    /// Length of the longest chain of origins behind it.
    depth: u32,
}

/// Depth at which an origin is flattened, without dead values. Bounds the history of endless loops and the recursion of
/// drops.
const MOST_DEPTH: u32 = 256;

impl<N> Origin<N> {
    pub(crate) fn of(read: impl Iterator<Item = Source<N>>) -> Arc<Self> {
        let mut origin = Self { read: read.collect(), depth: 0 };
        let depths = origin.read.iter().filter_map(|(_, earlier)| Some(earlier.as_ref()?.depth + 1));
        origin.depth = depths.max().unwrap_or(0);
        if origin.depth >= MOST_DEPTH {
            origin = origin.flat();
        }
        Arc::new(origin)
    }

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

    /// Stops when `see` returns false.
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

    pub(crate) fn first_of<'n>(&self, values: &[&'n Arc<N>]) -> Option<&'n Arc<N>> {
        let mut found = None;
        self.visit(|node| {
            found = values.iter().copied().find(|value| ptr::eq(Arc::as_ptr(value), node.as_ptr()));
            found.is_none()
        });
        found
    }
}
