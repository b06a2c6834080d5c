//! Contractions with several products or row reductions against the interpreter's ranges, with every legal variant.

use fuse_artifact::{
    DType, DomainKind, Schedule,
    schedule::{K, Tile},
};
use fuse_test_support::{Program, Sweep, compile, data};

type Sizes<'a> = &'a [[(&'a str, usize); 3]];

const FEW: Sizes<'static> = &[
    [("M", 1), ("N", 36), ("K", 68)],
    [("M", 17), ("N", 1), ("K", 31)],
    [("M", 5), ("N", 7), ("K", 3)],
    [("M", 64), ("N", 64), ("K", 32)],
    [("M", 65), ("N", 68), ("K", 36)],
    [("M", 4), ("N", 8), ("K", 0)],
];

/// The first plan of every function must be a single contraction.
fn check(what: &str, source: &str, sizes: Sizes<'_>, batch: &[(&str, usize)]) -> Vec<Program> {
    let mut sweep = Sweep::new(what).sharing_variants(3);
    let programs = compile(source);
    for program in &programs {
        let kernels = &program.function.kernels;
        let contraction = |kind: &DomainKind| matches!(kind, DomainKind::Contraction { .. });
        let one = kernels.len() == 1 && contraction(&kernels[0].domain.kind);
        assert!(one, "{}\n{}", program.source(), program.function.plan);
        for (seed, dims) in sizes.iter().enumerate() {
            let dims = [dims.as_slice(), batch].concat();
            sweep.run(program, &data::inputs(&program.graph, &dims, seed as u64));
        }
    }
    sweep.finish();
    programs
}

fn products(program: &Program) -> u8 {
    match program.function.kernels[0].domain.kind {
        DomainKind::Contraction { products } => products,
        _ => 0,
    }
}

#[test]
fn three_projections_of_one_operand_are_one_kernel() {
    for dtype in [DType::F32, DType::F16, DType::I32] {
        let source = format!(
            "pub fn projections(
                x: {dtype}[M, K], q: {dtype}[K, N], qb: {dtype}[N], k: {dtype}[K, N], kb: {dtype}[N], v: {dtype}[K, N], vb: {dtype}[N]
            ) -> ({dtype}[M, N], {dtype}[M, N], {dtype}[M, N]) {{
                (matmul(x, q) + qb, matmul(x, k) + kb, matmul(x, v) + vb)
            }}"
        );
        let programs = check(&format!("projections {dtype}"), &source, FEW, &[]);
        assert_eq!(products(&programs[0]), 3);
    }
}

#[test]
fn products_side_by_side_read_their_operands_in_any_layout() {
    let source = "
        pub fn transposed(x: f32[M, K], u: f32[N, K], v: f32[N, K]) -> (f32[M, N], f32[M, N]) {
            (matmul(x, transpose(u)), matmul(x, transpose(v)))
        }
        pub fn mixed(x: f32[K, M], u: f32[N, K], v: f32[K, N]) -> f32[M, N] {
            let rows = transpose(x);
            matmul(rows, transpose(u)) - matmul(rows, v)
        }
        pub fn prologues(x: f32[M, K], g: f32[K], u: f32[K, N], v: f32[K, N], s: f32) -> (f32[M, N], f32[M, N]) {
            (matmul(x, u * s), matmul(x, relu(v) - u))
        }";
    for program in check("layouts", source, FEW, &[]) {
        assert_eq!(products(&program), 2);
    }
}

#[test]
fn gate_and_up_are_one_kernel() {
    for dtype in [DType::F32, DType::F16] {
        let source = format!(
            "pub fn gated(x: {dtype}[M, K], g: {dtype}[K, N], u: {dtype}[K, N]) -> {dtype}[M, N] {{
                silu(matmul(x, g)) * matmul(x, u)
            }}"
        );
        assert_eq!(products(&check(&format!("gated {dtype}"), &source, FEW, &[])[0]), 2);
    }
}

