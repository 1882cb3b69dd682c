//! Quadratic programs with general constraints by a primal active-set method, on one factor of the KKT matrix that constraints enter and
//! leave.
//!
//! The program is
//!
//! ```text
//! minimize  ½ xᵀ H x + gᵀ x     subject to     C x ≤ d,
//! ```
//!
//! with H (n × n) positive definite. W are the constraints that are held with equality, which gives a step p and dual variables λ:
//!
//! ```text
//! ( H    C_Wᵀ ) ( p )     ( −H x − g )
//! ( C_W   0   ) ( λ )  =  (    0     )
//! ```
//!
//! A constraint that stops the step enters W: `append`, of the order n + |W|. If there is no step, the one with the most negative
//! dual variable leaves: `remove`. The matrix is indefinite, with one negative eigenvalue for each constraint in W if and only if H is positive
//! definite on the null space of C_W: `expect_inertia` makes a step that would lose convexity an error.
//!
//! Run with `cargo run --release --example active_set_qp [n]`. Every step is compared with factoring the KKT matrix again.

use cholupdate::faer::linalg::solvers::Solve;
use cholupdate::faer::{Col, Mat};
use cholupdate::{Cpu, Error, Ldlt};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::time::{Duration, Instant};

const PROGRAMS: usize = 4;
/// A step, relative to x, or a dual, relative to g, is zero if it is no larger.
const ZERO: f64 = 1e-10;

struct Program {
    h: Mat<f64>,
    g: Col<f64>,
    /// By rows: m × n.
    c: Mat<f64>,
    d: Col<f64>,
    /// A point with C x < d.
    start: Col<f64>,
}

impl Program {
    fn new(n: usize, random: &mut StdRng) -> Self {
        let m = n + n / 2;
        let root = Mat::from_fn(n, n, |_, _| random.random_range(-1.0..1.0));
        let mut h = &root * root.transpose() * (3.0 / n as f64);
        (0..n).for_each(|i| h[(i, i)] += 0.1);
        let c = Mat::from_fn(m, n, |_, _| random.random_range(-1.0..1.0));
        let start = Col::from_fn(n, |_| random.random_range(-1.0..1.0));
        let slack = Col::from_fn(m, |_| random.random_range(0.1..1.0));
        let d = &c * &start + slack;
        let g = Col::from_fn(n, |_| random.random_range(-10.0..10.0));
        Self { h, g, c, d, start }
    }

    /// The KKT matrix of these constraints.
    fn kkt(&self, working: &[usize]) -> Mat<f64> {
        let n = self.h.nrows();
        Mat::from_fn(n + working.len(), n + working.len(), |i, j| match (i.max(j), i.min(j)) {
            (i, j) if i < n => self.h[(i, j)],
            (i, j) if j < n => self.c[(working[i - n], j)],
            _ => 0.0,
        })
    }
}

/// What the method has done.
#[derive(Default)]
struct Done {
    steps: usize,
    changes: usize,
    updating: Duration,
    again: Duration,
    /// Largest relative difference from the solution by a new factor.
    difference: f64,
}

/// Solves a program from its starting point. Returns x, and the duals of all constraints.
fn solve(program: &Program, done: &mut Done) -> Result<(Col<f64>, Col<f64>), Error> {
    let Program { h, g, c, d, start } = program;
    let (n, m) = (h.nrows(), c.nrows());
    let (mut x, mut working) = (start.clone(), Vec::<usize>::new());
    let mut factor = Ldlt::new_in(h, Cpu::sequential())?;
    loop {
        done.steps += 1;
        assert!(done.steps < 100 * n, "the method does not cycle");
        let gradient = h * &x + g;
        let rhs = Mat::from_fn(n + working.len(), 1, |i, _| if i < n { -gradient[i] } else { 0.0 });
        let begin = Instant::now();
        let mut solution = factor.solve(&rhs)?;
        done.updating += begin.elapsed();
        let begin = Instant::now();
        let other = program.kkt(&working).lblt(cholupdate::faer::Side::Lower).solve(&rhs);
        done.again += begin.elapsed();
        done.difference = done.difference.max((&solution - &other).norm_max() / other.norm_max());

        let step = solution.col_mut(0).subrows(0, n).to_owned();
        let duals: Vec<f64> = (n..n + working.len()).map(|i| solution[(i, 0)]).collect();
        let begin = Instant::now();
        if step.norm_max() <= ZERO * (1.0 + x.norm_max()) {
            let least = (0..working.len()).min_by(|&i, &j| duals[i].total_cmp(&duals[j]));
            match least.filter(|&i| duals[i] < -ZERO * g.norm_max()) {
                None => {
                    let mut all = Col::zeros(m);
                    working.iter().zip(duals).for_each(|(&row, dual)| all[row] = dual);
                    return Ok((x, all));
                }
                Some(leaving) => {
                    working.remove(leaving);
                    factor.expect_inertia(n, working.len());
                    factor.remove(&[n + leaving])?;
                }
            }
        } else {
            let (slope, slack) = (c * &step, d - c * &x);
            let others = (0..m).filter(|row| slope[*row] > 0.0 && !working.contains(row));
            let first = others.map(|row| (row, slack[row] / slope[row])).min_by(|a, b| a.1.total_cmp(&b.1));
            match first.filter(|&(_, length)| length < 1.0) {
                None => x += step,
                Some((row, length)) => {
                    x += step * cholupdate::faer::Scale(length.max(0.0));
                    let cross =
                        Mat::from_fn(n + working.len(), 1, |i, _| if i < n { c[(row, i)] } else { 0.0 });
                    working.push(row);
                    factor.expect_inertia(n, working.len());
                    factor.append(&cross, &[0.0])?;
                }
            }
        }
        done.updating += begin.elapsed();
        done.changes += 1;
    }
}

fn main() -> Result<(), Error> {
    let n = std::env::args().nth(1).map_or(120, |n| n.parse().expect("the number of variables"));
    let random = &mut StdRng::seed_from_u64(1);
    let (mut done, mut active) = (Done::default(), 0);
    for _ in 0..PROGRAMS {
        let program = Program::new(n, random);
        let (x, duals) = solve(&program, &mut done)?;
        let stationary = &program.h * &x + &program.g + program.c.transpose() * &duals;
        let feasible = &program.c * &x - &program.d;
        let complementary = feasible.iter().zip(duals.iter()).map(|(slack, y)| (slack * y).abs());
        assert!(stationary.norm_max() < 1e-8 && feasible.iter().all(|&over| over < 1e-8));
        assert!(duals.iter().all(|&y| y > -1e-8) && complementary.fold(0.0, f64::max) < 1e-8);
        active += duals.iter().filter(|&&y| y > 0.0).count();
    }
    assert!(done.difference < 1e-7, "off by {:e}", done.difference);
    println!("{PROGRAMS} programs with {n} variables: {} steps, {active} active constraints", done.steps);
    let each = |time: Duration| time.as_secs_f64() * 1e6 / done.steps as f64;
    println!("a step with one factor: {:.0} µs", each(done.updating));
    println!("factoring again (Bunch–Kaufman of faer): {:.0} µs", each(done.again));
    println!("largest difference of the two solutions: {:.1e}", done.difference);
    Ok(())
}
