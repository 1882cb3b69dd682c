//! Factors that begin singular: updates are rotations against zero pivots, and calls that need a regular A return the column in
//! which it is singular.

use crate::support::contract::assert_contract;
use crate::support::problem::{factor, rng, uniform};
use crate::support::real::{Real, bits};
use cholupdate::faer::{Mat, MatRef, mat};
use cholupdate::{Carried, Cholesky, Cpu, Engine, Error, Weights, Workspace, modify_in_place};

on_every_engine!(
    observations_make_it_regular,
    what_takes_a_regular_matrix_says_where_it_is_singular,
    a_factor_with_zeros_on_its_diagonal,
    forgetting_from_nothing,
    it_stays_singular_on_another_engine,
    least_squares_begin_with_nothing,
);

fn narrow<T: Real>(a: &Mat<f64>) -> Mat<T> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| T::of(a[(i, j)]))
}

fn zeros<T: Real, E: Engine<T> + Clone>(n: usize, engine: &E) -> Cholesky<T, E> {
    Cholesky::zeros_in(n, engine.clone()).unwrap()
}

/// L is as accurate as after one update of zeros by all rows.
#[track_caller]
fn assert_factor_of<T: Real>(l: &Mat<T>, v: MatRef<'_, T>, what: &str) {
    let ones = vec![T::ONE; v.ncols()];
    assert_contract(l.as_ref(), Mat::zeros(l.nrows(), l.nrows()).as_ref(), v, &ones, what);
}

fn observations_make_it_regular<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for (n, k) in [(1, 1), (2, 1), (5, 1), (7, 2), (9, 3), (12, 4), (17, 8), (33, 5), (40, 64), (70, 33)] {
        let all = narrow::<T>(&uniform(n, n.next_multiple_of(k), &mut rng((n * k) as u64)));
        let mut factor = zeros::<T, E>(n, engine);
        for first in (0..all.ncols()).step_by(k) {
            let rank = first.min(n);
            let singular = factor.log_det().err();
            assert_eq!(singular, (rank < n).then_some(Error::Singular { column: rank }), "n = {n}, k = {k}");
            let report = factor.update(all.as_ref().subcols(first, k)).unwrap();
            assert!(report.log_det_change().is_finite() && !(report.min_pivot_ratio < 1.0), "{report:?}");
        }
        assert!(factor.log_det().unwrap().is_finite());
        assert_factor_of(&factor.to_factor().unwrap(), all.as_ref(), "row by row");
        let mut at_once = zeros::<T, E>(n, engine);
        at_once.update(&all).unwrap();
        assert_factor_of(&at_once.to_factor().unwrap(), all.as_ref(), "all rows at once");
    }
}

