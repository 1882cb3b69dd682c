//! A box-constrained quadratic program by a primal active-set method, on one factor that variables leave and enter again.
//!
//! The program is
//!
//! ```text
//! minimize  ½ xᵀ H x − gᵀ x     subject to     l ≤ x ≤ u,
//! ```
//!
//! with H (n × n) positive definite. F are the free variables; all others are held at a bound. A step solves H_FF p = −(H x
//! − g)_F and moves along p as far as the box allows. If a bound stops the step, that variable leaves F: `remove`, 2 (f −
//! i)² flops for row i of f. If no bound does, and an entry of the gradient shows that a variable would leave its bound for
//! the interior, that variable enters F: `append`, f² flops. The rows of the factor need not be in the order of the
//! variables, so a variable enters at the end, where no row has to move; `insert` would keep them sorted.
//!
//! A sequence of programs has the same H, as in model predictive control: each starts from the point and the factor at which
//! the previous one ended. Their solutions are known: x* is drawn first, then the dual variables z, with the right sign and
//! away from zero at the bounds, and g = H x* − z makes both optimal.
//!
//! Run with `cargo run --release --example active_set [n]`. Every step is checked against refactorizing H_FF.

use cholupdate::faer::{Col, Mat};
use cholupdate::{Cholesky, Cpu, Error};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::time::{Duration, Instant};

const PROGRAMS: usize = 6;
/// A dual variable of the wrong sign counts as zero if it is no larger. Those of the solution are at least 0.1.
const DUAL: f64 = 1e-9;

struct Program {
    h: Mat<f64>,
    g: Col<f64>,
    lower: Col<f64>,
    upper: Col<f64>,
    /// x*, for the check.
    solution: Col<f64>,
    /// z, which is H x* − g.
    dual: Col<f64>,
}

impl Program {
    /// Without a g yet.
    fn new(order: usize, random: &mut StdRng) -> Self {
        let root = Mat::from_fn(order, order, |_, _| random.random_range(-1.0..1.0));
        // Eigenvalues of 0.1 to about 4: the variables are strongly coupled.
        let mut h = &root * root.transpose() * (3.0 / order as f64);
        (0..order).for_each(|i| h[(i, i)] += 0.1);
        let lower = Col::from_fn(order, |_| random.random_range(-2.0..-0.5));
        let upper = Col::from_fn(order, |_| random.random_range(0.5..2.0));
        Self { h, g: Col::zeros(order), lower, upper, solution: Col::zeros(order), dual: Col::zeros(order) }
    }

    /// Another g, for a solution that differs in this share of its variables; about a sixth of them are at each of the
    /// bounds.
    fn draw(&mut self, share: f64, random: &mut StdRng) {
        for i in 0..self.g.nrows() {
            if !random.random_bool(share) {
                continue;
            }
            let (lower, upper) = (self.lower[i], self.upper[i]);
            (self.solution[i], self.dual[i]) = match random.random_range(0..6) {
                0 => (lower, random.random_range(0.1..1.0)),
                1 => (upper, -random.random_range(0.1..1.0)),
                _ => (random.random_range(0.9 * lower..0.9 * upper), 0.0),
            };
        }
        self.g = &self.h * &self.solution - &self.dual;
    }

    fn gradient(&self, x: &Col<f64>) -> Col<f64> {
        &self.h * x - &self.g
    }

    /// H_FF. (f × f)
    fn block(&self, free: &[usize]) -> Mat<f64> {
        Mat::from_fn(free.len(), free.len(), |i, j| self.h[(free[i], free[j])])
    }

    /// The amount by which the gradient has the wrong sign for variable `i` to stay at its bound.
    fn violation(&self, x: &Col<f64>, gradient: &Col<f64>, i: usize) -> f64 {
        if x[i] == self.lower[i] { -gradient[i] } else { gradient[i] }
    }
}

