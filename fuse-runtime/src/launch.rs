//! A launch: arguments in, result tensors out, work recorded.
//!
//! Input: a [`Function`] and its arguments. Output: results, which hold their values once the recorded work has run.
//! In a steady state a launch looks up its plan, takes pooled buffers, copies uniform words and records dispatches;
//! the only allocation is the handle of each result.

use std::sync::Arc;

use fuse_artifact::{DType, Function, Packing, ParamKind, Slot};

#[cfg(all(feature = "webnn", target_arch = "wasm32"))]
use crate::webnn;
use crate::{
    Device, Element, Error, Tensor,
    callable::Callable,
    capture,
    lock::lock,
    plan::{LaunchPlan, Selection, Variants, legal_variants, usable_alternatives},
    pool::Storage,
    quantized::RawQuantized,
    raw::RawTensor,
    record::{Buffers, Recorder},
    shape::Shape,
};

/// An argument of a launch.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// A tensor.
    Tensor(&'a RawTensor),
    /// A quantized tensor.
    Quantized(&'a RawQuantized),
    /// A number of the host.
    Scalar {
        /// Its type.
        dtype: DType,
        /// Its bits, as `Uniform::Scalar` says: an `f16` is widened to `f32`.
        bits: u32,
    },
}

impl<'a> From<&'a RawTensor> for Arg<'a> {
    fn from(tensor: &'a RawTensor) -> Self {
        Self::Tensor(tensor)
    }
}

impl<'a, T: Element, const D: usize> From<&'a Tensor<T, D>> for Arg<'a> {
    fn from(tensor: &'a Tensor<T, D>) -> Self {
        Self::Tensor(tensor.raw())
    }
}

impl<T: Element> From<T> for Arg<'_> {
    fn from(value: T) -> Self {
        Self::Scalar { dtype: T::DTYPE, bits: value.scalar_bits() }
    }
}

impl<'a> Arg<'a> {
    /// The tensor, of a quantized one its packed values.
    pub(crate) fn tensor(&self) -> Option<&'a RawTensor> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            Self::Quantized(tensor) => Some(tensor.words()),
            Self::Scalar { .. } => None,
        }
    }

    /// The scales of a quantized tensor.
    pub(crate) fn scales(&self) -> Option<&'a RawTensor> {
        if let Self::Quantized(tensor) = self { Some(tensor.scales()) } else { None }
    }

    /// The bits of a number; 0 for a tensor.
    pub(crate) fn scalar_bits(&self) -> u32 {
        match *self {
            Self::Scalar { bits, .. } => bits,
            Self::Tensor(_) | Self::Quantized(_) => 0,
        }
    }

    fn shape(&self) -> Shape {
        match self {
            Self::Tensor(tensor) => *tensor.dims(),
            Self::Quantized(tensor) => *tensor.described(),
            Self::Scalar { .. } => Shape::SCALAR,
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Tensor(tensor) => format!("a tensor of {}", tensor.dtype()),
            Self::Quantized(tensor) => quantized_text(tensor.packing(), tensor.axis()),
            Self::Scalar { dtype, .. } => format!("a scalar of {dtype}"),
        }
    }
}

/// The variants of one kernel that may run for given arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelVariants {
    /// The kernel.
    pub kernel: &'static str,
    /// Index and name of each.
    pub legal: Vec<(usize, &'static str)>,
}

/// Launches `function`, which has `R` results.
pub fn launch<const R: usize>(function: &'static Function, args: &[Arg<'_>]) -> Result<[RawTensor; R], Error> {
    let launch = Launch::new(function, args)?;
    #[cfg(all(feature = "webnn", target_arch = "wasm32"))]
    if let Some(results) = webnn::record(&launch, None)? {
        return results.try_into().map_err(|found: Vec<_>| launch.count_error(found.len(), R));
    }
    let plan = launch.plan()?;
    launch.run(&plan, |_, shape| Ok(*shape))
}

