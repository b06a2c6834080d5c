//! Rules of `ARCHITECTURE.md` that the compiler does not check. Each rule collects all violations before it fails.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use fuse_compiler::{
    diag::Code,
    operations::{BinaryOp, UnaryOp},
};

use crate::root;

/// In data-flow order, with their modules. A file belongs to the longest entry that prefixes its module path, and may
/// name only its own and earlier stages.
const STAGES: &[&[&str]] = &[
    &["arena"],
    &["span"],
    &["operations"],
    &["graph"],
    &["graph::verify"],
    &["graph::print"],
    &["webnn"],
    &["interp"],
    &["diag"],
    &["syntax"],
    &["grad"],
    &["graph::infer", "graph::lower"],
    &["front"],
    &["fusion"],
    &["schedule"],
    &["kernel"],
    &["wgsl"],
    &["plan"],
    &["validate"],
    &["compile"],
];

const MAX_LINES: usize = 600;

const VAGUE_NAMES: &[&str] = &["utils", "util", "common", "base", "manager", "helpers", "misc"];

/// Split, so that this file does not match.
const UNFINISHED: &[&str] = &[
    concat!("to", "do!("),
    concat!("unimpl", "emented!("),
    concat!("FIX", "ME"),
    concat!("#[ig", "nore"),
    concat!("d", "bg!("),
];

const OUTSIDE: &[&str] =
    &[concat!("/wo", "rk/"), concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("../sha", "red")];

#[test]
fn a_stage_names_only_earlier_stages() {
    let source = root().join("fuse-compiler/src");
    let mut violations = vec![];
    let mut seen = BTreeSet::new();
    for file in files(&source, &["rs"]) {
        let module = module_path(file.strip_prefix(&source).unwrap());
        if module.is_empty() {
            continue;
        }
        let Some(stage) = stage_of(&module) else {
            violations.push(format!(
                "{}: `{module}` is no stage of the list in tests/compiler/tests/all/tidy.rs",
                file.display()
            ));
            continue;
        };
        seen.insert(stage);
        for named in named_modules(&without_tests(&read(&file)), &module) {
            if let Some(other) = stage_of(&named).filter(|&other| other > stage) {
                violations.push(format!(
                    "{}: stage `{}` names `{named}` of the later stage `{}`",
                    file.display(),
                    STAGES[stage][0],
                    STAGES[other][0]
                ));
            }
        }
    }
    let missing = (0..STAGES.len()).filter(|stage| !seen.contains(stage));
    violations.extend(missing.map(|stage| format!("stage `{}` has no file", STAGES[stage][0])));
    assert_none(&violations);
}

#[test]
fn files_are_short_and_named_for_a_purpose() {
    let mut violations = vec![];
    for file in files(&root(), &["rs"]) {
        let lines = read(&file).lines().count();
        if lines > MAX_LINES {
            violations.push(format!("{}: {lines} lines, at most {MAX_LINES}", file.display()));
        }
        let vague = file.iter().filter_map(|part| Path::new(part).file_stem()?.to_str());
        for name in vague.filter(|name| VAGUE_NAMES.contains(name)) {
            violations.push(format!("{}: `{name}` names no purpose", file.display()));
        }
    }
    assert_none(&violations);
}

#[test]
fn what_blocks_does_not_exist_in_browsers() {
    let (mut violations, mut seen) = (vec![], 0);
    for file in files(&root().join("fuse-runtime/src"), &["rs"]) {
        let text = read(&file);
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        for (i, line) in lines.iter().enumerate() {
            let Some(name) = line.strip_prefix("pub fn ").and_then(|rest| rest.split(['(', '<']).next()) else {
                continue;
            };
            if name.contains("blocking") {
                seen += 1;
                let above =
                    lines[..i].iter().rev().take_while(|line| line.starts_with("#[") || line.starts_with("///"));
                if !above.into_iter().any(|line| line.contains("not(target_arch = \"wasm32\")")) {
                    violations.push(format!("{}: `{name}`", file.display()));
                }
            }
        }
    }
    assert!(seen >= 5, "only {seen} calls that block");
    assert_none(&violations);
}

