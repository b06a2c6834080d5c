//! Every pointwise operation, dtype, operand access and legal variant against the interpreter's ranges. Operations of
//! one dtype share kernels: few pipelines are compiled.

mod pairs;
mod patterns;
mod special;
mod structure;
