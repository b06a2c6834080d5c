//! Runs the cases of each bit width in order, widths in parallel. Returns all measurements, and each width's model with
//! the best embeddings, which kernels recompute.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use anyhow::anyhow;
use fuse_quantize::Packing;

use super::{
    calibrate::{self, Reference},
    cases::{Case, Method},
    measure::{Outcome, Yardstick},
    report,
    round::{self, QuantizedModel},
};

pub(crate) struct Width {
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) best: Option<(f64, QuantizedModel)>,
}

/// A width per processor: calibrated cases take about equally long.
pub(crate) fn run(
    cases: &[Case],
    yardstick: &Yardstick<'_>,
    reference: &Reference,
) -> anyhow::Result<BTreeMap<Packing, Width>> {
    let mut widths: Vec<(Packing, Vec<Case>)> = vec![];
    for packing in Packing::ALL {
        let of_width: Vec<Case> = cases.iter().copied().filter(|case| case.packing == packing).collect();
        widths.extend((!of_width.is_empty()).then_some((packing, of_width)));
    }
    let (next, done) = (AtomicUsize::new(0), Mutex::new(vec![]));
    let work = || {
        while let Some((packing, cases)) = widths.get(next.fetch_add(1, Ordering::Relaxed)) {
            let width = one_width(cases, yardstick, reference);
            if let Ok(mut done) = done.lock() {
                done.push(width.map(|width| (*packing, width)));
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(widths.len());
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    done.into_inner().map_err(|_| anyhow!("a thread stopped"))?.into_iter().collect()
}

fn one_width(cases: &[Case], yardstick: &Yardstick<'_>, reference: &Reference) -> anyhow::Result<Width> {
    let mut width = Width { outcomes: vec![], best: None };
    let mut last: Option<(Case, QuantizedModel)> = None;
    for &case in cases {
        let start = Instant::now();
        let without_table = Case { table: false, ..case };
        let mut quantized = match (last.take(), case.method) {
            // Linear layers of the previous case.
            (Some((before, quantized)), _) if before == without_table => quantized,
            (_, Method::Rounded) => round::quantize(&case, yardstick.model())?,
            (_, Method::Feedback | Method::Fitted) => calibrate::quantize(&case, yardstick.model(), reference)?,
        };
        if case.table {
            round::quantize_table(&case, &mut quantized)?;
        }
        let outcome = yardstick.measure(case, &quantized)?;
        println!("{} ({:.1} s)", report::line(&outcome), start.elapsed().as_secs_f64());
        if !case.table && width.best.as_ref().is_none_or(|(mean, _)| *mean < outcome.mean) {
            width.best = Some((outcome.mean, quantized.clone()));
        }
        last = Some((case, quantized));
        width.outcomes.push(outcome);
    }
    Ok(width)
}