#[test]
fn nothing_is_left_unfinished() {
    let mut violations = vec![];
    for file in files(&root(), &["rs"]) {
        let text = read(&file);
        for (number, line) in text.lines().enumerate() {
            for mark in UNFINISHED.iter().filter(|mark| line.contains(**mark)) {
                violations.push(format!("{}:{}: `{mark}`", file.display(), number + 1));
            }
        }
    }
    assert_none(&violations);
}

#[test]
fn nothing_points_outside_of_the_repository() {
    let mut violations = vec![];
    for file in files(&root(), &["rs", "md", "toml", "stderr", "yml", "txt"]) {
        let text = read(&file);
        for (number, line) in text.lines().enumerate() {
            for path in OUTSIDE.iter().filter(|path| line.contains(**path)) {
                violations.push(format!("{}:{}: `{path}`", file.display(), number + 1));
            }
        }
    }
    assert_none(&violations);
}

/// A `main` that returns an error prints its `Debug` form.
#[test]
fn errors_print_what_they_say() {
    let (mut violations, mut seen) = (vec![], 0);
    for name in ["fuse-auto", "fuse-formats", "fuse-quantize", "fuse-runtime"] {
        for file in files(&root().join(name).join("src"), &["rs"]) {
            for line in read(&file).lines().filter(|line| line.starts_with("#[derive(") && line.contains("Error")) {
                seen += 1;
                if line.contains("Debug") {
                    violations.push(format!("{}: `{line}`, expected a `Debug` that writes `Display`", file.display()));
                }
            }
        }
    }
    assert!(seen >= 7, "only {seen} errors");
    assert_none(&violations);
}

/// Test programs may run on another machine than the one that built them.
#[test]
fn tests_find_the_checkout_by_its_variable() {
    let built_in = concat!("env!(\"CARGO_MANI", "FEST_DIR\")");
    let (mut violations, mut seen) = (vec![], 0);
    for file in files(&root().join("tests"), &["rs"]) {
        if file.ends_with("support/src/checkout.rs") {
            seen += read(&file).matches(built_in).count();
        } else if read(&file).contains(built_in) {
            violations.push(format!("{}: `{built_in}`, expected `fuse_test_support::checkout`", file.display()));
        }
    }
    assert_eq!(seen, 1, "`checkout` knows where it was built");
    assert_none(&violations);
}

#[test]
fn links_in_documents_lead_somewhere() {
    let mut violations = vec![];
    for file in files(&root(), &["md"]) {
        for target in markdown_links(&read(&file)) {
            let path = target.split('#').next().unwrap();
            let outside = target.contains("://") || path.is_empty();
            if !outside && !file.parent().unwrap().join(path).exists() {
                violations.push(format!("{}: link to `{target}`", file.display()));
            }
        }
    }
    assert_none(&violations);
}

#[test]
fn every_crate_shares_license_and_lints() {
    let mut violations = vec![];
    for manifest in manifests() {
        let text = read(&manifest);
        for line in ["license.workspace = true", "edition.workspace = true", "[lints]\nworkspace = true"] {
            if !text.contains(line) {
                violations.push(format!("{}: no `{}`", manifest.display(), line.replace('\n', " ")));
            }
        }
    }
    assert_none(&violations);
}

#[test]
fn every_dependency_is_used_where_it_is_declared() {
    let mut violations = vec![];
    for manifest in manifests() {
        let folder = manifest.parent().unwrap();
        let sources = ["src", "tests", "benches", "examples", "build.rs", "diagnostics", "imports", "types"];
        let text: String =
            sources.iter().flat_map(|source| files(&folder.join(source), &["rs"])).map(|file| read(&file)).collect();
        for (_, name) in dependencies(&read(&manifest)) {
            if !text.contains(&name.replace('-', "_")) {
                violations.push(format!("{}: `{name}` is not used", manifest.display()));
            }
        }
    }
    assert_none(&violations);
}

#[test]
fn crates_depend_in_one_direction() {
    let normal = |krate: &str| {
        let manifest = read(&root().join(krate).join("Cargo.toml"));
        dependencies(&manifest).into_iter().filter(|(table, _)| table == "dependencies").collect::<Vec<_>>()
    };
    let names = |krate: &str| normal(krate).into_iter().map(|(_, name)| name).collect::<BTreeSet<_>>();
    assert!(names("fuse-artifact").is_empty(), "the contract depends on nothing");
    assert!(names("fuse-compiler").is_disjoint(&set(&["wgpu", "fuse-runtime", "fuse-macros"])));
    assert!(names("fuse-macros").is_disjoint(&set(&["wgpu", "fuse-runtime"])));
    let manifest = read(&root().join("fuse-runtime/Cargo.toml"));
    let compiler = manifest.lines().filter(|line| line.starts_with("fuse-compiler"));
    for line in compiler {
        assert!(line.contains("optional = true"), "the runtime links the compiler only for `reference`: {line}");
    }
}

