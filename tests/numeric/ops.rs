//! Every pointwise operation, dtype and way of reading an operand on the installed adapters, against the interpreter's
//! ranges, with every legal variant.
//!
//! Operations of one dtype share kernels with several results, so that few pipelines are compiled.

mod pairs;
mod patterns;
mod special;
mod structure;
