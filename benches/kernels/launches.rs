//! Host costs: the calling thread's time per launch, per replayed dispatch, and until a process's first result.
//!
//! Kernels are too small to be the bottleneck. Waiting counts only in chains. Software drivers compute within the
//! submission, so calls that submit nothing are also reported alone.

use std::{
    cell::{Cell, RefCell},
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use fuse_gpu::{Device, Error, Tensor1, Tensor2, fuse};

use crate::{
    by_hand::ByHand,
    cases, lazy,
    measure::{Effort, Times, measure},
    report::{Cost, Report, Spent},
};

fuse! {
    pub fn step(x: f32[N], b: f32[N]) -> f32[N] {
        relu(x + b)
    }
}

const ELEMENTS: usize = 1024;

const CALLS: u32 = 1024;

const LENGTH: u32 = 64;

/// Hidden option: this binary starts itself to measure its first result.
pub(crate) const FIRST_RESULT: &str = "--first-result";

const ROUNDS: usize = 5;

pub(crate) fn run(
    device: &Device,
    effort: Effort,
    wanted: impl Fn(&str) -> bool,
    report: &mut Report,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut add = |(case, spent): Measured, by_hand: Option<Spent>| report.add_cost(Cost { case, spent, by_hand });
    if wanted("launches") {
        let mut hand = ByHand::new(&device.info().name, ELEMENTS as u32)?;
        let one = by_hand(effort, &mut hand);
        add(("launch, by hand", one), None)?;
        for measured in launches(device, effort)? {
            add(measured, Some(one))?;
        }
        for measured in replays(device, effort)? {
            add(measured, Some(one))?;
        }
        let chain = hand_chain(effort, hand)?;
        add(("launch chain, by hand, GPU included", chain), None)?;
        for measured in chains(device, effort)? {
            add(measured, Some(chain))?;
        }
    }
    if wanted("lazy") {
        for measured in lazy::run(device, effort)? {
            add(measured, None)?;
        }
    }
    if wanted("first result") {
        for measured in first_results(effort)? {
            add(measured, None)?;
        }
    }
    if wanted("warm-up") {
        add(("warm-up, per pipeline", warm_up(effort)?.into()), None)?;
    }
    Ok(())
}

pub(crate) type Measured = (&'static str, Spent);

pub(crate) fn cost<E>(
    effort: Effort,
    calls: u32,
    mut launch: impl FnMut() -> Result<(), E>,
    mut submit: impl FnMut() -> Result<(), E>,
    mut wait: impl FnMut() -> Result<(), E>,
) -> Result<Spent, E> {
    let mut single = Vec::with_capacity(calls as usize * effort.batches * ROUNDS);
    let mut round = |single: &mut Vec<Duration>| {
        single.clear();
        let start = Instant::now();
        let mut last = start;
        for _ in 0..calls {
            launch()?;
            let now = Instant::now();
            single.push(now - last);
            last = now;
        }
        submit()?;
        let time = start.elapsed() / calls;
        wait()?;
        Ok((time, quartile(single)))
    };
    let start = Instant::now();
    while start.elapsed() < effort.warm_up {
        round(&mut single)?;
    }
    let rounds = (0..effort.batches * ROUNDS).map(|_| round(&mut single)).collect::<Result<Vec<_>, _>>()?;
    let (times, recording): (Vec<_>, Vec<_>) = rounds.into_iter().unzip();
    Ok(Spent { times: Times::of(times, calls), recording: Some(Times::of(recording, calls).median) })
}

/// Lower quartile: only some calls submit.
fn quartile(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 4]
}

fn by_hand(effort: Effort, hand: &mut ByHand) -> Spent {
    let hand = RefCell::new(hand);
    let never = |spent: Result<Spent, std::convert::Infallible>| match spent {
        Ok(spent) => spent,
        Err(never) => match never {},
    };
    never(cost(
        effort,
        CALLS,
        || {
            hand.borrow_mut().dispatch(false);
            Ok(())
        },
        || {
            hand.borrow_mut().submit();
            Ok(())
        },
        || {
            hand.borrow_mut().wait();
            Ok(())
        },
    ))
}

fn operands(device: &Device) -> Result<(Tensor1<f32>, Tensor1<f32>), Error> {
    Ok((Tensor1::zeros(device, [ELEMENTS])?, Tensor1::full(device, 1.0, [ELEMENTS])?))
}

fn wrong(found: f32, expected: f32) -> Error {
    Error::Internal { message: format!("a chain of launches gives {found}, expected {expected}") }
}

fn launches(device: &Device, effort: Effort) -> Result<Vec<Measured>, Error> {
    let (x, b) = operands(device)?;
    let mut y = Tensor1::zeros(device, [ELEMENTS])?;
    let number = 1f32;
    let timed = |launch: &mut dyn FnMut() -> Result<(), Error>| {
        cost(effort, CALLS, launch, || device.submit(), || device.synchronize_blocking())
    };
    Ok(vec![
        ("launch into an output", timed(&mut || step::launch_into(&x, &b, &mut y))?),
        ("launch", timed(&mut || step(&x, &b).map(drop))?),
        ("launch, written in place", timed(&mut || fuse!(relu(x + b)).map(drop))?),
        ("launch, written in place, with a number", timed(&mut || fuse!(relu(x + number)).map(drop))?),
    ])
}

fn replays(device: &Device, effort: Effort) -> Result<Vec<Measured>, Error> {
    let (x, b) = operands(device)?;
    let timed = |calls: u32, launch: &mut dyn FnMut() -> Result<(), Error>| {
        cost(effort, calls, launch, || device.submit(), || device.synchronize_blocking())
    };
    let (mut one, y) = device.capture(|| step(&x, &b))?;
    let (long, z) = device.capture(|| (1..LENGTH).try_fold(step(&x, &b)?, |x, _| step(&x, &b)))?;
    let alone = timed(CALLS, &mut || one.replay())?;
    let many = timed(CALLS / LENGTH, &mut || long.replay())?.per(LENGTH);
    for (result, expected) in [(y, 1.0), (z, LENGTH as f32)] {
        let found = result.to_vec_blocking()?[0];
        if found != expected {
            return Err(wrong(found, expected));
        }
    }
    let other = Tensor1::zeros(device, [ELEMENTS])?;
    let mut turn = false;
    let rebound = timed(CALLS, &mut || {
        let (old, new) = if turn { (&other, &x) } else { (&x, &other) };
        turn = !turn;
        one.rebind(old, new)?;
        one.replay()
    })?;
    Ok(vec![
        ("replay of 1 dispatch", alone),
        ("replay of 64 dispatches, each", many),
        ("rebinding and replay of 1 dispatch", rebound),
    ])
}

fn hand_chain(effort: Effort, hand: ByHand) -> Result<Spent, Error> {
    let hand = RefCell::new(hand);
    let start = hand.borrow_mut().first();
    let back = Cell::new(false);
    let count = Cell::new(0u32);
    let times = measure(
        effort,
        || {
            hand.borrow_mut().dispatch(back.replace(!back.get()));
            count.set(count.get() + 1);
            Ok(())
        },
        || {
            hand.borrow_mut().wait();
            Ok(())
        },
    )?;
    if back.get() {
        hand.borrow_mut().dispatch(true);
        count.set(count.get() + 1);
    }
    let (found, expected) = (hand.borrow_mut().first(), start + count.get() as f32);
    if found == expected { Ok(times.into()) } else { Err(wrong(found, expected)) }
}

fn chains(device: &Device, effort: Effort) -> Result<Vec<Measured>, Error> {
    let (x, b) = operands(device)?;
    let count = Cell::new(0u32);
    let state = RefCell::new(x);
    let launch = || {
        let next = step(&state.borrow(), &b)?;
        state.replace(next);
        count.set(count.get() + 1);
        Ok(())
    };
    let ordinary = measure(effort, launch, || device.synchronize_blocking())?;
    let (found, expected) = (state.borrow().to_vec_blocking()?[0], count.get() as f32);
    if found != expected {
        return Err(wrong(found, expected));
    }
    // From the first of two buffers through temporaries into the second, and back.
    let (mut x, mut y) = (state.into_inner(), Tensor1::zeros(device, [ELEMENTS])?);
    let pass = |from: &Tensor1<f32>, to: &mut Tensor1<f32>| {
        let last = (2..LENGTH).try_fold(step(from, &b)?, |x, _| step(&x, &b))?;
        step::launch_into(&last, &b, to)
    };
    let (sequence, ()) = device.capture(|| {
        pass(&x, &mut y)?;
        pass(&y, &mut x)
    })?;
    let replays = Cell::new(0u32);
    let replay = || {
        replays.set(replays.get() + 1);
        sequence.replay()
    };
    let mut replayed = measure(effort, replay, || device.synchronize_blocking())?;
    replayed.per(2 * LENGTH);
    let (found, expected) = (x.to_vec_blocking()?[0], expected + (replays.get() * 2 * LENGTH) as f32);
    if found != expected {
        return Err(wrong(found, expected));
    }
    Ok(vec![
        ("launch chain, each, GPU included", ordinary.into()),
        ("replayed chain, each, GPU included", replayed.into()),
    ])
}

/// Creates all pipelines of a product with an epilogue in parallel, without a persistent cache.
fn warm_up(effort: Effort) -> Result<Times, Error> {
    let mut times = vec![];
    let mut pipelines = 1;
    for _ in 0..effort.batches {
        let device = Device::builder().without_pipeline_cache().build_blocking()?;
        let start = Instant::now();
        device.warm_up(&[cases::linear::KERNELS])?;
        times.push(start.elapsed());
        pipelines = device.pipelines() as u32;
    }
    let mut times = Times::of(times, 1);
    times.per(pipelines);
    Ok(times)
}

/// Time from process start to first result, in parts. The first process does not count: driver caches may be cold.
fn first_results(effort: Effort) -> Result<Vec<Measured>, Box<dyn std::error::Error>> {
    let mut samples: [Vec<Duration>; 4] = Default::default();
    for run in 0..=effort.batches {
        let start = Instant::now();
        let mut child = Command::new(std::env::current_exe()?).arg(FIRST_RESULT).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let total = start.elapsed();
        let status = child.wait()?;
        let parts: Vec<u64> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let [device, launch, readback] = parts[..] else {
            return Err(format!("the process of the first result printed `{}` ({status})", line.trim()).into());
        };
        if run > 0 {
            let times = [total, micros(device), micros(launch), micros(readback)];
            samples.iter_mut().zip(times).for_each(|(samples, time)| samples.push(time));
        }
    }
    let names = ["first result of a process", "… opening the device", "… first launch", "… first readback"];
    Ok(names.into_iter().zip(samples.map(|samples| Times::of(samples, 1).into())).collect())
}

fn micros(count: u64) -> Duration {
    Duration::from_micros(count)
}

pub(crate) fn first_result() -> Result<(), Error> {
    const N: usize = 256;
    let start = Instant::now();
    let device = Device::blocking()?;
    let opened = start.elapsed();
    let matrix = |value: f32| Tensor2::full(&device, value, [N, N]);
    let y = cases::linear(&matrix(1.0)?, &matrix(0.5)?, &Tensor1::full(&device, 1.0, [N])?, &matrix(2.0)?)?;
    device.submit()?;
    let launched = start.elapsed();
    let values = y.to_vec_blocking()?;
    let read = start.elapsed();
    let expected = N as f32 * 0.5 + 3.0;
    if values.iter().any(|value| *value != expected) {
        return Err(wrong(values[0], expected));
    }
    println!("{} {} {}", opened.as_micros(), (launched - opened).as_micros(), (read - launched).as_micros());
    Ok(())
}
