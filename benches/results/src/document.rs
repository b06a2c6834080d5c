//! Generates the marked parts of `docs/performance.md` from `docs/results`.
//!
//! A part starts with `<!-- begin generated: h200 bars -->`, a results file's stem and a table's name, and ends with
//! `<!-- end generated -->`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};

use crate::{bars::Bars, figures, results::Results, tables::Table};

/// Document.
pub const DOCUMENT: &str = "docs/performance.md";
/// Folder of stored results.
pub const RESULTS: &str = "docs/results";
/// Folder of plots.
pub const PLOTS: &str = "docs/plots";

const BEGIN: &str = "<!-- begin generated: ";
const END: &str = "<!-- end generated -->";

/// Name of plots in markers.
const FIGURES: &str = "plots";

/// Stored results, by file stem.
///
/// # Errors
/// Names the file that cannot be read or parsed.
pub fn stored(root: &Path) -> anyhow::Result<BTreeMap<String, Results>> {
    let mut all = BTreeMap::new();
    let folder = root.join(RESULTS);
    for entry in fs::read_dir(&folder).with_context(|| format!("folder `{}`", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            all.insert(stem, read(&path)?);
        }
    }
    Ok(all)
}

/// Reads a file of results.
///
/// # Errors
/// Names the file that cannot be read or parsed.
pub fn read(path: &Path) -> anyhow::Result<Results> {
    let text = fs::read_to_string(path).with_context(|| format!("file `{}`", path.display()))?;
    Results::parse(&text).with_context(|| format!("file `{}`", path.display()))
}

/// Generates document and plots, by path below `root`.
///
/// # Errors
/// If results, document or bars cannot be read, or a marker names nothing.
pub fn generate(root: &Path) -> anyhow::Result<BTreeMap<PathBuf, String>> {
    let (stored, bars) = (stored(root)?, Bars::load()?);
    let path = root.join(DOCUMENT);
    let text = fs::read_to_string(&path).with_context(|| format!("file `{}`", path.display()))?;
    let mut files = BTreeMap::new();
    // The document shows no others.
    for (stem, results) in stored.iter().filter(|(stem, _)| text.contains(&format!("{BEGIN}{stem} {FIGURES} -->"))) {
        let figures = figures::all(results, &bars).map_err(|error| anyhow::anyhow!("plots of {stem}: {error}"))?;
        for figure in figures {
            // Editors and git would add a missing end of the last line.
            let svg = format!("{}\n", figure.svg.trim_end());
            files.insert(Path::new(PLOTS).join(format!("{stem}-{}.svg", figure.name)), svg);
        }
    }
    files.insert(DOCUMENT.into(), filled(&text, &stored, &bars)?);
    Ok(files)
}

/// Files that differ from the generated ones, and plots that are no longer generated.
///
/// # Errors
/// As [`generate`].
pub fn differences(root: &Path) -> anyhow::Result<Vec<String>> {
    let files = generate(root)?;
    let differs = |path: &&PathBuf| fs::read_to_string(root.join(path)).ok().as_ref() != Some(&files[*path]);
    let mut found: Vec<String> = files.keys().filter(differs).map(|path| path.display().to_string()).collect();
    for path in stale(root, &files)? {
        found.push(format!("{} (no results generate it)", path.display()));
    }
    Ok(found)
}

