//! Constants at the head of shaders, which the runtime sets.
//!
//! Each has a line of its own ([`declaration`]) with its default. Drivers know their values and remove branches and
//! loops that depend on them.

use std::fmt::Display;

/// True for faster and less exact functions; default false.
pub const FAST_MATH: &str = "fuse_fast_math";

/// Rounds of a loop per round, from 1 to [`MOST_ROUNDS`]; default 1.
pub const ROUNDS: &str = "fuse_rounds";

/// Largest value of [`ROUNDS`].
pub const MOST_ROUNDS: u32 = 4;

/// True for branches on an integer by `switch`, false for chains of `if`; the default depends on the kernel.
pub const SWITCH: &str = "fuse_switch";

/// Number of the first place that checks an index ([`INDEX_PLACE`]); default 0. Only in shaders for tests.
pub const FIRST_PLACE: &str = "fuse_first_place";

/// Start of a comment that describes a place where a shader checks an index, in the order of their numbers.
pub const INDEX_PLACE: &str = "// place ";

/// Name of the constant for `f32` scales and offsets of a quantized parameter (false: two `f16` in a word); default
/// false.
pub fn wide_scales(param: u16) -> String {
    format!("fuse_wide_scales_{param}")
}

/// Declaration of a constant with a value.
pub fn declaration(name: &str, value: impl Display) -> String {
    format!("const {name} = {value};")
}