/// (4 2; 2 1), which is singular in column 1, and calls that must not change it.
fn what_takes_a_regular_matrix_says_where_it_is_singular<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let [zero, one, two] = [0.0, 1.0, 2.0].map(T::of);
    let mut factor = zeros::<T, E>(3, engine);
    assert_eq!(factor.log_det(), Err(Error::Singular { column: 0 }));
    factor.update(&[two, one, zero]).unwrap();
    let before = bits(factor.to_factor().unwrap().as_ref());
    let singular = Error::Singular { column: 1 };
    let v = [one, zero, zero];
    assert_eq!(factor.log_det().unwrap_err(), singular);
    assert_eq!(factor.condition().unwrap_err(), singular);
    assert_eq!(factor.solve(&v).unwrap_err(), singular);
    assert_eq!(factor.solve_l(&v).unwrap_err(), singular);
    assert_eq!(factor.solve_lt_in_place(&mut [one; 3]).unwrap_err(), singular);
    assert_eq!(factor.downdate(&v).unwrap_err(), singular);
    assert_eq!(factor.can_downdate(&v).unwrap_err(), singular);
    let both = mat![[one, zero], [zero, one], [zero, one]];
    assert_eq!(factor.modify(&both, &[one, -one]).unwrap_err(), singular);
    assert_eq!(factor.submit(&v, Weights::Minus).err().unwrap(), singular);
    assert_eq!(factor.append(&v, &[one]).unwrap_err(), singular);
    assert_eq!(factor.insert(1, &[one, two, one, zero]).unwrap_err(), singular);
    assert_eq!(factor.replace(0, &[one, zero, zero]).unwrap_err(), singular);
    assert_eq!(factor.remove(&[1]).unwrap_err(), singular);
    assert_eq!(factor.shift(0, 2).unwrap_err(), singular);
    assert_eq!(factor.permute(&[2, 1, 0]).unwrap_err(), singular);
    assert_eq!(factor.extension(&v, &[one]).err().unwrap(), singular);
    assert_eq!(Carried::new(&factor, &v, &[one]).unwrap_err(), singular);
    // Errors of arguments come first.
    assert!(matches!(factor.downdate(&[one]).unwrap_err(), Error::Shape { argument: "v", .. }));
    assert!(matches!(factor.downdate(&[T::of(f64::NAN); 3]).unwrap_err(), Error::NonFinite { .. }));
    assert_eq!(bits(factor.to_factor().unwrap().as_ref()), before);
    assert_eq!(factor.reconstruct().unwrap()[(1, 0)], T::of(2.0));
    // A solve after an update, as one step: refused until A is regular, and then successful at once.
    let mut b = [one, zero, zero];
    let (modified, solved) = factor.submit(&[zero, zero, one], Weights::Plus).unwrap().solve_in_place(&mut b);
    assert!(modified.is_ok());
    assert_eq!((solved.unwrap_err(), b), (singular, [one, zero, zero]));
    let (modified, solved) = factor.submit(&[zero, two, zero], Weights::Plus).unwrap().solve_in_place(&mut b);
    assert!(modified.is_ok() && solved.is_ok());
    assert!((b[0].f64() - 5.0 / 16.0).abs() < 8.0 * T::U && (b[1].f64() + 2.0 / 16.0).abs() < 8.0 * T::U);
    factor.downdate(&[zero, one, zero]).unwrap();
}

fn a_factor_with_zeros_on_its_diagonal<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for (n, k) in [(6, 1), (6, 3), (20, 4), (40, 17), (70, 2)] {
        let mut rng = rng(n as u64);
        let mut l = factor(n, &mut rng);
        // Some zero columns, and some with a zero only on the diagonal.
        for j in (0..n).filter(|j| j % 3 == 1) {
            l[(j, j)] = 0.0;
            if j % 2 == 0 {
                l.col_mut(j).fill(0.0);
            }
        }
        let l = narrow::<T>(&l);
        let mut factor = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
        assert_eq!(factor.log_det(), Err(Error::Singular { column: 1 }));
        let v = narrow::<T>(&uniform(n, k, &mut rng));
        // Rows before the first of V, and zero rows of V, leave zero pivots as they are.
        let v = Mat::from_fn(n, k, |i, r| if i < 2 { T::ZERO } else { v[(i, r)] });
        factor.update(&v).unwrap();
        assert_eq!(factor.log_det(), Err(Error::Singular { column: 1 }));
        assert_eq!(factor.to_factor().unwrap()[(1, 1)], T::ZERO);
        let rest = narrow::<T>(&uniform(n, n, &mut rng));
        factor.update(&rest).unwrap();
        assert!(factor.log_det().is_ok());
        let all = Mat::from_fn(n, n + k, |i, r| if r < k { v[(i, r)] } else { rest[(i, r - k)] });
        let ones = vec![T::ONE; n + k];
        let new = factor.to_factor().unwrap();
        assert_contract(new.as_ref(), l.as_ref(), all.as_ref(), &ones, ("zeros on the diagonal", n, k));
    }
}

