//! Kernel generators build the kernel IR: their strings are names, and only the printer knows WGSL.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::{
    root,
    tidy::{assert_none, files, read},
};

/// Files with WGSL: declarations at module scope, and library functions.
const WITH_TEXT: &[&str] = &["shader.rs", "builtins.rs", "builtins/texts.rs"];

/// Macros whose strings become names; other strings are messages.
const FORMATTING: &[&str] = &["format", "format_args", "write", "writeln"];

#[test]
fn generators_hold_no_shader_text() {
    let folder = root().join("fuse-compiler/src/wgsl");
    let (mut violations, mut strings) = (vec![], 0);
    for file in files(&folder, &["rs"]) {
        let path = file.strip_prefix(&folder).unwrap().display().to_string();
        if WITH_TEXT.contains(&&*path) {
            continue;
        }
        for (string, formatted) in strings_of(read(&file).parse().unwrap(), false) {
            strings += 1;
            if is_text(&string, formatted) {
                violations.push(format!("{path}: \"{string}\" is shader text"));
            }
        }
    }
    assert!(strings > 300, "only {strings} strings");
    assert_none(&violations);
}

#[test]
fn shader_text_is_found() {
    let found = |code: &str| strings_of(code.parse().unwrap(), false).iter().any(|(string, is)| is_text(string, *is));
    assert!(found(r#"fn f() { b.line("workgroupBarrier();"); }"#));
    assert!(found(r#"fn f() { let x = format!("{y} + 1u"); }"#));
    assert!(found(r#"fn f() { let x = format!("{array}[{at}]"); }"#));
    assert!(found(r#"fn f() { let x = "for (var i = 0u; i < n; i++) {"; }"#));
    assert!(!found(r#"fn f() { let x = format!("{}{l}_base{access}", p); }"#));
    assert!(!found(r#"#[doc = "x;"] fn f() { panic!("no; {x}"); arena.name("row0", ty); }"#));
}

/// Strings of code, each with true if it formats a name, without attributes and messages.
fn strings_of(code: TokenStream, formatted: bool) -> Vec<(String, bool)> {
    let (mut found, mut before): (Vec<(String, bool)>, [String; 2]) = (vec![], Default::default());
    for token in code {
        let text = token.to_string();
        match token {
            TokenTree::Literal(literal) => {
                let literal = literal.to_string();
                if let Some(string) = literal.strip_prefix('"') {
                    found.push((string.trim_end_matches('"').to_owned(), formatted));
                }
            }
            TokenTree::Group(group) if is_attribute(&before) && group.delimiter() == Delimiter::Bracket => {}
            TokenTree::Group(group) => {
                let in_macro = before[1] == "!" && before[0].chars().all(|c| c.is_alphanumeric() || c == '_');
                let is_expect = before[1] == "expect";
                let formats = FORMATTING.contains(&&*before[0]);
                if !(in_macro && !formats && before[0] != "vec" && before[0] != "matches" || is_expect) {
                    found.extend(strings_of(group.stream(), in_macro && formats));
                }
            }
            _ => {}
        }
        before = [std::mem::take(&mut before[1]), text];
    }
    found
}

fn is_attribute(before: &[String; 2]) -> bool {
    before[1] == "#" || (before[0] == "#" && before[1] == "!")
}

fn is_text(string: &str, formatted: bool) -> bool {
    let mut rest = string.to_owned();
    while let Some((open, close)) = rest.find('{').zip(rest.find('}')).filter(|(open, close)| formatted && open < close)
    {
        rest.replace_range(open..=close, "");
    }
    rest.chars().any(|c| !(c.is_alphanumeric() || "_.".contains(c)))
}
