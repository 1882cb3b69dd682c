//! The error estimate of a factor, against the exact A, which is known to some thirty digits.

use crate::support::engines::sized;
use crate::support::exact::Symmetric;
use crate::support::problem::{factor, rng, uniform};
use crate::support::real::Real;
use cholupdate::faer::{Mat, MatRef};
use cholupdate::{Cholesky, Cpu, Engine, Error, RefactorPolicy, Safeguard};
use rand::Rng;
use rand::rngs::StdRng;

on_every_engine!(
    a_loss_beside_a_growth_is_told,
    the_estimate_is_no_smaller_than_the_error_of_any_chain,
    a_window_of_high_rank_is_told_what_it_loses,
    an_estimate_does_not_depend_on_when_it_is_asked_for,
    forgetting_alone_counts,
);

/// A factor, and its exact A.
struct Kept<T: Real, E: Engine<T>> {
    factor: Cholesky<T, E>,
    meant: Symmetric,
    /// How V is passed.
    hand_over: HandOver<T, E>,
}

/// δ, V and w in a modification. (n × k, k)
type HandOver<T, E> = fn(&mut Cholesky<T, E>, T, MatRef<'_, T>, &[T]) -> Result<(), Error>;

fn from_the_host<T: Real, E: Engine<T>>(
    factor: &mut Cholesky<T, E>,
    decay: T,
    v: MatRef<'_, T>,
    weights: &[T],
) -> Result<(), Error> {
    match decay == T::ONE {
        true => factor.modify(v, weights).map(drop),
        false => factor.modify_scaled(decay, v, weights).map(drop),
    }
}

impl<T: Real, E: Engine<T> + Clone> Kept<T, E> {
    fn new(l: &Mat<T>, engine: &E) -> Self {
        let factor = Cholesky::from_factor_in(l, engine.clone()).unwrap();
        Self { factor, meant: Symmetric::product(l.as_ref()), hand_over: from_the_host }
    }

    /// max |L Lᵀ − A|_ij / √(a_ii a_jj).
    fn error(&self) -> f64 {
        Symmetric::product(self.factor.to_factor().unwrap().as_ref()).largest_difference(&self.meant)
    }

    fn modify(&mut self, decay: T, v: MatRef<'_, T>, weights: &[T]) -> Result<(), Error> {
        (self.hand_over)(&mut self.factor, decay, v, weights)?;
        self.meant.scale_by(decay);
        weights.iter().enumerate().for_each(|(r, &w)| self.meant.add(v.subcols(r, 1), w));
        Ok(())
    }

    /// v that removes all but a fraction of row i, and changes other rows only in what they share with it.
    fn nearly_all_of(&self, row: usize, left: f64) -> Mat<T> {
        let a = &self.meant;
        let length = ((1.0 - left) / a.entry(row, row)).sqrt();
        Mat::from_fn(a.order(), 1, |i, _| T::of(a.entry(i, row) * length))
    }

    /// v that removes all but a fraction of a direction with shares in many rows.
    fn nearly_all_of_a_direction(&self, left: f64, rng: &mut StdRng) -> Mat<T> {
        let n = self.meant.order();
        let p = uniform(n, 1, rng);
        let length = (1.0 - left).sqrt() / p.norm_l2();
        let l = self.factor.to_factor().unwrap();
        Mat::from_fn(n, 1, |i, _| T::of((0..=i).map(|j| l[(i, j)].f64() * p[(j, 0)] * length).sum()))
    }
}

fn unit<T: Real>(n: usize, row: usize, size: f64) -> Mat<T> {
    Mat::from_fn(n, 1, |i, _| if i == row { T::of(size) } else { T::ZERO })
}

fn beside<T: Real>(a: &Mat<T>, b: &Mat<T>) -> Mat<T> {
    Mat::from_fn(a.nrows(), a.ncols() + b.ncols(), |i, j| match j.checked_sub(a.ncols()) {
        None => a[(i, j)],
        Some(j) => b[(i, j)],
    })
}

fn a_loss_beside_a_growth_is_told<T: Real, E: Engine<T> + Clone>(engine: &E) {
    is_told_of_a_loss_beside_a_growth(engine, from_the_host);
}

fn is_told_of_a_loss_beside_a_growth<T: Real, E: Engine<T> + Clone>(engine: &E, hand_over: HandOver<T, E>) {
    let n = 6;
    let (left, grown) = if T::U < 1e-10 { (1e-12, 1e6) } else { (1e-4, 1e3) };
    let start = || {
        let l = Mat::<T>::from_fn(n, n, |i, j| if i == j { T::of(1.1f64.sqrt()) } else { T::ZERO });
        let (mut kept, mut rng) = (Kept { hand_over, ..Kept::new(&l, engine) }, rng(3));
        for _ in 0..20 {
            let v = uniform(n, 1, &mut rng);
            let v = Mat::from_fn(n, 1, |i, _| T::of(v[(i, 0)]));
            kept.modify(T::ONE, v.as_ref(), &[T::ONE]).unwrap();
            kept.modify(T::ONE, v.as_ref(), &[-T::ONE]).unwrap();
        }
        assert!(!kept.factor.needs_refactor(&RefactorPolicy::default()));
        kept
    };
    let told = |kept: &Kept<T, E>| {
        assert!(kept.factor.needs_refactor(&RefactorPolicy::default()));
        let (error, estimate) = (kept.error(), kept.factor.error_estimate());
        assert!(error <= 10.0 * estimate, "{estimate:.1e}, but {error:.1e}");
    };
    let growth = unit(n, 0, grown);
    let mut at_once = start();
    let loss = at_once.nearly_all_of(5, left);
    at_once.modify(T::ONE, beside(&growth, &loss).as_ref(), &[T::ONE, -T::ONE]).unwrap();
    told(&at_once);
    let mut one_by_one = start();
    one_by_one.modify(T::ONE, loss.as_ref(), &[-T::ONE]).unwrap();
    told(&one_by_one);
    one_by_one.modify(T::ONE, growth.as_ref(), &[T::ONE]).unwrap();
    told(&one_by_one);
    // As row 5 grows again, its estimate falls.
    one_by_one.modify(T::ONE, unit(n, 5, 1.0).as_ref(), &[T::ONE]).unwrap();
    assert!(!one_by_one.factor.needs_refactor(&RefactorPolicy::default()));
    assert!(one_by_one.error() <= 10.0 * one_by_one.factor.error_estimate());
}

/// A call of any verb, or `false` where it is refused.
fn call<T: Real, E: Engine<T> + Clone>(kept: &mut Kept<T, E>, rng: &mut StdRng) -> bool {
    let n = kept.meant.order();
    let row = rng.random_range(0..n);
    let typical = kept.meant.entry(row, row).sqrt();
    let narrow = |a: &Mat<f64>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| T::of(a[(i, j)]));
    let size = typical * 10f64.powf(rng.random_range(-2.0..1.5));
    let left = 10f64.powf(rng.random_range(-3.0..0.0)).min(0.9);
    let verb = rng.random_range(0..12);
    let decay = if verb == 11 { T::of(rng.random_range(0.3..1.0)) } else { T::ONE };
    let plus = match rng.random_range(0..3) {
        0 => unit::<T>(n, row, size),
        rank => narrow(&(uniform(n, rank, rng) * cholupdate::faer::Scale(size))),
    };
    let lost = rng.random_range(0..n);
    let minus = match rng.random_bool(0.5) {
        true => kept.nearly_all_of(lost, left),
        false => kept.nearly_all_of_a_direction(left, rng),
    };
    let signs = |plus: usize, minus: usize| {
        (0..plus + minus).map(|r| if r < plus { T::ONE } else { -T::ONE }).collect::<Vec<_>>()
    };
    match verb {
        0..=2 => kept.modify(decay, plus.as_ref(), &signs(plus.ncols(), 0)).unwrap(),
        3..=4 => return kept.modify(decay, minus.as_ref(), &signs(0, 1)).is_ok(),
        5..=6 | 11 => {
            return kept.modify(decay, beside(&plus, &minus).as_ref(), &signs(plus.ncols(), 1)).is_ok();
        }
        7 if n > 3 => {
            kept.factor.remove(&[row]).unwrap();
            let rows: Vec<_> = (0..n).filter(|&i| i != row).map(Some).collect();
            kept.meant = kept.meant.with_rows(&rows, |_, _| T::ZERO);
        }
        8 => {
            kept.factor.shift(row, lost).unwrap();
            let mut rows: Vec<_> = (0..n).map(Some).collect();
            let moved = rows.remove(row);
            rows.insert(lost, moved);
            kept.meant = kept.meant.with_rows(&rows, |_, _| T::ZERO);
        }
        9 => {
            let order = shuffled(n, rng);
            kept.factor.permute(&order).unwrap();
            let rows: Vec<_> = order.into_iter().map(Some).collect();
            kept.meant = kept.meant.with_rows(&rows, |_, _| T::ZERO);
        }
        _ => {
            let at = rng.random_range(0..=n);
            let column = bordering(kept, size, left, rng);
            let (replaced, rows): (bool, Vec<_>) = if rng.random_bool(0.5) && at < n {
                (true, (0..n).map(|i| (i != at).then_some(i)).collect())
            } else {
                let new = |i: usize| if i < at { Some(i) } else { i.checked_sub(1).filter(|&i| i >= at) };
                (false, (0..=n).map(new).collect())
            };
            let entries = Mat::from_fn(rows.len(), 1, |i, _| rows[i].map_or(column[n], |i: usize| column[i]));
            let entered = if replaced {
                kept.factor.replace(at, &entries)
            } else if at == n {
                let (above, corner) = entries.split_at_row(n);
                kept.factor.append(above, corner)
            } else {
                kept.factor.insert(at, &entries)
            };
            if entered.is_err() {
                return false;
            }
            kept.meant =
                kept.meant.with_rows(&rows, |i, j| if i == at { entries[(j, 0)] } else { entries[(i, 0)] });
        }
    }
    true
}

