//! Launch times: equivalent plans run in turns until the fastest is clear.
//!
//! Turns (A B C A B C …) expose plans alike to clocks, temperature and other programs. The median round counts; on
//! software adapters, which share their processor, the fastest. Clearly slow plans drop out early: time on a large
//! adapter is scarce.

use std::{sync::Arc, time::Duration};

use web_time::Instant;

use crate::{
    api::{device::Device, launch::checked::Launch, raw::RawTensor},
    context::{error::Error, info::AdapterKind, lock::lock},
    plan::launch_plan::LaunchPlan,
    tune::table::CUT_OFF,
};

/// Work before a measurement: idle GPUs raise their clocks only under load.
const WARM_UP: Duration = Duration::from_millis(250);

/// [`WARM_UP`] if the adapter was busy with another measurement within [`RECENTLY`].
const SHORT_WARM_UP: Duration = Duration::from_millis(60);
const RECENTLY: Duration = Duration::from_millis(100);

/// Target time of a batch, where threads wait.
#[cfg(not(target_arch = "wasm32"))]
const BATCH: Duration = Duration::from_millis(3);

/// [`BATCH`] on an event loop, which reports finished work some milliseconds late.
const AWAITED_BATCH: Duration = Duration::from_millis(24);
const AWAITED_SHORT: f64 = 2e-3;

/// The shortest of these measures the event loop's delay.
const EMPTY_WAITS: usize = 5;

/// Limit of a batch: keeps the queue of a slow driver short.
const MAX_LAUNCHES: f64 = 1000.0;

const ROUNDS: usize = 7;

/// After `.0` rounds, plans remain whose fastest round took at most `.1` times the fastest: disturbances only add time.
const HALVINGS: [(usize, f64); 3] = [(1, 1.5 * CUT_OFF), (2, CUT_OFF), (3, 1.25)];

/// [`HALVINGS`] if slow plans must be measured, too.
const LATE_HALVINGS: [(usize, f64); 1] = [(3, CUT_OFF)];

/// A plan this many times slower in each of [`LOOKS`] first launches is dropped, unless both are short.
const HOPELESS: f64 = 4.0;
#[cfg(not(target_arch = "wasm32"))]
const SHORT: f64 = 50e-6;
const LOOKS: usize = 3;

/// Growth of a batch until it takes a quarter of the target: before, the wait dominates.
const GROWTH: u32 = 4;

pub(crate) struct Clock<'d> {
    device: &'d Device,
    deadline: Instant,
    warm_up: Duration,
    /// True if the adapter is the processor, which other programs use.
    software: bool,
    halvings: &'static [(usize, f64)],
    waits: Waits,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Waits {
    /// Threads wait, or the GPU writes timestamps.
    #[cfg(not(target_arch = "wasm32"))]
    Blocking,
    /// The task is woken `late` seconds late.
    Awaited { late: f64 },
}

impl Waits {
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

    /// True if the wait dominates a batch of `launches` launches of `time` seconds.
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

    fn launches(self, time: f64) -> u32 {
        (self.batch().as_secs_f64() / time.max(1e-9)).clamp(1.0, MAX_LAUNCHES) as u32
    }
}

struct Contender {
    plan: Arc<LaunchPlan>,
    launches: u32,
    samples: Vec<f64>,
    racing: bool,
}

impl<'d> Clock<'d> {
    /// `exhaustive`: also measures slow plans, not only rejects them.
    pub(crate) fn new(device: &'d Device, budget: Duration, exhaustive: bool, waits: Waits) -> Self {
        // Processors raise their clocks at once.
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

    /// Seconds per launch of each plan, or `None` if the time ran out. `each` gets the plan, the round, and the number
    /// of rounds per batch.
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
        // The first batch touches memory for the first time. Later ones hold many launches to keep the GPU busy.
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
                // One look suffices for a long plan among the fastest.
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

    /// Seconds per launch: by GPU timestamps where threads can wait and the adapter has them.
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
                // At least a twentieth, however short the delay was.
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

fn drop_slow(contenders: &mut [Contender], slowest: f64) {
    let racing = contenders.iter().filter(|contender| contender.racing);
    let fastest = racing.map(Contender::fastest).fold(f64::INFINITY, f64::min);
    for contender in contenders.iter_mut() {
        contender.racing &= contender.fastest() <= slowest * fastest;
    }
}

impl Contender {
    fn fastest(&self) -> f64 {
        self.samples.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn median(&self) -> f64 {
        let mut samples = self.samples.clone();
        samples.sort_by(f64::total_cmp);
        samples.get(samples.len() / 2).copied().unwrap_or(f64::INFINITY)
    }
}
