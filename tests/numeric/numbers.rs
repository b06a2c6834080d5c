//! Extreme sizes and values: outliers, infinities, many rounds over rows and depths, shapes whose product overflows.

use fuse_artifact::{DType, Packing};
use fuse_compiler::interp::{Stores, run_bounded};
use fuse_gpu::Device;
use fuse_test_support::{Program, Value, adapter::Arguments, compare::compare, compile, data, devices, wait};

/// Few and many rows have different schedules.
const ROWS: [usize; 4] = [1, 3, 4, 65];

/// Depth of the large activation, inside its run.
const PLACE: usize = 33;

fn layers(packing: Packing) -> Vec<Program> {
    let q = packing.name();
    compile(&format!(
        "pub fn layer(x: f32[M, K], w: {q}[K, N]) -> f32[M, N] {{ matmul(x, w) }}
        pub fn transposed(x: f32[M, K], w: {q}[N, K]) -> f32[M, N] {{ matmul(x, transpose(w)) }}"
    ))
}

/// `large` is one activation of each row, times a power of two.
fn inputs(program: &Program, rows: usize, large: f64) -> Vec<Value> {
    let (columns, depth) = (36, 96);
    let mut inputs = data::inputs(&program.graph, &[("M", rows), ("N", columns), ("K", depth)], rows as u64);
    for row in 0..rows {
        inputs[0].data[row * depth + PLACE] = large;
    }
    inputs
}

fn weight(w: &mut Value, column: usize) -> &mut f64 {
    let columns_are_neighbours = w.shape[0] == 96;
    let place = if columns_are_neighbours { PLACE * w.shape[1] + column } else { column * w.shape[1] + PLACE };
    &mut w.data[place]
}

fn results(device: &Device, program: &Program, inputs: &[Value]) -> Vec<(String, Vec<Value>)> {
    let arguments = Arguments::new(device, program, inputs).unwrap();
    let mut choices = arguments.choices(program).unwrap();
    choices.retain(|choice| choice.names.iter().any(|name| name.starts_with("packed")));
    let mut results = vec![("chosen".to_owned(), wait(arguments.launch(program, None)).unwrap())];
    for choice in choices {
        let name = format!("{:?}", choice.names);
        results.push((name, wait(arguments.launch(program, Some(&choice.indices))).unwrap()));
    }
    results
}

fn outliers(packing: Packing) {
    for program in layers(packing) {
        for rows in ROWS {
            for large in [1e3, -1e4, 1e5] {
                let mut inputs = inputs(&program, rows, large);
                for column in 0..36 {
                    *weight(&mut inputs[1], column) = 0.0;
                }
                let expected = run_bounded(&program.graph, &inputs, Stores::Results).unwrap();
                for device in devices() {
                    for (what, results) in results(device, &program, &inputs) {
                        let case =
                            format!("{} {} of {rows} rows, {large}, {what}", packing.name(), program.function.name);
                        compare(&expected, &results).unwrap_or_else(|error| panic!("{case}: {error}"));
                    }
                }
            }
        }
    }
}

/// As dequantized: an infinity of the weight's sign, and NaN for a weight of 0.
fn infinities(packing: Packing) {
    for program in layers(packing) {
        for rows in ROWS {
            for large in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
                let mut inputs = inputs(&program, rows, 1.0);
                inputs[0].data[PLACE] = large;
                *weight(&mut inputs[1], 5) = 0.0;
                for device in devices() {
                    for (what, results) in results(device, &program, &inputs) {
                        let case =
                            format!("{} {} of {rows} rows, {large}, {what}", packing.name(), program.function.name);
                        for (i, &found) in results[0].data.iter().enumerate() {
                            let expected = large * *weight(&mut inputs[1], i % 36);
                            let same = found == expected || (found.is_nan() && expected.is_nan());
                            let right = if i < 36 { same } else { found.is_finite() };
                            assert!(right, "{case}: element {i} is {found}, expected {expected} in the first row");
                        }
                    }
                }
            }
        }
    }
}

/// Partial sums overflow, although the total does not.
#[test]
fn codes_times_huge_activations_do_not_overflow() {
    for program in layers(Packing::Q8) {
        let mut inputs = inputs(&program, 1, 3e37);
        for column in 0..36 {
            *weight(&mut inputs[1], column) = 0.0;
        }
        for device in devices() {
            for (what, results) in results(device, &program, &inputs) {
                assert!(results[0].data.iter().all(|x| x.abs() < 1e33), "{what}: {:?}", results[0].data);
            }
        }
    }
}

