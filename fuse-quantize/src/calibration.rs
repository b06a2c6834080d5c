//! Calibration: the curvature `H = XᵀX + λI` of a layer's squared output error, from rows of activations.
//!
//! Its triangular factor feeds errors forward (`feedback`) and solves equations (`refit`).

use std::ops::{Add, AddAssign, Mul};

use crate::{QuantizeError, layout::Layout};

/// Default damping, relative to the diagonal's mean (Frantar et al. 2022, section 3.3). Keeps inputs that calibration
/// never saw from becoming free.
const DAMPING: f64 = 0.01;

/// Rows summed in `f32` before they join the `f64` sums.
const ROWS: usize = 64;

const LANES: usize = 16;

/// Summary of a linear layer's activations for [`quantize_calibrated`](crate::quantize_calibrated).
///
/// A few thousand rows (tokens) suffice for a thousand inputs. Fewer rows than inputs work, too.
#[derive(Clone, Debug)]
pub struct Calibration {
    inputs: usize,
    rows: u64,
    damping: f64,
    /// `XᵀX`; only `[i, j]` with `i <= j` is up to date. Empty without rows.
    sums: Vec<f64>,
}

/// `H = M·Mᵀ` with `M` upper triangular, and `H` itself.
pub(crate) struct Curvature {
    pub(crate) inputs: usize,
    /// `H`, symmetric. Single precision: sweeps read it often, and small errors only make steps suboptimal.
    matrix: Vec<f32>,
    /// `M`; zeros below the diagonal.
    factor: Vec<f64>,
    pub(crate) damping: f64,
}

impl Calibration {
    /// An empty calibration of a layer with `inputs` inputs.
    pub fn new(inputs: usize) -> Self {
        Self { inputs, rows: 0, damping: DAMPING, sums: vec![] }
    }

    /// Sets the damping added to the diagonal, relative to its mean; default 0.01, also for values that are not
    /// positive and finite.
    ///
    /// More damping pays for fewer or less representative rows.
    pub fn damping(mut self, parts: f64) -> Self {
        self.damping = if parts > 0.0 && parts.is_finite() { parts } else { DAMPING };
        self
    }

    /// Adds activations, `[rows, inputs]` row-major.
    ///
    /// # Errors
    /// Without adding any, if rows are not whole or not finite, or an `inputs × inputs` matrix exceeds memory.
    pub fn add(&mut self, activations: &[f32]) -> Result<(), QuantizeError> {
        let rows = rows("activations", activations, self.inputs)?;
        allocate(&mut self.sums, [self.inputs; 2])?;
        add_products(&mut self.sums, (activations, self.inputs), (activations, self.inputs), true);
        self.rows += rows as u64;
        Ok(())
    }

    /// Number of inputs of the layer.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of rows added.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    pub(crate) fn curvature(&self) -> Result<Curvature, QuantizeError> {
        let inputs = self.inputs;
        let mut matrix = self.sums.clone();
        allocate(&mut matrix, [inputs; 2])?;
        for i in 0..inputs {
            for j in 0..i {
                matrix[i * inputs + j] = matrix[j * inputs + i];
            }
            if let Some(found) = matrix[i * inputs..(i + 1) * inputs].iter().copied().find(|x| !x.is_finite()) {
                return Err(QuantizeError::Curvature { input: i, found });
            }
        }
        let mean = (0..inputs).map(|i| matrix[i * inputs + i]).sum::<f64>() / inputs.max(1) as f64;
        // Without activations, all inputs weigh the same.
        let mut damping = if mean > 0.0 { self.damping * mean } else { 1.0 };
        let mut added = 0.0;
        loop {
            (0..inputs).for_each(|i| matrix[i * inputs + i] += damping - added);
            added = damping;
            if let Some(factor) = factor(&matrix, inputs) {
                let matrix = matrix.iter().map(|&x| x as f32).collect();
                return Ok(Curvature { inputs, matrix, factor, damping });
            }
            // Only rounding makes sums of squares indefinite; more damping compensates.
            damping *= 10.0;
        }
    }
}

impl Curvature {
    pub(crate) fn diagonal(&self, input: usize) -> f32 {
        self.matrix[input * self.inputs + input]
    }

    pub(crate) fn row(&self, input: usize) -> &[f32] {
        &self.matrix[input * self.inputs..(input + 1) * self.inputs]
    }