#[test]
fn four_products_with_batches() {
    let source = "
        pub fn own(x: f32[B, M, K], a: f32[B, K, N], b: f32[B, K, N], c: f32[B, K, N], d: f32[B, K, N]) -> f32[B, M, N] {
            matmul(x, a) * matmul(x, b) - matmul(x, c) * matmul(x, d)
        }
        pub fn shared(x: f32[B, M, K], a: f32[K, N], b: f32[K, N], c: f32[K, N], d: f32[K, N]) -> f32[B, M, N] {
            matmul(x, a) * matmul(x, b) - matmul(x, c) * matmul(x, d)
        }";
    for program in check("four", source, &FEW[..3], &[("B", 3)]) {
        assert_eq!(products(&program), 4);
    }
}

#[test]
fn split_products_add_up() {
    let source = "
        pub fn pair(x: f32[M, K], u: f32[K, N], v: f32[K, N], b: f32[N]) -> (f32[M, N], f32[M, N]) {
            (matmul(x, u) + b, matmul(x, v) - b)
        }
        pub fn dots(x: f32[M, K], u: f32[N, K], v: f32[N, K]) -> f32[M, N] {
            matmul(x, transpose(u)) * matmul(x, transpose(v))
        }";
    let sizes =
        [[("M", 1), ("N", 8), ("K", 4096)], [("M", 3), ("N", 33), ("K", 1500)], [("M", 32), ("N", 8), ("K", 2051)]];
    let mut sweep = Sweep::new("split products");
    for program in compile(source) {
        let variants = &program.function.kernels[0].variants;
        assert!(variants.iter().any(|variant| variant.passes.len() > 1), "no split schedule");
        for (seed, dims) in sizes.iter().enumerate() {
            // Sums of coarse numbers are exact: lost or repeated terms show.
            let mut inputs = data::inputs(&program.graph, dims, seed as u64);
            inputs.iter_mut().flat_map(|input| &mut input.data).for_each(|x| *x = x.round());
            sweep.run(&program, &inputs);
        }
    }
    sweep.finish();
}

const NORM: &str = "
    pub fn norm(x: f32[M, K], w: f32[K, N], b: f32[N], r: f32[M, N], g: f32[N], c: f32[N]) -> f32[M, N] {
        layer_norm(matmul(x, w) + b + r, g, c, eps = 1e-5)
    }";

#[test]
fn layer_norm_follows_a_product_of_any_width() {
    let mut sizes = vec![];
    for (i, n) in [1, 5, 64, 384, 511, 512].into_iter().enumerate() {
        for (j, m) in [1, 7, 16, 33].into_iter().enumerate() {
            sizes.push([("M", m), ("N", n), ("K", [3, 20, 64, 0][(i + j) % 4])]);
        }
    }
    let programs = check("layer_norm", NORM, &sizes, &[]);
    let variants = &programs[0].function.kernels[0].variants;
    let widths = variants.iter().filter_map(|variant| match variant.schedule {
        Schedule::Tile(tile) => Some((tile.columns, variant.schedule.is_split())),
        _ => None,
    });
    let widths: Vec<(u32, bool)> = widths.collect();
    assert_eq!(widths.len(), variants.len(), "rows are owned by tiles");
    assert!(widths.iter().any(|(_, split)| *split), "few rows share the depth");
    for width in [128, 256, 384, 512] {
        assert!(widths.iter().any(|(columns, _)| *columns == width), "{widths:?}");
    }
}

#[test]
fn rows_of_known_width_have_tiles_of_that_width() {
    for n in [5, 32, 100, 384] {
        let source = format!(
            "pub fn norm(x: f32[M, K], w: f32[{n}, K], b: f32[{n}], r: f32[M, {n}], g: f32[{n}], c: f32[{n}]) -> f32[M, {n}] {{
                layer_norm(matmul(x, transpose(w)) + b + r, g, c, eps = 1e-12)
            }}"
        );
        let sizes = [[("M", 33), ("N", n), ("K", 36)], [("M", 6), ("N", n), ("K", 7)]];
        let programs = check(&format!("width {n}"), &source, &sizes, &[]);
        let aligned =
            programs[0].function.kernels[0].variants.iter().filter(|variant| variant.schedule.loads_vectors());
        let widths: Vec<u32> = aligned
            .filter_map(|variant| match variant.schedule {
                Schedule::Tile(Tile { columns, k: K::Whole, .. }) => Some(columns),
                _ => None,
            })
            .collect();
        let width = (n as u32).next_multiple_of(32);
        assert_eq!(widths.is_empty(), n % 4 != 0, "{n}: {widths:?}");
        assert!(widths.iter().all(|found| *found == width), "{n}: {widths:?}");
    }
}

