//! Tests parts of `benches/kernels` where a mistake would show only as a wrong number. That benchmark has its own
//! `main`.

use std::time::Duration;

use fuse_bench_results::document;
use fuse_gpu::{Device, Explanation, artifact::Function, fuse};
use fuse_test_support::checkout;

#[path = "../../benches/kernels/by_hand_texts.rs"]
mod by_hand_texts;
#[path = "../../benches/kernels/interleave.rs"]
mod interleave;
#[path = "../../benches/kernels/lower_bound.rs"]
mod lower_bound;
#[path = "../../benches/kernels/measure.rs"]
#[allow(dead_code, reason = "kernels are measured by the benchmark")]
mod measure;

use interleave::{Ratio, interleave};
use lower_bound::{Bound, Moved, Rates};
use measure::{Effort, calibrate};

fuse! {
    fn linear(x: f32[M, K], w: f32[K, N], b: f32[N]) -> f32[M, N] {
        relu(matmul(x, w) + b)
    }

    #[no_fuse]
    fn linear_unfused(x: f32[M, K], w: f32[K, N], b: f32[N]) -> f32[M, N] {
        relu(matmul(x, w) + b)
    }
}

fn micros(count: u64) -> Duration {
    Duration::from_micros(count)
}

#[test]
fn batches_take_turns() {
    let mut order = vec![];
    let measured = interleave(3, [5, 7], |which, launches| {
        order.push((which, launches));
        // The second takes twice as long, and the last pair is slowed down as a whole.
        Ok::<_, ()>(micros(if order.len() > 4 { 100 } else { 10 }) * (which as u32 + 1))
    })
    .unwrap();
    assert_eq!(order, [(0, 5), (1, 7), (0, 5), (1, 7), (0, 5), (1, 7)]);
    let [first, second] = measured.times;
    assert_eq!((first.median, first.launches), (micros(10), 5));
    assert_eq!((second.median, second.max, second.launches), (micros(20), micros(200), 7));
    assert_eq!(measured.ratio, Ratio { median: 2.0, low: 2.0, high: 2.0 });
}

#[test]
fn a_failed_batch_ends_the_measurement() {
    let mut left = 3;
    let failed = interleave(9, [1, 1], |_, _| {
        left -= 1;
        if left == 0 { Err("lost") } else { Ok(micros(1)) }
    });
    assert_eq!(failed.unwrap_err(), "lost");
}

#[test]
fn ratios_are_those_of_medians_with_the_range_of_pairs() {
    let first = [8, 32, 8, 20, 16].map(micros);
    let second = [24, 16, 32, 40, 16].map(micros);
    assert_eq!(Ratio::of(&first, &second), Ratio { median: 1.5, low: 0.5, high: 4.0 });
    let stopped = Ratio::of(&[Duration::ZERO], &[micros(1)]);
    assert!(stopped.median.is_finite() && stopped.high.is_finite());
}

#[test]
fn a_batch_takes_about_the_intended_time() {
    let effort = Effort { batches: 1, warm_up: Duration::ZERO, batch_time: micros(1000) };
    let launches = |time: Duration| calibrate(effort, |_| Ok::<_, ()>(time)).unwrap();
    assert_eq!(launches(micros(10)), 100);
    assert_eq!(launches(micros(5000)), 1);
    assert_eq!(launches(Duration::ZERO), 5000);
}

#[test]
fn variants_that_repeat_are_said_once() {
    use measure::joined;
    assert_eq!(joined(&["a", "b", "a", "b", "a", "b"]), "3 × (a + b)");
    assert_eq!(joined(&["a", "b", "a"]), "a + b + a");
    assert_eq!((joined(&["a"]), joined(&[])), ("a".to_owned(), String::new()));
}

