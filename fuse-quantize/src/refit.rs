//! Weights that are worth quantizing: those that give wanted outputs for the inputs that the layer will really see.
//!
//! In a model whose earlier layers are quantized, a layer's inputs differ from those that its weights were trained for. Input:
//! pairs of such activations and of the outputs that the unquantized model has there. Output: the weights of least squares
//! between both, which undo what earlier layers did as far as a linear layer can; they are then quantized with the same
//! [`Calibration`].

use crate::{
    Calibration, QuantizeError,
    calibration::{add_products, allocate, rows},
    layout::Layout,
};

/// What the outputs of a linear layer should be for certain inputs.
#[derive(Clone, Debug)]
pub struct Targets {
    inputs: usize,
    outputs: usize,
    /// `YᵀX`, `[outputs, inputs]`; empty without rows.
    sums: Vec<f64>,
}

impl Targets {
    /// No targets yet of a layer of this size.
    pub fn new(outputs: usize, inputs: usize) -> Self {
        Self { inputs, outputs, sums: vec![] }
    }

    /// Adds activations, `[rows, inputs]`, and the outputs `[rows, outputs]` that are wanted for them, without bias. The
    /// calibration that [`weights`](Self::weights) gets must have been given the same activations.
    ///
    /// # Errors
    /// If one of them is not whole rows or not finite, their numbers of rows differ, or memory does not hold the sums; then none
    /// is added.
    pub fn add(&mut self, activations: &[f32], wanted: &[f32]) -> Result<(), QuantizeError> {
        let found = rows("activations", activations, self.inputs)?;
        rows("wanted outputs", wanted, self.outputs)?;
        Layout::check("wanted outputs", found * self.outputs, wanted.len())?;
        allocate(&mut self.sums, [self.outputs, self.inputs])?;
        add_products(&mut self.sums, (wanted, self.outputs), (activations, self.inputs), false);
        Ok(())
    }

    /// The weights `W`, `[outputs, inputs]` row-major, that minimize `‖Y - X·Wᵀ‖² + λ‖W - W₀‖²`, where `W₀` are the weights
    /// `near` and `λ` is the calibration's damping: directions that it does not know stay as they are.
    ///
    /// # Errors
    /// If the sizes of calibration or weights differ from these, or weights or sums are not finite.
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
