//! Cases of numerical and data programs: layout changes, stencils, statistics, histograms, small and pairwise products.

use fuse_gpu::{Device, Error, Tensor, Tensor1, Tensor2, artifact::Function, fuse};

use crate::{
    block_formulas::{mean_and_variance, moments},
    blocks,
    cases::Case,
    data::{A, B, C, worst, worst_error},
    formulas::{Prepared, prepared, upload},
    gradients,
};

fuse! {
    pub fn transposed(x: f32[N, M], y: f32[M, N]) -> f32[M, N] {
        transpose(x) * 2.0 + y
    }

    pub fn column_statistics(x: f32[M, N]) -> (f32[N], f32[N]) {
        (mean(x, axis = 0), var(x, axis = 0))
    }

    pub fn group_norm_silu(x: f32[B, 64, S], gamma: f32[64], beta: f32[64]) -> f32[B, 64, S] {
        silu(group_norm(x, gamma, beta, groups = 8))
    }

    pub fn blur(x: f32[H, W]) -> f32[H - 2, W - 2] {
        let up = slice(x, axis = 0, start = 0, end = H - 2);
        let middle = slice(x, axis = 0, start = 1, end = H - 1);
        let down = slice(x, axis = 0, start = 2, end = H);
        let rows = (up + 2.0 * middle + down) * 0.25;
        let left = slice(rows, axis = 1, start = 0, end = W - 2);
        let center = slice(rows, axis = 1, start = 1, end = W - 1);
        let right = slice(rows, axis = 1, start = 2, end = W);
        (left + 2.0 * center + right) * 0.25
    }

    pub fn forces(p: f32[N, 3], m: f32[N]) -> f32[N, 3] {
        let d = unsqueeze(p, axis = 0) - unsqueeze(p, axis = 1);
        let inverse = rsqrt(sum(d * d, axis = 2, keepdim = true) + 0.01);
        sum(d * (reshape(m, [1, N, 1]) * inverse * inverse * inverse), axis = 1)
    }

    pub fn channels_moved(x: f32[B, P, 3], a: f32[3], b: f32[3]) -> f32[B, 3, P] {
        permute((x / 255.0 - a) / (b + 2.0), [0, 2, 1])
    }

    pub fn split_heads(x: f32[B, S, 12, 64]) -> f32[B, 12, S, 64] {
        permute(x, [0, 2, 1, 3])
    }

    pub fn rotary(x: f32[B, S, 12, 64], c: f32[S, 64], s: f32[S, 64]) -> f32[B, S, 12, 64] {
        let first = slice(x, axis = 3, start = 0, end = 32);
        let second = slice(x, axis = 3, start = 32, end = 64);
        x * reshape(c, [S, 1, 64]) + concat([-second, first], axis = 3) * reshape(s, [S, 1, 64])
    }

    pub fn heat(u: f32[H, W]) -> f32[H, W] {
        let rows = roll(u, axis = 0, shift = 1) + roll(u, axis = 0, shift = -1);
        let columns = roll(u, axis = 1, shift = 1) + roll(u, axis = 1, shift = -1);
        u + 0.1 * (rows + columns - 4.0 * u)
    }

    pub fn small_products(a: f32[N, 4, 4], b: f32[N, 4, 4]) -> f32[N, 4, 4] {
        matmul(a, b)
    }

    pub fn histogram(ids: i32[N]) -> f32[256] {
        sum(one_hot(ids, classes = 256), axis = 0)
    }

    pub fn gathered(table: f32[M, 96], ids: i32[N]) -> f32[N, 96] {
        gather(table, ids)
    }

    pub fn dot_of_all(x: f32[N], y: f32[N]) -> f32 {
        sum(x * y)
    }

    pub fn tall(x: f32[M, K], y: f32[M, N]) -> f32[K, N] {
        matmul(transpose(x), y)
    }

    pub fn nearest(x: f32[M, D], y: f32[N, D]) -> f32[M] {
        argmin(sum(y * y, axis = 1) - 2.0 * matmul(x, transpose(y)), axis = 1) as f32
    }

    pub fn largest(x: f32[M, N]) -> f32[M] {
        argmax(x, axis = 1) as f32
    }
}

