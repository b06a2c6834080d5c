//! The tables that `fuse-auto` has without the compiler are the compiler's.

use fuse_compiler::{
    graph::CompareOp,
    operations::{BinaryOp, UnaryOp},
};
use fuse_gpu::auto::{
    DType,
    operations::{BINARY, Operation, UNARY},
};
use fuse_test_support::operations::{ALL, compare_symbol};

/// A row with the dtypes that it takes as a list.
type Row = (&'static str, Option<&'static str>, Vec<DType>, Option<DType>);

fn of_table(table: &[Operation]) -> Vec<Row> {
    let row = |row: &Operation| (row.name, row.symbol, dtypes(|dtype| row.takes.contains(dtype)), row.yields);
    table.iter().map(row).collect()
}

fn dtypes(takes: impl Fn(DType) -> bool) -> Vec<DType> {
    ALL.into_iter().filter(|dtype| takes(*dtype)).collect()
}

#[test]
fn unary_operations_are_those_of_the_compiler() {
    let row = |op: &UnaryOp| {
        let row = op.row();
        (row.name, row.symbol, dtypes(|dtype| row.takes.contains(dtype)), row.yields)
    };
    let mut expected: Vec<Row> = UnaryOp::ALL.iter().map(row).collect();
    let mut found = of_table(UNARY);
    expected.sort_by_key(|row| row.0);
    found.sort_by_key(|row| row.0);
    assert_eq!(found, expected);
}

/// Bits of truth values are other operations of the compiler's graph (`graph/lower/pointwise.rs`), and comparisons have a table of
/// their own there.
#[test]
fn binary_operations_are_those_of_the_compiler() {
    let binary = |op: &BinaryOp| {
        let (row, is_bits) = (op.row(), matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor));
        let takes = dtypes(|dtype| row.takes.contains(dtype) || is_bits && dtype == DType::Bool);
        (row.name, row.symbol, takes, None)
    };
    let compare = |op: &CompareOp| {
        let of_bool = matches!(op, CompareOp::Eq | CompareOp::Ne);
        let takes = dtypes(|dtype| of_bool || dtype != DType::Bool);
        (op.name(), Some(compare_symbol(*op)), takes, Some(DType::Bool))
    };
    let mut expected: Vec<Row> = BinaryOp::ALL.iter().map(binary).chain(CompareOp::ALL.iter().map(compare)).collect();
    let mut found = of_table(BINARY);
    expected.sort_by_key(|row| row.0);
    found.sort_by_key(|row| row.0);
    assert_eq!(found, expected);
}