fn shuffled(n: usize, rng: &mut StdRng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    (1..n).for_each(|i| order.swap(i, rng.random_range(0..=i)));
    order
}

/// A new column of A for the existing rows, and its diagonal entry, of which the existing rows leave a fraction.
fn bordering<T: Real, E: Engine<T>>(kept: &Kept<T, E>, size: f64, left: f64, rng: &mut StdRng) -> Vec<T> {
    let (n, l) = (kept.meant.order(), kept.factor.to_factor().unwrap());
    let s = uniform(n, 1, rng);
    let length = size * (1.0 - left).sqrt() / s.norm_l2();
    let entry = |i: usize| (0..=i).map(|j| l[(i, j)].f64() * s[(j, 0)] * length).sum::<f64>();
    (0..n).map(entry).chain([size * size]).map(T::of).collect()
}

fn the_estimate_is_no_smaller_than_the_error_of_any_chain<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let (largest, pessimism) = chains(engine, from_the_host);
    assert!(largest <= 10.0 && pessimism <= 30.0);
}

/// The largest ratio of error to estimate, and the mean ratio of estimate to error.
fn chains<T: Real, E: Engine<T> + Clone>(engine: &E, hand_over: HandOver<T, E>) -> (f64, f64) {
    let (chains, steps) = sized((200, 40), (15, 20));
    let (mut largest, mut pessimism, mut count) = (0.0f64, 0.0f64, 0);
    for seed in 0..crate::support::engines::steps::<E>(chains).max(15) as u64 {
        let mut rng = rng(seed);
        let n = rng.random_range(1..12);
        let l = factor(n, &mut rng);
        let l = Mat::from_fn(n, n, |i, j| T::of(l[(i, j)]));
        let mut kept = Kept { hand_over, ..Kept::new(&l, engine) };
        for _ in 0..steps {
            if !call(&mut kept, &mut rng) {
                continue;
            }
            let (error, estimate) = (kept.error(), kept.factor.error_estimate());
            if estimate > 1e-2 {
                break;
            }
            if estimate == 0.0 {
                // Rows that have kept their places.
                assert_eq!(error, 0.0);
                continue;
            }
            largest = largest.max(error / estimate);
            pessimism += (estimate / error.max(T::U)).ln();
            count += 1;
        }
    }
    let pessimism = (pessimism / f64::from(count)).exp();
    println!("{count} calls: at most {largest:.1} times the estimate, on average 1 / {pessimism:.1} of it");
    (largest, pessimism)
}

