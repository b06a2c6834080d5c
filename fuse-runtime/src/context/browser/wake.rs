//! Prompt callbacks of awaited readbacks.
//!
//! Browsers run callbacks from their event loop. Firefox looks at its device only every 100 ms, or on a submission. So
//! it gets empty submissions until the answer arrives, at growing intervals, because each one takes time from a
//! software adapter.

use js_sys::{
    Function, Promise,
    wasm_bindgen::{self, prelude::wasm_bindgen},
};
use wasm_bindgen_futures::{JsFuture, spawn_local};

use crate::context::environment::Environment;

/// Number of shortest pauses: most readbacks arrive within them.
const SHORT_PAUSES: u32 = 4;
/// Longest pause: half of Firefox's own interval.
const LONGEST_PAUSE_MS: u32 = 50;

/// Pauses in milliseconds for which a successful readback waits for earlier reports about pipelines. They are short, so
/// that compilations of other pipelines do not delay it.
pub(crate) const MOMENT: &[u32] = &[0, 4, 16, 64];
/// Pauses in milliseconds for which a failed readback waits for the reason. Firefox looks for it every 100 ms, and less
/// often on a busy machine.
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

/// Waits for an explanation, which may come late: a browser may report a failed launch before the failure of its
/// pipeline, or a failed map before the loss of the device.
pub(crate) async fn patience(pauses: &[u32], explained: impl Fn() -> bool) {
    for pause in pauses {
        if explained() {
            return;
        }
        sleep(*pause).await;
    }
}

/// Waits for an answer that is sure to come, however long the browser compiles.
pub(crate) async fn until(answered: impl Fn() -> bool) {
    for pause in pauses() {
        if answered() {
            return;
        }
        sleep(pause).await;
    }
}

async fn sleep(milliseconds: u32) {
    // A timer cannot fail.
    drop(JsFuture::from(Promise::new(&mut |resolve, _| set_timeout(&resolve, milliseconds))).await);
}

/// Milliseconds between two looks: an eighth of the time waited so far.
fn pauses() -> impl Iterator<Item = u32> {
    let mut waited = 0;
    (0..).map(move |look| {
        let pause = if look < SHORT_PAUSES { 0 } else { (waited / 8).clamp(4, LONGEST_PAUSE_MS) };
        waited += pause;
        pause
    })
}
