//! Batches of complex factors beside modifications: how they begin, solutions, failures, masks and strides.

use super::batch::{batch_of, factors, stacked};
use super::exact::Hermitian;
use super::oracle::is_factor;
use super::problem::{Kind, Problem, factor as random_factor, phases, rng, uniform};
use super::rows::matrix;
use super::scalar::{Complex, bits, in_c64, narrow};
use crate::support::contract::{allowed, assert_log_det};
use cholupdate::faer::{Mat, c32, c64};
use cholupdate::{BatchMut, BatchRef, BatchWeights, Cholesky, CholeskyBatch, Cpu, Engine, Error, Weights};

/// Hermitian matrices of which neither the upper triangles nor the imaginary parts of the diagonals are numbers.
fn given<T: Complex>(count: usize, n: usize, seed: u64) -> (Vec<Mat<T>>, Vec<T>) {
    let all: Vec<Mat<T>> = (0..count).map(|b| matrix(n, seed + b as u64)).collect();
    let not_read = |a: &Mat<T>| {
        Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => T::from_c64(c64::new(f64::NAN, f64::INFINITY)),
            std::cmp::Ordering::Equal => T::from_c64(c64::new(a[(i, i)].c64().re, f64::NAN)),
            std::cmp::Ordering::Greater => a[(i, j)],
        })
    };
    let stacked = stacked(&all.iter().map(not_read).collect::<Vec<_>>(), n, n);
    (all, stacked)
}

fn begin_right<T: Complex>() {
    for (count, n) in [(1, 1), (3, 2), (40, 5), (20, 33), (5, 60), (21, 8)] {
        let (all, a) = given::<T>(count, n, 3);
        let batch = CholeskyBatch::new(BatchRef::by_rows(&a, [count, n, n]).unwrap()).unwrap();
        assert_eq!((batch.count(), batch.order(), batch.missing().len()), (count, n, 0));
        // By columns, and of orders of their own.
        let by_columns: Vec<T> =
            (0..a.len()).map(|at| a[at / (n * n) * n * n + at % n * n + at / n % n]).collect();
        let by_columns = BatchRef::new(&by_columns, [count, n, n], [n * n, 1, n]).unwrap();
        let same = CholeskyBatch::new(by_columns).unwrap();
        let orders: Vec<usize> = (0..count).map(|b| b % (n + 1)).collect();
        let ragged = CholeskyBatch::with_orders(by_columns, &orders, Cpu::default()).unwrap();
        for (matrix, a) in all.iter().enumerate() {
            let l = batch.factor(matrix).unwrap();
            assert!(is_factor(l.as_ref()), "n = {n}");
            let wanted = |m: usize| {
                Hermitian::product(&Mat::zeros(m, 0)).with_rows(&vec![None; m], |i, j| a[(i, j)].c64())
            };
            let error = Hermitian::product(&in_c64(l.as_ref())).largest_difference(&wanted(n));
            assert!(error <= allowed(n, 1) * T::ROUNDOFF, "n = {n}: {error:.1e}");
            assert_log_det(T::part(batch.log_det(matrix).unwrap()), &reals(&l));
            assert_eq!(bits(same.factor(matrix).unwrap().as_ref()), bits(l.as_ref()));
            let part = ragged.factor(matrix).unwrap();
            assert_eq!(bits(part.as_ref()), bits(l.submatrix(0, 0, orders[matrix], orders[matrix])));
        }
    }
}

/// Real parts.
fn reals<T: Complex>(l: &Mat<T>) -> Mat<T::Re> {
    Mat::from_fn(l.nrows(), l.ncols(), |i, j| T::part(l[(i, j)].c64().re))
}

#[test]
fn initial_factors_are_those_of_the_matrices() {
    begin_right::<c64>();
    begin_right::<c32>();
}

