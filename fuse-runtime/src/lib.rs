//! Devices, tensors and launches for kernels compiled by `fuse!`.
//!
//! Each layer names only those before it: `context` (an open device), `tune` (speed), `plan` (from shapes to
//! dispatches), `api` (public types). A launch goes through `plan::check`, `plan::launch_plan` and `context::record`;
//! `context::readback` reads results. Kernels arrive as artifacts ([`artifact::Function`]), compiled and validated at
//! build time: this crate does not link the compiler. Its own shaders only quantize (`api::quantizer`).
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
//! Every failure is an [`Error`]; nothing panics. [`Device`] and tensors are `Send` and `Sync`, except in browsers,
//! where they belong to one page or worker.
#![cfg_attr(
    target_arch = "wasm32",
    allow(clippy::arc_with_non_send_sync, reason = "natively they are, and both share their types")
)]

mod api;
mod context;
mod plan;
mod tune;

pub use fuse_artifact as artifact;
pub use fuse_quantize as quantize;
pub use fuse_quantize::{QuantScheme, Quantized};
pub use half::f16;

#[cfg(all(feature = "reference", not(target_arch = "wasm32")))]
#[doc(hidden)]
pub use crate::api::reference;
#[cfg(feature = "tune")]
pub use crate::api::search::{Progress, Search};
#[cfg(all(feature = "webnn", target_arch = "wasm32"))]
pub use crate::api::webnn::{WebNn, WebNnOptions, WebNnPower};
pub use crate::{
    api::{
        arg::Arg,
        builder::DeviceBuilder,
        device::Device,
        kernels::Kernels,
        operand::{Operand, OperandOf},
        profile::{Profile, ProfileEntry},
        quantized::{Bits, Q1, Q2, Q3, Q4, Q8, QTensor},
        rank::{AtLeast, BroadcastRank, Exactly, MatmulRank, OneLess, OneMore, Rank, Ranked, SameRank},
        sequence::Sequence,
        tensor::{Tensor, Tensor0, Tensor1, Tensor2, Tensor3, Tensor4, Tensor5, Tensor6},
    },
    context::{
        control_flow::ControlFlow,
        element::{Element, Float, Integer, Number, Signed},
        environment::{Environment, Vendor},
        error::Error,
        hardware::Hardware,
        info::{AdapterKind, Backend, DeviceInfo, Limits},
        pool::MemoryReport,
        shape::MAX_RANK,
    },
    plan::{
        explain::{Explanation, KernelExplanation},
        select_variant::Decision,
    },
    tune::{
        table::{Adapters, CUT_OFF, Entry, Measured, Status, Table},
        tuning::Tuning,
    },
};

/// Entry points of expansions of `fuse!`, test harnesses and tuners. Not covered by semantic versioning.
#[doc(hidden)]
pub mod __private {
    pub use half::f16;

    /// Artifact types for expansions.
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
        api::{
            arg::Arg,
            code_size::{code_bytes, retain_runnable, share_lines},
            device::is_deferred,
            launch::{
                alternatives, launch, launch_alternative, launch_dynamic, launch_into, launch_into_vec, launch_padded,
                launch_with, variants,
            },
            operand::launch_operands,
            pullback::{Kept, RawPullback, VjpPair, pullback},
            quantized::{Q1, Q2, Q3, Q4, Q8, QTensor},
            raw::RawTensor,
            raw_quantized::RawQuantized,
        },
        context::{
            callable::Callable,
            element::{SignedWide, UnsignedWide, Wide},
            pipeline::browser_texts,
            shape::Shape,
            specialization::texts,
        },
        plan::choose::KernelVariants,
    };

    use artifact::{Function, Kernel, List};

    /// A kernel of an artifact, as a constant. Panics for artifacts made at run time.
    pub const fn kernel(function: &'static Function, index: usize) -> &'static Kernel {
        match &function.kernels {
            List::Borrowed(kernels) => &kernels[index],
            List::Owned(_) => panic!("the kernels of a `static` are borrowed"),
        }
    }
}

/// Keeps its tokens only with this crate's feature `reference`, which expansions in other crates cannot see.
#[cfg(all(feature = "reference", not(target_arch = "wasm32")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __fuse_reference {
    ($($tokens:tt)*) => { $($tokens)* };
}

#[cfg(not(all(feature = "reference", not(target_arch = "wasm32"))))]
#[doc(hidden)]
#[macro_export]
macro_rules! __fuse_reference {
    ($($tokens:tt)*) => {};
}
