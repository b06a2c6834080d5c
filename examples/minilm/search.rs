//! `minilm search`: lines of a file closest in meaning to a query, by cosine similarity.

use std::{io::Write, slice};

use fuse_minilm_model::{
    Embedder,
    ranking::{Hit, best, cosine},
};
use indicatif::{ProgressBar, ProgressStyle};

/// Lines whose embeddings are held at once.
const CHUNK: usize = 4096;

/// Fewer lines finish before a progress bar could be read.
const PROGRESS_FROM: usize = 1000;

/// Best first, without blank lines.
pub(crate) fn run(
    embedder: &Embedder,
    query: &str,
    lines: &[String],
    top: usize,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let query = pollster::block_on(embedder.embed(slice::from_ref(&query.to_owned()), |_| {}))?.concat();
    let numbers: Vec<usize> = (0..lines.len()).filter(|&line| !lines[line].trim().is_empty()).collect();
    let bar = progress(numbers.len());
    bar.tick();
    let mut hits = vec![];
    for chunk in numbers.chunks(CHUNK) {
        let texts: Vec<String> = chunk.iter().map(|&line| lines[line].clone()).collect();
        let embeddings = pollster::block_on(embedder.embed(&texts, |done| bar.inc(done as u64)))?;
        let hit = |(&line, embedding): (&usize, Vec<f32>)| Hit { similarity: cosine(&query, &embedding), line };
        hits = best(hits.into_iter().chain(chunk.iter().zip(embeddings).map(hit)).collect(), top);
    }
    bar.finish_and_clear();
    for Hit { similarity, line } in hits {
        writeln!(out, "{similarity:+.3}  line {:<5} {}", line + 1, lines[line])?;
    }
    out.flush().map_err(Into::into)
}

/// Only on a terminal, and for many lines.
fn progress(lines: usize) -> ProgressBar {
    if lines < PROGRESS_FROM {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(lines as u64);
    let style = ProgressStyle::with_template("{bar:32} {human_pos} of {human_len} lines, {per_sec}, {eta} left");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_files_have_no_bar() {
        assert!(progress(PROGRESS_FROM - 1).is_hidden());
        assert_eq!(progress(PROGRESS_FROM).length(), Some(PROGRESS_FROM as u64));
    }
}
