//! Specializations: sizes (`Device::specialize`), fast functions, bounds checks, unrolled loops, `if` or `switch`
//! (`Tuning`). Results are equal, up to errors of fast functions.

use std::collections::BTreeSet;

use fuse_compiler::interp::run_bounded;
use fuse_gpu::{
    ControlFlow, Device, Error, Tensor1, Tensor2, Tuning,
    artifact::{
        Variant,
        constants::{ROUNDS, SWITCH},
    },
    fuse,
};
use fuse_test_support::{adapter::Arguments, compare::compare, compile, data, wait};

fuse! {
    pub fn layer<T: Float>(x: T[M, K], w: T[K, N], b: T[N]) -> T[M, N] {
        relu(matmul(x, w) + b)
    }

    /// Functions that have a fast form.
    pub fn functions(x: f32[N]) -> (f32[N], f32[N], f32[N], f32[N], f32[N]) {
        (tanh(x), gelu(x), softplus(x), sin(x), relu(x) + max(x, 0.5))
    }

    pub fn scaled_by_two(x: f32[N]) -> f32[N] {
        x * 2.0
    }

    pub fn scaled(x: f32[N], s: f32) -> f32[N] {
        x * s
    }
}

fn device() -> Device {
    Device::builder().without_pipeline_cache().build_blocking().expect("tests need an adapter")
}

fn inputs(device: &Device, rows: usize) -> (Tensor2<f32>, Tensor2<f32>, Tensor1<f32>) {
    let (x, w) = (Tensor2::randn(device, [rows, 20], 1).unwrap(), Tensor2::randn(device, [20, 12], 2).unwrap());
    (x, w, Tensor1::randn(device, [12], 3).unwrap())
}

#[test]
fn launches_of_equal_shapes_use_the_new_pipelines() {
    let device = device();
    let (x, w, b) = inputs(&device, 7);
    let general = layer(&x, &w, &b).unwrap().to_vec_blocking().unwrap();
    let before = device.pipelines();
    let within = device.specialize(|| layer(&x, &w, &b)).unwrap().to_vec_blocking().unwrap();
    let made = device.pipelines() - before;
    assert!(made >= 1, "specializing creates pipelines");
    let after = layer(&x, &w, &b).unwrap().to_vec_blocking().unwrap();
    assert_eq!((&within, &after), (&general, &general));
    device.specialize(|| layer(&x, &w, &b)).unwrap();
    assert_eq!(device.pipelines(), before + made);
    // Other sizes have their own pipelines, or the general ones.
    let (y, ..) = inputs(&device, 9);
    let other = layer(&y, &w, &b).unwrap().to_vec_blocking().unwrap();
    assert_eq!(other[..7 * 12], general[..], "the first rows are the same");
}

#[test]
fn numbers_of_the_host_may_change() {
    let device = device();
    let x = Tensor1::from_slice(&device, &[1.0f32, 2.0, 3.0], [3]).unwrap();
    device.specialize(|| scaled(&x, 2.0)).unwrap();
    assert_eq!(scaled(&x, 10.0).unwrap().to_vec_blocking().unwrap(), [10.0, 20.0, 30.0]);
}

#[test]
fn captured_launches_are_specialized_without_running() {
    let device = device();
    let (x, w, b) = inputs(&device, 5);
    let (sequence, y) = device.specialize(|| device.capture(|| layer(&x, &w, &b))).unwrap();
    assert!(matches!(y.to_vec_blocking(), Err(Error::NotReplayed { .. })));
    sequence.replay().unwrap();
    let specialized = device.pipelines();
    assert_eq!(y.to_vec_blocking().unwrap(), layer(&x, &w, &b).unwrap().to_vec_blocking().unwrap());
    assert_eq!(device.pipelines(), specialized, "the launch after it finds the specialized plan");
}

#[test]
fn other_devices_and_threads_stay_general() {
    let (device, other) = (device(), device());
    let (x, w, b) = inputs(&other, 4);
    layer(&x, &w, &b).unwrap();
    let (ours, pipelines) = (inputs(&device, 4), other.pipelines());
    device.specialize(|| {
        layer(&x, &w, &b).unwrap();
        std::thread::scope(|scope| scope.spawn(|| layer(&ours.0, &ours.1, &ours.2).map(drop)).join().unwrap()).unwrap();
    });
    assert_eq!(other.pipelines(), pipelines);
    let general = device.pipelines();
    device.specialize(|| layer(&ours.0, &ours.1, &ours.2)).unwrap();
    assert!(device.pipelines() > general, "the other thread's launch was not specialized");
}

