//! The graphs that a device has evaluated, and the functions that run them.
//!
//! A graph is known by its structure (`Trace::key`). Functions of one structure differ in extents that their source takes for
//! granted; mostly there is one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fuse_runtime::DeviceInfo;
use rustc_hash::FxHashMap;

use crate::{
    Error,
    code::{Compiled, code},
    source::{Source, source},
    stats::FusionStats,
    symbols::Required,
    trace::Trace,
};

/// The graphs of a device.
#[derive(Default)]
pub(crate) struct Graphs {
    known: Mutex<FxHashMap<Box<[u64]>, Vec<Version>>>,
}

/// A function for some extents of a graph.
#[derive(Clone)]
struct Version {
    required: Arc<[Required]>,
    code: &'static Compiled,
}

/// How a graph is cut into kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Fused,
    Unfused,
}

impl Mode {
    pub(crate) fn attributes(self) -> &'static str {
        match self {
            Self::Fused => "",
            Self::Unfused => "#[no_fuse]\n",
        }
    }
}

impl Graphs {
    fn known(&self) -> MutexGuard<'_, FxHashMap<Box<[u64]>, Vec<Version>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The function that runs a trace.
    ///
    /// # Errors
    /// Those of [`code`].
    pub(crate) fn function(
        &self,
        trace: &mut Trace,
        mode: Mode,
        info: &DeviceInfo,
        stats: impl Fn(&mut dyn FnMut(&mut FusionStats)),
    ) -> Result<&'static Compiled, Error> {
        trace.key.push(mode as u64);
        let fits = |version: &&Version| version.required.iter().all(|required| required.holds(&trace.extents));
        if let Some(version) = self.known().get(&*trace.key).and_then(|versions| versions.iter().find(fits)) {
            stats(&mut |stats| stats.hits += 1);
            return Ok(version.code);
        }
        // Others evaluate meanwhile.
        let (code, required) = made(trace, mode, info, &stats)?;
        let mut known = self.known();
        let versions = known.entry(trace.key.clone().into_boxed_slice()).or_default();
        if !versions.iter().any(|version| *version.required == *required) {
            versions.push(Version { required: required.into(), code });
        }
        Ok(code)
    }
}

/// Makes the function of a trace, one without fusion if the compiler fails on the fused one.
fn made(
    trace: &Trace,
    mode: Mode,
    info: &DeviceInfo,
    stats: &impl Fn(&mut dyn FnMut(&mut FusionStats)),
) -> Result<(&'static Compiled, Vec<Required>), Error> {
    let written = |mode: Mode| {
        source(trace, mode.attributes()).map_err(|message| Error::Compile { message, source_text: String::new() })
    };
    let mut wanted = written(mode)?;
    let mut result = code(&wanted, info);
    if let (Err(Error::Compile { message, .. }), Mode::Fused) = (&result, mode) {
        let message = message.clone();
        let unfused = written(Mode::Unfused)?;
        if let Ok(made) = code(&unfused, info) {
            stats(&mut |stats| {
                stats.failed += 1;
                stats.last_failure = Some(message.clone());
            });
            (wanted, result) = (unfused, Ok(made));
        }
    }
    let Source { required, .. } = wanted;
    let (code, is_new) = result?;
    stats(&mut |stats| {
        stats.misses += 1;
        if is_new && code.bytes > 0 {
            stats.compiled += 1;
            stats.compile_time += code.time;
        }
    });
    Ok((code, required))
}
