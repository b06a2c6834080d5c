//! Writes every shader of the test programs to a folder, and compares two such folders.
//!
//! ```sh
//! cargo run --release -p fuse-test-compiler --example shaders -- write target/before
//! cargo run --release -p fuse-test-compiler --example shaders -- write target/after
//! cargo run --release -p fuse-test-compiler --example shaders -- compare target/before target/after
//! ```
//!
//! A folder has `index.txt`, a line per pass of a variant with the hashes of its shader and of everything else, and
//! each distinct shader as `<hash>.wgsl`. Shaders are equal if their sources are, or if naga's modules are equal up to
//! names, spans and the order of pure expressions (`module`).

mod module;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::Path,
};

use fuse_test_compiler::shader_hash;
use fuse_test_support::{compile, corpus, patterns};

const SHOWN: usize = 8;
const BEFORE: usize = 100;
const LENGTH: usize = 320;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", folder] => write(Path::new(folder)),
        ["compare", before, after] => compare(Path::new(before), Path::new(after)),
        _ => panic!("expected `write <folder>` or `compare <folder> <folder>`, found {arguments:?}"),
    }
}

fn sources() -> Vec<(String, String)> {
    let files = corpus::FILES.iter().map(|&(name, source)| (name.to_owned(), source.to_owned()));
    let numbered = |kind: &'static str, sources: Vec<String>| {
        sources.into_iter().enumerate().map(move |(i, source)| (format!("{kind} {i}"), source))
    };
    let patterns = patterns::cases().into_iter().map(|case| case.source).collect();
    files
        .chain(numbered("family", corpus::every_family()))
        .chain(numbered("operation", corpus::every_operation()))
        .chain(numbered("pattern", patterns))
        .collect()
}

fn write(folder: &Path) {
    fs::create_dir_all(folder).expect("the folder can be made");
    let (mut index, mut seen) = (String::new(), BTreeSet::new());
    for (name, source) in sources() {
        for (number, program) in compile(&source).iter().enumerate() {
            for (plan, function) in program.plans().enumerate() {
                for kernel in function.kernels.iter() {
                    for variant in kernel.variants.iter() {
                        for (i, pass) in variant.passes.iter().enumerate() {
                            let text = pass.wgsl.text();
                            let shader = shader_hash(&text);
                            let mut rest = pass.clone();
                            rest.wgsl = String::new().into();
                            let rest = shader_hash(&format!("{:?} {:?} {rest:?}", variant.features, variant.requires));
                            let kernel = &kernel.name;
                            let variant = &variant.name;
                            writeln!(
                                index,
                                "{name} / {number} / {plan} / {kernel} / {variant} / {i}\t{shader}\t{rest}"
                            )
                            .expect("writing to a string");
                            if seen.insert(shader.clone()) {
                                fs::write(folder.join(format!("{shader}.wgsl")), text.as_bytes())
                                    .expect("the shader can be written");
                            }
                        }
                    }
                }
            }
        }
    }
    fs::write(folder.join("index.txt"), &index).expect("the index can be written");
    println!("{} passes, {} distinct shaders", index.lines().count(), seen.len());
}

fn index(folder: &Path) -> BTreeMap<String, [String; 2]> {
    let text = fs::read_to_string(folder.join("index.txt")).expect("the folder has an index");
    let entry = |line: &str| {
        let mut parts = line.split('\t').map(str::to_owned);
        let mut next = || parts.next().expect("a line has three parts");
        (next(), [next(), next()])
    };
    text.lines().map(entry).collect()
}

fn compare(before: &Path, after: &Path) {
    let (old, new) = (index(before), index(after));
    let missing: Vec<&String> = old.keys().filter(|key| !new.contains_key(*key)).collect();
    let added: Vec<&String> = new.keys().filter(|key| !old.contains_key(*key)).collect();
    let (mut same, mut other_rest, mut pairs) = (0, vec![], BTreeMap::new());
    for (key, [shader, rest]) in &old {
        let Some([new_shader, new_rest]) = new.get(key) else { continue };
        if rest != new_rest {
            other_rest.push(key);
        }
        if shader == new_shader {
            same += 1;
        } else {
            pairs.entry((shader, new_shader)).or_insert(key);
        }
    }
    let read = |folder: &Path, hash: &str| {
        fs::read_to_string(folder.join(format!("{hash}.wgsl"))).expect("the shader is in the folder")
    };
    let mut different = vec![];
    for ((shader, new_shader), key) in &pairs {
        let texts = [read(before, shader), read(after, new_shader)];
        let [old, new] = texts.each_ref().map(|text| module::canonical(text));
        if old != new {
            different.push((*key, [old, new]));
        }
    }
    println!("{same} passes have the same text; of {} other pairs {} differ", pairs.len(), different.len());
    println!("{} passes have other bindings, sizes or requirements", other_rest.len());
    println!("{} passes are gone, {} are new", missing.len(), added.len());
    for key in missing.iter().chain(&added).chain(&other_rest).take(SHOWN) {
        println!("  {key}");
    }
    // Families differ alike: one difference of each kind suffices.
    let mut kinds = BTreeMap::new();
    for (key, [old, new]) in &different {
        kinds.entry(difference(old, new)).or_insert_with(Vec::new).push(*key);
    }
    for ([old, new], keys) in kinds.iter().take(SHOWN) {
        println!("{} shaders, such as {}\n  before: {old}\n  after:  {new}", keys.len(), keys[0]);
    }
    let unchanged = different.is_empty() && other_rest.is_empty() && missing.is_empty() && added.is_empty();
    std::process::exit(i32::from(!unchanged));
}

fn difference(old: &str, new: &str) -> [String; 2] {
    let (mut olds, mut news) = (old.lines(), new.lines());
    loop {
        let lines = [olds.next(), news.next()].map(Option::unwrap_or_default);
        if lines[0] != lines[1] || lines[0].is_empty() && lines[1].is_empty() {
            let same = lines[0].chars().zip(lines[1].chars()).take_while(|(x, y)| x == y).count();
            return lines.map(|line| line.chars().skip(same.saturating_sub(BEFORE)).take(LENGTH).collect());
        }
    }
}