/// A case without flops. `elements` are those of operands and results, each once.
fn case(
    formula: &'static str,
    shape: &[usize],
    elements: usize,
    function: fn() -> &'static Function,
    prepare: impl Fn(&Device) -> Result<Prepared, Error> + 'static,
) -> Case {
    let size: Vec<String> = shape.iter().map(usize::to_string).collect();
    let bytes = (4 * elements) as f64;
    let prepare = Box::new(prepare);
    Case { formula, f16: false, size: size.join("x"), flops: 0.0, bytes, tokens: 0.0, function, prepare }
}

/// All programs, with leading extents divided by `divisor`.
pub(crate) fn all(divisor: usize) -> Vec<Case> {
    let part = |extent: usize| (extent / divisor).max(1);
    vec![
        transposed_case([part(6000), 5000]),
        statistics_case([part(1_000_000), 17]),
        statistics_case([part(5000), 3000]),
        group_norm_case([part(8), 4096]),
        blur_case([part(1080), 1920]),
        forces_case(part(8000)),
        Case { formula: "data/softmax over a vocabulary", ..blocks::softmax::<f32>([part(16), 128_256]) },
        channels_case([part(32), 50_176]),
        heads_case([part(8), 1024]),
        rotary_case([part(8), 1024]),
        heat_case([part(4096), 4096]),
        small_products_case(part(500_000)),
        histogram_case(part(1_000_000)),
        gathered_case([100_000, part(200_000)]),
        Case { formula: "data/sum", ..blocks::total_case(part(50_000_000)) },
        dot_case(part(50_000_000)),
        tall_case([part(200_000), 64]),
        nearest_case([part(20_000), 3000]),
        largest_case([part(64), 128_256]),
    ]
}

fn transposed_case([m, n]: [usize; 2]) -> Case {
    case(
        "data/transpose(x) * 2 + y",
        &[m, n],
        3 * m * n,
        || &transposed::FUNCTION,
        move |device| {
            let (x, y) = (upload::<f32, 2>(device, A, [n, m])?, upload::<f32, 2>(device, B, [m, n])?);
            let expected = move |i: usize| 2.0 * A.at(i % n * m + i / n) + B.at(i);
            Ok(prepared(Tensor2::zeros(device, [m, n])?, 0, move |out| transposed::launch_into(&x, &y, out), expected))
        },
    )
}

fn statistics_case(shape: [usize; 2]) -> Case {
    let [m, n] = shape;
    let function = || &column_statistics::FUNCTION;
    case("data/mean and variance of columns", &shape, m * n + 2 * n, function, move |device| {
        let x = upload::<f32, 2>(device, A, shape)?;
        let error = move |(mean, variance): (Tensor1<f32>, Tensor1<f32>)| {
            let of = move |column| mean_and_variance((0..m).map(move |row| A.at(row * n + column)));
            let means = worst_error(&mean.to_vec_blocking()?, 0, &move |column| of(column).0);
            Ok(worst([means, worst_error(&variance.to_vec_blocking()?, 0, &move |column| of(column).1)]))
        };
        Ok(gradients::of(move || column_statistics(&x), error))
    })
}

