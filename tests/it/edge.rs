//! Downdates close to the limit of positive definiteness, of badly conditioned factors. Whether A' is positive definite is
//! known to some thirty digits. If it is, the downdate succeeds, regardless of rounding errors of the sweep. If it is not, the
//! downdate is refused, or its result is still within the contract.

use crate::support::contract::assert_contract;
use crate::support::engines::{sized, steps};
use crate::support::peers::linpack;
use crate::support::problem::{Kind, Problem, contraction, rng, uniform};
use crate::support::real::{Real, bits};
use cholupdate::faer::{Mat, fx128, mat};
use cholupdate::{
    Carried, Cholesky, Cpu, Engine, Error, Modification, RefactorPolicy, Safeguard, Weights, Workspace,
    modify_in_place,
};
use rand::Rng;
use rand::rngs::StdRng;

on_every_engine!(
    a_downdate_that_linpack_completes_is_completed,
    what_is_definite_is_completed_and_what_is_not_is_refused,
    mixed_signs_at_the_edge_are_decided_as_well,
    all_ways_to_ask_for_a_downdate_agree,
    rows_that_barely_fit_are_taken_in,
);

/// Families of badly conditioned L.
#[derive(Clone, Copy, Debug)]
enum Family {
    /// A unit diagonal, and large entries below it.
    Unit,
    /// Rows of all sizes, with large entries below the diagonal.
    Rows,
    /// Columns that shrink by up to 10⁻⁷.
    Graded,
    /// Nearly dependent rows.
    Dependent,
    /// Kahan's matrix, whose condition number the diagonal does not show.
    Kahan,
}

const FAMILIES: [Family; 5] = [Family::Unit, Family::Rows, Family::Graded, Family::Dependent, Family::Kahan];

impl Family {
    fn factor(self, n: usize, rng: &mut StdRng) -> Mat<f64> {
        let small = n <= 5;
        let (grade, angle) = (rng.random_range(0.0..7.0), rng.random_range(0.3_f64..1.2));
        let decades = match self {
            Self::Unit if small => 2.5,
            Self::Rows if small => 3.0,
            Self::Unit | Self::Rows if n < 20 => 0.7,
            _ => 0.0,
        };
        let size = match self {
            Self::Unit | Self::Rows if n >= 20 => 0.3,
            Self::Graded if n >= 20 => 0.4,
            Self::Dependent if n >= 20 => 0.05,
            _ => 1.0,
        };
        let rows: Vec<f64> = (0..n).map(|_| 10f64.powf(rng.random_range(-2.0..2.0))).collect();
        Mat::from_fn(n, n, |i, j| {
            if i < j {
                return 0.0;
            }
            let below = size * rng.random_range(-1.7..1.7) * 10f64.powf(rng.random_range(0.0..=decades));
            let diagonal = rng.random_range(0.5..1.5);
            match self {
                Self::Unit => {
                    if i == j {
                        1.0
                    } else {
                        below
                    }
                }
                Self::Rows => rows[i] * if i == j { diagonal } else { below },
                Self::Graded => {
                    10f64.powf(-grade * j as f64 / n as f64) * if i == j { diagonal } else { below }
                }
                Self::Dependent => match i == j {
                    true => 10f64.powf(rng.random_range(if small { -6.0..0.0 } else { -2.0..0.0 })),
                    false => below,
                },
                Self::Kahan => angle.sin().powi(j as i32) * if i == j { 1.0 } else { -angle.cos() },
            }
        })
    }
}

