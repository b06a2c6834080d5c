//! Kernels of the page: each a file with two `fuse!` blocks, the fused function and its unfused parts. The page shows
//! their source.

/// Defines `Operands`, a [`Sample`]: a kernel's operands by name, and its launches.
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

/// As the visitor chose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// For software adapters.
    Small,
    /// For integrated GPUs.
    Medium,
    /// For discrete GPUs.
    Large,
}

impl Size {
    const ALL: [(&'static str, Self); 3] = [("small", Self::Small), ("medium", Self::Medium), ("large", Self::Large)];

    pub(crate) fn named(name: &str) -> anyhow::Result<Self> {
        let found = Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, size)| size);
        found.with_context(|| format!("expected small, medium or large operands, found `{name}`"))
    }

    fn of(self, choices: [usize; 3]) -> usize {
        choices[self as usize]
    }
}

type MakeSample = fn(&Device, Size) -> Result<Box<dyn Sample>, Error>;

pub(crate) struct Entry {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) summary: &'static str,
    text: &'static str,
    pub(crate) function: fn() -> &'static Function,
    pub(crate) kernels: fn() -> &'static Kernels,
    /// Functions of the unfused version.
    pub(crate) parts: usize,
    pub(crate) sample: MakeSample,
}

pub(crate) trait Sample {
    fn fused(&self) -> Result<Output, Error>;
    fn unfused(&self) -> Result<Output, Error>;
    fn args(&self) -> Vec<Arg<'_>>;
    fn shapes(&self) -> Vec<Vec<usize>>;
}

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

/// In the page's order.
pub(crate) static ENTRIES: [&Entry; 6] =
    [&layer::ENTRY, &gelu_layer::ENTRY, &attention::ENTRY, &norm_gelu::ENTRY, &softmax_rows::ENTRY, &gate::ENTRY];

pub(crate) fn entry(id: &str) -> anyhow::Result<&'static Entry> {
    ENTRIES.into_iter().find(|entry| entry.id == id).with_context(|| format!("the page has no kernel `{id}`"))
}

impl Entry {
    /// Fused function, and parts.
    pub(crate) fn sources(&self) -> [String; 2] {
        let mut blocks = self.text.split("\nfuse! {").skip(1).map(|rest| {
            let body = rest.split("\n}\n").next().unwrap_or(rest);
            format!("fuse! {{{body}\n}}")
        });
        [blocks.next().unwrap_or_default(), blocks.next().unwrap_or_default()]
    }

    /// The plan for these shapes: the function, or one of its alternatives.
    pub(crate) fn chosen(&self, explanation: &Explanation) -> &'static Function {
        let function = (self.function)();
        explanation.alternative.checked_sub(1).and_then(|other| function.alternatives.get(other)).unwrap_or(function)
    }

    pub(crate) fn explain(&self, device: &Device, tuning: &Tuning, sample: &dyn Sample) -> Result<Explanation, Error> {
        let shapes = sample.shapes();
        let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
        device.with_tuning(tuning, || device.explain((self.function)(), &shapes))
    }
}

/// Pseudorandom numbers between -1 and 1; `seed` distinguishes operands.
fn operand<const D: usize>(device: &Device, seed: u32, shape: [usize; D]) -> Result<Tensor<f32, D>, Error> {
    let count = shape.iter().product();
    let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
    let values = (0..count).map(|_| {
        // Marsaglia's xorshift.
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    });
    Tensor::from_vec(device, values.collect(), shape)
}
