//! Layers with quantized weights, and attention over quantized keys and values, against the interpreter: groups, scales
//! of both types, and offsets.

use fuse_gpu::{
    Bits, Device, Float, Q1, Q2, Q3, Q4, Q8, QTensor, QuantScheme, Tuning,
    kernels::matmul_q4,
    quantize::{Packing, ScaleDType, quantize},
};

use crate::kernels::{check, device, in_both_types, numbers, tensor};

fn weights<Q: Bits, const D: usize>(
    device: &Device,
    shape: [usize; D],
    seed: usize,
    scheme: QuantScheme,
) -> QTensor<Q, D> {
    let values: Vec<f32> = (0..shape.iter().product()).map(|i| numbers(i, seed)).collect();
    QTensor::quantize(device, &values, shape, &scheme).unwrap()
}

const GROUPED: QuantScheme = QuantScheme::asymmetric().per_group(32);
const WHOLE: QuantScheme = QuantScheme::symmetric().per_channel().scales(ScaleDType::F32);

macro_rules! of_widths {
    ($($test:ident $bits:ident: $matmul:ident $linear_t:ident $linear_gelu:ident $attention:ident;)*) => {$(
        fn $test<T: Float + Into<f64>>() {
            let device = device();
            for [m, k, n] in [[1, 64, 20], [5, 96, 7], [3, 13, 9]] {
                let scheme = if k % 32 == 0 { GROUPED } else { WHOLE };
                let (x, b) = (&tensor::<T, 2>(&device, [m, k], 1), &tensor::<T, 1>(&device, [n], 2));
                let w = &weights::<$bits, 2>(&device, [k, n], 3, scheme);
                let wt = &weights::<$bits, 2>(&device, [n, k], 4, scheme.axis(1));
                check!($matmul(x, w));
                check!($linear_t(x, wt, b));
                check!($linear_gelu(x, w, b));
            }
            let q = &tensor::<T, 4>(&device, [1, 2, 3, 32], 5);
            let k = &weights::<$bits, 4>(&device, [1, 2, 7, 32], 6, GROUPED.axis(3));
            let v = &weights::<$bits, 4>(&device, [1, 2, 7, 32], 7, WHOLE.axis(3));
            check!($attention(q, k, v));
        }
    )*};
}

of_widths! {
    eight_bits Q8: matmul_q8 linear_t_q8 linear_gelu_q8 attention_q8;
    four_bits Q4: matmul_q4 linear_t_q4 linear_gelu_q4 attention_q4;
    three_bits Q3: matmul_q3 linear_t_q3 linear_gelu_q3 attention_q3;
    two_bits Q2: matmul_q2 linear_t_q2 linear_gelu_q2 attention_q2;
    one_bit Q1: matmul_q1 linear_t_q1 linear_gelu_q1 attention_q1;
}

in_both_types!(eight_bits, four_bits, three_bits, two_bits, one_bit);

#[test]
fn tensors_come_back_as_they_were_packed() {
    let (device, values) = (device(), (0..6 * 64).map(|i| numbers(i, 8)).collect::<Vec<f32>>());
    for scheme in [GROUPED.axis(1), WHOLE.axis(1)] {
        let packed = quantize(Packing::Q3, &values, &[6, 64], &scheme).unwrap();
        let tensor = QTensor::<Q3, 2>::upload(&device, &packed).unwrap();
        assert_eq!(tensor.to_host_blocking().unwrap(), packed);
        assert_eq!((tensor.shape(), tensor.axis(), tensor.group()), ([6, 64], 1, 64 / packed.groups));
        assert_eq!((tensor.value_bytes(), tensor.scale_bytes()), (packed.weight_bytes(), packed.scale_bytes()));
    }
}

#[test]
fn unfit_tensors_and_operands_say_what_was_expected() {
    let (device, mut values) = (device(), vec![0.5; 6 * 64]);
    let packed = quantize(Packing::Q4, &values, &[6, 64], &GROUPED.axis(1)).unwrap();
    let bits = QTensor::<Q8, 2>::upload(&device, &packed).unwrap_err().to_string();
    assert_eq!(bits, "quantized tensor q4[6, 64]: expected q8 of 2 axes, found q4 of 2");
    let rank = QTensor::<Q4, 3>::upload(&device, &packed).unwrap_err().to_string();
    assert_eq!(rank, "quantized tensor q4[6, 64]: expected q4 of 3 axes, found q4 of 2");
    let group = QTensor::<Q4, 2>::quantize(&device, &values, [64, 6], &GROUPED.axis(1)).unwrap_err().to_string();
    assert_eq!(group, "quantized tensor q4[64, 6]: group: expected a divisor of 6, the extent of axis 1, found 32");
    let (x, w) = (tensor::<f32, 2>(&device, [2, 6], 1), QTensor::<Q4, 2>::upload(&device, &packed).unwrap());
    let axis = matmul_q4(&x, &w).unwrap_err().to_string();
    assert_eq!(
        axis,
        "kernel `matmul_q4`, argument `w`: expected a quantized tensor of q4, packed along axis 0, found a quantized tensor of q4, packed along axis 1"
    );
    values[2 * 64 + 5] = f32::NAN;
    let weight = QTensor::<Q4, 2>::quantize(&device, &values, [6, 64], &GROUPED.axis(1)).unwrap_err().to_string();
    assert_eq!(weight, "quantized tensor q4[6, 64]: values[2, 5]: expected a finite number, found NaN");
}

#[test]
fn left_operands_of_8_bits_err_by_as_much_as_promised() {
    let (device, [k, n]) = (device(), [320, 48]);
    let tuning = Tuning::default().int8_activations(true);
    let x = &tensor::<f32, 2>(&device, [1, k], 1);
    let w = &weights::<Q4, 2>(&device, [k, n], 3, GROUPED);
    let (exact, rounded) = (matmul_q4(x, w).unwrap(), device.with_tuning(&tuning, || matmul_q4(x, w)).unwrap());
    let (exact, rounded) = (exact.to_vec_blocking().unwrap(), rounded.to_vec_blocking().unwrap());
    assert_ne!(exact, rounded, "the option does something");
    let (x, w) = (x.to_vec_blocking().unwrap(), w.to_host_blocking().unwrap().dequantize());
    let largest: Vec<f32> =
        x.chunks(32).map(|group| group.iter().fold(0.0, |most: f32, x| most.max(x.abs()))).collect();
    for (column, (exact, rounded)) in exact.iter().zip(&rounded).enumerate() {
        let bound: f32 = (0..k).map(|depth| largest[depth / 32] * w[depth * n + column].abs() / 254.0).sum();
        assert!((exact - rounded).abs() <= bound * 1.001, "column {column}: {exact}, {rounded}, at most {bound} apart");
    }
}
