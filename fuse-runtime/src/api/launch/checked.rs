//! [`Launch`]: a function with arguments whose number, dtypes and devices are checked.
//!
//! Not here: shapes (`plan::check`).

use fuse_artifact::{DType, Function, ParamKind};

use crate::{
    api::{
        arg::{Arg, quantized_text},
        capture,
        device::Device,
        raw::RawTensor,
    },
    context::{callable::Callable, error::Error, shape::Shape},
};

pub(crate) struct Launch<'a> {
    pub(crate) function: Callable,
    pub(crate) args: &'a [Arg<'a>],
    pub(crate) device: &'a Device,
    pub(crate) captured: bool,
}

impl<'a> Launch<'a> {
    /// Checks all but shapes, which plans check.
    pub(crate) fn new(function: impl Into<Callable>, args: &'a [Arg<'a>]) -> Result<Self, Error> {
        let function = function.into();
        let kernel = || function.name.to_string();
        if args.len() != function.params.len() {
            return Err(Error::Count {
                kernel: kernel(),
                what: "arguments",
                expected: function.params.len(),
                found: args.len(),
            });
        }
        let mut first: Option<(usize, &RawTensor)> = None;
        for (i, (arg, param)) in args.iter().zip(function.params.iter()).enumerate() {
            let fits = match (&param.kind, arg) {
                (ParamKind::Tensor(spec), Arg::Tensor(tensor)) => spec.dtype == tensor.dtype(),
                (ParamKind::Quantized(spec), Arg::Quantized(tensor)) => {
                    spec.packing == tensor.packing() && spec.axis == tensor.axis()
                }
                (ParamKind::Scalar(expected), Arg::Scalar { dtype, .. }) => expected == dtype,
                (ParamKind::Size, Arg::Scalar { dtype, .. }) => *dtype == DType::U32,
                _ => false,
            };
            if !fits {
                return Err(wrong_type(&function, i, arg));
            }
            let Some(tensor) = arg.tensor() else { continue };
            match first {
                None => first = Some((i, tensor)),
                Some((_, other)) if other.device().is(tensor.device()) => {}
                Some((at, _)) => {
                    return Err(Error::DifferentDevices {
                        kernel: kernel(),
                        argument: param.name.to_string(),
                        first: function.params[at].name.to_string(),
                    });
                }
            }
        }
        let (_, tensor) = first.ok_or_else(|| Error::NoTensor { kernel: kernel() })?;
        let device = tensor.device();
        device.context().fault.check()?;
        let captured = capture::is_open(device.context());
        let not_ready = |arg: &Arg<'_>| arg.tensor().is_some_and(|tensor| !tensor.buffer().is_ready());
        // Earlier results may come later: replays check that they exist.
        if !capture::is_deferred(device.context())
            && let Some(index) = args.iter().position(not_ready)
        {
            let what = format!("kernel `{}`, argument `{}`", function.name, function.params[index].name);
            return Err(Error::NotReplayed { what });
        }
        let launch = Self { function, args, device, captured };
        launch.check_updates()?;
        Ok(launch)
    }

    /// Tensors updated in place, by argument index.
    pub(crate) fn updated(&self) -> impl Iterator<Item = (usize, &'a RawTensor)> {
        let (updates, args) = (&self.function.updates, self.args);
        updates.iter().filter_map(|&update| Some((update.into(), args.get(usize::from(update))?.tensor()?)))
    }

    /// No updated tensor may also be another argument, of which kernels would read the new values. Callers called
    /// [`RawTensor::own`].
    fn check_updates(&self) -> Result<(), Error> {
        for (update, tensor) in self.updated() {
            let id = tensor.buffer().storage().id;
            let other = self.args.iter().enumerate().position(|(i, arg)| {
                let tensors = [arg.tensor(), arg.scales()];
                i != update && tensors.into_iter().flatten().any(|tensor| tensor.buffer().storage().id == id)
            });
            if let Some(other) = other.filter(|_| tensor.dims().elements() != Some(0)) {
                let name = |index: usize| &self.function.params[index].name;
                let (kernel, update, other) = (&self.function.name, name(update), name(other));
                let message =
                    format!("kernel `{kernel}`: argument `{update}`, which it updates, shares memory with `{other}`");
                return Err(Error::Internal { message });
            }
        }
        Ok(())
    }

    #[cfg(all(feature = "webnn", target_arch = "wasm32"))]
    pub(crate) fn args(&self) -> &'a [Arg<'a>] {
        self.args
    }

    /// Shapes as [`check`](crate::plan::check) takes them.
    pub(crate) fn shapes(&self) -> impl Iterator<Item = Shape> + Clone {
        self.args.iter().zip(self.function.params.iter()).map(|(arg, param)| match param.kind {
            ParamKind::Size => [arg.scalar_bits() as usize].into(),
            ParamKind::Tensor(_) | ParamKind::Scalar(_) | ParamKind::Quantized(_) => arg.shape(),
        })
    }

    pub(crate) fn check_outputs(&self, results: &[Shape], outputs: &[&RawTensor]) -> Result<(), Error> {
        if results.len() != outputs.len() {
            return Err(self.count_error(results.len(), outputs.len()));
        }
        for (i, output) in outputs.iter().enumerate() {
            self.check_output(&results[i], i, output)?;
            let id = output.buffer().storage().id;
            let aliases = |other: &RawTensor| other.buffer().storage().id == id;
            let is_part = |arg: &Arg<'_>| arg.tensor().is_some_and(aliases) || arg.scales().is_some_and(aliases);
            let argument = self.args.iter().position(is_part);
            let other = match argument {
                Some(arg) => Some(format!("argument `{}`", self.function.params[arg].name)),
                None => outputs[..i].iter().position(|other| aliases(other)).map(|other| format!("output {other}")),
            };
            if let Some(other) = other {
                return Err(Error::AliasedOutput { kernel: self.function.name.to_string(), output: i, other });
            }
        }
        Ok(())
    }

    fn check_output(&self, expected: &Shape, index: usize, output: &RawTensor) -> Result<(), Error> {
        let kernel = self.function.name.to_string();
        if !output.device().is(self.device) {
            let first = self.args.iter().position(|arg| arg.tensor().is_some()).unwrap_or(0);
            return Err(Error::DifferentDevices {
                kernel,
                argument: format!("output {index}"),
                first: self.function.params[first].name.to_string(),
            });
        }
        let spec = &self.function.results[index];
        let fits = if spec.padded {
            output.dims().with_rank(expected.len()).as_ref() == Some(expected)
        } else {
            output.dims() == expected
        };
        if fits && output.dtype() == spec.dtype {
            return Ok(());
        }
        Err(Error::OutputMismatch {
            kernel,
            output: index,
            expected_dtype: spec.dtype,
            expected: expected.to_vec(),
            found_dtype: output.dtype(),
            found: output.shape().to_vec(),
        })
    }

    pub(crate) fn count_error(&self, expected: usize, found: usize) -> Error {
        let kernel = self.function.name.to_string();
        Error::Count { kernel, what: "outputs", expected, found }
    }
}

fn wrong_type(function: &Function, index: usize, arg: &Arg<'_>) -> Error {
    let param = &function.params[index];
    let expected = match &param.kind {
        ParamKind::Tensor(spec) => format!("a tensor of {}", spec.dtype),
        ParamKind::Quantized(spec) => quantized_text(spec.packing, spec.axis),
        ParamKind::Scalar(dtype) => format!("a scalar of {dtype}"),
        ParamKind::Size => format!("a scalar of {}", DType::U32),
    };
    Error::ArgumentType {
        kernel: function.name.to_string(),
        argument: param.name.to_string(),
        expected,
        found: arg.describe(),
    }
}
