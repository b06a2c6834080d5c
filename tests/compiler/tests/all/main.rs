//! What the compiler writes, tested without an adapter: texts against goldens (`goldens`), through every back end of naga
//! (`backends`), their names beside the words of WGSL (`names`), the names that tables use (`schedules`), what operations mean beside PyTorch's figures (`definitions`), and
//! gradients beside PyTorch's and JAX's (`figures`); and the rules of the repository (`tidy`, `circles`).

mod backends;
mod circles;
mod definitions;
mod figures;
mod golden;
mod goldens;
mod names;
mod schedules;
mod tidy;

use fuse_test_support::checkout as root;
