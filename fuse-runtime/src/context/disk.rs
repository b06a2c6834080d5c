//! [`DiskCache`]: compiled pipelines on disk.
//!
//! One file per adapter, replaced atomically. Its header reveals damaged, foreign and half-written files before the
//! driver sees them.

use std::{
    fs,
    hash::{DefaultHasher, Hasher},
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::context::{error::Error, fault::scoped, lock::lock};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum CacheChoice {
    /// `FUSE_CACHE_DIR`, or the platform's folder.
    #[default]
    Platform,
    Folder(PathBuf),
    Off,
}

/// First bytes of a file: name and format version.
const MAGIC: &[u8; 8] = b"fusepc01";
/// Magic, adapter, checksum.
const HEADER: usize = 24;

const MAX_CACHE: u64 = 1 << 28;

pub(crate) struct DiskCache {
    cache: wgpu::PipelineCache,
    path: PathBuf,
    adapter: u64,
    /// Checksum, to write only changes.
    saved: Mutex<Option<u64>>,
}

impl DiskCache {
    /// Opens the adapter's file; `None` if there is no folder or the driver has no cache.
    pub(crate) fn open(device: &wgpu::Device, adapter: &wgpu::AdapterInfo, choice: &CacheChoice) -> Option<Self> {
        let path = folder(choice)?.join(wgpu::util::pipeline_cache_key(adapter)?);
        let id = checksum(format!("{}\n{}\n{}", adapter.name, adapter.driver, adapter.driver_info).as_bytes());
        let content = trusted(&path).then(|| read(&path, MAX_CACHE).ok()).flatten();
        let data = content.as_deref().and_then(|content| payload(content, id));
        let descriptor = wgpu::PipelineCacheDescriptor { label: Some("fuse"), data, fallback: true };
        // SAFETY: the data was written by `save` on an adapter and driver of the same names, by this user or an
        // administrator, and its checksum holds.
        let cache = scoped(device, || unsafe { device.create_pipeline_cache(&descriptor) }).ok()?;
        Some(Self { cache, path, adapter: id, saved: Mutex::new(data.map(checksum)) })
    }

    pub(crate) fn cache(&self) -> &wgpu::PipelineCache {
        &self.cache
    }

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

fn payload(content: &[u8], adapter: u64) -> Option<&[u8]> {
    let (header, data) = content.split_at_checked(HEADER)?;
    let expected = [&MAGIC[..], &adapter.to_le_bytes(), &checksum(data).to_le_bytes()].concat();
    (header == expected).then_some(data)
}

/// True if others cannot write the file or its folder: drivers trust the data.
#[cfg(unix)]
fn trusted(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    // SAFETY: it reads a number of the process and cannot fail.
    let user = unsafe { libc::geteuid() };
    let own = |path: &Path| fs::metadata(path).is_ok_and(|found| is_own(found.uid(), found.mode(), user));
    own(path) && path.parent().is_none_or(own)
}

/// Elsewhere the platform's folder belongs to the user.
#[cfg(not(unix))]
fn trusted(_: &Path) -> bool {
    true
}

#[cfg(unix)]
const fn is_own(owner: u32, mode: u32, user: u32) -> bool {
    const WRITABLE_BY_ALL: u32 = 0o002;
    (owner == user || owner == 0) && mode & WRITABLE_BY_ALL == 0
}

/// Reads a regular file of at most `most` bytes: reads of others may never end, or never begin.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let refused = |found: String| io::Error::new(io::ErrorKind::InvalidInput, found);
    let check = |found: &fs::Metadata| match (found.is_file(), found.len()) {
        (false, _) => Err(refused("expected a regular file".to_owned())),
        (true, bytes) if bytes > most => Err(refused(format!("expected at most {most} bytes, found {bytes}"))),
        (true, _) => Ok(()),
    };
    // Checked before opening, too: opening a pipe waits for a writer.
    check(&fs::metadata(path)?)?;
    let file = fs::File::open(path)?;
    check(&file.metadata()?)?;
    let mut content = vec![];
    file.take(most).read_to_end(&mut content)?;
    Ok(content)
}

fn checksum(data: &[u8]) -> u64 {
    // Stable enough: another algorithm makes old files foreign, hence ignored.
    let mut hasher = DefaultHasher::new();
    hasher.write(data);
    hasher.finish()
}

/// Writes a neighbouring file and renames it: readers see the old content or the new.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
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

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("fuse-disk-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn only_regular_files_of_some_bytes_are_read() {
        let folder = scratch("read");
        let file = folder.join("file");
        fs::write(&file, b"12345").unwrap();
        assert_eq!(read(&file, 5).unwrap(), b"12345");
        let large = read(&file, 4).unwrap_err().to_string();
        assert_eq!(large, "expected at most 4 bytes, found 5");
        assert!(read(&folder, 1 << 20).unwrap_err().to_string().contains("regular file"));
        assert_eq!(read(&folder.join("none"), 5).unwrap_err().kind(), io::ErrorKind::NotFound);
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_refused_at_once() {
        let folder = scratch("pipe");
        let pipe = folder.join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let (send, answer) = std::sync::mpsc::channel();
        let path = pipe.clone();
        std::thread::spawn(move || send.send(read(&path, 1 << 20).map_err(|error| error.to_string())));
        let answer = answer.recv_timeout(std::time::Duration::from_secs(20)).expect("an answer although nobody writes");
        assert_eq!(answer, Err("expected a regular file".to_owned()));
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn drivers_see_only_what_the_user_or_an_administrator_wrote() {
        use std::os::unix::fs::PermissionsExt;

        assert!(is_own(1000, 0o100_644, 1000) && is_own(0, 0o40_755, 1000) && is_own(1000, 0o40_775, 1000));
        assert!(!is_own(1001, 0o100_600, 1000), "another user's");
        assert!(!is_own(1000, 0o100_666, 1000) && !is_own(0, 0o41_777, 1000), "which all may write");
        let folder = scratch("owner");
        let file = folder.join("file");
        fs::write(&file, b"compiled").unwrap();
        assert!(trusted(&file));
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!trusted(&file), "a folder where anybody may replace it");
        fs::remove_dir_all(folder).unwrap();
    }

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
