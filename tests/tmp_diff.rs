#[path = "programs/differentiable.rs"]
mod differentiable;
