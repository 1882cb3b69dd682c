//! Batches: what holds beyond the suites of all engines, which `batched` runs in a batch too (feature `unstable`).

use crate::support::contract::{Observed, allowed, row_scale};
use crate::support::problem::{Direction, Kind, Problem, breaking, factor, rng, uniform};
use crate::support::real::{Real, bits};
use cholupdate::faer::{Mat, MatRef};
use cholupdate::{BatchMut, BatchRef, BatchWeights, Cholesky, CholeskyBatch, Cpu, Error, Weights};

/// Problems of different shapes in one batch: a matrix has the leading rows, and other columns of V the weight 0.
pub struct Given<T> {
    pub problems: Vec<Problem<T>>,
    pub order: usize,
    pub rank: usize,
}

/// The outcome of each: the new factor and the least ratio.
pub type Outcomes<T> = Vec<Result<(Mat<T>, f64), Error>>;

impl<T: Real> Given<T> {
    pub fn new(problems: Vec<Problem<T>>) -> Self {
        let order = problems.iter().map(|problem| problem.l.nrows()).max().unwrap_or(0);
        let rank = problems.iter().map(|problem| problem.v.ncols()).max().unwrap_or(0);
        Self { problems, order, rank }
    }

    /// A field of each, by rows, one matrix after the other; no number where a matrix has no entry.
    pub fn padded(&self, columns: usize, of: impl Fn(&Problem<T>) -> MatRef<'_, T>) -> Vec<T> {
        let mut all = Vec::new();
        for problem in &self.problems {
            let a = of(problem);
            for i in 0..self.order {
                let there = |j| i < a.nrows() && j < a.ncols();
                all.extend((0..columns).map(|j| if there(j) { a[(i, j)] } else { T::of(f64::NAN) }));
            }
        }
        all
    }

    /// All factors, before a modification.
    fn batch(&self, engine: Cpu) -> CholeskyBatch<T> {
        let l = self.padded(self.order, |problem| problem.l.as_ref());
        let l = BatchRef::by_rows(&l, [self.problems.len(), self.order, self.order]).unwrap();
        let orders: Vec<usize> = self.problems.iter().map(|problem| problem.l.nrows()).collect();
        CholeskyBatch::from_factors_with_orders(l, &orders, engine).unwrap()
    }

    /// Those of the columns of V, zero where a matrix has no column.
    pub fn weights(&self) -> Vec<T> {
        let weight = |problem: &Problem<T>, r| problem.weights.get(r).copied().unwrap_or(T::ZERO);
        let of = |problem| (0..self.rank).map(move |r| weight(problem, r)).collect::<Vec<T>>();
        self.problems.iter().flat_map(of).collect()
    }

    /// All modified in one call.
    fn modified(&self, engine: Cpu) -> Outcomes<T> {
        let mut batch = self.batch(engine);
        let (v, weights) = (self.padded(self.rank, |problem| problem.v.as_ref()), self.weights());
        let v = BatchRef::by_rows(&v, [self.problems.len(), self.order, self.rank]).unwrap();
        let outcome = batch.modify(v, BatchWeights::OfEach(&weights)).unwrap();
        let reports: Vec<_> = (0..self.problems.len()).map(|matrix| outcome.report(matrix)).collect();
        let new = |(matrix, report): (usize, Result<_, Error>)| {
            report.map(|report: cholupdate::Modification| {
                (batch.factor(matrix).unwrap(), report.min_pivot_ratio)
            })
        };
        reports.into_iter().enumerate().map(new).collect()
    }

    /// Each in a batch of its own.
    fn alone(&self) -> Outcomes<T> {
        let one =
            |problem: &Problem<T>| Self::new(vec![problem.clone()]).modified(Cpu::sequential()).remove(0);
        self.problems.iter().map(one).collect()
    }
}

