//! Pages: their files, libraries from npm, and the weight of both.

use std::{fs, path::Path};

use anyhow::Context;
use fuse_bench_results::line::{ONNX, OURS, TENSORFLOW, Weight};
use fuse_page_server::compressed;

use crate::{checkout::root, packages::PACKAGES};

/// Without ending.
const NAME: &str = "fuse_web_rivals";
const OURS_FOLDER: &str = "fuse";
const FILES: &str = "benches/web_rivals/page";

pub(super) fn assemble(folder: &Path, libraries: bool, offline: bool) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    let names = fs::read_dir(root().join(FILES)).with_context(|| format!("cannot read `{FILES}`"))?;
    let names = names.map(|entry| Ok(entry?.file_name())).collect::<anyhow::Result<Vec<_>>>()?;
    for name in names {
        copy(&root().join(FILES).join(&name), &folder.join(&name))?;
    }
    for package in PACKAGES.iter().filter(|_| libraries) {
        let files = package.ensure(offline)?;
        let into = folder.join(package.folder);
        fs::create_dir_all(&into).with_context(|| format!("cannot create `{}`", into.display()))?;
        for file in package.files {
            copy(&files.join(file), &into.join(file))?;
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::copy(from, to).with_context(|| format!("cannot copy `{}` to `{}`", from.display(), to.display())).map(drop)
}

pub(super) fn weights(pages: &Path, offline: bool) -> anyhow::Result<Vec<Weight>> {
    let ours = [format!("{NAME}_bg.wasm"), format!("{NAME}.js")];
    let bytes = |file: &String| {
        let path = pages.join(OURS_FOLDER).join(file);
        let bytes = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        Ok([bytes.len(), compressed(&bytes)].map(|length| length as u64))
    };
    let sizes = ours.iter().map(bytes).collect::<anyhow::Result<Vec<_>>>()?;
    let mut weights = vec![weight(OURS, ours.to_vec(), &sizes)];
    for (way, prefix) in [(TENSORFLOW, "tfjs"), (ONNX, "onnxruntime")] {
        let (mut files, mut sizes) = (vec![], vec![]);
        for package in PACKAGES.iter().filter(|package| package.folder.starts_with(prefix)) {
            let folder = package.ensure(offline)?;
            for file in package.files {
                sizes.push(package.bytes(&folder, file)?);
                files.push((*file).to_owned());
            }
        }
        weights.push(weight(way, files, &sizes));
    }
    Ok(weights)
}

fn weight(way: &str, files: Vec<String>, sizes: &[[u64; 2]]) -> Weight {
    let [raw, brotli] = [0, 1].map(|of| sizes.iter().map(|size| size[of]).sum());
    Weight { way: way.to_owned(), files, raw, brotli }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::visits::FIRST;

    #[test]
    fn every_way_has_a_page_and_a_script() {
        let files = root().join(FILES);
        assert!(files.join("compare.html").is_file() && files.join("first.html").is_file());
        for (name, way) in &FIRST[1..] {
            let script = fs::read_to_string(files.join(format!("{name}.js"))).unwrap();
            assert!(script.contains(&format!("export const way = \"{way}\";")), "{name}.js is not about {way}");
        }
        let script = fs::read_to_string(files.join("fuse.js")).unwrap();
        assert!(script.contains(&format!("/{NAME}.js`")), "the page loads our script");
        assert!(script.contains(&format!("\"{OURS_FOLDER}\"")));
    }
}
