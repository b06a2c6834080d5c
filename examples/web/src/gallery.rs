//! The kernels of the page: each a `fuse!` function, beside the same as several functions of one operation each.
//!
//! Every kernel has a file of its own with two `fuse!` blocks, the fused function and its parts, whose text the page shows as
//! it is compiled.

/// The operands of a kernel by name, and what is launched with them: makes the struct `Operands`, a [`Sample`].
macro_rules! operands {
    ($($name:ident: $tensor:ty),+; fused: $fused:expr, unfused: $unfused:expr $(,)?) => {
        struct Operands {
            $($name: $tensor),+
        }

        impl Sample for Operands {
            fn fused(&self) -> Result<Output, Error> {
                let Self { $($name),+ } = self;
                $fused
            }

            fn unfused(&self) -> Result<Output, Error> {
                let Self { $($name),+ } = self;
                $unfused
            }

            fn args(&self) -> Vec<Arg<'_>> {
                vec![$((&self.$name).into()),+]
            }

            fn shapes(&self) -> Vec<Vec<usize>> {
                vec![$(self.$name.shape().to_vec()),+]
            }
        }
    };
}

mod attention;
mod gate;
mod gelu_layer;
mod layer;
mod norm_gelu;
mod softmax_rows;

use anyhow::Context as _;
use fuse_gpu::{Arg, Device, Error, Explanation, Kernels, Tensor, Tensor2, Tensor3, Tuning, artifact::Function};

/// How large the operands are, by the choice of the visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// For adapters that are processors.
    Small,
    /// For GPUs that share memory with the processor.
    Medium,
    /// For GPUs with memory of their own.
    Large,
}

impl Size {
    const ALL: [(&'static str, Self); 3] = [("small", Self::Small), ("medium", Self::Medium), ("large", Self::Large)];

    /// The size of this name.
    pub(crate) fn named(name: &str) -> anyhow::Result<Self> {
        let found = Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, size)| size);
        found.with_context(|| format!("expected small, medium or large operands, found `{name}`"))
    }

    /// One of three numbers.
    fn of(self, choices: [usize; 3]) -> usize {
        choices[self as usize]
    }
}

/// Makes the operands of a size on a device.
type MakeSample = fn(&Device, Size) -> Result<Box<dyn Sample>, Error>;

/// A kernel of the page.
pub(crate) struct Entry {
    /// Its name in the page's parts.
    pub(crate) id: &'static str,
    /// Its formula.
    pub(crate) title: &'static str,
    /// What it is good for, in a sentence.
    pub(crate) summary: &'static str,
    /// The text of its file.
    text: &'static str,
    /// The fused function.
    pub(crate) function: fn() -> &'static Function,
    pub(crate) kernels: fn() -> &'static Kernels,
    /// How many functions compute the same one operation at a time.
    pub(crate) parts: usize,
    /// Its operands on a device.
    pub(crate) sample: MakeSample,
}

/// The operands of a kernel, and its launches.
pub(crate) trait Sample {
    /// Launches the fused function.
    fn fused(&self) -> Result<Output, Error>;
    /// Launches its parts one after the other.
    fn unfused(&self) -> Result<Output, Error>;
    /// The arguments of the fused function.
    fn args(&self) -> Vec<Arg<'_>>;
    /// Their shapes.
    fn shapes(&self) -> Vec<Vec<usize>>;
}

/// What a launch gives.
pub(crate) enum Output {
    Matrix(Tensor2<f32>),
    Heads(Tensor3<f32>),
}

impl Output {
    pub(crate) async fn values(&self) -> Result<Vec<f32>, Error> {
        match self {
            Self::Matrix(tensor) => tensor.to_vec().await,
            Self::Heads(tensor) => tensor.to_vec().await,
        }
    }
}

/// The kernels in the order in which the page lists them.
pub(crate) static ENTRIES: [&Entry; 6] =
    [&layer::ENTRY, &gelu_layer::ENTRY, &attention::ENTRY, &norm_gelu::ENTRY, &softmax_rows::ENTRY, &gate::ENTRY];

/// The kernel of this name.
pub(crate) fn entry(id: &str) -> anyhow::Result<&'static Entry> {
    ENTRIES.into_iter().find(|entry| entry.id == id).with_context(|| format!("the page has no kernel `{id}`"))
}

impl Entry {
    /// The texts of the fused function and of its parts.
    pub(crate) fn sources(&self) -> [String; 2] {
        let mut blocks = self.text.split("\nfuse! {").skip(1).map(|rest| {
            let body = rest.split("\n}\n").next().unwrap_or(rest);
            format!("fuse! {{{body}\n}}")
        });
        [blocks.next().unwrap_or_default(), blocks.next().unwrap_or_default()]
    }

    /// The plan that a launch with these shapes takes: the function itself, or one of its alternatives.
    pub(crate) fn chosen(&self, explanation: &Explanation) -> &'static Function {
        let function = (self.function)();
        explanation.alternative.checked_sub(1).and_then(|other| function.alternatives.get(other)).unwrap_or(function)
    }

    /// How a launch with these operands would run, by the choices of `tuning`.
    pub(crate) fn explain(&self, device: &Device, tuning: &Tuning, sample: &dyn Sample) -> Result<Explanation, Error> {
        let shapes = sample.shapes();
        let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
        device.with_tuning(tuning, || device.explain((self.function)(), &shapes))
    }
}

/// A tensor of numbers between -1 and 1 that look random and are the same in every run; `seed` tells operands apart.
fn operand<const D: usize>(device: &Device, seed: u32, shape: [usize; D]) -> Result<Tensor<f32, D>, Error> {
    let count = shape.iter().product();
    let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
    let values = (0..count).map(|_| {
        // Marsaglia's xorshift: short, and good enough for operands.
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    });
    Tensor::from_vec(device, values.collect(), shape)
}
