//! Compiler tests without an adapter, from graphs to schedule families. Results of kernels are tested in
//! `tests/numeric` of the root package.

mod assumptions;
mod attention;
mod attention_gradient;
mod differentiable;
mod expressions;
mod families;
mod features;
mod gradients;
mod large;
mod movement_gradients;
mod planner;
mod reductions;
mod special_points;
mod webnn;
mod work;
mod workgroup_memory;