/// A bound that ends a step.
struct Blocking {
    /// The row of the factor.
    row: usize,
    bound: f64,
    /// The allowed fraction of the step.
    fraction: f64,
}

/// A point in the box, and the factor for the variables that are not held at a bound.
struct ActiveSet {
    program: Program,
    x: Col<f64>,
    /// F, in the order of the rows of the factor.
    free: Vec<usize>,
    /// The factor of H_FF.
    factor: Cholesky<f64>,
    held: usize,
    released: usize,
    /// Time spent on changes of the factor.
    changing: Duration,
}

impl ActiveSet {
    /// All variables free, in the middle of the box.
    fn new(program: Program) -> Result<Self, Error> {
        let x = (&program.lower + &program.upper) * 0.5;
        let free = (0..x.nrows()).collect();
        // One thread: a change ends before a second thread would have started. The factor never grows beyond this order.
        let factor = Cholesky::new_in(&program.h, Cpu::sequential())?;
        Ok(Self { program, x, free, factor, held: 0, released: 0, changing: Duration::ZERO })
    }

    /// Iterates from the current x to the solution.
    fn solve(&mut self, refactorizing: &mut Refactorizing) -> Result<(), Box<dyn std::error::Error>> {
        let before = self.held + self.released;
        while self.held + self.released < before + 20 * self.x.nrows() {
            let gradient = self.program.gradient(&self.x);
            let rhs = Col::from_fn(self.free.len(), |i| -gradient[self.free[i]]);
            let p = self.factor.solve(&rhs)?; // (f × 1)
            refactorizing.follow(&self.program.block(&self.free), &rhs, &p)?;
            if let Some(Blocking { row, bound, fraction }) = self.blocking(&p) {
                self.go(&p, fraction);
                self.hold(row, bound)?;
            } else {
                self.go(&p, 1.0);
                match self.worst(&self.program.gradient(&self.x)) {
                    Some(variable) => self.release(variable)?,
                    None => return Ok(()),
                }
            }
        }
        Err("no solution after 20 n steps".into())
    }

    /// The first bound that the step p (f × 1) would exceed.
    fn blocking(&self, p: &Mat<f64>) -> Option<Blocking> {
        let bounds = self.free.iter().enumerate().filter(|(row, _)| p[(*row, 0)] != 0.0).map(|(row, &i)| {
            let p = p[(row, 0)];
            let bound = if p > 0.0 { self.program.upper[i] } else { self.program.lower[i] };
            Blocking { row, bound, fraction: (bound - self.x[i]) / p }
        });
        bounds.filter(|b| b.fraction < 1.0).min_by(|a, b| a.fraction.total_cmp(&b.fraction))
    }

    fn go(&mut self, p: &Mat<f64>, fraction: f64) {
        for (row, &i) in self.free.iter().enumerate() {
            self.x[i] += fraction * p[(row, 0)];
        }
    }

    /// Holds the variable of a row at a bound.
    fn hold(&mut self, row: usize, bound: f64) -> Result<(), Error> {
        let start = Instant::now();
        self.factor.remove(&[row])?;
        self.changing += start.elapsed();
        let variable = self.free.remove(row);
        // Exactly, regardless of the rounding of the step.
        self.x[variable] = bound;
        self.held += 1;
        Ok(())
    }

    /// Frees a variable from its bound. An H that is not positive definite would be detected here, with the factor and F
    /// still those of the last step: F changes after the `?`.
    fn release(&mut self, variable: usize) -> Result<(), Error> {
        let h = &self.program.h;
        let cross: Vec<_> = self.free.iter().map(|&i| h[(i, variable)]).collect();
        let start = Instant::now();
        self.factor.append(&cross, &[h[(variable, variable)]])?;
        self.changing += start.elapsed();
        self.free.push(variable);
        self.released += 1;
        Ok(())
    }

