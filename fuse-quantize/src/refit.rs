//! Refitting: weights that give the wanted outputs for the inputs that a quantized model really sees.
//!
//! Quantizing earlier layers changes a layer's inputs. Least-squares weights undo this as far as a linear layer can.
//! They are then quantized with the same [`Calibration`].

use crate::{
    Calibration, QuantizeError,
    calibration::{add_products, allocate, rows},
    layout::Layout,
};

/// Wanted outputs of a linear layer for certain inputs.
#[derive(Clone, Debug)]
pub struct Targets {
    inputs: usize,
    outputs: usize,
    /// `YᵀX`, `[outputs, inputs]`; empty without rows.
    sums: Vec<f64>,
}

impl Targets {
    /// Empty targets of a layer of this size.
    pub fn new(outputs: usize, inputs: usize) -> Self {
        Self { inputs, outputs, sums: vec![] }
    }

    /// Adds activations, `[rows, inputs]`, and their wanted outputs, `[rows, outputs]`, without bias.
    ///
    /// The calibration for [`weights`](Self::weights) must contain the same activations.
    ///
    /// # Errors
    /// Without adding any, if rows are not whole or not finite, their numbers differ, or the sums exceed memory.
    pub fn add(&mut self, activations: &[f32], wanted: &[f32]) -> Result<(), QuantizeError> {
        let found = rows("activations", activations, self.inputs)?;
        rows("wanted outputs", wanted, self.outputs)?;
        Layout::check("wanted outputs", found * self.outputs, wanted.len())?;
        allocate(&mut self.sums, [self.outputs, self.inputs])?;
        add_products(&mut self.sums, (wanted, self.outputs), (activations, self.inputs), false);
        Ok(())
    }

    /// Weights `W`, `[outputs, inputs]` row-major, that minimize `‖Y - X·Wᵀ‖² + λ‖W - W₀‖²`.
    ///
    /// `W₀` is `near`, and `λ` the calibration's damping: directions without data keep their weights.
    ///
    /// # Errors
    /// If calibration or weights have other sizes, or weights or sums are not finite.
    pub fn weights(&self, calibration: &Calibration, near: &[f32]) -> Result<Vec<f32>, QuantizeError> {
        let (expected, found) = (self.inputs, calibration.inputs());
        if expected != found {
            return Err(QuantizeError::Calibration { what: "inputs", expected, found });
        }
        Layout::check("weights", self.outputs * self.inputs, near.len())?;
        rows("weights", near, self.inputs)?;
        if self.sums.is_empty() {
            return Ok(near.to_owned());
        }
        let curvature = calibration.curvature()?;
        let mut weights = Vec::with_capacity(near.len());
        for (sums, near) in self.sums.chunks_exact(self.inputs.max(1)).zip(near.chunks_exact(self.inputs.max(1))) {
            let mut row: Vec<f64> =
                sums.iter().zip(near).map(|(sum, &near)| sum + curvature.damping * f64::from(near)).collect();
            curvature.solve(&mut row);
            weights.extend(row.iter().map(|&x| x as f32));
        }
        rows("wanted outputs' weights", &weights, self.inputs)?;
        Ok(weights)
    }
}