    pub(crate) fn factor_row(&self, input: usize) -> &[f64] {
        &self.factor[input * self.inputs..(input + 1) * self.inputs]
    }

    /// Solves `H·x = b` in place.
    pub(crate) fn solve(&self, b: &mut [f64]) {
        // First `M·y = b`, from the last row to the first; then `Mᵀ·x = y`.
        for i in (0..self.inputs).rev() {
            let row = self.factor_row(i);
            b[i] = (b[i] - dot(&row[i + 1..], &b[i + 1..])) / row[i];
        }
        for i in 0..self.inputs {
            let row = self.factor_row(i);
            b[i] /= row[i];
            let x = b[i];
            b[i + 1..].iter_mut().zip(&row[i + 1..]).for_each(|(b, m)| *b -= m * x);
        }
    }
}

/// Requires whole rows of finite numbers; returns their number.
pub(crate) fn rows(argument: &'static str, values: &[f32], width: usize) -> Result<usize, QuantizeError> {
    if width == 0 {
        return Layout::check(argument, 0, values.len()).map(|()| 0);
    }
    if !values.len().is_multiple_of(width) {
        return Err(QuantizeError::Rows { argument, expected: width, found: values.len() });
    }
    match values.iter().position(|x| !x.is_finite()) {
        Some(at) => Err(QuantizeError::NotFinite { argument, index: vec![at / width, at % width], found: values[at] }),
        None => Ok(values.len() / width),
    }
}

pub(crate) fn allocate(sums: &mut Vec<f64>, shape: [usize; 2]) -> Result<(), QuantizeError> {
    if sums.is_empty() {
        let count = shape[0].checked_mul(shape[1]);
        let reserved = count.filter(|&count| sums.try_reserve_exact(count).is_ok());
        let count = reserved.ok_or(QuantizeError::TooLarge { argument: "calibration", shape: shape.to_vec() })?;
        sums.resize(count, 0.0);
    }
    Ok(())
}

/// Adds `leftᵀ·right` to `sums`; of a symmetric product only the upper half.
pub(crate) fn add_products(
    sums: &mut [f64],
    (left, left_width): (&[f32], usize),
    (right, right_width): (&[f32], usize),
    symmetric: bool,
) {
    if left_width == 0 || right_width == 0 {
        return;
    }
    for (left, right) in left.chunks(ROWS * left_width).zip(right.chunks(ROWS * right_width)) {
        let (left, right) = (columns(left, left_width), columns(right, right_width));
        for (i, (left, sums)) in left.iter().zip(sums.chunks_exact_mut(right_width)).enumerate() {
            let first = if symmetric { i } else { 0 };
            for (sum, right) in sums[first..].iter_mut().zip(&right[first..]) {
                *sum += f64::from(dot::<f32>(left, right));
            }
        }
    }
}

fn columns(rows: &[f32], width: usize) -> Vec<[f32; ROWS]> {
    let mut columns = vec![[0.0; ROWS]; width];
    for (at, row) in rows.chunks_exact(width).enumerate() {
        columns.iter_mut().zip(row).for_each(|(column, &x)| column[at] = x);
    }
    columns
}

/// `M` of `H = M·Mᵀ`, if `H` is positive definite: Cholesky decomposition from the last row upwards.
fn factor(matrix: &[f64], size: usize) -> Option<Vec<f64>> {
    /// Rows computed at once, which load the rows below once for all.
    const TOGETHER: usize = 8;
    let mut factor = vec![0.0; size * size];
    let mut end = size;
    while end > 0 {
        let start = end.saturating_sub(TOGETHER);
        let (above, below) = factor.split_at_mut(end * size);
        let rows = &mut above[start * size..];
        for (j, row) in (end..size).zip(below.chunks_exact(size)).rev() {
            for (i, other) in (start..end).zip(rows.chunks_exact_mut(size)) {
                other[j] = (matrix[i * size + j] - dot(&other[j + 1..], &row[j + 1..])) / row[j];
            }
        }
        for j in (start..end).rev() {
            let (others, from_j) = rows.split_at_mut((j - start) * size);
            let row = &mut from_j[..size];
            let pivot = matrix[j * size + j] - dot(&row[j + 1..], &row[j + 1..]);
            if pivot.is_nan() || pivot <= 0.0 {
                return None;
            }
            row[j] = pivot.sqrt();
            for (i, other) in (start..j).zip(others.chunks_exact_mut(size)) {
                other[j] = (matrix[i * size + j] - dot(&other[j + 1..], &row[j + 1..])) / row[j];
            }
        }
        end = start;
    }
    Some(factor)
}

