//! Every pointwise operation, dtype and operand access on the installed adapters, compared with the interpreter's
//! ranges, with every legal variant.
//!
//! Operations of one dtype share kernels with several results, so that few pipelines are compiled.

mod pairs;
mod patterns;
mod special;
mod structure;
