//! Evaluated graphs of a device, with their functions.
//!
//! The structure (`Trace::key`) identifies a graph. Its functions differ in the extents they require; usually there is
//! one. Each has its own counters, so an evaluation updates two numbers.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{Hash, Hasher},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use fuse_artifact::Size;
use fuse_runtime::{Device, DeviceInfo};
use rustc_hash::{FxHashMap, FxHasher};

#[cfg(feature = "jit")]
use crate::cache::{
    code_cache::analysis,
    fusions::{named, statements},
};
#[cfg(not(target_arch = "wasm32"))]
use crate::config::{Environment, environment};
use crate::{
    cache::{
        code_cache::{Compiled, code},
        fusions::{Fusion, fusions},
        recompile_report::Numbers,
        stats::FusionStats,
    },
    error::Error,
    pattern::FusionPattern,
    shape::symbols::Required,
    source::{Source, source},
    trace::Trace,
};

const MOST_UNQUANTIZED: usize = 64;

#[derive(Default)]
pub(crate) struct Graphs {
    known: Mutex<Known>,
    missed: Mutex<Missed>,
}

type Known = FxHashMap<Box<[u64]>, Vec<Arc<Version>>>;

#[derive(Default)]
struct Missed {
    stats: FusionStats,
    numbers: Numbers,
}

pub(crate) struct Version {
    /// Dead once the code was dropped.
    code: Mutex<Weak<Compiled>>,
    pub(crate) fusions: Vec<Fusion>,
    required: Vec<Required>,
    operations: u64,
    /// Bytes that fusion saves, in terms of the extents.
    saved: Size,
    launches: u64,
    launches_saved: u64,
    runs: AtomicU64,
    saved_bytes: AtomicU64,
}

#[derive(Clone)]
pub(crate) struct Ready {
    pub(crate) version: Arc<Version>,
    pub(crate) code: Arc<Compiled>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Mode<'c> {
    Fused,
    Unfused,
    Patterns(&'c BTreeSet<FusionPattern>),
}

impl Mode<'_> {
    fn attributes(self) -> &'static str {
        match self {
            Self::Fused | Self::Patterns(_) => "",
            Self::Unfused => "#[no_fuse]\n",
        }
    }

    fn key(self, words: &mut Vec<u64>) {
        match self {
            Self::Fused => words.push(0),
            Self::Unfused => words.push(1),
            Self::Patterns(patterns) => {
                let mut hasher = FxHasher::default();
                patterns.hash(&mut hasher);
                words.extend([2, hasher.finish()]);
            }
        }
    }
}

impl Version {
    fn code(&self) -> Option<Arc<Compiled>> {
        self.code.lock().unwrap_or_else(PoisonError::into_inner).upgrade()
    }

    fn renew(&self, code: &Arc<Compiled>) {
        *self.code.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(code);
    }

    pub(crate) fn count(&self, extents: &[u64]) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.saved_bytes.fetch_add(self.saved.eval(extents).unwrap_or(0), Ordering::Relaxed);
    }
}

impl Graphs {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn missed(&self) -> MutexGuard<'_, Missed> {
        self.missed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Function of a trace.
    ///
    /// # Errors
    /// Those of [`code`].
    pub(crate) fn function(&self, trace: &mut Trace, mode: Mode<'_>, device: &Device) -> Result<Ready, Error> {
        let length = trace.key.len();
        mode.key(&mut trace.key);
        let version = self.version(trace, mode, device);
        trace.key.truncate(length);
        version
    }

    fn version(&self, trace: &Trace, mode: Mode<'_>, device: &Device) -> Result<Ready, Error> {
        let fits = |version: &&Arc<Version>| version.required.iter().all(|required| required.holds(&trace.extents));
        let known = self.known().get(&*trace.key).and_then(|versions| versions.iter().find(fits)).map(Arc::clone);
        if let Some(version) = known
            && let Some(code) = version.code()
        {
            code.touch();
            return Ok(Ready { version, code });
        }
        // Without a lock, so that other threads can evaluate meanwhile.
        let Ready { version, code } = self.made(trace, mode, device.info())?;
        let mut known = self.known();
        let versions = known.entry(trace.key.clone().into_boxed_slice()).or_default();
        if let Some(other) = versions.iter().find(|other| other.required == version.required) {
            other.renew(&code);
            return Ok(Ready { version: Arc::clone(other), code });
        }
        versions.push(Arc::clone(&version));
        Ok(Ready { version, code })
    }

