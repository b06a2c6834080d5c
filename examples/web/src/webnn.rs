//! Runs a kernel with the browser's WebNN, if available, and compares it with WebGPU.

use fuse_gpu::{Device, Error, WebNn, WebNnOptions};
use serde_json::{Value, json};
use web_time::Instant;

use crate::{apart, gallery::Sample};

/// Includes readback; the fastest counts.
const RUNS: usize = 5;

/// Milliseconds with upload and readback, and the difference from the kernels' result; or why there is no WebNN. `done`
/// gets the number of finished runs.
///
/// # Errors
/// Those of launches, and of WebNN if it is available.
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