/// Every generator of data that are hard for a modification, with orders up to 60.
pub fn hard<T: Real>() -> Vec<Problem<T>> {
    let mut all = Vec::new();
    for (seed, n) in [0, 1, 2, 3, 4, 7, 8, 9, 16, 27, 33, 50, 60].into_iter().enumerate() {
        let seed = seed as u64;
        for k in [0, 1, 2, 3, 4, 5, 9] {
            for kind in Kind::ALL {
                all.push(Problem::feasible(n, k, kind, 0.3, seed));
                all.push(Problem::feasible(n, k, kind, 1e-3, seed));
                if n > 0 && k > 0 {
                    all.push(Problem::outgrowing(n, k, kind, seed));
                    all.push(
                        Problem::feasible(n, k, kind, 0.3, seed).graded(|i| 10f64.powi(-(i as i32 % 5))),
                    );
                }
            }
            if k > 0 {
                for scale in [1e2, 1e4] {
                    all.push(Problem::feasible(n, k, Kind::Up, 0.5, seed).dominated(scale));
                }
            }
        }
        if n > 1 {
            all.extend([1, 2].map(|pairs| Problem::cancelling(n, pairs, 1e-2, seed)));
            let left = if T::U < 1e-10 { 1e-6 } else { 1e-2 };
            all.extend(Direction::ALL.map(|direction| Problem::exhausting(n, left, direction, seed)));
            all.extend([2, 5].map(|k| Problem::parallel(n, k, 0.5, seed)));
            all.push(Problem::at_the_edge(n, 3, left, seed));
            all.extend([0, n / 2, n - 1].map(|column| breaking(n, 2, column, Kind::Down, seed)));
        }
    }
    all
}

/// What the contract allows a squared pivot to be off, relative to that of the old L, if it is off in that row alone.
pub fn doubt<T: Real>(Problem { l, v, weights }: &Problem<T>) -> f64 {
    let row = |j: usize| row_scale(l.as_ref(), v.as_ref(), weights, j) / l[(j, j)].f64();
    let largest = (0..l.nrows()).map(row).fold(1.0, f64::max);
    allowed(l.nrows(), v.ncols()) * T::U * largest.powi(2)
}

fn hold_the_contract_in_one_batch<T: Real>() {
    let given = Given::<T>::new(hard());
    let mut observed = Observed::recorded(5.0);
    let mut refused = 0;
    for (outcome, problem) in given.modified(Cpu::default()).into_iter().zip(&given.problems) {
        let single = problem.modified(&Cpu::sequential());
        match (outcome, single) {
            (Ok((new, ratio)), Ok((_, report))) => {
                observed.check(new.as_ref(), problem, "in a batch");
                let expected = report.min_pivot_ratio;
                let near = (ratio - expected).abs() <= 10.0 * doubt(problem) * expected.max(1.0);
                assert!(near, "the least ratio is {ratio}, of a single factor {expected}");
            }
            (Err(error), Err(single)) => {
                assert_eq!(error, single);
                refused += 1;
            }
            (outcome, single) => panic!("{outcome:?} in a batch, {single:?} alone"),
        }
    }
    assert!(refused > 30, "{refused} matrices would not be positive definite");
}

#[test]
fn all_hard_data_in_one_batch() {
    hold_the_contract_in_one_batch::<f64>();
    hold_the_contract_in_one_batch::<f32>();
}

pub fn same<T: Real>(a: &Outcomes<T>, b: &Outcomes<T>) {
    assert_eq!(a.len(), b.len());
    for (at, (a, b)) in a.iter().zip(b).enumerate() {
        match (a, b) {
            (Ok((a, ratio)), Ok((b, other))) => {
                assert_eq!(bits(a.as_ref()), bits(b.as_ref()), "matrix {at}");
                assert_eq!(ratio, other, "matrix {at}");
            }
            (a, b) => assert_eq!(a.as_ref().err(), b.as_ref().err(), "matrix {at}"),
        }
    }
}

fn depend_on_nothing_else<T: Real>() {
    let mut given = Given::<T>::new(hard());
    let first = given.modified(Cpu::sequential());
    same(&first, &given.alone());
    for threads in [2, 3, 8] {
        same(&first, &given.modified(Cpu::threads(threads)));
    }
    // In the opposite order, and at other places.
    given.problems.reverse();
    given.problems.drain(..5);
    let mut other = given.modified(Cpu::default());
    other.reverse();
    same(&first[..other.len()].to_vec(), &other);
}

