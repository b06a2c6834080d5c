//! `minilm embed`: embeddings of lines, as JSON or for people.

use std::io::Write;

use fuse_minilm_model::Embedder;

const CHUNK: usize = 4096;

/// Printed characters of a text, and numbers of its embedding.
const SHOWN: (usize, usize) = (48, 6);

pub(crate) fn run(embedder: &Embedder, lines: &[String], json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    for chunk in lines.chunks(CHUNK) {
        for (text, embedding) in chunk.iter().zip(pollster::block_on(embedder.embed(chunk, |_| {}))?) {
            if json {
                let (text, embedding) = (serde_json::to_string(text)?, serde_json::to_string(&embedding)?);
                writeln!(out, "{{\"text\":{text},\"embedding\":{embedding}}}")?;
            } else {
                writeln!(out, "{}", readable(text, &embedding))?;
            }
        }
    }
    out.flush().map_err(Into::into)
}

fn readable(text: &str, embedding: &[f32]) -> String {
    let (characters, numbers) = SHOWN;
    let mut start: String = text.chars().take(characters).collect();
    if start.len() < text.len() {
        start.pop();
        start.push('…');
    }
    let shown: Vec<String> = embedding.iter().take(numbers).map(|x| format!("{x:+.4}")).collect();
    let rest = if embedding.len() > numbers { " …" } else { "" };
    format!("{start:characters$}  [{}{rest}] ({} numbers)", shown.join(" "), embedding.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_see_the_start_of_text_and_embedding() {
        let line = readable("tea", &[0.5, -0.25]);
        assert_eq!(line, format!("tea{}  [+0.5000 -0.2500] (2 numbers)", " ".repeat(45)));
        let line = readable(&"é".repeat(49), &[1.0; 7]);
        assert!(line.starts_with(&format!("{}…  [", "é".repeat(47))) && line.ends_with(" …] (7 numbers)"), "{line}");
    }
}
