//! How long launches take: several ways to compute the same, timed in turns until it is clear which is fastest.
//!
//! Input: plans with the same results. Output: the time of each. The turns (A B C A B C …) make clocks, temperature and
//! other programs hit all alike; medians make single disturbances harmless (on software adapters, which share their processor
//! with other programs, the fastest round counts); and those that are clearly slow take part in few rounds, because time on a
//! large adapter is scarce.

use std::{sync::Arc, time::Duration};

use web_time::Instant;

use crate::{
    api::{device::Device, launch::checked::Launch, raw::RawTensor},
    context::{error::Error, info::AdapterKind, lock::lock},
    plan::launch_plan::LaunchPlan,
    tune::table::CUT_OFF,
};

/// Work before a measurement: GPUs lower their clocks when they idle, and raise them only under load.
const WARM_UP: Duration = Duration::from_millis(250);

/// As [`WARM_UP`], where the adapter was busy with another measurement at most [`RECENTLY`] ago.
const SHORT_WARM_UP: Duration = Duration::from_millis(60);
const RECENTLY: Duration = Duration::from_millis(100);

/// Intended time of a batch, where threads wait.
#[cfg(not(target_arch = "wasm32"))]
const BATCH: Duration = Duration::from_millis(3);

/// As [`BATCH`] and [`SHORT`], where an event loop says when work is done: it does so late, by up to some milliseconds.
const AWAITED_BATCH: Duration = Duration::from_millis(24);
const AWAITED_SHORT: f64 = 2e-3;

/// How often the event loop is asked how late it says so; the soonest answer counts.
const EMPTY_WAITS: usize = 5;

/// The longest batch: keeps the queue of a slow driver short.
const MAX_LAUNCHES: f64 = 1000.0;

/// Rounds, of which the medians count.
const ROUNDS: usize = 7;

/// After so many rounds, those remain whose fastest round took at most so many times as long as the fastest of all: what
/// disturbs a round only adds to it.
const HALVINGS: [(usize, f64); 3] = [(1, 1.5 * CUT_OFF), (2, CUT_OFF), (3, 1.25)];

/// As [`HALVINGS`], where slow ones must be known, too.
const LATE_HALVINGS: [(usize, f64); 1] = [(3, CUT_OFF)];

/// What takes so many times as long as the fastest in each of [`LOOKS`] first launches is out before the first round,
/// unless both are short.
const HOPELESS: f64 = 4.0;
#[cfg(not(target_arch = "wasm32"))]
const SHORT: f64 = 50e-6;
const LOOKS: usize = 3;

/// How a batch grows until its launches take a quarter of what is intended: what the wait adds to fewer says nothing of them.
const GROWTH: u32 = 4;

/// Measures on one device.
pub(crate) struct Clock<'d> {
    device: &'d Device,
    /// When to give up.
    deadline: Instant,
    warm_up: Duration,
    /// Whether the adapter is the processor that other programs run on.
    software: bool,
    halvings: &'static [(usize, f64)],
    waits: Waits,
}

/// How a clock learns that work is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Waits {
    /// The thread waits, or the GPU writes timestamps.
    #[cfg(not(target_arch = "wasm32"))]
    Blocking,
    /// The task is woken, so many seconds late.
    Awaited { late: f64 },
}

impl Waits {
    /// For tasks on an event loop.
    pub(crate) async fn awaited(device: &Device) -> Result<Self, Error> {
        let mut late = f64::INFINITY;
        device.synchronize().await?;
        for _ in 0..EMPTY_WAITS {
            let start = Instant::now();
            device.synchronize().await?;
            late = late.min(start.elapsed().as_secs_f64());
        }
        Ok(Self::Awaited { late })
    }

    fn is_awaited(self) -> bool {
        matches!(self, Self::Awaited { .. })
    }

    fn batch(self) -> Duration {
        match self {
            #[cfg(not(target_arch = "wasm32"))]
            Self::Blocking => BATCH,
            Self::Awaited { .. } => AWAITED_BATCH,
        }
    }

    fn short(self) -> f64 {
        match self {
            #[cfg(not(target_arch = "wasm32"))]
            Self::Blocking => SHORT,
            Self::Awaited { .. } => AWAITED_SHORT,
        }
    }

    /// Whether a batch of so many launches, of so many seconds each, says more about the wait than about them.
    fn is_too_short(self, time: f64, launches: u32) -> bool {
        match self {
            #[cfg(not(target_arch = "wasm32"))]
            Self::Blocking => false,
            Self::Awaited { .. } => {
                let least = self.batch().as_secs_f64() / f64::from(GROWTH);
                time * f64::from(launches) < least && f64::from(launches * GROWTH) <= MAX_LAUNCHES
            }
        }
    }

    /// Launches of a batch, if one takes so many seconds.
    fn launches(self, time: f64) -> u32 {
        (self.batch().as_secs_f64() / time.max(1e-9)).clamp(1.0, MAX_LAUNCHES) as u32
    }
}

/// One way to compute.
struct Contender {
    plan: Arc<LaunchPlan>,
    launches: u32,
    /// Seconds per launch, by round.
    samples: Vec<f64>,
    racing: bool,
}

