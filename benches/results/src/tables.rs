//! Results as tables and lists in Markdown.

use std::fmt::Write;

use crate::{
    bars::{Bars, Limit, Verdict},
    browsers,
    line::{LeftOut, OURS, Pair, RIVALS, SPECIALIZED, Time},
    markdown::{or_dash, table},
    results::{Key, Results},
};

/// A table of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Runs and peak rates.
    Runs,
    /// Cases with bars, beside other libraries.
    Bars,
    /// All our times.
    Times,
    /// Host costs.
    Costs,
    /// Fused against unfused functions.
    Pairs,
    /// Cases not measured.
    LeftOut,
    /// Pages against other libraries.
    Browsers,
    /// Tests in browsers.
    Suites,
}

impl Table {
    /// In the order of a report.
    pub const ALL: [Self; 8] =
        [Self::Runs, Self::Times, Self::Costs, Self::Pairs, Self::Bars, Self::LeftOut, Self::Browsers, Self::Suites];

    /// Name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Bars => "bars",
            Self::Times => "times",
            Self::Costs => "costs",
            Self::Pairs => "pairs",
            Self::LeftOut => "left out",
            Self::Browsers => "browsers",
            Self::Suites => "suites",
        }
    }

    /// Table; empty without results.
    pub fn show(self, results: &Results, bars: &Bars) -> String {
        // A page's results have their own table, with the other libraries.
        if results.is_of_a_page() && !matches!(self, Self::Runs | Self::Costs | Self::Browsers | Self::Suites) {
            return String::new();
        }
        match self {
            Self::Runs => runs(results),
            Self::Bars => barred(results, bars),
            Self::Times => times(results),
            Self::Costs => costs(results, bars),
            Self::Pairs => pairs(results, bars),
            Self::LeftOut => left_out(results),
            Self::Browsers => browsers::show(results, &bars.browsers),
            Self::Suites => suites(results),
        }
    }
}

/// Microseconds, to significant digits.
fn micros(time: f64) -> String {
    match time {
        time if time < 100.0 => format!("{time:.2}"),
        time if time < 1000.0 => format!("{time:.1}"),
        time => format!("{time:.0}"),
    }
}

fn percent(part: Option<f64>) -> String {
    part.map_or("–".to_owned(), |part| format!("{:.0} %", part * 100.0))
}

fn runs(results: &Results) -> String {
    let mut programs = vec![];
    for run in &results.runs {
        let line = format!(
            "- {} {}: {} ({}), host {}, {}, commit {}\n",
            run.program, run.version, run.adapter, run.driver, run.host, run.date, run.commit
        );
        if !programs.contains(&line) {
            programs.push(line);
        }
    }
    let mut text = programs.concat();
    if let Some(roof) = results.roof() {
        let matrices = roof.matrices_tflops.map_or("none".to_owned(), |rate| format!("{rate:.0} TFLOP/s"));
        let _ = writeln!(
            text,
            "- by hand: copy {:.0} GB/s, dispatch {:.2} µs, f32 {:.2} TFLOP/s, matrices of f16 {matrices}",
            roof.copy_gb_per_s, roof.dispatch_us, roof.f32_tflops
        );
    }
    text
}

fn suites(results: &Results) -> String {
    let headings = ["tests", "browser", "flags", "adapter", "passed", "failed", "s", "date", "commit"];
    let rows = results.suites.iter().map(|suite| {
        let failed = if suite.failed.is_empty() { "–".to_owned() } else { suite.failed.join(", ") };
        let [name, browser, flags, adapter, date, commit] =
            [&suite.name, &suite.browser, &suite.flags, &suite.adapter, &suite.date, &suite.commit].map(String::clone);
        let passed = format!("{} of {}", suite.tests - suite.failed.len(), suite.tests);
        vec![name, browser, flags, adapter, passed, failed, format!("{:.0}", suite.seconds), date, commit]
    });
    table(&headings, rows)
}

