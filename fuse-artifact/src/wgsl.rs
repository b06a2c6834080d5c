//! Texts of shaders, and how a program carries many that have most of their lines in common.

use std::{borrow::Cow, collections::BTreeMap};

use crate::Text;

/// The text of a shader.
#[derive(Clone, Debug)]
pub enum Wgsl {
    /// As it is.
    Whole(Text),
    /// In parts of lines that it shares with other shaders; not in pages, which [`shared_wgsl`](crate::shared_wgsl) gives whole texts.
    #[cfg(any(not(target_arch = "wasm32"), clippy))]
    Parts {
        /// Distinct lines, which count as one text.
        lines: &'static [&'static str],
        /// Offset and length of each part in bytes, each followed by a space; no part spans two of `lines`. A text, because lists of
        /// numbers make expansions long.
        parts: Text,
    },
}

impl Wgsl {
    /// The text.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Whole(text) => Cow::Borrowed(text),
            #[cfg(any(not(target_arch = "wasm32"), clippy))]
            Self::Parts { lines, parts } => {
                let (mut text, mut at) = (String::with_capacity(length(parts)), 0);
                while at < parts.len() {
                    let (part, next) = part(lines, parts, at);
                    text.push_str(part);
                    at = next;
                }
                Cow::Owned(text)
            }
        }
    }

    /// Whether the text has this somewhere.
    pub fn contains(&self, part: &str) -> bool {
        self.text().contains(part)
    }
}

impl From<String> for Wgsl {
    fn from(text: String) -> Self {
        Self::Whole(text.into())
    }
}

impl From<&'static str> for Wgsl {
    fn from(text: &'static str) -> Self {
        Self::Whole(text.into())
    }
}

impl PartialEq for Wgsl {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

/// The next part of some lines, and where the one after it is told; ends the build if there is none.
const fn part<'a>(lines: &[&'a str], parts: &str, at: usize) -> (&'a str, usize) {
    let (mut offset, at) = number(parts, at);
    let (length, at) = number(parts, at);
    let mut i = 0;
    while offset >= lines[i].len() {
        offset -= lines[i].len();
        i += 1;
    }
    (lines[i].split_at(offset).1.split_at(length).0, at)
}

/// The number at a place of a text, and where the next one is.
const fn number(text: &str, mut at: usize) -> (usize, usize) {
    let (text, mut number) = (text.as_bytes(), 0);
    while text[at] != b' ' {
        number = number * 10 + (text[at] - b'0') as usize;
        at += 1;
    }
    (number, at + 1)
}

/// How many bytes parts have.
#[doc(hidden)]
pub const fn length(parts: &str) -> usize {
    let (mut length, mut at) = (0, 0);
    while at < parts.len() {
        let of_part = number(parts, number(parts, at).1);
        length += of_part.0;
        at = of_part.1;
    }
    length
}

/// The text of parts, of `N` bytes.
#[doc(hidden)]
pub struct Joined<const N: usize>([u8; N]);

impl<const N: usize> Joined<N> {
    /// Joins parts while a program is built.
    pub const fn new(lines: &[&str], parts: &str) -> Self {
        let (mut text, mut length, mut at) = ([0; N], 0, 0);
        while at < parts.len() {
            let (part, next) = part(lines, parts, at);
            text.split_at_mut(length).1.split_at_mut(part.len()).0.copy_from_slice(part.as_bytes());
            length += part.len();
            at = next;
        }
        assert!(length == N, "as long as its parts");
        Self(text)
    }

    /// The text. Unchecked, because rustc's interpreter needs minutes to check the texts of a crate with many kernels.
    pub const fn text(&self) -> &str {
        // SAFETY: `new` fills all bytes, with parts that are `str`s.
        unsafe { std::str::from_utf8_unchecked(&self.0) }
    }
}