#[test]
fn the_changelog_names_this_version() {
    let changelog = read(&root().join("CHANGELOG.md"));
    let heading = format!("## {}", env!("CARGO_PKG_VERSION"));
    let entry = changelog.lines().skip_while(|line| !line.starts_with(&heading)).skip(1);
    let items = entry.take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with("- ")).count();
    assert!(items > 0, "CHANGELOG.md has nothing under `{heading}`");
}

#[test]
fn the_readme_lists_every_operation() {
    let readme = read(&root().join("README.md"));
    let words: BTreeSet<&str> = readme.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let unary = UnaryOp::ALL.iter().map(|op| op.row()).map(|row| (row.name, row.symbol));
    let binary = BinaryOp::ALL.iter().map(|op| op.row()).map(|row| (row.name, row.symbol));
    let named = unary.chain(binary).filter(|(_, symbol)| symbol.is_none()).map(|(name, _)| name);
    let missing: Vec<String> = named.filter(|name| !words.contains(name)).map(str::to_owned).collect();
    assert_none(&missing);
}

#[test]
fn every_diagnostic_has_a_program_that_fails_with_it() {
    let stems = |extension: &str| -> BTreeSet<String> {
        let files = files(&root().join("tests/ui/diagnostics"), &[extension]);
        files.iter().filter_map(|path| path.file_stem()).map(|stem| stem.to_string_lossy().into_owned()).collect()
    };
    // An internal error has no program; it would be fixed.
    let codes = Code::ALL.iter().filter(|code| **code != Code::InternalError);
    let names: BTreeSet<String> = codes.map(|code| code.name().to_string()).collect();
    assert_eq!(stems("rs"), names);
    assert_eq!(stems("stderr"), names);
}

#[test]
fn the_rules_see_violations() {
    assert_eq!(module_path(Path::new("graph/lower.rs")), "graph::lower");
    assert_eq!(module_path(Path::new("graph/mod.rs")), "graph");
    assert_eq!(module_path(Path::new("lib.rs")), "");
    assert!(STAGES[stage_of("graph::lower::calls").unwrap()].contains(&"graph::lower"));
    assert_eq!(STAGES[stage_of("graph::types").unwrap()], ["graph"]);
    assert_eq!(stage_of("graphs"), None);
    let source = "use crate::{compile, fusion::{Group, legality::check}};\n// crate::comment\n\
                  fn f() { super::print::print(crate::wgsl::emit()) }";
    let named: Vec<String> = named_modules(source, "graph::lower").into_iter().collect();
    assert_eq!(named, ["compile", "fusion::Group", "fusion::legality::check", "graph::print::print", "wgsl::emit"]);
    assert_eq!(without_tests("a\n#[cfg(test)]\nmod tests {}"), "a\n");
    assert_eq!(markdown_links("[a](b.md) and [c](d.md#e)"), ["b.md", "d.md#e"]);
    let manifest = "[dependencies]\na.workspace = true\n[dev-dependencies]\nb = \"1\"\n[features]\nc = []\n";
    let expected = [("dependencies", "a"), ("dev-dependencies", "b")];
    assert_eq!(dependencies(manifest), expected.map(|(table, name)| (table.to_owned(), name.to_owned())));
}

pub(crate) fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Sorted, without what git ignores.
pub(crate) fn files(path: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    if path.is_file() {
        let wanted = path.extension().is_some_and(|found| extensions.iter().any(|wanted| found == *wanted));
        return wanted.then(|| path.to_owned()).into_iter().collect();
    }
    let ignored = ["target", ".git", "wip", "shared"].iter().any(|name| path.ends_with(name));
    if ignored || !path.is_dir() {
        return vec![];
    }
    let mut entries: Vec<PathBuf> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries.iter().flat_map(|entry| files(entry, extensions)).collect()
}