pub(crate) fn dot<T>(a: &[T], b: &[T]) -> T
where
    T: Copy + Default + Add<Output = T> + AddAssign + Mul<Output = T>,
{
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [T::default(); LANES];
    for (a, b) in a.iter().zip(b) {
        (0..LANES).for_each(|lane| lanes[lane] += a[lane] * b[lane]);
    }
    let rest = a_rest.iter().zip(b_rest).fold(T::default(), |sum, (&a, &b)| sum + a * b);
    lanes.into_iter().fold(rest, |sum, lane| sum + lane)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calibration(rows: usize, inputs: usize) -> Calibration {
        let mut calibration = Calibration::new(inputs);
        let activations: Vec<f32> = (0..rows * inputs).map(|i| ((i * i + 7 * i) as f32).sin()).collect();
        calibration.add(&activations).unwrap();
        calibration
    }

    #[test]
    fn the_factor_multiplies_to_the_curvature_and_solves_it() {
        for (rows, inputs) in [(200, 21), (3, 21), (0, 5)] {
            let curvature = calibration(rows, inputs).curvature().unwrap();
            for (i, j) in (0..inputs).flat_map(|i| (0..inputs).map(move |j| (i, j))) {
                let product = dot(curvature.factor_row(i), curvature.factor_row(j));
                assert!(
                    (product - f64::from(curvature.row(i)[j])).abs() < 1e-5 * product.abs().max(1.0),
                    "{rows} rows, [{i}, {j}]"
                );
                assert!(i <= j || curvature.factor_row(i)[j] == 0.0);
            }
            let product = |i: usize| -> Vec<f64> {
                (0..inputs).map(|j| dot(curvature.factor_row(i), curvature.factor_row(j))).collect()
            };
            let x: Vec<f64> = (0..inputs).map(|i| i as f64 - 3.0).collect();
            let mut b: Vec<f64> = (0..inputs).map(|i| dot(&product(i), &x)).collect();
            curvature.solve(&mut b);
            assert!(b.iter().zip(&x).all(|(b, x)| (b - x).abs() < 1e-6), "{rows} rows: {b:?}");
        }
    }

    #[test]
    fn sums_do_not_depend_on_how_rows_arrive() {
        let activations: Vec<f32> = (0..130 * 3).map(|i| (i % 17) as f32 - 8.0).collect();
        let mut at_once = Calibration::new(3);
        at_once.add(&activations).unwrap();
        let mut row_by_row = Calibration::new(3);
        activations.chunks(3).for_each(|row| row_by_row.add(row).unwrap());
        assert_eq!((&at_once.sums, at_once.rows()), (&row_by_row.sums, 130));
        let direct: f64 = activations.chunks(3).map(|row| f64::from(row[0] * row[2])).sum();
        assert_eq!((at_once.sums[2], at_once.inputs()), (direct, 3));
    }

    #[test]
    fn mistakes_in_activations_are_named() {
        let mut calibration = Calibration::new(3);
        let message = |result: Result<(), QuantizeError>| result.unwrap_err().to_string();
        assert_eq!(message(calibration.add(&[1.0; 4])), "activations: expected rows of 3, found 4 elements");
        let error = message(calibration.add(&[0.0, 1.0, 2.0, 3.0, f32::NAN, 5.0]));
        assert_eq!(error, "activations[1, 1]: expected a finite number, found NaN");
        assert_eq!(message(Calibration::new(0).add(&[1.0])), "activations: expected 0 elements, found 1");
        assert!(Calibration::new(0).add(&[]).is_ok());
        let error = message(Calibration::new(usize::MAX).add(&[]));
        assert!(error.starts_with("calibration: expected a size that memory holds, found shape ["), "{error}");

        calibration.add(&[0.0, f32::MAX, 0.0]).unwrap();
        let error = calibration.curvature().err().unwrap().to_string();
        assert_eq!(error, "calibration: expected activations whose products have finite sums, found input 1 with inf");
    }
}
