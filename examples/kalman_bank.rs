//! Ten thousand square-root Kalman filters: a radar follows many aircraft, each with a filter of its own.
//!
//! The state x is position, velocity and acceleration in the plane. F takes it to the next measurement z = H x + noise of
//! covariance R. In information form, Y = P⁻¹ and y = Y x, with fading memory in place of process noise (Sorenson and Sacks 1971):
//!
//! ```text
//! Y ← λ F⁻ᵀ Y F⁻¹ + Hᵀ R⁻¹ H,     y ← λ F⁻ᵀ y + Hᵀ R⁻¹ z,     Y x = y
//! ```
//!
//! Every estimate needs a factor of Y. For x at a fixed epoch, t steps ago, and Y without its factor λᵗ, only the sum remains, with
//! H Fᵗ for H and the weight λ⁻ᵗ. So a step of all filters is a `modify` of rank 2, with weights 0 where the radar has missed the
//! aircraft, and a `solve_in_place`. Now and then the epoch moves: L ← λ^(t/2) F⁻ᵗᵀ L, which is triangular, as F⁻ᵀ is.
//!
//! Run with `cargo run --release --example kalman_bank [filters]`. In every step the estimates are checked against those of summing
//! Y and factoring it again, and the times of both are printed.

use cholupdate::{BatchMut, BatchRef, BatchWeights, CholeskyBatch, Error};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::time::{Duration, Instant};

/// Entry 2 d + axis of a state is derivative d of the position.
const STATE: usize = 6;
/// Steps of a second, those from one epoch to the next, and λ.
const STEPS: usize = 100;
const EPOCH: usize = 20;
const FORGET: f64 = 0.95;
/// Standard deviations of a range in m and of an azimuth, and of what is known at first, in m, m/s and m/s².
const NOISE: [f64; 2] = [30.0, 0.002];
const AT_FIRST: [f64; 3] = [40.0, 20.0, 1.0];

/// X ← c F⁻ᵗᵀ X for many X (6 × columns), by rows.
fn move_epoch(x: &mut [f64], columns: usize, (c, t): (f64, f64)) {
    for x in x.chunks_exact_mut(STATE * columns) {
        for p in 0..2 * columns {
            let [v, a] = [p + 2 * columns, p + 4 * columns];
            [x[a], x[v], x[p]] = [x[a] - t * x[v] + 0.5 * t * t * x[p], x[v] - t * x[p], x[p]].map(|x| c * x);
        }
    }
}

