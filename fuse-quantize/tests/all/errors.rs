//! Every mistake returns an error that names what was expected and found.

use fuse_quantize::{
    Calibration, Packing, QuantScheme, QuantizeError, Quantized, Rounding, ScaleDType, Targets, quantize,
    quantize_calibrated,
};

fn message<T>(result: Result<T, QuantizeError>) -> String {
    result.err().map_or("no error".to_owned(), |error| error.to_string())
}

#[test]
fn values_and_shapes() {
    let scheme = QuantScheme::symmetric();
    let run =
        |values: &[f32], shape: &[usize], scheme: &QuantScheme| message(quantize(Packing::Q4, values, shape, scheme));
    assert_eq!(run(&[0.0; 5], &[32, 2], &scheme), "values: expected 64 elements, found 5");
    assert_eq!(run(&[0.0; 64], &[32, 2], &scheme.axis(2)), "axis: expected one of 2 axes, found 2");
    assert_eq!(run(&[0.0], &[], &scheme), "axis: expected one of 0 axes, found 0");
    let most = usize::MAX;
    let error = format!("values: expected a size that memory holds, found shape [{most}, {most}]");
    assert_eq!(run(&[], &[most, most], &scheme.per_channel()), error);
    let mut values = [0.0; 96];
    values[32 + 17] = f32::INFINITY;
    assert_eq!(run(&values, &[3, 32], &scheme.axis(1)), "values[1, 17]: expected a finite number, found inf");
    assert_eq!(run(&values, &[32, 3], &scheme), "values[16, 1]: expected a finite number, found inf");
}

#[test]
fn empty_tensors_may_have_any_other_extents() {
    let quantized = quantize(Packing::Q8, &[], &[1 << 62, 0], &QuantScheme::symmetric()).unwrap();
    assert!(quantized.words.is_empty() && quantized.scales.is_empty());
    let scheme = QuantScheme::symmetric().per_channel();
    for packing in Packing::ALL {
        for shape in [[1 << 62, 0, 1], [usize::MAX, 0, usize::MAX], [usize::MAX, usize::MAX, 0], [0, 5, usize::MAX]] {
            for scheme in [scheme.axis(0), scheme.axis(1), scheme.axis(2).per_tensor()] {
                let quantized = match quantize(packing, &[], &shape, &scheme) {
                    Ok(quantized) => quantized,
                    // Scales of an empty packed axis may still exceed memory.
                    Err(error) => {
                        assert!(
                            matches!(error, QuantizeError::TooLarge { argument: "values" | "scales", .. }),
                            "{error}"
                        );
                        continue;
                    }
                };
                let Quantized { axis, groups, scale_dtype, words, scales, .. } = quantized;
                assert!(words.is_empty() && (scales.is_empty() || shape[axis] == 0));
                Quantized::from_parts(packing, &shape, axis, groups, scale_dtype, words, scales).unwrap();
            }
        }
    }
}

#[test]
fn groups() {
    let run = |group, extent| {
        let scheme = QuantScheme::symmetric().per_group(group).axis(1);
        message(quantize(Packing::Q4, &vec![0.0; extent], &[1, extent], &scheme))
    };
    assert_eq!(run(0, 64), "group: expected a divisor of 64, the extent of axis 1, found 0");
    assert_eq!(run(100, 384), "group: expected a divisor of 384, the extent of axis 1, found 100");
    assert_eq!(run(64, 32), "group: expected a divisor of 32, the extent of axis 1, found 64");
    assert_eq!(run(48, 96), "group: expected a multiple of 32 or all 96 values of axis 1, found 48");
    assert_eq!(run(50, 50), "no error");
}

#[test]
fn scales_beyond_their_storage() {
    let mut values = [1.0; 128];
    values[100] = 1e7;
    let run = |scheme: QuantScheme| message(quantize(Packing::Q4, &values, &[2, 64], &scheme.axis(1)));
    let error = "scale of group [1, 1]: expected at most 65504 in magnitude, which f16 scales hold, found inf";
    assert_eq!(run(QuantScheme::symmetric()), error);
    assert_eq!(run(QuantScheme::symmetric().scales(ScaleDType::F32)), "no error");
    assert_eq!(run(QuantScheme::asymmetric()), error);

    values[100] = 1e5;
    let error = "offset of group [1, 1]: expected at most 65504 in magnitude, which f16 scales hold, found -inf";
    assert_eq!(message(quantize(Packing::Q4, &values, &[2, 64], &QuantScheme::symmetric().axis(1))), error);
    let wide = QuantScheme::symmetric().scales(ScaleDType::F32);
    let error = message(quantize(Packing::Q8, &[f32::MAX; 32], &[32], &wide));
    assert!(error.contains("which f32 scales hold"), "{error}");
    let calibrated =
        quantize_calibrated(Packing::Q4, &values, &[2, 64], &QuantScheme::symmetric().axis(1), &Calibration::new(64));
    assert!(message(calibrated).starts_with("offset of group [1, 1]: "));

    // With 1 bit the scale is twice the offset.
    for rounding in [Rounding::Nearest, Rounding::LeastSquares] {
        let scheme = QuantScheme::symmetric().per_tensor().rounding(rounding);
        for value in [4e4, -4e4] {
            let error = message(quantize(Packing::Q1, &[value], &[1], &scheme));
            assert_eq!(
                error,
                "scale of group [0]: expected at most 65504 in magnitude, which f16 scales hold, found inf"
            );
        }
    }
}