    /// Compiles the function, unfused if the compiler fails on the fused one.
    fn made(&self, trace: &Trace, mode: Mode<'_>, info: &DeviceInfo) -> Result<Ready, Error> {
        let mut wanted = written(trace, mode)?;
        let mut result = code(&wanted, info);
        if let (Err(Error::Compile { message, .. }), Mode::Fused | Mode::Patterns(_)) = (&result, mode) {
            let unfused = written(trace, Mode::Unfused)?;
            if let Ok(made) = code(&unfused, info) {
                let mut missed = self.missed();
                missed.stats.failed += 1;
                missed.stats.last_failure = Some(message.clone());
                drop(missed);
                (wanted, result) = (unfused, Ok(made));
            }
        }
        let (code, is_new) = result?;
        let Missed { stats, numbers } = &mut *self.missed();
        stats.misses += 1;
        if is_new && code.bytes > 0 {
            stats.compiled += 1;
            stats.compile_time += code.time;
        }
        // Without a compiler only prebuilt versions exist.
        if cfg!(feature = "jit") {
            numbers.add(&wanted.text);
        }
        // Browsers have neither the variable nor the stream.
        #[cfg(not(target_arch = "wasm32"))]
        if is_new && environment() == Some(Environment::Explain) {
            eprintln!("{}{}", wanted.text, code.function.plan);
        }
        let fusions = fusions(trace, &wanted, &code);
        let saved = fusions.iter().flat_map(|fusion| &fusion.inner).fold(Size::default(), |sum, &node| {
            // One write and one read.
            sum.add(&wanted.bytes[node].mul(&Size::constant(2)))
        });
        let plan = &code.function.plan;
        let launches = plan.groups.len() as u64;
        let version = Version {
            code: Mutex::new(Arc::downgrade(&code)),
            fusions,
            saved,
            launches,
            launches_saved: u64::from(plan.unfused_dispatches).saturating_sub(launches),
            required: wanted.required,
            operations: trace.operations() as u64,
            runs: AtomicU64::new(0),
            saved_bytes: AtomicU64::new(0),
        };
        Ok(Ready { version: Arc::new(version), code })
    }

    pub(crate) fn add_unquantized(&self, weights: &[String]) {
        if weights.is_empty() {
            return;
        }
        let mut missed = self.missed();
        let known = &mut missed.stats.unquantized;
        for weight in weights {
            if known.len() < MOST_UNQUANTIZED && !known.contains(weight) {
                known.push(weight.clone());
            }
        }
    }

    pub(crate) fn stats(&self) -> FusionStats {
        let mut stats = {
            let missed = self.missed();
            FusionStats { varying: missed.numbers.varying(), ..missed.stats.clone() }
        };
        let mut by_pattern = BTreeMap::new();
        let known = self.known();
        let mut versions: Vec<&Arc<Version>> = known.values().flatten().collect();
        versions.sort_unstable_by_key(|version| Arc::as_ptr(version));
        for version in versions {
            let runs = version.runs.load(Ordering::Relaxed);
            stats.evaluations += runs;
            stats.operations += runs * version.operations;
            stats.launches += runs * version.launches;
            stats.launches_saved += runs * version.launches_saved;
            stats.bytes_saved += version.saved_bytes.load(Ordering::Relaxed);
            for fusion in &version.fusions {
                *by_pattern.entry(fusion.pattern).or_default() += runs;
                stats.applied += runs;
            }
        }
        by_pattern.retain(|_, runs: &mut u64| *runs > 0);
        stats.hits = stats.evaluations.saturating_sub(stats.misses);
        FusionStats { by_pattern, ..stats }
    }
}

pub(crate) fn written(trace: &Trace, mode: Mode<'_>) -> Result<Source, Error> {
    let internal = |message| Error::Compile { message, source_text: String::new() };
    #[cfg_attr(not(feature = "jit"), allow(unused_mut, reason = "only a compiler can cut it otherwise"))]
    let mut source = source(trace, mode.attributes()).map_err(internal)?;
    #[cfg(feature = "jit")]
    if let Mode::Patterns(wanted) = mode {
        source.in_memory = apart(trace, &source, wanted)?;
    }
    #[cfg(not(feature = "jit"))]
    if let Mode::Patterns(_) = mode {
        // Finding the kernels takes the compiler.
        return Err(Error::NotCompiled { source_text: source.text });
    }
    Ok(source)
}

/// Statements to materialize so that only the `wanted` patterns fuse.
#[cfg(feature = "jit")]
fn apart(trace: &Trace, source: &Source, wanted: &BTreeSet<FusionPattern>) -> Result<Vec<usize>, Error> {
    let unwanted = |fusion: &Fusion| !wanted.iter().any(|pattern| fusion.pattern.is_a(*pattern));
    let found = named(trace, &analysis(source)?);
    let statements = statements(trace);
    // Stored ones too: a kernel that is forced to store a value fuses nothing else.
    let nodes = found.iter().filter(|fusion| unwanted(fusion)).flat_map(|fusion| &fusion.nodes);
    let mut apart: Vec<usize> = nodes.filter_map(|node| statements.binary_search(node).ok()).collect();
    apart.sort_unstable();
    apart.dedup();
    Ok(apart)
}
