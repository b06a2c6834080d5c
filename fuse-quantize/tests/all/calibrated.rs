//! Error feedback: calibrated layers have more accurate outputs than rounded ones.

use fuse_quantize::{
    Calibration, Granularity, Packing, QuantScheme, Quantized, Rounding, Targets, quantize, quantize_calibrated,
};

const INPUTS: usize = 96;
const OUTPUTS: usize = 12;
const ROWS: usize = 400;

fn random(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
    };
    (0..count).map(|_| next() + next() + next()).collect()
}

/// Activations that mix few sources, like those of models.
fn activations(seed: u64) -> Vec<f32> {
    const SOURCES: usize = 20;
    let mixture = random(SOURCES * INPUTS, 77);
    let sources = random(ROWS * SOURCES, seed);
    let noise = random(ROWS * INPUTS, seed + 1);
    let value = |row: usize, input: usize| -> f32 {
        (0..SOURCES).map(|s| sources[row * SOURCES + s] * mixture[s * INPUTS + input]).sum()
    };
    (0..ROWS * INPUTS).map(|i| value(i / INPUTS, i % INPUTS) + 0.1 * noise[i]).collect()
}

fn outputs(weights: &[f32], activations: &[f32]) -> Vec<f32> {
    let rows = activations.chunks(INPUTS);
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    rows.flat_map(|row| weights.chunks(INPUTS).map(move |weights| dot(weights, row))).collect()
}

fn distance(a: &[f32], b: &[f32]) -> f64 {
    let (mut error, mut size) = (0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        error += f64::from(a - b).powi(2);
        size += f64::from(*b).powi(2);
    }
    (error / size).sqrt()
}

fn calibration(activations: &[f32]) -> Calibration {
    let mut calibration = Calibration::new(INPUTS);
    calibration.add(activations).unwrap();
    calibration
}

#[test]
fn feedback_lowers_the_error_of_outputs_it_never_saw() {
    let weights = random(OUTPUTS * INPUTS, 5);
    let (seen, unseen) = (activations(1), activations(2));
    let (calibration, wanted) = (calibration(&seen), outputs(&weights, &unseen));
    let error = |quantized: Quantized| distance(&outputs(&quantized.dequantize(), &unseen), &wanted);
    for packing in Packing::ALL {
        for scheme in [QuantScheme::symmetric(), QuantScheme::asymmetric()] {
            for granularity in [Granularity::Tensor, Granularity::Channel, Granularity::Group(32)] {
                let scheme = QuantScheme { granularity, ..scheme.axis(1) };
                let shape = [OUTPUTS, INPUTS];
                let plain = error(quantize(packing, &weights, &shape, &scheme).unwrap());
                let fed = error(quantize_calibrated(packing, &weights, &shape, &scheme, &calibration).unwrap());
                let scheme = scheme.rounding(Rounding::LeastSquares);
                let refined = error(quantize_calibrated(packing, &weights, &shape, &scheme, &calibration).unwrap());
                let what = format!("{packing:?} {scheme:?}: plain {plain}, fed {fed}, refined {refined}");
                assert!(refined < 0.7 * plain, "{what}");
                // With one bit and no search, scales are those of the corrected weights, which grow.
                assert!(packing == Packing::Q1 || fed < 0.7 * plain, "{what}");
                assert!(refined < 1.05 * fed, "{what}");
            }
        }
    }
}

#[test]
fn without_activations_codes_are_the_nearest_ones() {
    let weights = random(OUTPUTS * INPUTS, 6);
    for packing in Packing::ALL {
        for scheme in [QuantScheme::symmetric(), QuantScheme::asymmetric().per_channel()] {
            let scheme = scheme.axis(1);
            let plain = quantize(packing, &weights, &[OUTPUTS, INPUTS], &scheme).unwrap();
            let empty = Calibration::new(INPUTS);
            let fed = quantize_calibrated(packing, &weights, &[OUTPUTS, INPUTS], &scheme, &empty).unwrap();
            assert_eq!(fed, plain, "{packing:?}");
        }
    }
}

#[test]
fn both_orders_of_a_matrix_give_the_same() {
    let weights = random(OUTPUTS * INPUTS, 7);
    let turned: Vec<f32> = (0..OUTPUTS * INPUTS).map(|i| weights[i % OUTPUTS * INPUTS + i / OUTPUTS]).collect();
    let calibration = calibration(&activations(3));
    let scheme = QuantScheme::asymmetric().rounding(Rounding::LeastSquares);
    let rows = quantize_calibrated(Packing::Q3, &weights, &[OUTPUTS, INPUTS], &scheme.axis(1), &calibration).unwrap();
    let columns = quantize_calibrated(Packing::Q3, &turned, &[INPUTS, OUTPUTS], &scheme, &calibration).unwrap();
    let (rows, columns) = (rows.dequantize(), columns.dequantize());
    assert!((0..rows.len()).all(|i| columns[i] == rows[i % OUTPUTS * INPUTS + i / OUTPUTS]));
}

#[test]
fn targets_undo_what_happened_to_the_activations() {
    let weights = random(OUTPUTS * INPUTS, 8);
    let original = activations(4);
    // Every second input arrives smaller, mixed with its neighbor.
    let seen: Vec<f32> = original
        .iter()
        .enumerate()
        .map(|(i, x)| if i % 2 == 0 { 0.7 * x + 0.2 * original[i + 1] } else { *x })
        .collect();
    let calibration = calibration(&seen);
    let wanted = outputs(&weights, &original);
    let mut targets = Targets::new(OUTPUTS, INPUTS);
    targets.add(&seen, &wanted).unwrap();
    let fitted = targets.weights(&calibration, &weights).unwrap();
    let (before, after) = (distance(&outputs(&weights, &seen), &wanted), distance(&outputs(&fitted, &seen), &wanted));
    assert!(after < 0.1 * before, "{after} of {before}");

    let untouched = Targets::new(OUTPUTS, INPUTS).weights(&calibration, &weights).unwrap();
    assert_eq!(untouched, weights);
}