/// The remainder of the direction with the least left: by pivots, to some thirty digits; none if A' is not positive definite.
fn margin<T: Real>(problem: &Problem<T>) -> Option<f64> {
    let Problem { l, v, weights } = problem;
    let (n, of) = (l.nrows(), |x: T| fx128::from(x.f64()));
    let sign = |minus: bool| (0..v.ncols()).filter(move |&r| (weights[r] < T::ZERO) == minus);
    let (columns, plus) = (sign(false).chain(sign(true)).collect::<Vec<_>>(), sign(false).count());
    let mut p: Vec<Vec<fx128>> = Vec::new();
    for &r in &columns {
        assert!(weights[r].f64().abs() == 1.0);
        let mut column: Vec<fx128> = Vec::new();
        for i in 0..n {
            let known = column.iter().enumerate();
            let rest = known.fold(of(v[(i, r)]), |rest, (j, &p)| rest - of(l[(i, j)]) * p);
            column.push(rest / of(l[(i, i)]));
        }
        p.push(column);
    }
    // The minus columns' Schur complement of (1 + P₊ᵀP₊, P₊ᵀP₋; P₋ᵀP₊, P₋ᵀP₋ − 1).
    let k = columns.len();
    let entry = |a: usize, b: usize| {
        let own = if a != b {
            0.0
        } else if a < plus {
            1.0
        } else {
            -1.0
        };
        p[a].iter().zip(&p[b]).fold(fx128::from(own), |sum, (&x, &y)| sum + x * y)
    };
    let mut h: Vec<Vec<fx128>> = (0..k).map(|a| (0..k).map(|b| entry(a, b)).collect()).collect();
    let mut least = f64::INFINITY;
    for a in 0..k {
        let pivot = h[a][a];
        if a >= plus {
            if !(pivot < fx128::from(0.0)) {
                return None;
            }
            least = least.min(-pivot.0);
        }
        for b in a + 1..k {
            let share = h[b][a] / pivot;
            for c in a + 1..k {
                let row = h[a][c];
                h[b][c] -= share * row;
            }
        }
    }
    Some(least)
}

/// A downdate that leaves about `left` of a direction, before V is rounded; `left` may be negative.
fn downdate<T: Real>(family: Family, n: usize, k: usize, left: f64, seed: u64) -> Problem<T> {
    let mut rng = rng(seed);
    // The rounded L is known to thirty digits.
    let l = Problem::<T>::new(&family.factor(n, &mut rng), &Mat::zeros(n, 0), &[]).l;
    let p = contraction(n, k, left, &mut rng);
    let v = Mat::from_fn(n, k, |i, r| {
        (0..=i).fold(fx128::from(0.0), |sum, j| sum + fx128::from(l[(i, j)].f64()) * fx128::from(p[(j, r)])).0
    });
    Problem { l, ..Problem::new(&Mat::zeros(0, 0), &v, &vec![-1.0; k]) }
}

/// 10¹ u to 10⁸ u, if that is less than 1; for every fifth seed as much below zero.
fn left<T: Real>(seed: u64) -> f64 {
    let exponent = 1.0 + 7.0 * (seed % 29) as f64 / 28.0;
    let left = (10f64.powf(exponent) * T::U).min(0.5);
    if seed % 5 == 4 { -left } else { left }
}

/// The outcomes of the problems.
#[derive(Debug, Default)]
struct Outcomes {
    completed: usize,
    refused: usize,
    /// Refused by LINPACK and not here, and the reverse.
    refused_by_linpack: usize,
    completed_by_linpack: usize,
}

impl Outcomes {
    /// The outcome of a problem is correct, and so is the resulting factor.
    fn check<T: Real, E: Engine<T> + Clone>(
        &mut self,
        engine: &E,
        problem: &Problem<T>,
        what: impl std::fmt::Debug,
    ) {
        let mut factor = problem.factor(engine);
        let definite = margin(problem).is_some();
        let outcome = factor.modify(&problem.v, &problem.weights);
        let new = factor.to_factor().unwrap();
        let Problem { l, v, weights } = problem;
        let completed = outcome.is_ok();
        match outcome {
            Ok(report) => {
                assert_contract(new.as_ref(), l.as_ref(), v.as_ref(), weights, &what);
                assert_reported(&report, l, &new);
                self.completed += 1;
            }
            Err(error) => {
                assert!(matches!(error, Error::NotPositiveDefinite { .. }), "{error}");
                assert!(!definite, "{what:?}: refused with {:?} left", margin(problem));
                assert_eq!(bits(new.as_ref()), bits(l.as_ref()), "{what:?}: the factor has changed");
                self.refused += 1;
            }
        }
        let by_linpack = linpack(l.as_ref(), v.as_ref(), weights).is_some();
        self.refused_by_linpack += usize::from(completed && !by_linpack);
        self.completed_by_linpack += usize::from(!completed && by_linpack);
    }
}

/// The report is of these two factors.
fn assert_reported<T: Real>(report: &Modification, old: &Mat<T>, new: &Mat<T>) {
    let n = old.nrows();
    let ratios: Vec<f64> = (0..n).map(|j| new[(j, j)].f64() / old[(j, j)].f64()).collect();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min).powi(2);
    let log_det: f64 = ratios.iter().map(|ratio| 2.0 * ratio.ln()).sum();
    let magnitude: f64 = ratios.iter().map(|ratio| 2.0 * ratio.ln().abs()).sum();
    let allowed = 16.0 * (n + 8) as f64 * T::U;
    assert!((report.min_pivot_ratio / least - 1.0).abs() <= allowed, "{report:?}, not {least}");
    let off = (report.log_det_change() - log_det).abs();
    assert!(off <= allowed * (1.0 + magnitude), "{report:?}, not {log_det}");
}