/// `benches/rivals` has a workspace of its own.
pub(crate) fn manifests() -> Vec<PathBuf> {
    let mut manifests = files(&root(), &["toml"]);
    manifests.retain(|file| !["benches/rivals", "fuzz"].iter().any(|folder| file.starts_with(root().join(folder))));
    manifests.retain(|file| file.ends_with("Cargo.toml") && read(file).contains("[package]"));
    assert!(manifests.len() >= 6, "expected the workspace's manifests, found {manifests:?}");
    manifests
}

/// Last name of the table (`dependencies`, `dev-dependencies`) and crate.
fn dependencies(manifest: &str) -> Vec<(String, String)> {
    let mut table = "";
    let mut found = vec![];
    for line in manifest.lines() {
        if let Some(heading) = line.strip_prefix('[') {
            table = heading.trim_end_matches(']').rsplit('.').next().unwrap();
        } else if table.ends_with("dependencies") && line.starts_with(|c: char| c.is_ascii_lowercase()) {
            let name = line.split(['.', ' ', '=']).next().unwrap();
            found.push((table.to_owned(), name.to_owned()));
        }
    }
    let workspace_table = manifest.contains("[workspace.dependencies]");
    // The root manifest also declares versions, which are no dependencies.
    if workspace_table { dependencies(&without_table(manifest, "[workspace.dependencies]")) } else { found }
}

fn without_table(manifest: &str, heading: &str) -> String {
    let (before, after) = manifest.split_once(heading).unwrap();
    format!("{before}{}", after.find("\n[").map_or("", |next| &after[next..]))
}

/// `graph/lower.rs` is `graph::lower`; the crate's root is empty.
pub(crate) fn module_path(file: &Path) -> String {
    let mut parts: Vec<&str> = file.iter().map(|part| part.to_str().unwrap().trim_end_matches(".rs")).collect();
    if let Some("mod" | "lib") = parts.last().copied() {
        parts.pop();
    }
    parts.join("::")
}

fn stage_of(path: &str) -> Option<usize> {
    let starts = |module: &str| path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    let longest = |stage: usize| STAGES[stage].iter().filter(|module| starts(module)).map(|module| module.len()).max();
    (0..STAGES.len()).filter(|&stage| longest(stage).is_some()).max_by_key(|&stage| longest(stage))
}

/// Unit tests may use later stages to inspect results.
fn without_tests(source: &str) -> String {
    source.split("#[cfg(test)]").next().unwrap().to_owned()
}

/// Paths below the crate's root, through `crate::` or `super::`.
pub(crate) fn named_modules(source: &str, module: &str) -> BTreeSet<String> {
    let code: String =
        source.lines().filter(|line| !line.trim_start().starts_with("//")).fold(String::new(), |mut code, line| {
            code.push_str(line);
            code.push('\n');
            code
        });
    let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
    let mut paths = BTreeSet::new();
    for (keyword, prefix) in [("crate::", ""), ("super::", parent)] {
        for (start, _) in code.match_indices(keyword) {
            // `super::super::` is one path.
            let inside_word = code[..start].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':'));
            if !inside_word {
                expand(&code[start + keyword.len()..], prefix, &mut paths);
            }
        }
    }
    paths
}

/// Adds the paths of a use tree, `a::{b, c::d}`; returns the rest.
fn expand<'a>(tree: &'a str, prefix: &str, paths: &mut BTreeSet<String>) -> &'a str {
    let tree = tree.trim_start();
    if let Some(mut rest) = tree.strip_prefix('{') {
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            match rest.strip_prefix('}') {
                Some(after) => return after,
                None if rest.is_empty() => return rest,
                None => rest = expand(rest, prefix, paths),
            }
        }
    }
    let end = tree.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(tree.len());
    let (name, rest) = tree.split_at(end);
    if rest.starts_with('*') && name.is_empty() && !prefix.is_empty() {
        paths.insert(prefix.to_owned());
    }
    let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}::{name}") };
    if let Some(rest) = rest.strip_prefix("::").filter(|_| !name.is_empty()) {
        return expand(rest, &path, paths);
    }
    if !name.is_empty() {
        paths.insert(path);
    }
    rest.trim_start_matches(|c: char| !matches!(c, ',' | '}'))
}

/// Targets of `[text](target)`.
fn markdown_links(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

pub(crate) fn assert_none(violations: &[String]) {
    assert!(violations.is_empty(), "{} violations:\n{}", violations.len(), violations.join("\n"));
}
