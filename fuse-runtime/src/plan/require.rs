//! Legality of variants: requirements on the domain, features, limits of the device.
//!
//! A refusal's text completes "the variant cannot run because".

use fuse_artifact::{
    DomainKind, Features, Pass, Require, Schedule, Variant,
    schedule::{Pointwise, Reduction},
};

use crate::{
    context::{
        bind::MAX_BINDINGS,
        info::{DeviceInfo, Limits},
    },
    plan::domain::{Domain, Strides},
};

/// Why a variant cannot run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Refusal {
    Feature(&'static str),
    /// The limit, the needed and the allowed number.
    Limit(&'static str, u64, u64),
    Shape(String),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Feature(name) => write!(f, "the device lacks {name}"),
            Self::Limit(what, needed, allowed) => write!(f, "it needs {needed} {what}, the device allows {allowed}"),
            Self::Shape(reason) => f.write_str(reason),
        }
    }
}

/// True if this device supports `variant`, for suitable shapes.
pub(crate) fn runs_on(variant: &Variant, info: &DeviceInfo) -> bool {
    check_device(variant, info).is_ok()
}

fn check_device(variant: &Variant, info: &DeviceInfo) -> Result<(), Refusal> {
    check_features(variant.features, info.features)?;
    variant.passes.iter().try_for_each(|pass| check_limits(pass, &info.limits))
}

pub(crate) fn legal(variant: &Variant, domain: &Domain, info: &DeviceInfo) -> Result<(), Refusal> {
    check_device(variant, info)?;
    check_schedule(&variant.schedule, domain)?;
    variant.requires.iter().try_for_each(|require| check_require(require, &variant.schedule, domain))
}

/// True if extents suit `variant`, whatever the strides.
pub(crate) fn fits(variant: &Variant, domain: &Domain) -> bool {
    let of_strides = |require: &Require| matches!(require, Require::Stride { .. } | Require::Aligned { .. });
    check_schedule(&variant.schedule, domain).is_ok()
        && (variant.requires.iter())
            .filter(|require| !of_strides(require))
            .all(|require| check_require(require, &variant.schedule, domain).is_ok())
}

/// The shader must index all axes left.
fn check_schedule(schedule: &Schedule, domain: &Domain) -> Result<(), Refusal> {
    match (domain.kind, schedule) {
        (DomainKind::Pointwise, Schedule::Pointwise(Pointwise { rank, .. })) => {
            check(domain.extents.len() <= usize::from(*rank), || format!("its text indexes at most {rank} axes"))
        }
        (DomainKind::Reduction { .. }, Schedule::Reduction(reduction)) => {
            let [kept, reduced] = reduction.axes;
            let reduced_left = domain.extents.len() - domain.kept;
            let fits = domain.kept <= usize::from(kept) && reduced_left <= usize::from(reduced);
            check(fits, || format!("its text indexes at most {kept} kept and {reduced} reduced axes"))?;
            check_length(reduction, domain)
        }
        (DomainKind::Attention, Schedule::Attention(attention)) => {
            let columns = domain.contraction().columns;
            check_head(attention.head(), domain.extents.last().map_or(columns, |depth| columns.max(*depth)))
        }
        (DomainKind::WeightedSum, Schedule::WeightedSum(sum)) => check_head(sum.columns, domain.contraction().columns),
        (DomainKind::Contraction { .. }, Schedule::Tile(_) | Schedule::Gemv(_)) => Ok(()),
        _ => Err(Refusal::Shape("its schedule is of another kind than its kernel".to_owned())),
    }
}

/// Held rows must fit registers; an invocation of a scatter-add must be able to read a whole row.
fn check_length(reduction: &Reduction, domain: &Domain) -> Result<(), Refusal> {
    let held = reduction.held().filter(|_| !reduction.split);
    let held = held.map(|held| u64::from(reduction.invocations) * u64::from(reduction.lanes) * u64::from(held));
    let Some(most) = held.or(reduction.scatters().map(|_| Reduction::LONGEST_SCATTERED.into())) else { return Ok(()) };
    check(domain.row_length() <= most, || format!("it takes rows of at most {most} elements"))
}

