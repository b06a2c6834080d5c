//! Tables in files of the program's user, and those that programs carry.

use std::path::{Path, PathBuf};

use super::{file, table::Table, tuning::vendor};
use crate::context::environment::Environment;
use crate::context::{error::Error, info::DeviceInfo};

/// Bytes of the largest file: more than twenty times the largest built-in table.
const MAX_FILE: u64 = 1 << 24;

/// A table that a program kept from an earlier run.
#[derive(Clone, Debug)]
pub(crate) enum Kept {
    /// In a file, which may not exist yet.
    File(PathBuf),
    /// As a text with a name.
    Text { name: String, text: String },
}

impl Kept {
    /// The table, if there is one and it is about this environment and adapter.
    pub(crate) fn read(&self, environment: Environment, info: &DeviceInfo) -> Result<Option<Table>, Error> {
        let (table, place) = match self {
            Self::File(path) if !path.exists() => return Ok(None),
            Self::File(path) => (Table::load(path)?, path.display().to_string()),
            Self::Text { name, text } => (Table::parse(name, text)?, name.clone()),
        };
        table.fitting(place, environment, info).map(Some)
    }
}

impl Table {
    /// Every built-in table, whatever environment and adapter it is about.
    pub fn built_in() -> Vec<Self> {
        super::built_in::built_in(|_| true).collect()
    }

    /// The table that a TOML text holds; the format is that of `docs/tuning.md`.
    ///
    /// # Errors
    /// [`Error::Table`] with the place in the text.
    pub fn parse(name: &str, text: &str) -> Result<Self, Error> {
        file::parse(name, text).map_err(|message| Error::Table { table: name.to_owned(), message })
    }

    /// The table as a TOML text: the same text for the same table.
    pub fn text(&self) -> String {
        file::text(self)
    }

    /// Reads a table from a file, whose name without its ending becomes the table's.
    ///
    /// # Errors
    /// [`Error::Table`] with the file, and the place in it if it is damaged or foreign.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let wrong = |message: String| Error::Table { table: path.display().to_string(), message };
        let content = crate::context::disk::read(path, MAX_FILE).map_err(|error| wrong(error.to_string()))?;
        let text = String::from_utf8(content).map_err(|error| wrong(format!("expected UTF-8: {error}")))?;
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        file::parse(&name, &text).map_err(wrong)
    }

    /// The table, if it is about this environment and adapter; `place` is where it was kept.
    fn fitting(self, place: String, environment: Environment, info: &DeviceInfo) -> Result<Self, Error> {
        if self.is_about(environment, vendor(info), &info.name) {
            return Ok(self);
        }
        let adapters = match &self.adapters {
            Some(adapters) if adapters.names.is_empty() => format!("{} adapters", adapters.vendor),
            Some(adapters) => format!("{} adapters named {}", adapters.vendor, adapters.names.join(", ")),
            None => "any adapter".to_owned(),
        };
        let about =
            self.environment.map_or_else(|| adapters.clone(), |found| format!("{adapters} in environment {found}"));
        let expected = format!("expected a table about `{}` in environment {environment}", info.name);
        Err(Error::Table { table: place, message: format!("{expected}, found one about {about}") })
    }

    /// Writes the table to a file: beside it first, then renamed, so that readers see the old table or the new one.
    ///
    /// # Errors
    /// [`Error::Table`] with the system's message.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        crate::context::disk::replace(path, self.text().as_bytes())
            .map_err(|error| Error::Table { table: path.display().to_string(), message: error.to_string() })
    }
}
