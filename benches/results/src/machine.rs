//! What a run says about the machine and the day; the adapter is up to the program that opened it.

use std::time::{SystemTime, UNIX_EPOCH};

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
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    date(seconds / 86_400)
}

/// The day that many days after 1970-01-01.
fn date(mut days: u64) -> String {
    let leap = |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(11_017), "2000-03-01");
        assert_eq!(date(20_453), "2025-12-31");
        assert_eq!(date(20_454), "2026-01-01");
    }

    #[test]
    fn the_processor_is_found_in_its_description() {
        assert_eq!(processor("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t: x\n"), Some("Some CPU @ 2 GHz"));
        assert_eq!(processor("processor: 0"), None);
    }
}
