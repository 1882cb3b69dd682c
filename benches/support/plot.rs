//! Curves, as SVG.

use plotters::prelude::*;
use std::error::Error;
use std::path::Path;

pub struct Curve {
    pub name: String,
    /// Place on the axis and value, which is positive.
    pub points: Vec<(f64, f64)>,
    pub dashed: bool,
    /// Curves of one color belong together.
    pub color: usize,
}

/// One chart: its axes are named, that of the values is logarithmic.
pub struct Chart<'a> {
    pub x: &'a str,
    pub unit: &'a str,
    pub curves: Vec<Curve>,
}

/// Two charts side by side.
pub fn figure(path: &Path, title: &str, charts: [Chart<'_>; 2]) -> Result<(), Box<dyn Error>> {
    let area = SVGBackend::new(path, (1400, 620)).into_drawing_area();
    area.fill(&WHITE)?;
    let area = area.titled(title, ("sans-serif", 22))?;
    for (area, Chart { x, unit, curves }) in area.split_evenly((1, 2)).iter().zip(charts) {
        let points = || curves.iter().flat_map(|curve| &curve.points);
        let right = points().fold(1.0, |m: f64, (n, _)| m.max(*n));
        let positive = |x: f64| x.max(f64::MIN_POSITIVE);
        let low = points().fold(f64::MAX, |m, (_, x)| m.min(positive(*x)));
        let high = points().fold(f64::MIN_POSITIVE, |m, (_, x)| m.max(*x));
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .x_label_area_size(42)
            .y_label_area_size(82)
            .build_cartesian_2d(0.0..right, (0.7 * low..2.0 * high).log_scale())?;
        chart
            .configure_mesh()
            .x_desc(x)
            .y_desc(unit)
            .y_label_formatter(&|x| format!("{x:.0e}"))
            .label_style(("sans-serif", 15))
            .draw()?;
        for curve in &curves {
            let style = Palette99::pick(curve.color).stroke_width(2);
            let points = curve.points.iter().map(|(n, x)| (*n, positive(*x)));
            let drawn = if curve.dashed {
                chart.draw_series(DashedLineSeries::new(points, 6, 5, style))?
            } else {
                chart.draw_series(LineSeries::new(points, style))?
            };
            let marks = curve.points.iter().map(|(n, x)| Circle::new((*n, positive(*x)), 3, style.filled()));
            drawn.label(&curve.name).legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], style));
            chart.draw_series(marks)?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .label_font(("sans-serif", 13))
            .draw()?;
    }
    area.present()?;
    Ok(())
}