fn forgetting_from_nothing<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let n = 5;
    let all = narrow::<T>(&uniform(n, 12, &mut rng(1)));
    let mut factor = zeros::<T, E>(n, engine);
    let decay = T::of(0.5);
    for r in 0..12 {
        factor.modify_scaled(decay, all.as_ref().subcols(r, 1), &[T::ONE]).unwrap();
    }
    let weighted = Mat::from_fn(n, 12, |i, r| T::of(all[(i, r)].f64() * 0.5f64.sqrt().powi(11 - r as i32)));
    let found = factor.reconstruct().unwrap();
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let of = |i: usize, j: usize| {
            (0..12).map(|r| weighted[(i, r)].f64() * weighted[(j, r)].f64()).sum::<f64>()
        };
        let scale = (of(i, i) * of(j, j)).sqrt();
        assert!((found[(i, j)].f64() - of(i, j)).abs() <= 60.0 * T::U * scale, "({i}, {j})");
    }
}

fn it_stays_singular_on_another_engine<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let factor = zeros::<T, E>(4, engine);
    let mut other = factor.to_engine(Cpu::sequential()).unwrap();
    assert_eq!(other.log_det(), Err(Error::Singular { column: 0 }));
    other.update(&Mat::from_fn(4, 4, |i, j| if i == j { T::ONE } else { T::ZERO })).unwrap();
    assert_eq!(other.clone().into_engine(engine.clone()).unwrap().log_det().unwrap(), T::ZERO);
    assert!(zeros::<T, E>(0, engine).log_det().is_ok());
}

/// z and the residual sum of squares from zero, as with LINPACK's `dchud`.
fn least_squares_begin_with_nothing<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let report = zeros::<T, E>(3, engine).update(&[T::ONE; 3]).unwrap();
    assert_eq!((report.min_pivot_ratio, report.log_det_change()), (1.0, 0.0), "no pivot counts");
    for (n, m, rows, at_once) in [(1, 1, 4, 1), (4, 2, 9, 1), (4, 2, 30, 3), (12, 1, 40, 1), (12, 3, 60, 5)] {
        let mut rng = rng(rows as u64);
        let (x, y) = (narrow::<T>(&uniform(n, rows, &mut rng)), narrow::<T>(&uniform(rows, m, &mut rng)));
        let mut factor = zeros::<T, E>(n, engine);
        let mut carried = Carried::zeros(n, m);
        for r in (0..rows).step_by(at_once) {
            let (v, y) = (x.as_ref().subcols(r, at_once), y.as_ref().subrows(r, at_once));
            factor.modify_carrying(T::ONE, v, Weights::Plus, y, &mut carried).unwrap();
        }
        let beta = factor.solve_lt(&carried.z).unwrap();
        let residual = &y - x.transpose() * &beta;
        // Normal equations, and the residual.
        assert!((&x * &residual).norm_max() < T::of(1e3 * T::U), "n = {n}");
        for c in 0..m {
            let square = residual.col(c).iter().map(|r| r.f64() * r.f64()).sum::<f64>();
            let off = (carried.squares[c].f64() - square).abs();
            assert!(off < 1e3 * T::U * (1.0 + square), "n = {n}: {off:e} of {square}");
        }
    }
}

#[test]
fn on_memory_of_the_caller() {
    let (mut l, mut workspace) = (Mat::<f64>::zeros(2, 2), Workspace::new());
    let engine = Cpu::sequential();
    let mut modify =
        |l: &mut Mat<f64>, v: &[f64; 2], w| modify_in_place(l.as_mut(), v, &[w], &engine, &mut workspace);
    modify(&mut l, &[2.0, 1.0], 1.0).unwrap();
    assert_eq!(modify(&mut l, &[1.0, 0.0], -1.0), Err(Error::Singular { column: 1 }));
    modify(&mut l, &[0.0, 2.0], 1.0).unwrap();
    assert_eq!(l, mat![[2.0, 0.0], [1.0, 2.0]]);
}

#[test]
fn an_order_that_no_memory_could_hold() {
    for order in [usize::MAX, 1 << 40] {
        let refused = Cholesky::<f32>::zeros(order).unwrap_err();
        assert!(matches!(refused, Error::OutOfRange { argument: "order", .. }), "{refused}");
    }
}
