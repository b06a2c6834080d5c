//! Choices in shader code: [`ControlFlow`] and unroll factors.
//!
//! The build script compiles this file, too: it names nothing of the crate.

/// Form of branches on an integer in shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ControlFlow {
    /// A chain of `if`s.
    If,
    /// A `switch`.
    Switch,
}

impl ControlFlow {
    /// Both forms.
    pub const ALL: [Self; 2] = [Self::If, Self::Switch];

    #[allow(dead_code, reason = "the build script does not use it")]
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::If => Self::Switch,
            Self::Switch => Self::If,
        }
    }

    /// The name in tables and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::If => "if",
            Self::Switch => "switch",
        }
    }

    #[cfg_attr(not(feature = "tune"), allow(dead_code, reason = "only files name control flow"))]
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|flow| flow.name() == name)
    }
}

pub(crate) const UNROLL_FACTORS: [u32; 3] = [1, 2, 4];
