//! What would run: the source of a graph, its plan, and what fusing saves.

use std::sync::Arc;

use fuse_artifact::Plan;
use fuse_runtime::Device;

use crate::{
    Error, FusionStats, LazyTensor,
    code::used,
    config::Auto,
    evaluate::{mode, nodes_of},
    node::Node,
    source::source,
    trace::Trace,
};

/// What evaluating some values would run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Explanation {
    /// The graph as a `fuse!` function, to be pasted into a crate.
    pub source: String,
    /// How it is cut into kernels.
    pub plan: Plan,
}

/// What evaluating some values together would run; compiles it, and runs nothing.
///
/// # Errors
/// Those that evaluating would have before launching.
pub fn explain(values: &[&LazyTensor]) -> Result<Explanation, Error> {
    let nodes = nodes_of(values)?;
    let pending: Vec<&Arc<Node>> = nodes.into_iter().filter(|node| !node.is_evaluated()).collect();
    let Some(first) = pending.first() else {
        return Err(Error::operation("explain", "nothing is left to compute", "explain before evaluating"));
    };
    let (device, mut trace) = (first.device.clone(), Trace::default());
    trace.collect(&pending)?;
    let auto = Auto::of(&device);
    let mode = mode(&device, auto, &trace);
    let code = auto.graphs.function(&mut trace, mode, device.info(), |change| change(&mut auto.stats()))?;
    Ok(Explanation { source: code.source.clone(), plan: code.function.plan.clone() })
}

/// What happened on a device so far.
pub fn stats(device: &Device) -> FusionStats {
    FusionStats { code_bytes: used(), ..Auto::of(device).stats().clone() }
}

impl LazyTensor {
    /// The graph behind this value as a `fuse!` function: pasted into a crate, it is compiled while the program is built.
    ///
    /// # Errors
    /// [`Error::Operation`] if it has been evaluated, and the error that an operator's value carries.
    pub fn source(&self) -> Result<String, Error> {
        let node = self.node()?;
        if node.is_evaluated() {
            return Err(Error::operation("source", "nothing is left to compute", "ask before evaluating"));
        }
        let (device, mut trace) = (node.device.clone(), Trace::default());
        trace.collect(&[node])?;
        let mode = mode(&device, Auto::of(&device), &trace);
        let source = source(&trace, mode.attributes());
        Ok(source.map_err(|message| Error::Compile { message, source_text: String::new() })?.text)
    }
}
