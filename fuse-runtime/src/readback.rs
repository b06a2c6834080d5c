//! Reading tensors back, and waiting for the GPU.
//!
//! A readback records a copy to a staging buffer, submits, and maps that buffer. Blocking readbacks poll until the
//! map is there. Awaited ones are woken by the map's callback, which `poller` makes run.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, Condvar, Mutex},
    task::{Context, Poll, Waker},
};

use crate::{Device, Error, capture, lock::lock, pool::Storage, raw::RawTensor};

/// Decodes the bytes of `tensor`, waiting for them.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn read_blocking<R>(tensor: &RawTensor, decode: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
    match Pending::start(tensor)? {
        None => Ok(decode(&[])),
        Some(pending) => {
            pending.wait();
            pending.finish(decode)
        }
    }
}

/// Decodes the bytes of `tensor` once they are there.
pub(crate) async fn read<R>(tensor: &RawTensor, decode: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
    match Pending::start(tensor)? {
        None => Ok(decode(&[])),
        Some(pending) => {
            pending.answer.given(&pending.device, pending.submission.clone()).await;
            #[cfg(target_arch = "wasm32")]
            pending.explained().await;
            pending.finish(decode)
        }
    }
}

/// Resolves when the work up to `submission` is done, in browsers also the compilation of all pipelines.
pub(crate) async fn done(device: &Device, submission: Option<wgpu::SubmissionIndex>) {
    let answer = Arc::<Answer>::default();
    let shared = Arc::clone(&answer);
    device.inner.queue.on_submitted_work_done(move || shared.give(true));
    answer.given(device, submission).await;
    #[cfg(target_arch = "wasm32")]
    crate::browser::until(|| !device.inner.fault.is_awaited()).await;
}

/// Polls the device; whether it worked.
pub(crate) fn poll(device: &wgpu::Device, kind: wgpu::PollType) -> bool {
    // wgpu panics where the driver reports a fatal error from within a wait; here that is a lost device.
    catch_unwind(AssertUnwindSafe(|| device.poll(kind))).is_ok_and(|polled| polled.is_ok())
}

/// A staging buffer on its way to being mapped.
struct Pending {
    device: Device,
    staging: Storage,
    bytes: u64,
    #[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "browsers wait for nothing"))]
    submission: Option<wgpu::SubmissionIndex>,
    answer: Arc<Answer>,
}

/// What a callback says: of a map, or of work that is done.
#[derive(Default)]
struct Answer {
    state: Mutex<AnswerState>,
    /// Notified by the callback.
    changed: Condvar,
}

#[derive(Default)]
struct AnswerState {
    /// Whether it worked, once the callback has run.
    worked: Option<bool>,
    /// The task to wake.
    waker: Option<Waker>,
}

impl Answer {
    /// The callback.
    fn give(&self, worked: bool) {
        let waker = {
            let mut state = lock(&self.state);
            state.worked = Some(worked);
            state.waker.take()
        };
        // Without the lock: the task may be polled from within.
        if let Some(waker) = waker {
            waker.wake();
        }
        self.changed.notify_all();
    }

    fn worked(&self) -> Option<bool> {
        lock(&self.state).worked
    }

    /// Resolves when the callback has run; makes it run when `submission` is done.
    #[cfg(not(target_arch = "wasm32"))]
    fn given(&self, device: &Device, submission: Option<wgpu::SubmissionIndex>) -> Given<'_> {
        device.inner.poller.wake_after(device, submission);
        Given(self)
    }

    /// Resolves when the callback has run: browsers run it, if not always soon.
    #[cfg(target_arch = "wasm32")]
    fn given<'a>(self: &'a Arc<Self>, device: &Device, _: Option<wgpu::SubmissionIndex>) -> Given<'a> {
        let answer = Arc::clone(self);
        crate::browser::hurry(device, move || answer.worked().is_some());
        Given(self)
    }
}

impl Pending {
    /// Records the copy, submits and asks for the map; `None` for an empty tensor.
    fn start(tensor: &RawTensor) -> Result<Option<Self>, Error> {
        let device = tensor.device().clone();
        let inner = &device.inner;
        inner.fault.check()?;
        capture::forbid(&device, "reading a tensor back")?;
        if !tensor.buffer().is_ready() {
            let what = format!("a tensor of {}{:?}", tensor.dtype(), tensor.shape());
            return Err(Error::NotReplayed { what });
        }
        let bytes = tensor.bytes();
        if bytes == 0 {
            return Ok(None);
        }
        let padded = bytes.next_multiple_of(4);
        let (staging, _) = inner.staging.take(padded, &mut || inner.submit())?;
        let submission = {
            let mut recorder = lock(&inner.recorder);
            recorder.copy(tensor.buffer().storage(), &staging, padded);
            recorder.flush()
        };
        let answer = Arc::<Answer>::default();
        let shared = Arc::clone(&answer);
        staging.buffer.map_async(wgpu::MapMode::Read, ..padded, move |result| shared.give(result.is_ok()));
        Ok(Some(Self { device, staging, bytes, submission, answer }))
    }

    /// Resolves when the browser has said what it has to say of the answer.
    #[cfg(target_arch = "wasm32")]
    async fn explained(&self) {
        use crate::browser::{MOMENT, WHILE, patience};

        let fault = &self.device.inner.fault;
        patience(MOMENT, || !fault.is_awaited()).await;
        if self.answer.worked() == Some(false) {
            patience(WHILE, || fault.is_raised()).await;
        }
    }

    /// Waits for the GPU, then for the callback: if another thread polls at the same time, that one may run it, a
    /// moment after this thread's poll returns.
    #[cfg(not(target_arch = "wasm32"))]
    fn wait(&self) {
        use std::time::{Duration, Instant};

        let inner = &self.device.inner;
        if !poll(&inner.wgpu, wgpu::PollType::Wait { submission_index: self.submission.clone(), timeout: None }) {
            inner.fault.lose("the driver failed while waiting for the GPU".into());
        }
        // Long enough for any thread to be scheduled; without a bound a defect of the driver would hang the program.
        let deadline = Instant::now() + Duration::from_secs(10);
        while self.answer.worked().is_none() && Instant::now() < deadline {
            poll(&inner.wgpu, wgpu::PollType::Poll);
            let state = lock(&self.answer.state);
            if state.worked.is_none() {
                drop(self.answer.changed.wait_timeout(state, Duration::from_millis(1)));
            }
        }
    }

    fn finish<R>(self, decode: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
        let inner = &self.device.inner;
        let mapped = self.answer.worked() == Some(true);
        let decoded =
            if mapped { self.staging.buffer.get_mapped_range(..self.bytes.next_multiple_of(4)).ok() } else { None }
                .map(|view| decode(&view[..self.bytes as usize]));
        // An error of the work before is the better message, and its values would be wrong.
        inner.fault.check()?;
        match decoded {
            Some(decoded) => {
                self.staging.buffer.unmap();
                inner.staging.give(self.staging);
                Ok(decoded)
            }
            // A buffer in an unknown state does not go back to the pool.
            None => Err(Error::Readback { message: "the driver did not map the staging buffer".into() }),
        }
    }
}

/// Resolves when the callback has run.
struct Given<'a>(&'a Answer);

impl Future for Given<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = lock(&self.0.state);
        if state.worked.is_some() {
            return Poll::Ready(());
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}