#[test]
fn layers_share_long_depths_of_rows() {
    let source = "
        pub fn along_columns(x: f32[B, M, K], w: f32[K, N], r: f32[B, M, N]) -> (f32[B, M, N], f32[B, M]) {
            let y = matmul(x, w * 0.5) + r;
            (softmax(y), max(y, axis = 2))
        }
        pub fn along_depth(x: f32[B, M, K], w: f32[N, K], g: f32[N]) -> f32[B, M, N] {
            rms_norm(matmul(relu(x), transpose(w)), g, eps = 1e-6)
        }
        pub fn half(x: f16[M, K], w: f16[96, K], r: f16[M, 96]) -> f16[M, 96] { softmax(matmul(x, transpose(w)) + r) }";
    let sizes =
        [[("M", 5), ("N", 100), ("K", 300)], [("M", 4), ("N", 384), ("K", 132)], [("M", 1), ("N", 8), ("K", 4)]];
    for program in check("layers", source, &sizes, &[("B", 2)]) {
        let layered = |schedule: &Schedule| matches!(schedule, Schedule::Tile(tile) if tile.k_groups() > 1);
        let variants = &program.function.kernels[0].variants;
        assert!(variants.iter().any(|variant| layered(&variant.schedule)), "{}", program.function.name);
    }
}

#[test]
fn products_have_workgroups_of_their_own() {
    let source = "
        pub fn projections(
            x: f32[B, M, K], wq: f32[N, K], bq: f32[N], wk: f32[N, K], wv: f32[N, K], r: f32[B, M, N]
        ) -> (f32[B, M, N], f32[B, M, N], f32[B, M, N], f32[B, M, N]) {
            let q = matmul(x, transpose(wq)) + bq;
            let v = matmul(x, transpose(wv)) * r;
            (q, relu(matmul(x, transpose(wk))), abs(v), v)
        }
        pub fn columns(x: f16[M, K], u: f16[K, N], v: f16[K, N], c: f16[M, 1]) -> (f16[M, N], f16[M, N]) {
            let y = x * 2.0;
            (matmul(y, u) + c, gelu(matmul(y, v)))
        }";
    let sizes = [[("M", 9), ("N", 36), ("K", 20)], [("M", 130), ("N", 132), ("K", 64)], [("M", 1), ("N", 7), ("K", 5)]];
    for program in check("grouped", source, &sizes, &[("B", 2)]) {
        let grouped = |schedule: &Schedule| matches!(schedule, Schedule::Tile(tile) if tile.is_grouped());
        let variants = &program.function.kernels[0].variants;
        assert!(variants.iter().any(|variant| grouped(&variant.schedule)), "{}", program.function.name);
    }
    // An epilogue of both products forces them into one workgroup.
    let together =
        compile("pub fn f(x: f32[M, K], u: f32[K, N], v: f32[K, N]) -> f32[M, N] { matmul(x, u) * matmul(x, v) }");
    let schedules = together[0].function.kernels[0].variants.iter().map(|variant| &variant.schedule);
    assert!(schedules.into_iter().all(|schedule| !matches!(schedule, Schedule::Tile(tile) if tile.is_grouped())));
}

#[test]
fn operands_and_epilogues_use_coordinates() {
    let source = "
        pub fn scaled(x: f32[B, M, K], w: f32[B, K, N]) -> f32[B, M, N] {
            matmul(x, w * (index(w, axis = 0) as f32 - index(w, axis = 2) as f32))
        }
        pub fn embedded(x: f32[M, K], w: f32[K, N], table: f32[V, N], ids: i32[M], g: f32[N]) -> f32[M, N] {
            let y = matmul(x, w) + gather(table, ids);
            rms_norm(y + index(y, axis = 1) as f32, g, eps = 1e-6)
        }";
    let sizes = [[("M", 9), ("N", 36), ("K", 20)], [("M", 5), ("N", 7), ("K", 5)]];
    check("coordinates", source, &sizes, &[("B", 3), ("V", 11)]);
}

