//! Measured choice between fused and unfused kernels.
//!
//! At the third evaluation of a graph in a size class both run alternately, and the faster is kept. Browsers measure
//! nothing, since they cannot wait for the device.
#![cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "what others measured is kept there, too"))]

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

#[cfg(not(target_arch = "wasm32"))]
use std::time::{Duration, Instant};

#[cfg(not(target_arch = "wasm32"))]
use fuse_runtime::{
    __private::{Arg, Callable, launch_into_vec},
    Device,
};

#[cfg(not(target_arch = "wasm32"))]
use crate::error::Error;
use crate::pattern::FusionPattern;

#[cfg(not(target_arch = "wasm32"))]
const BUDGET: Duration = Duration::from_millis(20);

/// Evaluation at which a graph is measured; earlier, it might never run again.
const MEASURED_AT: u32 = 3;

const MAX_ENTRIES: usize = 4096;

pub(crate) const LARGEST_CLASS: u32 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Fused,
    Unfused,
}

impl Choice {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fused => "fused",
            Self::Unfused => "unfused",
        }
    }

    pub(crate) fn of(name: &str) -> Option<Self> {
        [Self::Fused, Self::Unfused].into_iter().find(|choice| choice.name() == name)
    }
}

#[derive(Clone, Copy, Debug)]
enum Known {
    Seen(u32),
    Chosen(Choice),
}

#[derive(Default)]
pub(crate) struct Adaptive {
    known: Mutex<BTreeMap<(String, u32), Known>>,
    measured: Mutex<BTreeMap<FusionPattern, Vec<f32>>>,
}

/// Size class: the bit length of a number of elements.
pub(crate) fn class_of(elements: u64) -> u32 {
    u64::BITS - elements.leading_zeros()
}

impl Adaptive {
    fn known(&self) -> MutexGuard<'_, BTreeMap<(String, u32), Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn seen(&self, name: &str, class: u32) -> Result<Choice, bool> {
        let mut known = self.known();
        let is_full = known.len() >= MAX_ENTRIES;
        let key = (name.to_owned(), class);
        match known.get_mut(&key) {
            Some(Known::Chosen(choice)) => Ok(*choice),
            Some(Known::Seen(count)) => {
                *count += 1;
                Err(*count == MEASURED_AT)
            }
            None => {
                if !is_full {
                    known.insert(key, Known::Seen(1));
                }
                Err(false)
            }
        }
    }

    pub(crate) fn choose(&self, name: &str, class: u32, choice: Choice) {
        self.known().insert((name.to_owned(), class), Known::Chosen(choice));
    }

    pub(crate) fn restore(&self, name: &str, class: u32, choice: Choice) {
        if self.known().len() < MAX_ENTRIES {
            self.choose(name, class, choice);
        }
    }

    pub(crate) fn choices(&self) -> Vec<(String, u32, Choice)> {
        let known = self.known();
        let chosen = known.iter().filter_map(|((name, class), known)| match known {
            Known::Chosen(choice) => Some((name.clone(), *class, *choice)),
            Known::Seen(_) => None,
        });
        chosen.collect()
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn add_speedup(&self, pattern: FusionPattern, [fused, unfused]: [Duration; 2]) -> f32 {
        let speedup = (unfused.as_secs_f64() / fused.as_secs_f64().max(1e-9)) as f32;
        let mut measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        let list = measured.entry(pattern).or_default();
        if list.len() >= 64 {
            list.remove(0);
        }
        list.push(speedup);
        speedup
    }

    pub(crate) fn measured(&self) -> BTreeMap<FusionPattern, Vec<f32>> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Shortest times of two functions, run alternately.
///
/// # Errors
/// Those of launching and waiting, such as within a capture.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn measure(device: &Device, functions: [&Callable; 2], args: &[Arg<'_>]) -> Result<[Duration; 2], Error> {
    let run = |function: &Callable| -> Result<Duration, Error> {
        let mut results = vec![];
        let start = Instant::now();
        launch_into_vec(function, args, &mut results)?;
        device.synchronize_blocking()?;
        Ok(start.elapsed())
    };
    device.synchronize_blocking()?;
    // The first run creates pipelines.
    for function in functions {
        run(function)?;
    }
    let (start, mut best) = (Instant::now(), [Duration::MAX; 2]);
    loop {
        for (function, best) in functions.into_iter().zip(&mut best) {
            *best = run(function)?.min(*best);
        }
        // At least one round, even on a busy machine.
        if start.elapsed() >= BUDGET {
            return Ok(best);
        }
    }
}
