//! The parts of `benches/kernels` in which a mistake would show only as a wrong number. That benchmark has a `main` of its
//! own, so its modules are tested from here.

use std::time::Duration;

use fuse_gpu::{Device, Explanation, artifact::Function, fuse};

#[path = "../benches/kernels/floor.rs"]
mod floor;
#[path = "../benches/kernels/interleave.rs"]
mod interleave;
#[path = "../benches/kernels/measure.rs"]
#[allow(dead_code, reason = "kernels are measured by the benchmark")]
mod measure;
#[path = "../benches/kernels/plot.rs"]
mod plot;

use floor::{Bound, Moved, Rates};
use interleave::{Ratio, interleave};
use measure::{Effort, calibrate};
use plot::{Bar, Series};

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
    // A product may take a second dispatch where its depth is shared.
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

fn series(label: &str, points: &[(f64, f64)]) -> Series {
    Series { label: label.to_owned(), points: points.to_owned() }
}

#[test]
fn plots_need_no_data() {
    let cases: [&[Series]; 4] = [
        &[],
        &[series("none", &[])],
        &[series("one", &[(10.0, 2.0)])],
        &[series("bad", &[(f64::NEG_INFINITY, 1.0), (4.0, f64::NAN), (4.0, f64::INFINITY)])],
    ];
    for series in cases {
        let svg = plot::sweep("title", "sizes", series).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{series:?}: {svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{series:?}: {svg}");
    }
    let bar = |value| Bar { label: "a < b".to_owned(), value, reference: 2.0 };
    for bars in [vec![], vec![bar(0.0)], vec![bar(f64::NAN)], vec![bar(3.0); 40]] {
        let svg = plot::bars("title", &bars).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{bars:?}: {svg}");
        assert!(!svg.contains("a < b"), "text must be escaped: {svg}");
    }
}

#[test]
fn a_plot_shows_every_series_and_bar() {
    let svg = plot::sweep("title", "sizes", &[series("up", &[(4.0, 1.0), (5.0, 2.0)]), series("down", &[(4.0, 3.0)])]);
    let svg = svg.unwrap();
    for text in ["up", "down", "2^4", "2^5", "sizes", "title"] {
        assert!(svg.contains(text), "no `{text}` in {svg}");
    }
    let bars = [Bar { label: "relu(a + b)".to_owned(), value: 2.5, reference: 2.13 }];
    let svg = plot::bars("title", &bars).unwrap();
    assert!(svg.contains("relu(a + b)") && svg.contains("2.50"), "{svg}");
}
