//! The published tests of the two packages with these verbs for dense factors, with their data and tolerances.
//!
//! - GNU Octave, `libinterp/corefcn/chol.cc`: the test blocks of `cholupdate`, `cholinsert`, `choldelete` and `cholshift`.
//! - qrupdate (Hajek, 2009), `test/tchinx.f`, `tchdex.f` and `tchshx.f`: its matrices are made of LAPACK's random numbers
//!   `slaruv` and `dlaruv`, here in the same sequence from the same seed.
//!
//! Both keep the upper factor R = Lᵀ and number rows from 1.

use crate::support::compensated::product_of_rows;
use crate::support::contract::is_factor;
use crate::support::real::Real;
use cholupdate::faer::{Mat, MatRef};
use cholupdate::{Cholesky, Cpu, Engine};

on_every_engine!(
    octave_cholupdate,
    octave_cholinsert,
    octave_choldelete,
    octave_cholshift,
    qrupdate_tchinx,
    qrupdate_tchdex,
    qrupdate_tchshx,
);

/// Octave's A, and the vector of its update.
const A: [[f64; 4]; 4] = [
    [0.436997, -0.131721, 0.124120, -0.061673],
    [-0.131721, 0.738529, 0.019851, -0.140295],
    [0.124120, 0.019851, 0.354879, -0.059472],
    [-0.061673, -0.140295, -0.059472, 0.600939],
];
const U: [f64; 4] = [0.98950, 0.39844, 0.63484, 0.13351];
/// The column that Octave inserts as the third.
const U2: [f64; 5] = [0.35080, 0.63930, 3.31057, -0.13825, 0.45266];

/// The distance from 1 to the next number: Octave's `eps`, LAPACK's `dlamch('p')`.
fn eps<T: Real>() -> f64 {
    2.0 * T::U
}

fn octave<T: Real>() -> Mat<T> {
    Mat::from_fn(4, 4, |i, j| T::of(A[i][j]))
}

/// The upper factor R of A.
fn chol<T: Real>(a: &Mat<T>) -> Mat<T>
where
    Cpu: Engine<T>,
{
    Cholesky::new(a).unwrap().l().transpose().to_owned()
}

/// The factor of which R is the transpose.
fn from_upper<T: Real, E: Engine<T> + Clone>(r: &Mat<T>, engine: &E) -> Cholesky<T, E> {
    Cholesky::from_factor_in(r.transpose(), engine.clone()).unwrap()
}

/// R, which is upper triangular.
fn upper<T: Real, E: Engine<T>>(factor: &Cholesky<T, E>) -> Mat<T> {
    let l = factor.to_factor().unwrap();
    assert!(is_factor(l.as_ref()), "{l:?}");
    l.transpose().to_owned()
}

/// RᵀR − A in twice the precision, so that only the error of R is measured. A is given by its entries.
fn residual<T: Real>(r: &Mat<T>, a: impl Fn(usize, usize) -> f64) -> Mat<f64> {
    let n = r.ncols();
    let columns: Vec<Vec<f64>> =
        r.col_iter().map(|column| column.iter().map(|x| x.f64()).collect()).collect();
    Mat::from_fn(n, n, |i, j| product_of_rows(&[(&columns[i], &columns[j]), (&[-a(i, j)], &[1.0])]))
}

/// Octave's `norm (x, Inf)`.
fn norm_inf(x: MatRef<'_, f64>) -> f64 {
    x.row_iter().map(|row| row.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
}

#[track_caller]
fn assert_within(error: f64, tolerance: f64) {
    assert!(error <= tolerance, "{error:.2e}, not {tolerance:.2e}");
}

fn octave_cholupdate<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let (r, u) = (chol(&octave::<T>()), U.map(T::of));
    let mut factor = from_upper(&r, engine);
    factor.update(&u).unwrap();
    let r1 = upper(&factor);
    let columns: Vec<Vec<f64>> =
        r.col_iter().map(|column| column.iter().map(|x| x.f64()).collect()).collect();
    let updated =
        |i: usize, j: usize| product_of_rows(&[(&columns[i], &columns[j]), (&[u[i].f64()], &[u[j].f64()])]);
    assert_within(norm_inf(residual(&r1, updated).as_ref()), 10.0 * eps::<T>());

    factor.downdate(&u).unwrap();
    let back = upper(&factor);
    let off = Mat::from_fn(4, 4, |i, j| back[(i, j)].f64() - r[(i, j)].f64());
    // Octave allows its single precision twice as much.
    let roundings = if eps::<T>() > 1e-10 { 20.0 } else { 10.0 };
    assert_within(norm_inf(off.as_ref()), roundings * eps::<T>());
}

fn octave_cholinsert<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let (a, u2, j) = (octave::<T>(), U2.map(T::of), 3);
    let p = [0, 1, 3, 4];
    let mut factor = from_upper(&chol(&a), engine);
    factor.insert(j - 1, &u2).unwrap();
    let entry =
        |i: usize, j: usize| match (p.iter().position(|&row| row == i), p.iter().position(|&row| row == j)) {
            (Some(i), Some(j)) => a[(i, j)].f64(),
            (None, _) => u2[j].f64(),
            (_, None) => u2[i].f64(),
        };
    let off = residual(&upper(&factor), entry);
    // Octave checks the old rows; here the new row is held to the same bound, at its own scale.
    let there = Mat::from_fn(4, 4, |i, j| off[(p[i], p[j])]);
    assert_within(norm_inf(there.as_ref()), 10.0 * eps::<T>());
    assert_within(norm_inf(off.as_ref()), 10.0 * eps::<T>() * U2[j - 1]);
}

