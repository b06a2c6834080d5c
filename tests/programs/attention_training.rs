//! Training of an attention block: one call per step, changing sequence lengths, gradients equal to those of a plan
//! that stores scores.

use fuse_gpu::{Device, Error, Tensor2, Tensor3, fuse};

fuse! {
    /// The update of a residual block of causal attention with two heads.
    fn block(x: f32[B, S, 16], wq: f32[16, 16], wk: f32[16, 16], wv: f32[16, 16], wo: f32[16, 16]) -> f32[B, S, 16] {
        let q = permute(reshape(matmul(x, wq), [B, S, 2, 8]), [0, 2, 1, 3]);
        let k = permute(reshape(matmul(x, wk), [B, S, 2, 8]), [0, 2, 1, 3]);
        let v = permute(reshape(matmul(x, wv), [B, S, 2, 8]), [0, 2, 1, 3]);
        let s = matmul(q, transpose(k)) * 0.353553;
        let a = matmul(softmax(select(index(s, axis = 3) <= index(s, axis = 2), s, -inf)), v);
        x + matmul(reshape(permute(a, [0, 2, 1, 3]), [B, S, 16]), wo)
    }

    /// The loss, and the weights after a step of gradient descent.
    pub fn step(
        x: f32[B, S, 16], y: f32[B, S, 16],
        wq: f32[16, 16], wk: f32[16, 16], wv: f32[16, 16], wo: f32[16, 16], rate: f32,
    ) -> (f32, f32[16, 16], f32[16, 16], f32[16, 16], f32[16, 16]) {
        let error = block(x, wq, wk, wv, wo) - y;
        let loss = mean(error * error);
        let (dq, dk, dv, dw) = grad(loss, wrt = [wq, wk, wv, wo]);
        (loss, wq - rate * dq, wk - rate * dk, wv - rate * dv, wo - rate * dw)
    }

    pub fn gradients(
        x: f32[B, S, 16], y: f32[B, S, 16], wq: f32[16, 16], wk: f32[16, 16], wv: f32[16, 16], wo: f32[16, 16],
    ) -> (f32[16, 16], f32[16, 16], f32[16, 16], f32[16, 16]) {
        let error = block(x, wq, wk, wv, wo) - y;
        grad(sum(error * error), wrt = [wq, wk, wv, wo])
    }

    /// The same with one kernel per operation; every value is stored.
    #[no_fuse]
    pub fn gradients_stored(
        x: f32[B, S, 16], y: f32[B, S, 16], wq: f32[16, 16], wk: f32[16, 16], wv: f32[16, 16], wo: f32[16, 16],
    ) -> (f32[16, 16], f32[16, 16], f32[16, 16], f32[16, 16]) {
        let error = block(x, wq, wk, wv, wo) - y;
        grad(sum(error * error), wrt = [wq, wk, wv, wo])
    }
}

const WIDTH: usize = 16;

fn device() -> Device {
    Device::builder().without_pipeline_cache().build_blocking().expect("tests need an adapter")
}

/// Each token's target is the mean of all tokens so far, which attention can represent.
fn lesson(device: &Device, length: usize, seed: u64) -> Result<[Tensor3<f32>; 2], Error> {
    let x = Tensor3::<f32>::randn(device, [1, length, WIDTH], seed)?;
    let tokens = x.to_vec_blocking()?;
    let mut wanted = tokens.clone();
    let mut sums = [0.0; WIDTH];
    for (row, (token, wanted)) in tokens.chunks(WIDTH).zip(wanted.chunks_mut(WIDTH)).enumerate() {
        for ((sum, x), y) in sums.iter_mut().zip(token).zip(wanted) {
            *sum += x;
            *y = x + *sum / (row + 1) as f32;
        }
    }
    Ok([x, Tensor3::from_vec(device, wanted, [1, length, WIDTH])?])
}

fn weights(device: &Device) -> Result<[Tensor2<f32>; 4], Error> {
    let weight = |seed: u64| -> Result<Tensor2<f32>, Error> {
        let numbers = Tensor2::<f32>::randn(device, [WIDTH, WIDTH], seed)?.to_vec_blocking()?;
        Tensor2::from_vec(device, numbers.iter().map(|x| 0.25 * x).collect(), [WIDTH, WIDTH])
    };
    Ok([weight(1)?, weight(2)?, weight(3)?, weight(4)?])
}

/// Lengths below, at and beyond tile sizes.
const LENGTHS: [usize; 8] = [33, 1, 64, 7, 97, 16, 2, 45];

#[test]
fn a_block_of_attention_learns_from_sequences_of_any_length() {
    let device = device();
    let [mut wq, mut wk, mut wv, mut wo] = weights(&device).unwrap();
    let mut losses = vec![];
    for turn in 0..192 {
        let [x, y] = lesson(&device, LENGTHS[turn % LENGTHS.len()], turn as u64 + 10).unwrap();
        let loss;
        (loss, wq, wk, wv, wo) = step(&x, &y, &wq, &wk, &wv, &wo, 0.2).unwrap();
        losses.push(loss.to_vec_blocking().unwrap()[0]);
    }
    assert!(losses.iter().all(|loss| loss.is_finite()), "{losses:?}");
    let mean = |losses: &[f32]| losses.iter().sum::<f32>() / losses.len() as f32;
    let (first, last) = (mean(&losses[..LENGTHS.len()]), mean(&losses[losses.len() - LENGTHS.len()..]));
    assert!(last < 0.5 * first, "from {first} to {last}");
}

#[test]
fn gradients_agree_with_those_of_stored_scores() {
    let device = device();
    let [wq, wk, wv, wo] = weights(&device).unwrap();
    for length in LENGTHS {
        let [x, y] = lesson(&device, length, length as u64).unwrap();
        let found = gradients(&x, &y, &wq, &wk, &wv, &wo).unwrap();
        let expected = gradients_stored(&x, &y, &wq, &wk, &wv, &wo).unwrap();
        let pairs = [(found.0, expected.0), (found.1, expected.1), (found.2, expected.2), (found.3, expected.3)];
        for (found, expected) in pairs {
            let [found, expected] = [found, expected].map(|tensor| tensor.to_vec_blocking().unwrap());
            let largest = expected.iter().fold(1.0f32, |most, x| most.max(x.abs()));
            let apart = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(apart <= 1e-4 * largest, "{apart} beside {largest} for {length} tokens");
        }
    }
}

#[test]
fn memory_grows_with_the_sequence_and_not_with_its_square() {
    let device = device();
    let [wq, wk, wv, wo] = weights(&device).unwrap();
    let length = 2048;
    let [x, y] = lesson(&device, length, 5).unwrap();
    step(&x, &y, &wq, &wk, &wv, &wo, 1.0).unwrap().0.to_vec_blocking().unwrap();
    let (peak, scores) = (device.memory_report().peak_bytes, (length * length * size_of::<f32>()) as u64);
    assert!(peak < scores / 4, "{peak} bytes, where the scores of one head would be {scores}");
}
