//! What the calls read and write: triangles, layouts, threads, memory, and what they refuse.

use super::{Along, triangle};
use crate::support::allocator::Group;
use crate::support::layout::{Laid, Layout};
use crate::support::problem::{Kind, Problem, rng};
use crate::support::real::{Real, bits};
use cholupdate::faer::Mat;
use cholupdate::gradient::{
    Cotangents, CotangentsMut, GradientWorkspace, Modified, Tangents, modify_jvp, modify_jvp_into,
    modify_vjp, modify_vjp_into,
};
use cholupdate::{Cpu, Error, Weights};
use rayon::ThreadPoolBuilder;

/// A modification that has been made, a cotangent and tangents.
struct Case<T> {
    problem: Problem<T>,
    new: Mat<T>,
    bar: Mat<T>,
    along: Along<T>,
}

impl<T: Real> Case<T> {
    fn new(n: usize, k: usize, kind: Kind) -> Self {
        let mut rng = rng(3);
        let problem = Problem::<T>::feasible(n, k, kind, 0.3, 4);
        let (new, _) = problem.modified(&Cpu::sequential()).unwrap();
        Self { problem, new, bar: triangle(n, &mut rng), along: Along::new(n, k, &mut rng) }
    }

    fn modified(&self) -> Modified<'_, T> {
        let Problem { l, v, weights } = &self.problem;
        Modified { l: l.as_ref(), new: self.new.as_ref(), v: v.as_ref(), weights: weights.into() }
    }

    /// The bits of all results, into memory that was NaN.
    fn results(&self, engine: &Cpu, workspace: &mut GradientWorkspace<T>) -> Vec<u64> {
        let (n, k) = self.problem.v.shape();
        let (mut to, mut tangent) = (nan::<T>(n, k), nan::<T>(n, 0).l);
        let modified = self.modified();
        let into = CotangentsMut::from(&mut to);
        modify_vjp_into(&modified, self.bar.as_ref(), into, engine, workspace).unwrap();
        modify_jvp_into(&modified, &self.along.tangents(), tangent.as_mut(), engine, workspace).unwrap();
        all_bits(&to, &tangent)
    }
}

/// Cotangents that are NaN.
fn nan<T: Real>(n: usize, k: usize) -> Cotangents<T> {
    let nan = T::of(f64::NAN);
    Cotangents { l: Mat::from_fn(n, n, |_, _| nan), v: Mat::from_fn(n, k, |_, _| nan), weights: vec![nan; k] }
}

fn all_bits<T: Real>(to: &Cotangents<T>, tangent: &Mat<T>) -> Vec<u64> {
    let matrices = [&to.l, &to.v, tangent].into_iter().flat_map(|a| bits(a.as_ref()));
    matrices.chain(to.weights.iter().map(|w| w.bits())).collect()
}

fn what_is_above_the_diagonal_is_not_read<T: Real>() {
    for (n, k) in [(1, 1), (5, 2), (33, 3), (70, 1), (300, 2)] {
        for kind in Kind::ALL {
            let mut case = Case::<T>::new(n, k, kind);
            let expected = case.results(&Cpu::sequential(), &mut GradientWorkspace::new());
            for j in 0..n {
                for i in 0..j {
                    for a in [&mut case.problem.l, &mut case.new] {
                        a[(i, j)] = T::of(f64::NAN);
                    }
                    case.bar[(i, j)] = T::of(f64::INFINITY);
                    case.along.l[(i, j)] = T::of(7.0);
                }
            }
            let found = case.results(&Cpu::sequential(), &mut GradientWorkspace::new());
            assert!(found == expected, "{n} × {k}, {kind:?}");
            let Problem { l, v, weights } = &case.problem;
            let pulled = modify_vjp(l, &case.new, v, weights, &case.bar).unwrap();
            let pushed = modify_jvp(l, &case.new, v, weights, &case.along.tangents()).unwrap();
            assert!(all_bits(&pulled, &pushed) == expected, "{n} × {k}, {kind:?}: the calls that return");
            for a in [&pulled.l, &pushed] {
                assert!((0..n).all(|j| (0..j).all(|i| a[(i, j)].bits() == T::ZERO.bits())));
                assert!((0..n).all(|j| (j..n).all(|i| a[(i, j)].is_finite())));
            }
        }
    }
}

#[test]
fn triangles_f64() {
    what_is_above_the_diagonal_is_not_read::<f64>();
}

