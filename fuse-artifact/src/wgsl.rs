//! Texts of shaders, and how a program carries many that have most of their lines in common.

use std::{borrow::Cow, collections::BTreeMap};

use crate::{List, Text};

/// The text of a shader.
#[derive(Clone, Debug)]
pub enum Wgsl {
    /// As it is.
    Whole(Text),
    /// In lines that it shares with other shaders.
    Lines {
        /// Distinct lines, each list's one after the other, separated by `\n`.
        lines: List<Text>,
        /// The shader's lines: each character is the number of one ([`LineNumbers::add`]).
        order: Text,
    },
}

impl Wgsl {
    /// The text.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Whole(text) => Cow::Borrowed(text),
            Self::Lines { lines, order } => {
                let lines: Vec<&str> = lines.iter().flat_map(|lines| lines.split('\n')).collect();
                let of_shader: Vec<&str> = order.chars().map(|number| lines[line(number)]).collect();
                Cow::Owned(of_shader.join("\n"))
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

/// The character of line 0. Lines of most shaders come first and take a byte each.
const FIRST: u32 = ' ' as u32;

/// Numbers that are no characters: surrogates.
const SURROGATES: std::ops::Range<u32> = 0xd800..0xe000;

/// The number of a line from its character.
const fn line(character: char) -> usize {
    let number = character as u32;
    let surrogates = if number < SURROGATES.end { 0 } else { SURROGATES.end - SURROGATES.start };
    (number - surrogates - FIRST) as usize
}

/// The character of a line; a million lines have one.
fn character(line: usize) -> char {
    let number = FIRST + line as u32;
    let number = if number < SURROGATES.start { number } else { number + (SURROGATES.end - SURROGATES.start) };
    char::from_u32(number).expect("a function has fewer lines than there are characters")
}

/// Numbers for the distinct lines of texts, in the order in which they first appear.
#[derive(Default)]
pub struct LineNumbers {
    lines: Vec<String>,
    numbers: BTreeMap<String, usize>,
}

impl LineNumbers {
    /// The lines of a text, a character each.
    pub fn add(&mut self, text: &str) -> String {
        text.split('\n').map(|line| character(self.number(line))).collect()
    }

    fn number(&mut self, line: &str) -> usize {
        if let Some(&number) = self.numbers.get(line) {
            return number;
        }
        let number = self.lines.len();
        self.numbers.insert(line.to_owned(), number);
        self.lines.push(line.to_owned());
        number
    }

    /// How many lines have a number.
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// The lines with these numbers, as [`Wgsl::Lines`] has them.
    pub fn text(&self, numbers: std::ops::Range<usize>) -> String {
        self.lines[numbers].join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_from_their_lines() {
        let texts = ["", "a\nb\n", "b\na", "\n\n", "fn f() {\n  a\n}\n", "no end"];
        let mut numbers = LineNumbers::default();
        let orders: Vec<String> = texts.iter().map(|text| numbers.add(text)).collect();
        for split in 1..numbers.count() {
            let lines: [Text; 2] = [numbers.text(0..split).into(), numbers.text(split..numbers.count()).into()];
            for (text, order) in texts.iter().zip(&orders) {
                let shared = Wgsl::Lines { lines: lines.to_vec().into(), order: order.clone().into() };
                assert_eq!(shared.text(), *text);
                assert_eq!(shared, Wgsl::from(*text));
            }
        }
    }

    #[test]
    fn characters_skip_surrogates() {
        for number in [0, 94, 0xd7df, 0xd7e0, 0xd7e1, 0x1_0000] {
            assert_eq!(line(character(number)), number);
        }
        assert_eq!((character(0), character(0xd7e0)), (' ', '\u{e000}'));
    }
}