/// As [`launch`], for functions of the expression form: result `r` has `ranks[r]` axes.
pub fn launch_padded<const R: usize>(
    function: &'static Function,
    args: &[Arg<'_>],
    ranks: [usize; R],
) -> Result<[RawTensor; R], Error> {
    let launch = Launch::new(function, args)?;
    // Its functions have no `#[webnn]`: this is the error that says so.
    #[cfg(all(feature = "webnn", target_arch = "wasm32"))]
    webnn::record(&launch, None)?;
    let plan = launch.plan()?;
    launch.run(&plan, |result, shape| {
        shape.with_rank(ranks[result]).ok_or_else(|| Error::Internal {
            message: format!("kernel `{}`: result {shape:?} does not have rank {}", function.name, ranks[result]),
        })
    })
}

/// Launches `function` into existing tensors, where they are: whoever has clones of them calls [`RawTensor::own`] first.
pub fn launch_into(function: &'static Function, args: &[Arg<'_>], outputs: &[&RawTensor]) -> Result<(), Error> {
    let launch = Launch::new(function, args)?;
    #[cfg(all(feature = "webnn", target_arch = "wasm32"))]
    if webnn::record(&launch, Some(outputs))?.is_some() {
        return Ok(());
    }
    let plan = launch.plan()?;
    launch.check_outputs(&plan.results, outputs)?;
    // What is captured is written by replays.
    if !launch.captured {
        outputs.iter().for_each(|output| output.buffer().count_write());
    }
    launch.record(&plan, |result| outputs[result])
}

/// As [`launch`], for callers that do not know the number of results while compiling.
pub fn launch_dynamic(function: &'static Function, args: &[Arg<'_>]) -> Result<Vec<RawTensor>, Error> {
    let mut results = Vec::with_capacity(function.results.len());
    launch_into_vec(&function.into(), args, &mut results)?;
    Ok(results)
}

/// As [`launch_dynamic`], with the results at the end of a list, which after an error is as it was: whoever launches often needs
/// no new list each time.
pub fn launch_into_vec(function: &Callable, args: &[Arg<'_>], results: &mut Vec<RawTensor>) -> Result<(), Error> {
    let launch = Launch::new(function.clone(), args)?;
    #[cfg(all(feature = "webnn", target_arch = "wasm32"))]
    if let Some(made) = webnn::record(&launch, None)? {
        results.extend(made);
        return Ok(());
    }
    let plan = launch.plan()?;
    launch.run_dynamic(&plan, results)
}

/// As [`launch_dynamic`], with variant `choice[k]` for kernel `k` of the alternative that would run. Plans nothing in
/// advance: for tests and tuning.
pub fn launch_with(function: &'static Function, args: &[Arg<'_>], choice: &[usize]) -> Result<Vec<RawTensor>, Error> {
    launch_selected(function, args, None, Variants::Indices(choice))
}

/// As [`launch_dynamic`], by alternative `n` of the function (0 is the function itself), whether or not it is the
/// fastest. Plans nothing in advance: for tests and tuning.
pub fn launch_alternative(function: &'static Function, args: &[Arg<'_>], n: usize) -> Result<Vec<RawTensor>, Error> {
    launch_selected(function, args, Some(n), Variants::Best)
}

fn launch_selected(
    function: &'static Function,
    args: &[Arg<'_>],
    alternative: Option<usize>,
    variants: Variants<'_>,
) -> Result<Vec<RawTensor>, Error> {
    let launch = Launch::new(function, args)?;
    let tuning = launch.device.applied();
    let selection = Selection { alternative, variants, ..Selection::by(&tuning) };
    let shapes: Vec<Shape> = launch.shapes().collect();
    let inner = &launch.device.inner;
    let plan = Arc::new(LaunchPlan::new(&launch.function, &shapes, selection, &inner.pipelines)?);
    let mut results = Vec::with_capacity(plan.results.len());
    launch.run_dynamic(&plan, &mut results)?;
    Ok(results)
}

/// The alternatives that can run for these arguments, as [`launch_alternative`] counts them.
pub fn alternatives(function: &'static Function, args: &[Arg<'_>]) -> Result<Vec<usize>, Error> {
    let launch = Launch::new(function, args)?;
    let shapes: Vec<Shape> = launch.shapes().collect();
    usable_alternatives(function, &shapes, &launch.device.applied().info)
}

