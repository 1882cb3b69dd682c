//! The CPU engine and its peers.

use crate::matrices::{Matrices, moved};
use crate::{HEADINGS, cell, orders};
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, CholeskyBatch, Cpu};
use cholupdate_bench::about::about;
use cholupdate_bench::batches::Table;
use cholupdate_bench::limits::{Limits, Team};
use cholupdate_bench::measure::{Competitor, Timed, in_turns};
use cholupdate_bench::peers::qrupdate::{Qrupdate, Upper};
use cholupdate_bench::scalar::{Real, largest_residual};
use cholupdate_bench::settings::{Mode, Settings};
use nalgebra::{DMatrix, DVector, Dyn};

/// Bytes of the factors of a batch in a second-level cache.
const IN_CACHE: usize = 384 << 10;
/// Different matrices, which are repeated.
const DIFFERENT: usize = 1024;

/// Measures all of them. Returns whether all results are right.
pub fn measure(settings: &Settings) -> bool {
    let (interval, dram_bytes) = settings.limits();
    let mut limits = Limits::new(interval, dram_bytes);
    for (name, text) in about("batch_rows", None, &[], &limits.describe()) {
        println!("{name}: {text}");
    }
    let mut table = Table::new(&HEADINGS);
    of_type::<f64>(settings, &mut limits, &mut table);
    of_type::<f32>(settings, &mut limits, &mut table);
    table.finish()
}

fn of_type<T: Real>(settings: &Settings, limits: &mut Limits, table: &mut Table) {
    if !settings.takes(T::NAME) {
        return;
    }
    let library = Qrupdate::<T>::load().inspect_err(|why| println!("without qrupdate: {why}")).ok();
    for n in orders(settings, &[4, 8, 16, 32, 64]) {
        of_order(settings, limits, library.as_ref(), n, table);
    }
}

/// The batch.
struct Batch<'a, T: Real>(&'a Matrices<T>, CholeskyBatch<T>);

impl<T: Real> Competitor for Batch<'_, T> {
    fn run(&mut self, turn: usize) {
        let outcome =
            if turn == 0 { self.1.remove(&self.0.indices) } else { self.1.append(self.0.columns()) };
        assert!(outcome.expect("the shapes").all().is_ok());
    }
    fn residual(&self, turn: usize) -> f64 {
        self.0.residual(turn, |matrix| self.1.factor(matrix).expect("a factor"))
    }
}

/// Single factors in a loop, and new columns. (n × 1)
struct Single<'a, T: Real>(&'a Matrices<T>, Vec<Cholesky<T>>, Vec<Mat<T>>);

impl<T: Real> Competitor for Single<'_, T> {
    fn run(&mut self, turn: usize) {
        let before = self.0.order - 1;
        for ((factor, column), &index) in self.1.iter_mut().zip(&self.2).zip(&self.0.indices) {
            if turn == 0 {
                factor.remove(&[index])
            } else {
                factor.append(column.subrows(0, before), column.subrows(before, 1))
            }
            .expect("the problem is well posed");
        }
    }
    fn residual(&self, turn: usize) -> f64 {
        self.0.residual(turn, |matrix| self.1[matrix].to_factor().expect("L"))
    }
}

/// nalgebra's `remove_column` and `insert_column` in a loop; an insertion consumes the new column.
struct Nalgebra<'a, T: Real>(&'a Matrices<T>, Vec<nalgebra::Cholesky<T, Dyn>>, Vec<DVector<T>>);

impl<T: Real> Competitor for Nalgebra<'_, T> {
    fn prepare(&mut self, turn: usize) {
        if turn == 1 {
            let column = |matrix| DVector::from_fn(self.0.order, |i, _| self.0.columns().get(matrix, i, 0));
            self.2.extend((0..self.0.count).map(column));
        }
    }
    fn run(&mut self, turn: usize) {
        if turn == 0 {
            for (factor, &index) in self.1.iter_mut().zip(&self.0.indices) {
                *factor = factor.remove_column(index);
            }
        } else {
            for (factor, column) in self.1.iter_mut().zip(self.2.drain(..)) {
                *factor = factor.insert_column(self.0.order - 1, column);
            }
        }
    }
    fn residual(&self, turn: usize) -> f64 {
        let l = |matrix: usize| self.1[matrix].l_dirty();
        self.0.residual(turn, |matrix| {
            Mat::from_fn(l(matrix).nrows(), l(matrix).nrows(), |i, j| l(matrix)[(i, j)])
        })
    }
}

