//! Tests of domains.

use fuse_artifact::schedule::{Reduction, ReductionOrder, RowLoads};

use super::*;
use crate::plan::select_plan::tests::empty;

fn access(space: Space, strides: &[u64]) -> Strides {
    Strides { slot: Slot::Param(0), space, offset: 0, strides: strides.to_vec() }
}

fn domain(kind: DomainKind, extents: &[u64], accesses: Vec<Strides>) -> Domain {
    let reduced = if let DomainKind::Reduction { axes } = kind { usize::from(axes) } else { 0 };
    let kept = extents.len() - reduced;
    let mut domain = Domain { kind, extents: extents.to_vec(), accesses, kept };
    let texts: Vec<Access> = domain.accesses.iter().map(|access| text(access, &[])).collect();
    domain.simplify(&texts);
    domain
}

/// An access that moves along all axes but `missing`.
fn text(access: &Strides, missing: &[usize]) -> Access {
    let axes = (0..access.strides.len()).map(|axis| (!missing.contains(&axis)).then_some(axis as u8));
    let (slot, space, axes) = (access.slot, access.space, axes.collect::<Vec<_>>().into());
    Access { slot, space, view: vec![].into(), axes, starts: vec![].into() }
}

fn pointwise(extents: &[u64], strides: &[&[u64]]) -> Domain {
    domain(DomainKind::Pointwise, extents, strides.iter().map(|s| access(Space::Point, s)).collect())
}

#[test]
fn contiguous_operands_become_flat() {
    let flat = pointwise(&[2, 1, 3, 4], &[&[12, 0, 4, 1], &[12, 0, 4, 1]]);
    assert_eq!((&flat.extents[..], &flat.accesses[0].strides[..]), (&[24][..], &[1][..]));
}

#[test]
fn broadcast_axes_stay_apart() {
    let row = pointwise(&[2, 3, 4], &[&[12, 4, 1], &[0, 0, 1]]);
    assert_eq!(row.extents, [6, 4]);
    assert_eq!(row.accesses[1].strides, [0, 1]);
    let column = pointwise(&[2, 3, 4], &[&[12, 4, 1], &[3, 1, 0]]);
    assert_eq!((column.extents, column.accesses[1].strides.clone()), (vec![6, 4], vec![1, 0]));
    let transposed = pointwise(&[3, 4], &[&[4, 1], &[1, 3]]);
    assert_eq!(transposed.extents, [3, 4]);
}

#[test]
fn single_elements_lose_all_axes() {
    let one = pointwise(&[1, 1], &[&[0, 0]]);
    assert!(one.extents.is_empty());
    assert_eq!(one.count(), 1);
}

#[test]
fn shared_right_operand_folds_batches_into_rows() {
    let (lhs, rhs) = (access(Space::Lhs, &[24, 12, 4, 1]), access(Space::Rhs, &[0, 0, 5, 1]));
    let folded = domain(DomainKind::Contraction { products: 1 }, &[7, 2, 3, 5, 4], vec![lhs, rhs.clone()]);
    assert_eq!(folded.extents, [1, 1, 42, 5, 4]);
    assert_eq!(folded.accesses[0].strides, [0, 0, 4, 1]);
    assert_eq!(folded.contraction(), Contraction { batch: 1, rows: 42, columns: 5, depth: 4 });

    let own = access(Space::Rhs, &[20, 20, 5, 1]);
    let kept = domain(
        DomainKind::Contraction { products: 1 },
        &[7, 2, 3, 5, 4],
        vec![access(Space::Lhs, &[24, 12, 4, 1]), own],
    );
    assert_eq!(kept.extents, [7, 2, 3, 5, 4]);

    let single = domain(
        DomainKind::Contraction { products: 1 },
        &[7, 1, 5, 4],
        vec![access(Space::Lhs, &[4, 0, 1]), access(Space::Rhs, &[0, 5, 1])],
    );
    assert_eq!(single.extents, [1, 7, 5, 4]);
    assert_eq!(single.accesses[0].strides, [0, 4, 1]);
}

#[test]
fn products_that_share_rows_fold_batches_only_together() {
    let kind = DomainKind::Contraction { products: 2 };
    let accesses = |second: u64| {
        let rhs = |batch: u64| access(Space::Rhs, &[batch, 5, 1]);
        vec![access(Space::Lhs, &[12, 4, 1]), rhs(0), rhs(second)]
    };
    assert_eq!(domain(kind, &[7, 3, 5, 4], accesses(0)).extents, [1, 21, 5, 4]);
    assert_eq!(domain(kind, &[7, 3, 5, 4], accesses(20)).extents, [7, 3, 5, 4]);
}

