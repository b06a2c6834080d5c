//! [`Knobs`]: overrides by programs of variants and shaders, and expectations of priors.
//!
//! The build script compiles this file, too: it names only what that compiles.

use crate::context::control_flow::ControlFlow;

/// Preferences where nothing else decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Knobs {
    pub(crate) workgroup_size: Option<u32>,
    /// Rows and columns of a product's tile.
    pub(crate) tile_size: Option<u32>,
    /// One of [`UNROLL_FACTORS`](crate::context::control_flow::UNROLL_FACTORS).
    pub(crate) unroll: Option<u32>,
    pub(crate) control_flow: Option<ControlFlow>,
    pub(crate) bounds_checks: Option<bool>,
    /// Allows less exact functions than documented; no built-in table does.
    pub(crate) fast_math: Option<bool>,
}

impl Knobs {
    /// Fills gaps from `other`. Setting one of the two sizes sets both.
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