#[test]
fn softmax_and_rms_norm_follow_products_with_batches() {
    let source = "
        pub fn scores(q: f32[B, M, K], k: f32[B, N, K], s: f32) -> f32[B, M, N] {
            let scores = matmul(q, transpose(k)) * s;
            softmax(select(index(scores, axis = 2) > index(scores, axis = 1), -1e30, scores))
        }
        pub fn shared(x: f32[B, M, K], w: f32[K, N], g: f32[N]) -> f32[B, M, N] { rms_norm(matmul(x, w), g, eps = 1e-6) }
        pub fn half(x: f16[M, K], w: f16[K, N], g: f16[N], r: f16[M, N]) -> f16[M, N] {
            rms_norm(matmul(x, w) + r, g, eps = 1e-3) * 2.0
        }
        pub fn column(x: f32[M, K], w: f32[K, N], c: f32[M, 1]) -> f32[M, N] {
            let y = matmul(x, w) + c;
            (y - max(y, axis = 1, keepdim = true)) * c
        }";
    let sizes = [
        [("M", 9), ("N", 36), ("K", 20)],
        [("M", 1), ("N", 7), ("K", 5)],
        [("M", 34), ("N", 200), ("K", 32)],
        [("M", 4), ("N", 8), ("K", 0)],
    ];
    check("rows", source, &sizes, &[("B", 3)]);
}

#[test]
fn every_reduction_of_rows() {
    let source = "
        pub fn floats(x: f32[M, K], w: f32[K, N]) -> (f32[M], f32[M], i32[M], i32[M], f32[M, N]) {
            let y = matmul(x, w);
            (max(y, axis = 1), min(y, axis = 1), argmax(y, axis = 1), argmin(y, axis = 1), y)
        }
        pub fn integers(x: i32[M, K], w: i32[K, N]) -> (i32[M], i32[M], i32[M], i32[M], i32[M, 1]) {
            let y = matmul(x, w);
            (sum(y, axis = 1), prod(y, axis = 1), max(y, axis = 1), argmin(y, axis = 1), min(y, axis = 1, keepdim = true))
        }
        pub fn unsigned(x: u32[M, K], w: u32[K, N]) -> (u32[M], u32[M], i32[M]) {
            let y = matmul(x, w);
            (min(y, axis = 1), max(y, axis = 1), argmax(y, axis = 1))
        }
        pub fn truths(x: f32[M, K], w: f32[K, N], b: f32[N]) -> (bool[M], bool[M], f32[M, N]) {
            let y = matmul(x, w) + b;
            (any(y > 4.0, axis = 1), all(y > -4.0, axis = 1), select(y > 0.0, sum(y, axis = 1, keepdim = true), y))
        }";
    let sizes = [[("M", 9), ("N", 36), ("K", 4)], [("M", 33), ("N", 5), ("K", 3)], [("M", 2), ("N", 130), ("K", 8)]];
    check("reductions", source, &sizes, &[]);
}

#[test]
fn special_numbers_stay_in_their_rows() {
    let source = "
        pub fn soft(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { softmax(matmul(x, w)) }
        pub fn extremes(x: f32[M, K], w: f32[K, N]) -> (f32[M], f32[M], i32[M], i32[M], f32[M]) {
            let y = matmul(x, w);
            (max(y, axis = 1), min(y, axis = 1), argmax(y, axis = 1), argmin(y, axis = 1), sum(y, axis = 1))
        }";
    let mut sweep = Sweep::new("special numbers");
    for program in compile(source) {
        for dims in [[("M", 9), ("N", 6), ("K", 7)], [("M", 33), ("N", 36), ("K", 40)]] {
            let mut inputs = data::inputs(&program.graph, &dims, 3);
            let (last, depth) = (inputs[0].data.len() - 1, dims[2].1);
            inputs[0].data[0] = f64::INFINITY;
            inputs[0].data[2 * depth] = f64::NEG_INFINITY;
            inputs[0].data[last] = f64::NAN;
            sweep.run(&program, &inputs);
        }
    }
    sweep.finish();
}

/// Below, at and beyond one step of a row's invocations.
const DEEP: Sizes<'static> = &[
    [("M", 1), ("N", 1), ("K", 1)],
    [("M", 1), ("N", 36), ("K", 1100)],
    [("M", 17), ("N", 7), ("K", 31)],
    [("M", 5), ("N", 68), ("K", 68)],
    [("M", 33), ("N", 64), ("K", 288)],
    [("M", 70), ("N", 36), ("K", 96)],
    [("M", 3), ("N", 13), ("K", 1)],
];

