//! The texts of a file, one per line.

use std::{fs, io::Read as _, path::Path};

use anyhow::{Context, bail};

/// Lines of a file, or of the standard input for `-`, without line ends and byte order mark.
///
/// # Errors
/// If the file cannot be read, is empty, or is not UTF-8.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<String>> {
    let (name, bytes) = if path == Path::new("-") {
        let mut bytes = vec![];
        let read = std::io::stdin().read_to_end(&mut bytes);
        read.context("cannot read the standard input")?;
        ("the standard input".to_owned(), bytes)
    } else {
        let name = format!("file `{}`", path.display());
        let bytes = fs::read(path).with_context(|| format!("cannot read {name}"))?;
        (name, bytes)
    };
    parse(&name, bytes)
}

fn parse(name: &str, bytes: Vec<u8>) -> anyhow::Result<Vec<String>> {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = valid.iter().filter(|&&byte| byte == b'\n').count() + 1;
            bail!("{name}, line {line}: expected UTF-8, found other bytes");
        }
    };
    let lines: Vec<String> = text.strip_prefix('\u{feff}').unwrap_or(&text).lines().map(str::to_owned).collect();
    if lines.iter().all(|line| line.trim().is_empty()) {
        bail!("{name} is empty: expected one text a line");
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: &[u8]) -> String {
        parse("file `a`", bytes.to_vec()).unwrap_err().to_string()
    }

    #[test]
    fn line_ends_and_byte_order_mark_are_dropped() {
        let lines = parse("file `a`", "\u{feff}one\r\n\ntwo\nthree".into()).unwrap();
        assert_eq!(lines, ["one", "", "two", "three"]);
    }

    #[test]
    fn empty_files_are_errors() {
        assert_eq!(message(b""), "file `a` is empty: expected one text a line");
        assert_eq!(message(b"\n \r\n"), "file `a` is empty: expected one text a line");
    }

    #[test]
    fn other_encodings_are_errors_that_name_the_line() {
        assert_eq!(message(b"one\ntw\xff\nthree\n"), "file `a`, line 2: expected UTF-8, found other bytes");
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = format!("{:#}", read(Path::new("no/such/file")).unwrap_err());
        assert!(error.starts_with("cannot read file `no/such/file`: "), "{error}");
    }
}
