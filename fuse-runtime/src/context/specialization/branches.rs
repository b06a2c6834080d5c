//! Branches on an integer: conversion between `switch` and chains of `if`.
//!
//! Input: a shader in which the compiler writes a `switch` as `switch x {`, its branches as `case 0u: {`, `case 1u: {`
//! … and `default: {`, and a chain of `if` as
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
//! with each of these on a line of its own, not nested. Output: the shader in the other form; the bodies of branches
//! stay unchanged.

use std::borrow::Cow;

use fuse_artifact::{CHAIN, CHAIN_END};

const SWITCH: &str = "switch ";

/// True if [`with_ifs`] changes a shader.
pub(super) fn has_switch(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with(SWITCH))
}

/// True if [`with_switches`] changes a shader.
pub(super) fn has_chain(text: &str) -> bool {
    text.contains(CHAIN)
}

/// Replaces every `switch` by a chain of `if`.
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

/// Replaces every chain of `if` by a `switch`.
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

/// Replaces every line, keeping its indentation.
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
