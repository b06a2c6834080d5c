//! Pointwise launches: variants, uniforms, scalars, padding, empty domains, temporaries, dtypes.

use fuse_runtime::{
    __private::{Arg, launch, launch_dynamic, launch_into, launch_padded, launch_with, variants},
    Element, Error, Tensor, Tensor0, Tensor1, Tensor2, Tensor3,
    artifact::{DType, Function},
    f16,
};

use crate::{artifacts, device, ramp};

fn scaled_add(x: &Tensor2<f32>, y: &Tensor1<f32>, s: f32) -> Result<Tensor2<f32>, Error> {
    let [z] = launch(artifacts::scaled_add(), &[x.into(), y.into(), s.into()])?;
    Ok(Tensor::from_raw(z))
}

fn expected(x: &[f32], y: &[f32], s: f32) -> Vec<f32> {
    x.iter().enumerate().map(|(i, x)| s * x + y[i % y.len()]).collect()
}

#[test]
fn broadcast_rows_and_scalars() {
    let device = device();
    for [m, n] in [[3, 5], [1, 7], [64, 1], [1, 1], [100, 130]] {
        let (x, y) = (ramp(m * n), ramp(n));
        let tensors =
            (Tensor2::from_slice(&device, &x, [m, n]).unwrap(), Tensor1::from_slice(&device, &y, [n]).unwrap());
        for s in [2.0, -0.5] {
            let z = scaled_add(&tensors.0, &tensors.1, s).unwrap();
            assert_eq!(z.shape(), [m, n]);
            assert_eq!(z.to_vec_blocking().unwrap(), expected(&x, &y, s), "{m}x{n}");
        }
    }
}

#[test]
fn every_legal_variant_agrees_and_others_are_refused() {
    let device = device();
    let function = artifacts::scaled_add();
    let y = Tensor1::from_vec(&device, ramp(6), [6]).unwrap();
    for (rows, legal) in [(1, vec![(0, "flat"), (1, "strided")]), (4, vec![(1, "strided")])] {
        let x = Tensor2::from_vec(&device, ramp(6 * rows), [rows, 6]).unwrap();
        let args = [Arg::from(&x), Arg::from(&y), Arg::from(3.0f32)];
        let found = variants(function, &args).unwrap();
        assert_eq!((found[0].kernel, &found[0].legal), ("scaled_add", &legal));
        for (variant, _) in legal {
            let z = launch_with(function, &args, &[variant]).unwrap();
            let z = Tensor2::<f32>::from_raw(z[0].clone()).to_vec_blocking().unwrap();
            assert_eq!(z, expected(&ramp(6 * rows), &ramp(6), 3.0));
        }
        if rows > 1 {
            let error = launch_with(function, &args, &[0]).unwrap_err();
            assert!(matches!(&error, Error::Variant { variant, .. } if variant == "flat"), "{error}");
        }
        assert!(matches!(launch_with(function, &args, &[9]), Err(Error::Variant { .. })));
    }
}

#[test]
fn a_forced_variant_is_used_or_refused() {
    let device = device();
    let function = artifacts::scaled_add();
    let explain = |rows| device.explain(function, &[&[rows, 6], &[6], &[]]);
    assert_eq!(explain(1).unwrap().kernels[0].chosen.as_deref(), Some("flat"));
    device.force_variant(Some("strided"));
    assert_eq!(explain(1).unwrap().kernels[0].chosen.as_deref(), Some("strided"));
    device.force_variant(Some("flat"));
    assert!(matches!(explain(4), Err(Error::Variant { .. })));
    let (x, y) =
        (Tensor2::from_vec(&device, ramp(24), [4, 6]).unwrap(), Tensor1::from_vec(&device, ramp(6), [6]).unwrap());
    assert!(matches!(launch::<1>(function, &[(&x).into(), (&y).into(), 1f32.into()]), Err(Error::Variant { .. })));
    device.force_variant(Some("no kernel has this"));
    let explanation = explain(4).unwrap();
    assert_eq!(explanation.kernels[0].chosen.as_deref(), Some("strided"));
    let text = explanation.to_string();
    assert!(text.contains("scaled_add over [4, 6]: `strided`, workgroups [1]"), "{text}");
    assert!(text.contains("`flat`: its text indexes at most 1 axes"), "{text}");
}

#[test]
fn many_workgroups_fold_into_two_dimensions() {
    let device = device();
    // Over 65 535 workgroups of 64.
    let n = 65_535 * 64 + 4_321;
    let values: Vec<u32> = (0..n as u32).collect();
    let x = Tensor1::from_vec(&device, values, [n]).unwrap();
    let [double, same] = launch(artifacts::steps(DType::U32), &[(&x).into()]).unwrap();
    let double = Tensor1::<u32>::from_raw(double).to_vec_blocking().unwrap();
    assert!((0..n).all(|i| double[i] == 2 * (i as u32 + 1)));
    assert_eq!(Tensor1::<u32>::from_raw(same).to_vec_blocking().unwrap(), x.to_vec_blocking().unwrap());
}

fn check_steps<T: Element>(function: &'static Function, values: &[T], double: &[T]) {
    let x = Tensor1::from_slice(&device(), values, [values.len()]).unwrap();
    let results = launch_dynamic(function, &[(&x).into()]).unwrap();
    assert_eq!(Tensor1::<T>::from_raw(results[0].clone()).to_vec_blocking().unwrap(), double);
    assert_eq!(Tensor1::<T>::from_raw(results[1].clone()).to_vec_blocking().unwrap(), values);
}

