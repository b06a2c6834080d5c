//! Reductions recompute broadcasts of smaller values.

use fuse_artifact::{Function, Size};
use fuse_compiler::compile::{Options, compile};

use super::graph;

fn function(source: &str) -> Function {
    let options = Options { validate: false, ..Options::default() };
    compile(&graph(source), &options).unwrap_or_else(|error| panic!("{source}: {error}")).function
}

fn temporaries(function: &Function) -> Vec<u64> {
    let symbols = vec![1000; function.symbols.len()];
    let elements = |sizes: &[Size]| Size::product(sizes).eval(&symbols).expect("an extent");
    function.temporaries.iter().map(|spec| elements(&spec.shape)).collect()
}

#[track_caller]
fn check(source: &str, kernels: usize, expected: &[u64]) -> Function {
    let function = function(source);
    assert_eq!((function.kernels.len(), &*temporaries(&function)), (kernels, expected), "{}", function.plan);
    function
}

#[track_caller]
fn check_all(source: &str, kernels: usize, expected: &[u64]) {
    let function = check(source, kernels, expected);
    for other in function.alternatives.iter() {
        assert_eq!((other.kernels.len(), &*temporaries(other)), (kernels, expected), "{}", other.plan);
    }
}

#[test]
fn forces_between_bodies_are_one_kernel() {
    let forces = "fn f(p: f32[N, 3], m: f32[N], eps: f32) -> f32[N, 3] {
        let d = unsqueeze(p, axis = 0) - unsqueeze(p, axis = 1);
        let r = sum(d * d, axis = 2, keepdim = true) + eps;
        sum(d * unsqueeze(unsqueeze(m, axis = 0), axis = 2) / (r * sqrt(r)), axis = 1)
    }";
    check_all(forces, 1, &[]);
    // Storing the distances would save a read.
    let between = "fn f(p: f32[N, 3], q: f32[K, 3], m: f32[K]) -> f32[N, 3] {
        let d = unsqueeze(q, axis = 0) - unsqueeze(p, axis = 1);
        let w = unsqueeze(m, axis = 0) * pow(sum(d * d, axis = 2) + 0.01, -1.5);
        sum(d * unsqueeze(w, axis = 2), axis = 1)
    }";
    check_all(between, 1, &[]);
    let energy = "fn f(p: f32[N, 3], m: f32[N]) -> f32 {
        let d = unsqueeze(p, axis = 0) - unsqueeze(p, axis = 1);
        sum(unsqueeze(m, axis = 0) * unsqueeze(m, axis = 1) / sqrt(sum(d * d, axis = 2) + 0.01))
    }";
    check_all(energy, 1, &[]);
    // Two kernels recompute shared values, even broadcast along a short axis.
    let both = "fn f(p: f32[N, 3], m: f32[N]) -> (f32[N, 3], f32[N]) {
        let d = unsqueeze(p, axis = 0) - unsqueeze(p, axis = 1);
        let r = sqrt(sum(d * d, axis = 2) + 0.01);
        let w = unsqueeze(m, axis = 0) / (r * r * r);
        let forces = d * unsqueeze(w, axis = 2) - abs(d) * unsqueeze(w, axis = 2) / 2.0;
        (sum(forces, axis = 1), sum(unsqueeze(m, axis = 0) / r, axis = 1))
    }";
    check_all(both, 2, &[]);
}

#[test]
fn every_operation_over_a_short_axis_is_written_out() {
    for op in ["sum", "prod", "max", "min", "mean"] {
        let source = format!(
            "fn f(p: f32[N, 2, 4], q: f32[K, 2, 4]) -> f32[N] {{
                let d = unsqueeze(q, axis = 0) - unsqueeze(p, axis = 1);
                sum({op}(d, axis = [2, 3]), axis = 1)
            }}"
        );
        check_all(&source, 1, &[]);
    }
    for op in ["any", "all"] {
        let source = format!(
            "fn f(p: f32[N, 3], q: f32[K, 3]) -> i32[N] {{
                let above = unsqueeze(q, axis = 0) > unsqueeze(p, axis = 1);
                sum({op}(above, axis = 2) as i32, axis = 1)
            }}"
        );
        check_all(&source, 1, &[]);
    }
}

