//! Quantizing on a device: words and scales of `fuse-quantize`, bit-identical, or its error.

use fuse_runtime::{
    Bits, Device, Error, Q1, Q2, Q3, Q4, Q8, QTensor, QuantScheme, Quantized, Tensor, Tensor1, Tensor2, f16,
    quantize::{Rounding, ScaleDType, quantize},
};

use crate::{artifacts, device, ramp};

fn bits(seed: u32, i: usize) -> u32 {
    let z = (u64::from(seed) << 32).wrapping_add(i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 32) as u32
}

/// Numbers of both signs with stored exponents of `first` to `last`.
fn between(first: u32, last: u32, seed: u32, i: usize) -> f32 {
    let exponent = first + bits(seed, 2 * i + 1) % (last - first + 1);
    f32::from_bits((bits(seed, 2 * i) & 0x807f_ffff) | exponent << 23)
}

/// About normally distributed, as weights are.
fn weight(seed: u32, i: usize) -> f32 {
    let uniform = |part: usize| bits(seed, 4 * i + part) as f32 / u32::MAX as f32 - 0.5;
    (0..4).map(uniform).sum::<f32>() * 0.1
}

type Values = fn(usize) -> f32;

const AWKWARD: &[(&str, Values)] = &[
    ("weights", |i| weight(1, i)),
    ("weights beside a mean", |i| weight(2, i) + 1.0),
    ("positive weights", |i| weight(3, i).abs() + 0.01),
    ("zeros", |_| 0.0),
    ("zeros of both signs", |i| [0.0, -0.0][bits(4, i) as usize % 2]),
    ("zeros of both signs, and less", |i| [0.0, -0.0, -1.0, -0.25][bits(5, i) as usize % 4]),
    ("zeros of both signs, and more", |i| [0.0, -0.0, 1.0, 0.25][bits(6, i) as usize % 4]),
    ("the same in a group", |i| weight(7, i / 32)),
    ("two values", |i| [0.1, -0.3][bits(8, i) as usize % 2]),
    ("ties of codes", |i| (bits(9, i) % 256) as f32 / 2.0 - 64.0),
    ("ties of few codes", |i| (bits(10, i) % 8) as f32 / 2.0 - 1.5),
    ("ties of halves", |i| 1.0 + (2 * (bits(11, i) % 64) + 1) as f32 / 2048.0),
    ("subnormal numbers", |i| between(0, 0, 12, i)),
    ("few of the smallest numbers", |i| f32::from_bits((bits(13, i) % 6) | (bits(14, i) & 0x8000_0000))),
    ("numbers about the smallest normal one", |i| between(0, 3, 15, i)),
    ("subnormal halves", |i| between(100, 113, 16, i)),
    ("numbers about the smallest half", |i| between(95, 104, 17, i)),
    ("numbers about the largest half", |i| between(139, 142, 18, i)),
    ("numbers beyond halves", |i| between(143, 150, 19, i)),
    ("large numbers", |i| between(240, 252, 20, i)),
    ("the largest numbers", |i| between(252, 254, 21, i)),
    ("one outlier", |i| if i % 32 == 7 { 3e4 } else { weight(22, i) }),
    ("numbers of all sizes", |i| between(0, 254, 23, i)),
    ("numbers of all sizes of halves", |i| between(100, 141, 24, i)),
];

const SCHEMES: [QuantScheme; 4] = [
    QuantScheme::symmetric(),
    QuantScheme::asymmetric(),
    QuantScheme::symmetric().scales(ScaleDType::F32),
    QuantScheme::asymmetric().scales(ScaleDType::F32),
];

fn host<Q: Bits, const D: usize>(values: &[f32], shape: [usize; D], scheme: &QuantScheme) -> Result<Quantized, Error> {
    let quantized = quantize(Q::PACKING, values, &shape, scheme);
    quantized.map_err(|reason| Error::Quantized {
        tensor: format!("{}{shape:?}", Q::PACKING.name()),
        message: reason.to_string(),
    })
}

/// Checks that device and host agree; true if they make a tensor.
fn agree<Q: Bits, const D: usize>(
    device: &Device,
    what: &str,
    values: &[f32],
    shape: [usize; D],
    scheme: &QuantScheme,
) -> bool {
    let tensor = Tensor::<f32, D>::from_slice(device, values, shape).unwrap();
    let found = QTensor::<Q, D>::quantize_tensor_blocking(&tensor, scheme).and_then(|tensor| tensor.to_host_blocking());
    let expected = host::<Q, D>(values, shape, scheme);
    if found != expected {
        let packing = Q::PACKING.name();
        panic!("{packing}{shape:?} of {what}, {scheme:?}: {}", difference(found, expected, values));
    }
    expected.is_ok()
}

