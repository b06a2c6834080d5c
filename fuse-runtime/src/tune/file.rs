//! Tuning tables as TOML: parsing with messages, and writing.
//!
//! The error of parsing names the place. The build script compiles this file, too, to check built-in tables as
//! strictly.

use std::{collections::BTreeSet, sync::Arc};

use serde::Deserialize;

use super::{
    knobs::Knobs,
    table::{Adapters, Entry, Measured, Status, Table},
};
use crate::context::{
    control_flow::{ControlFlow, UNROLL_FACTORS},
    environment::{Environment, Vendor},
    hardware::Hardware,
};

const FORMAT: u32 = 1;

/// More than any class has.
const MAX_SIZES: usize = 8;

/// Limit of relative times and workgroup sizes: larger ones are typos.
const MAX_RELATIVE: f64 = 1e6;
const MAX_KNOB: u32 = 1024;

const MAX_HARDWARE: u32 = 1 << 31;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u32,
    status: String,
    environment: Option<String>,
    adapters: Option<AdaptersOfFile>,
    measured: Option<MeasuredOfFile>,
    knobs: Option<KnobsOfFile>,
    hardware: Option<HardwareOfFile>,
    #[serde(default)]
    family: Vec<FamilyOfFile>,
    #[serde(default)]
    entry: Vec<EntryOfFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AdaptersOfFile {
    vendor: String,
    #[serde(default)]
    names: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MeasuredOfFile {
    adapter: String,
    driver: String,
    date: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KnobsOfFile {
    workgroup_size: Option<u32>,
    tile_size: Option<u32>,
    unroll: Option<u32>,
    control_flow: Option<String>,
    bounds_checks: Option<bool>,
    fast_math: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HardwareOfFile {
    units: u32,
    multiply_adds: u32,
    bytes: u32,
    launch: u32,
    invocations: u32,
    workgroup_bytes: u32,
    cache_bytes: u32,
    integrated: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyOfFile {
    schedules: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryOfFile {
    /// Number of its family, from 1.
    family: Option<usize>,
    class: String,
    sizes: Vec<u64>,
    microseconds: f64,
    schedules: Vec<(String, f64)>,
}

pub(crate) fn parse(name: &str, text: &str) -> Result<Table, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    if file.format != FORMAT {
        return Err(format!("`format`: expected {FORMAT}, found {}", file.format));
    }
    let status = match &*file.status {
        "measured" => Status::Measured,
        "prior" => Status::Prior,
        other => return Err(format!("`status`: expected `measured` or `prior`, found `{other}`")),
    };
    if (status == Status::Measured) != file.measured.is_some() {
        return Err("`measured`: expected where and when for tables of status `measured`, and for no others".to_owned());
    }
    let known = |name: String| Environment::named(&name).ok_or_else(|| unknown("environment", &name, &environments()));
    let environment = file.environment.map(known).transpose()?;
    let adapters = file.adapters.map(adapters).transpose()?;
    let knobs = file.knobs.map(knobs).transpose()?.unwrap_or_default();
    let measured = file.measured.map(|MeasuredOfFile { adapter, driver, date }| Measured { adapter, driver, date });
    let hardware = file.hardware.map(hardware).transpose()?;
    let families: Vec<Arc<[String]>> = file.family.into_iter().map(family).collect();
    let entries = entries(file.entry, &families)?;
    Ok(Table { name: name.to_owned(), status, environment, adapters, measured, knobs, hardware, entries })
}

fn entries(entries: Vec<EntryOfFile>, families: &[Arc<[String]>]) -> Result<Vec<Entry>, String> {
    let place = |number: usize, class: &str, sizes: &[u64]| format!("entry {number} (`{class}` {sizes:?})");
    let mut numbered = vec![];
    for (number, entry) in (1..).zip(entries) {
        let place = place(number, &entry.class, &entry.sizes);
        numbered.push((checked(entry, families).map_err(|wrong| format!("{place}: {wrong}"))?, number));
    }
    let key = |entry: &Entry| (entry.class.clone(), entry.sizes.clone());
    // The sort is stable: of equal entries the later one is reported.
    numbered.sort_by_cached_key(|(entry, _)| key(entry));
    if let Some(pair) = numbered.windows(2).find(|pair| key(&pair[0].0) == key(&pair[1].0)) {
        let (second, number) = &pair[1];
        return Err(format!(
            "{}: expected each class and size once, found a second one",
            place(*number, &second.class, &second.sizes)
        ));
    }
    Ok(numbered.into_iter().map(|(entry, _)| entry).collect())
}

/// Distinct names in ascending order.
fn family(FamilyOfFile { schedules }: FamilyOfFile) -> Arc<[String]> {
    schedules.into_iter().collect::<BTreeSet<String>>().into_iter().collect()
}

fn hardware(found: HardwareOfFile) -> Result<Hardware, String> {
    let HardwareOfFile { units, multiply_adds, bytes, launch, invocations, workgroup_bytes, cache_bytes, integrated } =
        found;
    let numbers = [
        ("units", units),
        ("multiply_adds", multiply_adds),
        ("bytes", bytes),
        ("launch", launch),
        ("invocations", invocations),
        ("workgroup_bytes", workgroup_bytes),
        ("cache_bytes", cache_bytes),
    ];
    if let Some((name, found)) = numbers.into_iter().find(|(_, number)| !(1..=MAX_HARDWARE).contains(number)) {
        return Err(format!("`hardware.{name}`: expected a number from 1 to {MAX_HARDWARE}, found {found}"));
    }
    Ok(Hardware { units, multiply_adds, bytes, launch, invocations, workgroup_bytes, cache_bytes, integrated })
}

fn environments() -> Vec<&'static str> {
    Environment::ALL.map(Environment::name).to_vec()
}

fn unknown(what: &str, found: &str, known: &[&str]) -> String {
    format!("`{what}`: expected one of {}, found `{found}`", known.join(", "))
}

fn adapters(AdaptersOfFile { vendor, names }: AdaptersOfFile) -> Result<Adapters, String> {
    if names.iter().any(|name| name.trim().is_empty()) {
        return Err("`adapters.names`: expected parts of names, found an empty one".to_owned());
    }
    let known = || unknown("adapters.vendor", &vendor, &Vendor::ALL.into_iter().map(Vendor::name).collect::<Vec<_>>());
    Ok(Adapters { vendor: Vendor::named(&vendor).ok_or_else(known)?, names })
}

fn knobs(knobs: KnobsOfFile) -> Result<Knobs, String> {
    let names = || ControlFlow::ALL.map(ControlFlow::name).to_vec();
    let flow = |name: String| ControlFlow::named(&name).ok_or_else(|| unknown("knobs.control_flow", &name, &names()));
    Ok(Knobs {
        workgroup_size: size("workgroup_size", knobs.workgroup_size)?,
        tile_size: size("tile_size", knobs.tile_size)?,
        unroll: match knobs.unroll {
            Some(factor) if !UNROLL_FACTORS.contains(&factor) => {
                return Err(format!("`knobs.unroll`: expected 1, 2 or 4, found {factor}"));
            }
            factor => factor,
        },
        control_flow: knobs.control_flow.map(flow).transpose()?,
        bounds_checks: knobs.bounds_checks,
        fast_math: knobs.fast_math,
    })
}

fn size(name: &str, value: Option<u32>) -> Result<Option<u32>, String> {
    match value {
        Some(value) if !(1..=MAX_KNOB).contains(&value) => {
            Err(format!("`knobs.{name}`: expected a number from 1 to {MAX_KNOB}, found {value}"))
        }
        value => Ok(value),
    }
}

fn checked(entry: EntryOfFile, families: &[Arc<[String]>]) -> Result<Entry, String> {
    let EntryOfFile { family, class, sizes, microseconds, schedules } = entry;
    if class.trim().is_empty() {
        return Err("expected a class, found an empty one".to_owned());
    }
    if sizes.is_empty() || sizes.len() > MAX_SIZES {
        return Err(format!("expected 1 to {MAX_SIZES} sizes, found {}", sizes.len()));
    }
    if !(microseconds.is_finite() && microseconds > 0.0) {
        return Err(format!("`microseconds`: expected a time above 0, found {microseconds}"));
    }
    let mut names = BTreeSet::new();
    let mut last = 1.0;
    for (name, relative) in &schedules {
        if name.is_empty() || !names.insert(name) {
            return Err(format!("expected each schedule once, found `{name}` twice or without a name"));
        }
        if !(relative.is_finite() && (last..=MAX_RELATIVE).contains(relative)) {
            return Err(format!(
                "schedule `{name}`: expected times relative to the best, in ascending order, found {relative}"
            ));
        }
        last = *relative;
    }
    if schedules.first().is_none_or(|(_, relative)| *relative != 1.0) {
        return Err("expected a first schedule of relative time 1.0".to_owned());
    }
    let family = match family {
        None => Arc::default(),
        Some(number) => {
            let found = number.checked_sub(1).and_then(|at| families.get(at)).filter(|family| !family.is_empty());
            let count = families.len();
            found
                .cloned()
                .ok_or_else(|| format!("`family`: expected one of 1 to {count} with schedules, found {number}"))?
        }
    };
    let entry = Entry { class, sizes, microseconds, schedules, family };
    if let Some((name, _)) = entry.schedules.iter().find(|(name, _)| !entry.covers(name)) {
        return Err(format!("schedule `{name}`: expected one of the entry's family"));
    }
    Ok(entry)
}

#[cfg(feature = "tune")]
mod writing {
    use std::{collections::BTreeSet, fmt::Write as _};

    use super::{FORMAT, Hardware, Knobs, Table};
    use crate::tune::table::Entry;

    /// Equal tables give equal texts.
    pub(crate) fn text(table: &Table) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write_head(&mut text, table);
        let families: BTreeSet<&[String]> = table.entries.iter().map(|entry| &*entry.family).collect();
        let families: Vec<&[String]> = families.into_iter().filter(|family| !family.is_empty()).collect();
        for family in &families {
            let names: Vec<String> = family.iter().map(|name| quoted(name)).collect();
            let _ = writeln!(text, "\n[[family]]\nschedules = [{}]", names.join(", "));
        }
        for entry in &table.entries {
            let _ = write_entry(&mut text, entry, families.binary_search(&&*entry.family).ok());
        }
        text
    }

    fn write_head(text: &mut String, table: &Table) -> std::fmt::Result {
        writeln!(text, "format = {FORMAT}")?;
        writeln!(text, "status = {}", quoted(table.status.name()))?;
        if let Some(environment) = table.environment {
            writeln!(text, "environment = {}", quoted(environment.name()))?;
        }
        if let Some(adapters) = &table.adapters {
            let names: Vec<String> = adapters.names.iter().map(|name| quoted(name)).collect();
            writeln!(
                text,
                "\n[adapters]\nvendor = {}\nnames = [{}]",
                quoted(adapters.vendor.name()),
                names.join(", ")
            )?;
        }
        if let Some(measured) = &table.measured {
            let [adapter, driver, date] =
                [&measured.adapter, &measured.driver, &measured.date].map(|text| quoted(text));
            writeln!(text, "\n[measured]\nadapter = {adapter}\ndriver = {driver}\ndate = {date}")?;
        }
        let Knobs { workgroup_size, tile_size, unroll, control_flow, bounds_checks, fast_math } = table.knobs;
        let number = |value: Option<u32>| value.map(|value| value.to_string());
        let truth = |value: Option<bool>| value.map(|value| value.to_string());
        let knobs = [
            ("workgroup_size", number(workgroup_size)),
            ("tile_size", number(tile_size)),
            ("unroll", number(unroll)),
            ("control_flow", control_flow.map(|flow| quoted(flow.name()))),
            ("bounds_checks", truth(bounds_checks)),
            ("fast_math", truth(fast_math)),
        ];
        if table.knobs != Knobs::default() {
            writeln!(text, "\n[knobs]")?;
        }
        let mut said = knobs.into_iter().filter_map(|(name, value)| Some((name, value?)));
        said.try_for_each(|(name, value)| writeln!(text, "{name} = {value}"))?;
        table.hardware.map_or(Ok(()), |hardware| write_hardware(text, hardware))
    }

    fn write_hardware(text: &mut String, hardware: Hardware) -> std::fmt::Result {
        let Hardware { units, multiply_adds, bytes, launch, invocations, workgroup_bytes, cache_bytes, integrated } =
            hardware;
        writeln!(text, "\n[hardware]\nunits = {units}\nmultiply_adds = {multiply_adds}\nbytes = {bytes}")?;
        writeln!(text, "launch = {launch}\ninvocations = {invocations}\nworkgroup_bytes = {workgroup_bytes}")?;
        writeln!(text, "cache_bytes = {cache_bytes}\nintegrated = {integrated}")
    }

    /// `family` counts from 0.
    fn write_entry(text: &mut String, entry: &Entry, family: Option<usize>) -> std::fmt::Result {
        let Entry { class, sizes, microseconds, schedules, family: _ } = entry;
        let schedules: Vec<String> =
            schedules.iter().map(|(name, relative)| format!("[{}, {relative:?}]", quoted(name))).collect();
        writeln!(text, "\n[[entry]]\nclass = {}\nsizes = {sizes:?}", quoted(class))?;
        family.map_or(Ok(()), |family| writeln!(text, "family = {}", family + 1))?;
        writeln!(text, "microseconds = {microseconds:?}\nschedules = [{}]", schedules.join(", "))
    }

    fn quoted(text: &str) -> String {
        toml::Value::String(text.to_owned()).to_string()
    }
}

#[cfg(feature = "tune")]
pub(crate) use writing::text;

#[cfg(all(test, feature = "tune"))]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tune::table::tests::{entry, table};

    fn full() -> Table {
        let mut table = table(&[
            entry("contraction f32·f32 depth·outer", &[1, 64, 64, 64], &[("tile 32x32x32", 1.0), ("a \"b\"\\", 1.25)]),
            entry("pointwise f32", &[1 << 40], &[("vec4", 1.0)]),
        ]);
        table.entries[0].family = ["a \"b\"\\", "tile 32x32x32", "vec4"].map(str::to_owned).into();
        table.status = Status::Measured;
        table.environment = Some(Environment::Native);
        table.adapters = Some(Adapters { vendor: Vendor::Software, names: vec!["llvmpipe".into()] });
        table.measured =
            Some(Measured { adapter: "llvmpipe (LLVM 15)".into(), driver: "é\n".into(), date: "2026-11-21".into() });
        table.knobs = Knobs {
            workgroup_size: Some(64),
            tile_size: None,
            unroll: Some(4),
            control_flow: Some(ControlFlow::Switch),
            bounds_checks: Some(true),
            fast_math: Some(false),
        };
        table.hardware = Some(Hardware {
            units: 2,
            multiply_adds: 10_000,
            bytes: 8_000,
            launch: 1_500,
            invocations: 1,
            workgroup_bytes: 32_768,
            cache_bytes: 1 << 24,
            integrated: true,
        });
        table
    }

    #[test]
    fn tables_survive_a_file() {
        let table = full();
        assert_eq!(parse("by hand", &text(&table)), Ok(table));
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let text = text(&full());
        let wrong = |from: &str, to: &str| {
            assert!(text.contains(from), "no `{from}` in {text}");
            parse("x", &text.replacen(from, to, 1)).unwrap_err()
        };
        assert_eq!(wrong("format = 1", "format = 2"), "`format`: expected 1, found 2");
        assert!(wrong("\"measured\"", "\"guessed\"").starts_with("`status`: expected `measured` or `prior`"));
        assert!(wrong("\"measured\"", "\"prior\"").starts_with("`measured`: expected where and when"));
        assert!(wrong("\"native\"", "\"netscape\"").ends_with("found `netscape`"));
        assert!(wrong("\"software\"", "\"3dfx\"").contains("`adapters.vendor`"));
        assert!(wrong("[\"llvmpipe\"]", "[\"\"]").contains("`adapters.names`"));
        assert!(wrong("workgroup_size = 64", "workgroup_size = 0").contains("from 1 to 1024, found 0"));
        assert!(wrong("unroll = 4", "unroll = 3").contains("expected 1, 2 or 4, found 3"));
        assert!(wrong("\"switch\"", "\"goto\"").contains("`knobs.control_flow`: expected one of if, switch"));
        for (from, to, found) in [
            ("bounds_checks = true", "bounds_checks = 1", "integer `1`, expected a boolean"),
            ("fast_math = false", "fast_math = \"no\"", "string \"no\", expected a boolean"),
        ] {
            let wrong = wrong(from, to);
            assert!(wrong.contains("line") && wrong.contains(to) && wrong.contains(found), "{wrong}");
        }
        assert!(wrong("bytes = 8000", "bytes = 0").contains("`hardware.bytes`: expected a number from 1 to"));
        assert!(wrong("family = 1", "family = 2").contains("`family`: expected one of 1 to 1 with schedules, found 2"));
        assert!(wrong("family = 1", "family = 0").contains("`family`: expected one of 1 to 1 with schedules, found 0"));
        let uncovered = "schedule `tile 32x32x32`: expected one of the entry's family";
        assert!(wrong("\"tile 32x32x32\", \"vec4\"", "\"vec4\"").contains(uncovered));
        assert!(
            wrong("sizes = [1, 64, 64, 64]", "sizes = []").starts_with("entry 1 (`contraction f32·f32 depth·outer` []")
        );
        assert!(wrong("microseconds = 10.0", "microseconds = nan").contains("expected a time above 0"));
        assert!(wrong("1.25", "0.5").contains("in ascending order, found 0.5"));
        assert!(wrong("1.25", "inf").contains("found inf"));
        assert!(wrong("x32\", 1.0", "x32\", 1.1").contains("first schedule of relative time 1.0"));
        assert!(wrong("[[\"tile 32x32x32\"", "[[\"\"").contains("without a name"));
        assert!(wrong("schedules = ", "members = ").contains("members"));
        assert!(wrong("[[entry]]", "[[entry").contains("line"));
        let again =
            format!("{text}{}", text.split_once("[[entry]]").map(|(_, rest)| format!("[[entry]]{rest}")).unwrap());
        assert!(parse("x", &again).unwrap_err().contains("found a second one"));
    }

    /// Nanoseconds of this thread on a processor; wall time where the system does not say.
    fn processor_time(start: std::time::Instant) -> u64 {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let told = text.split_whitespace().next().and_then(|time| time.parse().ok());
        told.unwrap_or_else(|| start.elapsed().as_nanos() as u64)
    }

    #[test]
    fn the_time_of_reading_grows_as_entries_do() {
        let start = std::time::Instant::now();
        // From last to first: each would be put before all others.
        let read = |count: u64| {
            let entry = |size| EntryOfFile {
                family: None,
                class: "c".to_owned(),
                sizes: vec![size],
                microseconds: 1.0,
                schedules: vec![("a".to_owned(), 1.0)],
            };
            let many: Vec<EntryOfFile> = (0..count).rev().map(entry).collect();
            let before = processor_time(start);
            let found = entries(many, &[]).unwrap();
            assert!(found.is_sorted_by_key(|entry| entry.sizes[0]));
            processor_time(start) - before
        };
        let least = |count| (0..3).map(|_| read(count)).min().unwrap_or(0);
        // Eight times as many take about nine times as long; one by one it would be 64 times.
        let (few, many) = (least(10_000), least(80_000));
        assert!(many < 28 * few.max(1_000_000), "{many} and {few} ns");
    }

    proptest! {
        #[test]
        fn mangled_files_are_errors_or_tables(at in 0.0..1.0f64, removed in 0usize..40, added in ".{0,6}") {
            let text = text(&full());
            let start = text.floor_char_boundary((at * text.len() as f64) as usize);
            let end = text.floor_char_boundary((start + removed).min(text.len()));
            let mangled = format!("{}{added}{}", &text[..start], &text[end.max(start)..]);
            if let Ok(table) = parse("mangled", &mangled) {
                prop_assert_eq!(parse("mangled", &super::text(&table)), Ok(table.clone()));
                prop_assert!(table.entries.iter().all(|e| e.schedules[0].1 == 1.0 && e.microseconds > 0.0));
            }
        }

        #[test]
        fn noise_is_an_error(text in "\\PC{1,80}") {
            prop_assert!(parse("noise", &text).is_err());
        }
    }
}
