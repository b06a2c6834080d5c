//! The compiler from graphs to families of schedules, without an adapter: what is compiled, and what is left out. What kernels
//! compute is tested in `tests/numeric` of the root package.

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
