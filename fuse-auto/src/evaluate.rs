//! Evaluation: what is behind some values becomes one launch.
//!
//! An evaluation claims its values first, so that threads that want one value run it once. Whoever waits for a claim holds none, so
//! that no two evaluations can wait for each other.

use std::{
    cell::RefCell,
    sync::{Arc, Weak},
};

use fuse_runtime::{
    __private::{Arg, launch_into_vec},
    Device,
};
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
    trace.release();
    _ = TRACE.try_with(|kept| kept.replace(trace));
    result
}

fn run(roots: &[&Arc<Node>], keeps: bool, trace: &mut Trace) -> Result<(), Error> {
    let Some(device) = roots.first().map(|root| root.device.clone()) else { return Ok(()) };
    trace.collect(roots)?;
    let prepared = prepare(&device, trace)?;
    let mut args: SmallVec<[Arg<'_>; 16]> = trace.leaves.iter().map(|(_, value)| value.data.arg()).collect();
    args.extend(trace.numbers.iter().map(|&(dtype, bits)| Arg::Scalar { dtype, bits }));
    #[cfg(not(target_arch = "wasm32"))]
    let prepared = match prepared.other {
        Some(unfused) => Prepared { version: faster(&device, trace, [prepared.version, unfused], &args), other: None },
        None => prepared,
    };
    let version = prepared.version;
    let mut results = Vec::with_capacity(trace.outputs.len());
    launch_into_vec(version.code.function, &args, &mut results)?;
    drop(args);
    version.count(&trace.extents);
    let from = origins(trace);
    let mut forgotten: SmallVec<[Inputs; 4]> = SmallVec::new();
    for ((&output, tensor), from) in trace.outputs.iter().zip(results).zip(&from) {
        forgotten.push(trace.nodes[output as usize].settle(Value::new(Data::Tensor(tensor)), from, keeps));
    }
    // Without a lock, and behind the trace's own handles.
    trace.release();
    forgotten.into_iter().for_each(drop_all);
    Ok(())
}

/// What runs a trace.
pub(crate) struct Prepared {
    pub(crate) version: Arc<Version>,
    /// What to measure it against.
    #[cfg(not(target_arch = "wasm32"))]
    other: Option<Arc<Version>>,
}

/// Finds or makes what runs a trace, as the device's configuration says.
///
/// # Errors
/// Those of compiling, and of quantizing weights.
pub(crate) fn prepare(device: &Device, trace: &mut Trace) -> Result<Prepared, Error> {
    let auto = Auto::of(device);
    let config = auto.config(device);
    if let Some(by) = config.quantize_weights {
        quantize(trace, by)?;
    }
    let version = auto.graphs.function(trace, &mode(device, &config, trace), device)?;
    #[cfg(not(target_arch = "wasm32"))]
    return adapted(device, &config, trace, version);
    #[cfg(target_arch = "wasm32")]
    Ok(Prepared { version })
}

/// What was measured to be faster, if that is wanted, or what to measure.
#[cfg(not(target_arch = "wasm32"))]
fn adapted(
    device: &Device,
    config: &FusionConfig,
    trace: &mut Trace,
    version: Arc<Version>,
) -> Result<Prepared, Error> {
    let mut prepared = Prepared { version, other: None };
    if !config.adaptive || !prepared.version.code.source.starts_with("pub fn") {
        return Ok(prepared);
    }
    let auto = Auto::of(device);
    let unfused = |trace: &mut Trace| auto.graphs.function(trace, &Mode::Unfused, device);
    let class = size_class(trace);
    match auto.adaptive.seen(&prepared.version.code.function.name, class) {
        Ok(Choice::Fused) | Err(false) => {}
        Ok(Choice::Unfused) => prepared.version = unfused(trace)?,
        Err(true) => prepared.other = Some(unfused(trace)?),
    }
    Ok(prepared)
}

/// How a trace is cut into kernels.
pub(crate) fn mode(device: &Device, config: &FusionConfig, trace: &Trace) -> Mode {
    let largest = trace.outputs.iter().map(|&output| trace.nodes[output as usize].shape.elements()).max();
    match &config.enabled_patterns {
        _ if !config.fuses(device, largest.unwrap_or(0)) => Mode::Unfused,
        None => Mode::Fused,
        Some(patterns) => Mode::Patterns(patterns.clone()),
    }
}

/// The size class of what a trace reads.
#[cfg(not(target_arch = "wasm32"))]
fn size_class(trace: &Trace) -> u32 {
    let elements = trace.leaves.iter().map(|(leaf, _)| trace.nodes[*leaf as usize].shape.elements() as u64);
    class_of(elements.fold(0, u64::saturating_add))
}

/// The faster of a fused and an unfused function, which stays for graphs of this size.
#[cfg(not(target_arch = "wasm32"))]
fn faster(device: &Device, trace: &Trace, [fused, unfused]: [Arc<Version>; 2], args: &[Arg<'_>]) -> Arc<Version> {
    let auto = Auto::of(device);
    // What cannot be measured, as within a capture, runs fused and is not measured again.
    let Ok([with, without]) = measure(device, [&fused, &unfused], args) else { return fused };
    if let Some(fusion) = fused.fusions.first() {
        let speedup = without.as_secs_f64() / with.as_secs_f64().max(1e-9);
        auto.adaptive.add_speedup(fusion.pattern, speedup as f32);
    }
    let choice = if with <= without { Choice::Fused } else { Choice::Unfused };
    auto.adaptive.choose(&fused.code.function.name, size_class(trace), choice);
    if choice == Choice::Fused { fused } else { unfused }
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
