//! Quantizes a model by rounding each matrix alone; type of quantized models.

use fuse_minilm_model::{
    codes::Codes,
    encoder::WIDTH,
    host::{HostModel, Part},
};
use fuse_quantize::{Quantized, quantize as quantize_values};

use super::cases::Case;

#[derive(Clone)]
pub(crate) struct QuantizedModel {
    pub(crate) model: HostModel,
    /// Linear layers of each encoder layer, in the order of [`Part::ALL`].
    pub(crate) codes: Vec<Quantized>,
    /// Word table, if quantized.
    pub(crate) table: Option<Memory>,
}

impl QuantizedModel {
    pub(crate) fn memory(&self) -> Memory {
        let mut memory = Memory::default();
        self.codes.iter().for_each(|codes| memory.add(codes));
        memory
    }

    pub(crate) fn file(&self) -> Codes {
        let mut file = Codes::new(self.codes[0].packing);
        let mut codes = self.codes.iter();
        for (number, layer) in self.model.layers.iter().enumerate() {
            for ((part, linear), codes) in Part::ALL.into_iter().zip(&layer.linears).zip(&mut codes) {
                let name = part.name(number);
                file.weights.insert(format!("{name}.weight"), codes.clone());
                file.values.insert(format!("{name}.bias"), linear.bias.clone());
            }
            for (part, norm) in [("attention.output", &layer.attention_norm), ("output", &layer.output_norm)] {
                let name = format!("encoder.layer.{number}.{part}.LayerNorm");
                file.values.insert(format!("{name}.weight"), norm.gamma.clone());
                file.values.insert(format!("{name}.bias"), norm.beta.clone());
            }
        }
        file
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) single: u64,
    pub(crate) weights: u64,
    pub(crate) scales: u64,
}

impl Memory {
    fn add(&mut self, quantized: &Quantized) {
        self.single += 4 * quantized.shape.iter().product::<usize>() as u64;
        self.weights += quantized.weight_bytes();
        self.scales += quantized.scale_bytes();
    }
}

pub(crate) fn quantize(case: &Case, model: &HostModel) -> anyhow::Result<QuantizedModel> {
    let (mut model, mut codes) = (model.clone(), vec![]);
    for (linear, part) in model.layers.iter_mut().flat_map(|layer| layer.linears.iter_mut().zip(Part::ALL)) {
        let quantized = quantize_values(case.packing, &linear.weight, &part.shape(), &case.scheme)?;
        linear.weight = quantized.dequantize();
        codes.push(quantized);
    }
    Ok(QuantizedModel { model, codes, table: None })
}

pub(crate) fn quantize_table(case: &Case, quantized: &mut QuantizedModel) -> anyhow::Result<()> {
    let words = &mut quantized.model.words;
    let table = quantize_values(case.packing, words, &[words.len() / WIDTH, WIDTH], &case.scheme)?;
    *words = table.dequantize();
    let mut memory = Memory::default();
    memory.add(&table);
    quantized.table = Some(memory);
    Ok(())
}
