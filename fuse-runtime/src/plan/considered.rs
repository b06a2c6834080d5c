//! A function's alternative that can run, with every kernel's domain and candidates.

use fuse_artifact::{Function, Kernel};

use crate::plan::{candidates::Candidate, check::Bound, domain::Domain, key::Key, require::Refusal};

/// A function that can run, with numbers.
pub(crate) struct Selected<'f> {
    /// 0 for the function itself, otherwise one more than its place in [`Function::alternatives`].
    pub(crate) index: usize,
    pub(crate) function: &'f Function,
    pub(crate) bound: Bound,
    pub(crate) kernels: Vec<Considered<'f>>,
    /// Estimated time in multiply-adds of one compute unit.
    pub(crate) cost: f64,
}

/// A kernel with everything that its choice needs.
pub(crate) struct Considered<'f> {
    pub(crate) kernel: &'f Kernel,
    pub(crate) domain: Domain,
    /// By variant.
    pub(crate) candidates: Vec<Result<Candidate, Refusal>>,
}

/// The key of a kernel with numbers.
pub(crate) fn key(considered: &Considered<'_>) -> Key {
    let Considered { kernel, domain, candidates } = considered;
    let vectors =
        candidates.iter().flatten().any(|candidate| kernel.variants[candidate.variant].schedule.loads_vectors());
    Key::of(kernel, domain, vectors)
}
