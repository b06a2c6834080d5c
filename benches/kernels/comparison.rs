//! Compares fused with unfused functions, and both with lower bounds.

use std::time::Duration;

use fuse_bench_results::line::{self, Side, Turns};
use fuse_gpu::{Device, Error};

use crate::{
    cases::dtype,
    formulas::Prepared,
    interleave::{Interleaved, interleave},
    lower_bound::{Moved, Rates},
    measure::{Effort, Times, calibrate, micros, on_gpu, queued},
    ratios::Pair,
    run_modes::{Failure, check},
};

struct Function {
    error: f64,
    variant: String,
    moved: Option<Moved>,
}

pub(crate) fn compare(
    device: &Device,
    pair: &Pair,
    prepared: &[Prepared; 2],
    rates: Option<Rates>,
    effort: Effort,
) -> Result<line::Pair, Failure> {
    let shapes: Vec<&[usize]> = pair.shapes.iter().map(Vec::as_slice).collect();
    let function = |which: usize| {
        let error = check(&prepared[which])?;
        let explanation = device.explain(pair.functions[which], &shapes)?;
        let variants = explanation.kernels.iter().filter_map(|kernel| kernel.chosen.clone());
        let moved = Moved::by(pair.functions[which], &shapes, &explanation);
        Ok::<_, Failure>(Function { error, variant: variants.collect::<Vec<_>>().join(" + "), moved })
    };
    let functions = [function(0)?, function(1)?];

    let wall = |which: usize, launches| queued(launches, &prepared[which].launch, || device.synchronize_blocking());
    let launches = [calibrate(effort, |launches| wall(0, launches))?, calibrate(effort, |launches| wall(1, launches))?];
    let walls = interleave(effort.batches, launches, wall)?;
    let on_gpu =
        |which: usize, launches| -> Result<Duration, Error> { on_gpu(device, launches, &prepared[which].launch) };
    let gpu = device.info().timestamps.then(|| interleave(effort.batches, launches, on_gpu)).transpose()?;

    let times = gpu.as_ref().unwrap_or(&walls).times;
    let side = |which: usize| {
        let Function { error, variant, moved } = &functions[which];
        let floor = rates.zip(*moved).map(|(rates, moved)| rates.floor(moved));
        Side {
            variant: variant.clone(),
            bytes: moved.map(|moved| moved.bytes),
            dispatches: moved.map(|moved| moved.dispatches),
            floor_bytes_us: floor.map(|floor| micros(floor.bytes)),
            floor_launches_us: floor.map(|floor| micros(floor.launches)),
            bound: floor.map(|floor| floor.bound(times[which].median, pair.product).to_string()),
            error_over_bound: *error,
        }
    };
    Ok(line::Pair {
        case: pair.formula.to_owned(),
        dtype: dtype(pair.f16).to_owned(),
        size: pair.size.clone(),
        extent: pair.extent,
        product: pair.product,
        wall: turns(&walls),
        gpu: gpu.as_ref().map(turns),
        at_most: functions[0].moved.zip(functions[1].moved).map(|(fused, unfused)| fused.gain(unfused)),
        fused: side(0),
        unfused: side(1),
    })
}

fn turns(measured: &Interleaved) -> Turns {
    let [fused, unfused] = measured.times;
    let all = |times: Times| [times.median, times.min, times.max].map(micros);
    Turns {
        fused_us: all(fused),
        unfused_us: all(unfused),
        launches_per_batch: [fused.launches, unfused.launches],
        ratio: measured.ratio.median,
        ratio_range: [measured.ratio.low, measured.ratio.high],
    }
}
