//! Kernel structure: several results, many operands, high ranks, long chains, and empty or huge grids.

use fuse_artifact::DType;
use fuse_compiler::interp::Value;
use fuse_test_support::{Program, Sweep, adapter::Arguments, compile, data, devices, wait};

fn check(what: &str, source: &str, dims: &[&[(&str, usize)]]) -> Vec<Program> {
    let mut sweep = Sweep::new(what);
    let programs = compile(source);
    for program in &programs {
        for (seed, dims) in dims.iter().enumerate() {
            sweep.run(program, &data::inputs(&program.graph, dims, seed as u64));
        }
    }
    sweep.finish();
    programs
}

#[test]
fn several_results_of_one_kernel() {
    let source = "
        pub fn f(a: f32[M, N], b: f32[N]) -> (f32[M, N], f32[M, N], bool[M, N], i32[M, N]) {
            let s = a + b;
            (s, relu(s) * a, s > b, s as i32)
        }
        pub fn twice(a: f32[N]) -> (f32[N], f32[N]) { let b = a + 1.0; (b, b) }
        pub fn passed(a: f32[N]) -> (f32[N], f32[N]) { (a, a * 2.0) }";
    check("several results", source, &[&[("M", 3), ("N", 5)], &[("M", 4), ("N", 64)], &[("M", 0), ("N", 3)]]);
}

#[test]
fn results_of_different_shapes() {
    let source = "
        pub fn f(a: f32[M, N], b: f32[N]) -> (f32[M, N], f32[N], f32[N, M]) {
            (a + b, exp(b), transpose(a) * 2.0)
        }";
    check("several shapes", source, &[&[("M", 3), ("N", 5)], &[("M", 8), ("N", 4)]]);
}

#[test]
fn more_operands_than_one_kernel_can_bind() {
    let names: Vec<String> = (0..12).map(|i| format!("x{i}")).collect();
    let params: Vec<String> = names.iter().map(|name| format!("{name}: f32[N]")).collect();
    let source = format!("pub fn f({}) -> f32[N] {{ {} }}", params.join(", "), names.join(" + "));
    let programs = check("twelve operands", &source, &[&[("N", 1)], &[("N", 5)], &[("N", 1024)]]);
    let kernels: Vec<usize> = programs[0].plans().map(|function| function.kernels.len()).collect();
    assert_eq!(kernels.first(), Some(&1), "devices that bind 13 buffers need one kernel");
    assert!(kernels.last() >= Some(&2), "the last plan must run where 8 buffers can be bound: {kernels:?}");
}

#[test]
fn more_results_than_one_kernel_can_bind() {
    let texts: Vec<String> = (0..11).map(|i| format!("x * {i}.5")).collect();
    let source = format!("pub fn f(x: f32[N]) -> ({}) {{ ({}) }}", ["f32[N]"; 11].join(", "), texts.join(", "));
    check("eleven results", &source, &[&[("N", 7)], &[("N", 64)]]);
}

#[test]
fn every_rank() {
    let dims = ["A", "B", "C", "D", "E", "F"];
    for rank in 0..=6 {
        let full = dims[..rank].join(", ");
        let alternating = dims[..rank]
            .iter()
            .enumerate()
            .map(|(i, d)| if i % 2 == 0 { "1" } else { *d })
            .collect::<Vec<_>>()
            .join(", ");
        let last = if rank == 0 { String::new() } else { dims[rank - 1].to_owned() };
        let source =
            format!("pub fn f(x: f32[{full}], y: f32[{alternating}], z: f32[{last}]) -> f32[{full}] {{ (x + y) * z }}");
        let small: Vec<(&str, usize)> = dims.iter().copied().zip([2, 3, 4, 1, 3, 5]).collect();
        let aligned: Vec<(&str, usize)> = dims.iter().copied().zip([4, 4, 2, 2, 4, 4]).collect();
        check(&format!("rank {rank}"), &source, &[&small, &aligned]);
    }
}

#[test]
fn permutations_of_rank_four() {
    for axes in [[3, 2, 1, 0], [0, 2, 1, 3], [1, 0, 3, 2], [2, 3, 0, 1], [0, 1, 3, 2]] {
        let dims = ["A", "B", "C", "D"];
        let result = axes.map(|axis| dims[axis]).join(", ");
        let source = format!(
            "pub fn f(x: f32[A, B, C, D], y: f32[{result}]) -> f32[{result}] {{ permute(x, {axes:?}) - y }}
             pub fn copy(x: f16[A, B, C, D]) -> f16[{result}] {{ permute(x, {axes:?}) }}"
        );
        let small = [("A", 2), ("B", 3), ("C", 5), ("D", 4)];
        let aligned = [("A", 4), ("B", 8), ("C", 4), ("D", 4)];
        check("permutation", &source, &[&small, &aligned]);
    }
}

#[test]
fn chains_of_movement() {
    let source = "
        pub fn views(x: f32[A, B, C]) -> f32[C, A * B] { transpose(reshape(x, [A * B, C])) + 1.0 }
        pub fn through_slice(x: f32[A, B, C]) -> f32[C, 2] {
            transpose(reshape(slice(slice(x, axis = 1, start = 1, end = 3), axis = 0, start = 1, end = 2), [2, C])) * 2.0
        }
        pub fn split(x: f32[A, B, C]) -> f32[B, C, A, 1] { unsqueeze(permute(x, [1, 2, 0]), axis = 3) }
        pub fn column(x: f32[A, B, C]) -> f32[A, C] { squeeze(slice(x, axis = 1, start = 2, end = 3), axis = 1) }
        pub fn flat(x: f32[A, B, C], y: f32[A * B * C]) -> f32[A * B * C] { reshape(permute(x, [2, 0, 1]), [A * B * C]) - y }";
    check("movement", source, &[&[("A", 2), ("B", 3), ("C", 4)], &[("A", 4), ("B", 5), ("C", 8)]]);
}

#[test]
fn a_long_chain_stays_one_kernel_within_its_bound() {
    let body: String = (0..30).map(|i| format!("let x = tanh(x * 1.0{i}) + 0.01 * relu(x);\n")).collect();
    let source = format!("pub fn f(x: f32[N]) -> f32[N] {{ {body} x }}");
    let programs = check("long chain", &source, &[&[("N", 5)], &[("N", 4096)]]);
    assert_eq!(programs[0].function.kernels.len(), 1);
}

#[test]
fn grids_of_more_than_65535_workgroups_are_folded() {
    let program = compile("pub fn f(x: i32[N, 1], y: i32[M]) -> i32[N, M] { x * 3 - y }").remove(0);
    let (n, m) = (65_537, 263);
    let column = |count: usize| (0..count).map(|i| i as f64).collect();
    let x = Value { dtype: DType::I32, shape: vec![n, 1], data: column(n) };
    let y = Value { dtype: DType::I32, shape: vec![m], data: column(m) };
    for device in devices() {
        let arguments = Arguments::new(device, &program, &[x.clone(), y.clone()]).unwrap();
        let choice = [program.function.kernels[0].variants.len() - 1];
        let result = wait(arguments.launch(&program, Some(&choice))).unwrap().remove(0);
        let wrong = result.data.iter().enumerate().find(|&(i, &found)| found != (i / m * 3) as f64 - (i % m) as f64);
        assert_eq!(wrong, None, "the first wrong element on {}", device.info().name);
    }
}
