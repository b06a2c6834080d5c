//! [`Hardware`]: what tables say of a machine, for the cost model.
//!
//! Not here: what the model makes of it (`plan::cost`). The build script reads this file, too, so it names nothing of the
//! crate.

/// How fast an adapter is, for the cost model: measured by `cargo xtask tune`, or expected of a vendor's adapters.
///
/// All numbers are at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hardware {
    /// Compute units that run workgroups side by side.
    pub units: u32,
    /// Multiply-adds of `f32` of one unit in a microsecond, as products in tiles reach them.
    pub multiply_adds: u32,
    /// Bytes of its memory that all units together move in a microsecond.
    pub bytes: u32,
    /// Nanoseconds from one dispatch to the next, where neither has much to do.
    pub launch: u32,
    /// Invocations that one unit holds at a time.
    pub invocations: u32,
    /// Bytes of workgroup memory of one unit.
    pub workgroup_bytes: u32,
    /// Bytes of the cache that all units share.
    pub cache_bytes: u32,
    /// Whether it shares the host's memory. What is expected of a vendor is about one kind of adapters or the other.
    pub integrated: bool,
}
