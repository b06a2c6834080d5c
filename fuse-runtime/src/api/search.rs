//! `Device::tune`: tuning tables from measurements.
//!
//! Output: a [`Table`] with an entry per kernel with several legal variants, and one for several alternatives. Not
//! here: measured times (`clock`).

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use time::OffsetDateTime;

use crate::{
    api::{
        arg::Arg,
        capture,
        clock::{Clock, Waits},
        device::Device,
        kernels::Kernels,
        launch::checked::Launch,
    },
    context::{environment::Environment, error::Error, shape::Shape},
    plan::{
        choose::{plan_key, usable_alternatives},
        considered::key,
        key::{Key, plan_name},
        launch_plan::{self, LaunchPlan},
        select_plan::consider_all,
        selection::{Selection, Variants},
    },
    tune::{
        knobs::Knobs,
        table::{Adapters, CUT_OFF, Entry, Measured, Status, Table},
        tuning::{Applied, vendor},
    },
};

/// Options of [`Device::tune`].
///
/// ```no_run
/// # use std::time::Duration;
/// use fuse_runtime::Search;
///
/// let mut search = Search::default().budget(Duration::from_secs(10)).on_progress(|progress| println!("{progress}"));
/// ```
#[must_use = "a search does nothing until `Device::tune` takes it"]
pub struct Search<'a> {
    name: String,
    budget: Duration,
    exhaustive: bool,
    plans: bool,
    progress: Option<Listener<'a>>,
}

type Listener<'a> = Box<dyn FnMut(&Progress<'_>) + 'a>;

impl Default for Search<'_> {
    fn default() -> Self {
        Self {
            name: "tuned".to_owned(),
            budget: Duration::from_secs(60),
            exhaustive: false,
            plans: true,
            progress: None,
        }
    }
}

impl<'a> Search<'a> {
    /// Names the table.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Ends the search after this time, a minute by default, with the results known by then. Compilations in progress
    /// finish first.
    pub fn budget(mut self, budget: Duration) -> Self {
        self.budget = budget;
        self
    }

    /// Keeps variants far slower than the fastest.
    pub fn exhaustive(mut self) -> Self {
        self.exhaustive = true;
        self
    }

    /// Skips the function's alternatives and their kernels.
    pub fn without_plans(mut self) -> Self {
        self.plans = false;
        self
    }

    /// Calls `progress` before each batch of launches.
    pub fn on_progress(mut self, progress: impl FnMut(&Progress<'_>) + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }
}

impl fmt::Debug for Search<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, budget, exhaustive, plans, progress: _ } = self;
        let mut debug = f.debug_struct("Search");
        debug.field("name", name).field("budget", budget).field("exhaustive", exhaustive).field("plans", plans);
        debug.finish_non_exhaustive()
    }
}

/// Current measurement of a search, one line as `Display`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// Class of the kernel or function.
    pub class: &'a str,
    /// Its sizes.
    pub sizes: &'a [u64],
    /// The schedule or alternative.
    pub schedule: &'a str,
    /// The round; 0 is a first look.
    pub round: usize,
    /// Number of rounds; slow schedules take part in few.
    pub rounds: usize,
}

impl fmt::Display for Progress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { class, sizes, schedule, round, rounds } = self;
        write!(f, "{class} {sizes:?}: round {round} of {rounds}, `{schedule}`")
    }
}

