//! Baseline libraries: npm packages of fixed versions, fetched to `target/web/rivals` and checked by hash.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail, ensure};
use base64::{Engine, prelude::BASE64_STANDARD};
use fuse_page_server::compressed;
use sha2::{Digest, Sha512};

use crate::checkout::root;

const REGISTRY: &str = "https://registry.npmjs.org";

pub(super) struct Package {
    /// Name with scope.
    name: &'static str,
    version: &'static str,
    /// npm's hash.
    integrity: &'static str,
    /// On the pages.
    pub(super) folder: &'static str,
    /// Below `dist`.
    pub(super) files: &'static [&'static str],
}

/// TensorFlow.js' core and WebGPU backend, and ONNX Runtime Web's `onnxruntime-web/webgpu` with its module.
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
    /// Fetched if missing.
    pub(super) fn ensure(&self, offline: bool) -> anyhow::Result<PathBuf> {
        let folder = target().join(format!("{}-{}", self.folder, self.version));
        let files = folder.join("package/dist");
        if self.files.iter().all(|file| files.join(file).is_file()) {
            return Ok(files);
        }
        let Self { name, version, .. } = self;
        if offline {
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

    /// Raw and compressed size. Compression takes long and is cached in a file.
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

    /// To a temporary folder first: interrupted runs leave no partial package.
    fn fetch(&self, folder: &Path) -> anyhow::Result<()> {
        let scratch = target().join(format!("{}.part", self.folder));
        if scratch.exists() {
            fs::remove_dir_all(&scratch).with_context(|| format!("cannot remove `{}`", scratch.display()))?;
        }
        fs::create_dir_all(&scratch).with_context(|| format!("cannot create `{}`", scratch.display()))?;
        let archive = scratch.join("package.tgz");
        let (from, to) = (self.address(), archive.display().to_string());
        run("curl", &["--fail", "--silent", "--show-error", "--location", "--retry", "3", "--output", &to, &from])?;
        let bytes = fs::read(&archive).with_context(|| format!("no `{to}`"))?;
        self.check(&bytes)?;
        run("tar", &["-xzf", &to, "-C", &scratch.display().to_string()])?;
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

fn target() -> PathBuf {
    root().join("target/web/rivals")
}

fn run(program: &str, arguments: &[&str]) -> anyhow::Result<()> {
    println!("\n==> {program} {}", arguments.join(" "));
    let status = Command::new(program).args(arguments).status();
    let status = status.with_context(|| {
        format!("`{program}` cannot be started\nhelp: it fetches and unpacks packages, and is to be installed")
    })?;
    ensure!(status.success(), "`{program}` failed ({status})");
    Ok(())
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