#[test]
fn batches_do_not_fold_into_rows_that_a_text_does_not_move_along() {
    let accesses = [access(Space::Lhs, &[4, 0, 1]), access(Space::Rhs, &[0, 5, 1]), access(Space::Point, &[1, 0, 0])];
    for (missing, extents) in [(&[][..], [1, 7, 5, 4]), (&[1], [7, 1, 5, 4])] {
        let texts = [text(&accesses[0], &[]), text(&accesses[1], &[]), text(&accesses[2], missing)];
        let kind = DomainKind::Contraction { products: 1 };
        let mut domain = Domain { kind, extents: vec![7, 1, 5, 4], accesses: accesses.to_vec(), kept: 4 };
        domain.simplify(&texts);
        assert_eq!(domain.extents, extents);
    }
}

fn reduction(axes: u8, extents: &[u64], strides: &[&[u64]]) -> Domain {
    domain(DomainKind::Reduction { axes }, extents, strides.iter().map(|s| access(Space::Point, s)).collect())
}

#[test]
fn kept_and_reduced_axes_merge_among_themselves() {
    // One value per row.
    let rows = reduction(2, &[2, 3, 4, 5], &[&[60, 20, 5, 1], &[60, 20, 5, 1], &[3, 1, 0, 0]]);
    assert_eq!((&rows.extents[..], rows.kept), (&[6, 20][..], 1));
    assert_eq!(rows.accesses[0].strides, [20, 1]);
    assert_eq!(rows.accesses[2].strides, [1, 0]);
    assert_eq!((rows.count(), rows.row_length()), (6, 20));
    assert_eq!(rows.contraction(), Contraction { batch: 1, rows: 6, columns: 1, depth: 20 });

    // The middle axis: its sides stay apart.
    let middle = reduction(1, &[2, 5, 4], &[&[20, 1, 5], &[5, 1, 0]]);
    assert_eq!((&middle.extents[..], middle.kept), (&[2, 5, 4][..], 2));

    // A value per row of another layout keeps its axes apart.
    let strided = reduction(1, &[2, 3, 4], &[&[12, 4, 1], &[1, 2, 0]]);
    assert_eq!((&strided.extents[..], strided.kept), (&[2, 3, 4][..], 2));
}

#[test]
fn reductions_to_and_over_single_elements_lose_axes() {
    let all = reduction(2, &[3, 4], &[&[4, 1], &[0, 0]]);
    assert_eq!((&all.extents[..], all.kept, all.count(), all.row_length()), (&[12][..], 0, 1, 12));
    let single = reduction(1, &[3, 1, 1], &[&[1, 0, 0]]);
    assert_eq!((&single.extents[..], single.kept, single.count(), single.row_length()), (&[3][..], 1, 3, 1));
    let empty = reduction(1, &[3, 2, 0], &[&[0, 0, 1], &[2, 1, 0]]);
    assert_eq!((empty.kept, empty.count(), empty.row_length()), (1, 6, 0));
}

#[test]
fn axes_of_a_text_are_aligned_at_the_end_of_each_part() {
    let axes = [3, 2];
    let schedule = Schedule::Reduction(Reduction::new(ReductionOrder::rows(RowLoads::Streamed), [1, 64], axes));
    let rows = reduction(1, &[6, 20], &[&[20, 1]]);
    let found: Vec<_> = (0..5).map(|axis| rows.text_axis(&schedule, axis)).collect();
    assert_eq!(found, [None, None, Some(0), None, Some(1)]);
    let all = reduction(1, &[20], &[&[1]]);
    let found: Vec<_> = (0..5).map(|axis| all.text_axis(&schedule, axis)).collect();
    assert_eq!(found, [None, None, None, None, Some(0)]);
}

#[test]
fn attentions_stay_as_they_are() {
    let accesses = vec![access(Space::Lhs, &[0, 64, 1]), access(Space::Value, &[0, 64, 1])];
    let attention = domain(DomainKind::Attention, &[2, 1, 64, 9, 32], accesses);
    assert_eq!(attention.extents, [2, 1, 64, 9, 32]);
    assert_eq!(attention.contraction(), Contraction { batch: 2, rows: 1, columns: 64, depth: 9 });
    assert_eq!(attention.count(), 128);
    let spaces = [Space::Point, Space::Lhs, Space::Rhs, Space::Score, Space::Value];
    let found = spaces.map(|space| attention.space_extents(space)[1..].to_vec());
    assert_eq!(found, [[1, 64], [1, 32], [32, 9], [1, 9], [9, 64]]);
}

