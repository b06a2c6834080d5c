//! Plots: fused against unfused, the roofline, rates over sizes.

use std::error::Error;

use crate::{
    bars::Bars,
    browsers,
    line::{COMPILED, COPY, EAGER, OURS, Roof, Time},
    plot::{self, Bar, Chart, Series},
    results::Results,
};

/// A named plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Suffix of the file's name.
    pub name: &'static str,
    /// Alternative text.
    pub title: &'static str,
    /// SVG document.
    pub svg: String,
}

/// All plots with enough results.
pub fn all(results: &Results, bars: &Bars) -> Result<Vec<Figure>, Box<dyn Error>> {
    if results.is_of_a_page() {
        return page(results, bars);
    }
    let mut figures = pairs(results, bars)?;
    figures.extend(roofline(results)?);
    for sweep in &SWEEPS {
        figures.extend(sweep.draw(results)?);
    }
    Ok(figures)
}

fn page(results: &Results, bars: &Bars) -> Result<Vec<Figure>, Box<dyn Error>> {
    let list: Vec<Bar> = browsers::verdicts(results, &bars.browsers)
        .into_iter()
        .filter_map(|verdict| {
            let label = format!("{} {}", verdict.case, verdict.size);
            Some(Bar { label: label.trim_end().to_owned(), value: verdict.ratio?, reference: verdict.bar })
        })
        .collect();
    let title = "In the same browser: the better rival's time over ours";
    let legend = "bar: time or bytes of a rival / ours; line at 1; mark: what is wanted";
    Ok(vec![Figure { name: "rivals", title, svg: plot::bars(title, legend, &list)? }])
}

fn pairs(results: &Results, bars: &Bars) -> Result<Vec<Figure>, Box<dyn Error>> {
    if results.pairs.is_empty() {
        return Ok(vec![]);
    }
    let over_sizes = |product: bool, title, horizontal| {
        let pairs = results.pairs.iter().filter(|pair| pair.product == product);
        let points = pairs.filter_map(|pair| Some((pair.name(), ((pair.extent? as f64).log2(), pair.wall.ratio))));
        let series = grouped(points, true);
        let ends = series.iter().flat_map(|series| &series.points).map(|point| point.0);
        let (left, right) = (ends.clone().fold(f64::INFINITY, f64::min), ends.fold(f64::NEG_INFINITY, f64::max));
        let references = [vec![(left, 1.0), (right, 1.0)]];
        let vertical = "wall time unfused / fused";
        plot::chart(&Chart { title, horizontal, vertical, decades: false, series: &series, references: &references })
    };
    let products = "Square products, fused against unfused";
    let chains = "Pointwise chains, fused against unfused";
    let sources = "Fused against unfused, beside the source documents";
    let stated = results.pairs.iter().filter_map(|pair| {
        let reference = bars.source_ratio(&pair.case, &pair.dtype, &pair.size)?;
        Some(Bar { label: format!("{} {}", pair.name(), pair.size), value: pair.wall.ratio, reference })
    });
    let stated: Vec<Bar> = stated.collect();
    let legend = "bar: wall time unfused / fused; line at 1; mark: the ratio of the source document";
    Ok(vec![
        Figure { name: "fused-products", title: products, svg: over_sizes(true, products, "rows and columns")? },
        Figure { name: "fused-pointwise", title: chains, svg: over_sizes(false, chains, "elements")? },
        Figure { name: "fused-sources", title: sources, svg: plot::bars(sources, legend, &stated)? },
    ])
}

fn grouped(points: impl Iterator<Item = (String, (f64, f64))>, joined: bool) -> Vec<Series> {
    let mut all: Vec<Series> = vec![];
    for (label, point) in points {
        match all.iter_mut().find(|series| series.label == label) {
            Some(series) => series.points.push(point),
            None => all.push(Series { label, points: vec![point], joined }),
        }
    }
    all.iter_mut().for_each(|series| series.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    all
}

fn roofline(results: &Results) -> Result<Option<Figure>, Box<dyn Error>> {
    let Some(roof) = results.roof() else { return Ok(None) };
    let ours = results.picked(OURS).into_iter().filter(|time| time.flops > 0.0 && time.bytes > 0.0);
    let points = ours.map(|time| (time.name(), ((time.flops / time.bytes).log2(), time.teraflops().log10())));
    let series = grouped(points, false);
    if series.is_empty() {
        return Ok(None);
    }
    let places = || series.iter().flat_map(|series| series.points.iter().map(|point| point.0));
    let left = places().fold(f64::INFINITY, f64::min);
    let title = "Roofline: arithmetic rate over arithmetic intensity";
    let references: Vec<_> =
        ["f32", "f16"].map(|dtype| below(&roof, dtype, left, places().fold(left, f64::max))).into();
    let svg = plot::chart(&Chart {
        title,
        horizontal: "operations per byte",
        vertical: "TFLOP/s; lines: by hand, f32 and (above) matrices of f16",
        decades: true,
        series: &series,
        references: &references,
    })?;
    Ok(Some(Figure { name: "roofline", title, svg }))
}

/// Bandwidth, a corner, the arithmetic rate.
fn below(roof: &Roof, dtype: &str, left: f64, right: f64) -> Vec<(f64, f64)> {
    let rate = roof.flops_per_s(dtype) / 1e12;
    let at = |intensity: f64| (intensity.exp2() * roof.copy_gb_per_s / 1e3).min(rate).log10();
    let corner = (rate * 1e3 / roof.copy_gb_per_s).log2().clamp(left, right.max(left));
    [left, corner, right].map(|intensity| (intensity, at(intensity))).into()
}

struct Sweep {
    name: &'static str,
    title: &'static str,
    cases: &'static [&'static str],
    horizontal: &'static str,
    rate: Rate,
    extent: fn(&str) -> Option<f64>,
}

