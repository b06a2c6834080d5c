//! How fast a machine is, for the cost model: some seconds of launches, copies and products.
//!
//! What no launch can tell (how many invocations a unit holds, its workgroup memory, the cache) stays as the model takes it.

use std::time::{Duration, Instant};

use fuse_gpu::{__private::launch_dynamic, AdapterKind, Device, Error, Hardware};

use crate::{
    cases::{self, Case},
    specializations::timed,
};

/// Intended time of a batch, and its most launches.
const BATCH: Duration = Duration::from_millis(5);
const MAX_LAUNCHES: u32 = 1000;

/// Rounds, of which the fastest counts: what disturbs one only adds to it.
const ROUNDS: usize = 9;

/// Work before the first round: GPUs lower their clocks when they idle.
const WARM_UP: Duration = Duration::from_millis(200);

/// What a unit is taken to reach of itself: 8×8 sums of an invocation, 256 invocations.
const VARIANT: &str = "tile 128x128x8";
const TILE: usize = 128;

/// The part of a unit that one workgroup of [`VARIANT`] keeps busy, as on the H200.
const BUSY: f64 = 0.9;

/// The depth of the product of one workgroup.
const DEPTH: usize = 2048;

/// What the cost model should take a device for.
pub(crate) fn measure(device: &Device) -> Result<Hardware, Error> {
    let assumed = device.hardware();
    let launch = seconds(device, &cases::moved(1))?;
    let elements = most_elements(device);
    let bytes = 8.0 * elements as f64 / seconds(device, &cases::moved(elements))?;
    let Hardware { units, multiply_adds, .. } = arithmetic(device, launch, assumed)?;
    let number = |x: f64| (x.round() as u32).max(1);
    Ok(Hardware { units, multiply_adds, bytes: number(bytes / 1e6), launch: number(launch * 1e9), ..assumed })
}

/// Beyond every cache, and short enough for processors.
fn most_elements(device: &Device) -> usize {
    let wanted = if device.info().kind == AdapterKind::Software { 1 << 23 } else { 1 << 26 };
    usize::try_from(device.info().limits.binding_bytes / 4).unwrap_or(wanted).min(wanted)
}

/// Units and what each multiplies: the whole machine's product beside that of one workgroup.
fn arithmetic(device: &Device, launch: f64, assumed: Hardware) -> Result<Hardware, Error> {
    device.force_alternative(Some(0));
    device.force_variant(Some(VARIANT));
    let times = products(device);
    device.force_variant(None);
    device.force_alternative(None);
    let [one, all] = match times {
        Ok(times) => times,
        // An adapter without room for such tiles.
        Err(Error::Variant { .. }) => return Ok(assumed),
        Err(error) => return Err(error),
    };
    let one = (TILE * TILE * DEPTH) as f64 / (one - launch).max(launch / 10.0) / BUSY;
    let units = (all / one).round().clamp(1.0, 4096.0);
    Ok(Hardware { units: units as u32, multiply_adds: ((all / units / 1e6).round() as u32).max(1), ..assumed })
}

/// The seconds of one workgroup's product, and the multiply-adds that the machine does in a second.
fn products(device: &Device) -> Result<[f64; 2], Error> {
    let one = seconds(device, &cases::product([TILE, TILE, DEPTH]))?;
    let mut size = 256;
    loop {
        let time = seconds(device, &cases::product([size; 3]))?;
        // Long enough that launches and last rounds are a small part.
        if time > 4.0 * BATCH.as_secs_f64() || size >= 4096 {
            return Ok([one, (size as f64).powi(3) / time]);
        }
        size *= 2;
    }
}

/// Seconds of a launch among many.
fn seconds(device: &Device, case: &Case) -> Result<f64, Error> {
    let inputs = case.inputs(device)?;
    let arguments = inputs.arguments();
    let batch = |launches: u32| -> Result<f64, Error> {
        let work = || (0..launches).try_for_each(|_| launch_dynamic(case.function(), &arguments).map(drop));
        Ok(timed(device, work)?.as_secs_f64() / f64::from(launches))
    };
    // Once for memory and pipelines that are used for the first time.
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
