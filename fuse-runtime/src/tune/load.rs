//! Tables in files of the program's user, and those that programs carry.

use std::path::Path;

use super::{Table, file};
use crate::Error;

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
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        file::parse(&name, &text).map_err(wrong)
    }

    /// Writes the table to a file: beside it first, then renamed, so that readers see the old table or the new one.
    ///
    /// # Errors
    /// [`Error::Table`] with the system's message.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        crate::disk::replace(path, self.text().as_bytes())
            .map_err(|error| Error::Table { table: path.display().to_string(), message: error.to_string() })
    }
}