/// qrupdate's `dchdex` and `dchinx` in a loop; the second one overwrites the new column. (count × n)
struct ByQrupdate<'a, T: Real>(&'a Matrices<T>, &'a Qrupdate<T>, Vec<Upper<T>>, Vec<T>);

impl<T: Real> Competitor for ByQrupdate<'_, T> {
    fn prepare(&mut self, turn: usize) {
        if turn == 1 {
            self.0.copy_columns(&mut self.3);
        }
    }
    fn run(&mut self, turn: usize) {
        let Self(Matrices { order, indices, .. }, library, factors, columns) = self;
        for ((factor, column), &index) in
            factors.iter_mut().zip(columns.chunks_exact_mut(*order)).zip(indices)
        {
            if turn == 0 {
                factor.remove(library, index);
            } else {
                factor.insert(library, *order - 1, column);
            }
        }
    }
    fn residual(&self, turn: usize) -> f64 {
        self.0.residual(turn, |matrix| self.2[matrix].l())
    }
}

/// Factoring the matrices that a removal and an append lead to, in a batch of this library.
struct Again<'a, T: Real>(&'a Matrices<T>, Option<CholeskyBatch<T>>);

impl<T: Real> Competitor for Again<'_, T> {
    fn run(&mut self, turn: usize) {
        self.1 = Some(CholeskyBatch::new_in(self.0.after(turn), Cpu::sequential()).expect("A"));
    }
    fn residual(&self, turn: usize) -> f64 {
        let batch = self.1.as_ref().expect("a batch");
        self.0.residual(turn, |matrix| batch.factor(matrix).expect("a factor"))
    }
}

fn of_order<T: Real>(
    settings: &Settings,
    limits: &mut Limits,
    library: Option<&Qrupdate<T>>,
    n: usize,
    table: &mut Table,
) {
    let triangle = n * (n + 1) / 2 * size_of::<T>();
    let bytes = if settings.mode == Mode::Test { 1 << 12 } else { IN_CACHE };
    let count = (bytes / triangle).max(1);
    let matrices = &Matrices::<T>::new(count, n, DIFFERENT);
    let batch = |engine| Batch(matrices, CholeskyBatch::new_in(matrices.after(1), engine).expect("A"));
    let (mut one, mut all) = (batch(Cpu::sequential()), batch(Cpu::default()));
    let factors: Vec<Mat<T>> = (0..count).map(|matrix| one.1.factor(matrix).expect("a factor")).collect();
    let with = |l: &Mat<T>| Cholesky::from_factor_in(l, Cpu::sequential()).expect("a factor");
    let columns = (0..count).map(|matrix| matrices.column(matrix)).collect();
    let mut single = Single(matrices, factors.iter().map(with).collect(), columns);
    let dense = |l: &Mat<T>| nalgebra::Cholesky::pack_dirty(DMatrix::from_fn(n, n, |i, j| l[(i, j)]));
    let mut nalgebra = Nalgebra(matrices, factors.iter().map(dense).collect(), Vec::new());
    let upper = |l: &Mat<T>| Upper::new(l.as_ref());
    let mut qrupdate = library.map(|library| {
        ByQrupdate(matrices, library, factors.iter().map(upper).collect(), vec![T::ZERO; count * n])
    });
    let mut again = Again(matrices, None);

    let mut names = vec!["batch, 1 thread", "batch, all threads", "Cholesky, loop", "nalgebra, loop"];
    let mut methods: Vec<&mut dyn Timed> = vec![&mut one, &mut all, &mut single, &mut nalgebra];
    names.extend(qrupdate.is_some().then_some("dchdex/dchinx, loop"));
    methods.extend(qrupdate.as_mut().map(|qrupdate| qrupdate as &mut dyn Timed));
    names.push("factoring again, batch");
    methods.push(&mut again);
    let largest = largest_residual(T::NAME, n, 1);
    let measured = in_turns(&mut methods, settings.effort(), limits.timer, largest);
    for (name, timings) in names.into_iter().zip(measured) {
        let Some(timings) = timings else { continue };
        let team = if name.ends_with("all threads") { Team::All } else { Team::One };
        let bandwidth = limits.bandwidth(count * triangle).of(team);
        let bounds = moved(n).map(|scalars| (scalars * size_of::<T>()) as f64 / bandwidth);
        let mut line = vec![T::NAME.to_owned(), n.to_string(), count.to_string(), name.to_owned()];
        line.extend(timings.iter().zip(bounds).map(|(timing, bound)| cell(timing, count, bound, 1)));
        table.line(line, &timings);
    }
}
