//! Numerical programs other than networks: geometry, hashes, bit codes, and missing data.

use fuse_gpu::{Device, Error, Tensor, Tensor1, fuse};

fn device() -> Device {
    Device::blocking().expect("an adapter (on Debian or Ubuntu: apt install mesa-vulkan-drivers)")
}

fuse! {
    /// Kilometers between points in degrees on a sphere of radius 6371 km, by the haversine formula.
    pub fn distance(lat: f32[A], lon: f32[A], other_lat: f32[B], other_lon: f32[B]) -> f32[A, B] {
        let (lat, lon) = (radians(reshape(lat, [A, 1])), radians(reshape(lon, [A, 1])));
        let (other_lat, other_lon) = (radians(reshape(other_lat, [1, B])), radians(reshape(other_lon, [1, B])));
        let across = sin((other_lat - lat) * 0.5);
        let along = sin((other_lon - lon) * 0.5);
        let half_chord = hypot(across, sqrt(cos(lat) * cos(other_lat)) * along);
        6371.0 * 2.0 * asin(min(half_chord, 1.0))
    }

    fn radians(degrees: f32[M, N]) -> f32[M, N] {
        degrees * 0.017453292519943295
    }

    /// The finalizer of MurmurHash3 (Appleby), which mixes every bit into every other.
    pub fn mixed(x: u32[N]) -> u32[N] {
        let a = (x ^ (x >> 16)) * 0x85ebca6b;
        let b = (a ^ (a >> 13)) * 0xc2b2ae35;
        b ^ (b >> 16)
    }

    /// Interleaves the bits of two 16-bit coordinates, so that near points have near codes (Morton 1966).
    pub fn morton(x: u32[N], y: u32[N]) -> u32[N] {
        spread(x) | spread(y) << 1
    }

    fn spread(x: u32[N]) -> u32[N] {
        let a = (x & 0xffff | x << 8) & 0x00ff00ff;
        let b = (a | a << 4) & 0x0f0f0f0f;
        let c = (b | b << 2) & 0x33333333;
        (c | c << 1) & 0x55555555
    }

    /// Replaces missing values by the mean of their row, and counts them.
    pub fn imputed(x: f32[M, N]) -> (f32[M, N], i32[M]) {
        let missing = !isfinite(x);
        let count = sum(missing as i32, axis = 1, keepdim = true);
        let mean = sum(select(missing, 0.0, x), axis = 1, keepdim = true) / (N as f32 - count as f32);
        (select(missing, mean, x), squeeze(count, axis = 1))
    }

    /// Significand and exponent of floats, from their bits.
    pub fn parts_of_floats(x: f32[N]) -> (f32[N], i32[N]) {
        let bits = to_bits(x);
        (from_bits(bits & 0x7fffffff), (bits >> 23 & 0xff) as i32 - 127)
    }

    /// Causal attention over a window, with the mask by bitwise operators.
    pub fn window(q: f32[H, N, D], k: f32[H, N, D], v: f32[H, N, D]) -> f32[H, N, D] {
        let score = matmul(q, transpose(k)) * 0.25;
        let (i, j) = (index(score, axis = 1), index(score, axis = 2));
        matmul(softmax(select((j <= i) & (j > i - 5), score, -inf)), v)
    }

    /// The same with logical operators.
    pub fn window_again(q: f32[H, N, D], k: f32[H, N, D], v: f32[H, N, D]) -> f32[H, N, D] {
        let score = matmul(q, transpose(k)) * 0.25;
        let (i, j) = (index(score, axis = 1), index(score, axis = 2));
        matmul(softmax(select(j <= i && j > i - 5, score, -inf)), v)
    }
}

#[test]
fn distances_of_cities() -> Result<(), Error> {
    let device = device();
    let (lat, lon) = ([48.8566, 40.7128, -41.2866, -48.8566], [2.3522, -74.006, 174.7756, -177.6478]);
    let (lat, lon) = (Tensor1::from_slice(&device, &lat, [4])?, Tensor1::from_slice(&device, &lon, [4])?);
    let kilometers = distance(&lat, &lon, &lat, &lon)?.to_vec_blocking()?;
    // The formula in f64. Near the antipode the arc sine is steep: an ulp of the chord is 4 km.
    let expected = [(1, 5837.2, 0.1), (2, 18985.4, 0.5), (3, 20015.1, 10.0)];
    for (place, expected, error) in expected {
        assert!((kilometers[place] - expected).abs() < error, "{place}: {}", kilometers[place]);
    }
    assert_eq!(kilometers[0], 0.0);
    let turned = fuse!(atan2(lat, lon))?.to_vec_blocking()?;
    assert!((turned[1] - 40.7128f32.atan2(-74.006)).abs() < 1e-6);
    Ok(())
}

