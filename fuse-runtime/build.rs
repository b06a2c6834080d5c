//! Makes Rust data of the tuning tables in `tables/`, after checking them: a malformed table, one that names variants which the
//! compiler does not make, or one that asks for what no built-in table may, ends the build with its file and place. So programs
//! link no parser and carry no text.

use std::{collections::BTreeSet, env, error::Error, fmt::Write as _, fs, path::Path};

/// Types of the runtime that tables name.
#[path = "src/context"]
#[allow(dead_code, unreachable_pub, reason = "the runtime's")]
mod context {
    pub(crate) mod control_flow;
    pub(crate) mod environment;
    pub(crate) mod hardware;
}
/// The runtime's own reader of tables.
#[path = "src/tune"]
#[allow(dead_code, unreachable_pub, unused_imports, reason = "what programs do with tables is not needed here")]
mod tune {
    pub(crate) mod builtin_check;
    pub(crate) mod distance;
    pub(crate) mod file;
    pub(crate) mod knobs;
    pub(crate) mod order;
    pub(crate) mod table;
}

use context::environment::Environment;
use tune::{builtin_check::vet, file::parse, table::Table};

fn main() -> Result<(), Box<dyn Error>> {
    for watched in ["build.rs", "tables"] {
        println!("cargo::rerun-if-changed={watched}");
    }
    for module in [
        "tune/distance",
        "context/environment",
        "tune/file",
        "context/hardware",
        "tune/knobs",
        "tune/order",
        "context/control_flow",
        "tune/table",
        "tune/builtin_check",
    ] {
        println!("cargo::rerun-if-changed=src/{module}.rs");
    }
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("tables");
    let mut files: Vec<_> =
        fs::read_dir(&folder)?.map(|file| file.map(|file| file.path())).collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    // Native tables would be dead weight on the web. Native programs keep all: any environment can be forced.
    let web = env::var("CARGO_CFG_TARGET_ARCH")? == "wasm32";
    let serves = |table: &Table| !(web && table.environment() == Some(Environment::Native));
    let schedules = fs::read_to_string(folder.join("schedules.txt"))?;
    let schedules: BTreeSet<&str> = schedules.lines().collect();
    let mut tables = vec![];
    for file in &files {
        let name = file.file_stem().and_then(|stem| stem.to_str()).ok_or("a table's name is not UTF-8")?;
        let table = parse(name, &fs::read_to_string(file)?).and_then(|table| vet(&table, &schedules).map(|()| table));
        tables.push(table.map_err(|wrong| format!("tuning table `{}`: {wrong}", file.display()))?);
    }
    tables.retain(serves);
    fs::write(Path::new(&env::var("OUT_DIR")?).join("tables.rs"), source(&tables, !web)?)?;
    Ok(())
}

/// The tables as an expression: lists of names, and entries that count in them. Without families, entries cover whatever a kernel
/// has: in browsers, where an unmeasured variant is a matter of the next release and bytes are dear.
fn source(tables: &[Table], with_families: bool) -> Result<String, Box<dyn Error>> {
    let mut source = "&[\n".to_owned();
    for table in tables {
        let classes: BTreeSet<&str> = table.entries().iter().map(|entry| &*entry.class).collect();
        let listed = table.entries().iter().flat_map(|entry| &entry.schedules).map(|(name, _)| &**name);
        let families: BTreeSet<&[String]> = table
            .entries()
            .iter()
            .map(|entry| &*entry.family)
            .filter(|family| with_families && !family.is_empty())
            .collect();
        let schedules: BTreeSet<&str> = listed.chain(families.iter().copied().flatten().map(|name| &**name)).collect();
        let families: Vec<&[String]> = families.into_iter().collect();
        let classes: Vec<&str> = classes.into_iter().collect();
        let schedules: Vec<&str> = schedules.into_iter().collect();
        let adapters = table.adapters().map(|adapters| (adapters.vendor, &adapters.names));
        let adapters = match adapters {
            Some((vendor, names)) => format!("Some((Vendor::{vendor:?}, &{names:?}))"),
            None => "None".to_owned(),
        };
        let environment = table.environment().map_or("None".to_owned(), |e| format!("Some(Environment::{e:?})"));
        let measured = table.measured().map(|measured| [&measured.adapter, &measured.driver, &measured.date]);
        writeln!(source, "BuiltIn {{ name: {:?}, status: Status::{:?},", table.name(), table.status())?;
        writeln!(source, "environment: {environment}, adapters: {adapters}, measured: {measured:?},")?;
        writeln!(source, "knobs: {:?},\nhardware: {:?},", table.knobs, table.hardware())?;
        let number = |name: &str| schedules.binary_search(&name).map_err(|_| "a schedule without a number");
        writeln!(source, "classes: &{classes:?},\nschedules: &{schedules:?},\nfamilies: &[")?;
        for family in &families {
            writeln!(source, "&{:?},", family.iter().map(|name| number(name)).collect::<Result<Vec<_>, _>>()?)?;
        }
        writeln!(source, "],\nentries: &[")?;
        for entry in table.entries() {
            let class = classes.binary_search(&&*entry.class).map_err(|_| "a class without a number")?;
            let sizes = entry.sizes.iter().map(|size| u32::try_from(*size)).collect::<Result<Vec<_>, _>>()?;
            let family = families.binary_search(&&*entry.family).unwrap_or(families.len());
            write!(source, "({class}, {family}, &{sizes:?}, {:?}, &[", entry.microseconds as f32)?;
            for (name, relative) in &entry.schedules {
                write!(source, "({}, {:?}),", number(name)?, *relative as f32)?;
            }
            writeln!(source, "]),")?;
        }
        writeln!(source, "] }},")?;
    }
    source += "]\n";
    Ok(source)
}
