//! Non-negative least squares by Lawson and Hanson's active-set method, on one factor that variables enter and leave.
//!
//! The program is
//!
//! ```text
//! minimize  |A x − b|     subject to     x ≥ 0,
//! ```
//!
//! with A (m × n). P are the variables that are not held at zero, and G = Aᵀ A. A step takes up to eight variables into P, those
//! with the largest gradients: `append`, f² flops for a factor of order f. It solves G_PP s = (Aᵀ b)_P, moves from x towards s as
//! far as x ≥ 0 allows, and takes the variables that have become zero out of P: `remove`. Some of the new variables may leave at
//! once, but not all, so that the residual decreases in every step.
//!
//! Some columns of A come twice. With one of such a pair in P, the other has no pivot left: `append` refuses it, with the factor
//! as it was, and the solver goes on to the next one.
//!
//! The solution is known: x* is drawn first, then the gradient w ≤ 0 of the variables that are zero, and b = A x* + r with
//! Aᵀ r = w makes both optimal. Of a pair of columns the sum of both variables is determined.
//!
//! Run with `cargo run --release --example nnls [n]`, with n >= 40. Every solution is checked against refactorizing G_PP.

use cholupdate::faer::{Col, Mat};
use cholupdate::{Cholesky, Cpu, Error};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::time::{Duration, Instant};

/// Variables that enter before the next solution.
const TOGETHER: usize = 8;
/// A pivot of at most this part of its diagonal entry, squared, is rounding.
const DEPENDENT: f64 = 1e-11;

struct Problem {
    a: Mat<f64>,
    b: Col<f64>,
    /// The first column that equals this one.
    first: Vec<usize>,
    /// x*, with the sum of both variables of a pair at the first.
    solution: Col<f64>,
}

impl Problem {
    /// n columns, of which n/20 come twice, and 2 n rows.
    fn new(n: usize, random: &mut StdRng) -> Result<Self, Error> {
        let unique = n - n / 20;
        let first: Vec<_> =
            (0..n).map(|j| if j < unique { j } else { random.random_range(0..unique) }).collect();
        let columns = Mat::from_fn(2 * n, unique, |_, _| random.random_range(0.0..1.0));
        let mut solution = Col::zeros(n);
        let mut gradient = Mat::zeros(unique, 1);
        for j in 0..unique {
            if random.random_bool(0.4) {
                solution[j] = random.random_range(0.1..1.0);
            } else {
                gradient[(j, 0)] = -random.random_range(0.1..1.0);
            }
        }
        // r = A (Aᵀ A)⁻¹ w, of the columns that come once.
        let weights = Cholesky::new(&(columns.transpose() * &columns))?.solve(&gradient)?;
        let a = Mat::from_fn(2 * n, n, |i, j| columns[(i, first[j])]);
        let residual = &columns * weights;
        let b = &a * &solution;
        let b = Col::from_fn(2 * n, |i| b[i] + residual[(i, 0)]);
        Ok(Self { a, b, first, solution })
    }

    /// The largest error of x, or of the sums of pairs.
    fn error(&self, x: &Col<f64>) -> f64 {
        let mut sums = Col::<f64>::zeros(x.nrows());
        (0..x.nrows()).for_each(|j| sums[self.first[j]] += x[j]);
        (sums - &self.solution).norm_max()
    }
}

/// What the method knows of A and b, and where it is.
struct ActiveSet {
    gram: Mat<f64>,
    ab: Col<f64>,
    x: Col<f64>,
    /// P, in the order of the rows of the factor.
    passive: Vec<usize>,
    /// Variables in P, and those that were refused since the last one left P.
    closed: Vec<bool>,
    /// The factor of G_PP.
    factor: Cholesky<f64>,
    entered: usize,
    left: usize,
    refused: usize,
    /// Time spent on changes of the factor.
    changing: Duration,
}

