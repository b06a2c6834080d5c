//! From a function and shapes to what is dispatched.
//!
//! Input: a [`Function`], the arguments' shapes, the device's abilities. Output: a [`LaunchPlan`], which holds
//! everything of a launch that does not change between launches of equal shapes: pipelines, uniform words, grids,
//! sizes of results and temporaries. Stages: `check` (shapes), `domain` (numbers and simplification), `require`
//! (what may run), `cost` (how long it takes), `candidates` (the candidates), `select_plan` (of which function),
//! `select_variant` (which candidate runs), `words` (uniforms and grids).
//!
//! Invariants: empty kernels have no steps; the lifetime of a temporary spans all steps that bind it.
//! Not here: buffers and recording (`launch`, `record`).

mod cache;
mod candidates;
mod cost;
mod domain;
mod explain;
mod require;
mod select_plan;
mod select_variant;
mod uniforms;

use std::sync::Arc;

use fuse_artifact::{Features, Function, Kernel, ParamKind, Pass, Slot, Variant};

pub(crate) use self::{
    cache::PlanCache,
    cost::hardware,
    domain::Domain,
    explain::explain,
    require::{MAX_BINDINGS, runs_on},
    select_plan::alternatives,
    uniforms::Filled,
};
use self::{
    candidates::{Candidate, scratch_bytes},
    require::Refusal,
    select_plan::{Considered, Selected, select, select_index},
    select_variant::decide,
    uniforms::{Chosen, fill},
};
pub use self::{
    explain::{Explanation, KernelExplanation},
    select_variant::Decision,
};
#[cfg(feature = "tune")]
pub(crate) use self::{select_plan::consider_all, select_variant::key};
use crate::{
    DeviceInfo, Error,
    callable::{Callable, WeakCallable, lasting},
    check::{Bound, bind},
    launch::KernelVariants,
    pipeline::{Pipeline, Pipelines},
    shape::Shape,
    specialization::Specialization,
    tune::{Applied, Key, plan_name, plan_prefix},
};

/// How a launch is chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection<'a> {
    /// What decides where the rest leaves a choice.
    pub(crate) tuning: &'a Applied,
    /// This alternative of the function (0: the function itself).
    pub(crate) alternative: Option<usize>,
    /// These variants.
    pub(crate) variants: Variants<'a>,
    /// How shaders know sizes.
    pub(crate) sizes: Sizes,
}

/// How the variant of a kernel is chosen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Variants<'a> {
    /// By tables and the cost model.
    #[default]
    Best,
    /// The one of this name in kernels that have one.
    Named(&'a str),
    /// By index, one per kernel.
    Indices(&'a [usize]),
    /// Of one kernel, by the indices of both; of others as [`Variants::Best`].
    #[cfg(feature = "tune")]
    One { kernel: usize, variant: usize },
}

impl<'a> Selection<'a> {
    /// What a tuning chooses.
    pub(crate) fn by(tuning: &'a Applied) -> Self {
        Self { tuning, alternative: None, variants: Variants::Best, sizes: Sizes::Uniform }
    }
}

/// A launch, ready but for buffers and host scalars.
pub(crate) struct LaunchPlan {
    pub(crate) function: WeakCallable,
    /// The [`Applied::id`] of the tuning that chose it.
    pub(crate) tuning: u64,
    pub(crate) params: Box<[Shape]>,
    pub(crate) results: Box<[Shape]>,
    pub(crate) temporaries: Box<[Temporary]>,
    pub(crate) steps: Box<[Step]>,
    pub(crate) sizes: Sizes,
}

/// Where shaders have the sizes of a launch from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// A uniform block: pipelines serve all shapes.
    Uniform,
    /// Their text (`specialization`).
    Constant,
}

/// Storage that a launch uses between its steps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Temporary {
    pub(crate) bytes: u64,
    /// The first and the last step that bind it; `None` if none does.
    pub(crate) steps: Option<(usize, usize)>,
}

/// One dispatch.
pub(crate) struct Step {
    pub(crate) label: Label,
    pub(crate) pipeline: Arc<Pipeline>,
    /// The buffers of bindings 1 and up; scratch memory is a temporary here.
    pub(crate) slots: Box<[Slot]>,
    pub(crate) filled: Filled,
}

/// What a dispatch is, for profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) function: &'static str,
    pub(crate) kernel: &'static str,
    pub(crate) variant: &'static str,
    pub(crate) pass: usize,
}