#[test]
fn weighted_sums_have_a_depth_for_each_product() {
    let sum = domain(DomainKind::WeightedSum, &[2, 3, 64, 9, 32, 16], vec![]);
    assert_eq!(sum.contraction(), Contraction { batch: 2, rows: 3, columns: 64, depth: 9 });
    assert_eq!((sum.count(), sum.product_depths()), (384, 48));
    let spaces = [Space::Point, Space::Lhs, Space::Rhs, Space::SecondLhs, Space::SecondRhs, Space::Score, Space::Value];
    let found = spaces.map(|space| sum.space_extents(space)[1..].to_vec());
    assert_eq!(found, [[3, 64], [3, 32], [32, 9], [3, 16], [16, 9], [3, 9], [9, 64]]);
}

fn strides(kind: DomainKind, extents: &[u64], param: &[usize], access: Access) -> Result<Domain, Error> {
    let sizes = |sizes: &[u64]| sizes.iter().map(|size| Size::constant(*size)).collect::<Vec<_>>();
    let kernel = Kernel {
        name: "k".into(),
        domain: fuse_artifact::Domain { kind, extents: sizes(extents).into(), fixed: false },
        accesses: vec![access].into(),
        variants: vec![].into(),
        work: fuse_artifact::Work::default(),
    };
    let bound = Bound { symbols: vec![], results: vec![], temporaries: vec![] };
    Domain::new(&empty(), &kernel, &[Shape::new(param)?], &bound)
}

fn walk(view: &[u64], axes: &[Option<u8>]) -> Access {
    let view: Vec<Size> = view.iter().map(|size| Size::constant(*size)).collect();
    Access {
        slot: Slot::Param(0),
        space: Space::Point,
        view: view.into(),
        axes: axes.to_vec().into(),
        starts: vec![].into(),
    }
}

#[test]
fn empty_tensors_are_read_at_their_start() {
    // Three rows of an empty table: the domain has elements, the view has none.
    let table = strides(DomainKind::Pointwise, &[3, 4], &[0, 4], walk(&[0, 4], &[None, Some(1)])).unwrap();
    assert_eq!((table.count(), table.accesses[0].offset, &table.accesses[0].strides[..]), (12, 0, &[0][..]));
}

#[test]
fn empty_slices_at_the_end_are_read_inside() {
    let slice = Access { starts: vec![Size::constant(3), Size::constant(0)].into(), ..walk(&[3, 4], &[Some(1)]) };
    assert_eq!(strides(DomainKind::Pointwise, &[4], &[3, 4], slice).unwrap().accesses[0].offset, 8);
}

#[test]
fn accesses_and_views_stay_inside() {
    let rows = DomainKind::Reduction { axes: 1 };
    let message = |result: Result<Domain, Error>| result.unwrap_err().to_string();
    let outside = strides(rows, &[3, 5], &[14], walk(&[3, 5], &[Some(0), Some(1)]));
    assert!(message(outside).contains("has 14 elements, element 14 is read"));
    let gathered = strides(DomainKind::Pointwise, &[5], &[14], walk(&[3, 5], &[Some(1)]));
    assert!(message(gathered).contains("has 14 elements, it is read as 15"));
    // Accesses that do not move along empty rows still count.
    strides(rows, &[3, 0], &[3], walk(&[3], &[Some(0), None])).unwrap();
    let results = strides(rows, &[3, 0], &[2], walk(&[3], &[Some(0), None]));
    assert!(message(results).contains("element 2 is read"));
    let space = Access { space: Space::Lhs, ..walk(&[3, 5], &[Some(0), Some(1)]) };
    assert!(message(strides(rows, &[3, 5], &[15], space)).contains("a space that its domain does not have"));
    assert!(message(strides(DomainKind::Attention, &[3, 5, 2], &[1], walk(&[1], &[]))).contains("at least 4"));
}

#[test]
fn views_are_contiguous_with_broadcast_axes_at_stride_zero() {
    assert_eq!(contiguous(&[2, 1, 3]), [3, 0, 1]);
    assert_eq!(contiguous(&[]), Vec::<u64>::new());
}
