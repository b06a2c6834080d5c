//! Tensors: host data in and out, reshapes, random values.

use fuse_runtime::{Error, Tensor0, Tensor1, Tensor2, Tensor3, f16};

use crate::{device, ramp};

#[test]
fn values_survive_the_round_trip_in_every_dtype() {
    let device = device();
    let numbers = [0.0f32, -0.0, f32::NAN, f32::INFINITY, f32::MIN_POSITIVE / 2.0];
    let back = Tensor1::from_slice(&device, &numbers, [5]).unwrap().to_vec_blocking().unwrap();
    assert_eq!(back.map_bits(), numbers.to_vec().map_bits());
    for count in 0..9 {
        let halves: Vec<f16> = (0..count).map(|i| f16::from_f32(i as f32 - 2.5)).collect();
        let tensor = Tensor1::from_slice(&device, &halves, [count]).unwrap();
        assert_eq!(tensor.to_vec_blocking().unwrap(), halves, "{count} halves");
        let flags: Vec<bool> = (0..count).map(|i| i % 3 == 1).collect();
        let tensor = Tensor1::from_slice(&device, &flags, [count]).unwrap();
        assert_eq!(pollster::block_on(tensor.to_vec()).unwrap(), flags);
    }
    let whole = vec![i32::MIN, -1, 0, i32::MAX];
    assert_eq!(Tensor1::from_vec(&device, whole.clone(), [4]).unwrap().to_vec_blocking().unwrap(), whole);
    assert_eq!(Tensor0::from_vec(&device, vec![7u32], []).unwrap().to_vec_blocking().unwrap(), [7]);
}

trait MapBits {
    fn map_bits(self) -> Vec<u32>;
}

impl MapBits for Vec<f32> {
    fn map_bits(self) -> Vec<u32> {
        self.into_iter().map(f32::to_bits).collect()
    }
}

#[test]
fn filled_tensors_are_full() {
    let device = device();
    // Larger than one chunk of the fill, and odd.
    let n = 70_001;
    assert_eq!(Tensor1::full(&device, 2.5f32, [n]).unwrap().to_vec_blocking().unwrap(), vec![2.5; n]);
    let half = f16::from_f32(0.1);
    assert_eq!(Tensor1::full(&device, half, [n]).unwrap().to_vec_blocking().unwrap(), vec![half; n]);
    assert_eq!(Tensor1::full(&device, true, [3]).unwrap().to_vec_blocking().unwrap(), [true; 3]);
    assert_eq!(Tensor1::<i32>::zeros(&device, [n]).unwrap().to_vec_blocking().unwrap(), vec![0; n]);
}

#[test]
fn shapes_are_checked_and_reshapes_share_memory() {
    let device = device();
    let error = Tensor2::from_vec(&device, ramp(5), [2, 3]).unwrap_err();
    assert_eq!(error, Error::LengthMismatch { shape: vec![2, 3], expected: 6, found: 5 });
    let x = Tensor2::from_vec(&device, ramp(24), [4, 6]).unwrap();
    let y: Tensor3<f32> = x.reshape([2, 3, 4]).unwrap();
    assert_eq!((y.shape(), y.len()), ([2, 3, 4], 24));
    assert_eq!(device.memory_report().live_buffers, 1);
    assert_eq!(y.to_vec_blocking().unwrap(), ramp(24));
    assert_eq!(x.reshape([5, 5]).unwrap_err().to_string(), "shape [5, 5] holds 25 elements, found 24");
    let empty = Tensor2::<f32>::zeros(&device, [0, 3]).unwrap();
    assert!(empty.is_empty() && empty.reshape([7, 0, usize::MAX]).is_ok());
    assert!(format!("{x:?}").starts_with("Tensor f32[4, 6] on "));
}

#[test]
fn random_tensors_depend_on_their_seed_only() {
    let device = device();
    let a = Tensor2::<f32>::randn(&device, [30, 40], 1).unwrap().to_vec_blocking().unwrap();
    let b = Tensor2::<f32>::randn(&device, [30, 40], 1).unwrap().to_vec_blocking().unwrap();
    let c = Tensor2::<f32>::randn(&device, [30, 40], 2).unwrap().to_vec_blocking().unwrap();
    assert!(a == b && a != c);
    let uniform = Tensor1::<f16>::rand(&device, [1000], 3).unwrap().to_vec_blocking().unwrap();
    assert!(uniform.iter().all(|value| (0.0..1.0).contains(&value.to_f32())));
}

#[cfg(feature = "ndarray")]
#[test]
fn arrays_convert_both_ways() {
    use ndarray::{Array2, arr2};

    let device = device();
    let array = arr2(&[[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let tensor = Tensor2::from_ndarray(&device, &array).unwrap();
    assert_eq!(tensor.to_ndarray_blocking().unwrap(), array);
    // Other memory orders arrive in logical order.
    let transposed = Tensor2::from_ndarray(&device, &array.t()).unwrap();
    assert_eq!(transposed.to_vec_blocking().unwrap(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let empty: Array2<f32> = Array2::zeros((0, 3));
    assert_eq!(Tensor2::from_ndarray(&device, &empty).unwrap().to_ndarray_blocking().unwrap(), empty);
}