fn difference(found: Result<Quantized, Error>, expected: Result<Quantized, Error>, values: &[f32]) -> String {
    let (found, expected) = match (found, expected) {
        (Ok(found), Ok(expected)) => (found, expected),
        (found, expected) => return format!("{:?} instead of {:?}", found.err(), expected.err()),
    };
    if let Some(i) = (0..expected.scales.len()).find(|&i| found.scales[i] != expected.scales[i]) {
        return format!("scales[{i}] is {:#x} instead of {:#x}", found.scales[i], expected.scales[i]);
    }
    let codes = [found.codes(), expected.codes()];
    match (0..values.len()).find(|&i| codes[0][i] != codes[1][i]) {
        Some(i) => format!("{} at {i} is {} instead of {}", values[i], codes[0][i], codes[1][i]),
        None => "their words or fields differ".into(),
    }
}

/// [`agree`] for every width; number of tensors made.
fn all_agree<const D: usize>(
    device: &Device,
    what: &str,
    values: &[f32],
    shape: [usize; D],
    scheme: &QuantScheme,
) -> usize {
    let widths = [agree::<Q8, D>, agree::<Q4, D>, agree::<Q3, D>, agree::<Q2, D>, agree::<Q1, D>];
    widths.iter().filter(|width| width(device, what, values, shape, scheme)).count()
}

#[test]
fn awkward_values_get_the_scales_and_codes_of_the_host() {
    let device = device();
    let (mut made, mut all) = (0, 0);
    for (what, value) in AWKWARD {
        let values: Vec<f32> = (0..24 * 64).map(value).collect();
        for scheme in SCHEMES {
            for scheme in [scheme.per_group(32), scheme.per_channel(), scheme.per_tensor()] {
                made += all_agree(&device, what, &values, [24, 64], &scheme.axis(1));
                all += 5;
            }
        }
    }
    // Large numbers do not fit scales of halves.
    assert!(made * 4 > all * 3 && made < all, "{made} of {all} can be quantized");
}

#[test]
fn scales_of_any_size_get_the_codes_of_the_host() {
    let device = device();
    // Each group has its own magnitude.
    let sizes = |first: u32, last: u32| -> Vec<f32> {
        let value = |i: usize| {
            let exponent = first + (i / 32) as u32 % (last - first + 1);
            between(exponent.saturating_sub(6), exponent, 31, i)
        };
        (0..32 * 256).map(value).collect()
    };
    for scheme in SCHEMES.map(|scheme| scheme.axis(1)) {
        let values = if scheme.scales == ScaleDType::F16 { sizes(0, 140) } else { sizes(0, 246) };
        assert_eq!(all_agree(&device, "groups of any size", &values, [256, 32], &scheme), 5);
    }
}

#[test]
fn every_axis_and_granularity_agrees() {
    let device = device();
    let values: Vec<f32> = (0..64 * 96 * 3).map(|i| weight(41, i) + 0.02).collect();
    for scheme in SCHEMES {
        for (shape, axis) in [([64, 96, 3], 0), ([3, 64, 96], 1), ([3, 64, 96], 2), ([96, 3, 64], 0)] {
            let scheme = scheme.axis(axis);
            for scheme in [scheme.per_tensor(), scheme.per_channel(), scheme.per_group(32)] {
                assert_eq!(all_agree(&device, "weights", &values, shape, &scheme), 5);
            }
        }
        assert_eq!(all_agree(&device, "weights", &values, [64 * 96 * 3], &scheme.per_group(64)), 5);
        assert_eq!(all_agree(&device, "weights", &values, [2, 48, 64, 3], &scheme.per_group(64)), 5);
    }
}

#[test]
fn every_size_agrees() {
    let device = device();
    let values: Vec<f32> = (0..1 << 17).map(|i| weight(51, i)).collect();
    for scheme in SCHEMES {
        for count in [0, 1, 2, 31, 32, 33, 63, 97, 1009, 1025, 32_771, 65_537] {
            for scheme in [scheme.per_tensor(), scheme.per_channel(), scheme.per_group(count.max(1))] {
                assert_eq!(all_agree(&device, "weights", &values[..count], [count], &scheme), 5);
            }
        }
        for shape in [[0, 0], [0, 7], [7, 0], [1, 1], [1, 31], [31, 1], [13, 37], [37, 13], [97, 101]] {
            let count = shape[0] * shape[1];
            for scheme in [scheme.axis(0), scheme.axis(1)].into_iter().flat_map(|s| [s.per_tensor(), s.per_channel()]) {
                assert_eq!(all_agree(&device, "weights", &values[..count], shape, &scheme), 5);
            }
        }
    }
}

#[test]
fn more_workgroups_than_a_dimension_has_agree() {
    let device = device();
    let columns = 64 * 65_536 + 5;
    assert!(agree::<Q4, 2>(&device, "a ramp", &ramp(columns), [1, columns], &SCHEMES[1].per_channel()));
}

