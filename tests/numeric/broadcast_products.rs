//! Reduced broadcast products against the interpreter's ranges: every legal variant, awkward sizes, bounds on kernels
//! and bytes.

use fuse_gpu::{Device, Tensor1, Tensor2, fuse};
use fuse_test_support::{Program, Sweep, compile, data};

fn check(what: &str, source: &str, sizes: &[&[(&str, usize)]]) -> Vec<Program> {
    let mut sweep = Sweep::new(what).sharing_variants(3);
    let programs = compile(source);
    for program in &programs {
        for (seed, dims) in sizes.iter().enumerate() {
            sweep.run(program, &data::inputs(&program.graph, dims, seed as u64));
        }
    }
    sweep.finish();
    programs
}

/// Every plan must have this many kernels and store no intermediate.
fn assert_nothing_stored(programs: &[Program], kernels: usize) {
    for program in programs {
        for plan in program.plans() {
            let found = (plan.kernels.len(), plan.temporaries.len());
            assert_eq!(found, (kernels, 0), "{}\n{}", program.source(), plan.plan);
        }
    }
}

const BODIES: &[&[(&str, usize)]] = &[
    &[("N", 1), ("K", 1)],
    &[("N", 3), ("K", 5)],
    &[("N", 31), ("K", 64)],
    &[("N", 67), ("K", 33)],
    &[("N", 5), ("K", 0)],
    &[("N", 129), ("K", 258)],
];

#[test]
fn a_step_of_bodies_is_one_kernel() {
    let steps = check(
        "bodies",
        "pub fn step(p: f32[N, 3], v: f32[N, 3], m: f32[N], eps: f32, dt: f32) -> (f32[N, 3], f32[N, 3]) {
            let d = unsqueeze(p, axis = 0) - unsqueeze(p, axis = 1);
            let r = sum(d * d, axis = 2, keepdim = true) + abs(eps) + 0.1;
            let w = reshape(abs(m), [1, N, 1]) / (r * sqrt(r));
            let u = v + sum(d * w, axis = 1) * dt;
            (p + u * dt, u)
        }
        pub fn between<T: Float>(p: T[N, 3], q: T[K, 3], m: T[K]) -> T[N, 3] {
            let d = unsqueeze(q, axis = 0) - unsqueeze(p, axis = 1);
            let r = max(abs(d), axis = 2) + 1.0;
            sum(d * unsqueeze(unsqueeze(m, axis = 0) / r, axis = 2), axis = 1)
        }
        pub fn energy(p: f32[2, N], m: f32[N]) -> f32 {
            let d = unsqueeze(p, axis = 1) - unsqueeze(p, axis = 2);
            sum(unsqueeze(m, axis = 0) * unsqueeze(m, axis = 1) / sqrt(sum(d * d, axis = 0) + 0.1))
        }
        pub fn neighbours(p: i32[N, 4], q: i32[K, 4]) -> i32[N] {
            let near = abs(unsqueeze(q, axis = 0) - unsqueeze(p, axis = 1)) < 40;
            sum(all(near, axis = 2) as i32, axis = 1)
        }",
        BODIES,
    );
    assert_nothing_stored(&steps, 1);
}

#[test]
fn colours_are_normalized_where_they_are_averaged() {
    let source = "pub fn mean_colour(x: f32[N, K, 3]) -> f32[N, 3] {
        mean(x * rsqrt(sum(x * x, axis = 2, keepdim = true) + 0.01), axis = 1)
    }";
    let sizes: &[&[(&str, usize)]] = &[&[("N", 1), ("K", 1)], &[("N", 7), ("K", 33)], &[("N", 2), ("K", 300)]];
    assert_nothing_stored(&check("colours", source, sizes), 1);
}

