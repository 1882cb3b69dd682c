//! Beginnings, solves, rows at the end, and errors.

use super::*;
use crate::{Cholesky, Cpu, Error, Safeguard, Weights};
use faer::{Mat, MatRef};
use std::sync::Arc;

#[test]
fn solves_do_not_depend_on_the_number_of_processes() {
    for (n, m) in [(0, 1), (1, 1), (64, 3), (300, 1), (777, 5), (1024, 1)] {
        let (l, b) = (factor::<f64>(n), matrix::<f64>(n, m, 1.0));
        let expected = Cholesky::<f64>::from_factor(&l).unwrap().solve(&b).unwrap();
        for block in [16, 80, 256] {
            let mut first = None;
            for (ranks, threads) in [(1, 1), (2, 2), (3, 1), (4, 1)] {
                let b = b.clone();
                let found = on_all((ranks, settings(block, threads)), &l, move |factor| {
                    let mut x = mine(&factor.cyclic(), &b);
                    factor.solve(&[Side::L, Side::Transpose], x.as_mut()).unwrap();
                    let mut all = Mat::zeros(b.nrows(), b.ncols());
                    factor.gather_rows(x.as_ref(), all.as_mut());
                    all
                });
                let first = first.get_or_insert_with(|| found.clone());
                assert!(found == *first, "n {n}, m {m}, block {block}, {ranks} ranks");
                let off = (&found - &expected).norm_max();
                assert!(off <= 1e-13 * expected.norm_max(), "n {n}, m {m}, block {block}: off by {off:e}");
                if block == 256 {
                    assert!(found == expected, "n {n}, m {m}, {ranks} ranks: off by {off:e}");
                }
            }
        }
    }
}

#[test]
fn a_matrix_is_factored_by_all() {
    for n in [1, 63, 200, 321] {
        let l = factor::<f64>(n);
        let a = &l * l.transpose();
        for (ranks, block) in [(1, 16), (2, 16), (3, 64), (4, 48)] {
            let (a, l) = (a.clone(), l.clone());
            let found = Ranks::run(ranks, move |net| {
                let (rank, order) = (net.rank(), a.nrows());
                let root = 1 % net.ranks();
                let given =
                    if rank == root { a.as_ref() } else { MatRef::from_column_major_slice(&[], 0, 0) };
                let factor =
                    Factor::scatter(net, settings(block, 1), (Origin::Matrix, order), (root, given)).unwrap();
                let all = factor.gather(0).unwrap();
                assert_eq!(all.is_some(), rank == 0);
                let everywhere = whole(&factor);
                let off = (&everywhere - &l).norm_max();
                assert!(
                    off < 1e-13,
                    "n {order}, {} ranks, block {block}: off by {off:e}",
                    factor.net().ranks()
                );
                assert!(all.is_none_or(|all| all == everywhere));
                factor.log_det().unwrap()
            });
            assert!(found.iter().all(|log_det| *log_det == found[0]));
        }
    }
}

#[test]
fn an_indefinite_matrix_is_refused_by_all() {
    let (n, l) = (150, factor::<f64>(150));
    let mut a = &l * l.transpose();
    a[(97, 97)] = -1.0;
    let found = Ranks::run(3, move |net| {
        let cyclic = Cyclic { order: n, block: 16, ranks: 3, rank: net.rank() };
        Factor::new(net, settings(16, 1), (Origin::Matrix, n), mine(&cyclic, &a).as_ref()).map(|_| ())
    });
    assert_eq!(found, vec![Err(Error::NotPositiveDefinite { column: 97 }); 3]);
}

#[test]
fn errors_of_one_process_are_those_of_all_and_change_nothing() {
    let (n, l) = (100, factor::<f64>(100));
    let v = Arc::new(matrix::<f64>(n, 2, 0.1));
    let before = l.clone();
    on_all((3, settings(16, 1)), &l, move |factor| {
        let (cyclic, last) = (factor.cyclic(), factor.cyclic().rank == 2);
        let mut rows = mine(&cyclic, &v);
        let short = rows.subrows(0, cyclic.rows() - usize::from(last)).to_owned();
        let found = factor.modify(Rows::Mine(short.as_ref()), Weights::Plus);
        let expected = cyclic.of(2).rows();
        let shape = Error::Shape { argument: "v", extent: "rows", expected, found: expected - 1 };
        assert_eq!(found, Err(shape));
        if last {
            rows[(3, 1)] = f64::NAN;
        }
        let row = cyclic.of(2).row(3);
        let found = factor.modify(Rows::Mine(rows.as_ref()), Weights::Minus);
        assert_eq!(found, Err(Error::NonFinite { argument: "v", row, column: 1 }));
        let w = [1.0, if last { 2.0 } else { 3.0 }];
        let found = factor.dry_run(Rows::All(v.as_ref().as_ref()), Weights::Each(&w));
        assert_eq!(found, Err(Error::Differs { argument: "weights" }));
        let cols = if last { 1 } else { 2 };
        let found = factor.modify(Rows::All(v.subcols(0, cols)), Weights::Plus);
        assert_eq!(found, Err(Error::Differs { argument: "v" }));
        let mut rhs = mine(&cyclic, &v);
        if last {
            rhs[(0, 0)] = f64::INFINITY;
        }
        let found = factor.solve(&[Side::L], rhs.as_mut());
        assert_eq!(found, Err(Error::NonFinite { argument: "rhs", row: 32, column: 0 }));
        assert!(whole(factor) == before);
    });
}

