//! Misuse by callers, and its messages.

use fuse_runtime::{
    __private::{Arg, launch, launch_into},
    Device, Error, Tensor1, Tensor2,
    artifact::DType,
};

use crate::{artifacts, device, ramp};

fn message(device: &Device, x: [usize; 2], y: usize) -> String {
    let x = Tensor2::<f32>::zeros(device, x).unwrap();
    let y = Tensor1::<f32>::zeros(device, [y]).unwrap();
    launch::<1>(artifacts::scaled_add(), &[(&x).into(), (&y).into(), 1f32.into()]).unwrap_err().to_string()
}

#[test]
fn shape_errors_name_kernel_argument_axis_and_origin() {
    let device = device();
    assert_eq!(
        message(&device, [2, 64], 32),
        "kernel `scaled_add`, argument `y`, axis 0 (`N`): expected 64 (from `x`, axis 1), found 32"
    );
    assert_eq!(
        message(&device, [100_001, 1], 1),
        "kernel `scaled_add`, rows of `x`: expected `M` (100001) to be at most 100000"
    );
}

#[test]
fn rank_dtype_kind_and_count_are_checked() {
    let device = device();
    let function = artifacts::scaled_add();
    let (x, y) = (Tensor2::<f32>::zeros(&device, [2, 3]).unwrap(), Tensor1::<f32>::zeros(&device, [3]).unwrap());
    let whole = Tensor1::<i32>::zeros(&device, [3]).unwrap();
    let one = Arg::from(1f32);
    let fails = |args: &[Arg<'_>], expected: &str| {
        assert_eq!(launch::<1>(function, args).unwrap_err().to_string(), format!("kernel `scaled_add`{expected}"));
    };
    fails(&[(&y).into(), (&y).into(), one], ", argument `x`: expected rank 2, found rank 1");
    fails(&[(&x).into(), (&whole).into(), one], ", argument `y`: expected a tensor of f32, found a tensor of i32");
    fails(&[(&x).into(), (&y).into(), 1i32.into()], ", argument `s`: expected a scalar of f32, found a scalar of i32");
    fails(&[(&x).into(), one, one], ", argument `y`: expected a tensor of f32, found a scalar of f32");
    fails(&[(&x).into(), (&y).into()], ": expected 3 arguments, found 2");
    let results = launch::<2>(function, &[(&x).into(), (&y).into(), one]).unwrap_err();
    assert_eq!(results.to_string(), "kernel `scaled_add`: expected 1 outputs, found 2");
}

#[test]
fn devices_do_not_mix() {
    let (first, second) = (device(), device());
    let x = Tensor2::<f32>::zeros(&first, [2, 3]).unwrap();
    let y = Tensor1::<f32>::zeros(&second, [3]).unwrap();
    let error = launch::<1>(artifacts::scaled_add(), &[(&x).into(), (&y).into(), 1f32.into()]).unwrap_err();
    assert_eq!(error.to_string(), "kernel `scaled_add`: argument `y` is on another device than `x`");
}

#[test]
fn outputs_must_fit_and_share_nothing() {
    let device = device();
    let function = artifacts::steps(DType::F32);
    let x = Tensor1::from_vec(&device, ramp(4), [4]).unwrap();
    let (a, b) = (Tensor1::<f32>::zeros(&device, [4]).unwrap(), Tensor1::<f32>::zeros(&device, [4]).unwrap());
    let args = [Arg::from(&x)];
    let into = |first: &Tensor1<f32>, second: &Tensor1<f32>| launch_into(function, &args, &[first.raw(), second.raw()]);
    into(&a, &b).unwrap();
    let aliased = into(&a, &x.clone()).unwrap_err();
    assert_eq!(aliased.to_string(), "kernel `steps`: output 1 shares its memory with argument `x`");
    let twice = into(&a, &a).unwrap_err();
    assert_eq!(twice.to_string(), "kernel `steps`: output 1 shares its memory with output 0");
    let short = Tensor1::<f32>::zeros(&device, [3]).unwrap();
    assert_eq!(into(&a, &short).unwrap_err().to_string(), "kernel `steps`, output 1: expected f32[4], found f32[3]");
    assert!(matches!(launch_into(function, &args, &[a.raw()]), Err(Error::Count { .. })));
}

