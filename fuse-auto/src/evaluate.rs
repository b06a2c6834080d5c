//! Evaluation: what is behind some values becomes one launch.
//!
//! An evaluation claims its values first, so that threads that want one value run it once. Whoever waits for a claim holds none, so
//! that no two evaluations can wait for each other.

use std::{
    cell::RefCell,
    sync::{Arc, Weak},
};

use fuse_runtime::{__private::launch_into_vec, Device};
use smallvec::SmallVec;

#[cfg(not(target_arch = "wasm32"))]
use crate::adaptive::{Choice, class_of, measure};
use crate::{
    Error, FusionConfig, LazyTensor,
    config::Auto,
    graphs::{Mode, Version},
    node::{Data, Inputs, Node, Value, drop_all},
    record::recorded,
    trace::{Trace, held},
    weights::quantize,
};

/// A running evaluation, for those who want its values.
#[derive(Debug, Default)]
pub(crate) struct Claim {
    #[cfg(not(target_arch = "wasm32"))]
    done: (std::sync::Mutex<bool>, std::sync::Condvar),
}

impl Claim {
    #[cfg(not(target_arch = "wasm32"))]
    fn finish(&self) {
        let (done, wake) = &self.done;
        *done.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = true;
        wake.notify_all();
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn wait(&self) {
        let (done, wake) = &self.done;
        let done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        drop(wake.wait_while(done, |done| !*done));
    }

    /// A page has one thread, which does not wait for itself.
    #[cfg(target_arch = "wasm32")]
    fn finish(&self) {}

    #[cfg(target_arch = "wasm32")]
    fn wait(&self) {}
}

/// The claims of an evaluation, which end with it, also if it panics.
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

/// Claims all values that have none yet, or gives what to wait for.
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

/// Computes values, and writes what is held of what they depend on.
///
/// # Errors
/// [`Error::Written`], those of compiling, and those of launches.
pub(crate) fn evaluate(values: &[&LazyTensor]) -> Result<(), Error> {
    evaluate_nodes(&nodes_of(values)?, false)
}

/// As [`evaluate`], of values that nobody asked for: they keep how they were computed, for gradients.
///
/// # Errors
/// As [`evaluate`].
pub(crate) fn evaluate_kept(values: &[&LazyTensor]) -> Result<(), Error> {
    evaluate_nodes(&nodes_of(values)?, true)
}

/// The nodes of values on one device.
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

fn evaluate_nodes(roots: &[&Arc<Node>], keeps: bool) -> Result<(), Error> {
    if roots.iter().all(|root| root.is_evaluated()) {
        return Ok(());
    }
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
    let result = run(&claimed.nodes, keeps, &mut trace);
    trace.clear();
    _ = TRACE.try_with(|kept| kept.replace(trace));
    result
}

fn run(roots: &[&Arc<Node>], keeps: bool, trace: &mut Trace) -> Result<(), Error> {
    let Some(device) = roots.first().map(|root| root.device.clone()) else { return Ok(()) };
    trace.collect(roots)?;
    let config = Auto::of(&device).config(&device);
    let version = version(&device, &config, trace)?;
    #[cfg(not(target_arch = "wasm32"))]
    let version = faster(&device, &config, trace, version)?;
    let mut results = Vec::with_capacity(trace.outputs.len());
    launch_into_vec(version.code.function, &trace.args(), &mut results)?;
    version.count(&trace.extents);
    let from = origins(trace);
    let mut forgotten: SmallVec<[Inputs; 4]> = SmallVec::new();
    for ((&output, tensor), from) in trace.outputs.iter().zip(results).zip(&from) {
        forgotten.push(trace.nodes[output as usize].settle(Value::new(Data::Tensor(tensor)), from, keeps));
    }
    // Without a lock, and behind the trace's own handles.
    trace.clear();
    forgotten.into_iter().for_each(drop_all);
    Ok(())
}

/// Finds or makes what runs a trace, as a configuration says.
///
/// # Errors
/// Those of compiling, and of quantizing weights.
pub(crate) fn version(device: &Device, config: &FusionConfig, trace: &mut Trace) -> Result<Arc<Version>, Error> {
    if let Some(by) = config.quantize_weights {
        quantize(trace, by)?;
    }
    let mode = mode(device, config, trace);
    Auto::of(device).graphs.function(trace, mode, device)
}

/// How a trace is cut into kernels.
pub(crate) fn mode<'c>(device: &Device, config: &'c FusionConfig, trace: &Trace) -> Mode<'c> {
    let largest = trace.outputs.iter().map(|&output| trace.nodes[output as usize].elements()).max();
    match &config.enabled_patterns {
        _ if !config.fuses(device, largest.unwrap_or(0)) => Mode::Unfused,
        None => Mode::Fused,
        Some(patterns) => Mode::Patterns(patterns),
    }
}