/// L and L U have the same A for a diagonal U of phases; a diagonal that is real changes no bit.
fn factors_are_adopted<T: Complex>()
where
    Cpu: Engine<T>,
{
    for n in [1, 2, 5, 17] {
        let given: Vec<Mat<T>> = (0..12)
            .map(|b| {
                let (l, u) = (random_factor(n, &mut rng(b)), phases(n, &mut rng(b + 100)));
                narrow(&Mat::from_fn(n, n, |i, j| if b % 3 == 0 { l[(i, j)] } else { l[(i, j)] * u[j] }))
            })
            .collect();
        let made = factors(&batch_of(&given, n, Cpu::default()));
        for (b, (made, given)) in made.iter().zip(&given).enumerate() {
            let single = Cholesky::from_factor(given).unwrap().to_factor().unwrap();
            assert!(is_factor(made.as_ref()));
            assert_eq!(bits(made.as_ref()), bits(single.as_ref()));
            assert!(b % 3 != 0 || bits(made.as_ref()) == bits(given.as_ref()));
        }
    }
}

#[test]
fn columns_of_known_factors_are_turned() {
    factors_are_adopted::<c64>();
    factors_are_adopted::<c32>();
}

fn solve_all<T: Complex>() {
    for (count, n, m) in [(1, 1, 1), (9, 4, 1), (35, 8, 3), (20, 33, 2), (3, 60, 0), (17, 7, 5)] {
        let (all, a) = given::<T>(count, n, 4);
        let batch = CholeskyBatch::new(BatchRef::by_rows(&a, [count, n, n]).unwrap()).unwrap();
        let b: Vec<Mat<T>> = (0..count).map(|b| narrow(&uniform(n, m, &mut rng(b as u64)))).collect();
        for shape in [[n * m, m, 1], [n * m, 1, n]] {
            let mut x = vec![T::ZERO; count * n * m];
            let at = |matrix: usize, i: usize, r: usize| matrix * shape[0] + i * shape[1] + r * shape[2];
            for (matrix, b) in b.iter().enumerate() {
                (0..n).for_each(|i| (0..m).for_each(|r| x[at(matrix, i, r)] = b[(i, r)]));
            }
            let mut halves = x.clone();
            fn of<T: Complex>(x: &mut [T], shape: [usize; 3], strides: [usize; 3]) -> BatchMut<'_, T> {
                BatchMut::new(x, shape, strides).unwrap()
            }
            assert_eq!(batch.solve_in_place(of(&mut x, [count, n, m], shape)).unwrap(), []);
            for (matrix, a) in all.iter().enumerate() {
                for r in 0..m {
                    let scale = |j: usize| a[(j, j)].c64().re.sqrt();
                    let size: f64 = (0..n).map(|j| scale(j) * x[at(matrix, j, r)].c64().norm()).sum();
                    for i in 0..n {
                        let product: c64 = (0..n).map(|j| a[(i, j)].c64() * x[at(matrix, j, r)].c64()).sum();
                        let residual = (product - b[matrix][(i, r)].c64()).norm();
                        let allowed = 2.0 * (3 * n + 4) as f64 * T::ROUNDOFF * scale(i) * size;
                        assert!(residual <= allowed, "n = {n}: {residual:.1e}, not {allowed:.1e}");
                    }
                }
            }
            // The halves, one after the other, are the whole; the second is one with Lᴴ.
            batch.solve_l_in_place(of(&mut halves, [count, n, m], shape)).unwrap();
            for (matrix, l) in factors(&batch).iter().enumerate() {
                let single = Cholesky::from_factor_in(l, Cpu::sequential()).unwrap();
                let expected = single.solve_l(&b[matrix]).unwrap();
                for (i, r) in (0..n).flat_map(|i| (0..m).map(move |r| (i, r))) {
                    let apart = (halves[at(matrix, i, r)].c64() - expected[(i, r)].c64()).norm();
                    assert!(apart <= 1e3 * n as f64 * T::ROUNDOFF, "{apart:.1e}");
                }
            }
            batch.solve_lt_in_place(of(&mut halves, [count, n, m], shape)).unwrap();
            assert!(x.iter().zip(&halves).all(|(x, half)| x.c64() == half.c64()));
        }
    }
}