#[test]
fn what_is_no_longer_short_or_cheap_stays_a_kernel() {
    let nine = "fn f(p: f32[N, 9], q: f32[K, 9]) -> f32[N] {
        let d = unsqueeze(q, axis = 0) - unsqueeze(p, axis = 1);
        sum(sqrt(sum(d * d, axis = 2)), axis = 1)
    }";
    check(nine, 2, &[1_000_000]);
    let dear = "fn f(p: f32[N, 3], q: f32[K, 3]) -> f32[N] {
        let d = unsqueeze(q, axis = 0) - unsqueeze(p, axis = 1);
        sum(sqrt(sum(gelu(sin(d) + cos(d)), axis = 2)), axis = 1)
    }";
    check(dear, 2, &[1_000_000]);
    let gates = "fn f(x: f32[T, 3], w: f32[3, N]) -> f32[T, N] { matmul(softmax(x), w) }";
    check_every_plan_has_a_reduction(gates);
    // `argmax` is no chain of a binary operation.
    let nearest = "fn f(p: f32[N, 3], q: f32[K, 3]) -> i32[N] {
        let d = unsqueeze(q, axis = 0) - unsqueeze(p, axis = 1);
        sum(argmax(d, axis = 2), axis = 1)
    }";
    check(nearest, 2, &[1_000_000]);
}

#[track_caller]
fn check_every_plan_has_a_reduction(source: &str) {
    let function = function(source);
    let plans = std::iter::once(&function).chain(function.alternatives.iter());
    for plan in plans {
        let operations = plan.plan.groups.iter().flat_map(|group| group.operations.iter());
        assert_eq!(operations.filter(|name| *name == "max" || *name == "sum").count(), 2, "{}", plan.plan);
    }
}

#[test]
fn rows_of_few_elements_in_memory_are_read_where_they_are_used() {
    let colours = "fn f(x: f32[N, M, 3]) -> f32[N, 3] {
        mean(x * rsqrt(sum(x * x, axis = 2, keepdim = true) + 1e-6), axis = 1)
    }";
    check_all(colours, 1, &[]);
}

#[test]
fn distances_over_a_long_axis_are_computed_by_all_that_reduce_them() {
    let source = "fn f(p: f32[N, D], q: f32[K, D]) -> (f32[N, K], f32[N, D]) {
        let d = unsqueeze(q, axis = 0) - unsqueeze(p, axis = 1);
        (sum(d * d, axis = 2), sum(abs(d), axis = 1))
    }";
    check_all(source, 2, &[]);
    // Storing the sum saves a read.
    let residual = "fn f(x: f32[M, N], y: f32[M, N]) -> (f32[M], f32[N]) {
        let s = x + y;
        (sum(s * s, axis = 1), sum(s, axis = 0))
    }";
    check(residual, 2, &[1_000_000]);
}

#[test]
fn a_covariance_reads_means_instead_of_a_centred_matrix() {
    let covariance = "fn f(x: f32[N, C]) -> f32[C, C] {
        let c = x - mean(x, axis = 0, keepdim = true);
        matmul(transpose(c), c)
    }";
    let function = check(covariance, 2, &[1000]);
    // One plan stores the centered matrix for cooperative matrices.
    let stored: Vec<Vec<u64>> = function.alternatives.iter().map(temporaries).collect();
    assert_eq!(stored, [[1_000_000]], "{}", function.plan);
    let correlation = "fn f(x: f32[N, C]) -> f32[C, C] {
        let c = x - mean(x, axis = 0, keepdim = true);
        let s = c * rsqrt(mean(c * c, axis = 0, keepdim = true));
        matmul(transpose(s), s)
    }";
    check(correlation, 2, &[1000, 1000]);
    let norm = "fn f(x: f32[M, K], g: f32[K], w: f32[K, N]) -> f32[M, N] { matmul(rms_norm(x, g), w) }";
    assert!(function_has_temporary(norm, 1_000_000), "{}", self::function(norm).plan);
}

fn function_has_temporary(source: &str, elements: u64) -> bool {
    function(source).alternatives.iter().any(|plan| temporaries(plan).contains(&elements))
}

fn multiplies_matrices(function: &Function) -> bool {
    let kernel = function.kernels.last().expect("a kernel");
    kernel.variants.iter().any(|variant| variant.features.coop_matrix > 0)
}

