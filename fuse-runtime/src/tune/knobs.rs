//! [`Knobs`]: what programs override of variants and of their texts, and what is expected to be fast somewhere.
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

/// Sizes that a schedule should be close to and specializations that its text should have, where something else does not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Knobs {
    /// Invocations of a workgroup.
    pub(crate) workgroup_size: Option<u32>,
    /// Rows and columns of a workgroup's tile of a product.
    pub(crate) tile_size: Option<u32>,
    /// By which of [`UNROLL_FACTORS`] loops are unrolled.
    pub(crate) unroll: Option<u32>,
    /// How texts choose between branches.
    pub(crate) control_flow: Option<ControlFlow>,
    /// Whether shaders check their indices.
    pub(crate) bounds_checks: Option<bool>,
    /// Whether functions may be less exact than documented. No built-in table says that they may.
    pub(crate) fast_math: Option<bool>,
}

impl Knobs {
    /// These, and what `other` says of what these say nothing about. The two sizes belong together: who says one of them
    /// says both.
    pub(crate) fn or(self, other: Self) -> Self {
        let sizes = if self.has_sizes() { self } else { other };
        Self {
            workgroup_size: sizes.workgroup_size,
            tile_size: sizes.tile_size,
            unroll: self.unroll.or(other.unroll),
            control_flow: self.control_flow.or(other.control_flow),
            bounds_checks: self.bounds_checks.or(other.bounds_checks),
            fast_math: self.fast_math.or(other.fast_math),
        }
    }

    /// Whether they say anything about which variant runs.
    pub(crate) const fn has_sizes(&self) -> bool {
        self.workgroup_size.is_some() || self.tile_size.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_come_from_one_place_and_forms_from_the_first_that_says_them() {
        let first = Knobs { workgroup_size: Some(128), unroll: Some(1), ..Knobs::default() };
        let second = Knobs {
            workgroup_size: Some(256),
            tile_size: Some(32),
            unroll: Some(4),
            control_flow: Some(ControlFlow::Switch),
            bounds_checks: Some(true),
            fast_math: None,
        };
        let both = Knobs { control_flow: Some(ControlFlow::Switch), bounds_checks: Some(true), ..first };
        assert_eq!(first.or(second), both);
        let unchecked = Knobs { bounds_checks: Some(false), fast_math: Some(true), ..first };
        assert_eq!(unchecked.or(second), Knobs { control_flow: second.control_flow, ..unchecked });
        assert_eq!(Knobs { unroll: Some(2), ..Knobs::default() }.or(second), Knobs { unroll: Some(2), ..second });
        assert_eq!(Knobs::default().or(second), second);
    }
}