/// What is dispatched, before pipelines exist.
struct Resolved<'a> {
    results: Vec<Shape>,
    temporaries: Vec<Temporary>,
    dispatches: Vec<Dispatch<'a>>,
}

struct Dispatch<'a> {
    kernel: &'a Kernel,
    variant: &'a Variant,
    pass: usize,
    slots: Vec<Slot>,
    filled: Filled,
}

impl LaunchPlan {
    /// The argument or result behind a binding of a step, for messages.
    pub(crate) fn binding_name(&self, step: usize, binding: usize) -> Option<String> {
        let function = self.function.upgrade()?;
        let name = &function.name;
        match *self.steps.get(step)?.slots.get(binding)? {
            Slot::Param(i) | Slot::Scales(i) => {
                Some(format!("kernel `{name}`, argument `{}`", function.params.get(usize::from(i))?.name))
            }
            Slot::Result(i) => Some(format!("kernel `{name}`, result {i}")),
            Slot::Temporary(_) | Slot::Scratch => None,
        }
    }

    /// The steps of one of its kernels alone, for measurements: what earlier kernels would store holds anything.
    #[cfg(feature = "tune")]
    pub(crate) fn only(mut self, kernel: &str) -> Self {
        self.steps = self.steps.into_iter().filter(|step| step.label.kernel == kernel).collect();
        let bound = |step: &Step, temporary: usize| step.slots.contains(&Slot::Temporary(temporary as u16));
        for (index, temporary) in self.temporaries.iter_mut().enumerate() {
            let first = self.steps.iter().position(|step| bound(step, index));
            let last = self.steps.iter().rposition(|step| bound(step, index));
            temporary.steps = first.zip(last);
        }
        self
    }

    /// Plans a launch and creates the pipelines that are missing.
    pub(crate) fn new(
        function: &Callable,
        shapes: &[Shape],
        selection: Selection<'_>,
        pipelines: &Pipelines,
    ) -> Result<Self, Error> {
        let resolved = resolve(function, shapes, selection)?;
        let wide = wide_scales(function, shapes);
        let step = |dispatch: Dispatch<'_>| {
            let (pass, features, label) = dispatch.pipeline(function);
            let words = (selection.sizes == Sizes::Constant).then_some(&*dispatch.filled.words);
            let pipeline = pipelines.get(
                (pass, Some(function)),
                Specialization::new(pass, selection.tuning.style(), words, &wide),
                features,
                &label,
            )?;
            Ok(Step { label, pipeline, slots: dispatch.slots.into(), filled: dispatch.filled })
        };
        Ok(Self {
            function: function.downgrade(),
            tuning: selection.tuning.id,
            params: shapes.into(),
            results: resolved.results.into(),
            temporaries: resolved.temporaries.into(),
            steps: resolved.dispatches.into_iter().map(step).collect::<Result<_, Error>>()?,
            sizes: selection.sizes,
        })
    }
}

impl<'a> Dispatch<'a> {
    /// What its pipeline is made from.
    fn pipeline(&self, function: &Function) -> (&'a Pass, Features, Label) {
        let Self { kernel, variant, pass, .. } = *self;
        let label = Label {
            function: lasting(&function.name),
            kernel: lasting(&kernel.name),
            variant: lasting(&variant.name),
            pass,
        };
        (&variant.passes[pass], variant.features, label)
    }
}

/// What the pipelines of a launch are made from.
pub(crate) fn pipelines<'a>(
    function: &'a Function,
    shapes: &[Shape],
    selection: Selection<'_>,
) -> Result<Vec<(&'a Pass, Features, Label)>, Error> {
    let resolved = resolve(function, shapes, selection)?;
    Ok(resolved.dispatches.iter().map(|dispatch| dispatch.pipeline(function)).collect())
}

fn resolve<'a>(function: &'a Function, shapes: &[Shape], selection: Selection<'_>) -> Result<Resolved<'a>, Error> {
    let selected = selected(function, shapes, selection)?;
    let Selected { function, bound, .. } = &selected;
    let bytes =
        |(spec, shape): (&fuse_artifact::TensorSpec, &Shape)| shape.elements().unwrap_or(0) * spec.dtype.bytes();
    let sizes = function.temporaries.iter().zip(&bound.temporaries).map(bytes);
    let mut resolved = Resolved {
        results: bound.results.clone(),
        temporaries: sizes.map(|bytes| Temporary { bytes, steps: None }).collect(),
        dispatches: Vec::new(),
    };
    for (index, considered) in selected.kernels.iter().enumerate() {
        let Considered { kernel, domain, .. } = considered;
        if domain.count() > 0 {
            let (chosen, _) = choose(considered, index, selection)?;
            let variant = &kernel.variants[chosen.variant];
            let chosen = Chosen { kernel, variant, domain, split: chosen.split, symbols: &bound.symbols };
            resolved.add(&chosen, &selection.tuning.info)?;
        }
    }
    resolved.check_slots(function, bound)?;
    resolved.find_lifetimes();
    Ok(resolved)
}