/// The variants of every kernel that may run for these arguments, of the alternative that would run.
pub fn variants(function: &'static Function, args: &[Arg<'_>]) -> Result<Vec<KernelVariants>, Error> {
    let launch = Launch::new(function, args)?;
    let shapes: Vec<Shape> = launch.shapes().collect();
    legal_variants(function, &shapes, Selection::by(&launch.device.applied()))
}

/// A function with checked arguments.
pub(crate) struct Launch<'a> {
    pub(crate) function: Callable,
    args: &'a [Arg<'a>],
    pub(crate) device: &'a Device,
    /// Whether it goes to this thread's capture.
    captured: bool,
}

impl<'a> Launch<'a> {
    /// Checks number, dtypes and devices of the arguments; shapes are checked when they are planned for.
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
        device.inner.fault.check()?;
        let captured = capture::is_open(device);
        let not_ready = |arg: &Arg<'_>| arg.tensor().is_some_and(|tensor| !tensor.buffer().is_ready());
        // What runs later may read what is made later: whoever runs it checks that it is there.
        if !capture::is_deferred(device)
            && let Some(index) = args.iter().position(not_ready)
        {
            let what = format!("kernel `{}`, argument `{}`", function.name, function.params[index].name);
            return Err(Error::NotReplayed { what });
        }
        let launch = Self { function, args, device, captured };
        launch.check_updates()?;
        Ok(launch)
    }

    /// The tensors that are updated in place, by their arguments.
    fn updated(&self) -> impl Iterator<Item = (usize, &'a RawTensor)> {
        let (updates, args) = (&self.function.updates, self.args);
        updates.iter().filter_map(|&update| Some((update.into(), args.get(usize::from(update))?.tensor()?)))
    }

    /// Whether tensors that are updated in place are no other argument as well, of which kernels would read the new values: callers
    /// gave them memory of their own ([`RawTensor::own`]).
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

    /// The shapes of the arguments, as [`check`](crate::check) takes them.
    pub(crate) fn shapes(&self) -> impl Iterator<Item = Shape> + Clone {
        self.args.iter().zip(self.function.params.iter()).map(|(arg, param)| match param.kind {
            ParamKind::Size => [arg.scalar_bits() as usize].into(),
            ParamKind::Tensor(_) | ParamKind::Scalar(_) | ParamKind::Quantized(_) => arg.shape(),
        })
    }

    fn plan(&self) -> Result<Arc<LaunchPlan>, Error> {
        self.device.inner.plans.get(self.device, &self.function, self.shapes())
    }

    /// Launches into new tensors; `reshape` gives the shape that the caller sees.
    fn run<const R: usize>(
        &self,
        plan: &Arc<LaunchPlan>,
        reshape: impl Fn(usize, &Shape) -> Result<Shape, Error>,
    ) -> Result<[RawTensor; R], Error> {
        if plan.results.len() != R {
            return Err(self.count_error(plan.results.len(), R));
        }
        let mut results = [const { None }; R];
        for (i, slot) in results.iter_mut().enumerate() {
            *slot = Some(self.allocate(plan, i)?.with_shape(reshape(i, &plan.results[i])?));
        }
        // Every slot was just filled, so nothing is lost by `flatten`-like access.
        let results = results.map(|slot| slot.unwrap_or_else(|| unreachable!("every result is allocated")));
        self.record(plan, |result| &results[result])?;
        Ok(results)
    }

    /// Launches into new tensors, at the end of `results`; after an error, that is as it was.
    fn run_dynamic(&self, plan: &Arc<LaunchPlan>, results: &mut Vec<RawTensor>) -> Result<(), Error> {
        let before = results.len();
        let launched = self.run_appending(plan, results);
        if launched.is_err() {
            results.truncate(before);
        }
        launched
    }

    fn run_appending(&self, plan: &Arc<LaunchPlan>, results: &mut Vec<RawTensor>) -> Result<(), Error> {
        let before = results.len();
        for result in 0..plan.results.len() {
            results.push(self.allocate(plan, result)?);
        }
        self.record(plan, |result| &results[before + result])
    }

    pub(crate) fn allocate(&self, plan: &LaunchPlan, result: usize) -> Result<RawTensor, Error> {
        let (shape, dtype) = (plan.results[result], self.function.results[result].dtype);
        let bytes = shape.elements().unwrap_or(0) * dtype.bytes();
        let inner = &self.device.inner;
        let lease = if self.captured {
            capture::with_open(|capture| capture.allocate(bytes))?
        } else {
            inner.pool.lease(inner.take(bytes)?.0)
        };
        Ok(RawTensor::from_parts(self.device, lease, dtype, shape))
    }

    /// Whether `outputs` can take results of the shapes `results`.
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

    fn count_error(&self, expected: usize, found: usize) -> Error {
        let kernel = self.function.name.to_string();
        Error::Count { kernel, what: "outputs", expected, found }
    }

    /// Records the plan's dispatches, with results in the memory that `result` gives.
    pub(crate) fn record<'r>(
        &self,
        plan: &Arc<LaunchPlan>,
        result: impl Fn(usize) -> &'r RawTensor,
    ) -> Result<(), Error> {
        if self.captured {
            return capture::with_open(|capture| capture.launch(&self.function, plan, self.args, result));
        }
        // Also if recording fails half-way.
        self.updated().for_each(|(_, tensor)| tensor.buffer().count_write());
        self.record_now(plan, &result)?;
        (0..plan.results.len()).for_each(|index| result(index).buffer().set_ready());
        Ok(())
    }

    fn record_now<'r>(&self, plan: &LaunchPlan, result: impl Fn(usize) -> &'r RawTensor) -> Result<(), Error> {
        if plan.steps.is_empty() {
            return Ok(());
        }
        let mut recorder = lock(&self.device.inner.recorder);
        // The list moves out so that it can be read while the recorder records.
        let mut temporaries = std::mem::take(&mut recorder.temporaries);
        temporaries.resize_with(plan.temporaries.len(), || None);
        let recorded = self.record_steps(plan, &mut recorder, &mut temporaries, result);
        for storage in temporaries.iter_mut().filter_map(Option::take) {
            self.device.inner.pool.give(storage);
        }
        recorder.temporaries = temporaries;
        recorded
    }

    fn record_steps<'r>(
        &self,
        plan: &LaunchPlan,
        recorder: &mut Recorder,
        temporaries: &mut [Option<Storage>],
        result: impl Fn(usize) -> &'r RawTensor,
    ) -> Result<(), Error> {
        let pool = &self.device.inner.pool;
        let scalar = |param: u16| self.args[usize::from(param)].scalar_bits();
        for (index, step) in plan.steps.iter().enumerate() {
            for (temporary, slot) in plan.temporaries.iter().zip(temporaries.iter_mut()) {
                if temporary.steps.is_some_and(|(first, _)| first == index) {
                    let (storage, _) = pool.take(temporary.bytes, &mut || _ = recorder.flush())?;
                    recorder.poison(&storage);
                    *slot = Some(storage);
                }
            }
            let mut buffers: Buffers<'_> = [None; crate::plan::MAX_BINDINGS];
            for (buffer, slot) in buffers.iter_mut().zip(&step.slots) {
                *buffer = match *slot {
                    Slot::Param(i) => self.args[usize::from(i)].tensor().map(|tensor| tensor.buffer().storage()),
                    Slot::Scales(i) => self.args[usize::from(i)].scales().map(|tensor| tensor.buffer().storage()),
                    Slot::Temporary(i) => temporaries[usize::from(i)].as_ref(),
                    Slot::Result(i) => Some(result(usize::from(i)).buffer().storage()),
                    Slot::Scratch => None,
                };
            }
            recorder.dispatch(step, &buffers, scalar);
            // Recorded work runs in order, so the next step may already reuse what this one used last.
            for (temporary, slot) in plan.temporaries.iter().zip(temporaries.iter_mut()) {
                if temporary.steps.is_some_and(|(_, last)| last == index)
                    && let Some(storage) = slot.take()
                {
                    pool.give(storage);
                }
            }
        }
        Ok(())
    }
}

fn quantized_text(packing: Packing, axis: u8) -> String {
    format!("a quantized tensor of {}, packed along axis {axis}", packing.name())
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