impl Device {
    /// Measures all legal variants of a function's kernels and all of its alternatives for these arguments.
    ///
    /// Compiling a variant may take a second; then variants run in turns. Nothing else should use the adapter. Values
    /// of arguments matter only where they change what a kernel does.
    ///
    /// ```no_run
    /// # use fuse_runtime::{Arg, Device, Error, Kernels, Search, Tensor2, Tuning};
    /// # fn f(x: &Tensor2<f32>, w: &Tensor2<f32>) -> Result<Tensor2<f32>, Error> { Ok(x.clone()) }
    /// # fn example(kernels: &Kernels) -> Result<(), Error> {
    /// # let device = Device::blocking()?;
    /// # let (x, w) = (Tensor2::<f32>::zeros(&device, [64, 64])?, Tensor2::<f32>::zeros(&device, [64, 64])?);
    /// // `kernels` is `f::KERNELS` of a `fuse!` function `f`.
    /// let table = device.tune(kernels, &[Arg::from(&x), Arg::from(&w)], Search::default())?;
    /// table.save("f.toml")?;
    /// let y = device.with_tuning(&Tuning::default().with_table(table), || f(&x, &w))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of a launch with these arguments; [`Error::Capturing`] within [`capture`](Self::capture),
    /// [`Error::ProfileActive`] within a profile, [`Error::DifferentDevices`] if the arguments are on another device.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn tune(&self, kernels: &Kernels, args: &[Arg<'_>], search: Search<'_>) -> Result<Table, Error> {
        pollster::block_on(self.search(kernels, args, search, Waits::Blocking))
    }

    /// Async form of [`tune`](Self::tune): other tasks run between batches.
    ///
    /// Times are those of the event loop, less its measured delay.
    ///
    /// ```no_run
    /// # use fuse_runtime::{Arg, Device, Error, Kernels, Search, Table, Tensor2};
    /// # async fn example(device: &Device, kernels: &Kernels, x: &Tensor2<f32>) -> Result<(), Error> {
    /// let table = device.tune_async(kernels, &[Arg::from(x)], Search::default()).await?;
    /// let text = table.text(); // for the page's local storage, and at the next visit:
    /// let device = Device::builder().tuning_text("page", text).build().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`tune`](Self::tune), except those of profiles.
    pub async fn tune_async(&self, kernels: &Kernels, args: &[Arg<'_>], search: Search<'_>) -> Result<Table, Error> {
        capture::forbid(self.context(), "tuning")?;
        let waits = Waits::awaited(self).await?;
        self.search(kernels, args, search, waits).await
    }

    async fn search(
        &self,
        kernels: &Kernels,
        args: &[Arg<'_>],
        search: Search<'_>,
        waits: Waits,
    ) -> Result<Table, Error> {
        capture::forbid(self.context(), "tuning")?;
        let launch = fitting(kernels, args)?;
        let updates = launch.function.updates.iter().map(|&param| usize::from(param));
        let copies = updates.filter_map(|param| Some((param, args[param].tensor()?.copy())));
        let copies = copies.map(|(param, copy)| Ok((param, copy?))).collect::<Result<Vec<_>, Error>>()?;
        let mut args = args.to_vec();
        copies.iter().for_each(|(param, copy)| args[*param] = Arg::from(copy));
        let launch = Launch::new(launch.function.clone(), &args)?;
        if !launch.device.is(self) {
            let kernel = launch.function.name.to_string();
            let first = "the device that tunes".to_owned();
            let argument = launch.function.params.first().map_or_else(String::new, |param| param.name.to_string());
            return Err(Error::DifferentDevices { kernel, argument, first });
        }
        let shapes: Vec<Shape> = launch.shapes().collect();
        let clock = Clock::new(self, search.budget, search.exhaustive, waits);
        let table = empty(self, &search.name);
        let tuning = self.applied();
        let mut tuner = Tuner { launch, shapes, clock, search, table, tuning };
        tuner.kernels().await?;
        if tuner.search.plans {
            tuner.plans().await?;
        }
        Ok(tuner.table)
    }
}

fn fitting<'a>(kernels: &Kernels, args: &'a [Arg<'a>]) -> Result<Launch<'a>, Error> {
    let mut first = None;
    for function in kernels.functions() {
        match Launch::new(*function, args) {
            Ok(launch) => return Ok(launch),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or_else(|| Error::Internal { message: "a function without artifacts".into() }))
}

fn empty(device: &Device, name: &str) -> Table {
    let info = device.info();
    let date = OffsetDateTime::now_utc().date().to_string();
    let names = names(&info.name);
    Table {
        name: name.to_owned(),
        status: Status::Measured,
        environment: Some(Environment::present()),
        adapters: Some(Adapters { vendor: vendor(info), names }),
        measured: Some(Measured { adapter: info.name.clone(), driver: info.driver.clone(), date }),
        knobs: Knobs::default(),
        hardware: None,
        entries: vec![],
    }
}

/// Adapter names; none of a browser that hides them: the table then matches all of the vendor's adapters there.
fn names(adapter: &str) -> Vec<String> {
    if adapter.trim().is_empty() { vec![] } else { vec![adapter.to_owned()] }
}

struct Tuner<'a> {
    launch: Launch<'a>,
    shapes: Vec<Shape>,
    clock: Clock<'a>,
    search: Search<'a>,
    table: Table,
    /// The calling thread's tuning, also while a task waits.
    tuning: Arc<Applied>,
}

struct Contender {
    name: String,
    plan: Arc<LaunchPlan>,
}

impl Tuner<'_> {
    async fn kernels(&mut self) -> Result<(), Error> {
        let function = self.launch.function.clone();
        let mut seen = BTreeSet::new();
        let tuning = Arc::clone(&self.tuning);
        let all = consider_all(&function, &self.shapes, &tuning.info)?;
        let all = all.into_iter().take(if self.search.plans { usize::MAX } else { 1 });
        for selected in all.flatten() {
            for (index, considered) in selected.kernels.iter().enumerate() {
                let mut legal: Vec<_> = considered.candidates.iter().flatten().copied().collect();
                let key = key(considered);
                if legal.len() < 2
                    || considered.domain.count() == 0
                    || !seen.insert((key.class.clone(), key.sizes.clone()))
                {
                    continue;
                }
                // Probably fast variants first: they set the pace.
                legal.sort_by(|a, b| a.cost.total_cmp(&b.cost));
                let kernel = considered.kernel;
                let plans = legal.iter().map(|candidate| {
                    let variants = Variants::One { kernel: index, variant: candidate.variant };
                    let selection = Selection { alternative: Some(selected.index), variants, ..Selection::by(&tuning) };
                    (kernel.variants[candidate.variant].name.to_string(), selection)
                });
                let plans: Vec<_> = plans.collect();
                let contenders = self.contenders(&plans, Some(&kernel.name)).await?;
                let family: BTreeSet<String> = kernel.variants.iter().map(|variant| variant.name.to_string()).collect();
                self.compare(&key, contenders, family.into_iter().collect()).await?;
                if self.clock.is_over() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    async fn plans(&mut self) -> Result<(), Error> {
        let (function, device) = (self.launch.function.clone(), self.launch.device);
        let usable = usable_alternatives(&function, &self.shapes, &self.tuning.info)?;
        if usable.len() < 2 || self.clock.is_over() {
            return Ok(());
        }
        let tuning = self.tuning.tuning.clone().with_table(self.table.clone());
        let tuning = Applied::new(&tuning, device.info());
        let by = |index| Selection { alternative: Some(index), ..Selection::by(&tuning) };
        let plans: Vec<_> = usable.into_iter().map(|index| (plan_name(index), by(index))).collect();
        let key = plan_key(&function, &self.shapes, device.info())?;
        let contenders = self.contenders(&plans, None).await?;
        self.compare(&key, contenders, Arc::default()).await
    }

    /// Plans of these selections, without those that the driver refuses.
    async fn contenders(
        &self,
        plans: &[(String, Selection<'_>)],
        kernel: Option<&str>,
    ) -> Result<Vec<Contender>, Error> {
        let Launch { function, device, .. } = &self.launch;
        let pipelines = &device.context().pipelines;
        let mut passes = vec![];
        for (_, selection) in plans {
            passes.extend(launch_plan::pipelines(function, &self.shapes, *selection)?);
        }
        // Browsers create them one by one, to show which fails.
        #[cfg(not(target_arch = "wasm32"))]
        device.prepare(function, passes);
        #[cfg(target_arch = "wasm32")]
        drop(passes);
        let mut contenders = vec![];
        for (name, selection) in plans {
            match LaunchPlan::new(function, &self.shapes, *selection, pipelines) {
                Ok(plan) => {
                    // Browsers report refused pipelines later.
                    #[cfg(target_arch = "wasm32")]
                    match device.synchronize().await {
                        Ok(()) => {}
                        Err(Error::Pipeline { .. }) => continue,
                        Err(error) => return Err(error),
                    }
                    let plan = Arc::new(if let Some(kernel) = kernel { plan.only(kernel) } else { plan });
                    contenders.push(Contender { name: name.clone(), plan });
                }
                Err(Error::Pipeline { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(contenders)
    }

    async fn compare(&mut self, key: &Key, contenders: Vec<Contender>, family: Arc<[String]>) -> Result<(), Error> {
        let Self { launch, clock, search, .. } = self;
        let (names, plans): (Vec<String>, Vec<_>) =
            contenders.into_iter().map(|contender| (contender.name, contender.plan)).unzip();
        let each = |contender: usize, round, rounds| {
            if let Some(progress) = &mut search.progress {
                progress(&Progress {
                    class: &key.class,
                    sizes: &key.sizes,
                    schedule: &names[contender],
                    round,
                    rounds,
                });
            }
        };
        if let Some(times) = clock.race(launch, plans, each).await? {
            let cut_off = if search.exhaustive { f64::INFINITY } else { CUT_OFF };
            let entry = entry(key, &names, &times, cut_off).map(|entry| Entry { family, ..entry });
            entry.into_iter().for_each(|entry| self.table.insert(entry));
        }
        Ok(())
    }
}

/// Omits schedules slower than `cut_off` times the fastest.
fn entry(key: &Key, names: &[String], seconds: &[f64], cut_off: f64) -> Option<Entry> {
    let fastest = seconds.iter().copied().filter(|time| time.is_finite()).fold(f64::INFINITY, f64::min);
    // Measurements are good for three digits.
    let round = |x: f64| (x * 1e3).round() / 1e3;
    let microseconds = round(fastest * 1e6);
    if !(fastest.is_finite() && microseconds > 0.0) {
        return None;
    }
    let relative = names.iter().zip(seconds).map(|(name, time)| (name.clone(), round(time / fastest)));
    let mut schedules: Vec<(String, f64)> = relative.filter(|(_, relative)| *relative < cut_off).collect();
    schedules.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    Some(Entry { class: key.class.clone(), sizes: key.sizes.clone(), microseconds, schedules, family: Arc::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_without_a_name_names_none() {
        // A table with an empty name could not be read back.
        assert_eq!(names(" "), [""; 0]);
        assert_eq!(names("llvmpipe"), ["llvmpipe"]);
    }

    #[test]
    fn entries_rank_what_is_not_too_slow() {
        let key = Key { class: "c".into(), sizes: vec![8] };
        let names = ["slow", "fast", "middle", "refused"].map(str::to_owned);
        let seconds = [9e-6, 3e-6, 4.5e-6, f64::INFINITY];
        let ranked = |cut_off| entry(&key, &names, &seconds, cut_off).unwrap().schedules;
        assert_eq!(ranked(CUT_OFF), [("fast".to_owned(), 1.0), ("middle".to_owned(), 1.5)]);
        assert_eq!(ranked(f64::INFINITY).len(), 3);
        assert_eq!(entry(&key, &names, &[f64::INFINITY; 4], CUT_OFF), None);
    }
}
