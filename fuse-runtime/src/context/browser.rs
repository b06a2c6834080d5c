//! Browsers: prompt readbacks (`wake`), features that wgpu does not request (`request`), and names (`identity`).

pub(crate) mod identity;
pub(crate) mod request;
pub(crate) mod wake;
