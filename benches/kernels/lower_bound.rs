//! Lower bounds of a plan's time, from bytes and dispatches.

use std::{collections::BTreeSet, fmt, time::Duration};

use fuse_gpu::{
    Explanation,
    artifact::{Function, ParamKind, QuantizedSpec, Slot, SymbolSource, TensorSpec},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    /// Buffers between passes of a kernel do not count.
    pub(crate) bytes: u64,
    pub(crate) dispatches: u32,
}

impl Moved {
    /// `None` if a size depends on more than the axes of parameters.
    pub(crate) fn by(function: &Function, shapes: &[&[usize]], explanation: &Explanation) -> Option<Self> {
        let plan = match explanation.alternative {
            0 => function,
            index => function.alternatives.get(index - 1)?,
        };
        let extents = function.symbols.iter().map(|symbol| match symbol.source {
            SymbolSource::Axis { param, axis } => {
                shapes.get(usize::from(param))?.get(usize::from(axis)).map(|&extent| extent as u64)
            }
            _ => None,
        });
        let extents = extents.collect::<Option<Vec<u64>>>()?;
        let bytes_of = |tensor: &TensorSpec| {
            let sizes = tensor.shape.iter().map(|size| size.eval(&extents));
            Some(sizes.product::<Option<u64>>()? * tensor.dtype.bytes())
        };
        let quantized_bytes = |spec: &QuantizedSpec| {
            let sizes = spec.shape.iter().map(|size| size.eval(&extents));
            let sizes: Vec<u64> = sizes.collect::<Option<_>>()?;
            let [shape @ .., groups, scale_words] = &*sizes else { return None };
            let extent = shape[usize::from(spec.axis)];
            let others = shape.iter().product::<u64>() / extent.max(1);
            let words = spec.packing.words(extent as usize) as u64;
            Some([4 * others * words, 4 * others * groups * scale_words])
        };
        let mut moved = Self { bytes: 0, dispatches: 0 };
        for (kernel, explained) in plan.kernels.iter().zip(&explanation.kernels) {
            moved.dispatches += explained.workgroups.len() as u32;
            let chosen = explained.chosen.as_deref();
            let variant = kernel.variants.iter().find(|variant| Some(&*variant.name) == chosen)?;
            let bindings = variant.passes.iter().flat_map(|pass| pass.bindings.iter());
            let slots: BTreeSet<Slot> = bindings.map(|binding| binding.slot).collect();
            for slot in slots {
                moved.bytes += match slot {
                    Slot::Param(index) => match &plan.params[usize::from(index)].kind {
                        ParamKind::Tensor(tensor) if plan.updates.contains(&index) => 2 * bytes_of(tensor)?,
                        ParamKind::Tensor(tensor) => bytes_of(tensor)?,
                        ParamKind::Quantized(spec) => quantized_bytes(spec)?[0],
                        ParamKind::Scalar(_) | ParamKind::Size => 0,
                    },
                    Slot::Scales(index) => match &plan.params[usize::from(index)].kind {
                        ParamKind::Quantized(spec) => quantized_bytes(spec)?[1],
                        ParamKind::Tensor(_) | ParamKind::Scalar(_) | ParamKind::Size => 0,
                    },
                    Slot::Temporary(index) => bytes_of(&plan.temporaries[usize::from(index)])?,
                    Slot::Result(index) => bytes_of(&plan.results[usize::from(index)])?,
                    Slot::Scratch => 0,
                };
            }
        }
        Some(moved)
    }

    /// Largest ratio to a plan with `other` and equal arithmetic.
    pub(crate) fn gain(self, other: Self) -> f64 {
        let bytes = other.bytes as f64 / self.bytes.max(1) as f64;
        bytes.max(f64::from(other.dispatches) / f64::from(self.dispatches.max(1)))
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    pub(crate) bandwidth: f64,
    /// A nearly empty dispatch that waits for the previous one.
    pub(crate) dispatch: Duration,
}

/// The larger bound counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Floor {
    /// At a large copy's bandwidth; cached data may take less.
    pub(crate) bytes: Duration,
    pub(crate) launches: Duration,
}

impl Rates {
    pub(crate) fn floor(self, moved: Moved) -> Floor {
        let bytes = Duration::from_secs_f64(moved.bytes as f64 / self.bandwidth.max(1.0));
        Floor { bytes, launches: self.dispatch * moved.dispatches }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    Bytes,
    Launches,
    /// A product far above both bounds.
    Arithmetic,
    /// Far above both bounds, without a product.
    Neither,
}

impl Floor {
    /// The larger lower bound, if at least half of `time`.
    pub(crate) fn bound(self, time: Duration, product: bool) -> Bound {
        match 2 * self.bytes.max(self.launches) >= time {
            true if self.bytes > self.launches => Bound::Bytes,
            true => Bound::Launches,
            false if product => Bound::Arithmetic,
            false => Bound::Neither,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bytes => "bytes",
            Self::Launches => "launches",
            Self::Arithmetic => "arithmetic",
            Self::Neither => "–",
        })
    }
}