fn a_window_of_high_rank_is_told_what_it_loses<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let n = sized(30, 10);
    for rank in [1, 16, 100, 500] {
        let mut rng = rng(rank as u64);
        let l = factor(n, &mut rng);
        let mut kept = Kept::new(&Mat::from_fn(n, n, |i, j| T::of(l[(i, j)])), engine);
        let window = |rng: &mut StdRng| {
            let v = uniform(n, rank, rng);
            Mat::from_fn(n, rank, |i, j| T::of(v[(i, j)]))
        };
        let mut old = window(&mut rng);
        kept.modify(T::ONE, old.as_ref(), &vec![T::ONE; rank]).unwrap();
        for _ in 0..3 {
            let new = window(&mut rng);
            let signs: Vec<_> = (0..2 * rank).map(|r| if r < rank { T::ONE } else { -T::ONE }).collect();
            kept.modify(T::ONE, beside(&new, &old).as_ref(), &signs).unwrap();
            old = new;
            let (error, estimate) = (kept.error(), kept.factor.error_estimate());
            assert!(error <= 10.0 * estimate, "rank {rank}: {estimate:.1e}, but {error:.1e}");
            assert!(estimate <= 200.0 * error, "rank {rank}: {estimate:.1e}, but {error:.1e}");
        }
    }
}