/// Product, attention, reductions and movement give the bits of general pipelines.
#[test]
fn every_kind_of_kernel() {
    let source = "
        pub fn product(x: f32[B, M, K], w: f32[K, N]) -> f32[B, M, N] { gelu(matmul(x, w)) }
        pub fn attend(x: f32[B, M, 32], k: f32[B, N, 32]) -> f32[B, M, 32] { matmul(softmax(matmul(x, transpose(k))), k) }
        pub fn rows(x: f32[M, N]) -> f32[M, N] { softmax(x) }
        pub fn columns(x: f32[M, N]) -> f32[N] { sum(x, axis = M) }
        pub fn moved(x: f32[M, N]) -> f32[N, M] { transpose(x) + 1.0 }";
    let device = device();
    for program in compile(source) {
        let sizes = [("B", 2), ("M", 37), ("N", 44), ("K", 20)];
        let arguments = Arguments::new(&device, &program, &data::inputs(&program.graph, &sizes, 5)).unwrap();
        let general = wait(arguments.launch(&program, None)).unwrap();
        let before = device.pipelines();
        let special = device.specialize(|| wait(arguments.launch(&program, None))).unwrap();
        assert!(device.pipelines() > before, "{}", program.function.name);
        assert_eq!(special, general, "{}", program.function.name);
    }
}

#[test]
fn fast_functions_are_close_to_exact_ones() {
    let device = device();
    let values: Vec<f32> = (-400..=400).map(|i| i as f32 / 40.0).collect();
    let x = Tensor1::from_slice(&device, &values, [values.len()]).unwrap();
    type Results = (Tensor1<f32>, Tensor1<f32>, Tensor1<f32>, Tensor1<f32>, Tensor1<f32>);
    let all = |(a, b, c, d, e): Results| [a, b, c, d, e].map(|result| result.to_vec_blocking().unwrap());
    let exact = all(functions(&x).unwrap());
    let pipelines = device.pipelines();
    let fast = all(device.with_tuning(&Tuning::default().fast_math(true), || functions(&x)).unwrap());
    assert!(device.pipelines() > pipelines, "fast functions have pipelines of their own");
    let mut differ = 0;
    for (exact, fast) in exact.iter().flatten().zip(fast.iter().flatten()) {
        assert!((exact - fast).abs() <= 1e-5 * exact.abs().max(1.0), "expected {exact}, found {fast}");
        differ += usize::from(exact != fast);
    }
    assert!(differ > 50, "only {differ} results differ: the exact functions ran");
    assert_eq!(all(functions(&x).unwrap()), exact, "never fast unless asked for");
}

#[test]
fn checked_shaders_compute_the_same() {
    let device = device();
    let (x, w, b) = inputs(&device, 33);
    let general = layer(&x, &w, &b).unwrap().to_vec_blocking().unwrap();
    let pipelines = device.pipelines();
    let checked = device.with_tuning(&Tuning::default().bounds_checks(true), || layer(&x, &w, &b)).unwrap();
    assert_eq!(checked.to_vec_blocking().unwrap(), general);
    assert!(device.pipelines() > pipelines, "checked shaders have pipelines of their own");
}

/// Tables specialize as requests do; the program's request takes precedence.
#[test]
#[cfg(feature = "tune")]
fn tables_ask_for_specializations() {
    let device = device();
    let values: Vec<f32> = (-40..=40).map(|i| i as f32 / 4.0).collect();
    let x = Tensor1::from_slice(&device, &values, [values.len()]).unwrap();
    let ran = |tuning: &Tuning| {
        let before = device.pipelines();
        let results = device.with_tuning(tuning, || functions(&x)).unwrap();
        (results.0.to_vec_blocking().unwrap(), device.pipelines() > before)
    };
    let own = |knobs: &str| {
        fuse_gpu::Table::parse("own", &format!("format = 1\nstatus = \"prior\"\n[knobs]\n{knobs}\n")).unwrap()
    };
    let table = |knobs: &str| Tuning::default().with_table(own(knobs));
    let exact = ran(&Tuning::default()).0;
    for (name, asked, refused) in [
        ("fast_math", Tuning::default().fast_math(true), table("fast_math = true").fast_math(false)),
        ("bounds_checks", Tuning::default().bounds_checks(true), table("bounds_checks = true").bounds_checks(false)),
    ] {
        let (values, new) = ran(&asked);
        assert!(new, "{name} has pipelines of its own");
        let yes = format!("{name} = true");
        assert_eq!(ran(&table(&yes)), (values.clone(), false), "{name}: a table gives what the program can ask for");
        assert_eq!(ran(&refused), (exact.clone(), false), "{name}: the program refuses what a table says");
        let no = format!("{name} = false");
        assert_eq!(ran(&table(&no)), (exact.clone(), false), "{name}: a table that says no");
        let both = table(&no).with_table(own(&yes));
        assert_eq!(ran(&both), (values, false), "{name}: the last table");
    }
}

