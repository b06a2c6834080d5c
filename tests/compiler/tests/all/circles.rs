//! No cyclic imports between a crate's files.
//!
//! Imports are paths through `crate::` and `super::`, in `use` and in code, without tests. A path leads to its longest
//! prefix that is a module: a re-export counts as the re-exporting file. `mod` declarations do not count.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::Path,
};

use crate::{
    root,
    tidy::{assert_none, files, manifests, module_path, named_modules, read},
};

type Imports = BTreeMap<String, BTreeSet<String>>;

#[test]
fn files_import_one_way() {
    let (mut violations, mut seen) = (vec![], 0);
    for manifest in manifests() {
        let folder = manifest.parent().unwrap();
        let source = folder.join("src");
        if !source.is_dir() {
            continue;
        }
        seen += 1;
        let name = folder.strip_prefix(root()).unwrap().display().to_string();
        let imports = imports(&source);
        let shortest = imports.keys().filter_map(|file| circle(&imports, file)).min_by_key(Vec::len);
        violations.extend(shortest.map(|files| format!("{name}: `{}`", files.join("` → `"))));
    }
    assert!(seen >= 8, "only {seen} crates");
    assert_none(&violations);
}

#[test]
fn circles_are_found() {
    let sources = [
        ("", "mod a;\nmod b;\nmod c;\npub use crate::a::A;"),
        ("a", "use crate::b::{B, inner::C};\nfn f() { crate::c::g() }\n#[cfg(test)]\nmod tests { use crate::d::D; }"),
        ("b", "use self::inner::C;\nmod native {\n    use super::B;\n}"),
        ("b::inner", "use super::super::c::{self, g};"),
        ("c", "#[cfg(test)]\nuse crate::a::A;\nuse crate::d::*;"),
        ("d", "use crate::Root;"),
    ];
    let modules: BTreeSet<String> = sources.iter().map(|(module, _)| (*module).to_owned()).collect();
    let imports: Imports =
        sources.iter().map(|(module, source)| ((*module).to_owned(), imported(source, module, &modules))).collect();
    let listed = |module: &str| imports[module].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(listed(""), ["a"]);
    assert_eq!(listed("a"), ["b", "b::inner", "c"]);
    assert!(listed("b").is_empty());
    assert_eq!(listed("b::inner"), ["c"]);
    assert_eq!(listed("c"), ["d"]);
    assert_eq!(listed("d"), [""]);
    assert_eq!(circle(&imports, "c").unwrap(), ["c", "d", "the root", "a", "c"]);
    assert_eq!(circle(&imports, "b::inner").unwrap(), ["b::inner", "c", "d", "the root", "a", "b::inner"]);
    assert_eq!(circle(&imports, "b"), None);
}

fn imports(source: &Path) -> Imports {
    let of = |file: &Path| {
        let module = module_path(file.strip_prefix(source).unwrap());
        if module == "main" { String::new() } else { module }
    };
    let mut files = files(source, &["rs"]);
    files.retain(|file| !of(file).split("::").any(|part| part == "tests"));
    let modules: BTreeSet<String> = files.iter().map(|file| of(file)).collect();
    files.iter().map(|file| (of(file), imported(&read(file), &of(file), &modules))).collect()
}

fn imported(source: &str, module: &str, modules: &BTreeSet<String>) -> BTreeSet<String> {
    let named = named_modules(&without_test_items(&without_inner_supers(source)), module);
    let mut imported: BTreeSet<String> = named.iter().map(|path| file_of(path, modules)).collect();
    imported.remove(module);
    imported
}

/// The longest module with a file that starts a path; the root is empty.
fn file_of(path: &str, modules: &BTreeSet<String>) -> String {
    let mut parts: Vec<&str> = vec![];
    for part in path.split("::") {
        if part == "super" {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    while !parts.is_empty() && !modules.contains(&parts.join("::")) {
        parts.pop();
    }
    parts.join("::")
}

/// Replaces `super::` in inline modules, which names the file itself.
fn without_inner_supers(source: &str) -> String {
    let mut inside = false;
    let line = |line: &str| {
        let starts = line.starts_with("mod ") || line.starts_with("pub") && line.contains(" mod ");
        inside = (inside || starts && line.ends_with('{')) && line != "}";
        if inside { line.replace("super::", "self::") + "\n" } else { line.to_owned() + "\n" }
    };
    source.lines().map(line).collect()
}

fn without_test_items(source: &str) -> String {
    let mut left = String::new();
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        let code = line.trim_start();
        if !(code.starts_with("#[cfg(test)]") || code.starts_with("#[cfg(all(test")) {
            left += line;
            left.push('\n');
            continue;
        }
        let indentation = &line[..line.len() - code.len()];
        for line in lines.by_ref() {
            let Some(item) = line.strip_prefix(indentation).filter(|item| !item.starts_with([' ', '#', '/'])) else {
                continue;
            };
            if item.starts_with('}') || item.ends_with([';', '}', ',']) {
                break;
            }
        }
    }
    left
}

fn circle(imports: &Imports, start: &str) -> Option<Vec<String>> {
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut next = VecDeque::from([start]);
    while let Some(file) = next.pop_front() {
        for import in &imports[file] {
            if import == start {
                let backwards = std::iter::successors(Some(file), |file| before.get(file).copied());
                let mut way: Vec<&str> = std::iter::once(start).chain(backwards).collect();
                way.reverse();
                let named = |file: &str| if file.is_empty() { "the root".to_owned() } else { file.to_owned() };
                return Some(way.into_iter().map(named).collect());
            }
            if !before.contains_key(&**import) {
                before.insert(import, file);
                next.push_back(import);
            }
        }
    }
    None
}
