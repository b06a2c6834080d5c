//! The device whose launches this thread collects for WebNN.

use std::cell::Cell;

use crate::context::Context;

thread_local! {
    /// Address of its context, which outlives the collection; 0 for none.
    static OPEN: Cell<usize> = const { Cell::new(0) };
}

pub(crate) fn is_open(context: &Context) -> bool {
    OPEN.get() == address(context)
}

pub(super) fn collect(context: Option<&Context>) {
    OPEN.set(context.map_or(0, address));
}

fn address(context: &Context) -> usize {
    std::ptr::from_ref(context).addr()
}
