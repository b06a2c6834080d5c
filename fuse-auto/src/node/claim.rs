//! Claims: one thread evaluates a value while others wait for it.

#[derive(Debug, Default)]
pub(crate) struct Claim {
    #[cfg(not(target_arch = "wasm32"))]
    done: (std::sync::Mutex<bool>, std::sync::Condvar),
}

impl Claim {
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn finish(&self) {
        let (done, wake) = &self.done;
        *done.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = true;
        wake.notify_all();
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn wait(&self) {
        let (done, wake) = &self.done;
        let done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        drop(wake.wait_while(done, |done| !*done));
    }

    #[cfg(target_arch = "wasm32")]
    pub(crate) fn finish(&self) {}

    #[cfg(target_arch = "wasm32")]
    pub(crate) fn wait(&self) {}
}
