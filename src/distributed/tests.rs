//! Distributed factors on threads of this process, against the `Cpu` engine.

use super::network::threads::Threads as Ranks;
use super::*;
use crate::{Cholesky, Cpu, Error, Modification, Safeguard, Weights};
use faer::{Mat, MatRef};
use std::sync::Arc;

/// A number between −1 and 1 that looks random.
fn number(i: usize, j: usize) -> f64 {
    let x = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (j as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let x = (x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((x ^ (x >> 32)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

trait Number: crate::Scalar + crate::real::Real {
    fn of(x: f64) -> Self {
        <Self as crate::float::Float>::from_f64(x)
    }
}
impl Number for f32 {}
impl Number for f64 {}

/// A factor with entries of order 1 that is well conditioned.
fn factor<T: Number>(order: usize) -> Mat<T> {
    Mat::from_fn(order, order, |i, j| match i.cmp(&j) {
        core::cmp::Ordering::Less => T::of(0.0),
        core::cmp::Ordering::Equal => T::of(1.5 + number(i, j)),
        core::cmp::Ordering::Greater => T::of(number(i, j) / (order as f64).sqrt()),
    })
}

fn matrix<T: Number>(rows: usize, cols: usize, scale: f64) -> Mat<T> {
    Mat::from_fn(rows, cols, |i, j| T::of(scale * number(i + 7, j + 31)))
}

/// The rows of a process.
fn mine<T: Number>(cyclic: &Cyclic, of: &Mat<T>) -> Mat<T> {
    Mat::from_fn(cyclic.rows(), of.ncols(), |place, j| of[(cyclic.row(place), j)])
}

fn settings(block: usize, threads: usize) -> Settings {
    Settings { threads: Some(threads), block, ..Settings::default() }
}

fn start<T: Number>(net: Ranks, settings: Settings, l: &Mat<T>) -> Factor<T, Ranks> {
    let (order, block) = (l.nrows(), settings.block);
    let cyclic = Cyclic { order, block, ranks: net.ranks(), rank: net.rank() };
    Factor::new(net, settings, (Origin::Factor, order), mine(&cyclic, l).as_ref()).unwrap()
}

/// Runs `work` on so many processes with distributed factors of L; all results must be the same.
fn on_all<T: Number, R: PartialEq + core::fmt::Debug + Send + 'static>(
    (ranks, settings): (usize, Settings),
    l: &Mat<T>,
    work: impl Fn(&mut Factor<T, Ranks>) -> R + Send + Sync + 'static,
) -> R {
    let l = l.clone();
    let mut all = Ranks::run(ranks, move |net| work(&mut start(net, settings, &l)));
    let first = all.swap_remove(0);
    assert!(all.iter().all(|other| *other == first), "{all:?}, {first:?}");
    first
}

/// L of all processes, on each of them.
fn whole<T: Number>(factor: &Factor<T, Ranks>) -> Mat<T> {
    let rows = factor.to_rows().unwrap();
    let mut all = Mat::zeros(factor.cyclic().order, rows.ncols());
    factor.gather_rows(rows.as_ref(), all.as_mut());
    all
}

fn modified<T: Number>(
    at: (usize, Settings),
    l: &Mat<T>,
    (v, w): (&Mat<T>, &[T]),
) -> (Result<Modification, Error>, Mat<T>) {
    let (v, w) = (v.clone(), w.to_vec());
    on_all(at, l, move |factor| {
        let rows = mine(&factor.cyclic(), &v);
        let dry = factor.dry_run(Rows::All(v.as_ref()), Weights::Each(&w));
        let outcome = factor.modify(Rows::Mine(rows.as_ref()), Weights::Each(&w));
        assert_eq!(dry, outcome);
        (outcome, whole(factor))
    })
}

fn reference<T: Number>(l: &Mat<T>, (v, w): (&Mat<T>, &[T])) -> (Result<Modification, Error>, Mat<T>) {
    let mut factor = Cholesky::<T>::from_factor_in(l, Cpu::sequential()).unwrap();
    let outcome = factor.modify(v, w);
    (outcome, factor.to_factor().unwrap())
}

fn weights<T: Number>(k: usize, signs: &str) -> Vec<T> {
    let sign = |r: usize| match signs {
        "+" => 1.0,
        "-" => -1.0,
        _ => [1.0, -0.25, 0.5][r % 3],
    };
    (0..k).map(|r| T::of(sign(r))).collect()
}

fn same_bits<T: Number>() {
    for (n, k) in
        [(0, 2), (1, 1), (5, 3), (100, 1), (100, 4), (130, 2), (300, 1), (333, 3), (520, 6), (700, 20)]
    {
        for signs in ["+", "-", "±"] {
            let (l, mut v) = (factor::<T>(n), matrix::<T>(n, k, 0.02 / (k as f64).sqrt()));
            // Leading zeros of V, to the middle of a block.
            for i in 0..if n > 300 && signs == "+" { 41 } else { 0 } {
                v.row_mut(i).fill(T::of(0.0));
            }
            let w = weights::<T>(k, signs);
            let expected = reference(&l, (&v, &w));
            expected.0.as_ref().unwrap();
            for (ranks, block, threads) in [(1, 64, 1), (2, 16, 1), (2, 48, 2), (3, 64, 1), (4, 256, 2)] {
                let found = modified((ranks, settings(block, threads)), &l, (&v, &w));
                assert_eq!(found.0, expected.0, "n {n}, k {k}, {signs}, {ranks} ranks, block {block}");
                assert!(found.1 == expected.1, "n {n}, k {k}, {signs}, {ranks} ranks, block {block}");
            }
        }
    }
}

#[test]
fn a_modification_has_the_bits_of_the_cpu_engine() {
    same_bits::<f64>();
}

#[test]
fn also_in_single_precision() {
    same_bits::<f32>();
}

#[test]
fn a_breakdown_leaves_every_process_as_it_was() {
    let n = 400;
    let l = factor::<f64>(n);
    for column in [0, 5, 70, 399] {
        for k in [1, 3, 9] {
            let mut v = matrix::<f64>(n, k, 1e-3);
            v.col_mut(0).fill(0.0);
            v[(column, 0)] = 40.0;
            let w = vec![-1.0; k];
            let expected = reference(&l, (&v, &w));
            assert!(matches!(expected.0, Err(Error::NotPositiveDefinite { .. })));
            for (ranks, block, threads) in [(1, 16, 1), (2, 64, 2), (3, 16, 1), (4, 48, 1)] {
                let found = modified((ranks, settings(block, threads)), &l, (&v, &w));
                assert_eq!(found.0, expected.0);
                assert!(found.1 == l, "L is as it was");
            }
        }
    }
}

#[test]
fn what_working_precision_cannot_decide_is_repeated() {
    // A' has an eigenvalue that is positive, but smaller than the rounding errors of A.
    let n = 90;
    let l = Mat::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 });
    let v = Mat::from_fn(n, 1, |i, _| if i == 3 || i == 60 { (0.5f64).sqrt() } else { 0.0 });
    let mut outcomes = Vec::new();
    for step in 0..40 {
        let w = [-(1.0 + (step as f64 - 20.0) * 1e-17 * 8.0)];
        let expected = reference(&l, (&v, &w));
        let found = modified((3, settings(16, 1)), &l, (&v, &w));
        assert_eq!(found.0, expected.0);
        assert!(found.1 == expected.1);
        outcomes.push(found.0.is_ok());
    }
    assert!(outcomes.contains(&true) && outcomes.contains(&false));
}

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
