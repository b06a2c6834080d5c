//! Making the callbacks of awaited readbacks run soon.
//!
//! Browsers run them from their event loop. Firefox, however, looks at its device every 100 ms only, or when something is
//! submitted; so it gets empty submissions until the answer is there, more and more rarely: each one takes time from a
//! software adapter.

use js_sys::{
    Function, Promise,
    wasm_bindgen::{self, prelude::wasm_bindgen},
};
use wasm_bindgen_futures::{JsFuture, spawn_local};

use crate::context::environment::Environment;

/// Pauses that are as short as the browser allows: most readbacks are there after them.
const SHORT_PAUSES: u32 = 4;
/// The longest pause: what Firefox does by itself is twice as slow.
const LONGEST_PAUSE_MS: u32 = 50;

/// Milliseconds for which a readback that worked waits for what was said of pipelines before: it is as good as there, and pipelines
/// that others have compiled meanwhile should not hold it up.
pub(crate) const MOMENT: &[u32] = &[0, 4, 16, 64];
/// Milliseconds for which one that failed waits for the reason. Firefox looks for it every 100 ms only, and less often on a busy
/// machine.
pub(crate) const WHILE: &[u32] = &[0, 4, 16, 64, 128, 256, 512, 1024];

#[wasm_bindgen]
extern "C" {
    /// Of windows and of workers.
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

/// Waits for an explanation, where it may be late: a browser may say that a launch failed before it says why its pipeline did, or
/// that a buffer cannot be mapped before it says that the device is lost.
pub(crate) async fn patience(pauses: &[u32], explained: impl Fn() -> bool) {
    for pause in pauses {
        if explained() {
            return;
        }
        sleep(*pause).await;
    }
}

/// Waits for an answer that the browser is sure to give, however long it compiles.
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

/// Milliseconds between two looks: an eighth of what was waited so far.
fn pauses() -> impl Iterator<Item = u32> {
    let mut waited = 0;
    (0..).map(move |look| {
        let pause = if look < SHORT_PAUSES { 0 } else { (waited / 8).clamp(4, LONGEST_PAUSE_MS) };
        waited += pause;
        pause
    })
}
