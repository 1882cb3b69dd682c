//! Properties over random shapes, layouts, weights and gradings.

use crate::support::contract::{assert_contract, is_factor};
use crate::support::engines::sized;
use crate::support::layout::{Laid, Layout};
use crate::support::problem::{Kind, Problem, rng, uniform};
use crate::support::real::{Real, bits};
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Cpu, Engine, Error, Safeguard, Workspace, modify_in_place};
use proptest::prelude::*;

/// A modification that succeeds, and the form of the call.
#[derive(Clone, Debug)]
struct Case {
    n: usize,
    k: usize,
    kind: Kind,
    /// log₁₀ of 1 − ‖P‖².
    gap: f64,
    /// log₁₀ of the weights of V's columns, which are scaled to compensate.
    weights: Vec<i32>,
    /// log₁₀ of the scales of the rows.
    grades: Vec<i32>,
    leading_zeros: usize,
    layout: Layout,
    threads: usize,
    safeguard: Safeguard,
    seed: u64,
}

fn case() -> impl Strategy<Value = Case> {
    (0..=48usize, 0..=20usize).prop_flat_map(|(n, k)| {
        (
            prop::sample::select(&Kind::ALL[..]),
            -3.0..-0.1,
            prop::collection::vec(-3..=3, k),
            prop::collection::vec(-8..=0, n),
            0..=n,
            prop::sample::select(&Layout::ALL[..]),
            1..=8usize,
            prop::sample::select(&[Safeguard::ShadowBuffer, Safeguard::DryRun][..]),
            any::<u64>(),
        )
            .prop_map(
                move |(kind, gap, weights, grades, leading_zeros, layout, threads, safeguard, seed)| Case {
                    n,
                    k,
                    kind,
                    gap,
                    weights,
                    grades,
                    leading_zeros,
                    layout,
                    threads,
                    safeguard,
                    seed,
                },
            )
    })
}

impl Case {
    fn cpu(&self) -> Cpu {
        Cpu::threads(self.threads).with_safeguard(self.safeguard)
    }

    fn problem<T: Real>(&self) -> Problem<T> {
        let gap = 10f64.powf(self.gap);
        let mut problem = Problem::<T>::feasible(self.n, self.k, self.kind, gap, self.seed)
            .graded(|i| 10f64.powi(self.grades[i]));
        for (r, &exponent) in self.weights.iter().enumerate() {
            // Powers of four, whose roots are exact.
            let root = 2f64.powi(exponent);
            problem.weights[r] *= T::of(root * root);
            problem.v.col_mut(r).iter_mut().for_each(|x| *x /= T::of(root));
        }
        // Zero rows of V remove nothing: the modification remains possible.
        for i in 0..self.leading_zeros {
            problem.v.row_mut(i).fill(T::ZERO);
        }
        problem
    }
}

fn contract_holds<T: Real>(case: &Case)
where
    Cpu: Engine<T>,
{
    let problem = case.problem::<T>();
    let Problem { l, v, weights } = &problem;
    let laid_v = Laid::new(v.as_ref(), case.layout);
    let mut factor = Cholesky::from_factor_in(l, case.cpu()).unwrap();
    match factor.modify(laid_v.as_ref(), weights) {
        Ok(_) => assert_contract(factor.l(), l.as_ref(), v.as_ref(), weights, case),
        // The remaining rows of V may have ‖P‖ > 1: then nothing may have changed.
        Err(Error::NotPositiveDefinite { column }) => {
            assert!(case.leading_zeros > 0 && case.kind != Kind::Up && column >= case.leading_zeros);
            assert_eq!(bits(factor.l()), bits(l.as_ref()));
        }
        Err(error) => panic!("{error}"),
    }

    let mut in_place = Laid::new(l.as_ref(), case.layout);
    in_place.spoil_upper_triangle();
    let outcome =
        modify_in_place(in_place.as_mut(), laid_v.as_ref(), weights, &case.cpu(), &mut Workspace::new());
    let mut expected = Laid::new(l.as_ref(), case.layout);
    expected.spoil_upper_triangle();
    if outcome.is_ok() {
        expected.overwrite_lower_triangle(factor.l());
    }
    assert!(in_place.bits() == expected.bits(), "in place and on a factor of its own differ");
}

/// For any V: either it succeeds and the contract holds, or the factor is as it was.
fn all_or_nothing<T: Real>(n: usize, k: usize, scale: i32, seed: u64)
where
    Cpu: Engine<T>,
{
    let l = Problem::<T>::feasible(n, 0, Kind::Up, 0.5, seed).l;
    let mut rng = rng(seed ^ 1);
    let v = uniform(n, k, &mut rng);
    let v = Mat::from_fn(n, k, |i, r| T::of(v[(i, r)] * 10f64.powi(scale)));
    let weights: Vec<T> = (0..k).map(|r| T::of(uniform(k, 1, &mut rng)[(r, 0)])).collect();
    let mut factor = Cholesky::from_factor_in(&l, Cpu::threads(2)).unwrap();
    match factor.modify(&v, &weights) {
        Ok(report) => {
            assert!(is_factor(factor.l()));
            assert!(report.min_pivot_ratio > 0.0 && report.log_det_change().is_finite());
            assert_contract(factor.l(), l.as_ref(), v.as_ref(), &weights, (scale, seed));
        }
        Err(Error::NotPositiveDefinite { column }) => {
            assert!(column < n);
            assert_eq!(bits(factor.l()), bits(l.as_ref()));
        }
        Err(error) => panic!("{error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: sized(512, 32),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_modification_meets_the_contract(case in case()) {
        contract_holds::<f64>(&case);
        contract_holds::<f32>(&case);
    }

    #[test]
    fn any_modification_succeeds_or_changes_nothing(
        n in 0..=40usize, k in 0..=12usize, scale in -6..=3i32, seed: u64
    ) {
        all_or_nothing::<f64>(n, k, scale, seed);
        all_or_nothing::<f32>(n, k, scale, seed);
    }
}
