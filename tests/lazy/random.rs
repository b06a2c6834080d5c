//! Random programs: lazy tensors, fused and unfused, against the interpreter on independently written source. Both must
//! refuse the same calls.
//!
//! The commit's code determines the seed (`seed`); `FUSE_SEED` and `PROPTEST_CASES` override it and the number of
//! programs.

mod call;
mod draw;
mod program;
mod seed;

use std::collections::BTreeMap;

use fuse_gpu::{
    Device,
    auto::{FusionConfig, LazyTensor, stats, with_config},
};
use fuse_test_support::{Numbers, compare::Outcome, data};

use self::{
    call::Type,
    draw::{Draw, Style, names},
    program::{Order, Program, judge, upload},
    seed::{cases, say, seed},
};
use super::device;

/// Programs use all operations with any numbers.
const LOOSE_SHARE: f64 = 0.4;

fn check_both(device: &Device, program: &Program, order: Order) -> Result<Outcome, String> {
    let mut outcome = program.check(device, order).map_err(|error| format!("fused, {error}"))?;
    let off = FusionConfig { enabled: false, ..FusionConfig::default() };
    let unfused = with_config(device, off, || program.check(device, order));
    outcome.add(unfused.map_err(|error| format!("unfused, {error}"))?);
    Ok(outcome)
}

fn fail(device: &Device, seed: u64, program: &Program, order: Order, error: &str) -> ! {
    let smallest = program.shrunk(|part| check_both(device, part, order).is_err());
    let again = check_both(device, &smallest, order).err().unwrap_or_default();
    panic!("seed {seed}: {error}\nof\n{}\nsmallest: {again}\nof\n{}", program.text(), smallest.text());
}

fn judge_outcome(form: &str, programs: u64, outcome: Outcome) {
    let Outcome { elements, loose } = outcome;
    say(form, &format!("{programs} programs, {elements} elements compared, {loose} of them with wide ranges"));
    assert!(elements as u64 > programs * 4, "{elements} elements of {programs} programs were compared");
    assert!(loose as f64 <= LOOSE_SHARE * elements as f64, "{loose} of {elements} ranges say little");
}

#[test]
fn single_operations() {
    let (device, first) = (device(), seed("operations"));
    let names = names();
    let (mut outcome, mut count) = (Outcome::default(), 0);
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for case in 0..cases(300) {
        let seed = first.wrapping_add(case);
        let name = names[case as usize % names.len()];
        for attempt in 0..20 {
            let mut draw = Draw::new(seed.wrapping_mul(31).wrapping_add(attempt), Style::default());
            let mut program = Program::new(seed);
            let call = draw.call(name);
            match program.extend(&device, &mut draw, &mut vec![], call) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(error) => panic!("seed {seed}: {error}"),
            }
            program.choose_outputs(&mut draw);
            match check_both(&device, &program, Order::Together) {
                Ok(more) => outcome.add(more),
                Err(error) => fail(&device, seed, &program, Order::Together, &error),
            }
            *seen.entry(name).or_default() += 1;
            count += 1;
            break;
        }
    }
    if count >= names.len() as u64 {
        let missing: Vec<&&str> = names.iter().filter(|name| !seen.contains_key(**name)).collect();
        assert!(missing.is_empty(), "{missing:?} were never accepted");
    }
    judge_outcome("operations", count, outcome);
}

#[test]
fn programs() {
    let (device, first) = (device(), seed("programs"));
    let count = cases(100);
    let (mut outcome, mut calls_drawn) = (Outcome::default(), 0);
    for case in 0..count {
        let seed = first.wrapping_add(case);
        let style = Style { wild: 3, ..Style::default() };
        let calls = 2 + (seed % 9) as usize;
        let drawn = Program::draw(&device, seed, calls, style);
        let (program, verdicts) = drawn.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        calls_drawn += verdicts.accepted;
        let order = [Order::Together, Order::FirstFirst, Order::LastFirst][(seed % 3) as usize];
        if program.outputs.is_empty() {
            continue;
        }
        match check_both(&device, &program, order) {
            Ok(more) => outcome.add(more),
            Err(error) => fail(&device, seed, &program, order, &error),
        }
    }
    say("programs", &format!("{calls_drawn} calls"));
    assert!(calls_drawn as u64 >= 3 * count, "{calls_drawn} calls in {count} programs");
    judge_outcome("programs", count, outcome);
}

/// True if parameters of a source have a literal extent other than 1.
fn has_numbers(source: &str) -> bool {
    let params = source.split("->").next().unwrap_or_default();
    let extents = params.split('[').skip(1).filter_map(|rest| rest.split(']').next()).flat_map(|list| list.split(", "));
    extents.into_iter().any(|extent| extent.parse::<u64>().is_ok_and(|extent| extent != 1))
}