/// The alternative of `function` that runs.
fn selected<'f>(function: &'f Function, shapes: &[Shape], selection: Selection<'_>) -> Result<Selected<'f>, Error> {
    let info = &selection.tuning.info;
    match selection.alternative {
        Some(index) => select_index(function, index, shapes, info),
        None => match tabled(function, shapes, selection.tuning)? {
            Some(selected) => Ok(selected),
            None => select(function, shapes, selection.tuning),
        },
    }
}

/// The alternative that a table's entry about this very function and these very sizes ranks first.
fn tabled<'f>(function: &'f Function, shapes: &[Shape], tuning: &Applied) -> Result<Option<Selected<'f>>, Error> {
    // Entries about whole functions are rare, and their fingerprints cost time.
    let prefix = plan_prefix(function);
    let mut tables = tuning.tables.iter().filter(|table| table.has_class(&prefix));
    let Some(first) = tables.next() else { return Ok(None) };
    let info = &tuning.info;
    let key = plan_key(function, shapes, info)?;
    let entry = std::iter::once(first).chain(tables).find_map(|table| table.entry(&key.class, &key.sizes));
    let mut usable = select_plan::consider_all(function, shapes, info)?.into_iter().flatten();
    let wanted = |(name, _): &(String, f64)| usable.find(|selected| plan_name(selected.index) == *name);
    Ok(entry.and_then(|entry| entry.schedules.iter().find_map(wanted)))
}

/// What tables know a whole function by.
pub(crate) fn plan_key(function: &Function, shapes: &[Shape], info: &DeviceInfo) -> Result<Key, Error> {
    Ok(Key::of_plan(function, &bind(function, shapes, info.limits.binding_bytes)?.symbols))
}

fn choose(considered: &Considered<'_>, index: usize, selection: Selection<'_>) -> Result<(Candidate, Decision), Error> {
    let Considered { kernel, candidates: all, .. } = considered;
    let info = &selection.tuning.info;
    let wanted = match selection.variants {
        Variants::Best => None,
        Variants::Named(name) => kernel.variants.iter().position(|variant| variant.name == name),
        Variants::Indices(indices) => indices.get(index).copied(),
        #[cfg(feature = "tune")]
        Variants::One { kernel, variant } => (kernel == index).then_some(variant),
    };
    let Some(wanted) = wanted else {
        return decide(considered, selection.tuning, info.kind).ok_or_else(|| no_variant(kernel, all, info));
    };
    let refused = |reason: String| Error::Variant {
        kernel: kernel.name.to_string(),
        variant: kernel.variants.get(wanted).map_or_else(|| wanted.to_string(), |variant| variant.name.to_string()),
        reason,
    };
    match all.get(wanted) {
        Some(Ok(candidate)) => Ok((*candidate, Decision::Forced)),
        Some(Err(refusal)) => Err(refused(refusal.to_string())),
        None => Err(refused(format!("the kernel has {} variants", all.len()))),
    }
}

/// The error for a kernel without a candidate: what its least demanding variant, the last, is refused for.
fn no_variant(kernel: &Kernel, all: &[Result<Candidate, Refusal>], info: &DeviceInfo) -> Error {
    let what = format!("kernel `{}`", kernel.name);
    match all.last() {
        Some(Err(Refusal::Feature(feature))) => Error::MissingFeature { what, feature, adapter: info.name.clone() },
        Some(Err(Refusal::Limit(limit, needed, allowed))) => {
            Error::TooLarge { what, limit, needed: *needed, allowed: *allowed }
        }
        Some(Err(Refusal::Shape(reason))) => Error::Variant {
            kernel: kernel.name.to_string(),
            variant: kernel.variants.last().map_or_else(String::new, |variant| variant.name.to_string()),
            reason: reason.clone(),
        },
        Some(Ok(_)) | None => Error::Internal { message: format!("{what} has no variants") },
    }
}