#[test]
fn a_result_depends_on_no_other_matrix_no_place_and_no_thread() {
    depend_on_nothing_else::<f64>();
    depend_on_nothing_else::<f32>();
}

/// A batch of equal orders, and its matrices.
pub fn some<T: Real>(count: usize, n: usize, seed: u64) -> (Vec<T>, Vec<Mat<T>>) {
    let mut random = rng(seed);
    let all: Vec<Mat<T>> = (0..count)
        .map(|_| {
            let l = factor(n, &mut random);
            Problem::<T>::new(&(&l * l.transpose()), &Mat::zeros(n, 0), &[]).l
        })
        .collect();
    (by_rows(&all), all)
}

pub fn by_rows<T: Real>(all: &[Mat<T>]) -> Vec<T> {
    let entries = |a: &Mat<T>| {
        (0..a.nrows()).flat_map(|i| (0..a.ncols()).map(move |j| (i, j))).map(|at| a[at]).collect::<Vec<T>>()
    };
    all.iter().flat_map(entries).collect()
}

pub fn columns<T: Real>(count: usize, n: usize, k: usize, seed: u64) -> Vec<Mat<T>> {
    let mut random = rng(seed);
    let one = |_| Problem::<T>::new(&Mat::zeros(n, n), &uniform(n, k, &mut random), &vec![1.0; k]).v;
    (0..count).map(one).collect()
}

#[test]
fn what_is_wrong_with_a_matrix_stops_no_other() {
    let (count, n) = (21, 6);
    let (mut a, _) = some::<f64>(count, n, 6);
    let at = |matrix: usize, i: usize, j: usize| (matrix * n + i) * n + j;
    a[at(2, 3, 1)] = f64::NAN;
    a[at(5, 4, 4)] = -1.0;
    a[at(9, 0, 0)] = f64::MAX;
    let mut batch = CholeskyBatch::new(BatchRef::by_rows(&a, [count, n, n]).unwrap()).unwrap();
    assert_eq!(batch.missing(), [2, 5, 9]);
    assert_eq!(batch.status(2), Err(Error::NonFinite { argument: "a", row: 3, column: 1 }));
    assert_eq!(batch.status(5), Err(Error::NotPositiveDefinite { column: 4 }));
    assert_eq!(batch.factor(9).unwrap_err(), Error::Overflow { argument: "a" });
    let before: Vec<_> = (0..count).map(|matrix| batch.factor(matrix)).collect();

    let mut v = by_rows(&columns::<f64>(count, n, 2, 7));
    v[(3 * n + 1) * 2] = f64::INFINITY;
    v[(4 * n + 2) * 2 + 1] = f64::NAN;
    v[(6 * n) * 2] = 1e3;
    v[(7 * n) * 2] = 1e200;
    let v = BatchRef::by_rows(&v, [count, n, 2]).unwrap();
    let outcome = batch.modify(v, &[0.01, -0.01]).unwrap();
    // The column of matrix 6 has the weight 0.01.
    assert_eq!(outcome.failed(), [2, 3, 4, 5, 7, 9]);
    assert_eq!(outcome.status(3), Err(Error::NonFinite { argument: "v", row: 1, column: 0 }));
    assert_eq!(outcome.status(4), Err(Error::NonFinite { argument: "v", row: 2, column: 1 }));
    assert_eq!(outcome.status(5), Err(Error::NotPositiveDefinite { column: 4 }));
    assert_eq!(outcome.status(7), Err(Error::Overflow { argument: "v" }));
    assert!(outcome.report(6).unwrap().min_pivot_ratio > 0.9);
    assert_eq!(
        outcome.status(count),
        Err(Error::Index { argument: "matrix", entry: 0, found: 21, limit: 21 })
    );
    for matrix in [3, 4, 7] {
        let now = batch.factor(matrix).unwrap();
        assert_eq!(bits(now.as_ref()), bits(before[matrix].as_ref().unwrap().as_ref()));
    }
    assert_ne!(batch.factor(8), before[8]);

    // A solve names what it leaves out, and does not write there.
    let mut x = vec![1.0; count * n];
    x[10 * n + 2] = f64::NEG_INFINITY;
    let given = x.clone();
    let failed = batch.solve_in_place(BatchMut::by_rows(&mut x, [count, n, 1]).unwrap()).unwrap();
    let failed: Vec<_> = failed.into_iter().map(|(matrix, _)| matrix).collect();
    assert_eq!(failed, [2, 5, 9, 10]);
    for matrix in failed {
        assert_eq!(x[matrix * n..][..n], given[matrix * n..][..n]);
    }
    assert!(batch.log_det(5).is_err());

    // Another matrix in its place.
    batch.replace(5, &Mat::<f64>::identity(n, n)).unwrap();
    assert_eq!((batch.missing(), batch.log_det(5)), (vec![2, 9], Ok(0.0)));
    let refused = batch.replace(6, &Mat::from_fn(n, n, |i, j| if i == j { -1.0 } else { 0.0 }));
    assert_eq!(refused, Err(Error::NotPositiveDefinite { column: 0 }));
    assert!(batch.status(6).is_ok());
}

