//! Golden files: compared, or written with `FUSE_BLESS`.

use std::{collections::BTreeSet, fmt::Write, fs, path::PathBuf};

use similar::TextDiff;

const SHADERS: &str = "
This writes each shader of the test programs as `<hash>.wgsl`; the same in a checkout of the old revision writes the old ones:
    cargo run --release -p fuse-test-compiler --example shaders -- write target/shaders
A line `// wgsl: <kernel> <variant>` in the file test makes a shader a golden.";

pub(crate) struct Goldens {
    folder: PathBuf,
    bless: bool,
    seen: BTreeSet<PathBuf>,
    differences: String,
}

impl Goldens {
    pub(crate) fn new(folder: PathBuf) -> Self {
        let bless = std::env::var_os("FUSE_BLESS").is_some();
        Self { folder, bless, seen: BTreeSet::new(), differences: String::new() }
    }

    pub(crate) fn check(&mut self, name: &str, text: &str) {
        let path = self.folder.join(name);
        self.seen.insert(path.clone());
        let text = format!("{}\n", text.trim_end());
        if self.bless {
            fs::create_dir_all(path.parent().expect("a golden lies in a folder")).expect("goldens can be written");
            return fs::write(&path, text).expect("goldens can be written");
        }
        let golden = fs::read_to_string(&path).unwrap_or_default();
        if golden != text {
            let diff = TextDiff::from_lines(&golden, &text);
            let diff = diff.unified_diff().context_radius(3).header("blessed", "now").to_string();
            writeln!(self.differences, "tests/out/{name}\n{diff}").expect("writing to a string");
        }
    }

    /// Fails if a golden differs or belongs to no program; blessing deletes the latter.
    pub(crate) fn finish(mut self) {
        for path in golden_files(&self.folder) {
            if self.seen.contains(&path) {
                continue;
            }
            if self.bless {
                fs::remove_file(&path).expect("goldens can be deleted");
            } else {
                writeln!(self.differences, "{} belongs to no program", path.display()).expect("writing to a string");
            }
        }
        assert!(
            self.differences.is_empty(),
            "goldens differ; if that is intended, run `cargo xtask bless`{SHADERS}\n{}",
            self.differences
        );
    }
}

fn golden_files(folder: &PathBuf) -> Vec<PathBuf> {
    let entries = |folder: &PathBuf| -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(folder) else { return vec![] };
        entries.map(|entry| entry.expect("goldens can be listed").path()).collect()
    };
    let mut files: Vec<PathBuf> = entries(folder).iter().flat_map(entries).collect();
    files.sort();
    files
}
