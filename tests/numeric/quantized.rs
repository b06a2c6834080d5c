//! Quantized operands against the interpreter's ranges, with every legal variant.

use fuse_artifact::{DType, Packing};
use fuse_gpu::{
    __private::{Arg, RawQuantized, RawTensor, launch_into},
    Device, QuantScheme, Tuning,
    quantize::quantize,
};
use fuse_test_support::{
    Sweep, Value, Variants,
    adapter::{Arguments, Choice},
    check_on, compile, data, devices, middle_codes, wait,
};

/// Groups of 32 where 32 divides the depth.
const SIZES: &[[(&str, usize); 3]] = &[
    [("M", 1), ("N", 1), ("K", 1)],
    [("M", 1), ("N", 36), ("K", 96)],
    [("M", 1), ("N", 260), ("K", 512)],
    [("M", 2), ("N", 36), ("K", 96)],
    [("M", 4), ("N", 260), ("K", 512)],
    [("M", 5), ("N", 7), ("K", 3)],
    [("M", 17), ("N", 64), ("K", 128)],
    [("M", 65), ("N", 68), ("K", 37)],
    [("M", 33), ("N", 132), ("K", 192)],
    [("M", 3), ("N", 8), ("K", 0)],
    [("M", 3), ("N", 0), ("K", 32)],
];

fn check(what: &str, source: &str, sizes: &[[(&str, usize); 3]], batch: &[(&str, usize)], share: usize) {
    let mut sweep = Sweep::new(what).sharing_variants(share);
    for program in compile(source) {
        for (seed, dims) in sizes.iter().enumerate() {
            let dims = [dims.as_slice(), batch].concat();
            sweep.run(&program, &data::inputs(&program.graph, &dims, seed as u64));
        }
    }
    sweep.finish();
}

fn layers(packing: Packing, dtype: &str, share: usize) {
    let q = packing.name();
    let source = format!(
        "pub fn layer(x: {dtype}[M, K], w: {q}[K, N], b: {dtype}[N]) -> {dtype}[M, N] {{ gelu(matmul(x, w) + b) }}
        pub fn transposed(x: {dtype}[M, K], w: {q}[N, K], b: {dtype}[N]) -> {dtype}[M, N] {{
            relu(matmul(x, transpose(w)) + b)
        }}"
    );
    check(&format!("layer {dtype} {q}"), &source, SIZES, &[], share);
}

#[test]
fn layers_of_8_bits() {
    layers(Packing::Q8, "f32", 4);
}

#[test]
fn layers_of_4_bits() {
    layers(Packing::Q4, "f32", 2);
}

#[test]
fn layers_of_3_bits() {
    layers(Packing::Q3, "f32", 3);
}

#[test]
fn layers_of_2_bits() {
    layers(Packing::Q2, "f32", 4);
}

#[test]
fn layers_of_1_bit() {
    layers(Packing::Q1, "f32", 4);
}

#[test]
fn layers_of_halves() {
    for packing in Packing::ALL {
        layers(packing, "f16", 8);
    }
}

#[test]
fn other_places() {
    let source = "
        pub fn whole(w: q4[K, N]) -> f32[K, N] { dequantize(w) }
        pub fn rows(w: q3[N, K]) -> f32[N, K] { dequantize(w, axis = 1) * 2.0 }
        pub fn sums(w: q4[N, K]) -> f32[N] { sum(dequantize(w, axis = 1), axis = 1) }
        pub fn columns(w: q2[K, N]) -> f32[N] { sum(dequantize(w), axis = 0) }
        pub fn part(w: q4[K, N]) -> f32[K, N] { flip(dequantize(w), axis = 0) }
        pub fn looked_up(ids: i32[M], w: q8[N, K]) -> f32[M, K] { gather(dequantize(w, axis = 1), ids) }
        pub fn left(x: f32[K, N], w: q4[K, M]) -> f32[M, N] { matmul(transpose(dequantize(w)), x) }
        pub fn scaled(x: f32[M, K], w: q4[K, N]) -> f32[M, N] { matmul(x, 0.5 * dequantize(w)) }
        pub fn gated(x: f32[M, K], g: q4[K, N], u: q4[K, N]) -> f32[M, N] { silu(matmul(x, g)) * matmul(x, u) }
        pub fn normalized(x: f32[M, K], g: f32[K], w: q4[K, N]) -> f32[M, N] { matmul(rms_norm(x, g), w) }
        pub fn owned(x: f32[M, K], w: q4[K, 64], g: f32[64], b: f32[64]) -> f32[M, 64] {
            layer_norm(matmul(x, w), g, b)
        }
        pub fn vector(w: q1[K]) -> f32[K] { relu(dequantize(w)) }";
    check("other places", source, &SIZES[1..7], &[], 4);
}

#[test]
fn batches_and_shared_weights() {
    let source = "
        pub fn shared(x: f32[B, M, K], w: q4[K, N]) -> f32[B, M, N] { matmul(x, w) }
        pub fn own(x: f32[B, M, K], w: q4[B, K, N]) -> f32[B, M, N] { matmul(x, w) }
        pub fn heads(x: f32[B, M, K], w: q3[B, N, K]) -> f32[B, M, N] { matmul(x, transpose(w)) }
        pub fn attention(q: f32[B, M, K], k: q8[B, N, K], v: q4[B, N, K]) -> f32[B, M, K] {
            let scores = matmul(q, transpose(dequantize(k, axis = 2))) * 0.125;
            matmul(softmax(scores), dequantize(v, axis = 2))
        }";
    check("batches", source, &SIZES[1..7], &[("B", 3)], 4);
}