fn group_norm_case([b, s]: [usize; 2]) -> Case {
    let elements = 2 * b * 64 * s + 128;
    case(
        "data/silu(group_norm), 8 groups",
        &[b, 64, s],
        elements,
        || &group_norm_silu::FUNCTION,
        move |device| {
            let (x, gamma) = (upload::<f32, 3>(device, A, [b, 64, s])?, upload::<f32, 1>(device, B, [64])?);
            let beta = upload::<f32, 1>(device, C, [64])?;
            let expected = move |i: usize| {
                let (channel, group) = (i / s % 64, i / (8 * s) * (8 * s));
                let (mean, scale) = moments((group..group + 8 * s).map(|i| A.at(i)));
                let y = (A.at(i) - mean) * scale * B.at(channel) + C.at(channel);
                y / (1.0 + (-y).exp())
            };
            let launch = move |out: &mut _| group_norm_silu::launch_into(&x, &gamma, &beta, out);
            Ok(prepared(Tensor::<f32, 3>::zeros(device, [b, 64, s])?, 0, launch, expected))
        },
    )
}

fn blur_case([h, w]: [usize; 2]) -> Case {
    case(
        "data/separable blur",
        &[h, w],
        (h + 2) * (w + 2) + h * w,
        || &blur::FUNCTION,
        move |device| {
            let x = upload::<f32, 2>(device, A, [h + 2, w + 2])?;
            let expected = move |i: usize| {
                let (row, column, weights) = (i / w, i % w, [0.25, 0.5, 0.25]);
                let terms = (0..9).map(|k| {
                    let [dy, dx] = [k / 3, k % 3];
                    weights[dy] * weights[dx] * A.at((row + dy) * (w + 2) + column + dx)
                });
                terms.sum()
            };
            Ok(prepared(Tensor2::zeros(device, [h, w])?, 0, move |out| blur::launch_into(&x, out), expected))
        },
    )
}

fn forces_case(n: usize) -> Case {
    let case = case(
        "data/forces of N bodies",
        &[n],
        7 * n,
        || &forces::FUNCTION,
        move |device| {
            let (p, m) = (upload::<f32, 2>(device, A, [n, 3])?, upload::<f32, 1>(device, B, [n])?);
            let expected = move |i: usize| {
                let (body, axis) = (i / 3, i % 3);
                let force = |other: usize| {
                    let d = |axis: usize| A.at(3 * other + axis) - A.at(3 * body + axis);
                    d(axis) * B.at(other) * (d(0) * d(0) + d(1) * d(1) + d(2) * d(2) + 0.01).powf(-1.5)
                };
                (0..n).map(force).sum()
            };
            // Forces of near bodies are a thousand times those of far ones.
            let launch = move |out: &mut _| forces::launch_into(&p, &m, out);
            Ok(prepared(Tensor2::<f32>::zeros(device, [n, 3])?, 1000 * n, launch, expected))
        },
    );
    Case { flops: 20.0 * (n * n) as f64, ..case }
}

fn channels_case([b, p]: [usize; 2]) -> Case {
    let elements = 6 * b * p + 6;
    case(
        "data/(x / 255 - a) / b, channels moved",
        &[b, p, 3],
        elements,
        || &channels_moved::FUNCTION,
        move |device| {
            let x = upload::<f32, 3>(device, A, [b, p, 3])?;
            let (mean, scale) = (upload::<f32, 1>(device, B, [3])?, upload::<f32, 1>(device, C, [3])?);
            let expected = move |i: usize| {
                let (image, channel, pixel) = (i / (3 * p), i / p % 3, i % p);
                (A.at((image * p + pixel) * 3 + channel) / 255.0 - B.at(channel)) / (C.at(channel) + 2.0)
            };
            let launch = move |out: &mut _| channels_moved::launch_into(&x, &mean, &scale, out);
            Ok(prepared(Tensor::<f32, 3>::zeros(device, [b, 3, p])?, 0, launch, expected))
        },
    )
}

/// The index in `[B, S, 12, 64]` of element `i` of `[B, 12, S, 64]`.
const fn of_head(i: usize, s: usize) -> usize {
    let (feature, position, head, batch) = (i % 64, i / 64 % s, i / (64 * s) % 12, i / (64 * s * 12));
    ((batch * s + position) * 12 + head) * 64 + feature
}

