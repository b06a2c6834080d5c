//! Files of other toolchains: what they hold (`gguf`, `blocks`, `packed`), as tensors of `fuse-quantize` (`import`), damaged in
//! every way (`hostile`) and made up (`random`).

mod blocks;
mod gguf;
mod hostile;
mod import;
mod packed;
mod random;
