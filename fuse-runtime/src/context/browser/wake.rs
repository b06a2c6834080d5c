//! Prompt callbacks of awaited readbacks.
//!
//! Firefox looks at its device only every 100 ms, or on a submission: it gets empty ones at growing intervals, because
//! each takes time from a software adapter.

use js_sys::{
    Function, Promise,
    wasm_bindgen::{self, prelude::wasm_bindgen},
};
use wasm_bindgen_futures::{JsFuture, spawn_local};

use crate::context::environment::Environment;

/// Most readbacks arrive within these.
const SHORT_PAUSES: u32 = 4;
/// Half of Firefox's own interval.
const LONGEST_PAUSE_MS: u32 = 50;

/// Milliseconds in which a successful readback waits for reports about pipelines; short, because other compilations
/// must not delay it.
pub(crate) const MOMENT: &[u32] = &[0, 4, 16, 64];
/// Milliseconds in which a failed readback waits for the reason. Firefox looks every 100 ms, or less often.
pub(crate) const WHILE: &[u32] = &[0, 4, 16, 64, 128, 256, 512, 1024];

#[wasm_bindgen]
extern "C" {
    /// Exists in windows and workers.
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(resolve: &Function, milliseconds: u32);
}

/// Makes the browser look at its device until `answered`.
pub(crate) fn hurry(queue: &wgpu::Queue, answered: impl Fn() -> bool + 'static) {
    if Environment::present() != Environment::Firefox {
        return;
    }
    let queue = queue.clone();
    spawn_local(async move {
        for pause in pauses() {
            if answered() {
                return;
            }
            queue.submit([]);
            sleep(pause).await;
        }
    });
}

/// A browser may report a failed launch before its pipeline's failure, or a failed map before the device's loss.
pub(crate) async fn patience(pauses: &[u32], explained: impl Fn() -> bool) {
    for pause in pauses {
        if explained() {
            return;
        }
        sleep(*pause).await;
    }
}

/// Waits for a certain answer, however long the browser compiles.
pub(crate) async fn until(answered: impl Fn() -> bool) {
    for pause in pauses() {
        if answered() {
            return;
        }
        sleep(pause).await;
    }
}

async fn sleep(milliseconds: u32) {
    drop(JsFuture::from(Promise::new(&mut |resolve, _| set_timeout(&resolve, milliseconds))).await);
}

/// Milliseconds between looks: an eighth of the time waited.
fn pauses() -> impl Iterator<Item = u32> {
    let mut waited = 0;
    (0..).map(move |look| {
        let pause = if look < SHORT_PAUSES { 0 } else { (waited / 8).clamp(4, LONGEST_PAUSE_MS) };
        waited += pause;
        pause
    })
}
