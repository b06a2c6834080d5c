//! Untrusted bytes: a fixed corpus and reproducible mutations of it.
//!
//! `FUSE_MINUTES` (`cargo xtask fuzz files`) adds mutations for that time, from `FUSE_SEED` on. `fuzz/README.md`
//! explains the libFuzzer targets.

mod targets;

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use fuse_test_support::{Numbers, checkout};
use targets::Target;

/// Mutates twice: each item, and its mutations.
fn fuzz(name: &str, files: &[&str], mutations: u64, target: Target) {
    let root = checkout();
    let folder = root.join("tests/fuzz/corpus").join(name);
    let kept = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let kept = kept.map(|file| file.expect("a file").path());
    let mut paths: Vec<_> = kept.chain(files.iter().map(|file| root.join(file))).collect();
    paths.sort();
    let corpus: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).expect("a file of the corpus")).collect();
    assert!(corpus.len() >= 3, "{name}: {paths:?}");
    corpus.iter().for_each(|bytes| run(name, target, bytes));
    let number = |variable: &str| std::env::var(variable).ok().and_then(|text| text.parse::<f64>().ok());
    let mut numbers = Numbers::new(number("FUSE_SEED").unwrap_or(0.0) as u64);
    let (start, minutes) = (Instant::now(), number("FUSE_MINUTES").unwrap_or(0.0));
    let minutes = Duration::from_secs_f64(60.0 * minutes.clamp(0.0, 1e6));
    let mut pool = corpus;
    for count in 0.. {
        if count >= mutations && start.elapsed() >= minutes {
            eprintln!("{name}: {count} mutations");
            break;
        }
        let mut bytes = pool[numbers.below(pool.len() as u64) as usize].clone();
        for _ in 0..=numbers.below(4) {
            mutate(&mut bytes, &pool, &mut numbers);
        }
        run(name, target, &bytes);
        if pool.len() < 200 && bytes.len() < 1 << 16 {
            pool.push(bytes);
        }
    }
}

fn run(name: &str, target: Target, bytes: &[u8]) {
    if catch_unwind(AssertUnwindSafe(|| target(bytes))).is_err() {
        let file = std::env::temp_dir().join(format!("fuse-fuzz-{name}"));
        let kept = fs::write(&file, bytes).map_or_else(|error| error.to_string(), |()| file.display().to_string());
        panic!(
            "{name}: {} bytes make it panic; they are in {kept} (keep them in tests/fuzz/corpus/{name})",
            bytes.len()
        );
    }
}

fn mutate(bytes: &mut Vec<u8>, pool: &[Vec<u8>], numbers: &mut Numbers) {
    let mut below = |count: usize| numbers.below(count.max(1) as u64) as usize;
    let at = below(bytes.len());
    let edges = [0, 1, 0x7f, 0x80, 0xff, b'0', b'"', b'\n'];
    match below(7) {
        0 if !bytes.is_empty() => bytes[at] ^= 1 << below(8),
        1 if !bytes.is_empty() => bytes[at] = edges[below(edges.len())],
        2 if !bytes.is_empty() => {
            let (end, edge) = ((at + 8).min(bytes.len()), edges[below(5)]);
            bytes[at..end].fill(edge);
        }
        3 => bytes.truncate(at),
        4 if !bytes.is_empty() => drop(bytes.drain(at..(at + 1 + below(16)).min(bytes.len()))),
        5 => {
            let (count, edge) = (1 + below(8), edges[below(edges.len())]);
            bytes.splice(at..at, std::iter::repeat_n(edge, count));
        }
        _ => {
            let other = &pool[below(pool.len())];
            let from = below(other.len());
            bytes.truncate(at);
            bytes.extend(&other[from..]);
        }
    }
}

#[test]
fn gguf_files() {
    fuzz("gguf", &["fuse-formats/tests/data/tiny.gguf"], 4000, targets::gguf_file);
}

#[test]
fn packed_matrices() {
    fuzz("packed", &[], 4000, targets::packed);
}

#[test]
fn quantized_tensors() {
    fuzz("quantize", &[], 4000, targets::quantized);
}

#[test]
fn tuning_tables() {
    let tables = ["chrome-swiftshader", "nvidia", "software"].map(|name| format!("fuse-runtime/tables/{name}.toml"));
    fuzz("table", &tables.each_ref().map(String::as_str), 800, targets::table);
}
