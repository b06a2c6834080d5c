//! Bounds-checked shaders in buffers of exact size amid poison: every operand access, file tests (also with each extent
//! 0), and gathers.

use fuse_artifact::DType;
use fuse_compiler::interp::Value;
use fuse_runtime::Device;
use fuse_test_support::{Directives, Program, Sweep, adapter::Arguments, compile, corpus, data, patterns, wait};

fn device() -> Device {
    let device = Device::builder().checked().without_pipeline_cache().build_blocking();
    device.expect("an adapter that binds one buffer more than kernels do")
}

fn checked_programs(source: &str) -> Vec<Program> {
    compile(source).iter().map(|program| program.checked().expect("it compiles")).collect()
}

struct Checked {
    device: Device,
    sweep: Sweep,
    violations: Vec<String>,
}

impl Checked {
    /// One in `share` variants of each program, and the runtime's choice.
    fn new(what: &str, share: usize) -> Self {
        Self {
            device: device(),
            sweep: Sweep::new(what).sharing_variants(share).with_wide_ranges(),
            violations: vec![],
        }
    }

    fn run(&mut self, program: &Program, inputs: &[Value]) {
        wait(self.sweep.run_on(&self.device, program, inputs));
        if let Some(violation) = self.device.violation().expect("the device works") {
            let shapes: Vec<_> = inputs.iter().map(|input| &input.shape).collect();
            self.violations.push(format!("{violation}\nwith {shapes:?}\n{}", program.source()));
        }
    }

    fn finish(self) {
        assert!(self.violations.is_empty(), "{}", self.violations.join("\n\n"));
        self.sweep.finish();
    }
}

#[test]
fn operations_stay_inside() {
    let mut checked = Checked::new("checked operations", 6);
    let cases = [
        patterns::binary(DType::F32),
        patterns::unary(DType::F16),
        patterns::select_with_every_pattern(),
        patterns::index_along_every_axis(),
    ];
    for program in cases.iter().flatten().flat_map(|case| checked_programs(&case.source)) {
        for n in [0, 1, 5, 8] {
            checked.run(&program, &data::inputs(&program.graph, &[("N", n)], n as u64));
        }
    }
    checked.finish();
}

#[test]
fn file_tests_stay_inside_whatever_is_empty() {
    let mut checked = Checked::new("checked file tests", 40);
    for (name, source) in corpus::FILES {
        let directives = Directives::parse(source).unwrap_or_else(|error| panic!("{name}: {error}"));
        for program in checked_programs(source) {
            let mut runs = directives.runs.iter().filter(|run| run.function == program.graph.name);
            let run = runs.next().unwrap_or_else(|| panic!("{name}: nothing runs `{}`", program.graph.name));
            let mut extents: Vec<(&str, usize)> =
                run.dims.iter().map(|(name, extent)| (name.as_str(), *extent)).collect();
            checked.run(&program, &data::inputs(&program.graph, &extents, 1));
            for empty in 0..extents.len() {
                let extent = std::mem::take(&mut extents[empty].1);
                checked.run(&program, &data::inputs(&program.graph, &extents, 2));
                extents[empty].1 = extent;
            }
        }
    }
    checked.finish();
}

#[test]
fn computed_places_stay_inside() {
    let source = "
        pub fn flipped(t: f32[V, D], ids: i32[B]) -> f32[B, D] { flip(gather(t, ids), axis = 1) }
        pub fn joined(c: f32[V, D], k: f32[B, D]) -> f32[V + B, D] { flip(concat([c, k], axis = 0), axis = 1) }
        pub fn rotated(c: f32[V, 16], k: f32[B, 16], d: f32[D]) -> (f32[V + B, 16], f32[D]) {
            let x = concat([c, k], axis = 0);
            (concat([-slice(x, axis = 1, start = 8, end = 16), slice(x, axis = 1, start = 0, end = 8)], axis = 1), d + 1.0)
        }
        pub fn multiplied(c: f32[V, D], k: f32[B, D], w: f32[D, 6]) -> f32[V + B, 6] {
            matmul(flip(concat([c, k], axis = 0), axis = [0, 1]), w)
        }
        pub fn summed(c: f32[V, D], k: f32[B, D]) -> f32[V + B] {
            sum(flip(concat([c, k], axis = 0), axis = 1), axis = 1)
        }
        pub fn looked_up(w: q4[V, D], ids: i32[B]) -> f32[B, D] { flip(gather(dequantize(w, axis = 1), ids), axis = 1) }
        pub fn last(x: f32[V, D], y: f32[B, D]) -> f32[V, D] {
            concat([slice(x, axis = 0, start = B, end = V), y], axis = 0)
        }";
    let mut checked = Checked::new("checked places", 12);
    for program in checked_programs(source) {
        for [v, d, b] in [[5, 7, 3], [3, 64, 3], [0, 70, 3], [4, 0, 3], [4, 8, 0], [0, 0, 0]] {
            checked.run(&program, &data::inputs(&program.graph, &[("V", v), ("D", d), ("B", b)], 11));
        }
    }
    checked.finish();
}

#[test]
fn an_index_outside_is_found() {
    let source = "pub fn f(operand: f32[N]) -> f32[N] { operand + 1.0 }";
    let mut program = checked_programs(source).swap_remove(0);
    let mut function = program.function.clone();
    let variants = function.kernels.to_mut().iter_mut().flat_map(|kernel| kernel.variants.to_mut());
    for pass in variants.flat_map(|variant| variant.passes.to_mut()) {
        pass.wgsl = pass.wgsl.text().replace("in_0[fuse_at(u32(", "in_0[fuse_at(u32(64u + ").into();
    }
    program.function = Box::leak(Box::new(function));
    let device = device();
    let inputs = data::inputs(&program.graph, &[("N", 5)], 1);
    let arguments = Arguments::new(&device, &program, &inputs).expect("they fit");
    wait(arguments.launch(&program, None)).expect("a launch");
    let violation = device.violation().expect("the device works").expect("five elements are read behind the end");
    assert!(violation.contains("in_0[i") && violation.contains("index 64 of 2"), "{violation}");
    assert_eq!(device.violation().expect("the device works"), None, "each is told once");
}

#[test]
fn shaders_without_checks_are_refused() {
    let program = compile("pub fn f(x: f32[N]) -> f32[N] { x + 1.0 }").swap_remove(0);
    let inputs = data::inputs(&program.graph, &[("N", 5)], 1);
    let arguments = Arguments::new(&device(), &program, &inputs).expect("they fit");
    let error = wait(arguments.launch(&program, None)).expect_err("nothing would be checked");
    assert!(error.to_string().contains("`Dialect::Checked`"), "{error}");
}
