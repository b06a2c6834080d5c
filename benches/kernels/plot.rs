//! Plots as SVG documents: ratios over sizes, and ratios beside those that others state.

use std::error::Error;

use plotters::{
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

/// Ratios of one expression over sizes.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    /// The expression.
    pub(crate) label: String,
    /// Binary logarithm of the size, and the ratio.
    pub(crate) points: Vec<(f64, f64)>,
}

/// One ratio, and what it is compared with.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    /// The expression and its size.
    pub(crate) label: String,
    /// The ratio.
    pub(crate) value: f64,
    /// The ratio that is stated elsewhere.
    pub(crate) reference: f64,
}

/// Told apart in print and with any color vision (the palette of Okabe and Ito).
const COLORS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

const GRID: RGBColor = RGBColor(221, 221, 221);
const FONT: &str = "sans-serif";

/// Lines of ratios over sizes, with a line at 1 (no gain).
pub(crate) fn sweep(title: &str, sizes: &str, series: &[Series]) -> Result<String, Box<dyn Error>> {
    let finite = |series: &Series| {
        let points = series.points.iter().copied();
        points.filter(|(x, y)| x.is_finite() && y.is_finite()).collect::<Vec<_>>()
    };
    let series: Vec<_> = series.iter().map(|series| (&series.label, finite(series))).collect();
    let points = || series.iter().flat_map(|(_, points)| points);
    let left = points().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let right = points().map(|point| point.0).fold(f64::NEG_INFINITY, f64::max);
    // Without points, or with all at one size, an axis still needs an extent.
    let (left, right) = if left <= right { (left - 0.5, right + 0.5) } else { (0.0, 1.0) };
    let top = points().map(|point| point.1).fold(1.0, f64::max) * 1.15;

    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (960, 480)).into_drawing_area();
        root.fill(&WHITE)?;
        // The legend has a strip of its own, where it hides no line.
        let (left_part, legend) = root.split_horizontally(720);
        let mut chart = ChartBuilder::on(&left_part)
            .caption(title, (FONT, 18))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(56)
            .build_cartesian_2d(left..right, 0.0..top)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .x_labels((right - left).ceil() as usize + 1)
            .x_label_formatter(&|x| power_label(*x))
            .x_desc(sizes)
            .y_desc("wall time unfused / fused")
            .draw()?;
        chart.draw_series(LineSeries::new([(left, 1.0), (right, 1.0)], BLACK))?;
        for (row, ((label, points), color)) in (0..).zip(series.iter().zip(COLORS.into_iter().cycle())) {
            let style = color.stroke_width(2);
            chart.draw_series(LineSeries::new(points.iter().copied(), style))?;
            chart.draw_series(points.iter().map(|&point| Circle::new(point, 3, color.filled())))?;
            let middle = 56 + 22 * row;
            legend.draw(&PathElement::new([(8, middle), (28, middle)], style))?;
            let text = TextStyle::from((FONT, 13)).pos(Pos::new(HPos::Left, VPos::Center));
            legend.draw(&Text::new(label.as_str(), (36, middle), text))?;
        }
        root.present()?;
    }
    Ok(svg)
}

/// `2^10` for 10; sizes between powers have no label.
fn power_label(exponent: f64) -> String {
    let whole = exponent.round();
    if (exponent - whole).abs() < 1e-6 { format!("2^{whole}") } else { String::new() }
}

/// Horizontal bars of ratios, each with a mark where the ratio that is stated elsewhere would end.
pub(crate) fn bars(title: &str, bars: &[Bar]) -> Result<String, Box<dyn Error>> {
    const WIDTH: u32 = 860;
    const BAR: i32 = 24;
    const TOP: i32 = 48;
    const LEFT: i32 = 290;
    const RIGHT: i32 = WIDTH as i32 - 140;
    let bars: Vec<&Bar> = bars.iter().filter(|bar| bar.value.is_finite() && bar.reference.is_finite()).collect();
    let largest = bars.iter().flat_map(|bar| [bar.value, bar.reference]).fold(1.0, f64::max);
    let x = |ratio: f64| LEFT + (ratio.max(0.0) / largest * f64::from(RIGHT - LEFT)).round() as i32;
    let bottom = TOP + BAR * bars.len() as i32;

    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, (bottom + 44) as u32)).into_drawing_area();
        root.fill(&WHITE)?;
        let text = |size: i32, h, v| TextStyle::from((FONT, size)).pos(Pos::new(h, v));
        let middle = text(18, HPos::Center, VPos::Top);
        root.draw(&Text::new(title, (WIDTH as i32 / 2, 12), middle))?;
        for (index, bar) in bars.iter().enumerate() {
            let (top, center) = (TOP + BAR * index as i32, TOP + BAR * index as i32 + BAR / 2);
            let filled = COLORS[0].filled();
            root.draw(&Rectangle::new([(LEFT, top + 3), (x(bar.value), top + BAR - 3)], filled))?;
            let mark = [(x(bar.reference), top + 1), (x(bar.reference), top + BAR - 1)];
            root.draw(&PathElement::new(mark, COLORS[1].stroke_width(3)))?;
            root.draw(&Text::new(bar.label.as_str(), (LEFT - 8, center), text(13, HPos::Right, VPos::Center)))?;
            let end = (x(bar.value.max(bar.reference)) + 8, center);
            root.draw(&Text::new(
                format!("{:.2} (source {:.2})", bar.value, bar.reference),
                end,
                text(13, HPos::Left, VPos::Center),
            ))?;
        }
        root.draw(&PathElement::new([(x(1.0), TOP), (x(1.0), bottom)], BLACK))?;
        let legend = "bar: wall time unfused / fused; line at 1; mark: the ratio of the source document";
        root.draw(&Text::new(legend, (WIDTH as i32 / 2, bottom + 14), text(13, HPos::Center, VPos::Top)))?;
        root.present()?;
    }
    Ok(svg)
}
