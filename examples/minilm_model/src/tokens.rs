//! Tokenizes as sentence-transformers does: lower-cased WordPiece between `[CLS]` and `[SEP]`, up to 256 tokens.

use std::path::Path;

use anyhow::anyhow;
use tokenizers::{Tokenizer, TruncationParams};

/// Most tokens of a text. The model has 512 positions, but was trained on 256 (`max_seq_length` of its
/// `sentence_bert_config.json`).
pub const MAX_LENGTH: usize = 256;

/// A model's tokenizer.
#[derive(Clone)]
pub struct Tokens {
    tokenizer: Tokenizer,
}

impl Tokens {
    /// Parses a `tokenizer.json`; its path is for messages.
    ///
    /// # Errors
    /// If the bytes are not a tokenizer.
    pub fn parse(path: &Path, bytes: &[u8]) -> anyhow::Result<Self> {
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(|error| about(path, &error))?;
        let truncation = TruncationParams { max_length: MAX_LENGTH, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(truncation)).map_err(|error| about(path, &error))?;
        // The file pads to 128 tokens; `batch` pads to its width.
        tokenizer.with_padding(None);
        Ok(Self { tokenizer })
    }

    /// One more than the largest token.
    pub fn vocabulary(&self) -> usize {
        self.tokenizer.get_vocab(true).into_values().max().map_or(0, |largest| largest as usize + 1)
    }

    /// Tokens of each text.
    ///
    /// # Errors
    /// If the tokenizer cannot encode a text.
    pub fn encode(&self, texts: &[String]) -> anyhow::Result<Vec<Vec<i32>>> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let encodings = self
            .tokenizer
            .encode_batch_fast(texts, true)
            .map_err(|error| anyhow!("the tokenizer cannot encode a text: {error}"))?;
        Ok(encodings.iter().map(|encoding| encoding.get_ids().iter().map(|&id| id.cast_signed()).collect()).collect())
    }
}

fn about(path: &Path, error: &dyn std::fmt::Display) -> anyhow::Error {
    anyhow!("cannot use tokenizer `{}`: {error}", path.display())
}
