//! Compile-time knowledge of an access's strides.

use fuse_artifact::{Require, schedule::LANES};

use crate::fusion::body::KernelAccess;

/// Movement of an access along one axis of its space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// Stride 0: the value repeats.
    Zero,
    /// Stride 1.
    Unit,
    /// Stride 1 or 0, known at launch (expression form).
    UnitOrZero,
    /// A stride known at launch.
    Strided,
}

/// Movement of `access` along `axis` of its space.
pub fn along(access: &KernelAccess, axis: usize) -> Along {
    if access.gathered {
        return Along::Strided;
    }
    let Some(view_axis) = access.access.axes[axis] else { return Along::Zero };
    let inner = &access.access.view[usize::from(view_axis) + 1..];
    match (inner.iter().all(|size| size.is_one()), access.may_repeat[axis]) {
        (true, false) => Along::Unit,
        (true, true) => Along::UnitOrZero,
        (false, _) => Along::Strided,
    }
}

/// Requirements of vector loads along `axis` of the access's space.
///
/// `index` is the access's number; the schedule's shader calls the axis `of`.
pub fn vector_load(index: u16, access: &KernelAccess, axis: usize, of: u8) -> Vec<Require> {
    let stride = |stride| Require::Stride { access: index, axis: of, stride };
    let aligned = Require::Aligned { access: index, axis: of, of: LANES };
    match along(access, axis) {
        Along::Zero => vec![stride(0)],
        Along::Unit => vec![stride(1), aligned],
        Along::UnitOrZero => vec![aligned],
        Along::Strided => vec![],
    }
}

/// Requires a multiple of a vector's lanes for each distinct axis.
pub fn multiples_of_lanes(mut axes: Vec<u8>) -> Vec<Require> {
    axes.sort_unstable();
    axes.dedup();
    axes.into_iter().map(|axis| Require::Multiple { axis, of: LANES }).collect()
}

/// True if the access reads one element for all indices.
pub fn is_single(access: &KernelAccess) -> bool {
    !access.gathered && access.access.axes.iter().all(Option::is_none)
}
