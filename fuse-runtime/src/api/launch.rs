//! Launches: arguments in, result tensors out, work recorded.
//!
//! Results are valid once the recorded work has run. In a steady state a launch finds its plan, takes pooled buffers,
//! copies uniform words and records dispatches; it allocates only the handle of each result.

pub(crate) mod checked;

use std::sync::Arc;

use fuse_artifact::{Function, Slot};

#[cfg(all(feature = "webnn", target_arch = "wasm32"))]
use crate::api::webnn::recording as webnn;
use crate::{
    api::{
        arg::Arg,
        capture::{self, Capture},
        launch::checked::Launch,
        raw::RawTensor,
    },
    context::{
        bind::{Buffers, MAX_BINDINGS},
        callable::Callable,
        error::Error,
        lock::lock,
        pool::{Lease, Storage},
        record::Recorder,
        shape::Shape,
    },
    plan::{
        choose::{KernelVariants, legal_variants, usable_alternatives},
        launch_plan::LaunchPlan,
        selection::{Selection, Variants},
    },
};

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

/// Launches a function of the expression form: result `r` has `ranks[r]` axes.
pub fn launch_padded<const R: usize>(
    function: &'static Function,
    args: &[Arg<'_>],
    ranks: [usize; R],
) -> Result<[RawTensor; R], Error> {
    let launch = Launch::new(function, args)?;
    // The expression form has no `#[webnn]`: this reports the error.
    #[cfg(all(feature = "webnn", target_arch = "wasm32"))]
    webnn::record(&launch, None)?;
    let plan = launch.plan()?;
    launch.run(&plan, |result, shape| {
        shape.with_rank(ranks[result]).ok_or_else(|| Error::Internal {
            message: format!("kernel `{}`: result {shape:?} does not have rank {}", function.name, ranks[result]),
        })
    })
}

/// Launches `function` into existing tensors, in place. Call [`RawTensor::own`] first if clones may share the memory.
pub fn launch_into(function: &'static Function, args: &[Arg<'_>], outputs: &[&RawTensor]) -> Result<(), Error> {
    let launch = Launch::new(function, args)?;
    #[cfg(all(feature = "webnn", target_arch = "wasm32"))]
    if webnn::record(&launch, Some(outputs))?.is_some() {
        return Ok(());
    }
    let plan = launch.plan()?;
    launch.check_outputs(&plan.results, outputs)?;
    // Replays write the outputs of captured launches.
    if !launch.captured {
        outputs.iter().for_each(|output| output.buffer().count_write());
    }
    launch.record(&plan, |result| outputs[result])
}

/// Launches `function`, whose number of results is not known at compile time.
pub fn launch_dynamic(function: &'static Function, args: &[Arg<'_>]) -> Result<Vec<RawTensor>, Error> {
    let mut results = Vec::with_capacity(function.results.len());
    launch_into_vec(&function.into(), args, &mut results)?;
    Ok(results)
}

/// Like [`launch_dynamic`], appending results to a list, which frequent launches reuse; unchanged after an error.
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

/// Like [`launch_dynamic`], with variant `choice[k]` for kernel `k`. Not cached: for tests and tuning.
pub fn launch_with(function: &'static Function, args: &[Arg<'_>], choice: &[usize]) -> Result<Vec<RawTensor>, Error> {
    launch_selected(function, args, None, Variants::Indices(choice))
}

/// Like [`launch_dynamic`], by alternative `n` of the function (0 is itself). Not cached: for tests and tuning.
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
    let plan = Arc::new(LaunchPlan::new(&launch.function, &shapes, selection, &launch.device.context().pipelines)?);
    let mut results = Vec::with_capacity(plan.results.len());
    launch.run_dynamic(&plan, &mut results)?;
    Ok(results)
}

/// Indices of the alternatives that can run for these arguments.
pub fn alternatives(function: &'static Function, args: &[Arg<'_>]) -> Result<Vec<usize>, Error> {
    let launch = Launch::new(function, args)?;
    let shapes: Vec<Shape> = launch.shapes().collect();
    usable_alternatives(function, &shapes, &launch.device.applied().info)
}

/// Legal variants of every kernel for these arguments, in the alternative that would run.
pub fn variants(function: &'static Function, args: &[Arg<'_>]) -> Result<Vec<KernelVariants>, Error> {
    let launch = Launch::new(function, args)?;
    let shapes: Vec<Shape> = launch.shapes().collect();
    legal_variants(function, &shapes, Selection::by(&launch.device.applied()))
}