#[test]
fn operands_of_f16_can_be_stored_for_cooperative_matrices() {
    let cosine = "fn f(x: f16[M, K], y: f16[N, K]) -> f16[M, N] {
        let a = x / sqrt(sum(x * x, axis = 1, keepdim = true));
        let b = y / sqrt(sum(y * y, axis = 1, keepdim = true));
        matmul(a, transpose(b))
    }";
    let relu = "fn f(x: f16[M, K], w: f16[K, N]) -> f16[M, N] { matmul(relu(x), w) }";
    let scaled = "fn f(x: f16[M, K], w: f16[K, N], s: f16[N]) -> f16[M, N] { matmul(x, w * s) }";
    let converted = "fn f(x: f32[M, K], w: f16[K, N]) -> f16[M, N] { matmul(x as f16, w) }";
    for (source, kernels) in [(cosine, 3), (relu, 2), (scaled, 2), (converted, 2)] {
        let function = function(source);
        let stored = function.alternatives.iter().find(|plan| multiplies_matrices(plan));
        let stored = stored.unwrap_or_else(|| panic!("no plan in matrices:\n{}", function.plan));
        assert_eq!(stored.kernels.len(), kernels, "{}", stored.plan);
    }
    // Plain operands need no alternative; quantized weights stay packed.
    let plain = function("fn f(x: f16[M, K], w: f16[K, N]) -> f16[M, N] { matmul(x, w) }");
    assert!(multiplies_matrices(&plain) && plain.alternatives.is_empty(), "{}", plain.plan);
    let weights = function("fn f(x: f16[M, K], w: q4[K, N]) -> f16[M, N] { matmul(x, w) }");
    assert!(weights.alternatives.is_empty(), "{}", weights.plan);
}

#[test]
fn rows_that_a_product_reads_across_are_stored_along() {
    let source = "fn f(x: f16[M, K], y: f16[N, K]) -> f16[M, N] { matmul(x, transpose(softmax(y))) }";
    let function = function(source);
    let stored = function.temporaries.iter().map(|spec| spec.shape.to_vec());
    let rows = function.params[1].kind.clone();
    let fuse_artifact::ParamKind::Tensor(spec) = rows else { panic!("a tensor") };
    assert_eq!(stored.collect::<Vec<_>>(), [spec.shape.to_vec()], "{}", function.plan);
}

#[test]
fn experts_of_a_mixture_are_added_up_before_anything_is_stored() {
    // Gates, then experts; further kernels add to another's sum.
    for (experts, temporaries) in [(2, 1), (4, 1), (8, 2)] {
        let source = format!(
            "fn f(x: f32[T, D], g: f32[D, {experts}], w: f32[{experts}, D, N]) -> f32[T, N] {{
                let gates = softmax(matmul(x, g));
                sum(unsqueeze(transpose(gates), axis = 2) * gelu(matmul(x, w)), axis = 0)
            }}"
        );
        let function = function(&source);
        let found = self::temporaries(&function);
        assert_eq!((function.kernels.len(), found.len()), (temporaries + 1, temporaries), "{}", function.plan);
        assert!(found.iter().all(|&elements| elements <= 1_000_000), "{}", function.plan);
        // One product for all experts.
        let stored = |plan: &Function| self::temporaries(plan).contains(&(experts * 1_000_000));
        assert!(function.alternatives.iter().any(stored), "{}", function.plan);
    }
    let block = "fn f(x: f32[T, D], u: f32[2, D, D], w: f32[2, D, D]) -> f32[T, D] {
        x + sum(silu(matmul(x, u)) * matmul(x, w), axis = 0) / 2.0
    }";
    check(block, 1, &[]);
    // Other users, or no shared left operand.
    let used = "fn f(x: f32[T, D], w: f32[4, D, N]) -> (f32[T, N], f32[4, T, N]) {
        let y = matmul(x, w);
        (sum(y, axis = 0), y)
    }";
    assert!(function(used).alternatives.is_empty(), "{}", function(used).plan);
    let own = "fn f(x: f32[4, T, D], w: f32[4, D, N]) -> f32[T, N] { sum(matmul(x, w), axis = 0) }";
    check(own, 2, &[4_000_000]);
}
