//! Alternatives of a function: choice by shape, device and time; equal results.

use fuse_runtime::{
    __private::{Arg, alternatives, launch, launch_alternative, launch_dynamic, launch_with, variants},
    Error, Tensor1,
    artifact::{Binding, Check, DType, Function, Kernel, Relation, Slot, Uniform},
};

use crate::{artifacts, device, ramp};

/// `steps` in two kernels.
fn unfused() -> Function {
    artifacts::steps(DType::F32).clone()
}

/// `steps` in one kernel: `2·(x + 1)` and `x`.
fn fused() -> Function {
    let mut function = unfused();
    let mut kernel = function.kernels[1].clone();
    kernel.name = "steps.fused".into();
    kernel.accesses.to_mut()[0].slot = Slot::Param(0);
    let pass = &mut kernel.variants.to_mut()[0].passes.to_mut()[0];
    pass.bindings.to_mut()[0].slot = Slot::Param(0);
    let text = pass
        .wgsl
        .text()
        .replace("out0[i] = a[i] + a[i]; out1[i] = a[i] - f32(1);", "out0[i] = 2.0 * (a[i] + 1.0); out1[i] = a[i];");
    assert_ne!(text, pass.wgsl.text(), "the text of `steps` has changed");
    pass.wgsl = text.into();
    function.kernels = vec![kernel].into();
    function.temporaries = vec![].into();
    function
}

fn with_alternatives(function: Function, alternatives: Vec<Function>) -> &'static Function {
    artifacts::leak(Function { alternatives: alternatives.into(), ..function })
}

fn at_most(mut function: Function, value: u64) -> Function {
    let check = Check {
        relation: Relation::AtMost,
        left: artifacts::sym(0),
        right: value.into(),
        what: "length of `x`".into(),
    };
    function.assumes = vec![check].into();
    function
}

/// Needs more workgroup memory than any device has.
fn unable(mut function: Function, name: &'static str) -> Function {
    let kernel: &mut Kernel = &mut function.kernels.to_mut()[0];
    kernel.name = name.into();
    kernel.variants.to_mut()[0].passes.to_mut()[0].workgroup_bytes = u32::MAX;
    function
}

fn chosen(function: &'static Function, n: usize) -> usize {
    device().explain(function, &[&[n]]).unwrap().alternative
}

#[test]
fn assumptions_decide_by_size_and_results_agree() {
    let device = device();
    let function = with_alternatives(at_most(fused(), 100), vec![unfused()]);
    assert_eq!((chosen(function, 100), chosen(function, 101)), (0, 1));
    for n in [0, 1, 63, 100, 101, 1000] {
        let x = Tensor1::from_vec(&device, ramp(n), [n]).unwrap();
        let args = [Arg::from(&x)];
        let usable = alternatives(function, &args).unwrap();
        assert_eq!(usable, if n <= 100 { vec![0, 1] } else { vec![1] });
        let double: Vec<f32> = ramp(n).iter().map(|x| 2.0 * (x + 1.0)).collect();
        let runs = usable.iter().map(|n| launch_alternative(function, &args, *n).unwrap());
        for results in runs.chain([launch_dynamic(function, &args).unwrap()]) {
            assert_eq!(Tensor1::<f32>::from_raw(results[0].clone()).to_vec_blocking().unwrap(), double);
            assert_eq!(Tensor1::<f32>::from_raw(results[1].clone()).to_vec_blocking().unwrap(), ramp(n));
        }
    }
    let x = Tensor1::from_vec(&device, ramp(101), [101]).unwrap();
    let error = launch_alternative(function, &[(&x).into()], 0).unwrap_err();
    let expected = "kernel `steps`: alternative 0 cannot be used: length of `x`: expected `N` (101) to be at most 100";
    assert_eq!(error.to_string(), expected);
    let error = launch_alternative(function, &[(&x).into()], 2).unwrap_err();
    assert_eq!(error.to_string(), "kernel `steps`: alternative 2 cannot be used: there are 2");
}

#[test]
fn the_fastest_runs_and_of_equal_ones_the_first() {
    assert_eq!(chosen(with_alternatives(fused(), vec![unfused()]), 1000), 0);
    assert_eq!(chosen(with_alternatives(unfused(), vec![fused()]), 1000), 1);
    assert_eq!(chosen(with_alternatives(unfused(), vec![fused(), fused()]), 1000), 1);
    let explanation = device().explain(with_alternatives(unfused(), vec![fused()]), &[&[1000]]).unwrap();
    let [Ok(two), Ok(one)] = explanation.alternatives[..] else { panic!("both can run: {explanation}") };
    assert!(one > 0.0 && one < two);
    assert_eq!(explanation.kernels.len(), 1);
    let text = explanation.to_string();
    assert!(text.starts_with("steps, alternative 1\n├─ alternative 0: possible, estimate"), "{text}");
}

