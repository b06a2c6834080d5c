//! What bounds a plan from below: the bytes that its kernels read and write, and its dispatches.

use std::{collections::BTreeSet, fmt, time::Duration};

use fuse_gpu::{
    Explanation,
    artifact::{Function, ParamKind, QuantizedSpec, Slot, SymbolSource, TensorSpec},
};

/// What a plan moves and launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    /// Bytes: each operand and result of each kernel once. What the passes of one kernel hand over is not counted.
    pub(crate) bytes: u64,
    /// Dispatches.
    pub(crate) dispatches: u32,
}

impl Moved {
    /// What a launch moves, of a function whose parameters are tensors of these shapes; `None` if a size follows from
    /// more than the axes of parameters.
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
        // Of the packed values and of the scales.
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
                        // What is updated in place is read and written.
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

    /// How many times as long a plan takes that moves `other`, at most, if time goes to bytes, to dispatches, and to
    /// arithmetic that is the same in both.
    pub(crate) fn gain(self, other: Self) -> f64 {
        let bytes = other.bytes as f64 / self.bytes.max(1) as f64;
        bytes.max(f64::from(other.dispatches) / f64::from(self.dispatches.max(1)))
    }
}

/// What the adapter reached in this run, with a kernel written by hand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    /// Bytes per second of a large copy.
    pub(crate) bandwidth: f64,
    /// Time of a dispatch with next to no work that waits for the one before.
    pub(crate) dispatch: Duration,
}

/// The least times of a plan: it takes at least the longer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Floor {
    /// At the bandwidth of a large copy. Data that a cache holds may take less.
    pub(crate) bytes: Duration,
    /// At the rate of dispatches that do nothing.
    pub(crate) launches: Duration,
}

impl Rates {
    /// The least times of what a plan moves.
    pub(crate) fn floor(self, moved: Moved) -> Floor {
        let bytes = Duration::from_secs_f64(moved.bytes as f64 / self.bandwidth.max(1.0));
        Floor { bytes, launches: self.dispatch * moved.dispatches }
    }
}

/// What most of a time is spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    Bytes,
    Launches,
    /// Of a product that is far above both floors.
    Arithmetic,
    /// Far above both floors, without a product.
    Neither,
}

impl Floor {
    /// What bounds a computation that takes `time`: the longer floor if it is at least half of that.
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
