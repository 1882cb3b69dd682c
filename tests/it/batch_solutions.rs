//! Initial factors, reports and solutions of batches.

use crate::batch::{by_rows, columns, some};
use crate::support::contract::{assert_log_det, assert_solved, backward_error};
use crate::support::real::Real;
use cholupdate::faer::Mat;
use cholupdate::{BatchMut, BatchRef, Cholesky, CholeskyBatch, Cpu};

fn begin_right<T: Real>() {
    for (count, n) in [(1, 1), (3, 2), (40, 5), (20, 33), (5, 70)] {
        let (a, all) = some::<T>(count, n, 3);
        let batch = CholeskyBatch::new(BatchRef::by_rows(&a, [count, n, n]).unwrap()).unwrap();
        assert_eq!((batch.count(), batch.order(), batch.missing().len()), (count, n, 0));
        for (matrix, a) in all.iter().enumerate() {
            let l = batch.factor(matrix).unwrap();
            let (none, zero) = (Mat::<T>::zeros(n, 0), Mat::<T>::zeros(n, n));
            // L Lᵀ against A, as the modification of a single factor of A.
            let exact = Cholesky::new(a).unwrap().l().to_owned();
            let error = backward_error(l.as_ref(), exact.as_ref(), none.as_ref(), &[]);
            assert!(error <= 2.0 * (n as f64).max(12.0), "{error} u");
            assert!((0..n).all(|j| (0..j).all(|i| l[(i, j)] == zero[(i, j)])), "zero above the diagonal");
            assert_log_det(T::of(batch.log_det(matrix).unwrap()), &l);
        }
    }
}

#[test]
fn initial_factors_are_those_of_the_matrices() {
    begin_right::<f64>();
    begin_right::<f32>();
}

fn solve_all<T: Real>() {
    for (count, n, m) in [(1, 1, 1), (9, 4, 1), (35, 8, 3), (20, 33, 2), (3, 60, 0)] {
        let (a, all) = some::<T>(count, n, 4);
        let batch = CholeskyBatch::new(BatchRef::by_rows(&a, [count, n, n]).unwrap()).unwrap();
        let b = columns::<T>(count, n, m, 5);
        let mut x = by_rows(&b);
        let failed = batch.solve_in_place(BatchMut::by_rows(&mut x, [count, n, m]).unwrap()).unwrap();
        assert_eq!(failed, []);
        let x = BatchRef::by_rows(&x, [count, n, m]).unwrap();
        for (matrix, a) in all.iter().enumerate() {
            let x = Mat::from_fn(n, m, |i, r| x.get(matrix, i, r));
            assert_solved(a, &x, &b[matrix]);
        }
        // The halves, one after the other, are the whole.
        let mut halves = by_rows(&b);
        let shape = [count, n, m];
        batch.solve_l_in_place(BatchMut::by_rows(&mut halves, shape).unwrap()).unwrap();
        batch.solve_lt_in_place(BatchMut::by_rows(&mut halves, shape).unwrap()).unwrap();
        assert!(halves.iter().enumerate().all(|(at, half)| {
            let [matrix, i, r] = [at / (n * m), at / m % n, at % m];
            half.bits() == x.get(matrix, i, r).bits()
        }));
    }
}

#[test]
fn solutions_are_as_accurate_as_of_single_factors() {
    solve_all::<f64>();
    solve_all::<f32>();
}

/// Reports and solutions of matrices of equal and of different orders, some alone in the last register, against those of batches of one.
fn reports_and_solutions_alone<T: Real>() {
    let (count, n) = (37, 60);
    let (a, _) = some::<T>(count, n, 9);
    let v = by_rows(&columns::<T>(count, n, 1, 10));
    let orders: [fn(usize) -> usize; 3] = [|_| 60, |matrix| 1 + matrix % 60, |matrix| 45 + matrix % 7];
    for orders in orders {
        let orders: Vec<usize> = (0..count).map(orders).collect();
        let with = |matrices: std::ops::Range<usize>| {
            let (count, orders) = (matrices.len(), &orders[matrices.clone()]);
            let a =
                BatchRef::by_rows(&a[matrices.start * n * n..matrices.end * n * n], [count, n, n]).unwrap();
            let v = BatchRef::by_rows(&v[matrices.start * n..matrices.end * n], [count, n, 1]).unwrap();
            let mut batch = CholeskyBatch::with_orders(a, orders, Cpu::sequential()).unwrap();
            let outcome = batch.update(v).unwrap();
            let report = |matrix| {
                let report = outcome.report(matrix).unwrap();
                (report.min_pivot_ratio.to_bits(), report.log_det_change().to_bits())
            };
            let reports: Vec<_> = (0..count).map(report).collect();
            let mut x = vec![T::of(1.0); count * n];
            let rhs = BatchMut::by_rows(&mut x, [count, n, 1]).unwrap();
            assert!(batch.solve_in_place(rhs).unwrap().is_empty());
            (reports, x)
        };
        let (reports, x) = with(0..count);
        for matrix in 0..count {
            let (report, own) = with(matrix..matrix + 1);
            assert_eq!(report[0], reports[matrix], "report of matrix {matrix} of order {}", orders[matrix]);
            assert!(own == x[matrix * n..][..n], "solution of matrix {matrix} of order {}", orders[matrix]);
        }
    }
}

#[test]
fn reports_and_solutions_depend_on_no_other_matrix() {
    reports_and_solutions_alone::<f64>();
    reports_and_solutions_alone::<f32>();
}