fn variant(time: &Time) -> String {
    let text = time.variant.as_deref().unwrap_or("–");
    let specialized = if time.way == SPECIALIZED { " (specialized)" } else { "" };
    match time.alternative {
        Some(index) => format!("{index}: {text}"),
        None if time.picked => format!("{text}{specialized}"),
        None => format!("{text} (forced)"),
    }
}

fn times(results: &Results) -> String {
    let headings = ["case", "size", "variant", "µs", "range", "GPU µs", "TFLOP/s", "GB/s", "of roof", "tokens/s"];
    let ours = results.times.iter().filter(|time| [OURS, SPECIALIZED].contains(&&*time.way));
    let rows = ours.map(|time| {
        vec![
            time.name(),
            time.size.clone(),
            variant(time),
            micros(time.median_us),
            format!("{} .. {}", micros(time.min_us), micros(time.max_us)),
            time.gpu_us.map_or("–".to_owned(), micros),
            or_dash((time.flops > 0.0).then(|| time.teraflops()), 3),
            or_dash((time.bytes > 0.0).then(|| time.gigabytes()), 1),
            percent(time.of_roof),
            or_dash((time.tokens > 0.0).then(|| time.tokens / time.median_us * 1e6), 0),
        ]
    });
    table(&headings, rows)
}

/// A bar with its verdict: `≤ 6 µs: met`.
fn judged(verdict: &Verdict<'_>) -> String {
    let value = verdict.value.map(|value| verdict.limit.show(value));
    match (verdict.met, value) {
        (Some(true), Some(value)) => format!("{}: met ({value})", verdict.limit),
        (Some(false), Some(value)) => format!("{}: **missed** ({value})", verdict.limit),
        (_, Some(value)) => format!("{}: not judged here ({value})", verdict.limit),
        (_, None) => format!("{}: not measured", verdict.limit),
    }
}

fn barred(results: &Results, bars: &Bars) -> String {
    let verdicts = bars.judge(results);
    let rows = bars.cases().into_iter().filter_map(|key| {
        let ours = results.find(OURS, key);
        let rivals = RIVALS.map(|way| results.find(way, key).map(|time| time.median_us));
        if ours.is_none() && rivals.iter().all(Option::is_none) {
            return None;
        }
        let best = rivals.iter().flatten().copied().reduce(f64::min);
        let against = ours.as_ref().zip(best).map(|(ours, best)| best / ours.median_us);
        let of_time = |verdict: &&Verdict<'_>| verdict.key == key && !matches!(verdict.limit, Limit::AtLeastRatio(_));
        let own = verdicts.iter().filter(of_time).map(judged).collect::<Vec<_>>().join("; ");
        let mut row = vec![
            format!("{} {}", key.case, key.dtype),
            key.size.to_owned(),
            ours.as_ref().map_or("–".to_owned(), variant),
            ours.as_ref().map_or("–".to_owned(), |time| micros(time.median_us)),
            if own.is_empty() { "–".to_owned() } else { own },
            results.find(SPECIALIZED, key).map_or("–".to_owned(), |time| micros(time.median_us)),
        ];
        row.extend(rivals.map(|time| time.map_or("–".to_owned(), micros)));
        row.push(or_dash(against, 2));
        row.push(percent(ours.and_then(|time| time.of_roof)));
        Some(row)
    });
    let mut headings = vec!["case", "size", "variant picked", "ours µs", "bars", "specialized µs"];
    headings.extend(RIVALS);
    headings.extend(["best rival / ours", "of roof"]);
    let text = table(&headings, rows);
    if text.is_empty() {
        return text;
    }
    let count = |met: bool| verdicts.iter().filter(|verdict| verdict.met == Some(met)).count();
    let unknown = verdicts.iter().filter(|verdict| verdict.met.is_none()).count();
    let judged = match bars.are_for(results.adapter()) {
        true => format!("{} bars met, {} missed, {unknown} not measured", count(true), count(false)),
        false => format!("the bars are for {} and are not judged on {}", bars.adapter, results.adapter()),
    };
    format!("{text}\n{judged}\n")
}

