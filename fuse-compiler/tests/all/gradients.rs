//! Gradients: of operations, movements, special points and `#[differentiable]` functions, and as plans.

mod attention;
mod differentiable;
mod movements;
mod operations;
mod special_points;