/// The estimate of a modification may be brought up to date after the call.
fn an_estimate_does_not_depend_on_when_it_is_asked_for<T: Real, E: Engine<T> + Clone>(engine: &E) {
    does_not_depend_on_when_it_is_asked_for(engine, from_the_host);
}

fn does_not_depend_on_when_it_is_asked_for<T: Real, E: Engine<T> + Clone>(
    engine: &E,
    hand_over: HandOver<T, E>,
) {
    let n = 100;
    let l = factor(n, &mut rng(91));
    let l = Mat::from_fn(n, n, |i, j| T::of(l[(i, j)]));
    let [mut asked, mut silent] = [(); 2].map(|()| Cholesky::from_factor_in(&l, engine.clone()).unwrap());
    for (turn, k) in [1, 5, 20, 2, 1].into_iter().enumerate() {
        let v = uniform(n, k, &mut rng(92 + turn as u64));
        let v = Mat::from_fn(n, k, |i, j| T::of(0.3 * v[(i, j)]));
        for factor in [&mut asked, &mut silent] {
            hand_over(factor, T::ONE, v.as_ref(), &vec![T::ONE; k]).unwrap();
        }
        let early = asked.error_estimate();
        assert!(early > 0.0 && early == asked.error_estimate());
        for factor in [&mut asked, &mut silent] {
            // A failure between two modifications counts for nothing.
            hand_over(factor, T::ONE, Mat::from_fn(n, 1, |_, _| T::of(1e3)).as_ref(), &[-T::ONE])
                .unwrap_err();
            hand_over(factor, T::ONE, v.as_ref(), &vec![-T::ONE; k]).unwrap();
        }
    }
    assert!(asked.error_estimate() == silent.error_estimate());
    let elsewhere = silent.to_engine(Cpu::sequential()).unwrap();
    assert!(elsewhere.error_estimate() == asked.error_estimate());
}

/// δ without V rounds L as well.
fn forgetting_alone_counts<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let n = 5;
    for columns in [0, 2] {
        let mut kept = Kept::<T, E>::new(&Mat::identity(n, n), engine);
        for step in 1..=20 {
            kept.modify(T::of(0.99), Mat::zeros(n, columns).as_ref(), &vec![T::ONE; columns]).unwrap();
            let (error, estimate) = (kept.error(), kept.factor.error_estimate());
            assert!(
                error <= estimate && estimate <= 2.0 * f64::from(step) * T::U,
                "{estimate:.1e}, {error:.1e}"
            );
            let policy = RefactorPolicy { max_modifications: 10, ..RefactorPolicy::default() };
            assert_eq!(kept.factor.needs_refactor(&policy), step > 10);
        }
    }
}

/// A lost factor always needs a new factorization.
#[test]
fn a_factor_that_has_been_lost_needs_another() {
    let cpu = Cpu::sequential().with_safeguard(Safeguard::None);
    let mut factor = Cholesky::from_factor_in(&Mat::<f64>::identity(3, 3), cpu).unwrap();
    assert!(!factor.needs_refactor(&RefactorPolicy::default()));
    assert!(matches!(factor.downdate(&[0.0, 0.5, 2.0]), Err(Error::NotPositiveDefinite { .. })));
    assert_eq!(factor.solve(&[1.0, 1.0, 1.0]).unwrap_err(), Error::Poisoned);
    assert!(factor.needs_refactor(&RefactorPolicy::default()));
    let any = RefactorPolicy { max_error: Some(f64::INFINITY), ..RefactorPolicy::default() };
    assert!(factor.needs_refactor(&any) && factor.error_estimate() == f64::INFINITY);
}