#[test]
fn a_covariance_stores_means() {
    let programs = check(
        "covariance",
        "pub fn covariance<T: Float>(x: T[N, C]) -> T[C, C] {
            let c = x - mean(x, axis = 0, keepdim = true);
            matmul(transpose(c), c) * 0.125
        }
        pub fn correlation(x: f32[N, C]) -> f32[C, C] {
            let c = x - mean(x, axis = 0, keepdim = true);
            let s = c * rsqrt(mean(c * c, axis = 0, keepdim = true) + 0.01);
            matmul(transpose(s), s)
        }",
        &[&[("N", 1), ("C", 1)], &[("N", 5), ("C", 3)], &[("N", 67), ("C", 36)], &[("N", 300), ("C", 17)]],
    );
    for program in &programs {
        let rows = |spec: &fuse_artifact::TensorSpec| spec.shape.iter().filter(|size| !size.is_one()).count();
        let vectors = program.function.temporaries.iter().all(|spec| rows(spec) == 1);
        assert!(vectors && program.function.kernels.len() == 2, "{}", program.function.plan);
    }
}

#[test]
fn a_soft_mixture_of_experts_stores_no_expert() {
    let programs = check(
        "mixture",
        "pub fn mixture(x: f32[T, D], g: f32[D, 4], w: f32[4, D, N], b: f32[4, N]) -> f32[T, N] {
            let gates = softmax(matmul(x, g));
            sum(unsqueeze(transpose(gates), axis = 2) * gelu(matmul(x, w) + unsqueeze(b, axis = 1)), axis = 0)
        }
        pub fn many(x: f32[T, D], g: f32[T, 7], w: f32[7, D, N]) -> f32[T, N] {
            sum(unsqueeze(transpose(g), axis = 2) * matmul(x, w), axis = 0)
        }
        pub fn gated<T: Float>(x: T[M, D], u: T[2, D, N], w: T[2, D, N]) -> T[M, N] {
            sum(silu(matmul(x, u)) * matmul(x, w), axis = 0) / 2.0
        }",
        &[
            &[("T", 1), ("M", 1), ("D", 3), ("N", 5)],
            &[("T", 33), ("M", 5), ("D", 36), ("N", 68)],
            &[("T", 64), ("M", 65), ("D", 32), ("N", 64)],
            &[("T", 5), ("M", 2), ("D", 0), ("N", 7)],
        ],
    );
    for program in &programs {
        let experts = |spec: &fuse_artifact::TensorSpec| spec.shape.len() == 3 && !spec.shape[0].is_one();
        assert!(!program.function.temporaries.iter().any(experts), "{}", program.function.plan);
    }
}

fuse! {
    fn step(p: f32[N, 3], v: f32[N, 3], m: f32[N], dt: f32) -> (f32[N, 3], f32[N, 3]) {
        let d = unsqueeze(p, axis = 0) - unsqueeze(p, axis = 1);
        let r = sum(d * d, axis = 2, keepdim = true) + 0.01;
        let u = v + sum(d * reshape(m, [1, N, 1]) / (r * sqrt(r)), axis = 1) * dt;
        (p + u * dt, u)
    }
}

/// `[N, N, 3]` numbers would be 128 MiB.
#[test]
fn thousands_of_bodies_fit_little_memory() {
    const BODIES: usize = 3344;
    let device = Device::builder().without_pipeline_cache().memory_budget(8 << 20).build_blocking().unwrap();
    let p = Tensor2::<f32>::randn(&device, [BODIES, 3], 1).unwrap();
    let v = Tensor2::<f32>::zeros(&device, [BODIES, 3]).unwrap();
    let m = Tensor1::<f32>::rand(&device, [BODIES], 2).unwrap();
    let (_, u) = step(&p, &v, &m, 1.0).unwrap();
    let (p, m, u) = (p.to_vec_blocking().unwrap(), m.to_vec_blocking().unwrap(), u.to_vec_blocking().unwrap());
    for body in [0, 1, 1671, BODIES - 1] {
        for axis in 0..3 {
            let (mut sum, mut size) = (0.0, 0.0);
            for other in 0..BODIES {
                let d = |axis: usize| f64::from(p[other * 3 + axis]) - f64::from(p[body * 3 + axis]);
                let r = d(0) * d(0) + d(1) * d(1) + d(2) * d(2) + 0.01;
                let force = d(axis) * f64::from(m[other]) / (r * r.sqrt());
                (sum, size) = (sum + force, size + force.abs());
            }
            let found = f64::from(u[body * 3 + axis]);
            assert!((found - sum).abs() <= 1e-5 * size, "body {body}, axis {axis}: {found}, expected {sum}");
        }
    }
}
