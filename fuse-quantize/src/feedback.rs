//! Quantization with error feedback: later inputs compensate for each input's error.
//!
//! This is GPTQ (Frantar et al. 2022) in the form of Chee et al. 2023, section 3 and theorem 6, which gives equal codes
//! without the inverse of `H`. Let `H = U·D·Uᵀ` with `U` unit upper triangular. Then weight `k` is rounded from `w[k] +
//! Σ (w[j] - ŵ[j])·U[j, k]` over all `j < k`. Inputs keep their order, since groups are contiguous.

use fuse_artifact::Packing;

use crate::{
    Calibration, Granularity, QuantScheme, QuantizeError, Quantized, Rounding,
    calibration::Curvature,
    layout::{Layout, axis_of, groups_of},
    pair::Pair,
    plain::{checked, pair_of},
    row::Row,
    sweep,
};

/// Quantizes a linear layer's weights with minimal change of its outputs for calibrated inputs.
///
/// `values` are row-major in `shape`: `[outputs, inputs]` with axis 1, or `[inputs, outputs]` with axis 0 (the
/// default). The result has the form and size of [`quantize`](crate::quantize)'s.
///
/// A group's scale is chosen from weights that already compensate for earlier errors. [`Rounding::LeastSquares`]
/// weights its search by the cost of errors, then refines codes and scales until the output error stops falling.
///
/// # Errors
/// As [`quantize`](crate::quantize); also without two axes, and for calibrations with another number of inputs or
/// products that are not finite.
pub fn quantize_calibrated(
    packing: Packing,
    values: &[f32],
    shape: &[usize],
    scheme: &QuantScheme,
    calibration: &Calibration,
) -> Result<Quantized, QuantizeError> {
    if shape.len() != 2 {
        return Err(QuantizeError::NotAMatrix { shape: shape.to_owned() });
    }
    let axis = axis_of(scheme.axis, shape.len())?;
    let (expected, found) = (shape[axis], calibration.inputs());
    if expected != found {
        return Err(QuantizeError::Calibration { what: "inputs", expected, found });
    }
    let groups = groups_of(scheme.granularity, axis, shape[axis])?;
    let layout = Layout::new(packing, shape, axis, groups)?;
    layout.check_values("values", values)?;
    let curvature = calibration.curvature()?;

    let mut quantized = Quantized::zeros(&layout, shape, axis, scheme.scales)?;
    let shared = match scheme.granularity {
        Granularity::Tensor => Some(checked(pair_of(packing, scheme, values, None), &layout, 0, 0, scheme)?),
        _ => None,
    };
    let mut weights = vec![];
    for line in 0..layout.lines {
        layout.gather(values, line, &mut weights);
        let (codes, pairs) = (vec![0; layout.extent], vec![Pair::default(); layout.groups]);
        let mut row = Row { packing, scheme, group: layout.group, weights: &weights, codes, pairs };
        row.feed_forward(&curvature, shared, |pair, group| checked(pair, &layout, line, group, scheme))?;
        if scheme.rounding == Rounding::LeastSquares {
            sweep::refine(&mut row, &curvature, shared.is_none());
        }
        for (group, &pair) in row.pairs.iter().enumerate() {
            quantized.set_pair(&layout, line, group, pair);
        }
        for (k, &code) in row.codes.iter().enumerate() {
            quantized.set_code(&layout, line, k, code);
        }
    }
    Ok(quantized)
}

impl Row<'_> {
    fn feed_forward(
        &mut self,
        curvature: &Curvature,
        shared: Option<Pair>,
        check: impl Fn(Pair, usize) -> Result<Pair, QuantizeError>,
    ) -> Result<(), QuantizeError> {
        let largest = self.packing.largest();
        // Correction of each weight for the errors so far, times the root of its pivot.
        let mut asked = vec![0.0f64; self.weights.len()];
        let pivot = |k: usize| curvature.factor_row(k)[k];
        for group in 0..self.pairs.len() {
            let places = group * self.group..(group + 1) * self.group;
            let corrected = |k: usize, asked: &[f64]| (f64::from(self.weights[k]) + asked[k] / pivot(k)) as f32;
            let pair = match shared {
                Some(pair) => pair,
                None => {
                    let values: Vec<f32> = places.clone().map(|k| corrected(k, &asked)).collect();
                    let costs: Vec<f64> = places.clone().map(|k| pivot(k) * pivot(k)).collect();
                    check(pair_of(self.packing, self.scheme, &values, Some(&costs)), group)?
                }
            };
            self.pairs[group] = pair;
            for k in places {
                self.codes[k] = pair.code(corrected(k, &asked), largest);
                let error = f64::from(self.weights[k]) - f64::from(self.value(k));
                let row = &curvature.factor_row(k)[k + 1..];
                asked[k + 1..].iter_mut().zip(row).for_each(|(asked, m)| *asked += error * m);
            }
        }
        Ok(())
    }
}