impl<'a> Resolved<'a> {
    fn add(&mut self, chosen: &Chosen<'a, '_>, info: &DeviceInfo) -> Result<(), Error> {
        let Chosen { kernel, variant, domain, split, .. } = *chosen;
        let scratch = self.temporaries.len() as u16;
        if variant.passes.iter().any(|pass| pass.bindings.iter().any(|binding| binding.slot == Slot::Scratch)) {
            let bytes = scratch_bytes(variant, domain, split, info)
                .map_err(|refusal| Error::Internal { message: format!("kernel `{}`: {refusal}", kernel.name) })?;
            if bytes == 0 {
                let message = format!("kernel `{}` binds scratch memory without saying how much", kernel.name);
                return Err(Error::Internal { message });
            }
            self.temporaries.push(Temporary { bytes, steps: None });
        }
        for (index, pass) in variant.passes.iter().enumerate() {
            let filled = fill(chosen, pass, info.limits.workgroups_per_dimension)?;
            let slots = slots(pass, scratch);
            self.dispatches.push(Dispatch { kernel, variant, pass: index, slots, filled });
        }
        Ok(())
    }

    /// Every binding names a tensor that exists.
    fn check_slots(&self, function: &Function, bound: &Bound) -> Result<(), Error> {
        let exists = |slot: &Slot| match *slot {
            Slot::Param(i) => usize::from(i) < function.params.len(),
            Slot::Scales(i) => {
                let param = function.params.get(usize::from(i));
                param.is_some_and(|param| matches!(param.kind, ParamKind::Quantized(_)))
            }
            Slot::Temporary(i) => usize::from(i) < self.temporaries.len(),
            Slot::Result(i) => usize::from(i) < bound.results.len(),
            Slot::Scratch => false,
        };
        match self.dispatches.iter().find(|dispatch| !dispatch.slots.iter().all(exists)) {
            None => Ok(()),
            Some(dispatch) => Err(Error::Internal {
                message: format!("kernel `{}` binds a tensor that does not exist", dispatch.kernel.name),
            }),
        }
    }

    fn find_lifetimes(&mut self) {
        for (step, dispatch) in self.dispatches.iter().enumerate() {
            for slot in &dispatch.slots {
                if let Slot::Temporary(i) = *slot {
                    let steps = &mut self.temporaries[usize::from(i)].steps;
                    *steps = Some((steps.map_or(step, |(first, _)| first), step));
                }
            }
        }
    }
}

/// The quantized parameters whose scales are `f32`.
fn wide_scales(function: &Function, shapes: &[Shape]) -> Vec<u16> {
    let params = function.params.iter().zip(shapes).enumerate();
    let wide = |(_, (param, shape)): &(usize, (&fuse_artifact::Param, &Shape))| {
        matches!(param.kind, ParamKind::Quantized(_)) && shape.last() == Some(&2)
    };
    params.filter(wide).map(|(index, _)| index as u16).collect()
}

fn slots(pass: &Pass, scratch: u16) -> Vec<Slot> {
    let slot = |slot| if slot == Slot::Scratch { Slot::Temporary(scratch) } else { slot };
    pass.bindings.iter().map(|binding| slot(binding.slot)).collect()
}

/// The variants of every kernel that may run for these shapes, of the alternative that runs.
pub(crate) fn legal_variants(
    function: &'static Function,
    shapes: &[Shape],
    selection: Selection<'_>,
) -> Result<Vec<KernelVariants>, Error> {
    let of_kernel = |considered: Considered<'static>| {
        let Considered { kernel, domain, candidates } = considered;
        let legal = candidates.into_iter().flatten().map(|candidate| candidate.variant);
        // What dispatches nothing was not considered: any variant will do.
        let legal: Vec<usize> = if domain.count() == 0 { vec![0] } else { legal.collect() };
        let named = |variant: usize| Some((variant, &*kernel.variants.get(variant)?.name));
        KernelVariants { kernel: &kernel.name, legal: legal.into_iter().filter_map(named).collect() }
    };
    Ok(selected(function, shapes, selection)?.kernels.into_iter().map(of_kernel).collect())
}

/// The alternatives that can run for these shapes, the function itself as 0.
pub(crate) fn usable_alternatives(
    function: &Function,
    shapes: &[Shape],
    info: &DeviceInfo,
) -> Result<Vec<usize>, Error> {
    let verdicts = select_plan::consider_all(function, shapes, info)?;
    Ok(verdicts.into_iter().flatten().map(|selected| selected.index).collect())
}