#[derive(Clone, Copy)]
enum Rate {
    Teraflops,
    Gigabytes,
}

const SWEEPS: [Sweep; 4] = [
    Sweep {
        name: "sweep-products",
        title: "Square products by size",
        cases: &["relu(matmul + b + r)", "matmul(gelu(x)) + b"],
        horizontal: "rows, columns and depth",
        rate: Rate::Teraflops,
        extent: square,
    },
    Sweep {
        name: "sweep-pointwise",
        title: "Pointwise chains by size",
        cases: &[COPY, "(a + b) * c", "relu(a + b)", "sigmoid(a * b + c)"],
        horizontal: "elements",
        rate: Rate::Gigabytes,
        extent: power,
    },
    Sweep {
        name: "sweep-rows",
        title: "Rows by length",
        cases: &["softmax", "gelu(layer_norm)"],
        horizontal: "length of a row",
        rate: Rate::Gigabytes,
        extent: columns,
    },
    Sweep {
        name: "sweep-attention",
        title: "Attention by length",
        cases: &["attention", "causal attention"],
        horizontal: "queries and keys",
        rate: Rate::Teraflops,
        extent: length,
    },
];

/// Least sizes for a line.
const FEWEST: usize = 4;

impl Sweep {
    fn draw(&self, results: &Results) -> Result<Option<Figure>, Box<dyn Error>> {
        let of = |way: &str| {
            let times = results.picked(way).into_iter().filter(|time| self.cases.contains(&&*time.case));
            let label = |time: &Time| if way == OURS { time.name() } else { format!("{} ({way})", time.name()) };
            let points = times.filter_map(|time| Some((label(&time), ((self.extent)(&time.size)?, self.rate(&time)))));
            grouped(points, true).into_iter().filter(|series| series.points.len() >= FEWEST).collect::<Vec<_>>()
        };
        let ours = of(OURS);
        if ours.is_empty() {
            return Ok(None);
        }
        // Only the table has Burn's times.
        let series = [ours, of(COMPILED), of(EAGER)].concat();
        let vertical = match self.rate {
            Rate::Teraflops => "TFLOP/s",
            Rate::Gigabytes => "10⁹ bytes per second",
        };
        let (title, horizontal) = (self.title, self.horizontal);
        let chart = Chart { title, horizontal, vertical, decades: true, series: &series, references: &[] };
        Ok(Some(Figure { name: self.name, title, svg: plot::chart(&chart)? }))
    }

    fn rate(&self, time: &Time) -> f64 {
        match self.rate {
            Rate::Teraflops => time.teraflops().log10(),
            Rate::Gigabytes => time.gigabytes().log10(),
        }
    }
}

fn extents(size: &str) -> Option<Vec<f64>> {
    size.split('x').map(|extent| extent.parse().ok()).collect()
}

/// Binary logarithm of the extent.
fn square(size: &str) -> Option<f64> {
    let extents = extents(size)?;
    (extents.len() == 3 && extents.iter().all(|&extent| extent == extents[0])).then(|| extents[0].log2())
}

/// The exponent of `2^20`.
fn power(size: &str) -> Option<f64> {
    size.strip_prefix("2^")?.parse().ok()
}

/// Binary logarithm of the columns.
fn columns(size: &str) -> Option<f64> {
    let extents = extents(size)?;
    (extents.len() == 2).then(|| extents[1].log2())
}

/// Binary logarithm of the keys.
fn length(size: &str) -> Option<f64> {
    let extents = extents(size)?;
    (extents.len() == 4 && extents[1] == extents[2]).then(|| extents[2].log2())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{line::Line, results::tests::time};

    #[test]
    fn sizes_have_one_extent_to_sweep_over() {
        assert_eq!((square("8x8x8"), square("8x8x16"), square("8x8")), (Some(3.0), None, None));
        assert_eq!((power("2^20"), power("20")), (Some(20.0), None));
        assert_eq!((columns("4096x64"), length("32x16x16x64"), length("32x1x16x64")), (Some(6.0), Some(4.0), None));
    }

    #[test]
    fn roofs_have_a_corner_where_both_rates_meet() {
        let roof = Roof { copy_gb_per_s: 1000.0, dispatch_us: 1.0, f32_tflops: 16.0, matrices_tflops: None };
        let line = below(&roof, "f32", 0.0, 10.0);
        assert_eq!(line[0], (0.0, 0.0));
        assert_eq!(line[1].0, 4.0);
        assert!(line[1..].iter().all(|point| (point.1 - 16f64.log10()).abs() < 1e-12), "{line:?}");
    }

    #[test]
    fn plots_appear_with_what_they_need() {
        let bars = Bars::load().unwrap();
        let mut results = Results::default();
        let names =
            |results: &Results| all(results, &bars).unwrap().into_iter().map(|figure| figure.name).collect::<Vec<_>>();
        assert!(names(&results).is_empty());
        for size in ["16x16x16", "32x32x32", "64x64x64"] {
            results.add(Line::Time(time(OURS, ["relu(matmul + b + r)", "f32", size], 2.0)));
        }
        assert!(names(&results).is_empty());
        results.add(Line::Roof(Roof { copy_gb_per_s: 1.0, dispatch_us: 1.0, f32_tflops: 1.0, matrices_tflops: None }));
        results.add(Line::Time(time(OURS, ["relu(matmul + b + r)", "f32", "128x128x128"], 2.0)));
        assert_eq!(names(&results), ["roofline", "sweep-products"]);
    }
}
