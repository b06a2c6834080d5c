//! Devices, tensors and launches for kernels compiled by `fuse!`.
//!
//! Data flows one way: tensors -> checked shapes (`check`) -> launch plan (`plan`) -> recording (`record`) ->
//! submission -> readback (`readback`). A [`Sequence`] keeps what `plan` and `record` prepared (`capture`, `sequence`).
//! Kernels arrive as artifacts ([`artifact::Function`]), compiled and validated while the program was built; this crate
//! does not link the compiler. The only shaders of its own are those that quantize (`quantizer`).
//!
//! ```no_run
//! use fuse_runtime::{Device, Tensor2};
//!
//! # fn main() -> Result<(), fuse_runtime::Error> {
//! let device = Device::blocking()?;
//! let x = Tensor2::from_vec(&device, vec![1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
//! assert_eq!(x.to_vec_blocking()?, [1.0, 2.0, 3.0, 4.0]);
//! println!("{}\n{}", device.info(), device.memory_report());
//! # Ok(())
//! # }
//! ```
//!
//! Every failure is an [`Error`]; nothing panics. [`Device`] and tensors are `Send` and `Sync`: many threads may
//! launch at once. In browsers they belong to the page or worker that made them, and are neither.
#![cfg_attr(
    target_arch = "wasm32",
    allow(clippy::arc_with_non_send_sync, reason = "natively they are, and both share their types")
)]

mod adapters;
#[cfg(feature = "ndarray")]
mod arrays;
mod bind;
#[cfg(target_arch = "wasm32")]
mod browser;
mod builder;
mod callable;
mod capture;
mod check;
mod checked;
mod code_size;
mod device;
mod disk;
#[cfg(not(target_arch = "wasm32"))]
mod driver_lock;
mod element;
mod error;
mod fault;
mod hold;
mod info;
mod kernels;
mod launch;
mod lock;
mod operand;
mod order;
mod pipeline;
mod plan;
#[cfg(not(target_arch = "wasm32"))]
mod poller;
mod pool;
mod profile;
mod pullback;
mod quantized;
mod quantizer;
mod random;
mod rank;
mod raw;
mod readback;
mod record;
#[cfg(all(feature = "reference", not(target_arch = "wasm32")))]
#[doc(hidden)]
pub mod reference;
mod sequence;
mod shape;
mod specialization;
mod specialize;
#[cfg(any(test, all(feature = "subgroup-matrix", target_arch = "wasm32")))]
mod subgroup_matrix;
mod tensor;
mod text;
mod tune;
mod upload;
mod warm;
#[cfg(all(feature = "webnn", target_arch = "wasm32"))]
mod webnn;

pub use fuse_artifact as artifact;
pub use fuse_quantize as quantize;
pub use fuse_quantize::{QuantScheme, Quantized};
pub use half::f16;

pub use crate::{
    builder::DeviceBuilder,
    device::Device,
    element::{Element, Float, Integer, Number, Signed},
    error::Error,
    info::{AdapterKind, Backend, DeviceInfo, Limits},
    kernels::Kernels,
    launch::Arg,
    operand::{Operand, OperandOf},
    plan::{Decision, Explanation, KernelExplanation},
    pool::MemoryReport,
    profile::{Profile, ProfileEntry},
    quantized::{Bits, Q1, Q2, Q3, Q4, Q8, QTensor},
    rank::{AtLeast, BroadcastRank, Exactly, MatmulRank, OneLess, OneMore, Rank, Ranked, SameRank},
    sequence::Sequence,
    shape::MAX_RANK,
    tensor::{Tensor, Tensor0, Tensor1, Tensor2, Tensor3, Tensor4, Tensor5, Tensor6},
    tune::{Adapters, CUT_OFF, ControlFlow, Entry, Environment, Hardware, Measured, Status, Table, Tuning, Vendor},
};

#[cfg(feature = "tune")]
pub use crate::tune::{Progress, Search};
#[cfg(all(feature = "webnn", target_arch = "wasm32"))]
pub use crate::webnn::{WebNn, WebNnOptions, WebNnPower};

/// What expansions of `fuse!`, test harnesses and tuners call. Not covered by semantic versioning.
#[doc(hidden)]
pub mod __private {
    pub use half::f16;

    /// The artifact's types, those of schedules among them, as expansions name them.
    pub mod artifact {
        pub use fuse_artifact::{schedule::*, *};
    }

    #[doc(inline)]
    pub use crate::__fuse_reference as reference;
    #[cfg(all(feature = "reference", not(target_arch = "wasm32")))]
    pub use crate::reference;
    pub use crate::{
        AtLeast, BroadcastRank, Element, Error, Exactly, Float, Integer, Kernels, MatmulRank, Number, OneLess, OneMore,
        Operand, OperandOf, Rank, Ranked, SameRank, Signed, Tensor,
        callable::Callable,
        capture::is_deferred,
        code_size::{code_bytes, retain_runnable, share_lines},
        element::{SignedWide, UnsignedWide, Wide},
        launch::{
            Arg, KernelVariants, alternatives, launch, launch_alternative, launch_dynamic, launch_into,
            launch_into_vec, launch_padded, launch_with, variants,
        },
        operand::launch_operands,
        pipeline::browser_texts,
        pullback::{Kept, RawPullback, VjpPair, pullback},
        quantized::{Q1, Q2, Q3, Q4, Q8, QTensor, RawQuantized},
        raw::RawTensor,
        shape::Shape,
        specialization::texts,
    };

    use artifact::{Function, Kernel, List};

    /// A kernel of an artifact, as a constant; empty artifacts and artifacts made at run time have none.
    pub const fn kernel(function: &'static Function, index: usize) -> &'static Kernel {
        match &function.kernels {
            List::Borrowed(kernels) => &kernels[index],
            List::Owned(_) => panic!("the kernels of a `static` are borrowed"),
        }
    }
}

/// Keeps its tokens only if this crate's feature `reference` is on, which expansions in other crates cannot see.
#[cfg(all(feature = "reference", not(target_arch = "wasm32")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __fuse_reference {
    ($($tokens:tt)*) => { $($tokens)* };
}

/// Drops its tokens: the feature `reference` is off.
#[cfg(not(all(feature = "reference", not(target_arch = "wasm32"))))]
#[doc(hidden)]
#[macro_export]
macro_rules! __fuse_reference {
    ($($tokens:tt)*) => {};
}
