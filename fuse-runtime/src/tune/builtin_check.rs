//! Rules for built-in tables, besides the invariants of every [`Table`].
//!
//! For the build script and unit tests: this file names only what the build script compiles.

use std::collections::BTreeSet;

use super::table::Table;

/// Checks a built-in table; `schedules` are the variants of the compiler's families.
///
/// # Errors
/// A message without the file's name.
pub(crate) fn vet(table: &Table, schedules: &BTreeSet<&str>) -> Result<(), String> {
    if table.knobs.fast_math == Some(true) {
        let reason =
            "functions are less exact only where a program asks, by `Tuning::fast_math` or by a table of its own";
        return Err(format!("`knobs.fast_math`: expected no `true` in a built-in table: {reason}"));
    }
    for entry in table.entries() {
        let unknown = |(name, _): &&(String, f64)| !schedules.contains(&**name);
        if let Some((name, _)) = entry.schedules.iter().find(unknown) {
            let place = format!("entry `{}` {:?}", entry.class, entry.sizes);
            let list = "`tables/schedules.txt` lists those, and `cargo xtask bless` writes it";
            return Err(format!(
                "{place}: schedule `{name}`: expected one that the compiler makes and validates; {list}"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::{
        knobs::Knobs,
        table::tests::{entry, table},
    };

    #[test]
    fn fast_math_is_never_built_in() {
        let with =
            |fast_math| vet(&Table { knobs: Knobs { fast_math, ..Knobs::default() }, ..table(&[]) }, &BTreeSet::new());
        assert_eq!((with(None), with(Some(false))), (Ok(()), Ok(())));
        let wrong = with(Some(true)).unwrap_err();
        assert!(wrong.starts_with("`knobs.fast_math`: expected no `true`"), "{wrong}");
    }

    #[test]
    fn members_are_those_that_were_validated() {
        let table = table(&[
            entry("c", &[64], &[("tile 32x32x32", 1.0), ("unstaged 32x64", 1.5)]),
            entry("d", &[1, 64], &[("unstaged 32x64", 1.0), ("tile 7x7x7", 1.1)]),
        ]);
        let all = BTreeSet::from(["unstaged 32x64", "tile 32x32x32", "tile 7x7x7", "vec4"]);
        assert_eq!(vet(&table, &all), Ok(()));
        let wrong = vet(&table, &BTreeSet::from(["unstaged 32x64", "tile 32x32x32"])).unwrap_err();
        assert!(wrong.starts_with("entry `d` [1, 64]: schedule `tile 7x7x7`: expected one that"), "{wrong}");
    }
}
