//! Every operation with every operand access, around vector and workgroup widths.

use fuse_artifact::DType;
use fuse_test_support::{
    Sweep, compile, data,
    operations::{ALL, FLOATS},
    patterns::{self, Case},
};

/// Empty, single, around 4, and around workgroups, prime and not.
const EXTENTS: &[usize] = &[0, 1, 3, 4, 5, 21, 64, 86, 257];

fn run(cases: Vec<Case>) {
    assert!(!cases.is_empty(), "nothing to run");
    for Case { what, source } in cases {
        let mut sweep = Sweep::new(&what);
        for program in compile(&source) {
            for (seed, &n) in EXTENTS.iter().enumerate() {
                sweep.run(&program, &data::inputs(&program.graph, &[("N", n)], seed as u64));
            }
        }
        sweep.finish();
    }
}

#[test]
fn unary_f32() {
    run(patterns::unary(DType::F32));
}

#[test]
fn unary_f16() {
    run(patterns::unary(DType::F16));
}

#[test]
fn unary_integers_and_bool() {
    run([DType::I32, DType::U32, DType::Bool].into_iter().flat_map(patterns::unary).collect());
}

#[test]
fn binary_floats() {
    run(FLOATS.into_iter().flat_map(patterns::binary).collect());
}

#[test]
fn binary_integers_and_bool() {
    run([DType::I32, DType::U32, DType::Bool].into_iter().flat_map(patterns::binary).collect());
}

#[test]
fn comparisons() {
    run(ALL.into_iter().flat_map(patterns::comparisons).collect());
}

#[test]
fn literals_on_either_side() {
    run(patterns::literals_on_either_side());
}

#[test]
fn select_with_every_pattern() {
    run(patterns::select_with_every_pattern());
}

#[test]
fn casts_between_all_dtypes() {
    run(patterns::casts_between_all_dtypes());
}

#[test]
fn index_along_every_axis() {
    run(patterns::index_along_every_axis());
}
