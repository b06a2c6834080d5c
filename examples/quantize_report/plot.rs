//! Plot: 1 - cosine of every bit width and scheme, beside the limits.

use std::collections::BTreeMap;

use anyhow::anyhow;
use fuse_quantize::Packing;
use plotters::{
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use super::{measure::Outcome, report::bar};

/// For print and any color vision (palette of Okabe and Ito).
const COLORS: [RGBColor; 5] =
    [RGBColor(0, 114, 178), RGBColor(86, 180, 233), RGBColor(230, 159, 0), RGBColor(213, 94, 0), RGBColor(0, 158, 115)];

const GRID: RGBColor = RGBColor(221, 221, 221);
const FONT: &str = "sans-serif";
const LEGEND_LINE: i32 = 22;

const LEAST: f64 = 1e-6;

/// Leaves out cases of a quantized word table.
pub(crate) fn cosines(outcomes: &[Outcome]) -> anyhow::Result<String> {
    let outcomes: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.table.is_none()).collect();
    let mut svg = String::new();
    draw(&outcomes, &mut svg).map_err(|error| anyhow!("cannot draw the plot: {error}"))?;
    Ok(svg)
}

fn draw(outcomes: &[&Outcome], svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let mut methods: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for (index, packing) in Packing::ALL.into_iter().enumerate() {
        let of_width: Vec<_> = outcomes.iter().filter(|outcome| outcome.case.packing == packing).collect();
        for (place, outcome) in of_width.iter().enumerate() {
            let aside = (place as f64 + 0.5) / of_width.len() as f64 - 0.5;
            let point = (index as f64 + 0.7 * aside, (1.0 - outcome.mean).max(LEAST).log10());
            methods.entry(outcome.case.method_name()).or_default().push(point);
        }
    }
    let root = SVGBackend::with_string(svg, (900, 460)).into_drawing_area();
    root.fill(&WHITE)?;
    let (left, legend) = root.split_horizontally(690);
    let mut plane = ChartBuilder::on(&left)
        .caption("How far embeddings of all-MiniLM-L6-v2 turn", (FONT, 18))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(-0.6..4.6, LEAST.log10()..0.1)?;
    plane
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .x_labels(5)
        .x_label_formatter(&|x| width_label(*x))
        .y_label_formatter(&|y| format!("{}", 10f64.powf(y.round())))
        .x_desc("bits of a weight")
        .y_desc("1 - mean cosine with embeddings of f32 weights")
        .draw()?;
    for (index, packing) in Packing::ALL.into_iter().enumerate() {
        let (middle, height) = (index as f64, (1.0 - bar(packing)).log10());
        plane.draw_series([PathElement::new(
            [(middle - 0.45, height), (middle + 0.45, height)],
            BLACK.stroke_width(2),
        )])?;
    }
    let text = TextStyle::from((FONT, 13)).pos(Pos::new(HPos::Left, VPos::Center));
    for (index, ((name, points), color)) in (0..).zip(methods.iter().zip(COLORS.into_iter().cycle())) {
        plane.draw_series(points.iter().map(|&point| Circle::new(point, 4, color.filled())))?;
        let middle = 56 + LEGEND_LINE * index;
        legend.draw(&Circle::new((18, middle), 4, color.filled()))?;
        legend.draw(&Text::new(*name, (36, middle), text.clone()))?;
    }
    let middle = 56 + LEGEND_LINE * methods.len() as i32;
    legend.draw(&PathElement::new([(8, middle), (28, middle)], BLACK.stroke_width(2)))?;
    legend.draw(&Text::new("what is asked for", (36, middle), text))?;
    root.present()?;
    Ok(())
}

fn width_label(place: f64) -> String {
    let index = place.round();
    let near = (place - index).abs() < 1e-6 && index >= 0.0;
    near.then(|| Packing::ALL.get(index as usize)).flatten().map_or(String::new(), |packing| packing.bits().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_needs_no_data() {
        let svg = cosines(&[]).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("bits of a weight"), "{svg}");
    }
}