fn octave_choldelete<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let (a, j) = (octave::<T>(), 3);
    let p = [0, 1, 3];
    let mut factor = from_upper(&chol(&a), engine);
    factor.remove(&[j - 1]).unwrap();
    let off = residual(&upper(&factor), |i, j| a[(p[i], p[j])].f64());
    assert_within(norm_inf(off.as_ref()), 10.0 * eps::<T>());
}

fn octave_cholshift<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let a = octave::<T>();
    for (i, j, p) in [(1, 3, [1, 2, 0, 3]), (3, 1, [2, 0, 1, 3])] {
        let mut factor = from_upper(&chol(&a), engine);
        factor.shift(i - 1, j - 1).unwrap();
        let off = residual(&upper(&factor), |i, j| a[(p[i], p[j])].f64());
        assert_within(norm_inf(off.as_ref()), 10.0 * eps::<T>());
    }
}

/// The order of all matrices of qrupdate's tests.
const ORDER: usize = 50;

/// Numbers used by one of its tests. A program tests single precision first, then double; the complex types then use twice as
/// many numbers each.
const NUMBERS: usize = ORDER * ORDER;

/// Numbers in (0, 1) of LAPACK's `slaruv` and `dlaruv` with the seed 1, 1, 1, 1, without the first `skipped`.
fn laruv<T: Real>(skipped: usize) -> impl Iterator<Item = T> {
    /// x ← 33952834046453 x mod 2⁴⁸ (Fishman, Math. Comp. 54 (1990) 331–344).
    const FACTOR: u64 = 33_952_834_046_453;
    const SEED: u64 = 1 << 36 | 1 << 24 | 1 << 12 | 1;
    let next = |x: &u64| Some(x.wrapping_mul(FACTOR) & ((1 << 48) - 1));
    // By digits of twelve bits, from the last one on, because the sum is rounded in single precision.
    let number = |x: u64| {
        let digit = |place: u32| T::of((x >> (12 * place) & 0xfff) as f64);
        let r = T::of(1.0 / 4096.0);
        (1..4).fold(r * digit(0), |sum, place| r * (digit(place) + sum))
    };
    std::iter::successors(Some(SEED), next).skip(1 + skipped).map(number)
}

/// `schgen` and `dchgen`: XᵀX + 10⁻³ for random X. (n × n)
fn random<T: Real>(skipped: usize) -> Mat<T> {
    let single_first = if eps::<T>() > 1e-10 { 0 } else { NUMBERS };
    let numbers: Vec<f64> = laruv::<T>(skipped + single_first).take(NUMBERS).map(Real::f64).collect();
    assert!(numbers.iter().all(|&x| 0.0 < x && x < 1.0));
    let x = MatRef::from_column_major_slice(&numbers, ORDER, ORDER);
    let product = x.transpose() * x;
    Mat::from_fn(ORDER, ORDER, |i, j| {
        let entry = T::of(product[(i.max(j), i.min(j))]);
        if i == j { entry + T::of(1e-3) } else { entry }
    })
}

/// `schchk` and `dchchk`: max |RᵀR − A| < 200 eps, regardless of the scale of A, which is about 17 here.
#[track_caller]
fn check<T: Real, E: Engine<T>>(factor: &Cholesky<T, E>, a: impl Fn(usize, usize) -> T) {
    let error = residual(&upper(factor), |i, j| a(i, j).f64()).norm_max();
    assert!(error < 200.0 * eps::<T>(), "{error:.2e}, not {:.2e}", 200.0 * eps::<T>());
}

fn qrupdate_tchinx<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let (a, j) = (random::<T>(0), 25);
    let mut factor = from_upper(&chol(&a), engine);
    factor.remove(&[j - 1]).unwrap();
    factor.insert(j - 1, a.col(j - 1)).unwrap();
    assert_eq!(factor.order(), ORDER);
    check(&factor, |i, j| a[(i, j)]);
}

fn qrupdate_tchdex<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let (a, j) = (random::<T>(0), 15);
    let mut factor = from_upper(&chol(&a), engine);
    factor.remove(&[j - 1]).unwrap();
    assert_eq!(factor.order(), ORDER - 1);
    let left = |i: usize| if i < j - 1 { i } else { i + 1 };
    check(&factor, |i, j| a[(left(i), left(j))]);
}

fn qrupdate_tchshx<T: Real, E: Engine<T> + Clone>(engine: &E) {
    // The right shift comes after the four types of the left shift.
    for (i, j, skipped) in [(20, 40, 0), (40, 20, 6 * NUMBERS)] {
        let a = random::<T>(skipped);
        let mut factor = from_upper(&chol(&a), engine);
        factor.shift(i - 1, j - 1).unwrap();
        let mut p: Vec<usize> = (0..ORDER).collect();
        let row = p.remove(i - 1);
        p.insert(j - 1, row);
        check(&factor, |i, j| a[(p[i], p[j])]);
    }
}