#[test]
fn without_a_safeguard_a_breakdown_poisons_every_process() {
    let (n, l) = (100, factor::<f64>(100));
    let mut v = matrix::<f64>(n, 1, 1e-3);
    v[(70, 0)] = 40.0;
    let settings = Settings { safeguard: Safeguard::None, ..settings(16, 1) };
    on_all((2, settings), &l, move |factor| {
        let found = factor.modify(Rows::All(v.as_ref()), Weights::Minus);
        assert!(matches!(found, Err(Error::NotPositiveDefinite { .. })), "{found:?}");
        assert_eq!(factor.log_det(), Err(Error::Poisoned));
        assert_eq!(factor.modify(Rows::All(v.as_ref()), Weights::Plus), Err(Error::Poisoned));
    });
}

#[test]
fn rows_come_and_go_at_the_end() {
    let n = 300;
    let all = factor::<f64>(n + 70);
    let a = &all * all.transpose();
    let l = all.submatrix(0, 0, n, n).to_owned();
    for (ranks, block) in [(1, 256), (2, 256), (3, 256), (4, 256)] {
        let mut cpu = Cholesky::<f64>::from_factor_in(&l, Cpu::sequential()).unwrap();
        let (mut reports, mut factors) = (Vec::new(), Vec::new());
        for (at, count) in [(n, 1), (n + 1, 69)] {
            reports
                .push(cpu.append(a.submatrix(0, at, at, count), a.submatrix(at, at, count, count)).unwrap());
            factors.push(cpu.to_factor().unwrap());
        }
        let a = a.clone();
        let found = on_all((ranks, settings(block, 1)), &l, move |factor| {
            let (mut reports, mut factors) = (Vec::new(), Vec::new());
            for (at, count) in [(n, 1), (n + 1, 69)] {
                let (b, k) = (a.submatrix(0, at, at, count), a.submatrix(at, at, count, count));
                let mut indefinite = k.to_owned();
                indefinite[(count - 1, count - 1)] = -1.0;
                let refused = factor.append(Rows::All(b), indefinite.as_ref());
                assert_eq!(refused, Err(Error::NotPositiveDefinite { column: at + count - 1 }));
                reports.push(factor.append(Rows::All(b), k).unwrap());
                factors.push(whole(factor));
            }
            // A downdate, so that the shadow buffer grows with L.
            let v = matrix::<f64>(n + 70, 3, 1e-3);
            factor.modify(Rows::All(v.as_ref()), Weights::Minus).unwrap();
            factor.modify(Rows::All(v.as_ref()), Weights::Plus).unwrap();
            assert!(factor.remove_last(n + 71).is_err());
            factor.remove_last(69).unwrap();
            factor
                .append(Rows::All(a.submatrix(0, n + 1, n + 1, 69)), a.submatrix(n + 1, n + 1, 69, 69))
                .unwrap();
            assert!((&whole(factor) - &factors[1]).norm_max() < 1e-13);
            factor.remove_last(70).unwrap();
            assert!((&whole(factor) - factors[0].submatrix(0, 0, n, n)).norm_max() < 1e-13);
            (reports, factors)
        });
        assert_eq!(found.0, reports);
        assert!(found.1 == factors);
        assert!((&factors[1] - &all).norm_max() < 1e-12);
    }
}

#[test]
fn a_block_may_be_larger_than_the_matrix() {
    let n = 40;
    let l = factor::<f64>(n);
    let a = &l * l.transpose();
    on_all((2, settings(1 << 20, 1)), &l.submatrix(0, 0, 3, 3).to_owned(), move |distributed| {
        for at in 3..n {
            let (b, k) = (a.submatrix(0, at, at, 1), a.submatrix(at, at, 1, 1));
            distributed.append(Rows::All(b), k).unwrap();
        }
        assert!((&whole(distributed) - &l).norm_max() < 1e-13);
        distributed.remove_last(n - 1).unwrap();
        assert_eq!(distributed.pivots().unwrap(), &[l[(0, 0)]]);
        let b = a.submatrix(0, 1, 1, 20);
        distributed.append(Rows::All(b), a.submatrix(1, 1, 20, 20)).unwrap();
        assert!((&whole(distributed) - l.submatrix(0, 0, 21, 21)).norm_max() < 1e-13);
    });
}

#[test]
fn beginnings_that_differ_are_errors() {
    let found = Ranks::run(3, |net| {
        let origin = if net.rank() == 1 { Origin::Matrix } else { Origin::Factor };
        let one = Mat::from_fn(1, 1, |_, _| 2.0);
        Factor::scatter(net, settings(16, 1), (origin, 1), (0, one.as_ref())).map(|_| ())
    });
    assert_eq!(found, vec![Err(Error::Differs { argument: "the call" }); 3]);
}