#[test]
fn hashes_and_codes_are_those_of_the_host() -> Result<(), Error> {
    let device = device();
    let host = |x: u32| {
        let a = (x ^ x >> 16).wrapping_mul(0x85eb_ca6b);
        let b = (a ^ a >> 13).wrapping_mul(0xc2b2_ae35);
        b ^ b >> 16
    };
    for count in [0, 1, 1009] {
        let numbers: Vec<u32> = (0..count).map(|i: u32| i.wrapping_mul(2_654_435_761)).collect();
        let x = Tensor::from_slice(&device, &numbers, [numbers.len()])?;
        let expected: Vec<u32> = numbers.iter().map(|x| host(*x)).collect();
        assert_eq!(mixed(&x)?.to_vec_blocking()?, expected);
        let ones: Vec<u32> = numbers.iter().map(|x| (x & 0xff00).count_ones()).collect();
        assert_eq!(fuse!(popcount(x & 0xff00))?.to_vec_blocking()?, ones);
        let y = fuse!(x >> 16)?;
        let interleaved = |x: u32, y: u32| {
            (0..16).fold(0, |code, bit| code | (x >> bit & 1) << (2 * bit) | (y >> bit & 1) << (2 * bit + 1))
        };
        let expected: Vec<u32> = numbers.iter().map(|x| interleaved(*x, x >> 16)).collect();
        assert_eq!(morton(&x, &y)?.to_vec_blocking()?, expected);
    }
    let (signed, places) = (Tensor1::from_slice(&device, &[-5, 5, i32::MIN], [3])?, Tensor1::full(&device, 33, [3])?);
    assert_eq!(fuse!(signed >> places)?.to_vec_blocking()?, [-3, 2, i32::MIN >> 1]);
    assert_eq!(fuse!(signed << places)?.to_vec_blocking()?, [-10, 10, 0]);
    assert_eq!(fuse!(signed & 6 ^ 1)?.to_vec_blocking()?, [3, 5, 1]);
    assert_eq!(fuse!(!(signed ^ -1))?.to_vec_blocking()?, [-5, 5, i32::MIN]);
    assert_eq!(fuse!(max(signed * -2, -7))?.to_vec_blocking()?, [10, -7, 0]);
    Ok(())
}

#[test]
fn holes_in_data_are_found_and_filled() -> Result<(), Error> {
    let device = device();
    let rows = [1.0, f32::NAN, 3.0, f32::INFINITY, 5.0, f32::NEG_INFINITY, 8.0, -8.0, 0.0, -0.0, f32::NAN, 2.0];
    let x = Tensor::from_slice(&device, &rows, [2, 6])?;
    let (filled, count) = imputed(&x)?;
    assert_eq!(count.to_vec_blocking()?, [3, 1]);
    assert_eq!(filled.to_vec_blocking()?, [1.0, 3.0, 3.0, 3.0, 5.0, 3.0, 8.0, -8.0, 0.0, -0.0, 0.4, 2.0]);
    let questions = fuse!((isnan(x), isinf(x)))?;
    assert_eq!(questions.0.to_vec_blocking()?, rows.map(f32::is_nan));
    assert_eq!(questions.1.to_vec_blocking()?, rows.map(f32::is_infinite));
    Ok(())
}

#[test]
fn floats_are_taken_apart_by_their_bits() -> Result<(), Error> {
    let device = device();
    let numbers = [1.0f32, -1.5, 1e-30, -3.4e38, 0.15625];
    let (magnitude, exponent) = parts_of_floats(&Tensor1::from_slice(&device, &numbers, [5])?)?;
    assert_eq!(magnitude.to_vec_blocking()?, numbers.map(f32::abs));
    assert_eq!(exponent.to_vec_blocking()?, numbers.map(|x| x.abs().log2().floor() as i32));
    Ok(())
}

#[test]
fn masks_of_either_operators_limit_the_keys() {
    let names = |function: &fuse_gpu::artifact::Function| {
        function.kernels.iter().map(|kernel| kernel.variants.len()).collect::<Vec<_>>()
    };
    assert_eq!(names(&window::FUNCTION), names(&window_again::FUNCTION));
    assert_eq!(window::FUNCTION.kernels[0].work.window, window_again::FUNCTION.kernels[0].work.window);
    assert_eq!(window::FUNCTION.kernels[0].work.window, Some(5));
}
