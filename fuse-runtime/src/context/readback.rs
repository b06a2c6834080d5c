//! Readback of storage, and waits for the GPU.
//!
//! A readback copies to a staging buffer, submits, and maps that buffer. Blocking ones poll; awaited ones are woken by
//! the map's callback, which `poller` runs.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Condvar, Mutex},
    task::{self, Poll, Waker},
};

#[cfg(target_arch = "wasm32")]
use crate::context::browser::wake::{MOMENT, WHILE, hurry, patience, until};
#[cfg(not(target_arch = "wasm32"))]
use crate::context::poll::poll;
use crate::context::{Context, error::Error, lock::lock, pool::Storage};

#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn read_blocking<R>(
    context: &Context,
    storage: &Storage,
    bytes: u64,
    decode: impl FnOnce(&[u8]) -> R,
) -> Result<R, Error> {
    match Pending::start(context, storage, bytes)? {
        None => Ok(decode(&[])),
        Some(pending) => {
            pending.wait();
            pending.finish(decode)
        }
    }
}

pub(crate) async fn read<R>(
    context: &Context,
    storage: &Storage,
    bytes: u64,
    decode: impl FnOnce(&[u8]) -> R,
) -> Result<R, Error> {
    match Pending::start(context, storage, bytes)? {
        None => Ok(decode(&[])),
        Some(pending) => {
            pending.answer.given(pending.context, pending.submission.clone()).await;
            #[cfg(target_arch = "wasm32")]
            pending.explained().await;
            pending.finish(decode)
        }
    }
}

/// Resolves when work up to `submission` is done; in browsers, also the compilation of all pipelines.
pub(crate) async fn done(context: &Context, submission: Option<wgpu::SubmissionIndex>) {
    let answer = Arc::<Answer>::default();
    let shared = Arc::clone(&answer);
    context.queue.on_submitted_work_done(move || shared.give(true));
    answer.given(context, submission).await;
    #[cfg(target_arch = "wasm32")]
    until(|| !context.fault.is_awaited()).await;
}

struct Pending<'a> {
    context: &'a Context,
    staging: Storage,
    bytes: u64,
    #[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "browsers wait for nothing"))]
    submission: Option<wgpu::SubmissionIndex>,
    answer: Arc<Answer>,
}

#[derive(Default)]
struct Answer {
    state: Mutex<AnswerState>,
    changed: Condvar,
}

#[derive(Default)]
struct AnswerState {
    /// Success; `None` before the callback.
    worked: Option<bool>,
    waker: Option<Waker>,
}

impl Answer {
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

    /// The poller runs the callback when `submission` is done.
    #[cfg(not(target_arch = "wasm32"))]
    fn given(&self, context: &Context, submission: Option<wgpu::SubmissionIndex>) -> Given<'_> {
        context.poller.wake_after((&context.wgpu, &context.fault), submission);
        Given(self)
    }

    /// Browsers run the callback, not always soon.
    #[cfg(target_arch = "wasm32")]
    fn given<'a>(self: &'a Arc<Self>, context: &Context, _: Option<wgpu::SubmissionIndex>) -> Given<'a> {
        let answer = Arc::clone(self);
        hurry(&context.queue, move || answer.worked().is_some());
        Given(self)
    }
}

impl<'a> Pending<'a> {
    /// Records the copy, submits and requests the map; `None` if there are no bytes.
    fn start(context: &'a Context, storage: &Storage, bytes: u64) -> Result<Option<Self>, Error> {
        if bytes == 0 {
            return Ok(None);
        }
        let padded = bytes.next_multiple_of(4);
        let (staging, _) = context.staging.take(padded, &mut || context.submit())?;
        let submission = {
            let mut recorder = lock(&context.recorder);
            recorder.copy(storage, &staging, padded);
            recorder.flush()
        };
        let answer = Arc::<Answer>::default();
        let shared = Arc::clone(&answer);
        staging.buffer.map_async(wgpu::MapMode::Read, ..padded, move |result| shared.give(result.is_ok()));
        Ok(Some(Self { context, staging, bytes, submission, answer }))
    }

    #[cfg(target_arch = "wasm32")]
    async fn explained(&self) {
        let fault = &self.context.fault;
        patience(MOMENT, || !fault.is_awaited()).await;
        if self.answer.worked() == Some(false) {
            patience(WHILE, || fault.is_raised()).await;
        }
    }

    /// Waits for the GPU, then for the callback: another polling thread may run it shortly after this poll returns.
    #[cfg(not(target_arch = "wasm32"))]
    fn wait(&self) {
        use std::time::{Duration, Instant};

        let context = self.context;
        if !poll(&context.wgpu, wgpu::PollType::Wait { submission_index: self.submission.clone(), timeout: None }) {
            context.fault.lose("the driver failed while waiting for the GPU".into());
        }
        // Long enough for any thread to be scheduled; bounded, because a driver's defect must not hang the program.
        let deadline = Instant::now() + Duration::from_secs(10);
        while self.answer.worked().is_none() && Instant::now() < deadline {
            poll(&context.wgpu, wgpu::PollType::Poll);
            let state = lock(&self.answer.state);
            if state.worked.is_none() {
                drop(self.answer.changed.wait_timeout(state, Duration::from_millis(1)));
            }
        }
    }

    fn finish<R>(self, decode: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
        let context = self.context;
        let mapped = self.answer.worked() == Some(true);
        let decoded =
            if mapped { self.staging.buffer.get_mapped_range(..self.bytes.next_multiple_of(4)).ok() } else { None }
                .map(|view| decode(&view[..self.bytes as usize]));
        // An error of earlier work is the better message, and invalidates the values.
        context.fault.check()?;
        match decoded {
            Some(decoded) => {
                self.staging.buffer.unmap();
                context.staging.give(self.staging);
                Ok(decoded)
            }
            // A buffer in an unknown state does not return to the pool.
            None => Err(Error::Readback { message: "the driver did not map the staging buffer".into() }),
        }
    }
}

struct Given<'a>(&'a Answer);

impl Future for Given<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<()> {
        let mut state = lock(&self.0.state);
        if state.worked.is_some() {
            return Poll::Ready(());
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}
