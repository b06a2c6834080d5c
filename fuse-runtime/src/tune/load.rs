//! Tables in users' files, and built-in ones.

use std::path::{Path, PathBuf};

use super::{file, table::Table, tuning::vendor};
use crate::context::environment::Environment;
use crate::context::{error::Error, info::DeviceInfo};

/// More than twenty times the largest built-in table.
const MAX_FILE: u64 = 1 << 24;

/// A table stored in an earlier run.
#[derive(Clone, Debug)]
pub(crate) enum Kept {
    /// May not exist yet.
    File(PathBuf),
    /// The content, with a name.
    Text { name: String, text: String },
}

impl Kept {
    /// A table about another environment or adapter is an error.
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
    /// All built-in tables.
    pub fn built_in() -> Vec<Self> {
        super::built_in::built_in(|_| true).collect()
    }

    /// Parses a table from TOML; `docs/tuning.md` describes the format.
    ///
    /// # Errors
    /// [`Error::Table`] with the place in the text.
    pub fn parse(name: &str, text: &str) -> Result<Self, Error> {
        file::parse(name, text).map_err(|message| Error::Table { table: name.to_owned(), message })
    }

    /// Writes the table as TOML. Equal tables give equal texts.
    pub fn text(&self) -> String {
        file::text(self)
    }

    /// Reads a table from a file, whose name without extension becomes the table's.
    ///
    /// # Errors
    /// [`Error::Table`] with the file, and the place of damage or another format.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let wrong = |message: String| Error::Table { table: path.display().to_string(), message };
        let content = crate::context::disk::read(path, MAX_FILE).map_err(|error| wrong(error.to_string()))?;
        let text = String::from_utf8(content).map_err(|error| wrong(format!("expected UTF-8: {error}")))?;
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        file::parse(&name, &text).map_err(wrong)
    }

    /// `place` is the table's origin.
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

    /// Writes a neighbouring file and renames it: readers see the old table or the new one.
    ///
    /// # Errors
    /// [`Error::Table`] with the system's message.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        crate::context::disk::replace(path, self.text().as_bytes())
            .map_err(|error| Error::Table { table: path.display().to_string(), message: error.to_string() })
    }
}
