//! [`Knobs`]: what programs override of variants and of their texts, and what is expected to be fast somewhere.
//!
//! The build script reads this file, too, so it names only what that reads.

use crate::context::control_flow::ControlFlow;

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
