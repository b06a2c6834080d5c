//! Shader sources, and line sharing between the shaders of a program.

use std::{borrow::Cow, collections::HashMap, fmt::Write, sync::Arc};

use crate::Text;

/// Source of a shader.
#[derive(Clone, Debug)]
pub enum Wgsl {
    /// An unshared source.
    Whole(Text),
    /// Lines shared with other shaders; pages use whole sources instead ([`shared_texts`](crate::shared_texts)).
    #[cfg(not(target_arch = "wasm32"))]
    Shared {
        /// Sources of a function.
        texts: &'static SharedTexts,
        /// Index of the source.
        number: u32,
    },
    /// [`Wgsl::Shared`] for a function made at run time.
    Made {
        /// Sources of the function.
        texts: Arc<MadeTexts>,
        /// Index of the source.
        number: u32,
    },
}

impl Wgsl {
    /// Whole source.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Whole(text) => Cow::Borrowed(text),
            #[cfg(not(target_arch = "wasm32"))]
            Self::Shared { texts, number } => Cow::Owned(join(texts.lines, texts.parts[*number as usize])),
            Self::Made { texts, number } => Cow::Owned(join(&[&texts.lines], &texts.parts[*number as usize])),
        }
    }

    /// True if the source contains `part`.
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

/// Sources of a function made at run time, with shared lines.
#[derive(Debug)]
pub struct MadeTexts {
    /// Distinct lines.
    pub lines: Box<str>,
    /// Parts of each source, as in [`SharedTexts`].
    pub parts: Box<[Box<str>]>,
}

/// Sources with shared lines.
#[derive(Debug)]
pub struct SharedTexts {
    /// Distinct lines, concatenated for offsets.
    pub lines: &'static [&'static str],
    /// Parts of each source: offset and length in bytes, each followed by a space. No part spans two of `lines`.
    /// Strings, because lists of numbers lengthen expansions.
    pub parts: &'static [&'static str],
}

/// Joins parts of lines to a source.
///
/// # Panics
/// If a part is out of bounds.
pub fn join(lines: &[&str], parts: &str) -> String {
    let number = |text: &str| text.parse::<usize>().expect("parts are numbers");
    let mut numbers = parts.split_ascii_whitespace().map(number);
    let mut text = String::new();
    while let (Some(mut offset), Some(length)) = (numbers.next(), numbers.next()) {
        let mut lines = lines.iter();
        let mut line = *lines.next().expect("parts are of these lines");
        while offset >= line.len() {
            offset -= line.len();
            line = lines.next().expect("parts are of these lines");
        }
        text.push_str(&line[offset..offset + length]);
    }
    text
}

/// Defines the sources `$texts` of a function in expansions. Arguments: `[fuse path] [$texts] [lines of pages] [other
/// lines] [parts of common texts] [parts of texts of pages] [parts of other texts]`. The last two are numbered alike,
/// after the common ones.
///
/// Pages are compressed and carry whole sources, which compress better than shared lines. `fuse!` joins them in another
/// expansion, because rustc's interpreter would take minutes.
#[cfg(target_arch = "wasm32")]
#[doc(hidden)]
#[macro_export]
macro_rules! shared_texts {
    (
        [$($fuse:tt)*] [$texts:ident] [$lines:literal] [$others:literal]
        [$($parts:literal)*] [$($page_parts:literal)*] [$($other_parts:literal)*]
    ) => {
        $($fuse)* ! { @texts [$texts] [$lines] [$($parts)* $($page_parts)*] }
    };
}

