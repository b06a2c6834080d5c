//! Making the callbacks of awaited readbacks run.
//!
//! Somebody has to poll the device: a thread that the first awaited readback starts and that ends with the device. In
//! browsers the event loop does that (`browser::hurry`).

use std::sync::Arc;

use crate::context::{fault::Fault, poll::poll};

/// Runs the callbacks of submissions that are done.
#[derive(Default)]
pub(crate) struct Poller {
    submissions: std::sync::OnceLock<std::sync::mpsc::Sender<Option<wgpu::SubmissionIndex>>>,
}

impl Poller {
    /// Makes the callbacks of `submission` run when it is done.
    pub(crate) fn wake_after(&self, device: (&wgpu::Device, &Arc<Fault>), submission: Option<wgpu::SubmissionIndex>) {
        let sender = self.submissions.get_or_init(|| start(device));
        // The thread lives as long as the sender, so this cannot fail.
        drop(sender.send(submission));
    }
}

fn start((wgpu, fault): (&wgpu::Device, &Arc<Fault>)) -> std::sync::mpsc::Sender<Option<wgpu::SubmissionIndex>> {
    let (sender, receiver) = std::sync::mpsc::channel();
    // Not the device itself, which would never drop then.
    let (wgpu, fault) = (wgpu.clone(), Arc::clone(fault));
    std::thread::spawn(move || {
        for submission_index in receiver {
            if !poll(&wgpu, wgpu::PollType::Wait { submission_index, timeout: None }) {
                fault.lose("the driver failed while waiting for the GPU".into());
            }
        }
    });
    sender
}
