//! Parameters of type `&mut`: a training step that updates its state in place, launched and replayed; swapped values;
//! refused calls.

use fuse_gpu::{Device, Error, Tensor0, Tensor1, Tensor2, fuse, kernels::optimizers};

fuse! {
    use fuse_gpu::kernels::optimizers::{adamw, adamw_matrix};

    fn scores(x: f32[B, K], w: f32[K, H], b: f32[H], v: f32[H, C]) -> f32[B, C] {
        matmul(relu(matmul(x, w) + b), v)
    }

    fn slopes(x: f32[B, K], y: i32[B], w: f32[K, H], b: f32[H], v: f32[H, C]) -> (f32, f32[K, H], f32[H], f32[H, C]) {
        let loss = mean(cross_entropy(scores(x, w, b, v), y));
        let (dw, db, dv) = grad(loss, wrt = [w, b, v]);
        (loss, dw, db, dv)
    }

    /// A step of AdamW with all state on the device, including the step number.
    fn train(
        x: f32[B, K], y: i32[B], rate: f32, count: &mut f32[],
        w: &mut f32[K, H], wm: &mut f32[K, H], ws: &mut f32[K, H],
        b: &mut f32[H], bm: &mut f32[H], bs: &mut f32[H],
        v: &mut f32[H, C], vm: &mut f32[H, C], vs: &mut f32[H, C],
    ) -> f32 {
        let (loss, dw, db, dv) = slopes(x, y, w, b, v);
        let next = count + 1.0;
        (*w, *wm, *ws) = adamw_matrix(w, dw, wm, ws, rate, 0.9, 0.999, 1e-8, 0.01, next);
        (*b, *bm, *bs) = adamw(b, db, bm, bs, rate, 0.9, 0.999, 1e-8, 0.0, next);
        (*v, *vm, *vs) = adamw_matrix(v, dv, vm, vs, rate, 0.9, 0.999, 1e-8, 0.01, next);
        *count = next;
        loss
    }

    pub fn swap<T: Float>(a: &mut T[M, N], b: &mut T[M, N]) {
        (*a, *b) = (b, a);
    }

    /// Reads elements that it overwrites.
    pub fn turn(x: &mut f32[N, N]) -> f32[N] {
        let sums = sum(x, axis = 1);
        *x = transpose(x) + flip(x, axis = 0);
        sums
    }

    fn center(x: &mut f32[M, N], seen: &mut i32[]) {
        *x -= mean(x, axis = 0);
        *seen += 1;
    }

    /// A product that overwrites its operand.
    fn mix(x: &mut f32[M, N], w: f32[N, N]) {
        *x = matmul(x, w);
    }
}

fn device() -> Device {
    Device::builder().without_pipeline_cache().build_blocking().expect("tests need an adapter")
}

const SIZES: [usize; 4] = [29, 13, 37, 5];

/// In the order of the step's parameters.
struct Training {
    x: Tensor2<f32>,
    y: Tensor1<i32>,
    count: Tensor0<f32>,
    w: [Tensor2<f32>; 3],
    b: [Tensor1<f32>; 3],
    v: [Tensor2<f32>; 3],
}

impl Training {
    fn new(device: &Device) -> Result<Self, Error> {
        let [batch, features, hidden, classes] = SIZES;
        let matrix = |shape, seed| -> Result<_, Error> {
            Ok([Tensor2::randn(device, shape, seed)?, Tensor2::zeros(device, shape)?, Tensor2::zeros(device, shape)?])
        };
        let zeros = || Tensor1::zeros(device, [hidden]);
        Ok(Self {
            x: Tensor2::randn(device, [batch, features], 1)?,
            y: Tensor1::from_vec(device, (0..batch).map(|i| (i * i % classes) as i32).collect(), [batch])?,
            count: Tensor0::zeros(device, [])?,
            w: matrix([features, hidden], 2)?,
            b: [zeros()?, zeros()?, zeros()?],
            v: matrix([hidden, classes], 3)?,
        })
    }

    fn step(&mut self, rate: f32) -> Result<Tensor0<f32>, Error> {
        let ([w, wm, ws], [b, bm, bs], [v, vm, vs]) = (&mut self.w, &mut self.b, &mut self.v);
        train(&self.x, &self.y, rate, &mut self.count, w, wm, ws, b, bm, bs, v, vm, vs)
    }

