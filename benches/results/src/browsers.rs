//! Pages against other libraries in the same browser: steady times, first results and sizes, judged by bars.

use crate::{
    bars::BrowserBars,
    line::{ALONE, BROWSER_RIVALS, FIRST_RESULT, ONNX, OURS, TENSORFLOW, Time, Weight},
    markdown::{or_dash, table},
    results::{Key, Results},
};

/// Judged bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Case.
    pub case: String,
    /// Size; may be empty.
    pub size: String,
    /// Other library's time or bytes over ours; `None` if not measured.
    pub ratio: Option<f64>,
    /// Least ratio that meets the bar.
    pub bar: f64,
}

impl Verdict {
    /// True if met; `None` if not measured.
    pub fn met(&self) -> Option<bool> {
        self.ratio.map(|ratio| ratio >= self.bar)
    }
}

impl Results {
    /// True if a page measured this.
    pub fn is_of_a_page(&self) -> bool {
        !self.weights.is_empty() || self.times.iter().any(|time| BROWSER_RIVALS.contains(&&*time.way))
    }
}

/// Judges cases, first results and sizes.
pub fn verdicts(results: &Results, bars: &BrowserBars) -> Vec<Verdict> {
    let of_time = |time: &Time| {
        let bar = if time.case == FIRST_RESULT { bars.first_result_sooner } else { bars.faster };
        let ratio = best_rival(results, time).map(|best| best / time.median_us);
        Verdict { case: time.case.clone(), size: time.size.clone(), ratio, bar }
    };
    let mut verdicts: Vec<Verdict> = results.picked(OURS).iter().map(of_time).collect();
    if results.weights.is_empty() {
        return verdicts;
    }
    let bytes = |way: &str| weight(results, way).map(|weight| weight.brotli as f64);
    for (way, bar) in [(TENSORFLOW, bars.fewer_bytes_than_tensorflow), (ONNX, bars.fewer_bytes_than_onnx)] {
        let ratio = bytes(way).zip(bytes(OURS)).map(|(rival, ours)| rival / ours);
        verdicts.push(Verdict { case: format!("bytes of {way}"), size: String::new(), ratio, bar });
    }
    verdicts
}

fn weight<'a>(results: &'a Results, way: &str) -> Option<&'a Weight> {
    results.weights.iter().find(|weight| weight.way == way)
}

fn best_rival(results: &Results, ours: &Time) -> Option<f64> {
    BROWSER_RIVALS.iter().filter_map(|way| found(results, way, ours)).map(|time| time.median_us).reduce(f64::min)
}

fn found(results: &Results, way: &str, time: &Time) -> Option<Time> {
    results.find(way, Key { case: &time.case, dtype: &time.dtype, size: &time.size })
}

/// Tables of a page: times, sizes, and bars met.
pub fn show(results: &Results, bars: &BrowserBars) -> String {
    if !results.is_of_a_page() {
        return String::new();
    }
    let verdicts = verdicts(results, bars);
    let mut text = times(results, &verdicts);
    text += "\n";
    text += &weights(results, &verdicts);
    let count = |met| verdicts.iter().filter(|verdict| verdict.met() == met).count();
    let counts = [count(Some(true)), count(Some(false)), count(None)];
    text += &format!("\n{} bars met, {} missed, {} not measured\n", counts[0], counts[1], counts[2]);
    if let Some(error) = results.times.iter().filter_map(|time| time.error_over_bound).reduce(f64::max) {
        text += &format!("\nLargest error of all ways, of what is allowed: {:.0} %.\n", error * 100.0);
    }
    for left in &results.left_out {
        text += &format!("\nNot measured: {} {} by {}: {}\n", left.case, left.size, left.way, left.reason);
    }
    text
}

fn times(results: &Results, verdicts: &[Verdict]) -> String {
    let rows = results.picked(OURS).into_iter().map(|ours| {
        let verdict = verdicts.iter().find(|verdict| (&verdict.case, &verdict.size) == (&ours.case, &ours.size));
        let rivals = BROWSER_RIVALS.map(|way| found(results, way, &ours));
        let largest = results.differences.iter().filter(|of| (&of.case, &of.size) == (&ours.case, &ours.size));
        let largest = largest.map(|difference| difference.largest).reduce(f64::max);
        let mut row = vec![format!("{} {}", ours.name(), ours.size), millis(Some(&ours))];
        row.extend(rivals.iter().map(|rival| millis(rival.as_ref())));
        row.push(found(results, ALONE, &ours).map_or("–".to_owned(), |time| millis(Some(&time))));
        row.push(or_dash(verdict.and_then(|verdict| verdict.ratio), 2));
        row.push(verdict.map_or("–".to_owned(), judged));
        row.push(largest.map_or("–".to_owned(), |largest| format!("{largest:.1e}")));
        row
    });
    let [tensorflow, onnx] = BROWSER_RIVALS.map(|way| format!("{way} ms"));
    let alone = format!("{ALONE} ms");
    let headings = ["case", "ours ms", &tensorflow, &onnx, &alone, "better rival / ours", "bar", "apart by"];
    table(&headings, rows)
}

