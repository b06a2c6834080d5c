//! SVG plots: lines over sizes, bars beside references, the roofline. `figures` chooses their contents.

use std::error::Error;

use plotters::{
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

/// Labeled points.
#[derive(Clone, Debug)]
pub struct Series {
    /// Legend.
    pub label: String,
    /// Coordinates.
    pub points: Vec<(f64, f64)>,
    /// True if a line joins them.
    pub joined: bool,
}

/// Points over two linear axes; the caller takes logarithms.
#[derive(Clone, Debug)]
pub struct Chart<'a> {
    /// Heading.
    pub title: &'a str,
    /// Horizontal label: binary logarithms, labeled with powers of two.
    pub horizontal: &'a str,
    /// Vertical label.
    pub vertical: &'a str,
    /// True if vertical values are decimal logarithms.
    pub decades: bool,
    /// Series.
    pub series: &'a [Series],
    /// Black reference lines.
    pub references: &'a [Vec<(f64, f64)>],
}

/// A value with a reference.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Label.
    pub label: String,
    /// Value.
    pub value: f64,
    /// Reference, from a source document.
    pub reference: f64,
}

/// For print and any color vision (palette of Okabe and Ito).
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
const LEGEND_LINE: i32 = 22;

/// Lines and points over two axes.
pub fn chart(chart: &Chart<'_>) -> Result<String, Box<dyn Error>> {
    let finite = |points: &[(f64, f64)]| {
        points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect::<Vec<_>>()
    };
    let series: Vec<_> = chart.series.iter().map(|series| (series, finite(&series.points))).collect();
    let references: Vec<_> = chart.references.iter().map(|points| finite(points)).collect();
    let all = || series.iter().flat_map(|(_, points)| points).chain(references.iter().flatten());
    let least = |of: fn(&(f64, f64)) -> f64| all().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&(f64, f64)) -> f64| all().map(of).fold(f64::NEG_INFINITY, f64::max);
    // Axes need an extent even without distinct points.
    let [left, right, low, high] =
        [least(|point| point.0), most(|point| point.0), least(|point| point.1), most(|point| point.1)];
    let (left, right) = if left <= right { (left - 0.5, right + 0.5) } else { (0.0, 1.0) };
    let (low, high) = match (low <= high, chart.decades) {
        (false, _) => (0.0, 1.0),
        (true, true) => (low.floor(), (high + 0.1).max(low.floor() + 1.0)),
        (true, false) => (0.0, high.max(1e-9) * 1.15),
    };
    let height = 480.max(80 + LEGEND_LINE * series.len() as i32) as u32;

    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (1000, height)).into_drawing_area();
        root.fill(&WHITE)?;
        // A legend in its own strip hides no line.
        let (left_part, legend) = root.split_horizontally(720);
        let mut plane = ChartBuilder::on(&left_part)
            .caption(chart.title, (FONT, 18))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(left..right, low..high)?;
        plane
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .x_labels((right - left).ceil() as usize + 1)
            .x_label_formatter(&|x| power_label(*x))
            .y_label_formatter(&|y| if chart.decades { decade_label(*y) } else { plain_label(*y, high) })
            .x_desc(chart.horizontal)
            .y_desc(chart.vertical)
            .draw()?;
        for points in references {
            plane.draw_series(LineSeries::new(points, BLACK))?;
        }
        for (index, ((series, points), color)) in (0..).zip(series.iter().zip(COLORS.into_iter().cycle())) {
            // Beyond six, colors repeat: points grow, and every other time are hollow.
            let round = index / COLORS.len() as i32;
            let (style, radius) = (color.stroke_width(2), 3 + round);
            let dot = if round % 2 == 1 { style } else { color.filled() };
            if series.joined {
                plane.draw_series(LineSeries::new(points.iter().copied(), style))?;
            }
            plane.draw_series(points.iter().map(|&point| Circle::new(point, radius, dot)))?;
            let middle = 56 + LEGEND_LINE * index;
            if series.joined {
                legend.draw(&PathElement::new([(8, middle), (28, middle)], style))?;
            }
            legend.draw(&Circle::new((18, middle), radius, dot))?;
            let text = TextStyle::from((FONT, 13)).pos(Pos::new(HPos::Left, VPos::Center));
            legend.draw(&Text::new(series.label.as_str(), (36, middle), text))?;
        }
        root.present()?;
    }
    Ok(svg)
}

/// `2^10` for 10.
fn power_label(exponent: f64) -> String {
    let whole = exponent.round();
    if (exponent - whole).abs() < 1e-6 { format!("2^{whole}") } else { String::new() }
}

/// `0.01`, `0.1`, `1`, ….
fn decade_label(exponent: f64) -> String {
    let whole = exponent.round();
    if (exponent - whole).abs() < 1e-6 { format!("{}", 10f64.powf(whole)) } else { String::new() }
}

fn plain_label(value: f64, largest: f64) -> String {
    if largest >= 20.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// Bars of ratios, each with a mark at its reference.
pub fn bars(title: &str, legend: &str, bars: &[Bar]) -> Result<String, Box<dyn Error>> {
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
            let values = format!("{:.2} (mark {:.2})", bar.value, bar.reference);
            root.draw(&Text::new(values, end, text(13, HPos::Left, VPos::Center)))?;
        }
        root.draw(&PathElement::new([(x(1.0), TOP), (x(1.0), bottom)], BLACK))?;
        root.draw(&Text::new(legend, (WIDTH as i32 / 2, bottom + 14), text(13, HPos::Center, VPos::Top)))?;
        root.present()?;
    }
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(label: &str, points: &[(f64, f64)]) -> Series {
        Series { label: label.to_owned(), points: points.to_owned(), joined: true }
    }

    fn draw(series: &[Series], decades: bool) -> String {
        let (horizontal, vertical) = ("sizes", "rates");
        chart(&Chart { title: "title", horizontal, vertical, decades, series, references: &[] }).unwrap()
    }

    #[test]
    fn plots_need_no_data() {
        let cases: [&[Series]; 4] = [
            &[],
            &[series("none", &[])],
            &[series("one", &[(10.0, 2.0)])],
            &[series("bad", &[(f64::NEG_INFINITY, 1.0), (4.0, f64::NAN), (4.0, f64::INFINITY)])],
        ];
        for (series, decades) in cases.iter().flat_map(|series| [(series, false), (series, true)]) {
            let svg = draw(series, decades);
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{series:?}: {svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{series:?}: {svg}");
        }
        let bar = |value| Bar { label: "a < b".to_owned(), value, reference: 2.0 };
        for list in [vec![], vec![bar(0.0)], vec![bar(f64::NAN)], vec![bar(3.0); 40]] {
            let svg = bars("title", "legend", &list).unwrap();
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{list:?}: {svg}");
            assert!(!svg.contains("a < b"), "text must be escaped: {svg}");
        }
    }

    #[test]
    fn a_plot_shows_every_series_and_bar() {
        let both = [series("up", &[(4.0, 1.0), (5.0, 2.0)]), series("down", &[(4.0, 3.0)])];
        let svg = draw(&both, false);
        for text in ["up", "down", "2^4", "2^5", "sizes", "rates", "title"] {
            assert!(svg.contains(text), "no `{text}` in {svg}");
        }
        let svg = draw(&both, true);
        assert!(svg.contains("100") && svg.contains("1000"), "{svg}");
        let list = [Bar { label: "relu(a + b)".to_owned(), value: 2.5, reference: 2.13 }];
        let svg = bars("title", "legend", &list).unwrap();
        assert!(svg.contains("relu(a + b)") && svg.contains("2.50") && svg.contains("legend"), "{svg}");
    }
}
