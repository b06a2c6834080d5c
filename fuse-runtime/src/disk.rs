//! Compiled pipelines on disk.
//!
//! One file per adapter. It starts with a header of ours, so that a damaged, foreign or half-written file is noticed
//! and ignored before the driver sees it; drivers check their own header on top. Files are replaced atomically.

use std::{
    fs,
    hash::{DefaultHasher, Hasher},
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{Error, builder::CacheChoice, fault::scoped, lock::lock};

/// First bytes of a file: name and format version.
const MAGIC: &[u8; 8] = b"fusepc01";
/// Magic, adapter, checksum.
const HEADER: usize = 24;

/// The cache file of one adapter.
pub(crate) struct DiskCache {
    cache: wgpu::PipelineCache,
    path: PathBuf,
    adapter: u64,
    /// The checksum of what the file holds, to write only changes.
    saved: Mutex<Option<u64>>,
}

impl DiskCache {
    /// Opens the adapter's file in the chosen folder; `None` if there is no folder or the driver has no cache.
    pub(crate) fn open(device: &wgpu::Device, adapter: &wgpu::AdapterInfo, choice: &CacheChoice) -> Option<Self> {
        let path = folder(choice)?.join(wgpu::util::pipeline_cache_key(adapter)?);
        let id = checksum(format!("{}\n{}\n{}", adapter.name, adapter.driver, adapter.driver_info).as_bytes());
        let content = fs::read(&path).ok();
        let data = content.as_deref().and_then(|content| payload(content, id));
        let descriptor = wgpu::PipelineCacheDescriptor { label: Some("fuse"), data, fallback: true };
        // SAFETY: the data was written by `save` on an adapter and driver of the same names, and its checksum holds.
        let cache = scoped(device, || unsafe { device.create_pipeline_cache(&descriptor) }).ok()?;
        Some(Self { cache, path, adapter: id, saved: Mutex::new(data.map(checksum)) })
    }

    pub(crate) fn cache(&self) -> &wgpu::PipelineCache {
        &self.cache
    }

    /// Writes the file if the cache has changed since it was read or written.
    pub(crate) fn save(&self) -> Result<(), Error> {
        let Some(data) = self.cache.get_data() else { return Ok(()) };
        let sum = checksum(&data);
        let mut saved = lock(&self.saved);
        if *saved == Some(sum) {
            return Ok(());
        }
        let content = [&MAGIC[..], &self.adapter.to_le_bytes(), &sum.to_le_bytes(), &data].concat();
        replace(&self.path, &content)
            .map_err(|error| Error::CacheFile { path: self.path.display().to_string(), message: error.to_string() })?;
        *saved = Some(sum);
        Ok(())
    }
}

fn folder(choice: &CacheChoice) -> Option<PathBuf> {
    match choice {
        CacheChoice::Off => None,
        CacheChoice::Folder(folder) => Some(folder.clone()),
        CacheChoice::Platform => {
            let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
            let home = || variable("HOME");
            let platform = if cfg!(windows) {
                variable("LOCALAPPDATA")
            } else if cfg!(target_os = "macos") {
                home().map(|home| home.join("Library/Caches"))
            } else {
                variable("XDG_CACHE_HOME").or_else(|| home().map(|home| home.join(".cache")))
            };
            variable("FUSE_CACHE_DIR").or_else(|| platform.map(|folder| folder.join("fuse")))
        }
    }
}

/// The driver's data in a file of ours for this adapter.
fn payload(content: &[u8], adapter: u64) -> Option<&[u8]> {
    let (header, data) = content.split_at_checked(HEADER)?;
    let expected = [&MAGIC[..], &adapter.to_le_bytes(), &checksum(data).to_le_bytes()].concat();
    (header == expected).then_some(data)
}

fn checksum(data: &[u8]) -> u64 {
    // Stable enough: a changed algorithm makes old files foreign, and those are ignored.
    let mut hasher = DefaultHasher::new();
    hasher.write(data);
    hasher.finish()
}

/// Writes beside the file and renames, so that readers see the old content or the new, never a part.
pub(crate) fn replace(path: &Path, content: &[u8]) -> std::io::Result<()> {
    static WRITES: AtomicU64 = AtomicU64::new(0);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let unique = format!("{}.{}", std::process::id(), WRITES.fetch_add(1, Ordering::Relaxed));
    let temporary = path.with_extension(unique);
    fs::write(&temporary, content)?;
    fs::rename(&temporary, path).inspect_err(|_| drop(fs::remove_file(&temporary)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_undamaged_files_are_used() {
        let data = b"compiled";
        let file = [&MAGIC[..], &7u64.to_le_bytes(), &checksum(data).to_le_bytes(), data].concat();
        assert_eq!(payload(&file, 7), Some(&data[..]));
        assert_eq!(payload(&file, 8), None, "another adapter's");
        assert_eq!(payload(&file[..file.len() - 1], 7), None, "cut off");
        assert_eq!(payload(&file[..10], 7), None, "shorter than the header");
        let mut damaged = file.clone();
        *damaged.last_mut().unwrap() ^= 1;
        assert_eq!(payload(&damaged, 7), None, "damaged");
    }
}