    /// The variable at a bound with the largest gain in the interior.
    fn worst(&self, gradient: &Col<f64>) -> Option<usize> {
        let mut held = vec![true; self.x.nrows()];
        self.free.iter().for_each(|&i| held[i] = false);
        let violations = (0..held.len())
            .filter(|&i| held[i])
            .map(|i| (i, self.program.violation(&self.x, gradient, i)))
            .filter(|(_, violation)| *violation > DUAL);
        violations.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i)
    }
}

/// The larger of two numbers; unlike `f64::max`, a NaN if there is one.
fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// A new factor at every step.
#[derive(Default)]
struct Refactorizing {
    time: Duration,
    /// Largest relative difference of the two solutions of a step.
    apart: f64,
}

impl Refactorizing {
    fn follow(&mut self, block: &Mat<f64>, rhs: &Col<f64>, p: &Mat<f64>) -> Result<(), Error> {
        let start = Instant::now();
        let fresh = Cholesky::new_in(block, Cpu::sequential())?;
        self.time += start.elapsed();
        let reference = fresh.solve(rhs)?;
        let distance = (p - &reference).norm_l2() / reference.norm_l2().max(f64::MIN_POSITIVE);
        self.apart = larger(self.apart, distance);
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let order = std::env::args().nth(1).map_or(Ok(500), |argument| argument.parse::<usize>())?.max(2);
    let mut random = StdRng::seed_from_u64(1971);
    let mut set = ActiveSet::new(Program::new(order, &mut random))?;
    let mut refactorizing = Refactorizing::default();
    let (mut error, mut stationary) = (0.0_f64, 0.0_f64);

    println!("{PROGRAMS} quadratic programs of {order} variables in a box");
    for number in 1..=PROGRAMS {
        set.program.draw(if number == 1 { 1.0 } else { 0.5 }, &mut random);
        let (held, released) = (set.held, set.released);
        set.solve(&mut refactorizing)?;
        let (held, released, free) = (set.held - held, set.released - released, set.free.len());
        println!(
            "program {number}: {held:>3} variables held, {released:>3} released, {free} free at the end"
        );

        let gradient = set.program.gradient(&set.x);
        let inside = |i| (set.program.lower[i]..=set.program.upper[i]).contains(&set.x[i]);
        assert!((0..order).all(inside), "outside of the box");
        assert!(set.worst(&gradient).is_none(), "a dual variable has the wrong sign");
        stationary = set.free.iter().fold(stationary, |most, &i| larger(most, gradient[i].abs()));
        error = larger(error, (&set.x - &set.program.solution).norm_max());
    }
    println!("largest error of x {error:.1e}, largest gradient of a free variable {stationary:.1e}");

    let steps = (set.held + set.released) as f64;
    let micros = |total: Duration| total.as_secs_f64() * 1e6 / steps;
    let (changing, fresh) = (micros(set.changing), micros(refactorizing.time));
    println!("time of a step: remove or append {changing:.1} us, refactorizing {fresh:.1} us");
    println!("speedup of {:.1} over {steps} steps", fresh / changing);
    let block = set.program.block(&set.free);
    let residual = (set.factor.reconstruct()? - &block).norm_max() / block.norm_max();
    println!("largest entry of L L^T - H_FF at the end: {residual:.1e} of the largest of H_FF");
    println!("steps p differ by at most {:.1e} of p", refactorizing.apart);

    // A change adds an error of at most (n + 1) u, relative to H, and they add up as random errors do.
    let bound = steps.sqrt() * (order + 1) as f64 * (f64::EPSILON / 2.0);
    assert!(error <= 1e-10, "not the solution");
    assert!(stationary <= 1e-10, "not stationary");
    assert!(residual <= bound, "residual above {bound:.1e}");
    assert!(refactorizing.apart <= 1e-10, "steps differ by more than 1e-10");
    println!(
        "all checks passed: x within 1e-10, KKT conditions, residual <= {bound:.1e}, steps within 1e-10"
    );
    Ok(())
}
