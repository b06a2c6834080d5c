//! Reduction launches: any length and layout, rows shared by workgroups, scratch memory, empty rows.

use fuse_runtime::{
    __private::{Arg, launch, launch_with, variants},
    Error, Tensor2, Tensor3,
    artifact::Function,
};

use crate::{artifacts, device, ramp, row_artifacts::centered};

/// Small integers: sums are exact in `f32`.
fn values(count: usize) -> Vec<f32> {
    ramp(count).iter().map(|value| (value * 7.0).floor() % 5.0).collect()
}

/// [`centered`] over axis `axis`.
fn reference(x: &[f32], shape: [usize; 3], axis: usize) -> (Vec<f32>, Vec<f32>) {
    let length = shape[axis];
    let (outer, inner): (usize, usize) = (shape[..axis].iter().product(), shape[axis + 1..].iter().product());
    let (mut y, mut s) = (vec![0.0; x.len()], vec![0.0; outer * inner]);
    for (row, s) in s.iter_mut().enumerate() {
        let at = |i: usize| (row / inner) * inner * length + i * inner + row % inner;
        let most = (0..length).map(|i| x[at(i)]).fold(f32::MIN, f32::max);
        *s = (0..length).map(|i| x[at(i)] - most).sum();
        (0..length).for_each(|i| y[at(i)] = x[at(i)] - most + *s);
    }
    (y, s)
}

fn check(function: &'static Function, shape: [usize; 3], axis: usize, names: &[&str]) {
    let device = device();
    let x = values(shape.iter().product());
    let tensor = Tensor3::from_slice(&device, &x, shape).unwrap();
    let args = [Arg::from(&tensor)];
    let legal = variants(function, &args).unwrap().remove(0).legal;
    assert_eq!(legal.iter().map(|(_, name)| *name).collect::<Vec<_>>(), names, "{shape:?}");
    let (y, s) = reference(&x, shape, axis);
    let compare = |results: Vec<fuse_runtime::__private::RawTensor>, name: &str| {
        let [found_y, found_s] = <[_; 2]>::try_from(results).unwrap();
        assert_eq!(Tensor3::<f32>::from_raw(found_y).to_vec_blocking().unwrap(), y, "{shape:?} {axis} {name}");
        assert_eq!(Tensor2::<f32>::from_raw(found_s).to_vec_blocking().unwrap(), s, "{shape:?} {axis} {name}");
    };
    // Recycled memory is not zero.
    drop(Tensor3::<f32>::full(&device, 9.0, shape).unwrap());
    compare(launch::<2>(function, &args).unwrap().into(), "chosen");
    for (variant, name) in legal {
        compare(launch_with(function, &args, &[variant]).unwrap(), name);
    }
}

#[test]
fn every_variant_reduces_rows_of_every_length() {
    let function = centered(2);
    for shape in [[1, 1, 1], [2, 3, 5], [3, 1, 64], [5, 7, 33]] {
        check(function, shape, 2, &["held", "split", "streamed"]);
    }
    check(function, [1, 4, 1000], 2, &["split", "streamed"]);
    check(function, [2, 2, 4097], 2, &["split", "streamed"]);
}

#[test]
fn other_axes_are_reduced_where_they_lie() {
    for axis in [0, 1] {
        for shape in [[2, 3, 5], [40, 3, 6], [6, 40, 1], [3, 64, 4]] {
            check(centered(axis), shape, axis, &["held", "split", "streamed"]);
        }
    }
    check(centered(0), [4097, 2, 2], 0, &["split", "streamed"]);
}

#[test]
fn empty_rows_have_results_and_no_rows_none() {
    check(centered(2), [2, 3, 0], 2, &["held", "streamed"]);
    let device = device();
    for shape in [[0, 3, 5], [2, 0, 0]] {
        let x = Tensor3::<f32>::zeros(&device, shape).unwrap();
        let explanation = device.explain(centered(2), &[&shape]).unwrap();
        assert_eq!((explanation.kernels[0].chosen.as_deref(), &explanation.kernels[0].workgroups[..]), (None, &[][..]));
        let [y, s] = launch(centered(2), &[(&x).into()]).unwrap();
        assert_eq!((y.shape(), s.shape()), (&shape[..], &shape[..2]));
    }
}

#[test]
fn long_rows_are_split_into_whole_steps() {
    let device = device();
    device.force_variant(Some("split"));
    let explanation = device.explain(centered(2), &[&[1, 1, 20_000]]).unwrap();
    let kernel = &explanation.kernels[0];
    assert_eq!(kernel.extents, [20_000], "axes of one row are dropped");
    assert!(kernel.splits > 1 && kernel.splits <= 256, "{explanation}");
    assert_eq!(kernel.workgroups, vec![kernel.splits as u32; 3], "three passes over all parts");
    let several = device.explain(centered(2), &[&[3, 5, 20_000]]).unwrap();
    assert_eq!(several.kernels[0].extents, [15, 20_000]);
    let columns = device.explain(centered(1), &[&[3, 20_000, 5]]).unwrap();
    assert_eq!(columns.kernels[0].extents, [3, 5, 20_000]);
}

#[test]
fn scratch_memory_counts_against_the_limit_and_must_be_declared() {
    let device = device();
    let x = Tensor3::<f32>::zeros(&device, [2, 3, 500]).unwrap();
    let mut greedy = centered(2).clone();
    greedy.kernels.to_mut()[0].variants.to_mut()[1].scratch.per_row = u32::MAX;
    let error = launch_with(artifacts::leak(greedy.clone()), &[(&x).into()], &[1]).unwrap_err();
    let wanted = matches!(&error, Error::Variant { reason, .. } if reason.contains("bytes of scratch memory"));
    assert!(wanted || device.info().limits.binding_bytes > 1 << 36, "{error}");
    greedy.kernels.to_mut()[0].variants.to_mut()[1].scratch.per_row = 0;
    let error = launch_with(artifacts::leak(greedy), &[(&x).into()], &[1]).unwrap_err();
    assert!(matches!(&error, Error::Internal { message } if message.contains("without saying how much")), "{error}");
}
