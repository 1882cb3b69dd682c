//! The output of an experiment: a line a cell, a CSV, an SVG.

use crate::plan::{BASE, Experiment, Quantity, Type};
use crate::run::Row;
use cholupdate_bench::plot::{Chart, Curve, Stroke, figure};
use std::error::Error;
use std::fs;
use std::path::Path;

/// A quantity of a row, if it has one.
fn quantity(which: Quantity, rows: &[Row], row: &Row) -> Option<f64> {
    let speedup = || {
        let base = rows.iter().find(|base| base.cell.series == BASE && base.cell.order == row.cell.order)?;
        Some(base.mean / row.mean)
    };
    match which {
        Quantity::Seconds => Some(row.mean),
        Quantity::Speedup => speedup(),
        Quantity::Efficiency => speedup().map(|speedup| speedup / row.cell.x as f64),
        Quantity::Deviation => Some(row.deviation),
    }
}

fn name_of(which: Quantity) -> &'static str {
    match which {
        Quantity::Seconds => "seconds",
        Quantity::Speedup => "speedup",
        Quantity::Efficiency => "efficiency",
        Quantity::Deviation => "max deviation",
    }
}

pub fn report(
    out: &Path,
    experiment: &Experiment,
    rows: &[Row],
    about: &[String],
) -> Result<(), Box<dyn Error>> {
    let Experiment { name, title, axis, .. } = *experiment;
    let scalar = if experiment.scalar == Type::F32 { "f32" } else { "f64" };
    let on_a_line = about.join("; ");
    println!("{title} ({scalar}; {on_a_line})");
    let mut csv = format!("# {title}; {scalar}; {on_a_line}\n");
    csv += "series,x,n,mean_seconds,standard_error,repetitions,speedup,max_deviation\n";
    for row in rows {
        let speedup = quantity(Quantity::Speedup, rows, row).map_or(String::new(), |x| format!("{x:.3}"));
        let Row { cell, mean, error, repetitions, deviation, .. } = row;
        println!(
            "{name} {:<32} {axis} {:>5}, n {:>5}: {:>10.3} ms ± {:>7.3}, speedup {speedup:>7}, deviation {deviation:.1e}",
            cell.series,
            cell.x,
            cell.order,
            1e3 * mean,
            1e3 * error,
        );
        csv += &format!(
            "\"{}\",{},{},{mean:.6e},{error:.2e},{repetitions},{speedup},{deviation:.3e}\n",
            cell.series, cell.x, cell.order,
        );
    }
    fs::write(out.join(format!("{name}.csv")), csv)?;

    let mut series: Vec<&str> = Vec::new();
    for row in rows {
        if !series.contains(&row.cell.series.as_str()) {
            series.push(&row.cell.series);
        }
    }
    let chart = |which: Quantity| {
        let curve = |(color, name): (usize, &&str)| {
            let own = rows.iter().filter(|row| row.cell.series == **name);
            let points =
                own.filter_map(|row| Some((row.cell.x as f64, quantity(which, rows, row)?))).collect();
            Curve { name: (*name).to_string(), points, stroke: Stroke::Solid, color }
        };
        Chart {
            x: axis,
            unit: name_of(which),
            logarithmic: false,
            curves: series.iter().enumerate().map(curve).collect(),
        }
    };
    let title = format!("{title} ({scalar})\n{}", about.join("\n"));
    figure(&out.join(format!("{name}.svg")), &title, experiment.charts.map(chart))
}