/// Defines the sources `$texts` of a function in expansions. Arguments: `[fuse path] [$texts] [lines of pages] [other
/// lines] [parts of common texts] [parts of texts of pages] [parts of other texts]`. The last two are numbered alike,
/// after the common ones.
#[cfg(not(target_arch = "wasm32"))]
#[doc(hidden)]
#[macro_export]
macro_rules! shared_texts {
    (
        [$($fuse:tt)*] [$texts:ident] [$lines:literal] [$others:literal]
        [$($parts:literal)*] [$($page_parts:literal)*] [$($other_parts:literal)*]
    ) => {
        // A static, not a constant: rustc lowers a constant at each reference.
        static $texts: $crate::SharedTexts =
            $crate::SharedTexts { lines: &[$lines, $others], parts: &[$($parts,)* $($other_parts,)*] };
    };
}

/// One of these sources in expansions: `shared_wgsl!(TEXTS, number)`.
#[cfg(target_arch = "wasm32")]
#[doc(hidden)]
#[macro_export]
macro_rules! shared_wgsl {
    ($texts:expr, $number:expr) => {
        $crate::Wgsl::Whole($crate::Text::Borrowed(const { $texts[$number] }))
    };
}

/// One of these sources in expansions: `shared_wgsl!(TEXTS, number)`.
#[cfg(not(target_arch = "wasm32"))]
#[doc(hidden)]
#[macro_export]
macro_rules! shared_wgsl {
    ($texts:expr, $number:expr) => {
        $crate::Wgsl::Shared { texts: &$texts, number: $number }
    };
}

/// Distinct lines of sources, in order of first appearance.
#[derive(Default)]
pub struct SharedLines {
    text: String,
    offsets: HashMap<String, usize>,
    /// Start of the second string.
    cut: Option<usize>,
}

impl SharedLines {
    /// Adds new lines of a source and returns its parts; equal sources have equal parts.
    pub fn add(&mut self, text: &str) -> String {
        let mut parts: Vec<[usize; 2]> = vec![];
        for line in text.split_inclusive('\n') {
            let end = parts.last().map(|[first, length]| first + length).filter(|&end| self.cut != Some(end));
            // Most lines follow the previous one as in an earlier source, and most others are known.
            if let (Some(end), Some([_, length])) = (end, parts.last_mut())
                && self.has(line, end)
            {
                *length += line.len();
                continue;
            }
            let offset = self.offsets.get(line).copied().unwrap_or_else(|| self.push(line));
            match parts.last_mut() {
                Some([_, length]) if end == Some(offset) => *length += line.len(),
                _ => parts.push([offset, line.len()]),
            }
        }
        let mut text = String::new();
        for number in parts.into_iter().flatten() {
            _ = write!(text, "{number} ");
        }
        text
    }

    fn has(&self, line: &str, offset: usize) -> bool {
        let is_on_one_side = self.cut.is_none_or(|cut| cut <= offset || offset + line.len() <= cut);
        line.ends_with('\n') && is_on_one_side && self.text.as_bytes()[offset..].starts_with(line.as_bytes())
    }

    fn push(&mut self, line: &str) -> usize {
        let offset = self.text.len();
        self.text.push_str(line);
        self.offsets.insert(line.to_owned(), offset);
        offset
    }

    /// Starts the second string.
    pub fn cut(&mut self) {
        self.cut = Some(self.text.len());
    }

    /// Lines before and after the cut.
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
            for (text, parts) in texts.iter().zip(&parts) {
                assert_eq!(join(&lines.texts(), parts), *text);
            }
        }
    }

    #[test]
    fn lines_that_follow_each_other_are_one_part() {
        let mut lines = SharedLines::default();
        assert_eq!(lines.add("a\nb\na\nb\n"), "0 4 0 4 ");
    }

    #[test]
    fn a_text_is_found_by_its_number() {
        shared_texts! { [fuse] [TEXTS] ["a\nb\n"] ["ä\n"] ["2 2 "] ["0 2 "] ["4 3 0 4 2 2 "] }
        assert_eq!(shared_wgsl!(TEXTS, 0), Wgsl::from("b\n"));
        // Pages have another source with this number.
        assert_eq!(shared_wgsl!(TEXTS, 1), Wgsl::from("ä\na\nb\nb\n"));
    }
}