/// A factor of A has its own rounding errors, which matter as soon as A shrinks.
#[test]
fn the_roundings_of_the_first_factor_count() {
    let new = |a: &Mat<f64>| Cholesky::new_in(a, Cpu::sequential()).unwrap();
    for n in [5, 60, sized(300, 100)] {
        counts_the_roundings_of_the_first_factor(n, new, from_the_host);
    }
}

fn counts_the_roundings_of_the_first_factor<E: Engine<f64> + Clone>(
    n: usize,
    new: impl Fn(&Mat<f64>) -> Cholesky<f64, E>,
    hand_over: HandOver<f64, E>,
) {
    let l = factor(n, &mut rng(n as u64));
    let a = &l * l.transpose();
    let meant = Symmetric::product(l.as_ref()).with_rows(&vec![None; n], |i, j| a[(i, j)]);
    let mut kept = Kept { factor: new(&a), meant, hand_over };
    assert_eq!(kept.factor.error_estimate(), 0.0);
    let loss = kept.nearly_all_of(n / 2, 1e-6);
    kept.modify(1.0, loss.as_ref(), &[-1.0]).unwrap();
    let (error, estimate) = (kept.error(), kept.factor.error_estimate());
    assert!(error <= 10.0 * estimate, "n = {n}: {estimate:.1e}, but {error:.1e}");
}

/// An engine that takes over a factor also takes over its history.
#[test]
fn a_factor_goes_to_another_engine_with_what_is_known_of_it() {
    let l = Mat::<f64>::identity(4, 4);
    let mut factor = Cholesky::from_factor_in(&l, Cpu::sequential()).unwrap();
    factor.downdate(&[0.0, (1.0f64 - 1e-10).sqrt(), 0.0, 0.0]).unwrap();
    let estimate = factor.error_estimate();
    assert!(factor.needs_refactor(&RefactorPolicy::default()));
    assert_eq!(factor.clone().error_estimate(), estimate);
    let mut other = factor.to_engine(Cpu::threads(2)).unwrap();
    assert_eq!(other.error_estimate(), estimate);
    other.permute(&[1, 0, 3, 2]).unwrap();
    other.remove(&[0]).unwrap();
    assert!(!other.needs_refactor(&RefactorPolicy::default()), "the row has gone");
}

/// What is in GPU memory stays there, and counts as it does from the host.
#[cfg(feature = "cuda")]
mod in_device_memory {
    use super::*;
    use crate::support::cuda::{device, resident};
    use cholupdate::cuda::{DeviceMatrix, Resident};

    fn there<T: Real>(a: MatRef<'_, T>) -> DeviceMatrix<T> {
        DeviceMatrix::from_host(&device().unwrap(), a).unwrap()
    }

    fn from_the_device<T: Real>(
        factor: &mut Cholesky<T, Resident>,
        decay: T,
        v: MatRef<'_, T>,
        weights: &[T],
    ) -> Result<(), Error> {
        match decay == T::ONE {
            true => factor.modify(&there(v), weights).map(drop),
            false => factor.modify_scaled(decay, &there(v), weights).map(drop),
        }
    }

    #[test]
    fn a_loss_beside_a_growth_is_told() {
        let Some((_turn, engine)) = resident() else { return };
        is_told_of_a_loss_beside_a_growth::<f64, _>(&engine, from_the_device);
        is_told_of_a_loss_beside_a_growth::<f32, _>(&engine, from_the_device);
    }

    #[test]
    fn the_estimate_is_no_smaller_than_the_error_of_any_chain() {
        let Some((_turn, engine)) = resident() else { return };
        for (largest, pessimism) in
            [chains::<f64, _>(&engine, from_the_device), chains::<f32, _>(&engine, from_the_device)]
        {
            assert!(largest <= 10.0 && pessimism <= 30.0);
        }
    }

    /// Two factors of the same A, to be modified from the host and from the device.
    struct Both<T: Real> {
        here: Cholesky<T, Resident>,
        there: Cholesky<T, Resident>,
    }

    impl<T: Real> Both<T> {
        fn new(l: &Mat<f64>, engine: &Resident) -> Self {
            let l = Mat::from_fn(l.nrows(), l.nrows(), |i, j| T::of(l[(i, j)]));
            let here = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
            Self { here, there: Cholesky::from_factor_in(&there(l.as_ref()), engine.clone()).unwrap() }
        }

