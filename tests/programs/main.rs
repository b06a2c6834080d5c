//! Programs as users write them: `fuse!` expanded by rustc, its wrappers, the library's kernels, a whole model,
//! sequences and tuning, on the default adapter.

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
