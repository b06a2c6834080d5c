//! Conveniences of NumPy, PyTorch and JAX.

use fuse_gpu::{
    Tensor1, Tensor2,
    auto::{DType, Error, Extent, LazyTensor, execute_fused, stats},
    f16,
};

use super::{assert_near, device, lazy};

#[test]
fn tensors_are_made_of_numbers() -> Result<(), Error> {
    let device = device();
    let zeros = LazyTensor::zeros::<f32, _>(&device, [2, 3])?;
    assert_eq!((zeros.shape()?, zeros.to_vec_blocking::<f32>()?), (vec![2, 3], vec![0.0; 6]));
    assert_eq!(LazyTensor::full(&device, f16::ONE, [2])?.add(1)?.to_vec_blocking::<f16>()?, [f16::from_f32(2.0); 2]);
    assert_eq!(LazyTensor::full(&device, true, [3])?.to_vec_blocking::<bool>()?, [true; 3]);
    assert_eq!(LazyTensor::full(&device, 7u32, [0usize; 0])?.item_blocking::<u32>()?, 7);
    let counted = LazyTensor::arange(&device, 5)?;
    assert_eq!((counted.dtype()?, counted.to_vec_blocking::<i32>()?), (DType::I32, vec![0, 1, 2, 3, 4]));
    let sum = |rows: usize, value: f32| -> Result<Vec<f32>, Error> {
        let x = lazy(&device, [rows, 3], 1).0;
        let ones = LazyTensor::full(&device, value, [x.dim(0), x.dim(1)])?;
        (&x * 0.0 + &ones).sum(())?.to_vec_blocking()
    };
    assert_eq!(sum(4, 1.0)?, [12.0]);
    let before = stats(&device).compiled;
    assert_eq!((sum(5, 2.0)?, stats(&device).compiled), (vec![30.0], before));
    Ok(())
}

#[test]
fn one_element_is_a_number() -> Result<(), Error> {
    let device = device();
    let (x, values) = lazy(&device, [3, 4], 1);
    assert_near(&[x.sum(())?.item_blocking()?], &[values.iter().sum()], 1e-5);
    assert_eq!(pollster::block_on(LazyTensor::full(&device, 3, [1, 1])?.item::<i32>())?, 3);
    let error = x.item_blocking::<f32>().expect_err("twelve").to_string();
    assert!(error.contains("f32[3, 4]") && error.contains("to_vec"), "{error}");
    let tensor = Tensor2::from_vec(&device, vec![2.5f32], [1, 1])?;
    assert_eq!((tensor.item_blocking()?, pollster::block_on(tensor.item())?), (2.5, 2.5));
    let two = Tensor1::from_vec(&device, vec![1, 2], [2])?;
    assert_eq!(two.item_blocking().unwrap_err().to_string(), "shape [] holds 1 elements, found 2");
    Ok(())
}

#[test]
fn tensors_print_their_shape_and_values() -> Result<(), Error> {
    let device = device();
    let tensor = Tensor2::from_vec(&device, vec![1.0f32, 2.0, 3.5, -4.0], [2, 2])?;
    let expected = "f32[2, 2]\n[[ 1.0,  2.0],\n [ 3.5, -4.0]]";
    assert_eq!(tensor.to_string(), expected);
    let x = LazyTensor::from(&tensor);
    assert_eq!((x.to_string(), pollster::block_on(x.text())?), (expected.to_owned(), expected.to_owned()));
    assert_eq!((&x + 1).sum(())?.to_string(), "f32 6.5");
    let wrong = &x + LazyTensor::arange(&device, 3)?;
    assert!(wrong.to_string().starts_with("<`add`"), "{wrong}");
    Ok(())
}

#[test]
fn shapes_are_plain_numbers() -> Result<(), Error> {
    let device = device();
    let (x, values) = lazy(&device, [5, 4, 3], 1);
    for (shape, expected) in
        [(vec![5, 12], vec![5, 12]), (vec![-1], vec![60]), (vec![5, -1], vec![5, 12]), (vec![-1, 6], vec![10, 6])]
    {
        assert_eq!(x.reshape(&shape)?.shape()?, expected);
    }
    let shape = &[2, 30];
    assert_eq!(x.reshape(shape)?.to_vec_blocking::<f32>()?, values);
    let sizes: [Extent; 2] = [x.dim(0).into(), (-1).into()];
    assert_eq!(x.reshape(sizes)?.shape()?, [5, 12]);
    assert_eq!(LazyTensor::full(&device, 1.0f32, [1])?.reshape([-1, 1, 1])?.shape()?, [1, 1, 1]);
    for wrong in [vec![-1, -1], vec![-2, 30], vec![7, -1], vec![0, -1]] {
        let error = x.reshape(&wrong).expect_err("no such shape").to_string();
        assert!(error.contains("reshape") && error.contains("-1"), "{error}");
    }
    // -1 is symbolic if the other sizes are axes.
    let sum = |rows: usize| lazy(&device, [rows, 3], 2).0.exp()?.reshape([-1])?.neg()?.to_vec_blocking::<f32>();
    sum(4)?;
    let before = stats(&device).compiled;
    assert_eq!((sum(6)?.len(), stats(&device).compiled), (18, before));
    Ok(())
}