/// LINPACK completes it with an error of 3.2 u.
fn a_downdate_that_linpack_completes_is_completed<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let l =
        mat![[1.0, 0.0, 0.0], [-145.11213347519777, 1.0, 0.0], [28.96018790147825, 62.4046605677754, 1.0]];
    let v = mat![[0.2634638816175617], [-38.135379766510546], [12.687569201709028]];
    let problem = Problem::<T>::new(&l, &v, &[-1.0]);
    let mut outcomes = Outcomes::default();
    outcomes.check(engine, &problem, "unit");
    if T::U < 1e-10 {
        let mut factor = problem.factor(engine);
        factor.modify(&problem.v, &problem.weights).unwrap();
        assert!(factor.error_estimate() >= T::U, "what is done again counts as any other");
        let none = RefactorPolicy { max_error: None, max_modifications: 0 };
        assert!(factor.needs_refactor(&none));
        assert_eq!(outcomes.completed, 1);
        assert!(linpack(problem.l.as_ref(), problem.v.as_ref(), &problem.weights).is_some());
    }
}

fn what_is_definite_is_completed_and_what_is_not_is_refused<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut outcomes = Outcomes::default();
    for family in FAMILIES {
        for n in [2, 3, 5, 12, 40] {
            for k in [1, 2, 8] {
                for seed in 0..steps::<E>(sized(120, 30)).max(10) as u64 / if n > 20 { 4 } else { 1 } {
                    let problem = downdate::<T>(family, n, k, left::<T>(seed), seed + 1000 * k as u64);
                    outcomes.check(engine, &problem, (family, n, k, seed));
                }
            }
        }
    }
    let Outcomes { completed, refused, refused_by_linpack, completed_by_linpack } = outcomes;
    println!("{} {outcomes:?}", std::any::type_name::<(T, E)>());
    assert!(completed > 100 && refused > 100, "a one-sided experiment: {outcomes:?}");
    assert!(refused_by_linpack > 10 && completed_by_linpack > 0, "nothing at the edge: {outcomes:?}");
}

/// A downdate at the edge, and columns of up to a thousand times the size of L that are added and removed.
fn mixed<T: Real>(family: Family, n: usize, pairs: usize, left: f64, seed: u64) -> Problem<T> {
    let Problem { l, v, .. } = downdate::<T>(family, n, 1, left, seed);
    let plus = uniform(n, pairs, &mut rng(seed));
    let size = 10f64.powf(3.0 * (seed % 7) as f64 / 6.0);
    let plus =
        Mat::from_fn(n, pairs, |i, r| (0..=i).map(|j| l[(i, j)].f64() * size * plus[(j, r)]).sum::<f64>());
    let all = Mat::from_fn(n, 2 * pairs + 1, |i, r| match r {
        0 => v[(i, 0)].f64(),
        _ => plus[(i, (r - 1) / 2)],
    });
    let weights: Vec<f64> = (0..2 * pairs + 1).map(|r| if r % 2 == 0 { -1.0 } else { 1.0 }).collect();
    Problem { l, ..Problem::new(&Mat::zeros(0, 0), &all, &weights) }
}

fn mixed_signs_at_the_edge_are_decided_as_well<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut outcomes = Outcomes::default();
    for family in FAMILIES {
        for n in [2, 3, 5, 12, 40] {
            for pairs in [1, 4] {
                for seed in 0..steps::<E>(sized(120, 30)).max(10) as u64 / if n > 20 { 4 } else { 1 } {
                    let problem = mixed::<T>(family, n, pairs, left::<T>(seed), seed);
                    outcomes.check(engine, &problem, (family, n, pairs, seed));
                }
            }
        }
    }
    println!("{} mixed {outcomes:?}", std::any::type_name::<(T, E)>());
    assert!(outcomes.completed > 70 && outcomes.refused > 70, "a one-sided experiment: {outcomes:?}");
}

/// Problems of ranks up to `ranks` with least left: those that a sweep alone would refuse are among them.
fn at_the_edge<T: Real>(count: usize, ranks: usize) -> impl Iterator<Item = Problem<T>> {
    let seeds = (0..count as u64).map(|seed| 5 * seed);
    seeds.map(move |seed| {
        downdate(FAMILIES[seed as usize / 5 % 4], 5, 1 + seed as usize % ranks, 10.0 * T::U, seed)
    })
}

