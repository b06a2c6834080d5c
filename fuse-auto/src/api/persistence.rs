//! What one run of a program leaves to the next: the sources that it compiled, and what it measured.
//!
//! The file is the text of a `fuse!` block. So it can be compiled in the background when a program starts, or be pasted into a crate,
//! whose functions [`preload`](crate::preload) registers. Names of functions are checksums of their texts.

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

/// The first line of a file.
const HEADER: &str = "// fuse-auto 1";

/// Functions that are compiled in the background.
#[derive(Debug)]
#[non_exhaustive]
pub struct WarmUp {
    /// The functions of the text.
    pub functions: usize,
    /// What was wrong with parts of the text, which are left out.
    pub refused: Vec<String>,
    work: Arc<Work>,
    #[cfg(not(target_arch = "wasm32"))]
    threads: Vec<std::thread::JoinHandle<()>>,
}

/// What threads share.
#[derive(Debug)]
struct Work {
    sources: Vec<Source>,
    next: AtomicUsize,
    info: DeviceInfo,
    failed: Mutex<Vec<String>>,
}

impl Work {
    /// Compiles the next function; whether there was one.
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
    /// Waits until all functions are compiled, and gives those that could not be.
    pub fn wait(self) -> Vec<String> {
        while self.work.step() {}
        #[cfg(not(target_arch = "wasm32"))]
        for thread in self.threads {
            // A thread that panicked has compiled less, and what it left is compiled when it is needed.
            _ = thread.join();
        }
        let mut failed = self.refused;
        failed.extend(self.work.failed.lock().unwrap_or_else(PoisonError::into_inner).drain(..));
        failed
    }
}

/// The sources that this process compiled for lazy tensors, and what it measured on a device, as a text for [`warm_up_text`].
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
    // Beside it first: whoever reads it meanwhile finds all or nothing.
    let part = path.with_extension(format!("part{}", std::process::id()));
    let written = std::fs::write(&part, record_text(device)).and_then(|()| std::fs::rename(&part, path));
    written.map_err(|error| {
        _ = std::fs::remove_file(&part);
        Error::File { path: path.display().to_string(), message: error.to_string() }
    })
}

/// Compiles what [`record`] wrote, on threads in the background, for a device.
///
/// # Errors
/// [`Error::File`] if there is no such file or it is none of these: a program then goes on without it. Damaged functions in it are
/// left out, and told.
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

/// As [`warm_up`], of a text. In browsers, which have no threads, [`WarmUp::wait`] compiles.
///
/// # Errors
/// [`Error::File`] if the text is none of these.
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

/// Threads that compile, one less than the machine has processors: the program goes on meanwhile.
#[cfg(not(target_arch = "wasm32"))]
fn threads(work: &Arc<Work>) -> Vec<std::thread::JoinHandle<()>> {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let count = (processors - 1).clamp(1, work.sources.len().max(1));
    let spawn = |_| {
        let work = Arc::clone(work);
        let run = move || while work.step() {};
        // Where no thread can be made, `wait` compiles.
        std::thread::Builder::new().name("fuse-auto".to_owned()).spawn(run).ok()
    };
    (0..count).filter_map(spawn).collect()
}

fn adaptive_entry(entry: &str) -> Option<(&str, u32, Choice)> {
    let mut parts = entry.split(' ');
    let (name, class, choice) = (parts.next()?, parts.next()?.parse().ok()?, Choice::of(parts.next()?)?);
    (parts.next().is_none() && class <= adaptive::LARGEST_CLASS).then_some((name, class, choice))
}
