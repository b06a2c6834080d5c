//! A kernel by the browser's WebNN, where it has one: its result beside the one of WebGPU, and what a run takes.

use fuse_gpu::{Device, Error, WebNn, WebNnOptions};
use serde_json::{Value, json};
use web_time::Instant;

use crate::{apart, gallery::Sample};

/// Runs, of which the fastest counts: each waits for its values.
const RUNS: usize = 5;

/// Either why there is no WebNN, or milliseconds of a run with its values there and back, and how far its result is from the
/// kernels'. `done` is told how many of the runs are over.
///
/// # Errors
/// Those of launches, and of WebNN once there is one.
pub(crate) async fn compare(
    device: &Device,
    sample: &dyn Sample,
    mut done: impl FnMut(usize, usize),
) -> anyhow::Result<Value> {
    let webnn = match WebNn::new(device, WebNnOptions::default()).await {
        Ok(webnn) => webnn,
        Err(Error::NoWebNn { reason }) => return Ok(json!({ "missing": reason })),
        Err(error) => return Err(error.into()),
    };
    let difference = apart(&webnn.run(|| sample.fused()).await?, &sample.fused()?).await?;
    let mut fastest = f64::INFINITY;
    for run in 0..RUNS {
        done(run, RUNS);
        let start = Instant::now();
        webnn.run(|| sample.fused()).await?;
        fastest = fastest.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(json!({ "ms": fastest, "difference": difference }))
}