impl<'d> Clock<'d> {
    /// `exhaustive`: slow plans are measured as well, not only told from fast ones.
    pub(crate) fn new(device: &'d Device, budget: Duration, exhaustive: bool, waits: Waits) -> Self {
        // The clocks of a processor rise at once.
        let software = device.info().kind == AdapterKind::Software;
        let warm_up = if software { Duration::ZERO } else { WARM_UP };
        let now = Instant::now();
        let deadline = now.checked_add(budget).unwrap_or(now + Duration::from_secs(86_400));
        let halvings: &[_] = if exhaustive { &LATE_HALVINGS } else { &HALVINGS };
        Self { device, deadline, warm_up, software, halvings, waits }
    }

    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Seconds per launch of each plan, or `None` if the time was up before that was clear. `each` is told of every batch:
    /// the plan, the round, and how many rounds there are.
    pub(crate) async fn race(
        &self,
        launch: &Launch<'_>,
        plans: Vec<Arc<LaunchPlan>>,
        mut each: impl FnMut(usize, usize, usize),
    ) -> Result<Option<Vec<f64>>, Error> {
        let Some(first) = plans.first() else { return Ok(Some(vec![])) };
        let outputs =
            (0..first.results.len()).map(|i| launch.allocate(first, i)).collect::<Result<Vec<RawTensor>, Error>>()?;
        let contender = |plan| Contender { plan, launches: 1, samples: vec![], racing: true };
        let mut contenders: Vec<Contender> = plans.into_iter().map(contender).collect();
        let short = self.waits.short();
        // Once for memory that is touched for the first time; then many launches between two waits keep the GPU busy.
        self.batch(launch, &contenders[0], &outputs).await?;
        contenders[0].launches = self.waits.launches(self.batch(launch, &contenders[0], &outputs).await?);
        self.warm_up(launch, &contenders[0], &outputs).await?;
        contenders[0].launches = 1;
        let mut fastest = f64::INFINITY;
        for (index, contender) in contenders.iter_mut().enumerate() {
            if self.is_over() {
                return Ok(None);
            }
            each(index, 0, ROUNDS);
            let mut time = self.batch(launch, contender, &outputs).await?;
            for look in 1..LOOKS {
                // One look is enough for what is long and among the fastest.
                if time < short && look == 1 || time > HOPELESS * fastest.max(short) {
                    time = time.min(self.batch(launch, contender, &outputs).await?);
                }
            }
            while self.waits.is_too_short(time, contender.launches) {
                contender.launches *= GROWTH;
                time = time.min(self.batch(launch, contender, &outputs).await?);
            }
            fastest = fastest.min(time);
            contender.launches = self.waits.launches(time);
            contender.racing = time <= HOPELESS * fastest.max(short);
            if !contender.racing {
                contender.samples.push(time);
            }
        }
        for round in 1..=ROUNDS {
            for (index, contender) in contenders.iter_mut().enumerate().filter(|(_, contender)| contender.racing) {
                if self.is_over() {
                    return Ok(None);
                }
                each(index, round, ROUNDS);
                let time = self.batch(launch, contender, &outputs).await?;
                contender.samples.push(time);
            }
            if let Some((_, slowest)) = self.halvings.iter().find(|(after, _)| *after == round) {
                drop_slow(&mut contenders, *slowest);
            }
        }
        *lock(&self.device.inner.tunings.measured) = Some(Instant::now());
        // Other programs disturb most rounds of a software adapter, and an event loop is never early.
        let disturbed = self.software || self.waits.is_awaited();
        let time = if disturbed { Contender::fastest } else { Contender::median };
        Ok(Some(contenders.iter().map(time).collect()))
    }

    /// Seconds per launch of one batch: on the GPU where that can be waited for and the adapter has timestamps, else until it
    /// is done.
    async fn batch(&self, launch: &Launch<'_>, contender: &Contender, outputs: &[RawTensor]) -> Result<f64, Error> {
        let Contender { plan, launches, .. } = contender;
        let work = || (0..*launches).try_for_each(|_| launch.record(plan, |result| &outputs[result]));
        let time = match self.waits {
            #[cfg(not(target_arch = "wasm32"))]
            Waits::Blocking if self.device.info().timestamps => {
                let (recorded, time) = self.device.gpu_time(work)?;
                recorded?;
                time.as_secs_f64()
            }
            #[cfg(not(target_arch = "wasm32"))]
            Waits::Blocking => {
                let start = Instant::now();
                work()?;
                self.device.synchronize_blocking()?;
                start.elapsed().as_secs_f64()
            }
            Waits::Awaited { late } => {
                let start = Instant::now();
                work()?;
                self.device.synchronize().await?;
                let time = start.elapsed().as_secs_f64();
                // Never nothing, however soon this answer came.
                (time - late).max(time / 20.0)
            }
        };
        Ok(time / f64::from((*launches).max(1)))
    }

    async fn warm_up(&self, launch: &Launch<'_>, contender: &Contender, outputs: &[RawTensor]) -> Result<(), Error> {
        let start = Instant::now();
        let warm = lock(&self.device.inner.tunings.measured).is_some_and(|last| last.elapsed() < RECENTLY);
        let enough = if warm { self.warm_up.min(SHORT_WARM_UP) } else { self.warm_up };
        while start.elapsed() < enough && !self.is_over() {
            self.batch(launch, contender, outputs).await?;
        }
        Ok(())
    }
}

/// Ends the race for those that take more than `slowest` times as long as the fastest.
fn drop_slow(contenders: &mut [Contender], slowest: f64) {
    let racing = contenders.iter().filter(|contender| contender.racing);
    let fastest = racing.map(Contender::fastest).fold(f64::INFINITY, f64::min);
    for contender in contenders.iter_mut() {
        contender.racing &= contender.fastest() <= slowest * fastest;
    }
}

impl Contender {
    /// The time of the fastest round.
    fn fastest(&self) -> f64 {
        self.samples.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn median(&self) -> f64 {
        let mut samples = self.samples.clone();
        samples.sort_by(f64::total_cmp);
        samples.get(samples.len() / 2).copied().unwrap_or(f64::INFINITY)
    }
}
