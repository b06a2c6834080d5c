//! Cache of compiled functions by source and device features, compiled at run time or with the program.
//!
//! Beyond a size limit the least recently used code is dropped. Running evaluations keep theirs.

use std::sync::{
    Arc, Mutex, MutexGuard, OnceLock, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use fuse_artifact::{Features, Function};
use fuse_runtime::{
    __private::{Callable, code_bytes, share_lines},
    DeviceInfo,
};
use rustc_hash::FxHashMap;
use web_time::{Duration, Instant};

use crate::{error::Error, source::Source};

const DEFAULT_LIMIT: u64 = 256 << 20;

/// Divisor of the limit. Below the quotient, shaders stay whole; later functions share lines.
const WHOLE_SHARE: u64 = 4;

static LIMIT: AtomicU64 = AtomicU64::new(DEFAULT_LIMIT);
static USED: AtomicU64 = AtomicU64::new(0);
static DROPPED: AtomicU64 = AtomicU64::new(0);
/// Orders code by age.
static CLOCK: AtomicU64 = AtomicU64::new(0);
static CODE: Mutex<Option<FxHashMap<Key, Arc<Slot>>>> = Mutex::new(None);
static PRELOADED: Mutex<Vec<&'static Function>> = Mutex::new(Vec::new());

/// Source, materialized statements, and device features.
type Key = (String, Vec<usize>, Features);

/// One thread compiles; the others wait.
type Slot = OnceLock<Result<Arc<Compiled>, Error>>;

/// Statements that share a kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared {
    pub(crate) statements: Vec<usize>,
    pub(crate) inner: Vec<usize>,
}

#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) function: Callable,
    pub(crate) source: String,
    /// Empty if preloaded.
    pub(crate) shared: Vec<Shared>,
    pub(crate) time: Duration,
    pub(crate) bytes: u64,
    used: AtomicU64,
}

impl Compiled {
    fn preloaded(function: &'static Function, source: String) -> Self {
        let (shared, time) = (vec![], Duration::ZERO);
        Self { function: function.into(), source, shared, time, bytes: 0, used: AtomicU64::new(0) }
    }