fn stale(root: &Path, files: &BTreeMap<PathBuf, String>) -> anyhow::Result<Vec<PathBuf>> {
    let stems: Vec<String> = stored(root)?.into_keys().map(|stem| format!("{stem}-")).collect();
    let mut found = vec![];
    for entry in fs::read_dir(root.join(PLOTS))? {
        let name = entry?.file_name();
        let path = Path::new(PLOTS).join(&name);
        let ours = stems.iter().any(|stem| name.to_string_lossy().starts_with(stem));
        if ours && !files.contains_key(&path) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Writes document and plots, and removes stale plots. Returns the changed files.
///
/// # Errors
/// As [`generate`], and if files cannot be written.
pub fn write(root: &Path) -> anyhow::Result<Vec<String>> {
    fs::create_dir_all(root.join(PLOTS))?;
    let changed = differences(root)?;
    let files = generate(root)?;
    for path in stale(root, &files)? {
        fs::remove_file(root.join(path))?;
    }
    for (path, text) in files {
        fs::write(root.join(&path), text).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(changed)
}

fn filled(text: &str, stored: &BTreeMap<String, Results>, bars: &Bars) -> anyhow::Result<String> {
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        ensure!(line.trim() != END, "an end of a generated part without its beginning");
        out += line;
        out.push('\n');
        let Some(name) = line.trim().strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(" -->")) else { continue };
        ensure!(lines.any(|line| line.trim() == END), "the generated part `{name}` has no end");
        out += &format!("\n{}\n{END}\n", part(name, stored, bars)?);
    }
    Ok(out)
}

fn part(name: &str, stored: &BTreeMap<String, Results>, bars: &Bars) -> anyhow::Result<String> {
    let (stem, what) = name.split_once(' ').with_context(|| format!("`{name}` names no results and table"))?;
    let table = Table::ALL.into_iter().find(|table| table.name() == what);
    if table.is_none() && what != FIGURES {
        bail!("`{name}`: there is no table `{what}`");
    }
    let Some(results) = stored.get(stem) else {
        return Ok(format!("No results are stored as `{RESULTS}/{stem}.jsonl` yet.\n"));
    };
    let text = match table {
        Some(table) => table.show(results, bars),
        None => {
            let figures = figures::all(results, bars).map_err(|error| anyhow::anyhow!("plots of {stem}: {error}"))?;
            let link = |figure: &figures::Figure| format!("![{}](plots/{stem}-{}.svg)\n", figure.title, figure.name);
            figures.iter().map(link).collect::<Vec<_>>().join("\n")
        }
    };
    Ok(if text.is_empty() { format!("`{RESULTS}/{stem}.jsonl` holds nothing for this.\n") } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        line::{Line, OURS},
        results::tests::{run, time},
    };

    fn fill(text: &str) -> anyhow::Result<String> {
        let mut results = Results::default();
        results.add(Line::Run(run(OURS, "GPU")));
        results.add(Line::Time(time(OURS, ["matmul", "f32", "8x8x8"], 2.0)));
        filled(text, &BTreeMap::from([("gpu".to_owned(), results)]), &Bars::load()?)
    }

    #[test]
    fn prose_stays_and_generated_parts_are_replaced() {
        let text = "before\n<!-- begin generated: gpu times -->\nold\n<!-- end generated -->\nafter\n";
        let filled = fill(text).unwrap();
        assert!(filled.starts_with("before\n<!-- begin generated: gpu times -->\n\n| case |"), "{filled}");
        assert!(filled.ends_with("\n<!-- end generated -->\nafter\n") && !filled.contains("old"), "{filled}");
        assert_eq!(fill(&filled).unwrap(), filled);
    }

    #[test]
    fn results_that_are_not_stored_are_named() {
        let filled = fill("<!-- begin generated: h100 times -->\n<!-- end generated -->\n").unwrap();
        assert!(filled.contains("No results are stored as `docs/results/h100.jsonl` yet."), "{filled}");
        let filled = fill("<!-- begin generated: gpu pairs -->\n<!-- end generated -->\n").unwrap();
        assert!(filled.contains("holds nothing for this"), "{filled}");
    }

    #[test]
    fn mistakes_in_markers_are_errors() {
        let error = |text: &str| fill(text).unwrap_err().to_string();
        assert_eq!(error("<!-- begin generated: gpu times -->\n"), "the generated part `gpu times` has no end");
        assert_eq!(error("<!-- end generated -->\n"), "an end of a generated part without its beginning");
        let unknown = "<!-- begin generated: gpu tomes -->\n<!-- end generated -->\n";
        assert_eq!(error(unknown), "`gpu tomes`: there is no table `tomes`");
    }
}