const EMPTY: Sizes<'static> =
    &[[("M", 4), ("N", 8), ("K", 0)], [("M", 0), ("N", 8), ("K", 4)], [("M", 4), ("N", 0), ("K", 4)]];

fn reduces_operand(program: &Program) -> bool {
    program.function.kernels[0].work.row_passes > 0
}

#[test]
fn normalized_rows_are_multiplied_by_the_kernel_that_normalizes_them() {
    for dtype in [DType::F32, DType::F16] {
        let source = format!(
            "pub fn rms(x: {dtype}[M, K], g: {dtype}[K], w: {dtype}[K, N]) -> {dtype}[M, N] {{ matmul(rms_norm(x, g), w) }}
            pub fn layer(x: {dtype}[M, K], g: {dtype}[K], b: {dtype}[K], w: {dtype}[K, N], c: {dtype}[N], r: {dtype}[M, N]) -> {dtype}[M, N] {{
                gelu(matmul(layer_norm(x, g, b), w) + c) + r
            }}
            pub fn soft(x: {dtype}[M, K], v: {dtype}[K, N]) -> {dtype}[M, N] {{ matmul(softmax(x), v) }}"
        );
        for program in check(&format!("norms {dtype}"), &source, DEEP, &[]) {
            assert!(reduces_operand(&program), "{}", program.function.plan);
        }
        check(&format!("empty norms {dtype}"), &source, EMPTY, &[]);
    }
}

#[test]
fn products_share_their_normalized_operand() {
    let source = "
        pub fn projections(x: f32[M, K], g: f32[K], q: f32[K, N], k: f32[K, N], v: f32[K, N]) -> (f32[M, N], f32[M, N], f32[M, N]) {
            let n = rms_norm(x, g);
            (matmul(n, q), matmul(n, k), matmul(n, v))
        }
        pub fn gated(x: f32[M, K], r: f32[M, K], g: f32[K], b: f32[K], u: f32[K, N], v: f32[K, N]) -> f32[M, N] {
            let n = layer_norm(x + r, g, b);
            silu(matmul(n, u)) * matmul(n, v)
        }
        pub fn transposed(x: f32[K, M], u: f32[N, K], v: f32[K, N]) -> f32[M, N] {
            let n = softmax(transpose(x));
            matmul(n, transpose(u)) + matmul(n, v)
        }";
    for program in check("shared norms", source, &DEEP[1..5], &[]) {
        assert!(reduces_operand(&program) && products(&program) > 1, "{}", program.function.plan);
    }
}

