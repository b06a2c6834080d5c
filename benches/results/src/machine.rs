//! What a run says about the machine and the day; the adapter is up to the program that opened it.

use time::OffsetDateTime;

/// The variable that names the commit of a binary that was carried away from its repository.
pub const COMMIT_VARIABLE: &str = "FUSE_COMMIT";

/// The commit, as the environment says; `unknown` otherwise.
pub fn commit() -> String {
    std::env::var(COMMIT_VARIABLE).unwrap_or_else(|_| "unknown".to_owned())
}

/// The host's processor and how many of its cores this process may use.
pub fn host() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let description = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    format!("{}, {cores} cores", processor(&description).unwrap_or(std::env::consts::ARCH))
}

/// The processor's name in a text of the form of Linux's `/proc/cpuinfo`.
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
