//! Pairs of fused and unfused functions: how they are measured, and how the results read.

use std::{fmt::Write, time::Duration};

use fuse_gpu::{Device, Error};
use serde_json::json;

use crate::{
    Failure, check,
    floor::{Bound, Floor, Moved, Rates},
    formulas::Prepared,
    interleave::{Interleaved, Ratio, interleave},
    measure::{Effort, calibrate, micros, on_gpu, queued},
    plot::{self, Bar, Series},
    ratios::{GROUP, Pair},
};

/// Below this ratio an unfused function counts as faster: repeated runs differ by 3 %.
const SLOWER: f64 = 0.97;

/// One measured pair. Of two values, the first is that of the fused function.
pub(crate) struct Comparison {
    case: String,
    size: String,
    extent: usize,
    product: bool,
    f16: bool,
    source: Option<f64>,
    /// Throughput as the host sees it.
    wall: Interleaved,
    /// The GPU's own times, where it has timestamps.
    gpu: Option<Interleaved>,
    /// The variants that ran, in order.
    variants: [String; 2],
    moved: [Option<Moved>; 2],
    rates: Option<Rates>,
    errors: [f64; 2],
}

/// Checks and measures a pair.
pub(crate) fn compare(
    device: &Device,
    pair: &Pair,
    prepared: &[Prepared; 2],
    rates: Option<Rates>,
    effort: Effort,
) -> Result<Comparison, Failure> {
    let mut errors = [0.0; 2];
    for (prepared, error) in prepared.iter().zip(&mut errors) {
        *error = check(prepared)?;
    }
    let shapes: Vec<&[usize]> = pair.shapes.iter().map(Vec::as_slice).collect();
    let [fused, unfused] = pair.functions.map(|function| {
        let explanation = device.explain(function, &shapes)?;
        let variants = explanation.kernels.iter().filter_map(|kernel| kernel.chosen.clone());
        let moved = Moved::by(function, &shapes, &explanation);
        Ok::<_, Error>((variants.collect::<Vec<_>>().join(" + "), moved))
    });
    let (fused, unfused) = (fused?, unfused?);

    let wall = |which: usize, launches| queued(launches, &prepared[which].launch, || device.synchronize());
    let launches = [calibrate(effort, |launches| wall(0, launches))?, calibrate(effort, |launches| wall(1, launches))?];
    let walls = interleave(effort.batches, launches, wall)?;
    let on_gpu = |which: usize, launches| on_gpu(device, launches, &prepared[which].launch);
    let gpu = device.info().timestamps.then(|| interleave(effort.batches, launches, on_gpu)).transpose()?;
    Ok(Comparison {
        case: pair.name.clone(),
        size: pair.size.clone(),
        extent: pair.extent,
        product: pair.product,
        f16: pair.f16,
        source: pair.source,
        wall: walls,
        gpu,
        variants: [fused.0, unfused.0],
        moved: [fused.1, unfused.1],
        rates,
        errors,
    })
}

impl Comparison {
    /// What is printed at once.
    pub(crate) fn text(&self) -> String {
        let [fused, unfused] = self.wall.times.map(|times| micros(times.median));
        let Ratio { median, low, high } = self.wall.ratio;
        let ratio = format!("{fused:>11.2} µs, unfused {unfused:.2} µs: {median:.2} [{low:.2} .. {high:.2}]");
        format!("{:<30} {:>16} {ratio}  {}", self.case, self.size, self.variants[0])
    }

    /// Whether the ratio of wall times or that of the GPU's times is less than `ratio`.
    fn below(&self, ratio: f64) -> bool {
        self.wall.ratio.median < ratio || self.gpu.is_some_and(|gpu| gpu.ratio.median < ratio)
    }

    /// The case without the name of its group.
    fn formula(&self) -> &str {
        self.case.strip_prefix(GROUP).unwrap_or(&self.case)
    }

    fn floor(&self, which: usize) -> Option<Floor> {
        Some(self.rates?.floor(self.moved[which]?))
    }

    /// The largest ratio that bytes and dispatches explain.
    fn explained(&self) -> Option<f64> {
        let [fused, unfused] = self.moved;
        Some(fused?.gain(unfused?))
    }

    /// What bounds the fused or the unfused function.
    fn bound(&self, which: usize) -> Option<Bound> {
        let times = self.gpu.map_or(self.wall.times, |gpu| gpu.times);
        Some(self.floor(which)?.bound(times[which].median, self.product))
    }