#[test]
fn a_mask_and_weights_of_zero_leave_bits_as_they_are() {
    let (count, n) = (50, 9);
    let (a, _) = some::<f64>(count, n, 8);
    let a = BatchRef::by_rows(&a, [count, n, n]).unwrap();
    let v = by_rows(&columns::<f64>(count, n, 2, 9));
    let v = BatchRef::by_rows(&v, [count, n, 2]).unwrap();
    let mut batch = CholeskyBatch::new(a).unwrap();
    let before: Vec<_> = (0..count).map(|matrix| batch.factor(matrix).unwrap()).collect();
    let mut all = batch.clone();
    all.update(v).unwrap();
    let mask: Vec<bool> = (0..count).map(|matrix| matrix % 3 == 0).collect();
    let outcome = batch.modify_where(&mask, v, Weights::Plus).unwrap();
    assert_eq!(outcome.report(1).unwrap().log_det_change(), 0.0);
    assert_eq!(outcome.report(1).unwrap().min_pivot_ratio, 1.0);
    for matrix in 0..count {
        let expected = if mask[matrix] { all.factor(matrix).unwrap() } else { before[matrix].clone() };
        assert_eq!(bits(batch.factor(matrix).unwrap().as_ref()), bits(expected.as_ref()), "matrix {matrix}");
    }
    // A weight of zero is no column, not even one that is not a number.
    let mut batch = CholeskyBatch::new(a).unwrap();
    let mut with_nan = vec![f64::NAN; count * n * 2];
    (0..count * n).for_each(|row| with_nan[2 * row] = v.get(row / n, row % n, 0));
    let with_nan = BatchRef::by_rows(&with_nan, [count, n, 2]).unwrap();
    let mut one = CholeskyBatch::new(a).unwrap();
    one.modify(v, &[0.5, 0.0]).unwrap();
    assert_eq!(batch.modify(with_nan, &[0.5, 0.0]).unwrap().all(), Ok(()));
    for matrix in 0..count {
        assert_eq!(batch.factor(matrix), one.factor(matrix));
    }
    let weights: Vec<f64> = (0..2 * count).map(|at| if at == 8 { f64::NAN } else { 1.0 }).collect();
    let outcome = batch.modify(v, BatchWeights::OfEach(&weights)).unwrap();
    assert_eq!(outcome.failed(), [4]);
    assert_eq!(outcome.status(4), Err(Error::NonFinite { argument: "weights", row: 0, column: 0 }));
}

/// Reports against those of single factors, for orders whose product of ratios is taken in parts.
#[test]
fn reports_are_those_of_single_factors() {
    for n in [1, 2, 47, 48, 49, 120] {
        let (count, k) = (10, 3);
        let (a, all) = some::<f64>(count, n, 10);
        let v = columns::<f64>(count, n, k, 11);
        let flat = by_rows(&v);
        let mut batch = CholeskyBatch::new(BatchRef::by_rows(&a, [count, n, n]).unwrap()).unwrap();
        let outcome = batch.update(BatchRef::by_rows(&flat, [count, n, k]).unwrap()).unwrap();
        for matrix in 0..count {
            let found = outcome.report(matrix).unwrap();
            let expected = Cholesky::new(&all[matrix]).unwrap().update(&v[matrix]).unwrap();
            let apart = (found.log_det_change() - expected.log_det_change()).abs();
            assert!(apart < 1e-12 * (n as f64), "n = {n}: {found:?}, {expected:?}");
            assert!((found.min_pivot_ratio / expected.min_pivot_ratio - 1.0).abs() < 1e-11);
            assert!(found.min_pivot_ratio >= 1.0, "an update");
        }
    }
}