#[test]
fn normalized_operands_have_batches_and_any_layout() {
    let source = "
        pub fn shared(x: f32[B, M, K], g: f32[K], w: f32[K, N]) -> f32[B, M, N] { matmul(rms_norm(x, g), w) }
        pub fn own(x: f32[B, M, K], w: f32[B, N, K], s: f32[B, M, 1]) -> f32[B, M, N] {
            matmul(softmax(x * s), transpose(w))
        }
        pub fn columns(x: f32[B, K, M], w: f32[B, K, N], g: f32[K]) -> f32[B, M, N] {
            matmul(rms_norm(permute(x, [0, 2, 1]), g), w)
        }
        pub fn of_batch(x: f32[M, K], s: f32[B], w: f32[B, K, N]) -> f32[B, M, N] {
            matmul(softmax(x * reshape(s, [B, 1, 1])), w)
        }
        pub fn repeated(x: f32[1, M, K], g: f32[K], w: f32[B, K, N]) -> f32[B, M, N] { matmul(rms_norm(x, g), w) }
        pub fn gated(x: f16[B, M, K], g: f16[K], b: f16[K], u: f16[K, N], v: f16[K, N]) -> f16[B, M, N] {
            let n = layer_norm(x, g, b);
            silu(matmul(n, u)) * matmul(n, v)
        }";
    let sizes = [
        [("M", 1), ("N", 36), ("K", 68)],
        [("M", 9), ("N", 7), ("K", 5)],
        [("M", 36), ("N", 40), ("K", 32)],
        [("M", 2), ("N", 8), ("K", 0)],
    ];
    for program in check("norms with batches", source, &sizes, &[("B", 3)]) {
        assert!(reduces_operand(&program), "{}", program.function.plan);
    }
}

#[test]
fn rows_are_reduced_before_and_after_a_product() {
    let source = "
        pub fn both(x: f32[M, K], g: f32[K], w: f32[K, N], r: f32[M, N], c: f32[N], d: f32[N]) -> f32[M, N] {
            layer_norm(matmul(rms_norm(x, g), w) + r, c, d)
        }
        pub fn known(x: f32[M, K], w: f32[K, 96]) -> f32[M, 96] { softmax(matmul(softmax(x), w)) }";
    let sizes = [
        [("M", 1), ("N", 7), ("K", 5)],
        [("M", 33), ("N", 200), ("K", 36)],
        [("M", 6), ("N", 512), ("K", 128)],
        [("M", 4), ("N", 8), ("K", 0)],
    ];
    for program in check("rows twice", source, &sizes, &[]) {
        assert!(reduces_operand(&program), "{}", program.function.plan);
    }
}

#[test]
fn every_reduction_of_an_operands_rows() {
    let source = "
        pub fn extremes(x: f32[M, K], w: f32[K, N]) -> f32[M, N] {
            let range = max(x, axis = 1, keepdim = true) - min(x, axis = 1, keepdim = true);
            matmul(x * range + argmax(x, axis = 1, keepdim = true) as f32, w)
        }
        pub fn truths(x: f32[M, K], w: f32[K, N]) -> f32[M, N] {
            let x = select(any(x > 3.5, axis = 1, keepdim = true), x, -x);
            matmul(select(all(x > -3.5, axis = 1, keepdim = true), x * 2.0, x), w)
        }
        pub fn integers(x: i32[M, K], w: i32[K, N]) -> i32[M, N] {
            matmul(x * sum(x, axis = 1, keepdim = true) - min(x, axis = 1, keepdim = true), w)
        }
        pub fn other(x: f32[M, K], y: f32[M, K], s: f32[M], w: f32[K, N]) -> f32[M, N] {
            let scale = (sum(y * y, axis = 1) + s * s) as f32;
            matmul(x * reshape(scale, [M, 1]), w)
        }
        pub fn chosen(x: f32[M, K], t: f32[K, K], w: f32[K, N]) -> f32[M, N] {
            matmul(x + gather(t, argmax(x, axis = 1)) + index(x, axis = 1) as f32, w)
        }";
    let sizes = [[("M", 9), ("N", 36), ("K", 4)], [("M", 33), ("N", 5), ("K", 3)], [("M", 1), ("N", 12), ("K", 130)]];
    for program in check("operand reductions", source, &sizes, &[]) {
        assert!(reduces_operand(&program), "{}", program.function.plan);
    }
}

#[test]
fn long_rows_take_many_steps() {
    let source = "
        pub fn share(x: f32[M, K], w: f32[K, N]) -> f32[M, N] {
            let x = abs(x);
            matmul(x / sum(x, axis = 1, keepdim = true), abs(w))
        }";
    let sizes = [[("M", 1), ("N", 4), ("K", 20000)], [("M", 3), ("N", 5), ("K", 3001)]];
    for program in check("long rows", source, &sizes, &[]) {
        assert!(reduces_operand(&program), "{}", program.function.plan);
    }
}