/// A shader of shared lines, as expansions write it: `shared_wgsl!(LINES, length, "offset length …")`. Pages, which are compressed, carry
/// whole texts, because compression finds more in these than sharing by lines does. Lints do without: rustc's interpreter, which
/// joins the parts, is slow.
#[cfg(all(target_arch = "wasm32", not(clippy)))]
#[doc(hidden)]
#[macro_export]
macro_rules! shared_wgsl {
    ($lines:expr, $length:expr, $parts:expr) => {
        $crate::Wgsl::Whole($crate::Text::Borrowed(
            const {
                static TEXT: $crate::wgsl::Joined<$length> = $crate::wgsl::Joined::new($lines, $parts);
                TEXT.text()
            },
        ))
    };
}

/// A shader of shared lines, as expansions write it: `shared_wgsl!(LINES, length, "offset length …")`.
#[cfg(any(not(target_arch = "wasm32"), clippy))]
#[doc(hidden)]
#[macro_export]
macro_rules! shared_wgsl {
    ($lines:expr, $length:expr, $parts:expr) => {
        $crate::Wgsl::Parts { lines: $lines, parts: $crate::Text::Borrowed($parts) }
    };
}

/// The distinct lines of texts, in the order in which they first appear.
#[derive(Default)]
pub struct SharedLines {
    text: String,
    offsets: BTreeMap<String, usize>,
    /// Where the second of the two texts begins.
    cut: Option<usize>,
}

impl SharedLines {
    /// Adds the lines of a text that are new. Returns the parts that it consists of.
    pub fn add(&mut self, text: &str) -> String {
        let mut parts: Vec<[usize; 2]> = vec![];
        for line in text.split_inclusive('\n') {
            // Most lines are known: only new ones are copied.
            let offset = self.offsets.get(line).copied().unwrap_or_else(|| self.push(line));
            match parts.last_mut() {
                Some([first, length]) if *first + *length == offset && self.cut != Some(offset) => {
                    *length += line.len()
                }
                _ => parts.push([offset, line.len()]),
            }
        }
        parts.into_iter().flatten().map(|number| format!("{number} ")).collect()
    }

    /// Adds a line. Returns where it begins.
    fn push(&mut self, line: &str) -> usize {
        let offset = self.text.len();
        self.text.push_str(line);
        self.offsets.insert(line.to_owned(), offset);
        offset
    }

    /// What is added from here on goes into a second text.
    pub fn cut(&mut self) {
        self.cut = Some(self.text.len());
    }

    /// The lines, before and after the cut.
    pub fn texts(&self) -> [&str; 2] {
        let (first, second) = self.text.split_at(self.cut.unwrap_or(self.text.len()));
        [first, second]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_from_their_parts() {
        let texts = ["", "a\nb\n", "b\na", "\n\n", "fn f() {\n  ä\n}\n", "no end", "a\nb\nno end"];
        for cut in 0..texts.len() {
            let mut lines = SharedLines::default();
            let mut parts = vec![];
            for (i, text) in texts.iter().enumerate() {
                if i == cut {
                    lines.cut();
                }
                parts.push(lines.add(text));
            }
            let shared: [&'static str; 2] = lines.texts().map(|text| &*text.to_owned().leak());
            let shared: &'static [&'static str] = shared.to_vec().leak();
            for (text, parts) in texts.iter().zip(&parts) {
                let wgsl = Wgsl::Parts { lines: shared, parts: parts.clone().into() };
                assert_eq!(wgsl.text(), *text);
                assert_eq!(wgsl, Wgsl::from(*text));
            }
        }
    }

    #[test]
    fn lines_that_follow_each_other_are_one_part() {
        let mut lines = SharedLines::default();
        assert_eq!(lines.add("a\nb\na\nb\n"), "0 4 0 4 ");
    }

    #[test]
    fn constants_are_joined() {
        const LINES: &[&str] = &["a\nb\n", "ä\n"];
        const PARTS: &str = "4 3 0 4 2 2 ";
        const TEXT: Joined<{ length(PARTS) }> = Joined::new(LINES, PARTS);
        assert_eq!(TEXT.text(), "ä\na\nb\nb\n");
    }
}