impl ActiveSet {
    fn new(problem: &Problem) -> Result<Self, Error> {
        let n = problem.a.ncols();
        Ok(Self {
            gram: problem.a.transpose() * &problem.a,
            ab: problem.a.transpose() * &problem.b,
            x: Col::zeros(n),
            passive: Vec::new(),
            closed: vec![false; n],
            // One thread: a change ends before a second thread would have started.
            factor: Cholesky::new_in(&Mat::<f64>::zeros(0, 0), Cpu::sequential())?,
            entered: 0,
            left: 0,
            refused: 0,
            changing: Duration::ZERO,
        })
    }

    /// What rounding can leave of a gradient that is zero.
    fn tolerance(&self) -> f64 {
        10.0 * self.x.nrows() as f64 * f64::EPSILON * self.ab.norm_max()
    }

    /// Iterates to the solution.
    fn solve(&mut self, refactorizing: &mut Refactorizing) -> Result<(), Box<dyn std::error::Error>> {
        let tolerance = self.tolerance();
        for _ in 0..10 * self.x.nrows() {
            let gradient = &self.ab - &self.gram * &self.x;
            let candidates = self.candidates(&gradient, tolerance);
            if candidates.is_empty() {
                return Ok(());
            }
            for candidate in candidates {
                self.enter(candidate)?;
            }
            let mut solution = self.at_minimum(refactorizing)?;
            while self.step(&solution)? {
                solution = self.at_minimum(refactorizing)?;
            }
        }
        Err("no solution after 10 n steps".into())
    }

    /// The variables with the largest gradients, down to half of the largest.
    fn candidates(&self, gradient: &Col<f64>, tolerance: f64) -> Vec<usize> {
        let mut open: Vec<_> =
            (0..gradient.nrows()).filter(|&j| !self.closed[j] && gradient[j] > tolerance).collect();
        open.sort_by(|&i, &j| gradient[j].total_cmp(&gradient[i]));
        let half = open.first().map_or(0.0, |&j| 0.5 * gradient[j]);
        open.into_iter().take(TOGETHER).take_while(|&j| gradient[j] >= half).collect()
    }

    /// Takes a variable into P, unless its column depends on those of P.
    fn enter(&mut self, variable: usize) -> Result<(), Error> {
        self.closed[variable] = true;
        let corner = self.gram[(variable, variable)];
        let cross: Vec<_> = self.passive.iter().map(|&j| self.gram[(j, variable)]).collect();
        let start = Instant::now();
        let mut refused = false;
        match self.factor.append(&cross, &[corner]) {
            // The determinant changes by the square of the pivot.
            Ok(report) if report.log_det_change().exp() > DEPENDENT * corner => {}
            Ok(_) => {
                self.factor.remove(&[cross.len()])?;
                refused = true;
            }
            Err(Error::NotPositiveDefinite { .. }) => refused = true,
            Err(error) => return Err(error),
        }
        self.changing += start.elapsed();
        if refused {
            self.refused += 1;
        } else {
            self.passive.push(variable);
            self.entered += 1;
        }
        Ok(())
    }

    /// s, where the variables of P may be negative.
    fn at_minimum(&self, refactorizing: &mut Refactorizing) -> Result<Mat<f64>, Error> {
        let rhs = Col::from_fn(self.passive.len(), |row| self.ab[self.passive[row]]);
        let solution = self.factor.solve(&rhs)?;
        refactorizing.follow(&self.block(), &rhs, &solution)?;
        Ok(solution)
    }