/// Exact in 8 bits: multiples of 1/128, with 127/128 among each 32.
fn bytes(x: &mut Value) {
    for (i, value) in x.data.iter_mut().enumerate() {
        *value = if i % 32 == 3 { 127.0 } else { (i * 29 % 255) as f64 - 127.0 } / 128.0;
    }
}

#[test]
fn left_operands_of_8_bits() {
    let tuning = Tuning::default().int8_activations(true);
    let device = Device::builder().tuning(tuning).without_pipeline_cache().build_blocking().unwrap();
    for (dtype, q) in [("f32", "q8"), ("f32", "q4"), ("f16", "q4"), ("f32", "q3"), ("f32", "q2"), ("f32", "q1")] {
        let source = format!(
            "pub fn layer(x: {dtype}[M, K], w: {q}[K, N], b: {dtype}[N]) -> {dtype}[M, N] {{ gelu(matmul(x, w) + b) }}
            pub fn pair(x: {dtype}[M, K], w: {q}[N, K], v: {q}[N, K]) -> {dtype}[M, N] {{
                matmul(x, transpose(w)) * matmul(x, transpose(v))
            }}"
        );
        for program in compile(&source) {
            for [m, n, k] in [[1, 48, 96], [1, 32, 8224], [1, 8192, 32]] {
                let mut inputs = data::inputs(&program.graph, &[("M", m), ("N", n), ("K", k)], 5);
                bytes(&mut inputs[0]);
                let choices = Arguments::new(&device, &program, &inputs).unwrap().choices(&program).unwrap();
                let rounds = |choice: &Choice| choice.names.iter().any(|name| name.starts_with("int8"));
                let rounding: Vec<usize> = (0..choices.len()).filter(|&choice| rounds(&choices[choice])).collect();
                assert!(!rounding.is_empty(), "{q} {} {m}x{n}x{k}", program.function.name);
                for choice in rounding {
                    wait(check_on(&device, &program, &inputs, Variants::One(choice as u64))).unwrap();
                }
            }
        }
    }
}

#[test]
fn outputs_may_not_share_the_memory_of_scales() {
    let device = Device::blocking().unwrap();
    let weights: Vec<f32> = (0..64 * 4).map(|i| i as f32 / 64.0).collect();
    let scheme = QuantScheme::symmetric();
    let w = RawQuantized::upload(&device, &quantize(Packing::Q8, &weights, &[64, 4], &scheme).unwrap()).unwrap();
    let source = "pub fn both(w: q8[K, N], x: u32[S]) -> (f32[K, N], u32[S]) { (dequantize(w), x + 1) }";
    let function = compile(source)[0].function;
    let values = RawTensor::from_bytes(&device, DType::F32, &[64, 4], &[0; 4 * 64 * 4]).unwrap();
    let count = w.scales().shape().iter().product::<usize>();
    let x = RawTensor::from_bytes(&device, DType::U32, &[count], &vec![0; 4 * count]).unwrap();
    let scales = w.scales().reshape(&[count]).unwrap();
    let args = [Arg::Quantized(&w), Arg::Tensor(&x)];
    let error = launch_into(function, &args, &[&values, &scales]).unwrap_err();
    assert_eq!(error.to_string(), "kernel `both`: output 1 shares its memory with argument `w`");
}

/// With a weight of 0, a large activation adds no error beyond that of the other products. Asymmetric schemes sum codes
/// relative to the middle one, whose value counts.
#[test]
fn an_outlier_beside_weights_of_zero() {
    const OUTLIER: usize = 13;
    let [n, k] = [36, 96];
    for packing in Packing::ALL {
        let q = packing.name();
        let source = format!(
            "pub fn columns(x: f32[M, K], w: {q}[K, N]) -> f32[M, N] {{ matmul(x, w) }}
            pub fn rows(x: f32[M, K], w: {q}[N, K]) -> f32[M, N] {{ matmul(x, transpose(w)) }}"
        );
        for (program, is_transposed) in compile(&source).iter().zip([false, true]) {
            // Rows share decoded weights, in every packing alike.
            for m in if packing == Packing::Q4 { vec![1, 3] } else { vec![1] } {
                let mut inputs = data::inputs(&program.graph, &[("M", m), ("N", n), ("K", k)], 3);
                let place =
                    |depth: usize, column: usize| if is_transposed { column * k + depth } else { depth * n + column };
                (0..m).for_each(|row| inputs[0].data[row * k + OUTLIER] = 1e5);
                (0..n).for_each(|column| inputs[1].data[place(OUTLIER, column)] = 0.0);
                let [x, w] = [&inputs[0].data, &inputs[1].data];
                let middle = middle_codes(&program.graph, 1, &inputs[1].shape);
                let sum = |i: usize| {
                    (0..k).fold([0.0, 0.0], |[sum, magnitudes], depth| {
                        let (x, at) = (x[i / n * k + depth], place(depth, i % n));
                        [sum + x * w[at], magnitudes + (x * w[at]).abs() + (x * middle[at]).abs()]
                    })
                };
                let expected: Vec<[f64; 2]> = (0..m * n).map(sum).collect();
                for device in devices() {
                    let arguments = Arguments::new(device, program, &inputs).unwrap();
                    let mut choices = arguments.choices(program).unwrap();
                    choices.retain(|choice| choice.names[0].contains("gemv"));
                    assert!(!choices.is_empty(), "{q} {m}");
                    for choice in choices {
                        let found = wait(arguments.launch(program, Some(&choice.indices))).unwrap().swap_remove(0);
                        for (found, [exact, magnitudes]) in found.data.iter().zip(&expected) {
                            let bound = k as f64 * f64::from(f32::EPSILON) * magnitudes;
                            assert!(
                                (found - exact).abs() <= bound,
                                "{q} {:?}: {found}, not {exact} +- {bound}",
                                choice.names
                            );
                        }
                    }
                }
            }
        }
    }
}
