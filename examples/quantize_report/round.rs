//! A model whose weights are rounded, each matrix alone; and what any quantized model consists of.

use fuse_minilm_model::{
    encoder::WIDTH,
    host::{HostModel, Part},
};
use fuse_quantize::{Quantized, quantize as quantize_values};

use super::cases::Case;

/// A model with quantized weights, as values again.
#[derive(Clone)]
pub(crate) struct QuantizedModel {
    /// The model.
    pub(crate) model: HostModel,
    /// Memory of the linear layers' weights.
    pub(crate) memory: Memory,
    /// Memory of the word table, if it is quantized.
    pub(crate) table: Option<Memory>,
}

/// Bytes of quantized tensors.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    /// Of the same values in `f32`.
    pub(crate) single: u64,
    /// Of the codes.
    pub(crate) weights: u64,
    /// Of scales and offsets.
    pub(crate) scales: u64,
}

impl Memory {
    /// Counts one more tensor.
    pub(crate) fn add(&mut self, quantized: &Quantized) {
        self.single += 4 * quantized.shape.iter().product::<usize>() as u64;
        self.weights += quantized.weight_bytes();
        self.scales += quantized.scale_bytes();
    }
}

/// Rounds all linear layers.
pub(crate) fn quantize(case: &Case, model: &HostModel) -> anyhow::Result<QuantizedModel> {
    let (mut model, mut memory) = (model.clone(), Memory::default());
    for (linear, part) in model.layers.iter_mut().flat_map(|layer| layer.linears.iter_mut().zip(Part::ALL)) {
        let quantized = quantize_values(case.packing, &linear.weight, &part.shape(), &case.scheme)?;
        linear.weight = quantized.dequantize();
        memory.add(&quantized);
    }
    Ok(QuantizedModel { model, memory, table: None })
}

/// Rounds the table of word embeddings, too.
pub(crate) fn quantize_table(case: &Case, quantized: &mut QuantizedModel) -> anyhow::Result<()> {
    let words = &mut quantized.model.words;
    let table = quantize_values(case.packing, words, &[words.len() / WIDTH, WIDTH], &case.scheme)?;
    *words = table.dequantize();
    let mut memory = Memory::default();
    memory.add(&table);
    quantized.table = Some(memory);
    Ok(())
}
