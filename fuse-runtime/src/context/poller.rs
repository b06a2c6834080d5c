//! [`Poller`]: the thread that runs callbacks of awaited readbacks.
//!
//! The first awaited readback starts the thread, which polls the device and ends with it. In browsers the event loop
//! does that (`browser::wake`).

use std::sync::Arc;

use crate::context::{fault::Fault, poll::poll};

#[derive(Default)]
pub(crate) struct Poller {
    submissions: std::sync::OnceLock<std::sync::mpsc::Sender<Option<wgpu::SubmissionIndex>>>,
}

impl Poller {
    /// Runs the callbacks of `submission` when it is done.
    pub(crate) fn wake_after(&self, device: (&wgpu::Device, &Arc<Fault>), submission: Option<wgpu::SubmissionIndex>) {
        let sender = self.submissions.get_or_init(|| start(device));
        // Cannot fail: the thread lives as long as the sender.
        drop(sender.send(submission));
    }
}

fn start((wgpu, fault): (&wgpu::Device, &Arc<Fault>)) -> std::sync::mpsc::Sender<Option<wgpu::SubmissionIndex>> {
    let (sender, receiver) = std::sync::mpsc::channel();
    // Handles that do not keep the context alive, which would then never drop.
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