fn has_specializations(variant: &Variant) -> bool {
    let marks = [ROUNDS, SWITCH];
    variant.passes.iter().any(|pass| marks.iter().any(|mark| pass.wgsl.contains(mark)))
}

/// Unrolled by two and four and both branches, of every variant that has them.
#[test]
fn loops_and_branches_in_every_form() {
    let source = "
        pub fn dots(x: f32[M, K], w: f32[N, K]) -> f32[M, N] { matmul(x, transpose(w)) }
        pub fn siblings(x: f32[M, K], w: f32[K, N], v: f32[K, N]) -> (f32[M, N], f32[M, N]) {
            (relu(matmul(x, w)), matmul(x, v))
        }
        pub fn attend(x: f32[B, M, 32], k: f32[B, N, 32], v: f32[B, N, 32]) -> f32[B, M, 32] {
            matmul(softmax(matmul(x, transpose(k))), v)
        }
        pub fn rows(x: f32[M, N]) -> f32[M] { sum(x, axis = 1) }
        pub fn noise(x: f32[N], seed: u32) -> f32[N] { dropout(x, 0.5, seed) }";
    let device = device();
    let unrolled = |factor| Tuning::default().unroll(factor);
    let tunings = [unrolled(2).control_flow(ControlFlow::If), unrolled(4).control_flow(ControlFlow::Switch)];
    let mut specializations = vec![];
    for program in compile(source) {
        let sizes = [("B", 2), ("M", 3), ("N", 68), ("K", 332)];
        let inputs = data::inputs(&program.graph, &sizes, 5);
        let expected = run_bounded(&program.graph, &inputs, program.stores(device.info())).unwrap();
        let arguments = Arguments::new(&device, &program, &inputs).unwrap();
        let variants = program.plans().flat_map(|plan| plan.kernels.iter()).flat_map(|kernel| kernel.variants.iter());
        let concerned: BTreeSet<&str> =
            variants.filter(|variant| has_specializations(variant)).map(|v| &*v.name).collect();
        let mut choices = arguments.choices(&program).unwrap();
        choices.retain(|choice| choice.names.iter().any(|name| concerned.contains(name)));
        for choice in choices {
            for tuning in &tunings {
                let before = device.pipelines();
                let results =
                    device.with_tuning(tuning, || wait(arguments.launch(&program, Some(&choice.indices)))).unwrap();
                specializations.extend(
                    (device.pipelines() > before).then(|| format!("{} {:?}", program.function.name, choice.names)),
                );
                let compared = compare(&expected, &results);
                compared.unwrap_or_else(|error| panic!("{} {:?}: {error}", program.function.name, choice.names));
            }
        }
    }
    assert!(specializations.len() >= 40, "only {specializations:#?}");
}

#[test]
fn specialized_pipelines_do_not_pile_up() {
    let device = device();
    let run = |size: usize| scaled_by_two(&Tensor1::full(&device, 3.0, [size]).unwrap()).unwrap();
    run(1);
    let before = device.pipelines();
    device.specialize(|| drop(run(1)));
    let each = device.pipelines() - before;
    assert!(each > 0, "sizes are constants of texts of their own");
    for size in 2..=300 {
        device.specialize(|| drop(run(size)));
    }
    let kept = device.pipelines();
    assert!(kept <= before + 257 * each + 2, "{kept} pipelines, {each} for each size");
    // Evicted pipelines still run, and are specialized again on request.
    let six = vec![6.0_f32];
    assert_eq!(run(1).to_vec_blocking().unwrap(), six);
    assert_eq!(device.specialize(|| run(1)).to_vec_blocking().unwrap(), six);
    assert!(device.pipelines() <= kept + 1, "one came, and the oldest went");
}