#[test]
fn temporaries_and_several_results_in_every_dtype() {
    check_steps(artifacts::steps(DType::F32), &[0.5, -1.0, 7.0], &[3.0, 0.0, 16.0]);
    check_steps(artifacts::steps(DType::I32), &[i32::MAX - 1, -5], &[-2, -8]);
    check_steps(artifacts::steps(DType::U32), &[1u32, 2, 3, 4, 5], &[4, 6, 8, 10, 12]);
}

#[test]
fn f16_runs_where_the_adapter_has_it_and_is_refused_elsewhere() {
    let halves = [0.5, -1.0, 7.0].map(f16::from_f32);
    let function = artifacts::steps(DType::F16);
    if device().info().features.f16 {
        check_steps(function, &halves, &[3.0, 0.0, 16.0].map(f16::from_f32));
    }
    let without = fuse_runtime::Device::builder().without_f16().without_pipeline_cache().build_blocking().unwrap();
    let x = Tensor1::from_slice(&without, &halves, [3]).unwrap();
    assert_eq!(x.to_vec_blocking().unwrap(), halves, "storing needs no feature");
    let error = launch::<2>(function, &[(&x).into()]).unwrap_err();
    assert!(matches!(&error, Error::MissingFeature { what, .. } if what.contains("steps.0")), "{error}");
}

#[test]
fn slices_read_at_their_offset_and_stay_inside() {
    let device = device();
    let x = Tensor1::from_vec(&device, ramp(10), [10]).unwrap();
    let [z] = launch(artifacts::tail(7), &[(&x).into()]).unwrap();
    assert_eq!(Tensor1::<f32>::from_raw(z).to_vec_blocking().unwrap(), ramp(10)[7..]);
    // A defective artifact: its slice starts one too late for its extent.
    let mut outside = artifacts::tail(7).clone();
    outside.kernels.to_mut()[0].accesses.to_mut()[0].starts = vec![8.into()].into();
    let error = launch::<1>(artifacts::leak(outside), &[(&x).into()]).unwrap_err();
    assert!(matches!(&error, Error::Internal { message } if message.contains("element 10 is read")), "{error}");
}

#[test]
fn expression_form_broadcasts_ranks_and_numbers() {
    let device = device();
    let function = artifacts::padded_add();
    let a = Tensor3::from_vec(&device, ramp(24), [2, 3, 4]).unwrap();
    let b = Tensor1::from_vec(&device, ramp(4), [4]).unwrap();
    let [sum] = launch_padded(function, &[(&a).into(), (&b).into()], [3]).unwrap();
    let sum = Tensor3::<f32>::from_raw(sum);
    assert_eq!(sum.shape(), [2, 3, 4]);
    assert_eq!(sum.to_vec_blocking().unwrap(), expected(&ramp(24), &ramp(4), 1.0));

    let column = Tensor2::from_vec(&device, vec![10.0, 20.0, 30.0], [3, 1]).unwrap();
    let [outer] = launch_padded(function, &[(&column).into(), (&b).into()], [2]).unwrap();
    let outer = Tensor2::<f32>::from_raw(outer).to_vec_blocking().unwrap();
    assert_eq!(outer[..5], [10.5, 11.5, 12.5, 13.5, 20.5]);

    let number = device.scalar_tensor(DType::F32, 100f32.to_bits()).unwrap();
    let [shifted] = launch_padded(function, &[(&b).into(), (&number).into()], [1]).unwrap();
    assert_eq!(Tensor1::<f32>::from_raw(shifted).to_vec_blocking().unwrap(), [100.5, 101.5, 102.5, 103.5]);
    let [both] = launch_padded(function, &[(&number).into(), (&number).into()], [0]).unwrap();
    assert_eq!(Tensor0::<f32>::from_raw(both).to_vec_blocking().unwrap(), [200.0]);

    let short = Tensor1::from_vec(&device, ramp(3), [3]).unwrap();
    let error = launch_padded::<1>(function, &[(&a).into(), (&short).into()], [3]).unwrap_err();
    let expected = "kernel `padded_add`: 4 (from `a`, axis 2) and 3 (from `b`, axis 0) do not broadcast";
    assert!(error.to_string().starts_with(expected), "{error}");
    let too_few = launch_padded::<1>(function, &[(&a).into(), (&b).into()], [2]).unwrap_err();
    assert!(matches!(too_few, Error::Internal { .. }), "a rank that loses axes is the macro's mistake");
}

#[test]
fn empty_tensors_launch_nothing() {
    let device = device();
    for [m, n] in [[0, 5], [5, 0], [0, 0]] {
        let x = Tensor2::<f32>::zeros(&device, [m, n]).unwrap();
        let y = Tensor1::<f32>::zeros(&device, [n]).unwrap();
        let z = scaled_add(&x, &y, 1.0).unwrap();
        assert_eq!((z.shape(), z.is_empty()), ([m, n], true));
        assert!(z.to_vec_blocking().unwrap().is_empty());
    }
    let a = Tensor2::<f32>::zeros(&device, [0, 1]).unwrap();
    let b = Tensor1::from_vec(&device, ramp(4), [4]).unwrap();
    let [sum] = launch_padded(artifacts::padded_add(), &[(&a).into(), (&b).into()], [2]).unwrap();
    assert_eq!(sum.shape(), [0, 4]);
}

#[test]
fn launch_into_writes_given_tensors() {
    let device = device();
    let x = Tensor2::from_vec(&device, ramp(6), [2, 3]).unwrap();
    let y = Tensor1::from_vec(&device, ramp(3), [3]).unwrap();
    let z = Tensor2::<f32>::full(&device, -1.0, [2, 3]).unwrap();
    let shared = z.clone();
    launch_into(artifacts::scaled_add(), &[(&x).into(), (&y).into(), 2f32.into()], &[z.raw()]).unwrap();
    assert_eq!(shared.to_vec_blocking().unwrap(), expected(&ramp(6), &ramp(3), 2.0));
}
