//! Explanations: source, plan and fusions of an evaluation.

use std::{collections::BTreeSet, sync::Arc};

use fuse_artifact::Plan;
use fuse_runtime::Device;

use crate::{
    api::{evaluation::nodes_of, lazy::LazyTensor},
    cache::{
        code_cache::{Compiled, dropped, used},
        fusions::{Fusion, statements},
        graphs::written,
        stats::FusionStats,
    },
    error::Error,
    eval::{mode, session::Session, version},
    node::Node,
    op::Op,
    pattern::FusionPattern,
    trace::{Ref, Trace},
};

/// Source, plan and fusions of an evaluation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Explanation {
    /// Graph as a `fuse!` function.
    pub source: String,
    /// Its kernels.
    pub plan: Plan,
    /// Its fusions, by estimated speed-up.
    pub opportunities: Vec<FusionOpportunity>,
    /// Statement numbers of values written unasked: held, left by an earlier evaluation and needed again.
    pub written: Vec<usize>,
    /// Statement numbers of held values that are not written. If requested, each is recomputed at most once.
    pub left: Vec<usize>,
    /// Weights that [`FusionConfig::quantize_weights`](crate::FusionConfig::quantize_weights) leaves unchanged, with
    /// reasons.
    pub unquantized: Vec<String>,
}

/// Operations that share a kernel, with estimated savings.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FusionOpportunity {
    /// Kind of fusion.
    pub pattern: FusionPattern,
    /// Statement numbers of the operations.
    pub node_ids: Vec<usize>,
    /// Estimated time with one kernel per operation divided by the fused time, from memory traffic and dispatches.
    pub estimated_speedup: f32,
    /// Bytes of intermediates that are not stored.
    pub memory_savings: usize,
}

/// Bytes that a GPU moves during a dispatch: 1 TB/s for 2 µs.
const DISPATCH_BYTES: u64 = 2 << 20;

/// Explains the joint evaluation of some values. Compiles without running.
///
/// # Errors
/// Those of evaluation before the launch.
pub fn explain(values: &[&LazyTensor]) -> Result<Explanation, Error> {
    let nodes = nodes_of(values)?;
    let pending: Vec<&Arc<Node>> = nodes.into_iter().filter(|node| !node.is_evaluated()).collect();
    let Some(first) = pending.first() else {
        return Err(Error::operation("explain", "nothing is left to compute", "explain before evaluating"));
    };
    let (device, mut trace) = (first.device.clone(), Trace::default());
    let auto = Session::of(&device);
    trace.collect(&pending, |graph| auto.memory.needed(graph))?;
    let (ready, unquantized) = version(&device, &auto.config(&device), &mut trace)?;
    let opportunities = opportunities(&trace, &ready.version.fusions);
    let statements = statements(&trace);
    let numbers = |nodes: &[u32]| -> Vec<usize> {
        let number = |node: &u32| {
            // A gradient's results are one statement.
            let is_part = matches!(trace.nodes[*node as usize].op, Op::Part(_));
            let node = if is_part { inputs(&trace, *node as usize).next()? } else { *node as usize };
            statements.binary_search(&node).ok()
        };
        nodes.iter().filter_map(number).collect::<BTreeSet<_>>().into_iter().collect()
    };
    let held: Vec<u32> = trace.left.iter().copied().filter(|&left| trace.held(left as usize) > 0).collect();
    let (written, left) = (numbers(&trace.outputs[trace.asked..]), numbers(&held));
    let Compiled { function, source, .. } = &*ready.code;
    Ok(Explanation { source: source.clone(), plan: function.plan.clone(), opportunities, unquantized, written, left })
}

fn opportunities(trace: &Trace, fusions: &[Fusion]) -> Vec<FusionOpportunity> {
    let statements = statements(trace);
    let bytes = |node: usize| {
        let node = &trace.nodes[node];
        node.elements() as u64 * node.dtype.bytes()
    };
    let of = |fusion: &Fusion| {
        let number = |node: &usize| statements.binary_search(node).ok();
        let savings: u64 = fusion.inner.iter().map(|&node| 2 * bytes(node)).sum();
        // Traffic with one kernel per operation.
        let apart: u64 =
            fusion.nodes.iter().map(|&node| bytes(node) + inputs(trace, node).map(bytes).sum::<u64>()).sum();
        let (dispatches, apart) = (fusion.nodes.len() as u64, apart.max(savings));
        let together = (apart - savings + DISPATCH_BYTES) as f32;
        FusionOpportunity {
            pattern: fusion.pattern,
            node_ids: fusion.nodes.iter().filter_map(number).collect(),
            estimated_speedup: (apart + dispatches * DISPATCH_BYTES) as f32 / together,
            memory_savings: savings as usize,
        }
    };
    let mut opportunities: Vec<FusionOpportunity> = fusions.iter().map(of).collect();
    opportunities.sort_by(|a, b| b.estimated_speedup.total_cmp(&a.estimated_speedup));
    opportunities
}

fn inputs(trace: &Trace, node: usize) -> impl Iterator<Item = usize> + '_ {
    let of = |input: &Ref| if let Ref::Node(node) = *input { Some(node as usize) } else { None };
    trace.inputs(node).iter().filter_map(of)
}

/// Statistics of a device so far.
pub fn stats(device: &Device) -> FusionStats {
    let auto = Session::of(device);
    FusionStats { code_bytes: used(), dropped: dropped(), measured: auto.adaptive.measured(), ..auto.graphs.stats() }
}

impl LazyTensor {
    /// Pending graph as a `fuse!` function, to paste into a crate.
    ///
    /// # Errors
    /// [`Error::Operation`] if the value is evaluated, and the error that an operator's value carries.
    pub fn source(&self) -> Result<String, Error> {
        let node = self.node()?;
        if node.is_evaluated() {
            return Err(Error::operation("source", "nothing is left to compute", "ask before evaluating"));
        }
        let (device, mut trace) = (node.device.clone(), Trace::default());
        let auto = Session::of(&device);
        trace.collect(&[node], |graph| auto.memory.needed(graph))?;
        let config = auto.config(&device);
        Ok(written(&trace, mode(&device, &config, &trace))?.text)
    }
}