    /// A JSON object.
    pub(crate) fn line(&self, adapter: &str) -> serde_json::Value {
        let interleaved = |measured: &Interleaved| {
            let [fused, unfused] = measured.times;
            json!({
                "fused_us": micros(fused.median),
                "fused_min_us": micros(fused.min),
                "fused_max_us": micros(fused.max),
                "unfused_us": micros(unfused.median),
                "unfused_min_us": micros(unfused.min),
                "unfused_max_us": micros(unfused.max),
                "launches_per_batch": [fused.launches, unfused.launches],
                "ratio": measured.ratio.median,
                "ratio_low": measured.ratio.low,
                "ratio_high": measured.ratio.high,
            })
        };
        let side = |which: usize| {
            let floor = self.floor(which);
            json!({
                "variant": self.variants[which],
                "bytes": self.moved[which].map(|moved| moved.bytes),
                "dispatches": self.moved[which].map(|moved| moved.dispatches),
                "floor_bytes_us": floor.map(|floor| micros(floor.bytes)),
                "floor_launches_us": floor.map(|floor| micros(floor.launches)),
                "bound": self.bound(which).map(|bound| bound.to_string()),
                "error_over_bound": self.errors[which],
            })
        };
        json!({
            "adapter": adapter,
            "case": self.case,
            "size": self.size,
            "wall": interleaved(&self.wall),
            "gpu": self.gpu.as_ref().map(interleaved),
            "source_ratio": self.source,
            "at_most": self.explained(),
            "fused": side(0),
            "unfused": side(1),
            "copy_gb_per_s": self.rates.map(|rates| rates.bandwidth / 1e9),
            "dispatch_us": self.rates.map(|rates| micros(rates.dispatch)),
        })
    }
}

/// A table for documents, then which pairs are slower than unfused or gain less than the source documents state.
pub(crate) fn table(comparisons: &[Comparison]) -> String {
    let mut table = String::from(
        "| fused against unfused | size | fused µs | unfused µs | ratio | range | source | GPU fused µs | GPU unfused µs \
         | GPU ratio | at most | dispatches, fused : unfused | floor of bytes µs | floor of launches µs | bound by |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let or_dash = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.2}"));
    let both = |[fused, unfused]: [Option<String>; 2]| match (fused, unfused) {
        (Some(fused), Some(unfused)) => format!("{fused} : {unfused}"),
        _ => "–".to_owned(),
    };
    for row in comparisons {
        let [fused, unfused] = row.wall.times.map(|times| format!("{:.2}", micros(times.median)));
        let gpu_time = |which: usize| or_dash(row.gpu.map(|gpu| micros(gpu.times[which].median)));
        let floor = |part: fn(Floor) -> Duration| {
            both([0, 1].map(|which| Some(format!("{:.2}", micros(part(row.floor(which)?))))))
        };
        let columns = [
            row.case.clone(),
            row.size.clone(),
            fused,
            unfused,
            format!("{:.2}", row.wall.ratio.median),
            format!("{:.2} .. {:.2}", row.wall.ratio.low, row.wall.ratio.high),
            or_dash(row.source),
            gpu_time(0),
            gpu_time(1),
            or_dash(row.gpu.map(|gpu| gpu.ratio.median)),
            or_dash(row.explained()),
            both(row.moved.map(|moved| Some(moved?.dispatches.to_string()))),
            floor(|floor| floor.bytes),
            floor(|floor| floor.launches),
            both([0, 1].map(|which| Some(row.bound(which)?.to_string()))),
        ];
        let _ = writeln!(table, "| {} |", columns.join(" | "));
    }
    let mut list = |what: &str, below: &dyn Fn(&Comparison) -> bool| {
        let rows: Vec<_> = comparisons.iter().filter(|row| below(row)).collect();
        let _ = write!(table, "\n{} of {} pairs {what}", rows.len(), comparisons.len());
        for row in rows {
            let (gpu, source) = (or_dash(row.gpu.map(|gpu| gpu.ratio.median)), or_dash(row.source));
            let ratios = format!("{:.2}, GPU {gpu}, source {source}", row.wall.ratio.median);
            let _ = write!(table, "\n- {} {}: {ratios}, at most {}", row.case, row.size, or_dash(row.explained()));
        }
    };
    list(&format!("have a ratio below {SLOWER}"), &|row| row.below(SLOWER));
    list("have a ratio below that of the source document", &|row| row.source.is_some_and(|source| row.below(source)));
    table + "\n"
}

/// The plots of a run, each with its name.
pub(crate) fn plots(comparisons: &[Comparison]) -> Result<Vec<(&'static str, String)>, Box<dyn std::error::Error>> {
    let series = |product: bool| {
        let mut series: Vec<Series> = vec![];
        for row in comparisons.iter().filter(|row| row.product == product) {
            let point = ((row.extent as f64).log2(), row.wall.ratio.median);
            match series.iter_mut().find(|series| series.label == row.formula()) {
                Some(series) => series.points.push(point),
                None => series.push(Series { label: row.formula().to_owned(), points: vec![point] }),
            }
        }
        series
    };
    let bars: Vec<Bar> = comparisons
        .iter()
        .filter(|row| !row.f16)
        .filter_map(|row| {
            let label = format!("{} {}", row.formula(), row.size);
            Some(Bar { label, value: row.wall.ratio.median, reference: row.source? })
        })
        .collect();
    Ok(vec![
        ("fused-products", plot::sweep("Square products, fused against unfused", "rows and columns", &series(true))?),
        ("fused-pointwise", plot::sweep("Pointwise chains, fused against unfused", "elements", &series(false))?),
        ("fused-sources", plot::bars("Fused against unfused, beside the source documents", &bars)?),
    ])
}
