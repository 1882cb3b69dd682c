//! Curves, as SVG.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use std::error::Error;
use std::path::Path;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// How a curve is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    Solid,
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

/// One chart: its axes are named, that of the values is logarithmic.
pub struct Chart<'a> {
    pub x: &'a str,
    pub unit: &'a str,
    /// Whether the other axis is logarithmic too; it begins at 0 otherwise.
    pub logarithmic: bool,
    pub curves: Vec<Curve>,
}

/// Charts side by side.
///
/// # Errors
/// When the file cannot be written.
pub fn figure<const N: usize>(
    path: &Path,
    title: &str,
    charts: [Chart<'_>; N],
) -> Result<(), Box<dyn Error>> {
    let area = SVGBackend::new(path, (700 * N as u32, 620)).into_drawing_area();
    area.fill(&WHITE)?;
    let area = area.titled(title, ("sans-serif", if N == 1 { 17 } else { 22 }))?;
    for (area, chart) in area.split_evenly((1, N)).iter().zip(charts) {
        let points = || chart.curves.iter().flat_map(|curve| &curve.points);
        let right = points().fold(1.0, |m: f64, (n, _)| m.max(*n));
        if chart.logarithmic {
            let left = points().fold(f64::MAX, |m, (n, _)| m.min(*n));
            draw(area, (0.9 * left..1.1 * right).log_scale(), &chart)?;
        } else {
            draw(area, 0.0..right, &chart)?;
        }
    }
    area.present()?;
    Ok(())
}

fn draw<X>(area: &Area<'_>, x: X, chart: &Chart<'_>) -> Result<(), Box<dyn Error>>
where
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
{
    let positive = |x: f64| x.max(f64::MIN_POSITIVE);
    let values = || chart.curves.iter().flat_map(|curve| &curve.points).map(|(_, x)| positive(*x));
    let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN_POSITIVE, f64::max));
    // For the names of the curves, below them.
    let room = if chart.logarithmic { 0.07 } else { 0.7 };
    let mut context = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(82)
        .build_cartesian_2d(x, (room * low..2.0 * high).log_scale())?;
    context
        .configure_mesh()
        .x_desc(chart.x)
        .y_desc(chart.unit)
        .y_label_formatter(&|x| if (0.1..1e5).contains(x) { format!("{x}") } else { format!("{x:.0e}") })
        .x_label_formatter(&|x| format!("{}", (1e6 * x).round() / 1e6))
        .x_labels(6)
        .max_light_lines(1)
        .label_style(("sans-serif", 15))
        .draw()?;
    for curve in &chart.curves {
        let style = match curve.stroke {
            Stroke::Limit => BLACK.stroke_width(3),
            _ => Palette99::pick(curve.color).stroke_width(2),
        };
        let points = curve.points.iter().map(|(n, x)| (*n, positive(*x)));
        let drawn = match curve.stroke {
            Stroke::Dashed => context.draw_series(DashedLineSeries::new(points, 6, 5, style))?,
            _ => context.draw_series(LineSeries::new(points, style))?,
        };
        drawn.label(&curve.name).legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], style));
        if curve.stroke != Stroke::Limit {
            let marks = curve.points.iter().map(|(n, x)| Circle::new((*n, positive(*x)), 3, style.filled()));
            context.draw_series(marks)?;
        }
    }
    context
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .label_font(("sans-serif", 13))
        .draw()?;
    Ok(())
}