fn all_ways_to_ask_for_a_downdate_agree<T: Real, E: Engine<T> + Clone>(engine: &E) {
    // V of a modification in flight is on the device, and a breakdown there is not retried.
    let in_flight =
        std::any::type_name::<E>().contains("Resident") || std::any::type_name::<E>().contains("Distributed");
    let mut outcomes = [0, 0];
    for problem in at_the_edge::<T>(steps::<E>(400).max(40), 3) {
        let expected = problem.modified(engine);
        outcomes[usize::from(expected.is_ok())] += 1;
        let mut factor = problem.factor(engine);
        let before = bits(factor.to_factor().unwrap().as_ref());
        let can = factor.can_downdate(&problem.v).unwrap();
        assert_eq!(can, expected.is_ok());
        assert_eq!(bits(factor.to_factor().unwrap().as_ref()), before);

        let submitted = factor.submit(&problem.v, Weights::Minus).and_then(|pending| pending.wait());
        match (&expected, submitted) {
            (Ok((new, report)), Ok(submitted)) => {
                assert_eq!(*report, submitted);
                assert_eq!(bits(factor.to_factor().unwrap().as_ref()), bits(new.as_ref()));
            }
            (expected, submitted) => {
                assert!(expected.is_err() || in_flight);
                assert!(matches!(submitted, Err(Error::NotPositiveDefinite { .. })));
                assert_eq!(bits(factor.to_factor().unwrap().as_ref()), before);
            }
        }

        // Times 1/4, which is exact.
        let quarter = T::of(0.25);
        let mut factor = problem.factor(engine);
        let half = Mat::from_fn(problem.v.nrows(), problem.v.ncols(), |i, r| T::of(0.5) * problem.v[(i, r)]);
        let scaled = factor.modify_scaled(quarter, &half, Weights::Minus);
        assert_eq!(scaled.is_ok(), expected.is_ok());
        if let Ok((new, report)) = &expected {
            let halved = Mat::from_fn(new.nrows(), new.nrows(), |i, j| T::of(0.5) * new[(i, j)]);
            assert_eq!(bits(factor.to_factor().unwrap().as_ref()), bits(halved.as_ref()));
            assert_eq!(scaled.unwrap().min_pivot_ratio, 0.25 * report.min_pivot_ratio);
        }

        // With right-hand sides.
        let mut factor = problem.factor(engine);
        let y = Mat::from_fn(problem.v.ncols(), 2, |r, c| T::of(0.1 * (r + c) as f64));
        let b = &problem.l * Mat::from_fn(problem.l.nrows(), 2, |i, c| T::of(1.0 + (i * c) as f64));
        let mut carried = Carried::new(&factor, &b, &[T::of(1e3); 2]).unwrap();
        let untouched = carried.clone();
        let outcome = factor.modify_carrying(T::ONE, &problem.v, Weights::Minus, &y, &mut carried);
        assert_eq!(outcome.is_ok(), expected.is_ok());
        let l = factor.to_factor().unwrap();
        match &expected {
            Ok(_) => {
                let (l, v) = (l.as_ref(), problem.v.as_ref());
                assert_contract(l, problem.l.as_ref(), v, &problem.weights, "carrying");
                assert!(carried != untouched);
            }
            Err(_) => assert!(bits(l.as_ref()) == before && carried == untouched),
        }
    }
    assert!(outcomes[0] > 5 && outcomes[1] > 5, "a one-sided experiment: {outcomes:?}");
}

