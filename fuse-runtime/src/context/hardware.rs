//! [`Hardware`]: figures of an adapter for the cost model, which tuning tables hold.
//!
//! Not here: the model (`plan::cost`). The build script compiles this file, too, so it names nothing of the crate.

/// Speed and size of an adapter, for the cost model: measured by `cargo xtask tune`, or expected of a vendor's
/// adapters.
///
/// All numbers are at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hardware {
    /// Compute units that run workgroups in parallel.
    pub units: u32,
    /// Multiply-adds of `f32` per unit and microsecond that tiled products reach.
    pub multiply_adds: u32,
    /// Bytes of device memory that all units together move in a microsecond.
    pub bytes: u32,
    /// Nanoseconds between two dispatches with little work.
    pub launch: u32,
    /// Resident invocations of one unit.
    pub invocations: u32,
    /// Bytes of workgroup memory of one unit.
    pub workgroup_bytes: u32,
    /// Bytes of the cache shared by all units.
    pub cache_bytes: u32,
    /// True if it shares the host's memory. Priors of a vendor hold for one kind of adapters or the other.
    pub integrated: bool,
}