fn costs(results: &Results, bars: &Bars) -> String {
    let headings = ["time of the host", "µs", "above by hand", "µs without submissions", "above by hand", "bar"];
    let verdicts = bars.judge(results);
    let rows = results.costs.iter().map(|cost| {
        let columns = [Some(cost.median_us), cost.above_by_hand_us, cost.recording_us, cost.recording_above_by_hand_us];
        let mut row = vec![cost.case.clone()];
        row.extend(columns.map(|value| or_dash(value, 2)));
        let of = |verdict: &&Verdict<'_>| verdict.key.case == cost.case && verdict.key.size.is_empty();
        row.push(verdicts.iter().find(of).map_or("–".to_owned(), judged));
        row
    });
    table(&headings, rows)
}

fn pairs(results: &Results, bars: &Bars) -> String {
    let both = |fused: Option<String>, unfused: Option<String>| match (fused, unfused) {
        (Some(fused), Some(unfused)) => format!("{fused} : {unfused}"),
        _ => "–".to_owned(),
    };
    let micros_of = |time: Option<f64>| time.map(|time| format!("{time:.2}"));
    let source = |pair: &Pair| bars.source_ratio(&pair.case, &pair.dtype, &pair.size);
    let verdicts = bars.judge(results);
    let bar = |pair: &Pair| {
        let key = Key { case: &pair.case, dtype: &pair.dtype, size: &pair.size };
        let of = |verdict: &&Verdict<'_>| verdict.key == key && matches!(verdict.limit, Limit::AtLeastRatio(_));
        verdicts.iter().find(of).map_or("–".to_owned(), judged)
    };
    let rows = results.pairs.iter().map(|pair| {
        let (fused, unfused, gpu) = (&pair.fused, &pair.unfused, pair.gpu.as_ref());
        vec![
            pair.name(),
            pair.size.clone(),
            micros(pair.wall.fused_us[0]),
            micros(pair.wall.unfused_us[0]),
            format!("{:.2}", pair.wall.ratio),
            format!("{:.2} .. {:.2}", pair.wall.ratio_range[0], pair.wall.ratio_range[1]),
            bar(pair),
            or_dash(gpu.map(|gpu| gpu.fused_us[0]), 2),
            or_dash(gpu.map(|gpu| gpu.unfused_us[0]), 2),
            or_dash(gpu.map(|gpu| gpu.ratio), 2),
            or_dash(pair.at_most, 2),
            both(fused.dispatches.map(|count| count.to_string()), unfused.dispatches.map(|count| count.to_string())),
            both(micros_of(fused.floor_bytes_us), micros_of(unfused.floor_bytes_us)),
            both(micros_of(fused.floor_launches_us), micros_of(unfused.floor_launches_us)),
            both(fused.bound.clone(), unfused.bound.clone()),
        ]
    });
    let headings = [
        "fused against unfused",
        "size",
        "fused µs",
        "unfused µs",
        "ratio",
        "range",
        "bar",
        "GPU fused µs",
        "GPU unfused µs",
        "GPU ratio",
        "at most",
        "dispatches, fused : unfused",
        "floor of bytes µs",
        "floor of launches µs",
        "bound by",
    ];
    let mut text = table(&headings, rows);
    if text.is_empty() {
        return text;
    }
    let below =
        |pair: &Pair, ratio: f64| pair.wall.ratio < ratio || pair.gpu.as_ref().is_some_and(|gpu| gpu.ratio < ratio);
    let mut list = |what: &str, wanted: &dyn Fn(&Pair) -> bool| {
        let found: Vec<&Pair> = results.pairs.iter().filter(|pair| wanted(pair)).collect();
        let _ = writeln!(text, "\n{} of {} pairs {what}", found.len(), results.pairs.len());
        for pair in found {
            let gpu = or_dash(pair.gpu.as_ref().map(|gpu| gpu.ratio), 2);
            let (ratio, stated, most) = (pair.wall.ratio, or_dash(source(pair), 2), or_dash(pair.at_most, 2));
            let ratios = format!("{ratio:.2}, GPU {gpu}, source {stated}, at most {most}");
            let _ = writeln!(text, "- {} {}: {ratios}", pair.name(), pair.size);
        }
    };
    list(&format!("have a ratio below {}", bars.never_slower), &|pair| below(pair, bars.never_slower));
    list("have a ratio below that of the source document", &|pair| {
        source(pair).is_some_and(|source| below(pair, source))
    });
    text
}