#[test]
fn parts() {
    let run = |groups, words: usize, scales: Vec<u32>, axis| {
        message(Quantized::from_parts(Packing::Q4, &[96, 2], axis, groups, ScaleDType::F16, vec![0; words], scales))
    };
    assert_eq!(run(3, 24, vec![0; 6], 0), "no error");
    assert_eq!(run(3, 23, vec![0; 6], 0), "words: expected 24 elements, found 23");
    assert_eq!(run(3, 24, vec![0; 12], 0), "scales: expected 6 elements, found 12");
    assert_eq!(run(3, 24, vec![0; 6], 2), "axis: expected one of 2 axes, found 2");
    assert_eq!(run(5, 24, vec![0; 10], 0), "groups: expected a divisor of 96, the extent of axis 0, found 5");
    assert_eq!(run(0, 24, vec![], 0), "groups: expected a divisor of 96, the extent of axis 0, found 0");
    assert_eq!(run(2, 24, vec![0; 4], 0), "group: expected a multiple of 32 or all 96 values of axis 0, found 48");
    let infinite = vec![0, 0, 0, 0x7c00, 0, 0];
    assert_eq!(run(3, 24, infinite, 0), "scales[1, 1]: expected a finite number, found inf");
    let not_a_number = vec![0, 0, 0, 0, 0x7e00_0000, 0];
    assert_eq!(run(3, 24, not_a_number, 0), "offsets[2, 0]: expected a finite number, found NaN");
}

#[test]
fn bits_of_padding_mean_nothing() {
    let parts =
        |word| Quantized::from_parts(Packing::Q3, &[5], 0, 1, ScaleDType::F16, vec![word; 3], vec![0x3c00]).unwrap();
    assert_eq!(parts(u32::MAX).words, [0x7fff, 0, 0]);
    assert_eq!(parts(u32::MAX).dequantize(), [7.0; 5]);
    let full = Quantized::from_parts(Packing::Q4, &[8], 0, 1, ScaleDType::F16, vec![u32::MAX], vec![0]).unwrap();
    assert_eq!(full.words, [u32::MAX]);
}

#[test]
fn codes() {
    let run = |codes: &[u8], scales: &[f32], offsets: &[f32], dtype| {
        message(Quantized::from_codes(Packing::Q2, &[2, 2], 0, 1, dtype, codes, (scales, offsets)))
    };
    let (narrow, wide) = (ScaleDType::F16, ScaleDType::F32);
    assert_eq!(run(&[0, 1, 2, 3], &[1.0, -0.5], &[0.0, 2.0], narrow), "no error");
    assert_eq!(run(&[0, 1, 2], &[1.0, -0.5], &[0.0, 2.0], narrow), "codes: expected 4 elements, found 3");
    assert_eq!(run(&[0, 1, 2, 4], &[1.0, -0.5], &[0.0, 2.0], narrow), "codes[1, 1]: expected 0 to 3, found 4");
    assert_eq!(run(&[0; 4], &[1.0], &[0.0, 2.0], narrow), "scales: expected 2 elements, found 1");
    assert_eq!(run(&[0; 4], &[1.0; 2], &[0.0], narrow), "offsets: expected 2 elements, found 1");
    let error = "scale of group [0, 1]: expected a number that f16 holds exactly, found 0.1";
    assert_eq!(run(&[0; 4], &[1.0, 0.1], &[0.0; 2], narrow), error);
    assert_eq!(run(&[0; 4], &[1.0, 0.1], &[0.0; 2], wide), "no error");
    let error = "offsets[0, 0]: expected a finite number, found NaN";
    assert_eq!(run(&[0; 4], &[1.0; 2], &[f32::NAN, 0.0], wide), error);
}

#[test]
fn calibrations() {
    let scheme = QuantScheme::symmetric();
    let run = |shape: &[usize], scheme: &QuantScheme, inputs| {
        let count = shape.iter().product();
        message(quantize_calibrated(Packing::Q4, &vec![0.0; count], shape, scheme, &Calibration::new(inputs)))
    };
    let error = "shape: expected a matrix `[outputs, inputs]` or `[inputs, outputs]`, found [2, 2, 64]";
    assert_eq!(run(&[2, 2, 64], &scheme, 64), error);
    let error = "calibration: expected 64 inputs, as the weights have, found 32";
    assert_eq!(run(&[2, 64], &scheme.axis(1), 32), error);
    assert_eq!(run(&[64, 2], &scheme, 64), "no error");
    assert_eq!(run(&[64, 2], &scheme.axis(2), 64), "axis: expected one of 2 axes, found 2");
    assert_eq!(run(&[0, 2], &scheme, 0), "no error");
    let mut calibration = Calibration::new(32);
    calibration.add(&[f32::MAX; 64]).unwrap();
    let error = message(quantize_calibrated(Packing::Q4, &[0.0; 32], &[32, 1], &scheme, &calibration));
    assert!(error.starts_with("calibration: expected activations whose products have finite sums"), "{error}");

    let mut targets = Targets::new(2, 3);
    assert_eq!(message(targets.add(&[0.0; 6], &[0.0; 3])), "wanted outputs: expected rows of 2, found 3 elements");
    assert_eq!(message(targets.add(&[0.0; 6], &[0.0; 2])), "wanted outputs: expected 4 elements, found 2");
    let error = message(targets.weights(&Calibration::new(4), &[0.0; 6]));
    assert_eq!(error, "calibration: expected 3 inputs, as the weights have, found 4");
    let error = message(targets.weights(&Calibration::new(3), &[0.0; 5]));
    assert_eq!(error, "weights: expected 6 elements, found 5");
}
