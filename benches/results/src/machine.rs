//! Host, commit and date of a run.

use time::OffsetDateTime;

/// Variable with the commit, for binaries outside the repository.
pub const COMMIT_VARIABLE: &str = "FUSE_COMMIT";

/// Commit from the environment, or `unknown`.
pub fn commit() -> String {
    std::env::var(COMMIT_VARIABLE).unwrap_or_else(|_| "unknown".to_owned())
}

/// The host's processor, and the cores available here.
pub fn host() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let description = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    format!("{}, {cores} cores", processor(&description).unwrap_or(std::env::consts::ARCH))
}

/// Processor in Linux's `/proc/cpuinfo`.
fn processor(description: &str) -> Option<&str> {
    let line = description.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim())
}

/// Today, as `2026-11-21`, in UTC.
pub fn today() -> String {
    OffsetDateTime::now_utc().date().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_found_in_its_description() {
        assert_eq!(processor("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t: x\n"), Some("Some CPU @ 2 GHz"));
        assert_eq!(processor("processor: 0"), None);
    }
}
