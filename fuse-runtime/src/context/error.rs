//! [`Error`]: all failures of the runtime.

use std::fmt;

use fuse_artifact::DType;

/// Failure of an operation of the runtime; names kernel (the `fuse!` function), argument, expected and found value.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No adapter matches the request.
    #[error(
        "no adapter found for {wanted}; adapters present: {found}; help: install a Vulkan, Metal or DirectX 12 \
         driver (on Debian and Ubuntu `mesa-vulkan-drivers` is a software one)"
    )]
    NoAdapter {
        /// The request.
        wanted: String,
        /// The existing adapters.
        found: String,
    },
    /// The adapter refused to open.
    #[error("adapter `{adapter}` could not be opened: {reason}")]
    DeviceRequest {
        /// The adapter's name.
        adapter: String,
        /// The driver's reason.
        reason: String,
    },
    /// The device lacks a feature.
    #[error("{what} needs {feature}, which adapter `{adapter}` lacks or which was switched off")]
    MissingFeature {
        /// The kernel or operation.
        what: String,
        /// The feature.
        feature: &'static str,
        /// The adapter's name.
        adapter: String,
    },
    /// A launch got too few or too many arguments or outputs.
    #[error("kernel `{kernel}`: expected {expected} {what}, found {found}")]
    Count {
        /// The function.
        kernel: String,
        /// `arguments` or `outputs`.
        what: &'static str,
        /// The declared number.
        expected: usize,
        /// The given number.
        found: usize,
    },
    /// An argument has the wrong element type, or confuses tensor and number.
    #[error("kernel `{kernel}`, argument `{argument}`: expected {expected}, found {found}")]
    ArgumentType {
        /// The function.
        kernel: String,
        /// The parameter's name.
        argument: String,
        /// For example `a tensor of f32`.
        expected: String,
        /// For example `a scalar of i32`.
        found: String,
    },
    /// An argument has the wrong number of axes.
    #[error("kernel `{kernel}`, argument `{argument}`: expected rank {expected}, found rank {found}")]
    RankMismatch {
        /// The function.
        kernel: String,
        /// The parameter's name.
        argument: String,
        /// The declared rank.
        expected: usize,
        /// The tensor's rank.
        found: usize,
    },
    /// An argument's axis has the wrong extent.
    #[error(
        "kernel `{kernel}`, argument `{argument}`, axis {axis} (`{dimension}`): expected {expected} (from {origin}), \
         found {found}"
    )]
    DimensionMismatch {
        /// The function.
        kernel: String,
        /// The parameter's name.
        argument: String,
        /// The axis of the tensor's own shape.
        axis: u8,
        /// The dimension as written, for example `K`.
        dimension: String,
        /// The extent it must have.
        expected: u64,
        /// Where the expectation comes from, for example `` `x`, axis 1 ``.
        origin: String,
        /// The extent it has.
        found: u64,
    },
    /// Operands do not broadcast.
    #[error(
        "kernel `{kernel}`: {left} (from {left_origin}) and {right} (from {right_origin}) do not broadcast; \
         help: extents must be equal, or one of them 1"
    )]
    BroadcastMismatch {
        /// The function.
        kernel: String,
        /// First extent other than 1.
        left: u64,
        /// Its origin.
        left_origin: String,
        /// The extent that differs.
        right: u64,
        /// Its origin.
        right_origin: String,
    },
    /// A relation between dimensions does not hold.
    #[error("kernel `{kernel}`, {what}: expected {left} to be {relation} {right}")]
    CheckFailed {
        /// The function.
        kernel: String,
        /// Subject of the relation.
        what: String,
        /// `equal to` or `at most`.
        relation: &'static str,
        /// Left size as written, with its value.
        left: String,
        /// Right size as written, with its value.
        right: String,
    },
    /// A computed dimension is negative.
    #[error("kernel `{kernel}`: `{size}` is negative or too large for these shapes")]
    InvalidSize {
        /// The function.
        kernel: String,
        /// The dimension as written.
        size: String,
    },
    /// A tensor's values do not fill its shape.
    #[error("shape {shape:?} holds {expected} elements, found {found}")]
    LengthMismatch {
        /// The shape.
        shape: Vec<usize>,
        /// Its number of elements.
        expected: u64,
        /// The number of values.
        found: u64,
    },
    /// A quantized tensor's parts do not fit each other, or its values cannot be quantized.
    #[error("quantized tensor {tensor}: {message}")]
    Quantized {
        /// Its type and shape.
        tensor: String,
        /// Expectation and finding.
        message: String,
    },
    /// Something is larger than the adapter or the runtime allows.
    #[error("{what} is too large: it needs {needed} {limit}, and {allowed} are allowed")]
    TooLarge {
        /// The kernel, argument or tensor.
        what: String,
        /// The limit.
        limit: &'static str,
        /// The needed amount.
        needed: u64,
        /// The allowed amount.
        allowed: u64,
    },
    /// The device's memory budget does not allow an allocation.
    #[error("memory budget of {budget} bytes exceeded: {live} bytes are in use, {needed} more are needed")]
    BudgetExceeded {
        /// Bytes of the allocation.
        needed: u64,
        /// Bytes in use by live tensors.
        live: u64,
        /// The budget.
        budget: u64,
    },
    /// The adapter has no memory left.
    #[error("the adapter is out of memory (allocating {bytes} bytes)")]
    OutOfMemory {
        /// Bytes of the allocation; 0 where unknown.
        bytes: u64,
    },
    /// The device is gone: driver reset, unplugged, or `Device::destroy`. Its tensors are lost.
    #[error("the device is lost: {reason}")]
    DeviceLost {
        /// The driver's reason.
        reason: String,
    },
    /// Arguments live on different devices.
    #[error("kernel `{kernel}`: argument `{argument}` is on another device than `{first}`")]
    DifferentDevices {
        /// The function.
        kernel: String,
        /// The argument.
        argument: String,
        /// The first tensor argument.
        first: String,
    },
    /// A launch has no tensor argument to name the device.
    #[error("kernel `{kernel}` has no tensor argument that says on which device it runs")]
    NoTensor {
        /// The function.
        kernel: String,
    },
    /// An output shares its memory with an argument or another output.
    #[error("kernel `{kernel}`: output {output} shares its memory with {other}")]
    AliasedOutput {
        /// The function.
        kernel: String,
        /// The output's position.
        output: usize,
        /// The other argument or output.
        other: String,
    },
    /// A given output has the wrong dtype or shape.
    #[error("kernel `{kernel}`, output {output}: expected {expected_dtype}{expected:?}, found {found_dtype}{found:?}")]
    OutputMismatch {
        /// The function.
        kernel: String,
        /// The output's position.
        output: usize,
        /// The launch's dtype.
        expected_dtype: DType,
        /// The launch's shape.
        expected: Vec<usize>,
        /// The output's dtype.
        found_dtype: DType,
        /// The output's shape.
        found: Vec<usize>,
    },
    /// A requested variant cannot run here.
    #[error("kernel `{kernel}`: variant `{variant}` cannot be used: {reason}")]
    Variant {
        /// The kernel.
        kernel: String,
        /// The variant.
        variant: String,
        /// The requirement that does not hold.
        reason: String,
    },
    /// A requested alternative cannot run here.
    #[error("kernel `{kernel}`: alternative {alternative} cannot be used: {reason}")]
    Alternative {
        /// The function.
        kernel: String,
        /// 0 for the function itself, `n + 1` for alternative `n`.
        alternative: usize,
        /// The assumption that does not hold.
        reason: String,
    },
    /// The driver refused a kernel.
    #[error("kernel `{kernel}`, variant `{variant}`: the driver refused the pipeline: {message}")]
    Pipeline {
        /// The kernel.
        kernel: String,
        /// The variant.
        variant: String,
        /// The driver's message.
        message: String,
    },
    /// Reading a tensor back failed.
    #[error("reading the tensor back failed: {message}")]
    Readback {
        /// The failure.
        message: String,
    },
    /// A file of the pipeline cache could not be written.
    #[error("pipeline cache `{path}`: {message}")]
    CacheFile {
        /// The file.
        path: String,
        /// The system's message.
        message: String,
    },
    /// A tuning table could not be read or written.
    #[error("tuning table `{table}`: {message}")]
    Table {
        /// The file, or the table's name.
        table: String,
        /// Place and expectation, or the system's message.
        message: String,
    },
    /// `Device::profile` was called within another one of the same device.
    #[error("the device is already being profiled")]
    ProfileActive,
    /// The thread captures the device's launches, and the operation cannot be part of a sequence.
    #[cfg_attr(
        not(all(feature = "webnn", target_arch = "wasm32")),
        error("{what} is not possible within `Device::capture`; help: do it before or after")
    )]
    #[cfg_attr(
        all(feature = "webnn", target_arch = "wasm32"),
        error("{what} is not possible within `Device::capture` or `WebNn::run`; help: do it before or after")
    )]
    Capturing {
        /// The operation.
        what: &'static str,
    },
    /// The tensor belongs to a captured or WebNN launch that has not run yet.
    #[cfg_attr(
        not(all(feature = "webnn", target_arch = "wasm32")),
        error("{what} has no values yet: its launch was captured; help: call `Sequence::replay` first")
    )]
    #[cfg_attr(
        all(feature = "webnn", target_arch = "wasm32"),
        error(
            "{what} has no values yet: its launch was captured; help: call `Sequence::replay`, or await `WebNn::run`, first"
        )
    )]
    NotReplayed {
        /// The tensor.
        what: String,
    },
    /// A tensor cannot replace another one in a sequence.
    #[error("rebinding a tensor of a sequence: expected {expected}, found {found}")]
    Rebind {
        /// The requirement.
        expected: String,
        /// The given tensor.
        found: String,
    },
    /// There is no WebNN.
    #[cfg(all(feature = "webnn", target_arch = "wasm32"))]
    #[error("no WebNN: {reason}")]
    NoWebNn {
        /// The browser's message.
        reason: String,
    },
    /// A launch cannot run in WebNN, or failed there.
    #[cfg(all(feature = "webnn", target_arch = "wasm32"))]
    #[error("kernel `{kernel}` in WebNN: {reason}")]
    WebNn {
        /// The function.
        kernel: String,
        /// The missing feature, or the browser's message.
        reason: String,
    },
    /// The reference interpreter could not run a function.
    #[error("the reference of `{function}` failed: {message}")]
    Reference {
        /// The function.
        function: String,
        /// The failure.
        message: String,
    },
    /// A defect of `fuse!` or the driver, noticed by validation, possibly of an earlier launch.
    #[error("internal error: {message}; please report this")]
    Internal {
        /// The validation message.
        message: String,
    },
}

/// As `Display`: a `main` that returns an error prints its `Debug` form.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<wgpu::Error> for Error {
    fn from(error: wgpu::Error) -> Self {
        match error {
            wgpu::Error::OutOfMemory { .. } => Self::OutOfMemory { bytes: 0 },
            wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
                Self::Internal { message: description }
            }
        }
    }
}
