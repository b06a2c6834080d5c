//! Gradients: of operations beside forward mode, of movements, at special points, of `#[differentiable]` functions, and as plans.

mod attention;
mod differentiable;
mod movements;
mod operations;
mod special_points;