#[test]
fn computed_sizes_may_not_be_negative() {
    let x = Tensor1::<f32>::zeros(&device(), [5]).unwrap();
    let error = launch::<1>(artifacts::tail(7), &[(&x).into()]).unwrap_err();
    assert_eq!(error.to_string(), "kernel `tail`: `N - 7` is negative or too large for these shapes");
}

#[test]
fn limits_are_checked_before_allocation() {
    let small = Device::builder().max_tensor_bytes(1 << 20).without_pipeline_cache().build_blocking().unwrap();
    let fits = Tensor1::<f32>::zeros(&small, [1 << 18]).unwrap();
    let error = Tensor1::<f32>::zeros(&small, [(1 << 18) + 1]).unwrap_err();
    let expected = Error::TooLarge {
        what: "tensor".into(),
        limit: "bytes of a tensor on this adapter",
        needed: (1 << 20) + 4,
        allowed: 1 << 20,
    };
    assert_eq!(error, expected);
    // A limit between two size classes of the pool: the largest tensor still binds.
    let odd = Device::builder().max_tensor_bytes((1 << 20) + 40).without_pipeline_cache().build_blocking().unwrap();
    let largest = Tensor1::full(&odd, 1f32, [(1 << 18) + 8]).unwrap();
    let [_, same] = launch(artifacts::steps(DType::F32), &[(&largest).into()]).unwrap();
    assert_eq!(Tensor1::<f32>::from_raw(same).to_vec_blocking().unwrap(), vec![1.0; (1 << 18) + 8]);
    let huge = Tensor2::<f32>::zeros(&device(), [1 << 20, 1 << 20]).unwrap_err();
    assert!(matches!(huge, Error::TooLarge { limit: "elements of a tensor", .. }), "{huge}");
    // A result may be too large although the arguments are not.
    let column = Tensor2::<f32>::zeros(&small, [1 << 10, 1]).unwrap();
    let row = Tensor1::<f32>::zeros(&small, [1 << 10]).unwrap();
    let args = [Arg::from(&column), Arg::from(&row)];
    let error = fuse_runtime::__private::launch_padded::<1>(artifacts::padded_add(), &args, [2]).unwrap_err();
    assert!(matches!(&error, Error::TooLarge { what, .. } if what.contains("padded_add")), "{error}");
    drop(fits);
}

#[test]
fn refused_shaders_are_errors_that_name_the_kernel() {
    let device = device();
    let x = Tensor1::from_vec(&device, ramp(8), [8]).unwrap();
    let broken = artifacts::with_text(artifacts::tail(1), "@compute @workgroup_size(64) fn main() { nonsense }");
    let error = launch::<1>(broken, &[(&x).into()]).unwrap_err();
    assert!(
        matches!(&error, Error::Pipeline { kernel, variant, .. } if kernel == "tail" && variant == "flat"),
        "{error}"
    );
    let other_layout = artifacts::with_text(
        artifacts::tail(1),
        "@group(0) @binding(7) var<storage, read_write> z: array<f32>;
        @compute @workgroup_size(64) fn main() { z[0] = 1.0; }",
    );
    assert!(matches!(launch::<1>(other_layout, &[(&x).into()]), Err(Error::Pipeline { .. })));
    assert_eq!(x.to_vec_blocking().unwrap(), ramp(8));
    launch::<1>(artifacts::tail(1), &[(&x).into()]).unwrap();
}

#[test]
fn adapters_that_are_not_there_are_listed() {
    let error = Device::builder().adapter("no such adapter").build_blocking().unwrap_err();
    let name = device().info().name.clone();
    assert!(
        matches!(&error, Error::NoAdapter { wanted, found }
        if wanted == "name containing `no such adapter`" && found.contains(&name)),
        "{error}"
    );
    assert!(error.to_string().contains("help: install"), "{error}");
}

#[test]
fn kernels_with_too_many_buffers_or_too_much_workgroup_memory_are_refused() {
    let device = device();
    let x = Tensor1::from_vec(&device, ramp(8), [8]).unwrap();
    let mut greedy = artifacts::tail(1).clone();
    let pass = &mut greedy.kernels.to_mut()[0].variants.to_mut()[0].passes.to_mut()[0];
    pass.workgroup_bytes = device.info().limits.workgroup_bytes + 1;
    let error = launch::<1>(artifacts::leak(greedy), &[(&x).into()]).unwrap_err();
    assert!(matches!(&error, Error::TooLarge { limit: "bytes of workgroup memory", .. }), "{error}");
}
