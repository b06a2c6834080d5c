//! Reports numbers that vary between otherwise equal graphs: sizes passed as numbers.

use rustc_hash::{FxHashMap, FxHashSet};

/// Versions from which on a sequence is reported.
const MANY: usize = 8;

/// Numbers of sources, grouped by the sources without their numbers.
#[derive(Default)]
pub(crate) struct Numbers {
    sequences: FxHashMap<String, Vec<Vec<u64>>>,
}

impl Numbers {
    pub(crate) fn add(&mut self, text: &str) {
        let (skeleton, numbers) = split(text);
        let versions = self.sequences.entry(skeleton).or_default();
        if versions.len() < 64 && !versions.contains(&numbers) {
            versions.push(numbers);
        }
    }

    /// Line with the varying number, for each sequence of many versions.
    pub(crate) fn varying(&self) -> Vec<String> {
        let mut found: Vec<String> =
            self.sequences.iter().filter_map(|(text, versions)| varying(text, versions)).collect();
        found.sort_unstable();
        found
    }
}

fn varying(skeleton: &str, versions: &[Vec<u64>]) -> Option<String> {
    let (first, last) = (versions.first()?, versions.last()?);
    let values = |position: usize| versions.iter().map(|numbers| numbers[position]).collect::<FxHashSet<u64>>().len();
    let position = (0..first.len()).max_by_key(|&position| values(position))?;
    if versions.len() < MANY {
        return None;
    }
    let mut before = 0;
    for line in skeleton.lines() {
        let count = line.matches('#').count();
        if (before..before + count).contains(&position) {
            let line = (before..before + count).fold(line.trim().to_owned(), |line, at| {
                let number = if at == position { "?".to_owned() } else { last[at].to_string() };
                line.replacen('#', &number, 1)
            });
            let (a, b) = (first[position], last[position]);
            return Some(format!(
                "{} versions of one graph: the number `?` in `{line}` varies ({a}, …, {b}); `x.dim(axis)` and `Dim::open(n)` leave a size open",
                versions.len()
            ));
        }
        before += count;
    }
    None
}

/// A source with `#` for its numbers, and these, without the function's name, a checksum.
fn split(text: &str) -> (String, Vec<u64>) {
    let mut skeleton = String::with_capacity(text.len());
    let mut numbers = vec![];
    let body = text.find('(').map_or(text, |at| &text[at..]);
    let mut rest = body.char_indices().peekable();
    let mut previous = ' ';
    while let Some((at, character)) = rest.next() {
        let is_number =
            character.is_ascii_digit() && !previous.is_ascii_alphanumeric() && previous != '_' && previous != '.';
        previous = character;
        if !is_number {
            skeleton.push(character);
            continue;
        }
        let mut end = at + 1;
        while let Some((next, digit)) = rest.next_if(|(_, next)| next.is_ascii_digit()) {
            (end, previous) = (next + 1, digit);
        }
        skeleton.push('#');
        numbers.push(body[at..end].parse().unwrap_or(u64::MAX));
    }
    (skeleton, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_that_varies_is_told() {
        let mut numbers = Numbers::default();
        for size in 1..=8 {
            assert!(numbers.varying().is_empty());
            numbers.add(&format!("pub fn lazy_{size}(x0: f32[A, 12]) -> f32[B] {{\n    let v0 = slice(x0, axis = 1, end = {size});\n    v0\n}}"));
        }
        let told = numbers.varying();
        assert_eq!(told.len(), 1);
        assert!(
            told[0].contains("let v0 = slice(x0, axis = 1, end = ?);") && told[0].contains("8 versions"),
            "{told:?}"
        );
    }
}
