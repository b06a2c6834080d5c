//! [`Selected`]: an alternative that can run, with every kernel's domain and candidates.

use fuse_artifact::{Function, Kernel};

use crate::plan::{candidates::Candidate, check::Bound, domain::Domain, key::Key, require::Refusal};

pub(crate) struct Selected<'f> {
    /// 0 is the function itself, `n + 1` entry `n` of [`Function::alternatives`].
    pub(crate) index: usize,
    pub(crate) function: &'f Function,
    pub(crate) bound: Bound,
    pub(crate) kernels: Vec<Considered<'f>>,
    /// Estimated multiply-adds of one compute unit.
    pub(crate) cost: f64,
}

pub(crate) struct Considered<'f> {
    pub(crate) kernel: &'f Kernel,
    pub(crate) domain: Domain,
    pub(crate) candidates: Vec<Result<Candidate, Refusal>>,
}

pub(crate) fn key(considered: &Considered<'_>) -> Key {
    let Considered { kernel, domain, candidates } = considered;
    let vectors =
        candidates.iter().flatten().any(|candidate| kernel.variants[candidate.variant].schedule.loads_vectors());
    Key::of(kernel, domain, vectors)
}
