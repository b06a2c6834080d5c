//! Evaluation: compiles and launches the pending operations behind some values.
//!
//! An evaluation claims its values first, so that threads that need one value run it once. A waiting thread holds no
//! claim, so evaluations cannot deadlock.

pub(crate) mod session;
mod weights;

use std::{
    cell::RefCell,
    sync::{Arc, atomic::Ordering},
};

use fuse_runtime::{__private::launch_into_vec, Device};
use smallvec::SmallVec;

#[cfg(not(target_arch = "wasm32"))]
use crate::cache::adaptive::{Choice, class_of, measure};
use crate::{
    cache::{
        graphs::{Mode, Ready},
        memory::Memory,
    },
    config::FusionConfig,
    error::Error,
    eval::{session::Session, weights::quantize},
    node::{
        Inputs, Lesson, Node,
        claim::Claim,
        drop_all,
        origin::Origin,
        value::{Data, Value},
    },
    trace::Trace,
};

/// Claims of an evaluation, released on drop, also after a panic.
struct Claimed<'n> {
    nodes: SmallVec<[&'n Arc<Node>; 4]>,
    claim: Arc<Claim>,
}

impl Drop for Claimed<'_> {
    fn drop(&mut self) {
        for node in &self.nodes {
            node.lock().claim = None;
        }
        self.claim.finish();
    }
}

/// Claims all unclaimed values, or returns the claim to wait for.
fn claim<'n>(roots: &[&'n Arc<Node>]) -> Result<Claimed<'n>, Arc<Claim>> {
    let mut claimed = Claimed { nodes: SmallVec::new(), claim: Arc::default() };
    for root in roots {
        let mut state = root.lock();
        if state.value.is_some() {
            continue;
        }
        if let Some(other) = &state.claim {
            if Arc::ptr_eq(other, &claimed.claim) {
                continue;
            }
            return Err(Arc::clone(other));
        }
        state.claim = Some(Arc::clone(&claimed.claim));
        claimed.nodes.push(root);
    }
    Ok(claimed)
}

thread_local! {
    static TRACE: RefCell<Trace> = RefCell::new(Trace::default());
}

/// Values that keep their inputs for later gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// All but values computed from gradients.
    Forward,
    All,
}

/// Evaluates a left value. Errors are reported when it is requested.
fn evaluate_left(node: &Arc<Node>) {
    _ = evaluate_claimed(&[node], Keep::All);
}

/// Computes pending values of one device.
///
/// # Errors
/// [`Error::Written`]; those of compiling and launching.
pub(crate) fn evaluate(roots: &[&Arc<Node>], keep: Keep) -> Result<(), Error> {
    let Some(device) = roots.first().map(|root| &root.device) else { return Ok(()) };
    let session = Session::of(device);
    let memory = &session.memory;
    if roots.iter().all(|root| root.is_evaluated()) {
        roots.iter().for_each(|root| memory.note_read(root));
        return Ok(());
    }
    memory.trim(device, session.limits().bytes, evaluate_left);
    evaluate_claimed(roots, keep)
}

fn evaluate_claimed(roots: &[&Arc<Node>], keep: Keep) -> Result<(), Error> {
    let claimed = loop {
        match claim(roots) {
            Ok(claimed) => break claimed,
            Err(other) => other.wait(),
        }
    };
    if claimed.nodes.is_empty() {
        return Ok(());
    }
    let mut trace = TRACE.try_with(|trace| trace.take()).unwrap_or_default();
    let result = run(&claimed.nodes, keep, &mut trace);
    trace.clear();
    _ = TRACE.try_with(|kept| kept.replace(trace));
    result
}

fn run(roots: &[&Arc<Node>], keep: Keep, trace: &mut Trace) -> Result<(), Error> {
    let Some(device) = roots.first().map(|root| root.device.clone()) else { return Ok(()) };
    let auto = Session::of(&device);
    trace.collect(roots, |graph| auto.memory.needed(graph))?;
    let config = auto.config(&device);
    let (ready, _) = version(&device, &config, trace)?;
    #[cfg(not(target_arch = "wasm32"))]
    let ready = faster(&device, &config, trace, ready)?;
    let mut results = Vec::with_capacity(trace.outputs.len());
    launch_into_vec(&ready.code.function, &trace.args(), &mut results)?;
    ready.version.count(&trace.extents);
    let bytes = bytes_read(trace);
    learn(trace, &auto.memory, bytes);
    let mut forgotten: SmallVec<[Inputs; 4]> = SmallVec::new();
    let keeps = |node: &Node| keep == Keep::All || !node.has_grad;
    for ((&output, tensor), origin) in trace.outputs.iter().zip(results).zip(origins(trace)) {
        let node = &trace.nodes[output as usize];
        forgotten.push(node.materialize(Value::new(Data::Tensor(tensor)), &origin, keeps(node)));
    }
    let kept = trace.outputs.iter().map(|&output| &trace.nodes[output as usize]).filter(|node| keeps(node));
    auto.memory.keep(kept, trace.operations() as u64, bytes);
    // Without a lock, and after the trace dropped its own handles.
    trace.clear();
    forgotten.into_iter().for_each(drop_all);
    Ok(())
}