fn check_head(most: u32, head: u64) -> Result<(), Refusal> {
    check(head <= u64::from(most), || format!("it takes heads of at most {most}, this one has {head}"))
}

fn check_features(needed: Features, present: Features) -> Result<(), Refusal> {
    if present.cover(needed) {
        return Ok(());
    }
    if needed.f16 && !present.f16 {
        return Err(Refusal::Feature("16-bit floats (`shader-f16`)"));
    }
    if needed.coop_matrix > 0 && needed.coop_matrix != present.coop_matrix {
        return Err(Refusal::Feature("cooperative matrices of this size, in subgroups of 32"));
    }
    if needed.int8_activations && !present.int8_activations {
        return Err(Refusal::Feature(
            "permission to round activations (`Tuning::int8_activations`), or packed integers",
        ));
    }
    Err(match present.subgroups {
        0 => Refusal::Feature("subgroup operations"),
        present => Refusal::Limit("invocations in the smallest subgroup", needed.subgroups.into(), present.into()),
    })
}

fn check_limits(pass: &Pass, limits: &Limits) -> Result<(), Refusal> {
    let bindings = limits.storage_bindings.min(MAX_BINDINGS as u32);
    let needs = [
        ("bytes of workgroup memory", u64::from(pass.workgroup_bytes), u64::from(limits.workgroup_bytes)),
        ("invocations per workgroup", pass.workgroup_size.into(), limits.workgroup_invocations.into()),
        ("storage buffers", pass.bindings.len() as u64, bindings.into()),
        ("bytes of uniforms", pass.uniforms.len() as u64 * 4, limits.uniform_bytes),
    ];
    match needs.iter().find(|(_, needed, allowed)| needed > allowed) {
        Some(&(what, needed, allowed)) => Err(Refusal::Limit(what, needed, allowed)),
        None => Ok(()),
    }
}

fn check(holds: bool, reason: impl FnOnce() -> String) -> Result<(), Refusal> {
    if holds { Ok(()) } else { Err(Refusal::Shape(reason())) }
}

fn check_require(require: &Require, schedule: &Schedule, domain: &Domain) -> Result<(), Refusal> {
    let innermost = domain.extents.len().checked_sub(1);
    let pointwise = domain.kind == DomainKind::Pointwise;
    let reduction = matches!(domain.kind, DomainKind::Reduction { .. });
    // Pointwise requirements name the innermost axis left, those of reductions the shader's axes.
    let axis_of = |axis: u8| if pointwise { innermost } else { domain.text_axis(schedule, axis) };
    let extent = |axis: u8| {
        let axis = if pointwise { Some(usize::from(axis)) } else { domain.text_axis(schedule, axis) };
        axis.and_then(|axis| domain.extents.get(axis)).copied().unwrap_or(1)
    };
    let access = |index: u16| domain.accesses.get(usize::from(index));
    match *require {
        Require::RankAtMost(rank) => {
            check(domain.extents.len() <= usize::from(rank), || format!("more than {rank} axes are left"))
        }
        Require::InnerMultiple { of } => {
            let divides = domain.extents.len() <= 1 || innermost.is_none_or(|i| is_multiple(domain.extents[i], of));
            check(divides, || format!("the innermost extent is no multiple of {of}"))
        }
        Require::Stride { access: index, axis, stride } => {
            // The length of a single step does not matter.
            let trivial = pointwise && domain.count() <= 1 || reduction && extent(axis) <= 1;
            let found = stride_along(access(index), axis_of(axis));
            check(trivial || found == Some(stride.into()), || format!("the stride of access {index} is not {stride}"))
        }
        Require::Aligned { access: index, axis, of } => {
            let aligned = access(index).is_some_and(|access| is_aligned(access, axis_of(axis), of));
            check(aligned, || format!("access {index} is not aligned to {of} elements"))
        }
        Require::Multiple { axis, of } => {
            check(is_multiple(extent(axis), of), || format!("the extent of axis {axis} is no multiple of {of}"))
        }
        Require::AtMost { axis, value } => {
            check(extent(axis) <= value.into(), || format!("the extent of axis {axis} is above {value}"))
        }
        Require::AtLeast { axis, value } => {
            check(extent(axis) >= value.into(), || format!("the extent of axis {axis} is below {value}"))
        }
    }
}