    /// Moves to s (f × 1), or as far towards it as x ≥ 0 allows. Returns whether variables have left P.
    fn step(&mut self, solution: &Mat<f64>) -> Result<bool, Error> {
        let ratio = |(row, &j): (usize, &usize)| {
            let (before, after) = (self.x[j], solution[(row, 0)]);
            (row, if after < 0.0 { before / (before - after) } else { f64::INFINITY })
        };
        let ratios: Vec<_> = self.passive.iter().enumerate().map(ratio).collect();
        let allowed = ratios.iter().fold(1.0_f64, |least, &(_, ratio)| least.min(ratio));
        for (row, &j) in self.passive.iter().enumerate() {
            self.x[j] += allowed * (solution[(row, 0)] - self.x[j]);
        }
        let rows: Vec<_> =
            ratios.into_iter().filter(|&(_, ratio)| ratio <= allowed).map(|(row, _)| row).collect();
        if rows.is_empty() {
            return Ok(false);
        }
        let start = Instant::now();
        self.factor.remove(&rows)?;
        self.changing += start.elapsed();
        // Exactly, regardless of the rounding of the step.
        rows.iter().for_each(|&row| self.x[self.passive[row]] = 0.0);
        let mut row = 0;
        self.passive.retain(|_| {
            row += 1;
            rows.binary_search(&(row - 1)).is_err()
        });
        self.left += rows.len();
        self.closed.fill(false);
        self.passive.iter().for_each(|&j| self.closed[j] = true);
        Ok(true)
    }

    /// G_PP. (f × f)
    fn block(&self) -> Mat<f64> {
        let p = &self.passive;
        Mat::from_fn(p.len(), p.len(), |i, j| self.gram[(p[i], p[j])])
    }
}

/// The larger of two numbers; unlike `f64::max`, a NaN if there is one.
fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// A new factor for every solution.
#[derive(Default)]
struct Refactorizing {
    time: Duration,
    solutions: usize,
    /// Largest relative difference of the two.
    apart: f64,
}

impl Refactorizing {
    fn follow(&mut self, block: &Mat<f64>, rhs: &Col<f64>, solution: &Mat<f64>) -> Result<(), Error> {
        let start = Instant::now();
        let fresh = Cholesky::new_in(block, Cpu::sequential())?;
        self.time += start.elapsed();
        self.solutions += 1;
        let reference = fresh.solve(rhs)?;
        let distance = (solution - &reference).norm_l2() / reference.norm_l2().max(f64::MIN_POSITIVE);
        self.apart = larger(self.apart, distance);
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n = match std::env::args().nth(1) {
        None => 600,
        Some(argument) => match argument.parse() {
            Ok(n) if n >= 40 => n,
            _ => return Err(format!("n is {argument:?}, but must be a number of at least 40").into()),
        },
    };
    let problem = Problem::new(n, &mut StdRng::seed_from_u64(1974))?;
    let mut set = ActiveSet::new(&problem)?;
    let mut refactorizing = Refactorizing::default();
    set.solve(&mut refactorizing)?;

    let (entered, left, refused) = (set.entered, set.left, set.refused);
    println!("{n} variables, {} of them positive at the end", set.passive.len());
    println!("{entered} entered, {left} left, {refused} were refused; {} solutions", refactorizing.solutions);
    let gradient = &set.ab - &set.gram * &set.x;
    let stationary = set.passive.iter().fold(0.0, |most, &j| larger(most, gradient[j].abs()));
    let wrong = (0..n).fold(f64::NEG_INFINITY, |most, j| larger(most, gradient[j]));
    let error = problem.error(&set.x);
    println!("largest error of x {error:.1e}, largest gradient of a positive variable {stationary:.1e}");
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    let (changing, fresh) = (millis(set.changing), millis(refactorizing.time));
    println!(
        "append and remove {changing:.1} ms, refactorizing {fresh:.1} ms: speedup of {:.1}",
        fresh / changing
    );
    println!("solutions differ by at most {:.1e}", refactorizing.apart);

    assert!((0..n).all(|j| set.x[j] >= 0.0), "a negative variable");
    let tolerance = set.tolerance();
    assert!(wrong <= tolerance, "a variable would leave zero");
    let mut columns: Vec<_> = set.passive.iter().map(|&j| problem.first[j]).collect();
    columns.sort_unstable();
    assert!(columns.windows(2).all(|pair| pair[0] < pair[1]), "equal columns are both in P");
    assert!(stationary <= tolerance, "not stationary");
    assert!(error <= 1e-9, "not the solution");
    assert!(refactorizing.apart <= 1e-9, "solutions differ by more than 1e-9");
    println!("all checks passed: x and solutions within 1e-9, gradients within {tolerance:.1e}");
    Ok(())
}