#[test]
fn plans_move_what_their_kernels_read_and_write() {
    let device = Device::blocking().unwrap();
    let (m, k, n) = (16, 32, 64);
    let shapes: [&[usize]; 3] = [&[m, k], &[k, n], &[n]];
    let moved = |function: &Function| {
        let explanation: Explanation = device.explain(function, &shapes).unwrap();
        Moved::by(function, &shapes, &explanation).unwrap()
    };
    let (x, w, b, y) = (m * k, k * n, n, m * n);
    let (fused, unfused) = (moved(&linear::FUNCTION), moved(&linear_unfused::FUNCTION));
    assert_eq!(fused.bytes, 4 * (x + w + b + y) as u64);
    assert_eq!(unfused.bytes, 4 * ((x + w + y) + (y + b + y) + (y + y)) as u64);
    // A product may take a second dispatch if it splits the depth.
    assert_eq!(unfused.dispatches, fused.dispatches + 2);
}

#[test]
fn floors_are_bytes_over_bandwidth_and_dispatches() {
    let rates = Rates { bandwidth: 2e9, dispatch: micros(3) };
    let floor = rates.floor(Moved { bytes: 20_000, dispatches: 2 });
    assert_eq!((floor.bytes, floor.launches), (micros(10), micros(6)));
    assert_eq!(floor.bound(micros(12), true), Bound::Bytes);
    assert_eq!(floor.bound(micros(20), true), Bound::Bytes);
    assert_eq!(floor.bound(micros(21), true), Bound::Arithmetic);
    assert_eq!(floor.bound(micros(21), false), Bound::Neither);
    let launches = rates.floor(Moved { bytes: 2, dispatches: 4 });
    assert_eq!(launches.bound(micros(13), false), Bound::Launches);
    assert_eq!(Moved { bytes: 4, dispatches: 1 }.gain(Moved { bytes: 6, dispatches: 2 }), 2.0);
    assert_eq!(Moved { bytes: 4, dispatches: 1 }.gain(Moved { bytes: 10, dispatches: 2 }), 2.5);
    assert!(Moved { bytes: 0, dispatches: 0 }.gain(Moved { bytes: 1, dispatches: 1 }).is_finite());
    assert!(Rates { bandwidth: 0.0, dispatch: micros(0) }.floor(Moved { bytes: 8, dispatches: 1 }).bytes > micros(0));
}

/// Validates kernels that software adapters cannot run.
#[test]
fn texts_by_hand_are_valid() {
    use by_hand_texts::{COPY, HALVES, factors, floats, matrices};
    for text in [COPY.to_owned(), floats(8).wgsl, matrices(16, 4).wgsl, matrices(8, 4).wgsl] {
        let module = naga::front::wgsl::parse_str(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let mut validator =
            naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all());
        let info = validator.validate(&module).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let options = naga::back::spv::Options { lang_version: (1, 6), ..Default::default() };
        naga::back::spv::write_vec(&module, &info, &options, None).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    }
    // Two by four matrices in each of four subgroups, four steps per iteration.
    let kernel = matrices(16, 4);
    assert_eq!(kernel.flops, (4 * 8 * 4 * 4 * 2 * 16 * 16 * 16) as f64);
    assert_eq!((kernel.values, kernel.expected), (4 * 8 * 256, 1.0));
    assert_eq!(factors(16), 6 * 256);
    let (scale, offset) = (HALVES[0], HALVES[4]);
    assert_eq!((0..64).fold(11.75, |x: f32, _| x * scale + offset), 1.0, "what every value must come to");
    assert_eq!(floats(8).flops, (128 * 8 * 8 * 8 * 4 * 2) as f64);
}

/// Every dtype and kind of bar has a case, and other libraries' programs can parse every case.
#[test]
fn bars_name_cases_once() {
    let bars = fuse_bench_results::bars::Bars::load().unwrap();
    let cases = bars.cases();
    assert!(cases.iter().any(|key| key.dtype == "f16") && cases.iter().any(|key| key.dtype == "f32"));
    for (index, key) in cases.iter().enumerate() {
        assert!(!cases[..index].contains(key), "{key:?} twice");
        assert!(!key.size.is_empty() && !key.size.contains(' '), "{key:?}");
    }
}

#[test]
fn the_document_says_what_the_stored_results_say() {
    let differences = document::differences(&checkout()).unwrap();
    assert!(differences.is_empty(), "run `cargo xtask report`: {differences:?} differ from docs/results");
}