    fn step_by_hand(&mut self, rate: f32, number: usize) -> Result<Tensor0<f32>, Error> {
        let (loss, dw, db, dv) = slopes(&self.x, &self.y, &self.w[0], &self.b[0], &self.v[0])?;
        let number = number as f32;
        for ([p, m, s], g) in [(&mut self.w, dw), (&mut self.v, dv)] {
            (*p, *m, *s) = optimizers::adamw_matrix(p, &g, m, s, rate, 0.9, 0.999, 1e-8, 0.01, number)?;
        }
        let [p, m, s] = &mut self.b;
        (*p, *m, *s) = optimizers::adamw(p, &db, m, s, rate, 0.9, 0.999, 1e-8, 0.0, number)?;
        Ok(loss)
    }

    fn state(&self) -> Vec<Vec<f32>> {
        let matrices = self.w.iter().chain(&self.v).map(|tensor| tensor.to_vec_blocking().unwrap());
        matrices.chain(self.b.iter().map(|tensor| tensor.to_vec_blocking().unwrap())).collect()
    }
}

#[test]
fn a_step_in_place_is_the_step_that_returns_its_state() {
    let device = device();
    let (mut in_place, mut by_hand) = (Training::new(&device).unwrap(), Training::new(&device).unwrap());
    for number in 1..=6 {
        let found = in_place.step(0.01).unwrap().to_vec_blocking().unwrap()[0];
        let expected = by_hand.step_by_hand(0.01, number).unwrap().to_vec_blocking().unwrap()[0];
        assert!(
            (found - expected).abs() <= 1e-4 * expected.abs().max(1.0),
            "step {number}: {found}, expected {expected}"
        );
    }
    for (found, expected) in in_place.state().iter().zip(by_hand.state()) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= 2e-3, "{found}, expected {expected}");
        }
    }
    assert_eq!(in_place.count.to_vec_blocking().unwrap(), [6.0]);
}

#[test]
fn a_captured_step_learns_as_a_launched_one() {
    let device = device();
    let (mut launched, mut captured) = (Training::new(&device).unwrap(), Training::new(&device).unwrap());
    let losses: Vec<f32> = (0..60).map(|_| launched.step(0.01).unwrap().to_vec_blocking().unwrap()[0]).collect();
    let (sequence, loss) = device.capture(|| captured.step(0.01)).unwrap();
    let replayed: Vec<f32> = (0..60)
        .map(|_| {
            sequence.replay().unwrap();
            loss.to_vec_blocking().unwrap()[0]
        })
        .collect();
    assert_eq!(replayed, losses, "the same bits");
    assert!(losses[59] < 0.5 * losses[0], "{losses:?}");
    assert_eq!(captured.state(), launched.state());
}

#[test]
fn reads_see_old_values() {
    let device = device();
    for shape in [[1, 1], [7, 33], [64, 64], [0, 5]] {
        let [mut a, mut b] = [1, 2].map(|seed| Tensor2::randn(&device, shape, seed).unwrap());
        let old = [a.to_vec_blocking().unwrap(), b.to_vec_blocking().unwrap()];
        swap::<f32>(&mut a, &mut b).unwrap();
        assert_eq!([b.to_vec_blocking().unwrap(), a.to_vec_blocking().unwrap()], old, "{shape:?}");
    }
    for n in [1, 5, 31, 64] {
        let mut x = Tensor2::<f32>::randn(&device, [n, n], 3).unwrap();
        let old = x.to_vec_blocking().unwrap();
        let sums = turn(&mut x).unwrap().to_vec_blocking().unwrap();
        let expected: Vec<f32> =
            (0..n * n).map(|at| (at / n, at % n)).map(|(i, j)| old[j * n + i] + old[(n - 1 - i) * n + j]).collect();
        assert_eq!(x.to_vec_blocking().unwrap(), expected, "{n}");
        for (found, row) in sums.iter().zip(old.chunks(n)) {
            assert!((found - row.iter().sum::<f32>()).abs() < 1e-4, "sums are those of the old values");
        }
    }
}

#[test]
fn clones_and_reshaped_tensors_keep_their_values() {
    let device = device();
    let mut x = Tensor2::<f32>::randn(&device, [19, 6], 4).unwrap();
    let (clone, copy, reshaped) = (x.clone(), x.copy().unwrap(), x.reshape([6, 19]).unwrap());
    let old = x.to_vec_blocking().unwrap();
    let mut seen = Tensor0::from_vec(&device, vec![41], []).unwrap();
    center(&mut x, &mut seen).unwrap();
    assert_eq!(seen.to_vec_blocking().unwrap(), [42]);
    for kept in [&clone, &copy, &reshaped] {
        assert_eq!(kept.to_vec_blocking().unwrap(), old);
    }
    let new = x.to_vec_blocking().unwrap();
    for column in 0..6 {
        assert!((0..19).map(|row| new[row * 6 + column]).sum::<f32>().abs() < 1e-4);
    }
}