macro_rules! of_every_width {
    ($($bits:ident: $outliers:ident, $infinities:ident;)*) => {$(
        #[test]
        fn $outliers() {
            outliers(Packing::$bits);
        }

        #[test]
        fn $infinities() {
            infinities(Packing::$bits);
        }
    )*};
}

of_every_width! {
    Q8: outliers_beside_8_bits, infinities_beside_8_bits;
    Q4: outliers_beside_4_bits, infinities_beside_4_bits;
    Q3: outliers_beside_3_bits, infinities_beside_3_bits;
    Q2: outliers_beside_2_bits, infinities_beside_2_bits;
    Q1: outliers_beside_1_bit, infinities_beside_1_bit;
}

fn of_shape(shape: &[usize], element: impl FnMut(usize) -> f64) -> Value {
    let count = if shape.contains(&0) { 0 } else { shape.iter().product() };
    Value { dtype: DType::F32, shape: shape.to_vec(), data: (0..count).map(element).collect() }
}

/// Some adapters silently end long loops, so the depth is split further.
#[test]
fn long_depths_are_summed_whole() {
    let depth = 8_388_608;
    for program in compile("pub fn f(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { matmul(x, w) }") {
        let inputs = [of_shape(&[4, depth], |i| f64::from((i % 16 == 0) as u8)), of_shape(&[depth, 1], |_| 0.25)];
        for device in devices() {
            let arguments = Arguments::new(device, &program, &inputs).unwrap();
            let choices = arguments.choices(&program).unwrap();
            let chosen = choices.iter().map(|choice| Some(choice.indices.as_slice()));
            for choice in std::iter::once(None).chain(chosen) {
                let results = wait(arguments.launch(&program, choice)).unwrap();
                assert_eq!(results[0].data, [131_072.0; 4], "{choice:?}");
            }
        }
    }
}

#[test]
fn more_elements_than_a_number_holds_are_an_error() {
    let source = "
        pub fn total(x: f32[1]) -> f32[1] {
            sum(broadcast_to(x, [1, 4194304, 2097152, 2097152]), axis = [1, 2, 3])
        }
        pub fn most(x: f32[1]) -> f32[1] { max(broadcast_to(x, [1, 4294967295]), axis = 1) }
        pub fn product(x: f32[1, 1]) -> f32[1, 1] {
            matmul(broadcast_to(x, [1, 4294967295]), broadcast_to(x, [4294967295, 1]))
        }";
    for program in compile(source) {
        let shape = vec![1; program.graph.params[0].ty.rank()];
        for device in devices() {
            let arguments = Arguments::new(device, &program, &[of_shape(&shape, |_| 1.0)]).unwrap();
            let error = wait(arguments.launch(&program, None)).unwrap_err();
            let name = &program.function.name;
            assert!(error.contains(&**name) && error.contains("32-bit"), "{name}: {error}");
        }
    }
}

#[test]
fn empty_tensors_may_have_any_other_extents() {
    let source = "
        pub fn relued(x: f32[A, B, C, D]) -> f32[A, B, C, D] { relu(x) }
        pub fn normalized(x: f32[A, B, C, D]) -> f32[A, B, C, D] { softmax(x) }
        pub fn multiplied(x: f32[A, B, C, D], w: f32[A, B, D, N]) -> f32[A, B, C, N] { matmul(x, w) }
        pub fn shared(x: f32[A, B, C, D], w: f32[D, N]) -> f32[A, B, C, N] { gelu(matmul(x, w)) }
        pub fn attended(x: f32[A, B, C, D]) -> f32[A, B, C, D] { matmul(softmax(matmul(x, transpose(x))), x) }
        pub fn summed(x: f32[A, B, C, D]) -> f32[A, D] { sum(x, axis = [1, 2]) }";
    let most = 4_294_967_295;
    for program in compile(source) {
        for [a, b, c, d] in [[most, most, most, 0], [0, most, most, most], [most, most, 0, most]] {
            let dims = [("A", a), ("B", b), ("C", c), ("D", d), ("N", 0)];
            let input = |param: &fuse_compiler::graph::Param| {
                of_shape(&data::extents(&program.graph, &param.ty, &dims), |_| 0.0)
            };
            let inputs: Vec<Value> = program.graph.params.iter().map(input).collect();
            for device in devices() {
                let launched = Arguments::new(device, &program, &inputs)
                    .and_then(|arguments| wait(arguments.launch(&program, None)));
                // Too large: non-empty results, and rows without elements that kernels iterate over.
                match launched {
                    Ok(results) => assert!(results[0].data.is_empty(), "{} {dims:?}", program.function.name),
                    Err(error) => {
                        assert!(error.contains("is too large"), "{} {dims:?}: {error}", program.function.name)
                    }
                }
            }
        }
    }
}
