//! The names that built-in tuning tables may use: `fuse-runtime/tables/schedules.txt`, which the build of `fuse-runtime` compares
//! them with, has the schedules of the compiler's families and nothing else.
//!
//! `cargo xtask bless` writes the list anew.

use std::{collections::BTreeSet, fs};

use fuse_test_support::{compile, corpus};

use crate::root;

/// What the file tests have no kernel of: every layout of products, several of them, weights of every packing, heads that
/// schedules are made for.
fn more() -> Vec<String> {
    let mut sources = vec![
        "pub fn rows<T: Float>(x: T[B, M, K], w: T[B, K, N], b: T[N]) -> T[B, M, N] { relu(matmul(x, w) + b) }
         pub fn depth<T: Float>(x: T[B, M, K], w: T[B, N, K], b: T[N]) -> T[B, M, N] { matmul(x, transpose(w)) + b }
         pub fn columns<T: Float>(x: T[B, K, M], w: T[B, K, N]) -> T[B, M, N] { matmul(transpose(x), w) }
         pub fn computed<T: Float>(x: T[B, M, K], w: T[B, K, N], b: T[N]) -> T[B, M, N] { matmul(gelu(x), w) + b }
         pub fn siblings<T: Float>(x: T[M, K], w: T[K, N], v: T[K, N], u: T[K, L]) -> (T[M, N], T[M, N], T[M, L]) {
             (relu(matmul(x, w)), matmul(x, v), matmul(x, u))
         }
         pub fn gated<T: Float>(x: T[M, K], w: T[K, N], v: T[K, N]) -> T[M, N] { silu(matmul(x, w)) * matmul(x, v) }
         pub fn gated_depth<T: Float>(x: T[M, K], w: T[N, K], v: T[N, K]) -> T[M, N] {
             silu(matmul(x, transpose(w))) * matmul(x, transpose(v))
         }
         pub fn siblings_depth<T: Float>(x: T[M, K], w: T[N, K], v: T[N, K], u: T[L, K]) -> (T[M, N], T[M, N], T[M, L]) {
             (matmul(x, transpose(w)), matmul(x, transpose(v)), matmul(x, transpose(u)))
         }
         pub fn normalized<T: Float>(x: T[M, K], g: T[K], w: T[K, N]) -> T[M, N] { matmul(rms_norm(x, g), w) }
         pub fn reduced<T: Float>(x: T[M, K], w: T[K, N], g: T[N], b: T[N]) -> T[M, N] { layer_norm(matmul(x, w), g, b) }"
            .to_owned(),
        "pub fn sums<T: Float>(x: T[M, N]) -> T[M] { sum(x, axis = 1) }
         pub fn column_sums<T: Float>(x: T[M, N]) -> T[N] { sum(x, axis = 0) }
         pub fn middle<T: Float>(x: T[B, M, N]) -> T[B, N] { sum(x, axis = 1) }
         pub fn softmaxes<T: Float>(x: T[M, N]) -> T[M, N] { softmax(x) }
         pub fn norms<T: Float>(x: T[M, N], g: T[N], b: T[N]) -> T[M, N] { layer_norm(x, g, b) }"
            .to_owned(),
    ];
    for packing in ["q8", "q4", "q3", "q2", "q1"] {
        sources.push(format!(
            "pub fn weights<T: Float>(x: T[M, K], w: {packing}[K, N]) -> T[M, N] {{ matmul(x, w) }}
             pub fn across<T: Float>(x: T[M, K], w: {packing}[N, K]) -> T[M, N] {{ matmul(x, transpose(w)) }}"
        ));
    }
    for head in ["16", "32", "64", "128", "D"] {
        for scores in ["matmul(q, transpose(k))", "matmul(q, transpose(k)) * (0.125 as T)"] {
            sources.push(format!(
                "pub fn attend<T: Float>(q: T[B, H, S, {head}], k: T[B, H, L, {head}], v: T[B, H, L, {head}])
                     -> T[B, H, S, {head}] {{ matmul(softmax({scores}), v) }}"
            ));
        }
    }
    for head in ["16", "32", "64", "128", "D"] {
        sources.push(format!(
            "pub fn attend_back<T: Float>(q: T[H, S, {head}], k: T[H, L, {head}], v: T[H, L, {head}], c: T[H, S, {head}])
                 -> (T[H, S, {head}], T[H, L, {head}], T[H, L, {head}]) {{
                 grad(matmul(softmax(matmul(q, transpose(k))), v), wrt = [q, k, v], cotangent = c)
             }}"
        ));
    }
    sources
}

#[test]
fn the_list_for_built_in_tables_has_the_compilers_members() {
    let sources = corpus::FILES.iter().map(|(_, source)| (*source).to_owned()).chain(more());
    let mut names = BTreeSet::new();
    for program in sources.flat_map(|source| compile(&source)) {
        program.validate().unwrap_or_else(|error| panic!("{error}"));
        for kernel in program.plans().flat_map(|plan| plan.kernels.iter()) {
            let of_kernel: BTreeSet<&str> = kernel.variants.iter().map(|variant| &*variant.name).collect();
            assert_eq!(of_kernel.len(), kernel.variants.len(), "`{}` has two schedules of one name", kernel.name);
            names.extend(of_kernel.into_iter().map(str::to_owned));
        }
    }
    let expected: String = names.iter().map(|name| format!("{name}\n")).collect();
    let file = root().join("fuse-runtime/tables/schedules.txt");
    if std::env::var_os("FUSE_BLESS").is_some() {
        return fs::write(&file, expected).expect("the list can be written");
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    if found == expected {
        return;
    }
    let listed: BTreeSet<&str> = found.lines().collect();
    let missing: Vec<&String> = names.iter().filter(|name| !listed.contains(name.as_str())).collect();
    let unknown: Vec<&&str> = listed.iter().filter(|name| !names.contains(**name)).collect();
    panic!(
        "{} differs: it lacks {missing:?}, and no family has {unknown:?} (each name once, sorted); if families changed, run \
         `cargo xtask bless`",
        file.display()
    );
}