#[test]
fn a_product_takes_the_place_of_its_operand() {
    let device = device();
    for [m, n] in [[1, 3], [33, 65], [128, 128]] {
        let mut x = Tensor2::<f32>::randn(&device, [m, n], 5).unwrap();
        let w = Tensor2::<f32>::randn(&device, [n, n], 6).unwrap();
        let expected = fuse!(matmul(x, w)).unwrap().to_vec_blocking().unwrap();
        mix(&mut x, &w).unwrap();
        for (found, expected) in x.to_vec_blocking().unwrap().iter().zip(expected) {
            assert!((found - expected).abs() <= 1e-4 * n as f32, "{m}x{n}: {found}, expected {expected}");
        }
    }
}

#[test]
fn what_shares_memory_with_an_update_has_the_old_values() {
    let device = device();
    let mut x = Tensor2::<f32>::randn(&device, [4, 4], 7).unwrap();
    let mut same = x.clone();
    let old = x.to_vec_blocking().unwrap();
    let squared = fuse!(matmul(x, same)).unwrap().to_vec_blocking().unwrap();
    mix(&mut x, &same).unwrap();
    assert_eq!((x.to_vec_blocking().unwrap(), same.to_vec_blocking().unwrap()), (squared.clone(), old.clone()));
    let mut twin = same.clone();
    swap::<f32>(&mut same, &mut twin).unwrap();
    swap::<f32>(&mut same, &mut x).unwrap();
    assert_eq!(same.to_vec_blocking().unwrap(), squared);
    assert_eq!((x.to_vec_blocking().unwrap(), twin.to_vec_blocking().unwrap()), (old.clone(), old.clone()));
    let error = mix(&mut x, &Tensor2::zeros(&device, [4, 5]).unwrap()).unwrap_err().to_string();
    assert!(error.contains("`w`") && error.contains('5'), "{error}");
    assert_eq!((x.to_vec_blocking().unwrap(), twin.to_vec_blocking().unwrap()), (old.clone(), old));
}

#[test]
fn the_best_state_is_kept_by_a_clone() {
    let device = device();
    let mut seen = Tensor0::from_vec(&device, vec![0], []).unwrap();
    let mut x = Tensor2::<f32>::zeros(&device, [2, 2]).unwrap();
    let requests = || device.memory_report().requests;
    let before = requests();
    center(&mut x, &mut seen).unwrap();
    let of_a_step = requests() - before;
    seen.write(&[0]).unwrap();
    let mut best = seen.clone();
    for step in 1..=5 {
        center(&mut x, &mut seen).unwrap();
        if step == 3 {
            best = seen.clone();
        }
    }
    assert_eq!((best.to_vec_blocking().unwrap(), seen.to_vec_blocking().unwrap()), (vec![3], vec![5]));
    drop(best);
    let before = requests();
    (0..5).for_each(|_| center(&mut x, &mut seen).unwrap());
    assert_eq!(requests() - before, 5 * of_a_step);
}

#[test]
fn sequences_and_clones_of_their_tensors_keep_apart() {
    let device = device();
    let number = |tensor: &Tensor0<i32>| tensor.to_vec_blocking().unwrap()[0];
    let mut x = Tensor2::<f32>::zeros(&device, [2, 2]).unwrap();
    let mut seen = Tensor0::from_vec(&device, vec![10], []).unwrap();
    let before = seen.clone();
    let mut within = None;
    let capture = || {
        center(&mut x, &mut seen)?;
        within = Some(seen.clone());
        center(&mut x, &mut seen)
    };
    let (sequence, ()) = device.capture(capture).unwrap();
    let within = within.unwrap();
    assert_eq!((number(&before), number(&seen)), (10, 10), "nothing ran");
    assert!(matches!(within.to_vec_blocking(), Err(Error::NotReplayed { .. })));
    let mut between = vec![];
    for round in 1..=3 {
        sequence.replay().unwrap();
        between.push(seen.clone());
        assert_eq!((number(&seen), number(&within)), (10 + 2 * round, 9 + 2 * round));
    }
    assert_eq!(between.iter().map(number).collect::<Vec<_>>(), [12, 14, 16]);
    // Replays read values written to the state, and updates outside of the sequence.
    seen.write(&[20]).unwrap();
    center(&mut x, &mut seen).unwrap();
    sequence.replay().unwrap();
    assert_eq!((number(&before), number(&seen), number(&between[2])), (10, 23, 16));
}