#[test]
fn any_strides_are_read() {
    let (count, n, k) = (13, 5, 2);
    let (a, all) = some::<f64>(count, n, 12);
    let v = columns::<f64>(count, n, k, 13);
    let mut first = CholeskyBatch::new(BatchRef::by_rows(&a, [count, n, n]).unwrap()).unwrap();
    let flat = by_rows(&v);
    first.update(BatchRef::by_rows(&flat, [count, n, k]).unwrap()).unwrap();
    // Side by side, and with gaps.
    let mut beside = vec![0.0; 3 * count * n * n];
    let mut columns = vec![0.0; 2 * count * n * k];
    for matrix in 0..count {
        for i in 0..n {
            (0..n).for_each(|j| beside[3 * ((i * n + j) * count + matrix)] = all[matrix][(i, j)]);
            (0..k).for_each(|r| columns[2 * ((r * n + i) * count + matrix)] = v[matrix][(i, r)]);
        }
    }
    let a = BatchRef::new(&beside, [count, n, n], [3, 3 * n * count, 3 * count]).unwrap();
    let mut second = CholeskyBatch::new(a).unwrap();
    second.update(BatchRef::new(&columns, [count, n, k], [2, 2 * count, 2 * n * count]).unwrap()).unwrap();
    for matrix in 0..count {
        assert_eq!(first.factor(matrix), second.factor(matrix));
    }
    // One V for all.
    let one = BatchRef::repeated(v[0].as_ref(), count).unwrap();
    second.update(one).unwrap();
    let mut expected = first.select(&[4]).unwrap();
    expected.update(BatchRef::repeated(v[0].as_ref(), 1).unwrap()).unwrap();
    assert_eq!(second.factor(4), expected.factor(0));
}

#[test]
fn empty_batches_and_matrices_are_possible() {
    let none = CholeskyBatch::<f64>::new(BatchRef::by_rows(&[], [0, 3, 3]).unwrap()).unwrap();
    assert_eq!((none.count(), none.order()), (0, 3));
    let mut empty = CholeskyBatch::<f64>::new(BatchRef::by_rows(&[], [4, 0, 0]).unwrap()).unwrap();
    let outcome = empty.update(BatchRef::by_rows(&[], [4, 0, 2]).unwrap()).unwrap();
    assert_eq!((outcome.failed(), outcome.report(3).unwrap().min_pivot_ratio), (vec![], 1.0));
    assert_eq!(empty.log_det(2), Ok(0.0));
    assert_eq!(empty.solve_in_place(BatchMut::by_rows(&mut [], [4, 0, 1]).unwrap()), Ok(vec![]));
    let (a, _) = some::<f64>(3, 4, 14);
    let mut batch = CholeskyBatch::new(BatchRef::by_rows(&a, [3, 4, 4]).unwrap()).unwrap();
    let before = batch.factor(1);
    assert_eq!(batch.downdate(BatchRef::by_rows(&[], [3, 4, 0]).unwrap()).unwrap().all(), Ok(()));
    assert_eq!(batch.factor(1), before);
    assert_eq!(batch.select(&[]).unwrap().count(), 0);
}