#[test]
fn triangles_f32() {
    what_is_above_the_diagonal_is_not_read::<f32>();
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    for (n, k) in [(300, 1), (700, 3), (1100, 1), (600, 40)] {
        for kind in Kind::ALL {
            let case = Case::<f64>::new(n, k, kind);
            let expected = case.results(&Cpu::sequential(), &mut GradientWorkspace::new());
            for threads in [2, 3, 5] {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let found = pool.install(|| case.results(&Cpu::default(), &mut GradientWorkspace::new()));
                assert!(found == expected, "{n} × {k}, {kind:?}, {threads} threads");
            }
        }
    }
}

#[test]
fn any_layout_has_the_same_bits() {
    for (n, k) in [(9, 2), (33, 1), (300, 3), (100, 9), (970, 8)] {
        for kind in [Kind::Up, Kind::Mixed] {
            let case = Case::<f64>::new(n, k, kind);
            let workspace = &mut GradientWorkspace::new();
            let expected = case.results(&Cpu::sequential(), workspace);
            for layout in Layout::ALL {
                let [l, new, v, bar] = [&case.problem.l, &case.new, &case.problem.v, &case.bar]
                    .map(|a| Laid::new(a.as_ref(), layout));
                let [dl, dv] = [&case.along.l, &case.along.v].map(|a| Laid::new(a.as_ref(), layout));
                let modified = Modified {
                    l: l.as_ref(),
                    new: new.as_ref(),
                    v: v.as_ref(),
                    weights: Weights::Each(&case.problem.weights),
                };
                let before = nan::<f64>(n, k);
                let [mut to_l, mut to_v, mut tangent] =
                    [&before.l, &before.v, &before.l].map(|a| Laid::new(a.as_ref(), layout));
                let mut weights = before.weights;
                let to = CotangentsMut { l: to_l.as_mut(), v: to_v.as_mut(), weights: &mut weights };
                let engine = Cpu::sequential();
                modify_vjp_into(&modified, bar.as_ref(), to, &engine, workspace).unwrap();
                let along = Tangents { l: dl.as_ref(), v: dv.as_ref(), weights: Some(&case.along.weights) };
                modify_jvp_into(&modified, &along, tangent.as_mut(), &engine, workspace).unwrap();
                let to = Cotangents { l: to_l.as_ref().to_owned(), v: to_v.as_ref().to_owned(), weights };
                let found = all_bits(&to, &tangent.as_ref().to_owned());
                assert!(found == expected, "{n} × {k}, {kind:?}, {layout:?}");
            }
        }
    }
}

/// U = Lᵀ.
#[test]
fn upper_triangular_factors_by_transposed_views() {
    let case = Case::<f64>::new(100, 2, Kind::Up);
    let [u, u_new, bar] = [&case.problem.l, &case.new, &case.bar].map(|a| a.transpose().to_owned());
    let Problem { v, weights, .. } = &case.problem;
    let found = modify_vjp(u.transpose(), u_new.transpose(), v, weights, bar.transpose()).unwrap();
    let expected = modify_vjp(&case.problem.l, &case.new, v, weights, &case.bar).unwrap();
    assert_eq!(found, expected);
}

#[test]
fn nothing_is_allocated_after_the_first_call() {
    let group = Group::new();
    group.join();
    for (n, k) in [(1, 1), (20, 3), (65, 1), (300, 2), (300, 40)] {
        for kind in Kind::ALL {
            let case = Case::<f64>::new(n, k, kind);
            let (mut to, mut tangent) = (nan::<f64>(n, k), nan::<f64>(n, 0).l);
            let mut workspace = GradientWorkspace::new();
            let allocated: Vec<_> = (0..2)
                .map(|_| {
                    let before = group.count();
                    let (modified, engine) = (case.modified(), Cpu::sequential());
                    let into = CotangentsMut::from(&mut to);
                    modify_vjp_into(&modified, case.bar.as_ref(), into, &engine, &mut workspace).unwrap();
                    let along = case.along.tangents();
                    modify_jvp_into(&modified, &along, tangent.as_mut(), &engine, &mut workspace).unwrap();
                    group.count() - before
                })
                .collect();
            assert!(allocated[0] > 0, "the counter does not count");
            assert_eq!(allocated[1], 0, "{n} × {k}, {kind:?}");
        }
    }
}