impl<'a> Launch<'a> {
    fn plan(&self) -> Result<Arc<LaunchPlan>, Error> {
        self.device.plan(&self.function, self.shapes())
    }

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
        let results = results.map(|slot| slot.unwrap_or_else(|| unreachable!("every result is allocated")));
        self.record(plan, |result| &results[result])?;
        Ok(results)
    }

    /// `results` is unchanged after an error.
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
        let context = self.device.context();
        let lease = if self.captured {
            capture::with_open(|capture| capture.allocate(context, bytes))?
        } else {
            context.pool.lease(context.take(bytes)?.0)
        };
        Ok(RawTensor::from_parts(self.device, lease, dtype, shape))
    }

    pub(crate) fn record<'r>(
        &self,
        plan: &Arc<LaunchPlan>,
        result: impl Fn(usize) -> &'r RawTensor,
    ) -> Result<(), Error> {
        if self.captured {
            return capture::with_open(|capture| self.capture(capture, plan, result));
        }
        // Counted even if recording fails half-way.
        self.updated().for_each(|(_, tensor)| tensor.buffer().count_write());
        self.record_now(plan, &result)?;
        (0..plan.results.len()).for_each(|index| result(index).buffer().set_ready());
        Ok(())
    }

    fn capture<'r>(
        &self,
        capture: &mut Capture,
        plan: &Arc<LaunchPlan>,
        result: impl Fn(usize) -> &'r RawTensor,
    ) -> Result<(), Error> {
        let context = self.device.context();
        // Arguments that no dispatch of this plan binds can be rebound, too.
        let params: Vec<usize> =
            self.args.iter().map(|arg| arg.tensor().map_or(0, |x| capture.read(x.tracked()))).collect();
        let scales: Vec<Option<usize>> =
            self.args.iter().map(|arg| arg.scales().map(|scales| capture.read(scales.tracked()))).collect();
        self.updated().for_each(|(_, tensor)| _ = capture.write(tensor.tracked()));
        let results: Vec<usize> = (0..plan.results.len()).map(|i| capture.write(result(i).tracked())).collect();
        let scalar = |param: u16| self.args[usize::from(param)].scalar_bits();
        let mut temporaries: Vec<Option<Arc<Lease>>> = vec![None; plan.temporaries.len()];
        for (index, step) in plan.steps.iter().enumerate() {
            for (temporary, lease) in plan.temporaries.iter().zip(&mut temporaries) {
                if temporary.steps.is_some_and(|(first, _)| first == index) {
                    *lease = Some(capture.allocate(context, temporary.bytes)?);
                }
            }
            let place = |slot: &Slot| match *slot {
                Slot::Param(i) => Some(params[usize::from(i)]),
                Slot::Scales(i) => scales[usize::from(i)],
                Slot::Result(i) => Some(results[usize::from(i)]),
                Slot::Temporary(i) => temporaries[usize::from(i)].as_ref().and_then(|lease| capture.own_place(lease)),
                Slot::Scratch => None,
            };
            let places: Option<Box<[usize]>> = step.slots.iter().take(MAX_BINDINGS).map(place).collect();
            let unbound =
                || Error::Internal { message: format!("kernel `{}` binds a tensor without memory", step.label.kernel) };
            let places = places.ok_or_else(unbound)?;
            capture.dispatch(&context.info.limits, (plan, index), places, scalar)?;
            // A later step may write to temporaries that this step used last.
            for (temporary, lease) in plan.temporaries.iter().zip(&mut temporaries) {
                if temporary.steps.is_some_and(|(_, last)| last == index) {
                    *lease = None;
                }
            }
        }
        Ok(())
    }

    fn record_now<'r>(&self, plan: &LaunchPlan, result: impl Fn(usize) -> &'r RawTensor) -> Result<(), Error> {
        if plan.steps.is_empty() {
            return Ok(());
        }
        let mut recorder = lock(&self.device.context().recorder);
        let mut temporaries = std::mem::take(&mut recorder.temporaries);
        temporaries.resize_with(plan.temporaries.len(), || None);
        let recorded = self.record_steps(plan, &mut recorder, &mut temporaries, result);
        for storage in temporaries.iter_mut().filter_map(Option::take) {
            self.device.context().pool.give(storage);
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
        let pool = &self.device.context().pool;
        let scalar = |param: u16| self.args[usize::from(param)].scalar_bits();
        for (index, step) in plan.steps.iter().enumerate() {
            for (temporary, slot) in plan.temporaries.iter().zip(temporaries.iter_mut()) {
                if temporary.steps.is_some_and(|(first, _)| first == index) {
                    let (storage, _) = pool.take(temporary.bytes, &mut || _ = recorder.flush())?;
                    recorder.poison(&storage);
                    *slot = Some(storage);
                }
            }
            let mut buffers: Buffers<'_> = [None; MAX_BINDINGS];
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
            // Recorded work runs in order: the next step may reuse these.
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
