//! Semantic search: the lines of a text ranked by a query.

use std::path::Path;

use anyhow::{Context, ensure};
use fuse_gpu::Device;
use fuse_minilm_model::{
    Embedder, Precision,
    encoder::WIDTH,
    ranking::{Hit, best, cosine, difference, larger},
};
use serde_json::{Value, json};

const WEIGHTS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";

/// All embeddings are held at once.
const MAX_LINES: usize = 5000;

/// Texts between reports of progress.
const CHUNK: usize = 16;

pub(crate) struct Search {
    embedder: Embedder,
}

impl Search {
    /// # Errors
    /// If they are not those of all-MiniLM-L6-v2, and those of uploads.
    pub(crate) fn open(device: &Device, weights: &[u8], tokenizer: &[u8]) -> anyhow::Result<Self> {
        let (weights, tokenizer) = ((Path::new(WEIGHTS), weights), (Path::new(TOKENIZER), tokenizer));
        Ok(Self { embedder: Embedder::load(weights, tokenizer, device, Precision::Single)? })
    }

    /// The `top` lines closest in meaning to a query. `done` gets the number of embedded lines.
    ///
    /// # Errors
    /// If the query or the text is empty, and those of embedding.
    pub(crate) async fn find(
        &self,
        query: &str,
        text: &str,
        top: usize,
        mut done: impl FnMut(usize, usize),
    ) -> anyhow::Result<Value> {
        let query = query.trim();
        ensure!(!query.is_empty(), "there is nothing to search for: the query is empty");
        let lines: Vec<(usize, String)> = text
            .lines()
            .enumerate()
            .map(|(number, line)| (number, line.trim().to_owned()))
            .filter(|(_, line)| !line.is_empty())
            .collect();
        ensure!(!lines.is_empty(), "there is nothing to search in: expected one text a line");
        ensure!(lines.len() <= MAX_LINES, "expected at most {MAX_LINES} lines, found {}", lines.len());
        done(0, lines.len());
        let query = self.embedder.embed(&[query.to_owned()], |_| {}).await?.concat();
        let mut hits: Vec<Hit> = vec![];
        for (number, chunk) in lines.chunks(CHUNK).enumerate() {
            let texts: Vec<String> = chunk.iter().map(|(_, line)| line.clone()).collect();
            let embeddings = self.embedder.embed(&texts, |_| {}).await?;
            let found = embeddings.iter().enumerate();
            hits.extend(found.map(|(i, row)| Hit { similarity: cosine(&query, row), line: number * CHUNK + i }));
            done((number * CHUNK + chunk.len()).min(lines.len()), lines.len());
        }
        let hits = best(hits, top).into_iter().filter_map(|hit| lines.get(hit.line).map(|line| (hit, line)));
        let hits: Vec<Value> = hits
            .map(|(hit, (number, line))| json!({ "similarity": hit.similarity, "line": number + 1, "text": line }))
            .collect();
        Ok(json!({ "hits": hits, "lines": lines.len() }))
    }

    /// Largest difference from known embeddings, a JSON array of `{"text": …, "embedding": […]}`.
    ///
    /// # Errors
    /// If the JSON has another form, and those of embedding.
    pub(crate) async fn compare(&self, known: &str, mut done: impl FnMut(usize, usize)) -> anyhow::Result<Value> {
        let known: Value = serde_json::from_str(known).context("the known embeddings are no JSON")?;
        let known = known.as_array().context("expected an array of known embeddings")?;
        ensure!(!known.is_empty(), "expected at least one known embedding");
        let mut worst = 0.0;
        for (number, entry) in known.iter().enumerate() {
            done(number, known.len());
            let text = entry["text"].as_str().with_context(|| format!("entry {number} has no `text`"))?;
            let numbers =
                entry["embedding"].as_array().with_context(|| format!("entry {number} has no `embedding`"))?;
            let expected: Vec<f32> = numbers.iter().filter_map(|x| x.as_f64().map(|x| x as f32)).collect();
            ensure!(expected.len() == WIDTH, "entry {number}: expected {WIDTH} numbers, found {}", expected.len());
            let found = self.embedder.embed(&[text.to_owned()], |_| {}).await?.concat();
            worst = larger(worst, difference(&found, &expected));
        }
        done(known.len(), known.len());
        // JSON has no NaN, the largest difference.
        Ok(json!({ "texts": known.len(), "difference": if worst.is_nan() { f32::MAX } else { worst } }))
    }
}