#[test]
fn solutions_are_as_accurate_as_of_single_factors() {
    solve_all::<c64>();
    solve_all::<c32>();
}

/// What is wrong with a part of an entry is found, and stops no other matrix.
#[test]
fn what_is_wrong_with_a_matrix_stops_no_other() {
    let (count, n) = (21, 6);
    let (_, mut a) = given::<c64>(count, n, 6);
    let at = |matrix: usize, i: usize, j: usize| (matrix * n + i) * n + j;
    a[at(2, 3, 1)].im = f64::NAN;
    a[at(3, 3, 1)].re = f64::INFINITY;
    a[at(5, 4, 4)].re = -1.0;
    a[at(9, 0, 0)].re = f64::MAX;
    let mut batch = CholeskyBatch::new(BatchRef::by_rows(&a, [count, n, n]).unwrap()).unwrap();
    assert_eq!(batch.missing(), [2, 3, 5, 9]);
    assert_eq!(batch.status(2), Err(Error::NonFinite { argument: "a", row: 3, column: 1 }));
    assert_eq!(batch.status(5), Err(Error::NotPositiveDefinite { column: 4 }));
    assert_eq!(batch.factor(9).unwrap_err(), Error::Overflow { argument: "a" });
    let before: Vec<_> = (0..count).map(|matrix| batch.factor(matrix)).collect();

    let mut undisturbed = batch.clone();
    let v: Vec<Mat<c64>> =
        (0..count).map(|b| narrow(&(uniform(n, 2, &mut rng(b as u64 + 7)) * 0.1))).collect();
    let given = stacked(&v, n, 2);
    let weights = [0.01, -0.01];
    undisturbed.modify(BatchRef::by_rows(&given, [count, n, 2]).unwrap(), &weights).unwrap();
    let mut v = given;
    v[(4 * n + 1) * 2].im = f64::INFINITY;
    v[(6 * n + 2) * 2 + 1].re = f64::NAN;
    v[(7 * n) * 2 + 1].im = 1e3;
    v[(8 * n) * 2].im = 1e200;
    let outcome = batch.modify(BatchRef::by_rows(&v, [count, n, 2]).unwrap(), &weights).unwrap();
    assert_eq!(outcome.failed(), [2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(outcome.status(4), Err(Error::NonFinite { argument: "v", row: 1, column: 0 }));
    assert_eq!(outcome.status(6), Err(Error::NonFinite { argument: "v", row: 2, column: 1 }));
    assert_eq!(outcome.status(7), Err(Error::NotPositiveDefinite { column: 0 }));
    assert_eq!(outcome.status(8), Err(Error::Overflow { argument: "v" }));
    for matrix in [4, 6, 7, 8] {
        let now = batch.factor(matrix).unwrap();
        assert_eq!(bits(now.as_ref()), bits(before[matrix].as_ref().unwrap().as_ref()));
    }
    for matrix in (0..count).filter(|matrix| !(2..10).contains(matrix)) {
        let [now, other] = [&batch, &undisturbed].map(|batch| batch.factor(matrix).unwrap());
        assert_eq!(bits(now.as_ref()), bits(other.as_ref()));
        assert_ne!(bits(now.as_ref()), bits(before[matrix].as_ref().unwrap().as_ref()));
    }

    // A solve names what it leaves out, and does not write there.
    let mut x = vec![c64::new(1.0, -1.0); count * n];
    (x[10 * n + 2].im, x[11 * n].re) = (f64::NEG_INFINITY, f64::NAN);
    let given: Vec<_> = x.iter().map(|x| (x.re.to_bits(), x.im.to_bits())).collect();
    let failed = batch.solve_in_place(BatchMut::by_rows(&mut x, [count, n, 1]).unwrap()).unwrap();
    assert_eq!(failed[4], (10, Error::NonFinite { argument: "rhs", row: 2, column: 0 }));
    let failed: Vec<_> = failed.into_iter().map(|(matrix, _)| matrix).collect();
    assert_eq!(failed, [2, 3, 5, 9, 10, 11]);
    for at in failed.into_iter().flat_map(|matrix| matrix * n..matrix * n + n) {
        assert_eq!((x[at].re.to_bits(), x[at].im.to_bits()), given[at]);
    }

    // Another matrix in its place.
    let identity = Mat::from_fn(n, n, |i, j| {
        c64::new(if i == j { 1.0 } else { 0.0 }, if i == j { f64::NAN } else { 0.0 })
    });
    batch.replace(5, &identity).unwrap();
    assert_eq!((batch.missing(), batch.log_det(5)), (vec![2, 3, 9], Ok(0.0)));
    assert_eq!(
        batch.replace(6, &(-Mat::<c64>::identity(n, n))),
        Err(Error::NotPositiveDefinite { column: 0 })
    );
    assert!(batch.status(6).is_ok());
}

fn masks_and_zero_weights<T: Complex>() {
    let (count, n) = (50, 9);
    let all: Vec<Problem<T>> = (0..count).map(|b| Problem::feasible(n, 2, Kind::Up, 0.5, b as u64)).collect();
    let l: Vec<Mat<T>> = all.iter().map(|problem| problem.l.clone()).collect();
    let v = stacked(&all.iter().map(|problem| problem.v.clone()).collect::<Vec<_>>(), n, 2);
    let v = BatchRef::by_rows(&v, [count, n, 2]).unwrap();
    let (mut batch, mut all) = (batch_of(&l, n, Cpu::default()), batch_of(&l, n, Cpu::default()));
    all.update(v).unwrap();
    let mask: Vec<bool> = (0..count).map(|matrix| matrix % 3 == 0).collect();
    let outcome = batch.modify_where(&mask, v, Weights::Plus).unwrap();
    assert_eq!(outcome.report(1).unwrap().log_det_change(), 0.0);
    for matrix in 0..count {
        let expected = if mask[matrix] { all.factor(matrix).unwrap() } else { l[matrix].clone() };
        assert_eq!(bits(batch.factor(matrix).unwrap().as_ref()), bits(expected.as_ref()), "matrix {matrix}");
    }
    // A weight of zero is no column, not even one that is not a number.
    let with_nan: Vec<T> = (0..2 * count * n)
        .map(|at| {
            if at % 2 == 1 {
                T::from_c64(c64::new(0.0, f64::NAN))
            } else {
                v.get(at / (2 * n), at / 2 % n, 0)
            }
        })
        .collect();
    let with_nan = BatchRef::by_rows(&with_nan, [count, n, 2]).unwrap();
    let (mut batch, mut one) = (batch_of(&l, n, Cpu::default()), batch_of(&l, n, Cpu::default()));
    let weights = [0.5, 0.0].map(T::part);
    one.modify(v, &weights).unwrap();
    assert_eq!(batch.modify(with_nan, &weights).unwrap().all(), Ok(()));
    for (a, b) in factors(&batch).iter().zip(&factors(&one)) {
        assert_eq!(bits(a.as_ref()), bits(b.as_ref()));
    }
    let weights: Vec<T::Re> =
        (0..2 * count).map(|at| T::part(if at == 8 { f64::NAN } else { 1.0 })).collect();
    let outcome = batch.modify(v, BatchWeights::OfEach(&weights)).unwrap();
    assert_eq!(outcome.failed(), [4]);
    assert_eq!(outcome.status(4), Err(Error::NonFinite { argument: "weights", row: 0, column: 0 }));
}

#[test]
fn a_mask_and_weights_of_zero_leave_bits_as_they_are() {
    masks_and_zero_weights::<c64>();
    masks_and_zero_weights::<c32>();
}

fn any_strides<T: Complex>() {
    for (count, n, k) in [(13, 5, 2), (35, 8, 1), (20, 17, 4), (9, 3, 7)] {
        let all: Vec<Problem<T>> =
            (0..count).map(|b| Problem::feasible(n, k, Kind::Up, 0.5, b as u64)).collect();
        let l: Vec<Mat<T>> = all.iter().map(|problem| problem.l.clone()).collect();
        let mut first = batch_of(&l, n, Cpu::sequential());
        let by_rows = stacked(&all.iter().map(|problem| problem.v.clone()).collect::<Vec<_>>(), n, k);
        let v = BatchRef::by_rows(&by_rows, [count, n, k]).unwrap();
        first.update(v).unwrap();
        first.downdate(v).unwrap();
        // By columns, and side by side with gaps.
        for strides in [[n * k, 1, n], [2, 2 * count * k, 2 * count]] {
            let mut other = vec![T::ZERO; 2 * count * n * k];
            for (b, i, r) in (0..count * n * k).map(|at| (at / (n * k), at / k % n, at % k)) {
                other[b * strides[0] + i * strides[1] + r * strides[2]] = v.get(b, i, r);
            }
            let v = BatchRef::new(&other, [count, n, k], strides).unwrap();
            let mut second = batch_of(&l, n, Cpu::sequential());
            second.update(v).unwrap();
            second.downdate(v).unwrap();
            for (a, b) in factors(&first).iter().zip(&factors(&second)) {
                assert_eq!(bits(a.as_ref()), bits(b.as_ref()));
            }
        }
        // Copies: to the caller's memory, with more room, and of some.
        let mut copies = vec![T::ZERO; count * n * n];
        first.copy_factors(BatchMut::by_rows(&mut copies, [count, n, n]).unwrap()).unwrap();
        let copies = BatchRef::by_rows(&copies, [count, n, n]).unwrap();
        let some = first.select(&[count - 1, 0, count - 1]).unwrap();
        first.reserve(n + 3).unwrap();
        for (b, l) in factors(&first).iter().enumerate() {
            let copy = Mat::from_fn(n, n, |i, j| copies.get(b, i, j));
            assert_eq!(bits(copy.as_ref()), bits(l.as_ref()));
        }
        for (at, of) in [count - 1, 0, count - 1].into_iter().enumerate() {
            assert_eq!(bits(some.factor(at).unwrap().as_ref()), bits(first.factor(of).unwrap().as_ref()));
        }
    }
}

#[test]
fn any_strides_are_read() {
    any_strides::<c64>();
    any_strides::<c32>();
}

#[test]
fn empty_and_singular_batches_are_possible() {
    let none = CholeskyBatch::<c64>::new(BatchRef::by_rows(&[], [0, 3, 3]).unwrap()).unwrap();
    assert_eq!((none.count(), none.order()), (0, 3));
    let mut empty = CholeskyBatch::<c64>::new(BatchRef::by_rows(&[], [4, 0, 0]).unwrap()).unwrap();
    let outcome = empty.update(BatchRef::by_rows(&[], [4, 0, 2]).unwrap()).unwrap();
    assert_eq!((outcome.failed(), outcome.report(3).unwrap().min_pivot_ratio), (vec![], 1.0));
    assert_eq!(empty.log_det(2), Ok(0.0));
    assert_eq!(empty.solve_in_place(BatchMut::by_rows(&mut [], [4, 0, 1]).unwrap()), Ok(vec![]));

    // A batch of zeros becomes regular by updates.
    let (count, n) = (11, 4);
    let mut batch = batch_of(&vec![Mat::<c64>::zeros(n, n); count], n, Cpu::default());
    assert_eq!(batch.log_det(0), Err(Error::Singular { column: 0 }));
    let v: Vec<Mat<c64>> = (0..count).map(|b| uniform(n, 6, &mut rng(b as u64))).collect();
    let flat = stacked(&v, n, 6);
    assert_eq!(batch.update(BatchRef::by_rows(&flat, [count, n, 6]).unwrap()).unwrap().all(), Ok(()));
    for (l, v) in factors(&batch).iter().zip(&v) {
        assert!(is_factor(l.as_ref()));
        let apart = (l * l.adjoint() - v * v.adjoint()).norm_max();
        assert!(apart < 1e-14, "{apart}");
    }
}