#[test]
fn sequences_follow_what_they_read_and_not_its_clones() {
    let device = device();
    let mut x = Tensor2::from_vec(&device, vec![1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    let mut clone = x.clone();
    let read = || -> Result<_, Error> {
        let flat = x.reshape([4])?;
        Ok((fuse!(x + 0.0)?, fuse!(flat + 0.0)?, fuse!(clone + 0.0)?))
    };
    let (sequence, (of_x, of_flat, of_clone)) = device.capture(read).unwrap();
    let all = || [of_x.to_vec_blocking(), of_flat.to_vec_blocking(), of_clone.to_vec_blocking()].map(|x| x.unwrap()[0]);
    sequence.replay().unwrap();
    assert_eq!(all(), [1.0; 3]);
    x.write(&[5.0; 4]).unwrap();
    sequence.replay().unwrap();
    assert_eq!(all(), [5.0, 5.0, 1.0]);
    clone.write(&[6.0; 4]).unwrap();
    let later = x.clone();
    x.write(&[7.0; 4]).unwrap();
    sequence.replay().unwrap();
    assert_eq!((all(), later.to_vec_blocking().unwrap()[0]), ([7.0, 7.0, 6.0], 5.0));
}

#[test]
fn results_of_a_capture_are_copied_where_their_clones_are_updated() {
    let device = device();
    let x = Tensor2::from_vec(&device, vec![1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    let work = || -> Result<_, Error> {
        let mut y = fuse!(x * 2.0)?;
        let kept = y.clone();
        turn(&mut y)?;
        Ok((y, kept))
    };
    let (sequence, (mut y, kept)) = device.capture(work).unwrap();
    for _ in 0..2 {
        sequence.replay().unwrap();
        assert_eq!(kept.to_vec_blocking().unwrap(), [2.0, 4.0, 6.0, 8.0]);
        assert_eq!(y.to_vec_blocking().unwrap(), [8.0, 14.0, 6.0, 12.0]);
        y.write(&[0.0; 4]).unwrap();
    }
    // A clone before the first replay is the same result and cannot be copied.
    let (_unplayed, mut z) = device.capture(|| fuse!(x + 1.0)).unwrap();
    let _clone = z.clone();
    assert!(matches!(turn(&mut z), Err(Error::NotReplayed { .. })));
}

#[test]
fn outputs_leave_what_shares_their_memory() {
    let device = device();
    let mut x = Tensor2::from_vec(&device, vec![1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    let mut sums = Tensor1::from_vec(&device, vec![0.5f32, 0.5], [2]).unwrap();
    let kept = sums.clone();
    turn::launch_into(&mut x, &mut sums).unwrap();
    assert_eq!((sums.to_vec_blocking().unwrap(), kept.to_vec_blocking().unwrap()), (vec![3.0, 7.0], vec![0.5, 0.5]));
    let mut wrong = Tensor1::from_vec(&device, vec![9.0f32; 3], [3]).unwrap();
    let kept = wrong.clone();
    turn::launch_into(&mut x, &mut wrong).unwrap_err();
    assert_eq!((wrong.to_vec_blocking().unwrap(), kept.to_vec_blocking().unwrap()), (vec![9.0; 3], vec![9.0; 3]));
}

#[test]
fn launch_into_updates_and_writes_given_tensors() {
    let device = device();
    let numbers = vec![1.0f32, 2.0, 3.0, 4.0];
    let [mut x, mut other] = [(); 2].map(|()| Tensor2::from_vec(&device, numbers.clone(), [2, 2]).unwrap());
    let mut sums = Tensor1::zeros(&device, [2]).unwrap();
    turn::launch_into(&mut x, &mut sums).unwrap();
    let returned = turn(&mut other).unwrap();
    assert_eq!(sums.to_vec_blocking().unwrap(), [3.0, 7.0]);
    assert_eq!(sums.to_vec_blocking().unwrap(), returned.to_vec_blocking().unwrap());
    assert_eq!(x.to_vec_blocking().unwrap(), [4.0, 7.0, 3.0, 6.0]);
    assert_eq!(x.to_vec_blocking().unwrap(), other.to_vec_blocking().unwrap());

    let mut wrong = Tensor1::zeros(&device, [3]).unwrap();
    let error = turn::launch_into(&mut x, &mut wrong).unwrap_err().to_string();
    assert!(error.contains("`turn`") && error.contains('3'), "{error}");
    assert_eq!(x.to_vec_blocking().unwrap(), [4.0, 7.0, 3.0, 6.0]);
}

#[test]
fn launch_into_without_results_updates() {
    let device = device();
    let [mut a, mut b] = [1.0, 2.0].map(|x| Tensor2::full(&device, x, [2, 3]).unwrap());
    swap::launch_into(&mut a, &mut b, ()).unwrap();
    assert_eq!(a.to_vec_blocking().unwrap(), [2.0; 6]);
    assert_eq!(b.to_vec_blocking().unwrap(), [1.0; 6]);
}
