//! [`Poller`]: the thread that runs callbacks of awaited readbacks.
//!
//! The first awaited readback starts it; it ends with the device. In browsers see `browser::wake`.

use std::sync::Arc;

use crate::context::{fault::Fault, poll::poll};

#[derive(Default)]
pub(crate) struct Poller {
    submissions: std::sync::OnceLock<std::sync::mpsc::Sender<Option<wgpu::SubmissionIndex>>>,
}

impl Poller {
    /// Runs the callbacks of `submission`.
    pub(crate) fn wake_after(&self, device: (&wgpu::Device, &Arc<Fault>), submission: Option<wgpu::SubmissionIndex>) {
        let sender = self.submissions.get_or_init(|| start(device));
        // Cannot fail: the thread lives as long as the sender.
        drop(sender.send(submission));
    }
}

fn start((wgpu, fault): (&wgpu::Device, &Arc<Fault>)) -> std::sync::mpsc::Sender<Option<wgpu::SubmissionIndex>> {
    let (sender, receiver) = std::sync::mpsc::channel();
    // Handles must not keep the context alive: it would never drop.
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