#[test]
fn halves_are_quantized_as_their_values() {
    let device = device();
    for (what, value) in AWKWARD {
        // An odd number, without infinite ones.
        let halves: Vec<f16> = (0..33 * 35).map(|i| f16::from_f32(value(i).clamp(-65504.0, 65504.0))).collect();
        let values: Vec<f32> = halves.iter().map(|half| half.to_f32()).collect();
        let tensor = Tensor2::from_slice(&device, &halves, [33, 35]).unwrap();
        for scheme in SCHEMES.map(QuantScheme::per_channel) {
            let found = QTensor::<Q3, 2>::quantize_tensor_blocking(&tensor, &scheme).and_then(|q| q.to_host_blocking());
            assert_eq!(found, host::<Q3, 2>(&values, [33, 35], &scheme), "{what}, {scheme:?}");
        }
    }
}

#[test]
fn what_cannot_be_quantized_is_refused_as_on_the_host() {
    let device = device();
    let mut values: Vec<f32> = (0..64 * 3).map(|i| weight(71, i)).collect();
    let refusal = |values: &[f32], scheme: &QuantScheme| {
        let tensor = Tensor2::from_slice(&device, values, [64, 3]).unwrap();
        let error = QTensor::<Q4, 2>::quantize_tensor_blocking(&tensor, scheme).unwrap_err();
        assert_eq!(Err(&error), host::<Q4, 2>(values, [64, 3], scheme).as_ref());
        error.to_string()
    };
    let scheme = QuantScheme::asymmetric();
    assert_eq!(refusal(&values, &scheme.axis(2)), "quantized tensor q4[64, 3]: axis: expected one of 2 axes, found 2");
    assert!(refusal(&values, &scheme.per_group(48)).contains("expected a divisor of 64"));
    values[100] = 1e9;
    assert!(refusal(&values, &scheme).contains("scale of group [1, 1]: expected at most 65504"));
    (values[77], values[180]) = (f32::NEG_INFINITY, f32::NAN);
    assert!(refusal(&values, &scheme).contains("values[25, 2]: expected a finite number, found -inf"));
    values.truncate(64);
    assert!(agree::<Q4, 2>(&device, "weights", &values, [64, 1], &scheme));
}

#[test]
fn what_only_the_host_does_is_an_error() {
    let device = device();
    let tensor = Tensor1::<f32>::zeros(&device, [64]).unwrap();
    let scheme = QuantScheme::symmetric();
    let refusal =
        |scheme: &QuantScheme| QTensor::<Q4, 1>::quantize_tensor_blocking(&tensor, scheme).unwrap_err().to_string();
    assert_eq!(
        refusal(&scheme.rounding(Rounding::LeastSquares)),
        "quantized tensor q4[64]: rounding: expected `Nearest`, found `LeastSquares`, which searches on the host; \
         help: `QTensor::quantize`"
    );
    let captured = device.capture(|| QTensor::<Q4, 1>::quantize_tensor_blocking(&tensor, &scheme)).unwrap_err();
    assert_eq!(captured, Error::Capturing { what: "quantizing a tensor" });
    let (_sequence, later) = device
        .capture(|| {
            let args = [(&tensor).into()];
            let [first, _] =
                fuse_runtime::__private::launch(artifacts::steps(fuse_runtime::artifact::DType::F32), &args)?;
            Ok(Tensor1::<f32>::from_raw(first))
        })
        .unwrap();
    let error = QTensor::<Q4, 1>::quantize_tensor_blocking(&later, &scheme).unwrap_err();
    assert!(matches!(error, Error::NotReplayed { .. }), "{error}");
    let axes = Tensor::<f32, 5>::zeros(&device, [1; 5]).unwrap();
    let error = QTensor::<Q4, 5>::quantize_tensor_blocking(&axes, &scheme).unwrap_err().to_string();
    assert_eq!(error, "quantized tensor q4[1, 1, 1, 1, 1]: expected 1 to 4 axes, found 5");
}

#[test]
fn a_second_tensor_needs_no_other_pipelines_and_no_more_memory() {
    let device = device();
    let tensor = Tensor2::<f32>::randn(&device, [256, 40], 1).unwrap();
    let make = || pollster::block_on(QTensor::<Q2, 2>::quantize_tensor(&tensor, &SCHEMES[1])).unwrap();
    let first = make().to_host_blocking().unwrap();
    let (pipelines, created) = (device.pipelines(), device.memory_report().created);
    assert_eq!(make().to_host_blocking().unwrap(), first);
    assert_eq!((device.pipelines(), device.memory_report().created), (pipelines, created));
    assert_eq!(device.memory_report().live_buffers, 1);
}
