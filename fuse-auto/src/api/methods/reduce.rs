//! Reductions.

use fuse_artifact::{
    DType,
    operations::{Operation, REDUCTIONS, row},
};
use smallvec::smallvec;

use crate::{
    api::{
        lazy::LazyTensor,
        methods::axes::{Over, axes_of},
        operand::plain,
        record::Request,
    },
    error::Error,
    node::{Input, Node},
    op::{self, Op},
};

const VAR: &Operation = row(REDUCTIONS, "var");
const ARGMAX: &Operation = row(REDUCTIONS, "argmax");
const ARGMIN: &Operation = row(REDUCTIONS, "argmin");

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident $row:literal,)*) => {
        impl LazyTensor { $(
            $(#[$doc])*
            /// `x.sum(1)`, `x.sum([0, 2])`, `x.sum(())` for all axes, `x.sum(Over::from(1).keep())`.
            ///
            /// # Errors
            /// [`Error::Operation`] if it does not take the dtype, or has no such axis.
            pub fn $name(&self, over: impl Into<Over>) -> Result<Self, Error> {
                const ROW: &Operation = row(REDUCTIONS, $row);
                self.reduce(ROW, &over.into(), 0)
            }
        )* }
    };
}

reductions! {
    /// The sum along axes; of truth values the count of `true`, as `i32`.
    sum "sum",
    /// The product along axes.
    prod "prod",
    /// The maximum along axes; of two values it is [`max`](Self::max).
    amax "max",
    /// The minimum along axes; of two values it is [`min`](Self::min).
    amin "min",
    /// The mean along axes; of truth values the share of `true`, as `f32`.
    mean "mean",
    /// `log(sum(exp(x)))` along axes.
    logsumexp "logsumexp",
    /// The square root of the sum of squares along axes.
    norm "norm",
    /// True if any element along axes is true.
    any "any",
    /// True if all elements along axes are true.
    all "all",
}

impl LazyTensor {
    /// Variance along axes: the sum of squared deviations from the mean, divided by the count minus `correction`.
    ///
    /// # Errors
    /// [`Error::Operation`] if it has no floats, or no such axis.
    pub fn var(&self, over: impl Into<Over>, correction: u32) -> Result<Self, Error> {
        self.reduce(VAR, &over.into(), correction)
    }

    /// Index of the first maximum along an axis.
    ///
    /// # Errors
    /// [`Error::Operation`] if it has no numbers, no such axis, or no elements along it.
    pub fn argmax(&self, axis: i32) -> Result<Self, Error> {
        self.best_index(ARGMAX, axis)
    }

    /// Index of the first minimum along an axis.
    ///
    /// # Errors
    /// As [`argmax`](Self::argmax).
    pub fn argmin(&self, axis: i32) -> Result<Self, Error> {
        self.best_index(ARGMIN, axis)
    }

    fn best_index(&self, reduction: &'static Operation, axis: i32) -> Result<Self, Error> {
        let value = self.reduce(reduction, &axis.into(), 0)?;
        let shape = &self.node()?.shape;
        // `reduce` checked the axis.
        if shape[axis.rem_euclid(shape.len().max(1) as i32) as usize] == 0 {
            let message = format!(
                "axis {axis} of `{}` has no elements, one of which the index would be",
                self.node()?.type_text()
            );
            return Err(Error::operation(reduction.name, message, "take it where there are elements"));
        }
        Ok(value)
    }

    fn reduce(&self, reduction: &'static Operation, over: &Over, correction: u32) -> Result<Self, Error> {
        // The count and the share of `true`.
        let counted = match reduction.name {
            "sum" => Some(DType::I32),
            "mean" => Some(DType::F32),
            _ => None,
        };
        if let (Some(dtype), DType::Bool) = (counted, self.node()?.dtype) {
            return self.cast(dtype)?.reduce(reduction, over, correction);
        }
        let node = plain(self, reduction.name, reduction.takes)?;
        let axes = match &over.axes {
            None => None,
            Some(axes) => Some(axes_of(reduction.name, axes, node)?.into_iter().fold(0, |bits, axis| bits | 1 << axis)),
        };
        if is_itself(reduction, node, axes, over.keepdim) {
            return Ok(self.clone());
        }
        let over = op::Over { axes, keepdim: over.keepdim, correction };
        let dtype = reduction.yields.unwrap_or(node.dtype);
        Request::new(Op::Reduce(reduction, over), dtype, smallvec![Input::of(node)]).record()
    }
}

/// True if the language returns the value itself, reduced over extents of 1: gradients are then equal, too.
fn is_itself(reduction: &Operation, node: &Node, axes: Option<u8>, keepdim: bool) -> bool {
    let gives_elements = match reduction.name {
        "sum" | "prod" | "max" | "min" | "any" | "all" => true,
        // Computed in `f32`.
        "mean" => node.dtype == DType::F32,
        _ => false,
    };
    let is_reduced = |axis: usize| axes.is_none_or(|axes| axes >> axis & 1 == 1);
    let mut extents = node.shape.iter().enumerate().filter(|(axis, _)| is_reduced(*axis));
    gives_elements && (keepdim || node.shape.is_empty()) && extents.all(|(_, &extent)| extent == 1)
}
