//! The compiler through its public interface, without an adapter. Values of kernels are tested in `tests/numeric` of
//! the root package.

mod assumptions;
mod attention;
mod expressions;
mod families;
mod features;
mod front;
mod gradients;
mod large;
mod planner;
mod reductions;
mod webnn;
mod work;
mod workgroup_memory;