#[test]
fn empty_matrices_and_v_without_columns() {
    let none = Mat::<f64>::zeros(0, 0);
    let pulled = modify_vjp(&none, &none, Mat::zeros(0, 3).as_ref(), Weights::Plus, &none).unwrap();
    assert_eq!((pulled.l.shape(), pulled.v.shape(), pulled.weights), ((0, 0), (0, 3), vec![0.0; 3]));
    let case = Case::<f64>::new(40, 2, Kind::Up);
    let (l, v) = (&case.problem.l, Mat::zeros(40, 0));
    let pulled = modify_vjp(l, l, &v, &[], &case.bar).unwrap();
    let tangents = Tangents { l: case.along.l.as_ref(), v: v.as_ref(), weights: None };
    let pushed = modify_jvp(l, l, &v, Weights::Minus, &tangents).unwrap();
    for (found, given) in [(&pulled.l, &case.bar), (&pushed, &case.along.l)] {
        for j in 0..40 {
            assert!((0..40).all(|i| found[(i, j)] == if i < j { 0.0 } else { given[(i, j)] }));
        }
    }
}

#[test]
fn weights_of_one_are_those_of_an_update() {
    let case = Case::<f64>::new(50, 3, Kind::Up);
    let Problem { l, v, weights } = &case.problem;
    let each = modify_vjp(l, &case.new, v, weights, &case.bar).unwrap();
    assert_eq!(each, modify_vjp(l, &case.new, v, Weights::Plus, &case.bar).unwrap());
    let without = Tangents { weights: None, ..case.along.tangents() };
    let zeros = Tangents { weights: Some(&[0.0; 3]), ..case.along.tangents() };
    let [one, other] =
        [without, zeros].map(|along| modify_jvp(l, &case.new, v, Weights::Plus, &along).unwrap());
    assert_eq!(one, other);
}

#[test]
fn what_is_refused() {
    let case = Case::<f64>::new(5, 2, Kind::Up);
    let Problem { l, v, weights } = &case.problem;
    let refused = |l: &Mat<f64>, new: &Mat<f64>, v: &Mat<f64>, weights: &[f64], bar: &Mat<f64>| {
        modify_vjp(l, new, v, weights, bar).unwrap_err()
    };
    let shape = |argument, extent, expected, found| Error::Shape { argument, extent, expected, found };
    let (new, bar) = (&case.new, &case.bar);
    let wrong = Mat::<f64>::identity(5, 4);
    assert_eq!(refused(&wrong, new, v, weights, bar), shape("l", "columns", 5, 4));
    assert_eq!(refused(l, &wrong, v, weights, bar), shape("l_new", "columns", 5, 4));
    assert_eq!(refused(l, new, &Mat::zeros(4, 2), weights, bar), shape("v", "rows", 5, 4));
    assert_eq!(refused(l, new, v, &[1.0], bar), shape("weights", "entries", 2, 1));
    assert_eq!(refused(l, new, v, weights, &wrong), shape("cotangent", "columns", 5, 4));
    let with = |a: &Mat<f64>, x: f64| {
        let mut a = a.clone();
        a[(2, 2)] = x;
        a
    };
    let negative = Error::OutOfRange { argument: "l", rule: "of positive pivots" };
    assert_eq!(refused(&with(l, -1.0), new, v, weights, bar), negative);
    assert_eq!(refused(l, &with(new, 0.0), v, weights, bar), Error::NotPositiveDefinite { column: 2 });
    let not_finite = |argument| Error::NonFinite { argument, row: 2, column: 2 };
    assert_eq!(refused(&with(l, f64::NAN), new, v, weights, bar), not_finite("l"));
    assert_eq!(refused(l, &with(new, f64::INFINITY), v, weights, bar), not_finite("l_new"));
    let not_finite = Error::NonFinite { argument: "weights", row: 1, column: 0 };
    assert_eq!(refused(l, new, v, &[1.0, f64::NAN], bar), not_finite);

    let along = Tangents { l: wrong.as_ref(), v: v.as_ref(), weights: None };
    let found = modify_jvp(l, new, v, weights, &along).unwrap_err();
    assert_eq!(found, shape("tangents.l", "columns", 5, 4));
    let along = Tangents { l: l.as_ref(), v: v.as_ref(), weights: Some(&[1.0]) };
    let found = modify_jvp(l, new, v, weights, &along).unwrap_err();
    assert_eq!(found, shape("tangents.weights", "entries", 2, 1));
    let mut to = nan::<f64>(5, 3);
    let (engine, mut workspace) = (Cpu::sequential(), GradientWorkspace::new());
    let into = CotangentsMut::from(&mut to);
    let found = modify_vjp_into(&case.modified(), bar.as_ref(), into, &engine, &mut workspace).unwrap_err();
    assert_eq!(found, shape("to.v", "columns", 2, 3));
}