#[test]
fn a_singular_batch_becomes_regular() {
    let (count, n) = (11, 4);
    let zeros = vec![0.0; count * n * n];
    let l = BatchRef::by_rows(&zeros, [count, n, n]).unwrap();
    let mut batch = CholeskyBatch::<f64>::from_factors(l).unwrap();
    assert_eq!(batch.log_det(0), Err(Error::Singular { column: 0 }));
    let mut x = vec![1.0; count * n];
    let failed = batch.solve_in_place(BatchMut::by_rows(&mut x, [count, n, 1]).unwrap()).unwrap();
    assert_eq!(failed.len(), count);
    assert_eq!(failed[3], (3, Error::Singular { column: 0 }));
    let v = columns::<f64>(count, n, 6, 15);
    let flat = by_rows(&v);
    assert_eq!(batch.update(BatchRef::by_rows(&flat, [count, n, 6]).unwrap()).unwrap().all(), Ok(()));
    for (matrix, v) in v.iter().enumerate() {
        let l = batch.factor(matrix).unwrap();
        let apart = (&l * l.transpose() - v * v.transpose()).norm_max();
        assert!(apart < 1e-14, "{apart}");
    }
}

#[test]
fn arguments_of_other_shapes_are_refused() {
    let (a, _) = some::<f64>(3, 4, 16);
    let a = BatchRef::by_rows(&a, [3, 4, 4]).unwrap();
    let mut batch = CholeskyBatch::new(a).unwrap();
    let before = batch.factor(0);
    let data = vec![1.0; 100];
    let of = |shape: [usize; 3]| BatchRef::by_rows(&data[..shape.iter().product()], shape).unwrap();
    let shape = |argument, extent, expected, found| Error::Shape { argument, extent, expected, found };
    assert_eq!(batch.update(of([2, 4, 1])).unwrap_err(), shape("v", "matrices", 3, 2));
    assert_eq!(batch.update(of([3, 5, 1])).unwrap_err(), shape("v", "rows", 4, 5));
    assert_eq!(batch.modify(of([3, 4, 2]), &[1.0]).unwrap_err(), shape("weights", "entries", 2, 1));
    let each = BatchWeights::OfEach(&[1.0, 2.0]);
    assert_eq!(batch.modify(of([3, 4, 1]), each).unwrap_err(), shape("weights", "entries", 3, 2));
    let not_finite = batch.modify(of([3, 4, 1]), &[f64::NAN]).unwrap_err();
    assert_eq!(not_finite, Error::NonFinite { argument: "weights", row: 0, column: 0 });
    let masked = batch.modify_where(&[true], of([3, 4, 1]), Weights::Plus).unwrap_err();
    assert_eq!(masked, shape("mask", "entries", 3, 1));
    let mut rhs = vec![0.0; 12];
    let rhs = BatchMut::by_rows(&mut rhs, [3, 2, 2]).unwrap();
    assert_eq!(batch.solve_in_place(rhs).unwrap_err(), shape("rhs", "rows", 4, 2));
    assert_eq!(batch.factor(0), before);
    assert!(matches!(batch.select(&[0, 3]), Err(Error::Index { argument: "matrices", entry: 1, .. })));
    assert!(matches!(
        batch.replace(3, &Mat::<f64>::identity(4, 4)),
        Err(Error::Index { argument: "matrix", .. })
    ));
    assert!(matches!(batch.replace(0, &Mat::<f64>::identity(5, 5)), Err(Error::Index { argument: "a", .. })));
    let not_square = CholeskyBatch::new(of([2, 4, 3])).unwrap_err();
    assert_eq!(not_square, shape("a", "columns", 4, 3));
    let orders = CholeskyBatch::with_orders(a, &[1, 5, 2], Cpu::default()).unwrap_err();
    assert_eq!(orders, Error::Index { argument: "orders", entry: 1, found: 5, limit: 5 });
    assert!(matches!(BatchRef::by_rows(&data, [1, 2, 3]), Err(Error::Shape { argument: "data", .. })));
    let outside = BatchRef::new(&data, [2, 3, 4], [80, 6, 3]).unwrap_err();
    assert!(matches!(outside, Error::OutOfRange { argument: "strides", .. }));
    // A view that claims more than there is memory for.
    let huge = BatchRef::new(&data, [1 << 40, 64, 64], [0, 1, 0]).unwrap();
    assert!(matches!(CholeskyBatch::new(huge), Err(Error::OutOfRange { argument: "a", .. })));
    let huge = BatchRef::new(&data, [1, 1 << 33, 1 << 33], [0, 0, 0]).unwrap();
    assert!(matches!(CholeskyBatch::new(huge), Err(Error::OutOfRange { argument: "a", .. })));
}
