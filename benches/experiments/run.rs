//! The measurement: every cell as often as the others, in random order.

use crate::plan::{Cell, Experiment, Scale, Type};
use cholupdate::factorize::timed;
use cholupdate::faer::{Mat, MatRef};
use cholupdate::{Error, RealScalar};
use indicatif::{ProgressBar, ProgressStyle};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};

pub const SEED: u64 = 2016;

/// The result of a cell.
#[derive(Clone)]
pub struct Row {
    pub scalar: Type,
    pub cell: Cell,
    /// Mean and standard error, in seconds.
    pub mean: f64,
    pub error: f64,
    pub repetitions: usize,
    /// max |L Lᵀ − A|, from order 1025 on in sampled rows.
    pub deviation: f64,
}

/// A row for each cell. `done` has those of earlier experiments, which are not measured again.
pub fn run(experiment: &Experiment, scale: Scale, done: &mut Vec<Row>) -> Result<Vec<Row>, Error> {
    let known = |cell: &Cell| {
        let same = |row: &&Row| {
            let (one, other) = (&row.cell, cell);
            row.scalar == experiment.scalar
                && one.order == other.order
                && format!("{:?}", one.method) == format!("{:?}", other.method)
        };
        done.iter().find(same).cloned()
    };
    let new: Vec<Cell> = experiment.cells.iter().filter(|cell| known(cell).is_none()).cloned().collect();
    let measured = match experiment.scalar {
        Type::F32 => run_in::<f32>(experiment, &new, scale)?,
        Type::F64 => run_in::<f64>(experiment, &new, scale)?,
    };
    let mut measured = measured.into_iter();
    let row = |cell: &Cell| match known(cell) {
        Some(row) => Some(Row { cell: cell.clone(), ..row }),
        None => measured.next(),
    };
    let rows: Vec<Row> = experiment.cells.iter().filter_map(row).collect();
    done.extend(rows.iter().cloned());
    Ok(rows)
}

fn run_in<T: RealScalar>(experiment: &Experiment, cells: &[Cell], scale: Scale) -> Result<Vec<Row>, Error> {
    let Experiment { name, scalar, .. } = experiment;
    let repetitions = scale.repetitions;
    let mut order: Vec<usize> = (0..cells.len() * repetitions).map(|at| at % cells.len()).collect();
    order.shuffle(&mut StdRng::seed_from_u64(SEED));
    let style = ProgressStyle::with_template("{prefix} {bar:40} {pos}/{len} {elapsed} + {eta}");
    let bar = ProgressBar::new(order.len() as u64).with_prefix(*name);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));

    let mut matrices: Vec<(usize, Mat<T>)> = Vec::new();
    let mut seconds = vec![Vec::new(); cells.len()];
    let mut deviations = vec![0.0; cells.len()];
    for at in order {
        let cell = &cells[at];
        if matrices.iter().all(|(order, _)| *order != cell.order) {
            matrices.push((cell.order, matrix(cell.order)));
        }
        let Some((_, a)) = matrices.iter().find(|(order, _)| *order == cell.order) else { continue };
        if seconds[at].is_empty() {
            // Not counted: the first call loads kernels and touches memory.
            let (l, _) = timed(a, &cell.method)?;
            deviations[at] = deviation(l.as_ref(), a.as_ref());
        }
        let (_, elapsed) = timed(a, &cell.method)?;
        seconds[at].push(elapsed.as_secs_f64());
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(cells.iter().zip(seconds).zip(deviations).map(|((cell, s), d)| row(cell, *scalar, &s, d)).collect())
}

fn row(cell: &Cell, scalar: Type, seconds: &[f64], deviation: f64) -> Row {
    let count = seconds.len() as f64;
    let mean = seconds.iter().sum::<f64>() / count;
    let variance = seconds.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / (count - 1.0).max(1.0);
    let error = (variance / count).sqrt();
    Row { scalar, cell: cell.clone(), mean, error, repetitions: seconds.len(), deviation }
}

/// Entries uniform in [0, 1], and n added to the diagonal. (n × n)
fn matrix<T: RealScalar>(order: usize) -> Mat<T> {
    let mut rng = StdRng::seed_from_u64(SEED + order as u64);
    let mut a = Mat::<T>::zeros(order, order);
    for j in 0..order {
        for i in j..order {
            let x: f64 = rng.random();
            let x = T::from_f64(if i == j { x + order as f64 } else { x });
            (a[(i, j)], a[(j, i)]) = (x, x);
        }
    }
    a
}

/// max |L Lᵀ − A| over the lower triangle, in double precision; of large matrices over 16 rows.
fn deviation<T: RealScalar>(l: MatRef<'_, T>, a: MatRef<'_, T>) -> f64 {
    const ALL_ROWS: usize = 1024;
    const ROWS: usize = 16;
    let order = a.nrows();
    let rows: Vec<usize> = if order <= ALL_ROWS {
        (0..order).collect()
    } else {
        (1..=ROWS).map(|s| s * order / ROWS - 1).collect()
    };
    let mut largest = 0.0f64;
    for i in rows {
        let mut sums = vec![0.0; i + 1];
        for p in 0..=i {
            let x = l[(i, p)].to_f64();
            (p..=i).for_each(|j| sums[j] += x * l[(j, p)].to_f64());
        }
        for (j, sum) in sums.into_iter().enumerate() {
            // A NaN is kept.
            let d = (sum - a[(i, j)].to_f64()).abs();
            largest = if d <= largest { largest } else { d };
        }
    }
    largest
}