fn heads_case([b, s]: [usize; 2]) -> Case {
    let shape = [b, s, 12, 64];
    case(
        "data/permute of heads",
        &shape,
        2 * b * s * 768,
        || &split_heads::FUNCTION,
        move |device| {
            let x = upload::<f32, 4>(device, A, shape)?;
            let output = Tensor::<f32, 4>::zeros(device, [b, 12, s, 64])?;
            Ok(prepared(output, 0, move |out| split_heads::launch_into(&x, out), move |i| A.at(of_head(i, s))))
        },
    )
}

fn rotary_case([b, s]: [usize; 2]) -> Case {
    let shape = [b, s, 12, 64];
    case(
        "data/rotary positions",
        &shape,
        2 * b * s * 768 + 128 * s,
        || &rotary::FUNCTION,
        move |device| {
            let x = upload::<f32, 4>(device, A, shape)?;
            let (cosines, sines) = (upload::<f32, 2>(device, B, [s, 64])?, upload::<f32, 2>(device, C, [s, 64])?);
            let expected = move |i: usize| {
                let (feature, at) = (i % 64, i / 768 % s * 64 + i % 64);
                let turned = if feature < 32 { -A.at(i + 32) } else { A.at(i - 32) };
                A.at(i) * B.at(at) + turned * C.at(at)
            };
            let launch = move |out: &mut _| rotary::launch_into(&x, &cosines, &sines, out);
            Ok(prepared(Tensor::<f32, 4>::zeros(device, shape)?, 0, launch, expected))
        },
    )
}

fn heat_case([h, w]: [usize; 2]) -> Case {
    case(
        "data/heat equation by roll",
        &[h, w],
        2 * h * w,
        || &heat::FUNCTION,
        move |device| {
            let u = upload::<f32, 2>(device, A, [h, w])?;
            let expected = move |i: usize| {
                let (row, column) = (i / w, i % w);
                let at = |row: usize, column: usize| A.at(row % h * w + column % w);
                let rows = at(row + h - 1, column) + at(row + 1, column);
                let columns = at(row, column + w - 1) + at(row, column + 1);
                at(row, column) + 0.1 * (rows + columns - 4.0 * at(row, column))
            };
            Ok(prepared(Tensor2::zeros(device, [h, w])?, 0, move |out| heat::launch_into(&u, out), expected))
        },
    )
}

fn small_products_case(n: usize) -> Case {
    let case = case(
        "data/products of 4x4 matrices",
        &[n, 4, 4],
        48 * n,
        || &small_products::FUNCTION,
        move |device| {
            let (a, b) = (upload::<f32, 3>(device, A, [n, 4, 4])?, upload::<f32, 3>(device, B, [n, 4, 4])?);
            let expected =
                move |i: usize| (0..4).map(|k| A.at(i / 4 * 4 + k) * B.at(i / 16 * 16 + k * 4 + i % 4)).sum();
            let launch = move |out: &mut _| small_products::launch_into(&a, &b, out);
            Ok(prepared(Tensor::<f32, 3>::zeros(device, [n, 4, 4])?, 4, launch, expected))
        },
    );
    Case { flops: 128.0 * n as f64, ..case }
}

/// Indices below `extent` without order.
fn indices(count: usize, extent: usize) -> Vec<i32> {
    (0..count).map(|i| (i.wrapping_mul(2_654_435_761) >> 7) % extent).map(|id| id as i32).collect()
}

fn histogram_case(n: usize) -> Case {
    case(
        "data/histogram of 256 classes",
        &[n, 256],
        n + 256,
        || &histogram::FUNCTION,
        move |device| {
            let ids = indices(n, 256);
            let mut counts = vec![0.0; 256];
            ids.iter().for_each(|&id| counts[id as usize] += 1.0);
            let ids = Tensor1::from_vec(device, ids, [n])?;
            let launch = move |out: &mut _| histogram::launch_into(&ids, out);
            Ok(prepared(Tensor1::<f32>::zeros(device, [256])?, 0, launch, move |i| counts[i]))
        },
    )
}