/// The size class of what a trace reads.
#[cfg(not(target_arch = "wasm32"))]
fn size_class(trace: &Trace) -> u32 {
    let elements = trace.leaves.iter().map(|(leaf, _)| trace.nodes[*leaf as usize].elements() as u64);
    class_of(elements.fold(0, u64::saturating_add))
}

/// Of a fused function and the same unfused the faster, which stays for graphs of this size, if that is wanted.
#[cfg(not(target_arch = "wasm32"))]
fn faster(
    device: &Device,
    config: &FusionConfig,
    trace: &mut Trace,
    fused: Arc<Version>,
) -> Result<Arc<Version>, Error> {
    if !config.adaptive || !fused.code.source.starts_with("pub fn") {
        return Ok(fused);
    }
    let (Auto { graphs, adaptive, .. }, class) = (Auto::of(device), size_class(trace));
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
    // What cannot be measured, as within a capture, runs fused and is not measured again.
    let Ok(times) = measure(device, [&fused, &unfused], &trace.args()) else { return Ok(fused) };
    if let Some(fusion) = fused.fusions.first() {
        adaptive.add_speedup(fusion.pattern, times);
    }
    let choice = if times[0] <= times[1] { Choice::Fused } else { Choice::Unfused };
    adaptive.choose(name, class, choice);
    Ok(if choice == Choice::Fused { fused } else { unfused })
}

/// For each output, the values that it was computed from and that still exist, with those that these were computed from.
fn origins(trace: &Trace) -> SmallVec<[Arc<[Weak<Node>]>; 4]> {
    let of_all = |leaves: &mut dyn Iterator<Item = &(u32, Value)>| -> Arc<[Weak<Node>]> {
        let mut all = Vec::with_capacity(trace.leaves.len());
        let mut earlier: Vec<Weak<Node>> = vec![];
        for (leaf, _) in leaves {
            let node = &trace.nodes[*leaf as usize];
            all.push(Arc::downgrade(node));
            for from in node.lock().forgotten.iter().flat_map(|forgotten| forgotten.iter()) {
                if from.strong_count() > 0 && !earlier.iter().any(|known| known.ptr_eq(from)) {
                    earlier.push(from.clone());
                }
            }
        }
        all.append(&mut earlier);
        all.into()
    };
    if let [_] = trace.outputs.as_slice() {
        return SmallVec::from_elem(of_all(&mut trace.leaves.iter()), 1);
    }
    let of = |set: &SmallVec<[u64; 1]>| {
        let depends = |leaf: &usize| set[leaf / 64] >> (leaf % 64) & 1 == 1;
        of_all(&mut trace.leaves.iter().enumerate().filter(|(leaf, _)| depends(leaf)).map(|(_, leaf)| leaf))
    };
    trace.dependencies().iter().map(of).collect()
}

/// Computes several values in one function: what they share is computed once.
///
/// # Errors
/// As [`LazyTensor::eval`]; [`Error::Operation`] if they are on different devices.
pub fn eval_all(values: &[&LazyTensor]) -> Result<(), Error> {
    evaluate(values)
}

/// Evaluates all that this thread recorded on a device, somebody holds, and nobody asked for.
///
/// # Errors
/// As [`LazyTensor::eval`].
pub fn flush(device: &Device) -> Result<(), Error> {
    let values = recorded(device);
    evaluate_nodes(&held(&values), false)
}
