//! Kernels against the f64 interpreter, on every installed adapter: programs are compiled from source text at test time, and each
//! variant that may run is forced. One program, so that its threads stay busy until the end.

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
