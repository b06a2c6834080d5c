//! The libraries of rivals: packages of npm in fixed versions, fetched to `target/web/rivals` and refused if they are not the
//! ones that were measured before.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha512};

use super::super::page::compressed;
use crate::{Access, machine::find_program, prerequisites, steps::root};

/// Where packages come from.
const REGISTRY: &str = "https://registry.npmjs.org";

/// A package, and what of it pages load.
pub(super) struct Package {
    /// Its name with its scope.
    name: &'static str,
    version: &'static str,
    /// npm's own name of its contents.
    integrity: &'static str,
    /// The folder that pages know it by.
    pub(super) folder: &'static str,
    /// Its files, which all lie in `dist`.
    pub(super) files: &'static [&'static str],
}

/// The packages. Of TensorFlow.js the core and the one backend, in the smallest files of each; of ONNX Runtime Web what its
/// `onnxruntime-web/webgpu` names, and the module that this loads.
pub(super) const PACKAGES: &[Package] = &[
    Package {
        name: "@tensorflow/tfjs-core",
        version: "4.22.0",
        integrity: "sha512-LEkOyzbknKFoWUwfkr59vSB68DMJ4cjwwHgicXN0DUi3a0Vh1Er3JQqCI1Hl86GGZQvY8ezVrtDIvqR1ZFW55A==",
        folder: "tfjs-core",
        files: &["tf-core.min.js"],
    },
    Package {
        name: "@tensorflow/tfjs-backend-webgpu",
        version: "4.22.0",
        integrity: "sha512-lvIc7Af4Tl2BCdYp43iQmSCRq3asaKT0q2xaErphXiUZ+jqeB0bQa0ZvQys1Xatvto0U4/c90DVsHPfvkn5ftg==",
        folder: "tfjs-backend-webgpu",
        files: &["tf-backend-webgpu.min.js"],
    },
    Package {
        name: "onnxruntime-web",
        version: "1.30.0",
        integrity: "sha512-q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7svNc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ==",
        folder: "onnxruntime-web",
        files: &["ort.webgpu.bundle.min.mjs", "ort-wasm-simd-threaded.asyncify.wasm"],
    },
];

impl Package {
    /// The folder with its files, fetched if it is not there yet.
    pub(super) fn ensure(&self, access: Access) -> anyhow::Result<PathBuf> {
        let folder = root().join("target/web/rivals").join(format!("{}-{}", self.folder, self.version));
        let files = folder.join("package/dist");
        if self.files.iter().all(|file| files.join(file).is_file()) {
            return Ok(files);
        }
        let Self { name, version, .. } = self;
        if access.offline {
            bail!(
                "{name} {version} is not in `{}`, and --offline forbids to fetch it\n\
                 help: run `cargo xtask web bench` once with network",
                folder.display()
            );
        }
        println!("{name} {version} is not in `{}`; fetching it from {REGISTRY}", folder.display());
        self.fetch(&folder).with_context(|| format!("cannot fetch {name} {version}"))?;
        Ok(files)
    }

    /// Bytes of a file as they are, and compressed. As compressing takes long and files do not change, the second number is
    /// kept beside the file.
    pub(super) fn bytes(&self, folder: &Path, file: &str) -> anyhow::Result<[u64; 2]> {
        let path = folder.join(file);
        let bytes = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let known = folder.join(format!("{file}.brotli-11"));
        if let Some(length) = fs::read_to_string(&known).ok().and_then(|text| text.parse().ok()) {
            return Ok([bytes.len() as u64, length]);
        }
        println!("weighing {file} of {}", self.name);
        let length = compressed(&bytes) as u64;
        fs::write(&known, length.to_string()).with_context(|| format!("cannot write `{}`", known.display()))?;
        Ok([bytes.len() as u64, length])
    }

    fn address(&self) -> String {
        let Self { name, version, .. } = self;
        let file = name.rsplit('/').next().unwrap_or(name);
        format!("{REGISTRY}/{name}/-/{file}-{version}.tgz")
    }

    /// Downloads and unpacks beside the folder, so that an interrupted run leaves no half of a package.
    fn fetch(&self, folder: &Path) -> anyhow::Result<()> {
        let program = |name| {
            find_program(name)
                .with_context(|| format!("`{name}` is not installed\nhelp: it fetches and unpacks packages"))
        };
        let (curl, tar) = (program("curl")?, program("tar")?);
        let scratch = root().join("target/web/rivals").join(format!("{}.part", self.folder));
        if scratch.exists() {
            fs::remove_dir_all(&scratch).with_context(|| format!("cannot remove `{}`", scratch.display()))?;
        }
        fs::create_dir_all(&scratch).with_context(|| format!("cannot create `{}`", scratch.display()))?;
        let archive = scratch.join("package.tgz");
        let words = |program: &Path, words: &[&str]| {
            [program.display().to_string()].into_iter().chain(words.iter().map(|&word| word.to_owned())).collect()
        };
        let (from, to) = (self.address(), archive.display().to_string());
        let into = scratch.display().to_string();
        let download = ["--fail", "--silent", "--show-error", "--location", "--retry", "3", "--output", &to, &from];
        prerequisites::run_all(&[words(&curl, &download)])?;
        let bytes = fs::read(&archive).with_context(|| format!("no `{to}`"))?;
        self.check(&bytes)?;
        prerequisites::run_all(&[words(&tar, &["-xzf", &to, "-C", &into])])?;
        fs::remove_file(&archive)?;
        for file in self.files {
            ensure!(scratch.join("package/dist").join(file).is_file(), "the package has no file `dist/{file}`");
        }
        fs::rename(&scratch, folder).with_context(|| format!("cannot create `{}`", folder.display()))
    }

    fn check(&self, archive: &[u8]) -> anyhow::Result<()> {
        let found = format!("sha512-{}", BASE64_STANDARD.encode(Sha512::digest(archive)));
        ensure!(found == self.integrity, "the archive is {found}, expected {}", self.integrity);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_pinned_by_their_hashes() {
        for package in PACKAGES {
            let hash = package.integrity.strip_prefix("sha512-").and_then(|text| BASE64_STANDARD.decode(text).ok());
            assert_eq!(hash.map(|hash| hash.len()), Some(64), "{}", package.name);
            let error = package.check(b"something else").unwrap_err().to_string();
            assert!(error.contains(package.integrity), "{error}");
        }
        let address = "https://registry.npmjs.org/@tensorflow/tfjs-core/-/tfjs-core-4.22.0.tgz";
        assert_eq!(PACKAGES[0].address(), address);
    }

    #[test]
    fn the_pages_load_what_is_fetched() {
        let page = root().join("benches/web_rivals/page");
        let scripts = ["tfjs.js", "ort.js"].map(|name| fs::read_to_string(page.join(name)).unwrap()).concat();
        for package in PACKAGES {
            for file in package.files {
                assert!(scripts.contains(&format!("./{}/{file}", package.folder)), "{file}");
            }
        }
    }
}
