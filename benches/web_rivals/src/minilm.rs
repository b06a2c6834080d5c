//! all-MiniLM-L6-v2 from token ids to embeddings, as a page has them: ids from the host, embeddings back to it.

use std::path::Path;

use fuse_minilm_model::{
    batch::Batch,
    model::{Encoder, Model},
    weights::{Upload, Weights},
};
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

use crate::Bench;

/// The file, for messages.
const WEIGHTS: &str = "model.safetensors";
/// Tokens that the model knows.
const VOCABULARY: usize = 30_522;

/// The model on a device.
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
    /// The embeddings of texts of `width` tokens each, one text after another.
    pub async fn embed(&self, ids: Vec<i32>, width: usize) -> Result<Vec<f32>, JsError> {
        let texts = ids.len() / width;
        let batch = Batch { texts: (0..texts).collect(), ids, lengths: vec![width as i32; texts], width };
        Ok(self.model.encode(&batch)?.to_vec().await?)
    }
}
