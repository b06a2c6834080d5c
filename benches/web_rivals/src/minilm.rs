//! all-MiniLM-L6-v2 in a page: token ids in, embeddings out.

use std::{path::Path, time::Duration};

use fuse_gpu::{Arg, Search, Tensor1, Tensor2, Tensor3};
use fuse_minilm_model::{
    batch::Batch,
    encoder::{HIDDEN, WIDTH, encoder_layer},
    model::{Encoder, Model},
    weights::{Upload, Weights},
};
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

use crate::Bench;

const WEIGHTS: &str = "model.safetensors";
/// Size of the vocabulary.
const VOCABULARY: usize = 30_522;

/// Model on a device.
#[wasm_bindgen]
pub struct MiniLm {
    model: Model<f32>,
}

#[wasm_bindgen]
impl Bench {
    /// Uploads the weights of a `.safetensors` file.
    pub fn minilm(&self, file: &[u8]) -> Result<MiniLm, JsError> {
        let upload = Upload { device: &self.device, convert: |x| x };
        let load = || Model::load(&Weights::parse(Path::new(WEIGHTS), file)?, VOCABULARY, &upload);
        Ok(MiniLm { model: load().map_err(|error| JsError::new(&format!("{error:#}")))? })
    }
}

#[wasm_bindgen]
impl MiniLm {
    /// Embeddings of texts of `width` tokens, in order.
    pub async fn embed(&self, ids: Vec<i32>, width: usize) -> Result<Vec<f32>, JsError> {
        let texts = ids.len() / width;
        let batch = Batch { texts: (0..texts).collect(), ids, lengths: vec![width as i32; texts], width };
        Ok(self.model.encode(&batch)?.to_vec().await?)
    }
}

#[wasm_bindgen]
impl Bench {
    /// Tuning table of a layer on `texts` of `width` tokens, from so many seconds.
    pub async fn tune_layer(&self, texts: usize, width: usize, seconds: u32) -> Result<String, JsError> {
        let vector = |length: usize| Tensor1::<f32>::zeros(&self.device, [length]);
        let weight = |outputs: usize, inputs: usize| Tensor2::<f32>::zeros(&self.device, [outputs, inputs]);
        let hidden = Tensor3::<f32>::zeros(&self.device, [texts, width, WIDTH])?;
        let lengths = Tensor1::from_vec(&self.device, vec![width as i32; texts], [texts])?;
        let (square, narrow) = (weight(WIDTH, WIDTH)?, vector(WIDTH)?);
        let (up, down, wide) = (weight(HIDDEN, WIDTH)?, weight(WIDTH, HIDDEN)?, vector(HIDDEN)?);
        let mut args = vec![Arg::from(&hidden), Arg::from(&lengths)];
        args.extend([&square; 4].into_iter().flat_map(|square| [Arg::from(square), Arg::from(&narrow)]));
        args.extend([&narrow; 2].map(Arg::from));
        args.extend([Arg::from(&up), Arg::from(&wide), Arg::from(&down), Arg::from(&narrow)]);
        args.extend([&narrow; 2].map(Arg::from));
        let search = Search::default().budget(Duration::from_secs(seconds.into()));
        Ok(self.device.tune_async(encoder_layer::KERNELS, &args, search).await?.text())
    }
}