fn gathered_case([m, n]: [usize; 2]) -> Case {
    case(
        "data/gathered rows",
        &[n, 96],
        2 * n * 96 + n,
        || &gathered::FUNCTION,
        move |device| {
            let ids = indices(n, m);
            let (table, on_device) =
                (upload::<f32, 2>(device, A, [m, 96])?, Tensor1::from_vec(device, ids.clone(), [n])?);
            let launch = move |out: &mut _| gathered::launch_into(&table, &on_device, out);
            let expected = move |i: usize| A.at(ids[i / 96] as usize * 96 + i % 96);
            Ok(prepared(Tensor2::<f32>::zeros(device, [n, 96])?, 0, launch, expected))
        },
    )
}

fn dot_case(n: usize) -> Case {
    case(
        "data/dot",
        &[n],
        2 * n,
        || &dot_of_all::FUNCTION,
        move |device| {
            let (x, y) = (upload::<f32, 1>(device, A, [n])?, upload::<f32, 1>(device, B, [n])?);
            let launch = move |out: &mut _| dot_of_all::launch_into(&x, &y, out);
            let expected = move |_: usize| (0..n).map(|i| A.at(i) * B.at(i)).sum();
            Ok(prepared(Tensor::<f32, 0>::zeros(device, [])?, n, launch, expected))
        },
    )
}

fn tall_case([m, n]: [usize; 2]) -> Case {
    case(
        "data/transpose(x) * y, tall",
        &[n, n, m],
        2 * m * n + n * n,
        || &tall::FUNCTION,
        move |device| {
            let (x, y) = (upload::<f32, 2>(device, A, [m, n])?, upload::<f32, 2>(device, B, [m, n])?);
            let expected = move |i: usize| (0..m).map(|k| A.at(k * n + i / n) * B.at(k * n + i % n)).sum();
            let launch = move |out: &mut _| tall::launch_into(&x, &y, out);
            Ok(prepared(Tensor2::<f32>::zeros(device, [n, n])?, m, launch, expected))
        },
    )
}

/// Coordinates of points, of which the nearest is found.
const COORDINATES: usize = 32;

fn nearest_case([m, n]: [usize; 2]) -> Case {
    const D: usize = COORDINATES;
    let case = case(
        "data/nearest point",
        &[m, n, D],
        (m + n) * D + m,
        || &nearest::FUNCTION,
        move |device| {
            let (x, y) = (upload::<f32, 2>(device, A, [m, D])?, upload::<f32, 2>(device, B, [n, D])?);
            // All terms are multiples of 2^-12, so that distances are exact and equal ones stay equal.
            let expected = move |i: usize| {
                let distance = |j: usize| -> f64 {
                    (0..D).map(|k| B.at(j * D + k) * (B.at(j * D + k) - 2.0 * A.at(i * D + k))).sum()
                };
                (0..n).fold((0, f64::INFINITY), |best, j| match distance(j) {
                    d if d < best.1 => (j, d),
                    _ => best,
                })
            };
            let launch = move |out: &mut _| nearest::launch_into(&x, &y, out);
            Ok(prepared(Tensor1::<f32>::zeros(device, [m])?, 0, launch, move |i| expected(i).0 as f64))
        },
    );
    Case { flops: 2.0 * (m * n * D) as f64, ..case }
}

fn largest_case([m, n]: [usize; 2]) -> Case {
    case(
        "data/argmax over a vocabulary",
        &[m, n],
        m * n + m,
        || &largest::FUNCTION,
        move |device| {
            let x = upload::<f32, 2>(device, A, [m, n])?;
            let expected = move |row: usize| {
                let first = |best: usize, i: usize| if A.at(row * n + i) > A.at(row * n + best) { i } else { best };
                (0..n).fold(0, first) as f64
            };
            Ok(prepared(Tensor1::zeros(device, [m])?, 0, move |out| largest::launch_into(&x, out), expected))
        },
    )
}