#[test]
fn vectors_are_rows_and_columns_of_products() -> Result<(), Error> {
    let device = device();
    let ((a, x), (v, y), (b, z)) = (lazy(&device, [3, 4], 1), lazy(&device, [4], 2), lazy(&device, [2, 4, 5], 3));
    let dot = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f32>();
    let rows: Vec<f32> = x.chunks(4).map(|row| dot(row, &y)).collect();
    let product = a.matmul(&v)?;
    assert_eq!(product.shape()?, [3]);
    assert_near(&product.to_vec_blocking::<f32>()?, &rows, 1e-5);
    assert_near(&[v.matmul(&v)?.item_blocking()?], &[dot(&y, &y)], 1e-5);
    let product = v.matmul(&b)?;
    assert_eq!(product.shape()?, [2, 5]);
    let column = |batch: usize, n: usize| (0..4).map(|k| z[(batch * 4 + k) * 5 + n]).collect::<Vec<_>>();
    let expected: Vec<f32> = (0..10).map(|i| dot(&y, &column(i / 5, i % 5))).collect();
    assert_near(&product.to_vec_blocking::<f32>()?, &expected, 1e-5);
    assert!(a.matmul(&a.sum(())?).is_err() && a.matmul(&a.sum(1)?).is_err());
    Ok(())
}

#[test]
fn truth_values_are_counted() -> Result<(), Error> {
    let device = device();
    let (x, values) = lazy(&device, [6, 7], 1);
    let positive = x.gt(0)?;
    let count = values.iter().filter(|x| **x > 0.0).count();
    assert_eq!(positive.sum(())?.item_blocking::<i32>()?, count as i32);
    assert_near(&[positive.mean(())?.item_blocking()?], &[count as f32 / 42.0], 1e-6);
    Ok(())
}

#[test]
fn operators_assign_and_take_any_number() -> Result<(), Error> {
    let device = device();
    let (mut x, values) = lazy(&device, [6], 1);
    let start = x.clone();
    x += 1;
    x *= &start;
    x -= 0.5;
    x /= 2usize;
    x = 3.0 * x + std::f64::consts::PI - 1i64;
    let expected: Vec<f32> =
        values.iter().map(|&v| 3.0 * (((v + 1.0) * v - 0.5) / 2.0) + std::f32::consts::PI - 1.0).collect();
    assert_near(&x.to_vec_blocking::<f32>()?, &expected, 1e-5);
    assert_near(&start.to_vec_blocking::<f32>()?, &values, 0.0);
    let mut counts = LazyTensor::arange(&device, 4)?;
    counts <<= 1;
    counts |= 1;
    counts %= 4;
    assert_eq!(counts.to_vec_blocking::<i32>()?, [1, 3, 1, 3]);
    // Numbers outside the dtype's range are refused, not wrapped.
    assert!((&counts + i64::MAX).eval().is_err() && (&counts + 0.5).eval().is_err());
    Ok(())
}

#[test]
fn sequences_by_name_take_numbers() -> Result<(), Error> {
    let device = device();
    let ((x, values), (y, others)) = (lazy(&device, [2, 6], 1), lazy(&device, [2, 6], 2));
    let names = ["max", "add(1)", "clamp(0, 1.5)", "reshape(-1, 4)", "sum(0)"];
    let found = execute_fused(&[&x, &y], &names)?.to_vec_blocking::<f32>()?;
    let clamped: Vec<f32> = values.iter().zip(&others).map(|(x, y)| (x.max(*y) + 1.0).clamp(0.0, 1.5)).collect();
    let expected: Vec<f32> = (0..4).map(|i| clamped.iter().skip(i).step_by(4).sum()).collect();
    assert_near(&found, &expected, 1e-5);
    let names = ["concat(0)", "slice(1, 1, 3)", "gt(0)", "sum", "cast(f32)", "pow(2)"];
    let found = execute_fused(&[&x, &y], &names)?.item_blocking::<f32>()?;
    let count = values.chunks(6).chain(others.chunks(6)).flat_map(|row| &row[1..3]).filter(|x| **x > 0.0).count();
    assert_near(&[found], &[(count * count) as f32], 1e-5);
    for wrong in ["softmax(0.5)", "slice(1)", "sum(9)", "add(1, 2)", "roll(0)"] {
        assert!(execute_fused(&[&x], &[wrong]).is_err(), "{wrong}");
    }
    Ok(())
}