fn left_out(results: &Results) -> String {
    let mut reasons: Vec<(String, Vec<String>)> = vec![];
    for LeftOut { way, case, dtype, size, reason } in &results.left_out {
        let case = format!("{case} {dtype} {size}");
        let reason = format!("{way}: {reason}");
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, cases)) => cases.push(case),
            None => reasons.push((reason, vec![case])),
        }
    }
    reasons.iter().map(|(reason, cases)| format!("- {reason} ({})\n", cases.join(", "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        line::{BURN, COMPILED, EAGER, Line, Roof},
        results::tests::{run, time},
    };

    const KEY: [&str; 3] = ["relu(matmul + b + r)", "f32", "128x128x128"];

    fn results(adapter: &str) -> Results {
        let mut results = Results::default();
        results.add(Line::Run(run(OURS, adapter)));
        results.add(Line::Roof(Roof {
            copy_gb_per_s: 4100.0,
            dispatch_us: 2.0,
            f32_tflops: 60.0,
            matrices_tflops: None,
        }));
        let times = [(OURS, 5.0), (SPECIALIZED, 4.5), (EAGER, 27.5), (COMPILED, 4.0), (BURN, 112.0)];
        for (way, us) in times {
            results.add(Line::Time(time(way, KEY, us)));
        }
        results
    }

    #[test]
    fn a_case_stands_beside_its_bars_and_rivals() {
        let (bars, results) = (Bars::load().unwrap(), results("NVIDIA H200"));
        let text = Table::Bars.show(&results, &bars);
        let row = "| relu(matmul + b + r) f32 | 128x128x128 | tile | 5.00 | ≤ 1.10 × torch.compile + CUDA graph: **missed** \
                   (1.25 ×); ≤ 0.50 × Burn: met (0.04 ×) | 4.50 | 27.50 | 4.00 | 112.0 | 0.80 | 50 % |";
        assert!(text.contains(row), "{text}");
        assert!(text.contains("\n1 bars met, 1 missed, "), "{text}");
    }

    #[test]
    fn other_adapters_are_not_judged() {
        let (bars, results) = (Bars::load().unwrap(), results("llvmpipe"));
        let text = Table::Bars.show(&results, &bars);
        assert!(!text.contains("met (") && !text.contains("missed"), "{text}");
        assert!(text.contains("not judged on llvmpipe"), "{text}");
    }

    #[test]
    fn what_was_left_out_says_why() {
        let (bars, mut results) = (Bars::load().unwrap(), results("llvmpipe"));
        let text = |text: &str| text.to_owned();
        let (case, dtype, size) = (text("softmax"), text("f16"), text("8x8"));
        let left = LeftOut { way: text(BURN), case, dtype, size, reason: text("no 16-bit floats") };
        results.add(Line::LeftOut(left));
        let text = Table::LeftOut.show(&results, &bars);
        assert_eq!(text, "- Burn: no 16-bit floats (softmax f16 8x8)\n");
    }

    #[test]
    fn every_table_of_nothing_is_short() {
        let (bars, nothing) = (Bars::load().unwrap(), Results::default());
        for table in Table::ALL {
            assert_eq!(table.show(&nothing, &bars), "", "{table:?}");
        }
    }
}
