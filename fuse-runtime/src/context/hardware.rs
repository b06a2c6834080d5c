//! [`Hardware`]: figures of an adapter for the cost model, stored in tuning tables.
//!
//! Not here: the model (`plan::cost`). The build script compiles this file, too: it names nothing of the crate.

/// Speed and size of an adapter, measured by `cargo xtask tune` or expected of a vendor; at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hardware {
    /// Compute units that run workgroups in parallel.
    pub units: u32,
    /// Multiply-adds of `f32` per unit and microsecond in tiled products.
    pub multiply_adds: u32,
    /// Bytes of device memory moved per microsecond.
    pub bytes: u32,
    /// Nanoseconds between two dispatches with little work.
    pub launch: u32,
    /// Resident invocations of one unit.
    pub invocations: u32,
    /// Bytes of workgroup memory of one unit.
    pub workgroup_bytes: u32,
    /// Bytes of the cache shared by all units.
    pub cache_bytes: u32,
    /// True if it shares the host's memory. A vendor's priors hold for one kind only.
    pub integrated: bool,
}
