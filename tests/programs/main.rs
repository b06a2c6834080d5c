//! Programs as users write them, on the default adapter: `fuse!` expanded by rustc, kernels of the library, a whole
//! model, sequences and tuning.

mod attention_training;
mod benchmark;
mod differentiable;
mod expand_forms;
mod in_place;
mod kernels;
mod minilm;
mod newcomer;
mod optimizers;
mod patterns;
mod row_forms;
mod scientific;
mod sequences;
mod training;
mod tuning;
