//! What the compiler knows about the strides of an access.

use fuse_artifact::{Require, schedule::LANES};

use crate::fusion::body::KernelAccess;

/// How an access moves along one axis of its space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// Not at all: the value repeats.
    Zero,
    /// To the next element.
    Unit,
    /// To the next element, or not at all; the launch knows (expression form).
    UnitOrZero,
    /// By a stride known at launch.
    Strided,
}

/// How `access` moves along `axis` of its space.
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

/// What loads of four lanes need along `axis` of the access's space, the number `index` of the kernel, where it is axis `of` in
/// the schedule's text.
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

/// `Multiple` of a vector's lanes for each of the axes, once.
pub fn multiples_of_lanes(mut axes: Vec<u8>) -> Vec<Require> {
    axes.sort_unstable();
    axes.dedup();
    axes.into_iter().map(|axis| Require::Multiple { axis, of: LANES }).collect()
}

/// Whether the access reads one element for all indices.
pub fn is_single(access: &KernelAccess) -> bool {
    !access.gathered && access.access.axes.iter().all(Option::is_none)
}