/// Records lessons: left values that were needed, unasked outputs, and values left now.
fn learn(trace: &Trace, memory: &Memory, bytes: u64) {
    trace.needed.iter().for_each(|lesson| memory.note(*lesson, true));
    for (node, _) in &trace.lessons {
        trace.nodes[*node as usize].lock().lesson = None;
    }
    let lesson = |node: u32| Lesson { graph: trace.graph, node };
    for &output in &trace.outputs[trace.asked..] {
        memory.note(lesson(output), false);
        trace.nodes[output as usize].lock().lesson = Some(lesson(output));
    }
    for &left in &trace.left {
        trace.nodes[left as usize].lock().lesson = Some(lesson(left));
    }
    let held = trace.left.iter().filter(|left| trace.held(**left as usize) > 0);
    memory.leave(held.map(|&left| &trace.nodes[left as usize]), bytes);
}

/// Bytes that a trace reads and only lazy values hold. Tensors that many evaluations read belong to the program.
fn bytes_read(trace: &Trace) -> u64 {
    let of = |(node, bytes): &(u32, u64)| {
        let reads = trace.nodes[*node as usize].reads.fetch_add(1, Ordering::Relaxed);
        if reads < 4 { *bytes } else { 0 }
    };
    trace.own.iter().map(of).sum()
}

/// Function of a trace; weights left unquantized, with reasons.
///
/// # Errors
/// Those of compiling and of quantizing weights.
pub(crate) fn version(
    device: &Device,
    config: &FusionConfig,
    trace: &mut Trace,
) -> Result<(Ready, Vec<String>), Error> {
    let graphs = &Session::of(device).graphs;
    let unquantized = config.quantize_weights.map_or(Ok(vec![]), |by| quantize(trace, by))?;
    graphs.add_unquantized(&unquantized);
    let mode = mode(device, config, trace);
    Ok((graphs.function(trace, mode, device)?, unquantized))
}

pub(crate) fn mode<'c>(device: &Device, config: &'c FusionConfig, trace: &Trace) -> Mode<'c> {
    let largest = trace.outputs.iter().map(|&output| trace.nodes[output as usize].elements()).max();
    match &config.enabled_patterns {
        _ if !config.fuses(device, largest.unwrap_or(0)) => Mode::Unfused,
        None => Mode::Fused,
        Some(patterns) => Mode::Patterns(patterns),
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn size_class(trace: &Trace) -> u32 {
    let elements = trace.leaves.iter().map(|(leaf, _)| trace.nodes[*leaf as usize].elements() as u64);
    class_of(elements.fold(0, u64::saturating_add))
}

/// The faster of the fused and the unfused function under `adaptive`, kept for graphs of this size.
#[cfg(not(target_arch = "wasm32"))]
fn faster(device: &Device, config: &FusionConfig, trace: &mut Trace, fused: Ready) -> Result<Ready, Error> {
    if !config.adaptive || !fused.code.source.starts_with("pub fn") {
        return Ok(fused);
    }
    let (Session { graphs, adaptive, .. }, class) = (Session::of(device), size_class(trace));
    let name = &fused.code.function.name;
    let is_measured = match adaptive.seen(name, class) {
        Ok(Choice::Fused) | Err(false) => return Ok(fused),
        Ok(Choice::Unfused) => false,
        Err(true) => true,
    };
    let unfused = graphs.function(trace, Mode::Unfused, device)?;
    if !is_measured {
        return Ok(unfused);
    }
    // If measuring fails, such as within a capture, the graph stays fused.
    let Ok(times) = measure(device, [&fused.code.function, &unfused.code.function], &trace.args()) else {
        return Ok(fused);
    };
    if let Some(fusion) = fused.version.fusions.first() {
        adaptive.add_speedup(fusion.pattern, times);
    }
    let choice = if times[0] <= times[1] { Choice::Fused } else { Choice::Unfused };
    adaptive.choose(name, class, choice);
    Ok(if choice == Choice::Fused { fused } else { unfused })
}

fn origins(trace: &Trace) -> SmallVec<[Arc<Origin<Node>>; 4]> {
    if let [output] = trace.outputs.as_slice() {
        let read = trace.sources().filter(|source| source != output);
        return SmallVec::from_elem(Origin::of(read.map(|node| Node::source(&trace.nodes[node as usize]))), 1);
    }
    let sources: Vec<u32> = trace.sources().collect();
    let sets = trace.dependencies(&sources);
    let mut origins: SmallVec<[Arc<Origin<Node>>; 4]> = SmallVec::with_capacity(sets.len());
    for (number, set) in sets.iter().enumerate() {
        // Most results of one evaluation share their origin.
        let same = (number.saturating_sub(8)..number).rev().find(|&earlier| sets[earlier] == *set);
        origins.push(same.map(|same| Arc::clone(&origins[same])).unwrap_or_else(|| {
            let depends = |source: &usize| set[source / 64] >> (source % 64) & 1 == 1;
            let read = sources.iter().enumerate().filter(|(source, _)| depends(source));
            Origin::of(read.map(|(_, &node)| Node::source(&trace.nodes[node as usize])))
        }));
    }
    origins
}
