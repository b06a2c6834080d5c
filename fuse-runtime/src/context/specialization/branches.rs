//! Choices between branches by an integer: `switch` as `if`, and `if` as `switch`.
//!
//! Input: a text in which the compiler writes a `switch` as `switch x {`, its branches as `case 0u: {`, `case 1u: {` … and
//! `default: {`, and one `if` after another as
//!
//! ```text
//! // switch x {
//! if x == 0u {
//! }
//! if x == 1u {
//! }
//! // default: {} }
//! ```
//!
//! with each of these on a line of its own and nothing of the kind inside of another. Output: the text in the other spelling; what
//! the branches do stays as it is.

use std::borrow::Cow;

use fuse_artifact::{CHAIN, CHAIN_END};

/// How texts start a `switch`.
const SWITCH: &str = "switch ";

/// Whether a text has something that [`with_ifs`] changes.
pub(super) fn has_switch(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with(SWITCH))
}

/// Whether a text has something that [`with_switches`] changes.
pub(super) fn has_chain(text: &str) -> bool {
    text.contains(CHAIN)
}

/// The text with `if` in place of every `switch`.
pub(super) fn with_ifs(text: &str) -> String {
    let mut selector = "";
    each_line(text, |code| {
        if let Some(found) = code.strip_prefix(SWITCH) {
            selector = found.strip_suffix(" {").unwrap_or(found);
            return "{".into();
        }
        match code.strip_prefix("case ").and_then(|rest| rest.strip_suffix(": {")) {
            Some("0u") => format!("if {selector} == 0u {{").into(),
            Some(value) => format!("else if {selector} == {value} {{").into(),
            None if code == "default: {" => "else {".into(),
            None => code.into(),
        }
    })
}

/// The text with `switch` in place of every `if` after another.
pub(super) fn with_switches(text: &str) -> String {
    let mut selector = None;
    each_line(text, |code| {
        if let Some(found) = code.strip_prefix(CHAIN) {
            selector = Some(found.strip_suffix(" {").unwrap_or(found));
            return format!("{SWITCH}{found}").into();
        }
        if code == CHAIN_END {
            selector = None;
            return "default: {} }".into();
        }
        let value =
            selector.and_then(|selector| code.strip_prefix("if ")?.strip_prefix(selector)?.strip_prefix(" == "));
        match value.and_then(|value| value.strip_suffix(" {")) {
            Some(value) => format!("case {value}: {{").into(),
            None => code.into(),
        }
    })
}

/// The text with every line replaced, but for its indentation.
fn each_line<'t>(text: &'t str, mut replace: impl FnMut(&'t str) -> Cow<'t, str>) -> String {
    let mut result = String::with_capacity(text.len());
    for line in text.lines() {
        let (indent, code) = line.split_at(line.len() - line.trim_start().len());
        result += indent;
        result += &replace(code);
        result.push('\n');
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_become_ifs() {
        let text = "  switch product {\n    case 0u: {\n      f();\n    }\n    case 1u: {\n    }\n    default: {\n      g();\n    \
                    }\n  }\n  h();\n";
        let expected = "  {\n    if product == 0u {\n      f();\n    }\n    else if product == 1u {\n    }\n    else {\n      \
                        g();\n    }\n  }\n  h();\n";
        assert!(has_switch(text) && !has_switch(expected) && !has_chain(text));
        assert_eq!(with_ifs(text), expected);
        assert_eq!(with_switches(text), text);
    }

    #[test]
    fn ifs_become_switches() {
        let text = "if g == 7u {\n}\n  // switch g {\n  if g == 0u {\n    if x == 0u {\n    }\n  }\n  if g == 1u {\n  }\n  \
                    // default: {} }\n  if g == 2u {\n  }\n";
        let expected = "if g == 7u {\n}\n  switch g {\n  case 0u: {\n    if x == 0u {\n    }\n  }\n  case 1u: {\n  }\n  \
                        default: {} }\n  if g == 2u {\n  }\n";
        assert!(has_chain(text) && !has_switch(text));
        assert_eq!(with_switches(text), expected);
        assert_eq!(with_ifs(text), text);
    }
}