/// A row and column that leave almost nothing of the rows after them.
fn rows_that_barely_fit_are_taken_in<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut outcomes = [0, 0];
    for problem in at_the_edge::<T>(steps::<E>(400).max(40), 1) {
        let (n, v) = (problem.l.nrows(), &problem.v);
        let definite = margin(&problem).is_some();
        let column = Mat::from_fn(n + 1, 1, |i, _| if i == 0 { T::ONE } else { v[(i - 1, 0)] });
        let mut factor = problem.factor(engine);
        let before = bits(factor.to_factor().unwrap().as_ref());
        // (1 vᵀ; v A) is positive definite where A − v vᵀ is.
        let outcome = factor.insert(0, &column);
        assert!(outcome.is_ok() || !definite, "{outcome:?}");
        outcomes[usize::from(outcome.is_ok())] += 1;
        if outcome.is_ok() {
            let l = factor.to_factor().unwrap();
            let (new, old) = (l.submatrix(1, 1, n, n), problem.l.as_ref());
            assert_contract(new, old, problem.v.as_ref(), &problem.weights, "inserted");
        } else {
            assert_eq!(bits(factor.to_factor().unwrap().as_ref()), before);
        }
        // The same as a replacement of a row that does not affect the others.
        let l = Mat::from_fn(n + 1, n + 1, |i, j| match (i, j) {
            (0, 0) => T::ONE,
            (0, _) | (_, 0) => T::ZERO,
            _ => problem.l[(i - 1, j - 1)],
        });
        let mut factor = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
        let outcome = factor.replace(0, &column);
        assert!(outcome.is_ok() || !definite, "{outcome:?}");
        if outcome.is_err() {
            assert_eq!(bits(factor.to_factor().unwrap().as_ref()), bits(l.as_ref()));
        }
    }
    assert!(outcomes[0] > 5 && outcomes[1] > 5, "a one-sided experiment: {outcomes:?}");
}

#[test]
fn in_the_callers_memory_the_answer_is_the_same() {
    fn check<T: Real>()
    where
        Cpu: Engine<T>,
    {
        let mut outcomes = [0, 0];
        for safeguard in [Safeguard::ShadowBuffer, Safeguard::DryRun] {
            let cpu = Cpu::sequential().with_safeguard(safeguard);
            let mut workspace = Workspace::new();
            for problem in at_the_edge::<T>(200, 3) {
                let expected = problem.modified(&cpu);
                outcomes[usize::from(expected.is_ok())] += 1;
                let n = problem.l.nrows();
                let spoilt =
                    |l: &Mat<T>| Mat::from_fn(n, n, |i, j| if i < j { T::of(f64::NAN) } else { l[(i, j)] });
                for by_rows in [false, true] {
                    let mut l = spoilt(&problem.l);
                    let mut transposed = l.transpose().to_owned();
                    let there = if by_rows { transposed.as_mut().transpose_mut() } else { l.as_mut() };
                    let outcome = modify_in_place(there, &problem.v, &problem.weights, &cpu, &mut workspace);
                    assert_eq!(outcome.as_ref().ok(), expected.as_ref().ok().map(|(_, report)| report));
                    let left = if by_rows { transposed.transpose().to_owned() } else { l };
                    let new = expected.as_ref().map_or(&problem.l, |(new, _)| new);
                    assert_eq!(bits(left.as_ref()), bits(spoilt(new).as_ref()));
                }
            }
        }
        assert!(outcomes[0] > 5 && outcomes[1] > 5, "a one-sided experiment: {outcomes:?}");
    }
    check::<f64>();
    check::<f32>();
}

/// Half of L is overwritten by then: a narrowly positive definite problem may lose the factor, but never gives a wrong one.
#[test]
fn without_a_safeguard_nothing_is_done_again() {
    let cpu = Cpu::sequential();
    let mut lost = 0;
    for problem in at_the_edge::<f64>(400, 3) {
        let kept = problem.modified(&cpu);
        let mut factor = problem.factor(&cpu.with_safeguard(Safeguard::None));
        match factor.modify(&problem.v, &problem.weights) {
            Ok(_) => assert_eq!(bits(factor.to_factor().unwrap().as_ref()), bits(kept.unwrap().0.as_ref())),
            Err(error) => {
                assert!(matches!(error, Error::NotPositiveDefinite { .. }));
                assert_eq!(factor.to_factor().unwrap_err(), Error::Poisoned);
                lost += usize::from(kept.is_ok());
            }
        }
    }
    assert!(lost > 5, "no problem broke down that can be done: {lost}");
}

/// A factor computed in twice the precision behaves as any other.
#[test]
fn what_follows_is_as_ever() {
    for problem in at_the_edge::<f64>(200, 3) {
        let mut factor = problem.factor(&Cpu::sequential());
        if factor.modify(&problem.v, &problem.weights).is_ok() {
            let mut anew = Cholesky::from_factor_in(factor.l(), Cpu::sequential()).unwrap();
            let v = Problem::<f64>::feasible(problem.l.nrows(), 2, Kind::Up, 0.5, 1).v;
            assert_eq!(factor.update(&v), anew.update(&v));
            assert_eq!(bits(factor.l()), bits(anew.l()));
        }
    }
}
