//! [`LaunchPlan`]: the dispatches of a launch.

use fuse_artifact::{Features, Function, Kernel, ParamKind, Pass, Slot, Variant};

use crate::{
    context::{
        callable::{Callable, WeakCallable, lasting},
        error::Error,
        info::DeviceInfo,
        label::Label,
        pipeline::Pipelines,
        shape::Shape,
        specialization::Specialization,
        step::{Filled, Step},
    },
    plan::{
        candidates::scratch_bytes,
        check::Bound,
        choose::{choose, selected},
        considered::{Considered, Selected},
        selection::{Selection, Sizes},
        uniforms::{Chosen, fill},
    },
};

/// A launch without buffers and host scalars.
pub(crate) struct LaunchPlan {
    pub(crate) function: WeakCallable,
    /// [`Applied::id`](crate::tune::tuning::Applied::id) of its tuning.
    pub(crate) tuning: u64,
    pub(crate) params: Box<[Shape]>,
    pub(crate) results: Box<[Shape]>,
    pub(crate) temporaries: Box<[Temporary]>,
    pub(crate) steps: Box<[Step]>,
    pub(crate) sizes: Sizes,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Temporary {
    pub(crate) bytes: u64,
    /// First and last that bind it; `None` if none does.
    pub(crate) steps: Option<(usize, usize)>,
}

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
    /// Name of the argument or result in a binding, for messages.
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

    /// Keeps one kernel's steps, for measurements: results of earlier kernels are arbitrary.
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

    /// Every binding must name an existing tensor.
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

/// Scales are `f32`.
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