#[test]
fn what_the_device_cannot_run_is_passed_over() {
    let device = device();
    let x = Tensor1::from_vec(&device, ramp(70), [70]).unwrap();
    let args = [Arg::from(&x)];
    let function = with_alternatives(unable(fused(), "greedy"), vec![unfused()]);
    assert_eq!(alternatives(function, &args).unwrap(), [1]);
    let [_, same] = launch(function, &args).unwrap();
    assert_eq!(Tensor1::<f32>::from_raw(same).to_vec_blocking().unwrap(), ramp(70));
    let kernels: Vec<&str> = variants(function, &args).unwrap().iter().map(|kernel| kernel.kernel).collect();
    assert_eq!(kernels, ["steps.0", "steps.1"]);
    assert_eq!(launch_with(function, &args, &[0, 0]).unwrap().len(), 2);
    let refused = device.explain(function, &[&[70]]).unwrap().alternatives[0].clone().unwrap_err();
    assert!(
        refused.starts_with("kernel `greedy` is too large: it needs") && refused.contains("bytes of workgroup memory"),
        "{refused}"
    );
    let error = launch_alternative(function, &args, 0).unwrap_err();
    assert!(matches!(&error, Error::TooLarge { what, .. } if what == "kernel `greedy`"), "{error}");

    let nowhere = with_alternatives(unable(fused(), "greedy"), vec![unable(unfused(), "greedier")]);
    let error = launch::<2>(nowhere, &args).unwrap_err();
    assert!(matches!(&error, Error::TooLarge { what, .. } if what == "kernel `greedier`"), "the last one's: {error}");
    assert_eq!(alternatives(nowhere, &args).unwrap(), [0; 0]);
}

#[test]
fn temporaries_that_are_too_large_rule_an_alternative_out() {
    // Arguments and results fit; the temporary is their square.
    let mut squared = unfused();
    let n = artifacts::sym(0);
    squared.temporaries = vec![artifacts::spec(DType::F32, &[n.clone(), n])].into();
    let function = with_alternatives(squared, vec![unfused()]);
    let limit = device().info().limits.binding_bytes;
    let n = ((limit / 4) as f64).sqrt() as usize;
    assert_eq!((chosen(function, n / 2), chosen(function, n + 1)), (0, 1));
}

#[test]
fn defects_of_an_alternative_are_not_hidden_by_others() {
    let device = device();
    let x = Tensor1::from_vec(&device, ramp(70), [70]).unwrap();
    let mut outside = fused();
    outside.kernels.to_mut()[0].accesses.to_mut()[0].view = vec![71.into()].into();
    outside.kernels.to_mut()[0].domain.extents = vec![71.into()].into();
    let function = with_alternatives(unfused(), vec![outside, unfused()]);
    let error = launch::<2>(function, &[(&x).into()]).unwrap_err();
    assert!(matches!(&error, Error::Internal { message } if message.contains("element 70 is read")), "{error}");
}

#[test]
fn kernels_bind_as_many_buffers_as_the_device_has() {
    let device = device();
    let x = Tensor1::from_vec(&device, ramp(300), [300]).unwrap();
    // `Σ x` over copies of an input, each its own binding, besides the two results.
    let with_inputs = |inputs: usize| {
        let mut function = fused();
        let pass = &mut function.kernels.to_mut()[0].variants.to_mut()[0].passes.to_mut()[0];
        let input = |i: usize| format!("@group(0) @binding({}) var<storage, read> a{i}: array<f32>;\n", i + 1);
        let output =
            |i: usize| format!("@group(0) @binding({}) var<storage, read_write> out{i}: array<f32>;\n", inputs + i + 1);
        let declared: String = (0..inputs).map(input).chain((0..2).map(output)).collect();
        let sum = (0..inputs).map(|i| format!("a{i}[i]")).collect::<Vec<_>>().join(" + ");
        pass.wgsl = format!(
            "struct Words {{ workgroups: u32, count: u32 }}
            @group(0) @binding(0) var<uniform> u: Words;
            {declared}
            @compute @workgroup_size(64)
            fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                let i = id.x;
                if i < u.count {{ out0[i] = {sum}; out1[i] = a0[i]; }}
            }}"
        )
        .into();
        let binding = |slot, writable| Binding { slot, dtype: DType::F32, writable };
        let outputs = [binding(Slot::Result(0), true), binding(Slot::Result(1), true)];
        pass.bindings = [&vec![binding(Slot::Param(0), false); inputs][..], &outputs].concat().into();
        assert_eq!(*pass.uniforms, [Uniform::Workgroups, Uniform::Count]);
        artifacts::leak(function)
    };
    let allowed = device.info().limits.storage_bindings;
    assert!(allowed >= 8, "every WebGPU adapter has 8");
    for bindings in [8, 10, 16, 17] {
        let launched = launch::<2>(with_inputs(bindings - 2), &[(&x).into()]);
        if bindings as u32 <= allowed.min(16) {
            let sum = Tensor1::<f32>::from_raw(launched.unwrap()[0].clone()).to_vec_blocking().unwrap();
            let expected: Vec<f32> = ramp(300).iter().map(|x| x * (bindings - 2) as f32).collect();
            assert_eq!(sum, expected, "{bindings} bindings");
        } else {
            let error = launched.unwrap_err();
            assert!(matches!(&error, Error::TooLarge { limit: "storage buffers", .. }), "{error}");
        }
    }
}