#[test]
fn other_extents_compile_nothing() {
    let (device, first) = (device(), seed("other extents"));
    let (mut outcome, mut count, mut same) = (Outcome::default(), 0, 0);
    for case in 0..cases(40) {
        let seed = first.wrapping_add(case);
        let style = Style { open: true, ..Style::default() };
        let drawn = Program::draw(&device, seed, 1 + (seed % 6) as usize, style);
        let (program, _) = drawn.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let other = program.with_extents(&device, |extent| if extent > 1 { 2 * extent } else { extent });
        let (Some(other), false) = (other, program.outputs.is_empty()) else { continue };
        count += 1;
        let source = |program: &Program| -> Vec<String> {
            let lazies = program.record(&device).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            lazies.iter().filter_map(|lazy| lazy.source().ok()).collect()
        };
        let sources = source(&program);
        match program.check(&device, Order::Together) {
            Ok(more) => outcome.add(more),
            Err(error) => fail(&device, seed, &program, Order::Together, &error),
        }
        let before = stats(&device);
        match other.check(&device, Order::Together) {
            Ok(more) => outcome.add(more),
            Err(error) => fail(&device, seed, &other, Order::Together, &error),
        }
        if sources.iter().any(|source| has_numbers(source)) {
            continue;
        }
        same += 1;
        assert_eq!(source(&other), sources, "seed {seed}\n{}", program.text());
        let after = stats(&device);
        assert_eq!(after.misses, before.misses, "seed {seed}\n{}\n{}", program.text(), sources.join("\n"));
    }
    say("other extents", &format!("{same} of {count} programs have no numbers in their types"));
    assert!(2 * same > count, "{same} of {count}");
    judge_outcome("other extents", count, outcome);
}

#[test]
fn gradients() {
    let (device, first) = (device(), seed("gradients"));
    let (mut outcome, mut count, mut seed) = (Outcome::default(), 0, first);
    let wanted = cases(24);
    for _ in 0..20 * wanted {
        seed = seed.wrapping_add(1);
        let style = Style { floats: true, ..Style::default() };
        let drawn = Program::draw(&device, seed, 3 + (seed % 4) as usize, style);
        let (mut program, _) = drawn.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        program.outputs.truncate(2);
        program.differentiate(seed);
        if program.gradient.is_none() {
            continue;
        }
        let accepted = fuse_test_support::graphs(&program.text());
        let recorded = program.record(&device);
        match (&accepted, &recorded) {
            (Ok(_), Ok(_)) | (Err(_), Err(_)) => {}
            (Ok(_), Err(error)) => panic!("seed {seed}: refused, and not by the language: {error}\n{}", program.text()),
            (Err(error), Ok(_)) => {
                panic!("seed {seed}: accepted, and not by the language: {error}\n{}", program.text())
            }
        }
        program.fit_gradient();
        if program.gradient.is_none() {
            continue;
        }
        for order in [Order::Together, Order::FirstFirst, Order::LastFirst] {
            match program.check(&device, order) {
                Ok(more) => outcome.add(more),
                Err(error) => panic!("seed {seed}, {order:?}: {error}\nof\n{}", program.text()),
            }
        }
        count += 1;
        if count == wanted {
            break;
        }
    }
    assert_eq!(count, wanted);
    judge_outcome("gradients", count, outcome);
}

#[test]
fn mistakes() {
    let (device, first) = (device(), seed("mistakes"));
    let names = names();
    let (mut accepted, mut refused) = (0, 0);
    let mut differences = vec![];
    for case in 0..cases(4000) {
        let seed = first.wrapping_add(case);
        let mut draw = Draw::new(seed, Style { wild: 40, ..Style::default() });
        for _ in 0..4 {
            draw.any_param(&fuse_test_support::operations::ALL, 0..=4);
        }
        let call = draw.call(names[case as usize % names.len()]);
        let types: Vec<Type> = draw.types.clone();
        let values: Vec<LazyTensor> = types
            .iter()
            .map(|ty| upload(&device, &data::ordinary(ty.dtype, &ty.shape, &mut Numbers::new(seed))))
            .collect();
        match judge(&call, &types, &values) {
            Ok(Some(_)) => accepted += 1,
            Ok(None) => refused += 1,
            Err(error) => differences.push(format!("seed {seed}: {error}")),
        }
    }
    say("mistakes", &format!("{accepted} calls accepted, {refused} refused"));
    let shown = differences.iter().take(12).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(differences.is_empty(), "{} of {} differ\n{shown}", differences.len(), accepted + refused);
    assert!(4 * accepted > refused && 4 * refused > accepted, "{accepted} and {refused}");
}
