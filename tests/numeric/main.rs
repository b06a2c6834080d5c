//! Kernels against the `f64` interpreter on every adapter, compiled from source at test time, with each legal variant
//! forced. One test program keeps all threads busy.

mod attention;
mod attention_gradient;
mod broadcast_products;
mod checked;
mod composites;
mod contractions;
mod cooperative_matrices;
mod edges;
mod figures;
mod files;
mod matmul;
mod movement_gradients;
mod numbers;
mod ops;
mod quantized;
mod random_programs;
mod reductions;
mod scatter;
mod soak;
mod specializations;
