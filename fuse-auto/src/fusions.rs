//! The fusions of a compiled graph: which of its operations share a kernel.

use crate::{code_cache::Compiled, op::Op, pattern::FusionPattern, source::Source, trace::Trace};

/// Operations that share a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Fusion {
    pub(crate) pattern: FusionPattern,
    /// Nodes of the trace.
    pub(crate) nodes: Vec<usize>,
    /// Those of them whose values are in no memory.
    pub(crate) inner: Vec<usize>,
}

/// The statements of a source that share a kernel, as the compiler found them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared {
    pub(crate) statements: Vec<usize>,
    /// Those of them whose values no kernel stores.
    pub(crate) inner: Vec<usize>,
}

/// The fusions of a function in terms of the trace that it was made for.
pub(crate) fn fusions(trace: &Trace, source: &Source, code: &Compiled) -> Vec<Fusion> {
    if cfg!(not(feature = "jit")) || source.text != code.source {
        return vec![];
    }
    named(trace, &code.shared)
}

/// Shared kernels of several statements in terms of a trace, by kind.
pub(crate) fn named(trace: &Trace, shared: &[Shared]) -> Vec<Fusion> {
    let nodes = statements(trace);
    let of = |list: &[usize]| list.iter().filter_map(|&statement| nodes.get(statement).copied()).collect::<Vec<_>>();
    let fusion = |shared: &Shared| {
        let (nodes, inner) = (of(&shared.statements), of(&shared.inner));
        Fusion { pattern: FusionPattern::of(trace, &nodes), nodes, inner }
    };
    shared.iter().filter(|shared| shared.statements.len() > 1).map(fusion).collect()
}

/// The nodes that are statements of the source, in order.
pub(crate) fn statements(trace: &Trace) -> Vec<usize> {
    let is_statement = |node: &usize| {
        !trace.is_leaf(*node) && !matches!(trace.nodes[*node].op, Op::Part(_)) && trace.owner(*node).is_none()
    };
    (0..trace.nodes.len()).filter(is_statement).collect()
}

/// The statements of a graph that share a kernel.
#[cfg(feature = "jit")]
pub(crate) fn shared(graph: &fuse_compiler::graph::Graph) -> Vec<Shared> {
    use fuse_compiler::fusion::{Policy, fuse, fuse_with, index::strip_reshapes};

    if graph.options.no_fuse {
        return vec![];
    }
    let groups = match &graph.options.in_memory {
        in_memory if in_memory.is_empty() => fuse(graph, Policy::INLINED),
        in_memory => fuse_with(graph, Policy::INLINED, in_memory),
    };
    let Ok(groups) = groups else { return vec![] };
    let statement = |node: usize| graph.statements.partition_point(|lowered| lowered.end <= node);
    let stored = |statement: &usize| {
        let value = graph.statements.get(*statement).and_then(|lowered| lowered.value);
        let value = value.map(|value| strip_reshapes(graph, value));
        groups.groups.iter().any(|group| group.stores.iter().any(|store| Some(store.node) == value))
    };
    let of = |group: &fuse_compiler::fusion::Group| {
        let mut statements: Vec<usize> = group.nodes.iter().map(|node| statement(node.index())).collect();
        statements.sort_unstable();
        statements.dedup();
        let inner = statements.iter().copied().filter(|statement| !stored(statement)).collect();
        Shared { statements, inner }
    };
    groups.groups.iter().map(of).collect()
}