fn stride_along(access: Option<&Strides>, axis: Option<usize>) -> Option<u64> {
    access?.strides.get(axis?).copied()
}

fn is_aligned(access: &Strides, along: Option<usize>, of: u32) -> bool {
    // Repeated elements are read one at a time.
    let repeats = along.and_then(|axis| access.strides.get(axis)) == Some(&0);
    let others = access.strides.iter().enumerate().filter(|(axis, _)| Some(*axis) != along);
    repeats || is_multiple(access.offset, of) && others.into_iter().all(|(_, stride)| is_multiple(*stride, of))
}

fn is_multiple(value: u64, of: u32) -> bool {
    value.is_multiple_of(of.max(1).into())
}

#[cfg(test)]
mod tests {
    use fuse_artifact::{
        Slot, Space,
        schedule::{Attention, ReductionOrder, RowLoads, Tile, Unstaged},
    };

    use super::*;

    fn pointwise(extents: &[u64], strides: &[u64], offset: u64) -> Domain {
        let access = Strides { slot: Slot::Param(0), space: Space::Point, offset, strides: strides.to_vec() };
        Domain { kind: DomainKind::Pointwise, extents: extents.to_vec(), accesses: vec![access], kept: extents.len() }
    }

    fn holds(require: Require, domain: &Domain) -> bool {
        let schedule = match domain.kind {
            DomainKind::Pointwise => Schedule::Pointwise(Pointwise { lanes: 1, rank: 6 }),
            _ => Schedule::Tile(Tile::new(4, 4, 4, [4, 4])),
        };
        check_require(&require, &schedule, domain).is_ok()
    }

    #[test]
    fn pointwise_requirements_mean_the_innermost_axis_left() {
        let rows = pointwise(&[3, 8], &[8, 1], 4);
        assert!(holds(Require::Stride { access: 0, axis: 0, stride: 1 }, &rows));
        assert!(holds(Require::Aligned { access: 0, axis: 0, of: 4 }, &rows));
        assert!(!holds(Require::Aligned { access: 0, axis: 0, of: 8 }, &rows), "the offset is 4");
        assert!(holds(Require::InnerMultiple { of: 4 }, &rows));
        assert!(!holds(Require::InnerMultiple { of: 3 }, &rows));
        assert!(!holds(Require::RankAtMost(1), &rows));
    }

    #[test]
    fn flat_and_single_domains_are_lenient() {
        assert!(holds(Require::InnerMultiple { of: 4 }, &pointwise(&[7], &[1], 0)));
        let single = pointwise(&[], &[], 0);
        assert!(holds(Require::Stride { access: 0, axis: 0, stride: 1 }, &single));
        assert!(holds(Require::Aligned { access: 0, axis: 0, of: 4 }, &single));
    }

    #[test]
    fn contraction_requirements_name_their_axis() {
        let lhs = Strides { slot: Slot::Param(0), space: Space::Lhs, offset: 0, strides: vec![6, 1] };
        let domain = Domain {
            kind: DomainKind::Contraction { products: 1 },
            extents: vec![1, 8, 6],
            accesses: vec![lhs],
            kept: 3,
        };
        assert!(holds(Require::Stride { access: 0, axis: 1, stride: 1 }, &domain));
        assert!(!holds(Require::Aligned { access: 0, axis: 1, of: 4 }, &domain));
        assert!(holds(Require::Multiple { axis: 1, of: 4 }, &domain));
        assert!(holds(Require::AtMost { axis: 0, value: 1 }, &domain));
        assert!(!holds(Require::AtMost { axis: 2, value: 5 }, &domain));
    }

    fn rows(lanes: u32, held: u32, axes: [u8; 2]) -> Schedule {
        let loads = if held > 0 { RowLoads::Held(held) } else { RowLoads::Streamed };
        Schedule::Reduction(Reduction { lanes, ..Reduction::new(ReductionOrder::rows(loads), [1, 64], axes) })
    }

