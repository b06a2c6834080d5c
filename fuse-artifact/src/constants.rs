//! Constants at the head of shaders, which the runtime sets.
//!
//! Each is declared on a line of its own ([`declaration`]) with the value that holds if a launch asks for nothing else.
//! Drivers know the constants, and remove the branches and loops that depend on them.

use std::fmt::Display;

/// True for faster and less exact functions; false by default.
pub const FAST_MATH: &str = "fuse_fast_math";

/// Rounds of a loop that one round does, from 1 to [`MOST_ROUNDS`]; 1 by default.
pub const ROUNDS: &str = "fuse_rounds";

/// The largest value of [`ROUNDS`].
pub const MOST_ROUNDS: u32 = 4;

/// True for branches on an integer by `switch`, false for chains of `if`; the default depends on the kernel.
pub const SWITCH: &str = "fuse_switch";

/// The number of the first place in a shader that checks an index ([`INDEX_PLACE`]); 0 by default. Only shaders for tests
/// have it.
pub const FIRST_PLACE: &str = "fuse_first_place";

/// Start of a comment that describes a place where a shader checks an index, in the order of their numbers.
pub const INDEX_PLACE: &str = "// place ";

/// The name of the constant that says if scales and offsets of a quantized parameter are `f32`, one in a word, and not
/// `f16`, two in a word; false by default.
pub fn wide_scales(param: u16) -> String {
    format!("fuse_wide_scales_{param}")
}

/// The declaration of a constant with a value.
pub fn declaration(name: &str, value: impl Display) -> String {
    format!("const {name} = {value};")
}
