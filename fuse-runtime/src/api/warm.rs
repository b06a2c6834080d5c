//! Creation of pipelines ahead of launches.
//!
//! Natively several threads create pipelines, because drivers compile on the calling thread. Browsers compile in their
//! own processes; `Device::synchronize` awaits that.

use std::collections::HashSet;

use fuse_artifact::{Features, Function, Pass};

use crate::{
    api::{device::Device, kernels::Kernels},
    context::{
        callable::Callable,
        error::Error,
        label::Label,
        pipeline::Pipelines,
        shape::Shape,
        specialization::{Specialization, Style},
    },
    plan::{launch_plan, require::runs_on, select_plan::alternatives},
};

struct Job<'a> {
    pass: &'a Pass,
    function: Callable,
    features: Features,
    label: Label,
}

impl Job<'_> {
    fn specialization(&self, style: Style) -> Specialization {
        Specialization::new(self.pass, style, None, &[])
    }
}

impl Device {
    /// Creates the missing pipelines of all variants that this device supports.
    ///
    /// For example `device.warm_up(&[f::KERNELS, g::KERNELS])`. A driver may take a second per variant: with known
    /// shapes, [`warm_up_for`](Self::warm_up_for) is faster. In browsers this returns at once;
    /// [`synchronize`](Self::synchronize) awaits the compilation, with its first error.
    ///
    /// # Errors
    /// [`Error::Pipeline`] for the first kernel and variant that the driver refuses; [`Error::OutOfMemory`],
    /// [`Error::DeviceLost`].
    pub fn warm_up(&self, kernels: &[&Kernels]) -> Result<(), Error> {
        let functions = kernels.iter().flat_map(|kernels| kernels.functions()).copied();
        self.create(functions.flat_map(|function| self.variants_of(function)))
    }

    /// Plans launches with these shapes and creates their missing pipelines.
    ///
    /// For example `device.warm_up_for(&[(&f::FUNCTION, &[&[128, 384], &[384, 384]])])`: one shape per parameter, empty
    /// for scalars. For functions written in place (`fuse!(…)`) or dependent shapes, [`capture`](Self::capture) the
    /// launches.
    ///
    /// # Errors
    /// Those of a launch with such tensors, and of [`warm_up`](Self::warm_up).
    pub fn warm_up_for(&self, launches: &[(&'static Function, &[&[usize]])]) -> Result<(), Error> {
        let (forced, tuning) = (self.inner.plans.forced(), self.applied());
        let mut jobs = Vec::new();
        let mut planned = Vec::new();
        for &(function_of_program, shapes) in launches {
            let shapes = shapes.iter().map(|dims| Shape::new(dims)).collect::<Result<Vec<_>, _>>()?;
            let function = Callable::from(function_of_program);
            let of_function = launch_plan::pipelines(function_of_program, &shapes, forced.selection(&tuning))?;
            jobs.extend(of_function.into_iter().map(|(pass, features, label)| Job {
                pass,
                function: function.clone(),
                features,
                label,
            }));
            planned.push((function, shapes));
        }
        self.create(jobs.into_iter())?;
        for (function, shapes) in planned {
            self.plan(&function, shapes.into_iter())?;
        }
        Ok(())
    }

    /// Number of existing pipelines.
    pub fn pipelines(&self) -> usize {
        self.context().pipelines.len()
    }

    /// Passes of all variants of a function and its alternatives.
    fn variants_of(&self, function: &'static Function) -> impl Iterator<Item = Job<'static>> {
        let (tuning, callable) = (self.applied(), Callable::from(function));
        let kernels = alternatives(function).flat_map(|f| f.kernels.iter().map(move |kernel| (&*f.name, kernel)));
        let variants = kernels
            .flat_map(|(function, kernel)| kernel.variants.iter().map(move |variant| (function, kernel, variant)));
        let legal = variants.filter(move |(_, _, variant)| runs_on(variant, &tuning.info));
        legal.flat_map(move |(function, kernel, variant)| {
            let callable = callable.clone();
            variant.passes.iter().enumerate().map(move |(index, pass)| {
                let label = Label { function, kernel: &kernel.name, variant: &variant.name, pass: index };
                Job { pass, function: callable.clone(), features: variant.features, label }
            })
        })
    }

    /// Creates pipelines, ignoring refused ones: launches that need them report it.
    #[cfg(all(feature = "tune", not(target_arch = "wasm32")))]
    pub(crate) fn prepare(&self, function: &Callable, passes: Vec<(&Pass, Features, Label)>) {
        let job = |(pass, features, label)| Job { pass, function: function.clone(), features, label };
        drop(self.create(passes.into_iter().map(job)));
    }

    fn create<'a>(&self, jobs: impl Iterator<Item = Job<'a>>) -> Result<(), Error> {
        self.context().fault.check()?;
        let style = self.applied().style();
        let mut seen = HashSet::new();
        let missing: Vec<Job<'_>> = jobs
            .filter(|job| {
                !self.context().pipelines.contains((job.pass, Some(&job.function)), job.specialization(style))
            })
            .filter(|job| seen.insert(std::ptr::from_ref(job.pass).addr()))
            .collect();
        let created = create_all(&self.context().pipelines, style, &missing);
        // A lost device refuses every pipeline; its loss is the better message.
        self.context().fault.check()?;
        created
    }
}

fn create(pipelines: &Pipelines, style: Style, job: &Job<'_>) -> Result<(), Error> {
    pipelines.get((job.pass, Some(&job.function)), job.specialization(style), job.features, &job.label).map(drop)
}

#[cfg(target_arch = "wasm32")]
fn create_all(pipelines: &Pipelines, style: Style, jobs: &[Job<'_>]) -> Result<(), Error> {
    jobs.iter().try_for_each(|job| create(pipelines, style, job))
}

/// Limit of threads that create pipelines: more wait for drivers' locks.
#[cfg(not(target_arch = "wasm32"))]
const MAX_THREADS: usize = 16;

#[cfg(not(target_arch = "wasm32"))]
fn create_all(pipelines: &Pipelines, style: Style, jobs: &[Job<'_>]) -> Result<(), Error> {
    use std::{
        sync::{
            Mutex,
            atomic::{AtomicUsize, Ordering},
        },
        thread,
    };

    use crate::context::lock::lock;

    let next = AtomicUsize::new(0);
    // First failure in job order: the message does not depend on timing.
    let failure: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    let work = || {
        while let Some((index, job)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, jobs.get(i)?)))
        {
            if let Err(error) = create(pipelines, style, job) {
                let mut failure = lock(&failure);
                if failure.as_ref().is_none_or(|(earlier, _)| index < *earlier) {
                    *failure = Some((index, error));
                }
                next.store(jobs.len(), Ordering::Relaxed);
            }
        }
    };
    let processors = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 1..processors.min(MAX_THREADS).min(jobs.len()) {
            drop(thread::Builder::new().name("fuse-warm-up".into()).spawn_scoped(scope, work));
        }
        work();
    });
    lock(&failure).take().map_or(Ok(()), |(_, error)| Err(error))
}