    pub(crate) fn touch(&self) {
        self.used.store(CLOCK.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// Limits the bytes of compiled code in the process (256 MiB by default). Beyond it, the least recently used functions
/// are dropped and recompiled when needed.
pub fn set_code_limit(bytes: u64) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

pub(crate) fn used() -> u64 {
    USED.load(Ordering::Relaxed)
}

pub(crate) fn dropped() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

/// Registers functions compiled with the program: `preload(&[&lazy_0123456789abcdef::FUNCTION])`.
///
/// Their sources come from [`record`](crate::record) or [`LazyTensor::source`](crate::LazyTensor::source). Graphs with
/// these sources compile nothing.
pub fn preload(functions: &[&'static Function]) {
    let mut preloaded = PRELOADED.lock().unwrap_or_else(PoisonError::into_inner);
    for function in functions {
        if !preloaded.iter().any(|known| known.name == function.name) {
            preloaded.push(function);
        }
    }
}

fn all() -> MutexGuard<'static, Option<FxHashMap<Key, Arc<Slot>>>> {
    CODE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sorted sources of the code compiled at run time.
pub(crate) fn sources() -> Vec<String> {
    let code = all();
    let compiled = |slot: &Arc<Slot>| slot.get().is_some_and(|made| made.as_ref().is_ok_and(|code| code.bytes > 0));
    let kept = code.iter().flatten().filter(|((_, in_memory, _), slot)| in_memory.is_empty() && compiled(slot));
    let mut sources: Vec<String> = kept.map(|((text, ..), _)| text.clone()).collect();
    sources.sort_unstable();
    sources.dedup();
    sources
}

/// Function of a source for a device; true if this call made it.
///
/// # Errors
/// Those of the compiler, [`Error::NotCompiled`] without one, and [`Error::CodeLimit`].
pub(crate) fn code(source: &Source, info: &DeviceInfo) -> Result<(Arc<Compiled>, bool), Error> {
    let key = || (source.text.clone(), source.in_memory.clone(), info.features);
    let slot = Arc::clone(all().get_or_insert_with(FxHashMap::default).entry(key()).or_default());
    let mut is_new = false;
    let made = slot.get_or_init(|| {
        is_new = true;
        make(source, info)
    });
    if let Err(Error::CodeLimit { .. }) = made {
        all().get_or_insert_with(FxHashMap::default).remove(&key());
    }
    let made = made.clone()?;
    made.touch();
    Ok((made, is_new))
}

fn make(source: &Source, info: &DeviceInfo) -> Result<Arc<Compiled>, Error> {
    let preloaded = {
        let preloaded = PRELOADED.lock().unwrap_or_else(PoisonError::into_inner);
        preloaded.iter().find(|function| function.name == *source.name).copied()
    };
    if let Some(function) = preloaded {
        return Ok(Arc::new(Compiled::preloaded(function, source.text.clone())));
    }
    let start = Instant::now();
    let (mut function, shared) = compile(source, info)?;
    let bytes = |function: &Function| code_bytes(function) + source.text.len() as u64;
    let mut needed = bytes(&function);
    // Sharing takes a quarter of the compile time.
    if used().saturating_add(needed) > LIMIT.load(Ordering::Relaxed) / WHOLE_SHARE {
        share_lines(&mut function);
        needed = bytes(&function);
    }
    make_room(needed)?;
    Ok(Arc::new(Compiled {
        function: Callable::made(function),
        source: source.text.clone(),
        shared,
        time: start.elapsed(),
        bytes: needed,
        used: AtomicU64::new(0),
    }))
}

/// Drops the least recently used code until `needed` bytes fit, and counts these as used.
///
/// # Errors
/// [`Error::CodeLimit`] if `needed` alone exceeds the limit.
fn make_room(needed: u64) -> Result<(), Error> {
    let limit = LIMIT.load(Ordering::Relaxed);
    if needed > limit {
        return Err(Error::CodeLimit { used: used(), needed, limit });
    }
    let mut gone = vec![];
    let mut code = all();
    let known = code.get_or_insert_with(FxHashMap::default);
    while used().saturating_add(needed) > limit {
        let made = |slot: &Arc<Slot>| slot.get()?.as_ref().ok().filter(|made| made.bytes > 0).map(Arc::clone);
        let all_made = known.iter().filter_map(|(key, slot)| Some((key, made(slot)?)));
        let oldest = all_made.min_by_key(|(_, made)| made.used.load(Ordering::Relaxed));
        // Other threads are filling the remaining slots.
        let Some((key, made)) = oldest.map(|(key, made)| (key.clone(), made)) else { break };
        known.remove(&key);
        USED.fetch_sub(made.bytes, Ordering::Relaxed);
        DROPPED.fetch_add(1, Ordering::Relaxed);
        gone.push(made);
    }
    USED.fetch_add(needed, Ordering::Relaxed);
    drop(code);
    // Free the memory without the lock.
    drop(gone);
    Ok(())
}

#[cfg(not(feature = "jit"))]
fn compile(source: &Source, _: &DeviceInfo) -> Result<(Function, Vec<Shared>), Error> {
    Err(Error::NotCompiled { source_text: source.text.clone() })
}

/// Compiles a source; wgpu validates the shaders.
#[cfg(feature = "jit")]
fn compile(source: &Source, info: &DeviceInfo) -> Result<(Function, Vec<Shared>), Error> {
    use fuse_compiler::compile::{Options, compile};

    let failed = |message: String| Error::Compile { message, source_text: source.text.clone() };
    let mut graph = graph(&source.text)?;
    let value = |statement: &usize| graph.statements.get(*statement).and_then(|lowered| lowered.value);
    graph.options.in_memory = source.in_memory.iter().filter_map(value).collect();
    let compiled = compile(&graph, &Options::at_run_time(info.features)).map_err(|error| failed(error.to_string()))?;
    let mut function = compiled.function;
    fuse_runtime::__private::retain_runnable(&mut function, info);
    Ok((function, shared(&graph)))
}

#[cfg(feature = "jit")]
pub(crate) fn analysis(source: &Source) -> Result<Vec<Shared>, Error> {
    Ok(shared(&graph(&source.text)?))
}

#[cfg(feature = "jit")]
pub(crate) fn graph(text: &str) -> Result<fuse_compiler::graph::Graph, Error> {
    let failed = |message: String| Error::Compile { message, source_text: text.to_owned() };
    let tokens = text.parse::<proc_macro2::TokenStream>().map_err(|error| failed(error.to_string()))?;
    let items = fuse_compiler::front::items(tokens);
    let errors: Vec<String> = items.diagnostics.errors().map(ToString::to_string).collect();
    if !errors.is_empty() {
        return Err(failed(errors.join("\n")));
    }
    let instances = items.functions.into_iter().flat_map(|function| function.instances);
    let graph = instances.map(|instance| instance.graph).next();
    graph.ok_or_else(|| failed("the text has no function".to_owned()))
}

#[cfg(feature = "jit")]
fn shared(graph: &fuse_compiler::graph::Graph) -> Vec<Shared> {
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
