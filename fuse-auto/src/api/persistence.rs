//! Persists compiled sources and timings between runs.
//!
//! The file is the content of a `fuse!` block, to compile when a program starts or to paste into a crate for
//! [`preload`](crate::preload). Function names are checksums of sources.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use fuse_runtime::{Device, DeviceInfo};

use crate::{
    cache::{
        adaptive::{self, Choice},
        code_cache::{code, sources},
    },
    error::Error,
    eval::session::Session,
    source::Source,
};

const HEADER: &str = "// fuse-auto 1";

/// Functions that compile in the background.
#[derive(Debug)]
#[non_exhaustive]
pub struct WarmUp {
    /// Number of functions.
    pub functions: usize,
    /// Errors of damaged parts, which are skipped.
    pub refused: Vec<String>,
    work: Arc<Work>,
    #[cfg(not(target_arch = "wasm32"))]
    threads: Vec<std::thread::JoinHandle<()>>,
}

#[derive(Debug)]
struct Work {
    sources: Vec<Source>,
    next: AtomicUsize,
    info: DeviceInfo,
    failed: Mutex<Vec<String>>,
}

impl Work {
    /// Compiles the next function; false if none is left.
    fn step(&self) -> bool {
        let Some(source) = self.sources.get(self.next.fetch_add(1, Ordering::Relaxed)) else { return false };
        if let Err(error) = code(source, &self.info) {
            let message = format!("`{}`: {error}", source.name);
            self.failed.lock().unwrap_or_else(PoisonError::into_inner).push(message);
        }
        true
    }
}

impl WarmUp {
    /// Waits until all functions are compiled; returns the errors.
    pub fn wait(self) -> Vec<String> {
        while self.work.step() {}
        #[cfg(not(target_arch = "wasm32"))]
        for thread in self.threads {
            // Functions of a thread that panicked compile when needed.
            _ = thread.join();
        }
        let mut failed = self.refused;
        failed.extend(self.work.failed.lock().unwrap_or_else(PoisonError::into_inner).drain(..));
        failed
    }
}

/// Sources that this process compiled, and a device's measurements, in the format of [`warm_up_text`].
pub fn record_text(device: &Device) -> String {
    let mut text = format!("{HEADER}\n");
    for (name, class, choice) in Session::of(device).adaptive.choices() {
        text += &format!("// adaptive {name} {class} {}\n", choice.name());
    }
    for source in sources() {
        text += &source;
    }
    text
}

/// Writes [`record_text`] to a file.
///
/// # Errors
/// [`Error::File`] if it cannot be written.
#[cfg(not(target_arch = "wasm32"))]
pub fn record(device: &Device, path: impl AsRef<std::path::Path>) -> Result<(), Error> {
    let path = path.as_ref();
    // Renamed, so readers never see a part.
    let part = path.with_extension(format!("part{}", std::process::id()));
    let written = std::fs::write(&part, record_text(device)).and_then(|()| std::fs::rename(&part, path));
    written.map_err(|error| {
        _ = std::fs::remove_file(&part);
        Error::File { path: path.display().to_string(), message: error.to_string() }
    })
}

/// Compiles the functions of a file of [`record`] for a device on background threads.
///
/// Damaged functions are skipped and reported.
///
/// # Errors
/// [`Error::File`] if the file cannot be read or has another format; programs can continue without it.
#[cfg(not(target_arch = "wasm32"))]
pub fn warm_up(device: &Device, path: impl AsRef<std::path::Path>) -> Result<WarmUp, Error> {
    let path = path.as_ref();
    let file = |message: String| Error::File { path: path.display().to_string(), message };
    let text = std::fs::read_to_string(path).map_err(|error| file(error.to_string()))?;
    warm_up_text(device, &text).map_err(|error| match error {
        Error::File { message, .. } => file(message),
        other => other,
    })
}

/// As [`warm_up`], for the content of a file. In browsers, which have no threads, [`WarmUp::wait`] compiles.
///
/// # Errors
/// [`Error::File`] if the format differs.
pub fn warm_up_text(device: &Device, text: &str) -> Result<WarmUp, Error> {
    let Some(body) = text.strip_prefix(HEADER) else {
        let message = format!("not written by `record`: its first line is not `{HEADER}`");
        return Err(Error::File { path: "text".to_owned(), message });
    };
    let (mut sources, mut refused) = (vec![], vec![]);
    let mut function = String::new();
    for line in body.lines().filter(|line| !line.is_empty()) {
        if function.is_empty() && line.starts_with("//") {
            match line.strip_prefix("// adaptive ").and_then(adaptive_entry) {
                Some((name, class, choice)) => Session::of(device).adaptive.restore(name, class, choice),
                None => refused.push(format!("not understood: `{line}`")),
            }
            continue;
        }
        function += line;
        function.push('\n');
        if line == "}" {
            match Source::kept(std::mem::take(&mut function)) {
                Ok(source) => sources.push(source),
                Err(message) => refused.push(message),
            }
        }
    }
    if !function.is_empty() {
        refused.push(format!("a function without end: `{}`", function.lines().next().unwrap_or_default()));
    }
    let work =
        Arc::new(Work { sources, next: AtomicUsize::new(0), info: device.info().clone(), failed: Mutex::new(vec![]) });
    Ok(WarmUp {
        functions: work.sources.len(),
        refused,
        #[cfg(not(target_arch = "wasm32"))]
        threads: threads(&work),
        work,
    })
}

/// One thread fewer than processors, since the program runs meanwhile.
#[cfg(not(target_arch = "wasm32"))]
fn threads(work: &Arc<Work>) -> Vec<std::thread::JoinHandle<()>> {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let count = (processors - 1).clamp(1, work.sources.len().max(1));
    let spawn = |_| {
        let work = Arc::clone(work);
        let run = move || while work.step() {};
        // If no thread can be started, `wait` compiles.
        std::thread::Builder::new().name("fuse-auto".to_owned()).spawn(run).ok()
    };
    (0..count).filter_map(spawn).collect()
}

fn adaptive_entry(entry: &str) -> Option<(&str, u32, Choice)> {
    let mut parts = entry.split(' ');
    let (name, class, choice) = (parts.next()?, parts.next()?.parse().ok()?, Choice::of(parts.next()?)?);
    (parts.next().is_none() && class <= adaptive::LARGEST_CLASS).then_some((name, class, choice))
}