fn main() -> Result<(), Error> {
    let count = std::env::args().nth(1).map_or(10_000, |count| count.parse().expect("a number of filters"));
    let random = &mut StdRng::seed_from_u64(1);
    let mut normal = || -> f64 { (0..12).map(|_| random.random_range(-0.5..0.5)).sum() };
    let squares = [count, STATE, STATE];
    let zeros = |entries: usize| vec![0.0; count * entries];
    let [mut aircraft, mut y, mut x, mut expected] = [STATE; 4].map(zeros);
    // Y for the comparison alone.
    let [mut information, mut l, mut v, mut weights] = [36, 36, 12, 2].map(zeros);
    for (at, truth) in aircraft.iter_mut().enumerate() {
        let (deviation, guess) = (AT_FIRST[at % STATE / 2], [4e4, 0.0, 0.0, 200.0, 0.0, 0.0][at % STATE]);
        *truth = guess + deviation * normal();
        (information[at * STATE + at % STATE], y[at]) = (deviation.powi(-2), guess * deviation.powi(-2));
    }
    let mut bank = CholeskyBatch::new(BatchRef::by_rows(&information, squares)?)?;

    let [mut keeping, mut summing, mut factoring] = [Duration::ZERO; 3];
    let [mut apart, mut error] = [0.0_f64; 2];
    for step in 0..STEPS {
        let t = (step % EPOCH + 1) as f64;
        let (powers, scale) = ([1.0, t, 0.5 * t * t], FORGET.powf(t));
        for (filter, truth) in aircraft.chunks_exact_mut(STATE).enumerate() {
            for axis in 0..2 {
                truth[axis] += truth[2 + axis] + 0.5 * truth[4 + axis];
                truth[2 + axis] += truth[4 + axis];
                truth[4 + axis] += 0.05 * normal();
            }
            let range = truth[0].hypot(truth[1]) + NOISE[0] * normal();
            let (sin, cos) = (truth[1].atan2(truth[0]) + NOISE[1] * normal()).sin_cos();
            weights[2 * filter..][..2].fill(if normal() < -1.3 { 0.0 } else { 1.0 / scale });
            // Along the line of sight and across it, where z is 0.
            let [along, across] = [NOISE[0], NOISE[1] * range];
            let directions = [[cos / along, -sin / across], [sin / along, cos / across]];
            for (row, entry) in (filter * STATE..).zip(0..STATE) {
                v[2 * row..][..2].copy_from_slice(&directions[entry % 2].map(|x| powers[entry / 2] * x));
                y[row] += weights[2 * filter] * v[2 * row] * range / along;
            }
        }

        let start = Instant::now();
        let columns = BatchRef::by_rows(&v, [count, STATE, 2])?;
        assert!(bank.modify(columns, BatchWeights::OfEach(&weights))?.all().is_ok(), "finite updates");
        keeping += start.elapsed();
        let start = Instant::now();
        for ((a, v), w) in information.chunks_exact_mut(36).zip(v.chunks_exact(12)).zip(weights.chunks(2)) {
            for (a, [i, j]) in a.iter_mut().zip((0..36).map(|at| [at / 6 * 2, at % 6 * 2])) {
                *a += w[0] * v[i] * v[j] + w[1] * v[i + 1] * v[j + 1];
            }
        }
        summing += start.elapsed();
        let start = Instant::now();
        let again = CholeskyBatch::new(BatchRef::by_rows(&information, squares)?)?;
        factoring += start.elapsed();

        for (factors, x) in [(&bank, &mut x), (&again, &mut expected)] {
            x.copy_from_slice(&y);
            factors.solve_in_place(BatchMut::by_rows(x, [count, STATE, 1])?)?;
        }
        for at in (0..count * STATE).filter(|at| at % STATE < 2) {
            let position = |x: &[f64]| -> f64 { (0..3).map(|d| powers[d] * x[at + 2 * d]).sum() };
            apart = apart.max((position(&x) - position(&expected)).abs());
            error += (position(&x) - aircraft[at]).powi(2);
        }

        if (step + 1) % EPOCH == 0 {
            let start = Instant::now();
            bank.copy_factors(BatchMut::by_rows(&mut l, squares)?)?;
            move_epoch(&mut l, STATE, (scale.sqrt(), t));
            bank = CholeskyBatch::from_factors(BatchRef::by_rows(&l, squares)?)?;
            keeping += start.elapsed();
            let start = Instant::now();
            move_epoch(&mut information, STATE, (1.0, t));
            move_epoch(&mut information, 1, (scale, t));
            summing += start.elapsed();
            move_epoch(&mut y, 1, (scale, t));
        }
    }

    let ns = |time: Duration| (time.as_secs_f64() * 1e9 / (count * STEPS) as f64).round();
    let [keeping, summing, factoring] = [keeping, summing, factoring].map(ns);
    println!("{count} filters of order {STATE}, {STEPS} steps of rank 2; for a filter and a step:");
    println!("{keeping} ns to modify its factor; {summing} to sum its matrix and {factoring} to factor that");
    error = (error / (count * STEPS) as f64).sqrt();
    println!("positions are wrong by {error:.0} m; those of the two ways differ by {apart:.1e} m at most");
    assert!(apart < 1e-8 && error < 50.0, "the estimates are right, and of use");
    Ok(())
}
