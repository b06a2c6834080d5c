//! Choices of how a shader is written: [`ControlFlow`] and the factors of unrolled loops.
//!
//! The build script reads this file, too, so it names nothing of the crate.

/// How shaders choose by an integer between branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ControlFlow {
    /// One `if` after another.
    If,
    /// `switch`.
    Switch,
}

impl ControlFlow {
    /// Both.
    pub const ALL: [Self; 2] = [Self::If, Self::Switch];

    /// The name in tables and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::If => "if",
            Self::Switch => "switch",
        }
    }

    /// The control flow of this name.
    #[cfg_attr(not(feature = "tune"), allow(dead_code, reason = "only files name control flow"))]
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|flow| flow.name() == name)
    }
}

/// The factors by which loops are unrolled; 1 leaves them as they are.
pub(crate) const UNROLL_FACTORS: [u32; 3] = [1, 2, 4];
