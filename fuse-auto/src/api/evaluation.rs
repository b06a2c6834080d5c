//! Evaluation of several values, and of everything a thread recorded.

use std::{
    cell::RefCell,
    sync::{Arc, Weak},
};

use fuse_runtime::Device;
use smallvec::SmallVec;

use crate::{
    api::lazy::LazyTensor,
    error::Error,
    eval::{Keep, evaluate},
    node::Node,
    trace::held,
};

pub(crate) fn nodes_of<'v>(values: &[&'v LazyTensor]) -> Result<SmallVec<[&'v Arc<Node>; 4]>, Error> {
    let mut nodes: SmallVec<[&Arc<Node>; 4]> = SmallVec::new();
    for value in values {
        let node = value.node()?;
        if nodes.first().is_some_and(|first| !first.device.is(&node.device)) {
            let message = "the values are on different devices";
            return Err(Error::operation("eval_all", message, "evaluate those of each device together"));
        }
        nodes.push(node);
    }
    Ok(nodes)
}

/// Computes several values in one function.
///
/// # Errors
/// As [`LazyTensor::eval`]; [`Error::Operation`] if they are on different devices.
pub fn eval_all(values: &[&LazyTensor]) -> Result<(), Error> {
    evaluate(&nodes_of(values)?, Keep::Forward)
}

/// Evaluates the pending values on a device that this thread recorded and that are still held.
///
/// # Errors
/// As [`LazyTensor::eval`].
pub fn flush(device: &Device) -> Result<(), Error> {
    let values = recorded(device);
    evaluate(&held(&values), Keep::Forward)
}

thread_local! {
    static RECORDED: RefCell<Recorded> = const { RefCell::new(Recorded { nodes: vec![], keep: 64 }) };
}

struct Recorded {
    nodes: Vec<Weak<Node>>,
    /// Length at which dead nodes are removed.
    keep: usize,
}

pub(crate) fn remember(node: &Arc<Node>) {
    // A thread that is ending cannot flush.
    _ = RECORDED.try_with(|recorded| {
        let mut recorded = recorded.borrow_mut();
        recorded.nodes.push(Arc::downgrade(node));
        if recorded.nodes.len() >= recorded.keep {
            recorded.nodes.retain(|node| node.upgrade().is_some_and(|node| !node.is_evaluated()));
            recorded.keep = (recorded.nodes.len() * 2).max(64);
        }
    });
}

fn recorded(device: &Device) -> Vec<Arc<Node>> {
    let all: Vec<Arc<Node>> = RECORDED
        .try_with(|recorded| recorded.borrow_mut().nodes.drain(..).filter_map(|node| node.upgrade()).collect())
        .unwrap_or_default();
    let (pending, others): (Vec<_>, Vec<_>) =
        all.into_iter().filter(|node| !node.is_evaluated()).partition(|node| node.device.is(device));
    others.iter().for_each(remember);
    pending
}
