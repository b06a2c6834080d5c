//! Measures a machine for the cost model: seconds of launches, copies and products. What launches cannot show
//! (invocations per unit, workgroup memory, cache) keeps the model's defaults.

use std::time::{Duration, Instant};

use fuse_gpu::{__private::launch_dynamic, AdapterKind, Device, Error, Hardware};

use crate::{
    cases::{self, Case},
    specializations::timed,
};

const BATCH: Duration = Duration::from_millis(5);
const MAX_LAUNCHES: u32 = 1000;

/// The fastest counts: disturbances only add time.
const ROUNDS: usize = 9;

/// GPUs lower their clocks when idle.
const WARM_UP: Duration = Duration::from_millis(200);

/// Assumed to saturate a unit: 8×8 accumulators per invocation, 256 invocations.
const VARIANT: &str = "tile 128x128x8";
const TILE: usize = 128;

/// Share of a unit that one workgroup keeps busy, as on the H200.
const BUSY: f64 = 0.9;

const DEPTH: usize = 2048;

pub(crate) fn measure(device: &Device) -> Result<Hardware, Error> {
    let assumed = device.hardware();
    let launch = seconds(device, &cases::moved(1))?;
    let elements = most_elements(device);
    let bytes = 8.0 * elements as f64 / seconds(device, &cases::moved(elements))?;
    let Hardware { units, multiply_adds, .. } = arithmetic(device, launch, assumed)?;
    let number = |x: f64| (x.round() as u32).max(1);
    Ok(Hardware { units, multiply_adds, bytes: number(bytes / 1e6), launch: number(launch * 1e9), ..assumed })
}

/// Beyond every cache, yet short enough for software adapters.
fn most_elements(device: &Device) -> usize {
    let wanted = if device.info().kind == AdapterKind::Software { 1 << 23 } else { 1 << 26 };
    usize::try_from(device.info().limits.binding_bytes / 4).unwrap_or(wanted).min(wanted)
}

/// The whole machine against one workgroup.
fn arithmetic(device: &Device, launch: f64, assumed: Hardware) -> Result<Hardware, Error> {
    device.force_alternative(Some(0));
    device.force_variant(Some(VARIANT));
    let times = products(device);
    device.force_variant(None);
    device.force_alternative(None);
    let [one, all] = match times {
        Ok(times) => times,
        Err(Error::Variant { .. }) => return Ok(assumed),
        Err(error) => return Err(error),
    };
    let one = (TILE * TILE * DEPTH) as f64 / (one - launch).max(launch / 10.0) / BUSY;
    let units = (all / one).round().clamp(1.0, 4096.0);
    Ok(Hardware { units: units as u32, multiply_adds: ((all / units / 1e6).round() as u32).max(1), ..assumed })
}

/// Seconds of one workgroup's product, and the machine's multiply-adds per second.
fn products(device: &Device) -> Result<[f64; 2], Error> {
    let one = seconds(device, &cases::product([TILE, TILE, DEPTH]))?;
    let mut size = 256;
    loop {
        let time = seconds(device, &cases::product([size; 3]))?;
        // Long enough that launches and the last partial waves hardly count.
        if time > 4.0 * BATCH.as_secs_f64() || size >= 4096 {
            return Ok([one, (size as f64).powi(3) / time]);
        }
        size *= 2;
    }
}

fn seconds(device: &Device, case: &Case) -> Result<f64, Error> {
    let inputs = case.inputs(device)?;
    let arguments = inputs.arguments();
    let batch = |launches: u32| -> Result<f64, Error> {
        let work = || (0..launches).try_for_each(|_| launch_dynamic(case.function(), &arguments).map(drop));
        Ok(timed(device, work)?.as_secs_f64() / f64::from(launches))
    };
    // The first use of memory and pipelines.
    batch(1)?;
    let (start, mut launches) = (Instant::now(), 1);
    while start.elapsed() < WARM_UP {
        launches = ((BATCH.as_secs_f64() / batch(launches)?.max(1e-9)) as u32).clamp(1, MAX_LAUNCHES);
    }
    let mut fastest = f64::INFINITY;
    for _ in 0..ROUNDS {
        fastest = fastest.min(batch(launches)?);
    }
    Ok(fastest)
}