    fn reduction(extents: &[u64], kept: usize, strides: &[u64]) -> Domain {
        let access = Strides { slot: Slot::Param(0), space: Space::Point, offset: 0, strides: strides.to_vec() };
        let axes = (extents.len() - kept) as u8;
        Domain { kind: DomainKind::Reduction { axes }, extents: extents.to_vec(), accesses: vec![access], kept }
    }

    #[test]
    fn reduction_requirements_count_the_axes_of_the_text() {
        let domain = reduction(&[6, 20], 1, &[20, 1]);
        let holds = |require, domain: &Domain| check_require(&require, &rows(4, 0, [2, 1]), domain).is_ok();
        assert!(holds(Require::Stride { access: 0, axis: 2, stride: 1 }, &domain));
        assert!(!holds(Require::Stride { access: 0, axis: 1, stride: 1 }, &domain));
        assert!(holds(Require::Aligned { access: 0, axis: 2, of: 4 }, &domain));
        assert!(!holds(Require::Aligned { access: 0, axis: 2, of: 8 }, &domain));
        assert!(holds(Require::Multiple { axis: 2, of: 4 }, &domain));
        assert!(!holds(Require::Multiple { axis: 1, of: 4 }, &domain));
        assert!(holds(Require::AtMost { axis: 2, value: 20 }, &domain));
        assert!(!holds(Require::AtMost { axis: 2, value: 19 }, &domain));
        assert!(holds(Require::AtLeast { axis: 2, value: 20 }, &domain));
        assert!(!holds(Require::AtLeast { axis: 2, value: 21 }, &domain));
        assert!(holds(Require::AtMost { axis: 0, value: 1 }, &domain));
        assert!(!holds(Require::AtLeast { axis: 0, value: 2 }, &domain));
    }

    #[test]
    fn rows_of_one_element_have_any_stride_and_no_vectors() {
        let single = reduction(&[6], 1, &[1]);
        let holds = |require| check_require(&require, &rows(4, 0, [1, 1]), &single).is_ok();
        assert!(holds(Require::Stride { access: 0, axis: 1, stride: 1 }));
        assert!(!holds(Require::Multiple { axis: 1, of: 4 }));
    }

    #[test]
    fn texts_index_the_axes_that_are_left_and_hold_whole_rows() {
        let domain = reduction(&[6, 300], 1, &[300, 1]);
        assert!(check_schedule(&rows(4, 2, [1, 1]), &domain).is_ok());
        assert!(check_schedule(&rows(4, 1, [1, 1]), &domain).is_err(), "256 elements are held");
        assert!(check_schedule(&rows(4, 0, [1, 1]), &domain).is_ok());
        assert!(check_schedule(&rows(4, 0, [0, 1]), &domain).is_err());
        assert!(check_schedule(&rows(4, 0, [2, 0]), &domain).is_err());
        assert!(check_schedule(&Schedule::Pointwise(Pointwise { lanes: 1, rank: 6 }), &domain).is_err());
    }

    #[test]
    fn heads_fit_their_text() {
        let kind = DomainKind::Attention;
        let attention =
            |columns, depth| Domain { kind, extents: vec![9, columns, 9, depth], accesses: vec![], kept: 4 };
        let schedule = Schedule::Attention(Attention::Unstaged(Unstaged { queries: 1, depth: 64, columns: 64 }));
        assert!(check_schedule(&schedule, &attention(64, 64)).is_ok());
        assert!(check_schedule(&schedule, &attention(64, 65)).is_err());
        assert!(check_schedule(&schedule, &attention(65, 64)).is_err());
    }

    #[test]
    fn subgroups_must_be_large_enough() {
        let features = |subgroups| Features { subgroups, ..Features::default() };
        assert_eq!(check_features(features(0), features(0)), Ok(()));
        assert_eq!(check_features(features(8), features(8)), Ok(()));
        assert_eq!(check_features(features(4), features(32)), Ok(()));
        assert_eq!(check_features(features(4), features(0)), Err(Refusal::Feature("subgroup operations")));
        let small = check_features(features(32), features(8)).unwrap_err().to_string();
        assert_eq!(small, "it needs 32 invocations in the smallest subgroup, the device allows 8");
    }
}