fn millis(time: Option<&Time>) -> String {
    let Some(time) = time else { return "–".to_owned() };
    let digits = match time.median_us {
        us if us < 100.0 => 4,
        us if us < 10_000.0 => 2,
        _ => 1,
    };
    let [median, least, most] = [time.median_us, time.min_us, time.max_us].map(|us| us / 1e3);
    let form = time.variant.as_ref().map(|form| format!(", {form}")).unwrap_or_default();
    format!("{median:.digits$} ({least:.digits$} .. {most:.digits$}{form})")
}

fn judged(verdict: &Verdict) -> String {
    let bar = format!("≥ {}", verdict.bar);
    match verdict.met() {
        Some(true) => format!("{bar}: met"),
        Some(false) => format!("{bar}: **missed**"),
        None => format!("{bar}: not measured"),
    }
}

fn weights(results: &Results, verdicts: &[Verdict]) -> String {
    let kilobytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1e3);
    let rows = results.weights.iter().map(|weight| {
        let verdict = verdicts.iter().find(|verdict| verdict.case == format!("bytes of {}", weight.way));
        vec![
            weight.way.clone(),
            weight.files.join(", "),
            kilobytes(weight.raw),
            kilobytes(weight.brotli),
            or_dash(verdict.and_then(|verdict| verdict.ratio), 2),
            verdict.map_or("–".to_owned(), judged),
        ]
    });
    table(&["page", "files", "kB", "kB of brotli", "rival / ours", "bar"], rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bars::Bars,
        line::{Difference, LeftOut, Line},
        results::tests::{run, time},
    };

    const SOFTMAX: [&str; 3] = ["softmax", "f32", "8x8"];
    const GATE: [&str; 3] = ["sigmoid(a * b + c)", "f32", "2^20"];

    fn results() -> Results {
        let mut results = Results::default();
        results.add(Line::Run(run(OURS, "software")));
        let first = [FIRST_RESULT, "f32", "8x8x8"];
        let times = [
            (OURS, SOFTMAX, 1e3),
            (TENSORFLOW, SOFTMAX, 4e3),
            (ONNX, SOFTMAX, 1.5e3),
            (OURS, GATE, 2e3),
            (TENSORFLOW, GATE, 2.5e3),
            (OURS, first, 1e5),
            (TENSORFLOW, first, 2.9e5),
            (ALONE, first, 9e4),
        ];
        for (way, case, us) in times {
            results.add(Line::Time(time(way, case, us)));
        }
        for (way, brotli) in [(OURS, 1000), (TENSORFLOW, 5000), (ONNX, 49_000)] {
            let files = vec!["a.wasm".to_owned(), "a.js".to_owned()];
            results.add(Line::Weight(Weight { way: way.to_owned(), files, raw: 2 * brotli, brotli }));
        }
        let text = |text: &str| text.to_owned();
        let (way, case, size) = (text(ONNX), text(GATE[0]), text(GATE[2]));
        let (dtype, reason) = (text("f32"), text("no such operation"));
        results.add(Line::LeftOut(LeftOut { way: way.clone(), case: case.clone(), dtype, size: size.clone(), reason }));
        results.add(Line::Difference(Difference { way, case, size, largest: 2e-7 }));
        results
    }

    #[test]
    fn ours_stands_against_the_better_rival() {
        let found = verdicts(&results(), &Bars::load().unwrap().browsers);
        let met: Vec<_> = found.iter().map(|verdict| (&*verdict.case, verdict.ratio, verdict.met())).collect();
        let expected = [
            ("softmax", Some(1.5), Some(true)),
            ("sigmoid(a * b + c)", Some(1.25), Some(false)),
            (FIRST_RESULT, Some(2.9), Some(false)),
            ("bytes of TensorFlow.js", Some(5.0), Some(true)),
            ("bytes of ONNX Runtime Web", Some(49.0), Some(false)),
        ];
        assert_eq!(met, expected);
    }

    #[test]
    fn what_is_missed_or_missing_is_shown() {
        let text = show(&results(), &Bars::load().unwrap().browsers);
        let row = "| sigmoid(a * b + c) f32 2^20 | 2.00 (1.80 .. 2.20, tile) | 2.50 (2.25 .. 2.75, tile) | – | – | 1.25 | \
                   ≥ 1.5: **missed** | 2.0e-7 |";
        assert!(text.contains(row), "{text}");
        assert!(
            text.contains("| ONNX Runtime Web | a.wasm, a.js | 98.0 | 49.0 | 49.00 | ≥ 50: **missed** |"),
            "{text}"
        );
        assert!(text.contains("\n2 bars met, 3 missed, 0 not measured\n"), "{text}");
        assert!(text.contains("by ONNX Runtime Web: no such operation"), "{text}");
    }

    #[test]
    fn other_results_have_nothing_of_this() {
        let mut others = Results::default();
        others.add(Line::Time(time(OURS, SOFTMAX, 1.0)));
        let bars = Bars::load().unwrap().browsers;
        assert_eq!(show(&others, &bars), "");
        others.times.clear();
        assert_eq!(verdicts(&others, &bars), []);
    }
}
