//! What a built-in table must keep besides the promises of every [`Table`].
//!
//! Only the build script asks, and unit tests: programs find built-in tables as they left the build. So this file names nothing
//! of the crate.

use super::table::Table;

/// What is wrong with a table as a built-in one.
///
/// # Errors
/// A message without the file's name.
pub(crate) fn vet(table: &Table) -> Result<(), String> {
    if table.knobs.fast_math == Some(true) {
        let reason =
            "functions are less exact only where a program asks, by `Tuning::fast_math` or by a table of its own";
        return Err(format!("`knobs.fast_math`: expected no `true` in a built-in table: {reason}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::{knobs::Knobs, table::tests::table};

    #[test]
    fn fast_math_is_never_built_in() {
        let with = |fast_math| vet(&Table { knobs: Knobs { fast_math, ..Knobs::default() }, ..table(&[]) });
        assert_eq!((with(None), with(Some(false))), (Ok(()), Ok(())));
        let wrong = with(Some(true)).unwrap_err();
        assert!(wrong.starts_with("`knobs.fast_math`: expected no `true`"), "{wrong}");
    }
}