        fn modify(&mut self, decay: T, v: &Mat<T>, weights: &[T]) {
            from_the_host(&mut self.here, decay, v.as_ref(), weights).unwrap();
            from_the_device(&mut self.there, decay, v.as_ref(), weights).unwrap();
            let [here, there] = [&self.here, &self.there].map(Cholesky::error_estimate);
            assert!(
                here > 0.0 && (there / here - 1.0).abs() < 1e3 * T::U,
                "{:?}: {here:e}, {there:e}",
                v.shape()
            );
        }
    }

    /// The sums of squares of rows of V are those of the host, but for the order of the columns.
    fn estimates_as_from_the_host<T: Real>(engine: &Resident) {
        for (n, ranks) in [(1, [1, 3]), (33, [2, 9]), (130, [1, 40])] {
            let mut both = Both::<T>::new(&factor(n, &mut rng(n as u64)), engine);
            for (turn, k) in ranks.into_iter().enumerate() {
                let v = uniform(n, k, &mut rng(7 + turn as u64));
                let v = Mat::from_fn(n, k, |i, j| T::of(0.1 * v[(i, j)]));
                let weights: Vec<_> = (0..k).map(|r| T::of([2.0, 0.0, 0.5, -0.1][(turn + r) % 4])).collect();
                both.modify(T::of([1.0, 0.75][turn]), &v, &weights);
            }
        }
        // The loss of a single row, of which there is one in each of the kernel's blocks.
        let n = sized(1100, 70);
        for row in [0, 31, 32, 1023, 1024, n - 1].into_iter().filter(|&row| row < n) {
            let mut both = Both::<T>::new(&Mat::identity(n, n), engine);
            both.modify(T::ONE, &unit(n, row, 0.99), &[-T::ONE]);
            assert!(both.there.error_estimate() > 40.0 * T::U);
        }
    }

    #[test]
    fn estimates_are_those_from_the_host() {
        let Some((_turn, engine)) = resident() else { return };
        estimates_as_from_the_host::<f64>(&engine);
        estimates_as_from_the_host::<f32>(&engine);
    }

    /// On a GPU more columns than there are in one launch; fewer on the fake driver, where one host thread runs all blocks.
    #[test]
    fn no_column_is_left_out() {
        let Some((_turn, engine)) = resident() else { return };
        let k = if crate::support::cuda::on_the_fake_driver() { 40 } else { (1 << 15) + 2 };
        let mut weights = vec![0.0; k];
        (weights[0], weights[1], weights[k - 1]) = (0.5, -0.25, -0.5);
        let v = Mat::from_fn(3, k, |i, j| [0.5, 0.25, 1.3][(i + j) % 3]);
        Both::<f64>::new(&Mat::identity(3, 3), &engine).modify(1.0, &v, &weights);
    }

    #[test]
    fn an_estimate_does_not_depend_on_when_it_is_asked_for() {
        let Some((_turn, engine)) = resident() else { return };
        does_not_depend_on_when_it_is_asked_for::<f64, _>(&engine, from_the_device);
        does_not_depend_on_when_it_is_asked_for::<f32, _>(&engine, from_the_device);
    }

    #[test]
    fn the_roundings_of_the_first_factor_count() {
        let Some((_turn, engine)) = resident() else { return };
        let new = |a: &Mat<f64>| Cholesky::new_in(&there(a.as_ref()), engine.clone()).unwrap();
        for n in [5, sized(300, 70)] {
            counts_the_roundings_of_the_first_factor(n, new, from_the_device);
        }
    }

    /// A singular A has no digits to lose.
    #[test]
    fn from_nothing_on_it_is_no_worse() {
        let Some((_turn, engine)) = resident() else { return };
        let mut factor = Cholesky::<f64, _>::zeros_in(3, engine.clone()).unwrap();
        for row in 0..3 {
            from_the_device(&mut factor, 1.0, unit(3, row, 1.0).as_ref(), &[1.0]).unwrap();
        }
        let window = beside(&unit(3, 0, 1.0), &unit(3, 1, 0.5));
        from_the_device(&mut factor, 1.0, window.as_ref(), &[1.0, -1.0]).unwrap();
        let estimate = factor.error_estimate();
        assert!((f64::U..20.0 * f64::U).contains(&estimate), "{estimate:e}");
    }
}
