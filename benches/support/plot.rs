//! Curves, as SVG.

use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;
use std::path::Path;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// How a curve is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    Solid,
    /// That of this library among peers.
    Bold,
    Dashed,
    /// That of a limit: black, thick and without points.
    Limit,
}

pub struct Curve {
    pub name: String,
    /// Position on the axis, and value, which is positive.
    pub points: Vec<(f64, f64)>,
    pub stroke: Stroke,
    /// Curves of one color belong together.
    pub color: usize,
}

/// Dark enough on white.
const COLORS: [RGBColor; 12] = [
    RGBColor(214, 39, 40),
    RGBColor(44, 160, 44),
    RGBColor(148, 103, 189),
    RGBColor(31, 119, 180),
    RGBColor(255, 127, 14),
    RGBColor(140, 86, 75),
    RGBColor(127, 127, 127),
    RGBColor(23, 190, 207),
    RGBColor(200, 20, 110),
    RGBColor(227, 119, 194),
    RGBColor(0, 0, 128),
    RGBColor(150, 150, 30),
];

/// Pixels right of a chart, for the names of its curves.
const NAMES: i32 = 200;

/// One chart: its axes are named, that of the values is logarithmic.
pub struct Chart<'a> {
    pub x: &'a str,
    pub unit: &'a str,
    /// Whether the other axis is logarithmic too, with powers of 2 on it; it begins at 0 otherwise.
    pub logarithmic: bool,
    pub curves: Vec<Curve>,
}

/// Charts side by side, on white, below the lines of the title.
///
/// # Errors
/// When the text cannot be drawn.
pub fn svg<const N: usize>(title: &str, charts: [Chart<'_>; N]) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    onto(SVGBackend::with_string(&mut text, (760 * N as u32, 440)).into_drawing_area(), title, charts)?;
    Ok(text)
}

fn onto<const N: usize>(
    mut area: Area<'_>,
    title: &str,
    charts: [Chart<'_>; N],
) -> Result<(), Box<dyn Error>> {
    area.fill(&WHITE)?;
    for line in title.lines() {
        area = area.titled(line, ("sans-serif", 16))?;
    }
    for (area, chart) in area.split_evenly((1, N)).iter().zip(charts) {
        draw(area, &chart)?;
    }
    Ok(area.present()?)
}

/// The same in a file.
///
/// # Errors
/// When the file cannot be written.
pub fn figure<const N: usize>(
    path: &Path,
    title: &str,
    charts: [Chart<'_>; N],
) -> Result<(), Box<dyn Error>> {
    Ok(std::fs::write(path, svg(title, charts)?)?)
}

fn draw(area: &Area<'_>, chart: &Chart<'_>) -> Result<(), Box<dyn Error>> {
    let positive = |x: f64| x.max(f64::MIN_POSITIVE);
    let place = |n: f64| if chart.logarithmic { n.log2() } else { n };
    let points = || chart.curves.iter().flat_map(|curve| &curve.points);
    let (low, high) = points()
        .fold((f64::MAX, f64::MIN_POSITIVE), |(a, b), (_, x)| (a.min(positive(*x)), b.max(positive(*x))));
    let (left, right) =
        points().fold((f64::MAX, f64::MIN), |(a, b), (n, _)| (a.min(place(*n)), b.max(place(*n))));
    let places = if chart.logarithmic { left - 0.1..right + 0.1 } else { 0.0..right };
    let labels = if chart.logarithmic { ((right - left) as usize + 2).min(9) } else { 6 };
    let mut context = ChartBuilder::on(area)
        .margin(12)
        .margin_right(NAMES)
        .x_label_area_size(42)
        .y_label_area_size(82)
        .build_cartesian_2d(places, (0.7 * low..1.5 * high).log_scale())?;
    let number = |n: f64| if chart.logarithmic { n.exp2().round() } else { (1e6 * n).round() / 1e6 };
    context
        .configure_mesh()
        .x_desc(chart.x)
        .y_desc(chart.unit)
        .y_label_formatter(&|x| if (0.1..1e5).contains(x) { format!("{x}") } else { format!("{x:.0e}") })
        .x_label_formatter(&|n| number(*n).to_string())
        .x_labels(labels)
        .max_light_lines(1)
        .label_style(("sans-serif", 14))
        .draw()?;
    for (at, curve) in chart.curves.iter().enumerate() {
        let style = match curve.stroke {
            Stroke::Limit => BLACK.stroke_width(3),
            Stroke::Bold => COLORS[curve.color % COLORS.len()].stroke_width(4),
            _ => COLORS[curve.color % COLORS.len()].stroke_width(2),
        };
        let points = || curve.points.iter().map(|(n, x)| (place(*n), positive(*x)));
        match curve.stroke {
            Stroke::Dashed => context.draw_series(DashedLineSeries::new(points(), 6, 5, style))?,
            _ => context.draw_series(LineSeries::new(points(), style))?,
        };
        if curve.stroke != Stroke::Limit {
            context.draw_series(points().map(|point| Circle::new(point, 3, style.filled())))?;
        }
        let (x, y) = (area.dim_in_pixel().0 as i32 - NAMES + 12, 24 + 22 * at as i32);
        area.draw(&PathElement::new([(x, y), (x + 22, y)], style))?;
        area.draw(&Text::new(curve.name.clone(), (x + 28, y - 8), ("sans-serif", 14)))?;
    }
    Ok(())
}
