//! Operations of the record: one case per shape rule and per spelling in the language.

pub(crate) mod extent;

use fuse_artifact::{DType, operations::Operation};
use fuse_runtime::__private::Shape;
use smallvec::SmallVec;

use crate::op::extent::Extent;

#[derive(Clone, Debug)]
pub(crate) enum Op {
    Leaf,
    Pointwise(&'static Operation),
    /// `name(a, b, …)`, pointwise: all but the condition of a select have one dtype.
    Call(&'static str),
    Cast(DType),
    /// `name(x, key = number)`; the number is the second input.
    Scaled(&'static str, &'static str),
    Matmul,
    Dot,
    Outer,
    Transpose,
    Permute(Axes),
    Reshape(Sizes),
    BroadcastTo(Sizes),
    Slice {
        axis: u8,
        bounds: Box<[Option<Extent>; 2]>,
    },
    Squeeze(u8),
    Unsqueeze(u8),
    Index(u8),
    Reduce(&'static Operation, Over),
    /// `softmax`, `log_softmax` along an axis.
    Row(&'static str, u8),
    /// `layer_norm`, `rms_norm`, `batch_norm`: vectors along an axis; the last input is eps.
    Norm(&'static str, u8),
    /// Groups, channels on axis 1; the last input is eps.
    GroupNorm(Sizes),
    Concat(u8),
    Stack(u8),
    Flip(Axes),
    Gather(u8),
    OneHot(Sizes),
    /// Inputs: the value, the probability and the seed.
    Dropout,
    /// `dequantize`, along the packed axis.
    Dequantize(u8),
    /// Elements before and after; the second input is the fill value.
    Pad(u8, Sizes),
    /// The second input is the shift.
    Roll(u8),
    /// `repeat` and `tile`.
    Repeat(&'static str, u8, Sizes),
    /// `tril` and `triu`; the second input is the diagonal.
    Triangle(&'static str),
    Glu(u8),
    CrossEntropy(u8),
    StopGradient,
    /// Checkpoint of its input. Gradients recompute the nodes with numbers in this range, the end excluded.
    Checkpoint(u64, u64),
    /// Gradients of the first input with respect to the others; with `cotangent`, the second input is the cotangent. It
    /// has no value: [`Op::Part`] takes its results.
    Grad {
        cotangent: bool,
    },
    Part(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Over {
    /// A bit for each axis; `None`: all axes, and none remains.
    pub(crate) axes: Option<u8>,
    pub(crate) keepdim: bool,
    /// Subtracted from the count by a variance.
    pub(crate) correction: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axes {
    pub(crate) count: u8,
    pub(crate) list: [u8; 6],
}

#[derive(Clone, Debug)]
pub(crate) enum Sizes {
    Numbers(Shape),
    Of(Box<[Extent]>),
}

impl Axes {
    pub(crate) fn new(axes: &[usize]) -> Self {
        let mut list = [0; 6];
        list.iter_mut().zip(axes).for_each(|(slot, &axis)| *slot = axis as u8);
        Self { count: axes.len().min(6) as u8, list }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.list[..usize::from(self.count)].iter().map(|&axis| usize::from(axis))
    }

    fn key(self) -> u64 {
        self.iter().fold(u64::from(self.count), |key, axis| key << 8 | axis as u64)
    }
}

impl Sizes {
    pub(crate) fn extents(&self) -> SmallVec<[Extent; 6]> {
        match self {
            Self::Numbers(shape) => shape.iter().map(|&dim| Extent::Number(dim)).collect(),
            Self::Of(extents) => extents.iter().cloned().collect(),
        }
    }

    fn key(&self, words: &mut Vec<u64>) {
        match self {
            Self::Numbers(shape) => {
                words.push(shape.len() as u64);
                shape.iter().for_each(|&dim| Extent::Number(dim).key(words));
            }
            Self::Of(extents) => {
                words.push(extents.len() as u64);
                extents.iter().for_each(|extent| extent.key(words));
            }
        }
    }
}

impl Op {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Leaf => "tensor",
            Self::Pointwise(operation) => operation.name,
            Self::Call(name)
            | Self::Scaled(name, _)
            | Self::Row(name, _)
            | Self::Norm(name, _)
            | Self::Repeat(name, ..)
            | Self::Triangle(name) => name,
            Self::Reduce(reduction, _) => reduction.name,
            Self::Cast(_) => "as",
            Self::Matmul => "matmul",
            Self::Dot => "dot",
            Self::Outer => "outer",
            Self::Transpose => "transpose",
            Self::Permute(_) => "permute",
            Self::Reshape(_) => "reshape",
            Self::BroadcastTo(_) => "broadcast_to",
            Self::Slice { .. } => "slice",
            Self::Squeeze(_) => "squeeze",
            Self::Unsqueeze(_) => "unsqueeze",
            Self::Index(_) => "index",
            Self::GroupNorm(_) => "group_norm",
            Self::Concat(_) => "concat",
            Self::Stack(_) => "stack",
            Self::Flip(_) => "flip",
            Self::Gather(_) => "gather",
            Self::OneHot(_) => "one_hot",
            Self::Dropout => "dropout",
            Self::Dequantize(_) => "dequantize",
            Self::Pad(..) => "pad",
            Self::Roll(_) => "roll",
            Self::Glu(_) => "glu",
            Self::CrossEntropy(_) => "cross_entropy",
            Self::StopGradient => "stop_gradient",
            Self::Checkpoint(..) => "checkpoint",
            Self::Grad { .. } | Self::Part(_) => "grad",
        }
    }

    pub(crate) fn key(&self, words: &mut Vec<u64>) {
        // Every name has one address, which identifies it.
        let name = |name: &'static str| name.as_ptr() as u64 ^ (name.len() as u64) << 56;
        let axis = |axis: u8| u64::from(axis);
        let mut of = |kind: u64, word: u64| words.extend([kind, word]);
        match self {
            Self::Leaf => of(0, 0),
            Self::Pointwise(operation) => of(1, std::ptr::from_ref(*operation) as u64),
            Self::Call(call) => of(2, name(call)),
            Self::Cast(dtype) => of(3, *dtype as u64),
            Self::Scaled(call, _) => of(4, name(call)),
            Self::Matmul => of(5, 0),
            Self::Dot => of(6, 0),
            Self::Outer => of(7, 0),
            Self::Transpose => of(8, 0),
            Self::Permute(axes) => of(9, axes.key()),
            Self::Reshape(sizes) => {
                of(10, 0);
                sizes.key(words);
            }
            Self::BroadcastTo(sizes) => {
                of(11, 0);
                sizes.key(words);
            }
            Self::Slice { axis, bounds } => {
                of(12, u64::from(*axis));
                for bound in bounds.iter() {
                    match bound {
                        None => words.push(0),
                        Some(extent) => extent.key(words),
                    }
                }
            }
            Self::Squeeze(at) => of(13, axis(*at)),
            Self::Unsqueeze(at) => of(14, axis(*at)),
            Self::Index(at) => of(15, axis(*at)),
            Self::Reduce(reduction, over) => {
                of(16, name(reduction.name));
                let axes = over.axes.map_or(1 << 8, u64::from);
                words.push(axes << 33 | u64::from(over.keepdim) << 32 | u64::from(over.correction));
            }
            Self::Row(call, at) => of(17 | axis(*at) << 8, name(call)),
            Self::Norm(call, at) => of(18 | axis(*at) << 8, name(call)),
            Self::GroupNorm(groups) => {
                of(19, 0);
                groups.key(words);
            }
            Self::Concat(at) => of(20, axis(*at)),
            Self::Stack(at) => of(21, axis(*at)),
            Self::Flip(axes) => of(22, axes.key()),
            Self::Gather(at) => of(23, axis(*at)),
            Self::OneHot(classes) => {
                of(24, 0);
                classes.key(words);
            }
            Self::Dropout => of(25, 0),
            Self::Dequantize(at) => of(26, axis(*at)),
            Self::Pad(at, sizes) => {
                of(27, axis(*at));
                sizes.key(words);
            }
            Self::Roll(at) => of(28, axis(*at)),
            Self::Repeat(call, at, times) => {
                of(29 | axis(*at) << 8, name(call));
                times.key(words);
            }
            Self::Triangle(call) => of(30, name(call)),
            Self::Glu(at) => of(31, axis(*at)),
            Self::CrossEntropy(at) => of(32, axis(*at)),
            Self::StopGradient => of(33, 0),
            // `Trace::owners` has its contents.
            Self::Checkpoint(..) => of(36, 0),
            Self::Grad { cotangent } => of(34, u64::from(*cotangent)),
            Self::Part(number) => of(35, u64::from(*number)),
        }
    }

    /// Number of operands; the remaining inputs are read for their extents only.
    pub(crate) fn operands(&self, inputs: usize) -> usize {
        match self {
            Self::Leaf => 0,
            Self::Reshape(_) | Self::BroadcastTo(_) | Self::Slice { .. } | Self::OneHot(_) | Self::Repeat(..) => 1,
            Self::Pad(..) => 2,
            Self::GroupNorm(_) => 4,
            _ => inputs,
        }
    }
}
