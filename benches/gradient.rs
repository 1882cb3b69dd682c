//! Derivatives of a modification, in reverse and in forward mode, against the modification itself, out of place, and against the
//! derivative through a fresh factorization, which takes O(n³): 2 Ā' = L'⁻ᵀ (Φ + Φᵀ) L'⁻¹ and its products with L and V, by faer. One thread.
//!
//! All methods are given L', which the fresh factorization would have to make first.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench gradient
//! ```
//!
//! | variable | |
//! |---|---|
//! | `CHOLUPDATE_BENCH` | `quick` (orders up to 1024) or `full` (the default) |
//! | `CHOLUPDATE_BENCH_N`, `_K` | orders n and ranks k instead of the grid's |
//! | `CHOLUPDATE_BENCH_SVG` | a file for curves of the least and the third rank, double precision |

use cholupdate::faer::linalg::matmul::triangular::{BlockStructure, matmul};
use cholupdate::faer::linalg::triangular_solve::solve_upper_triangular_in_place as solve_lt;
use cholupdate::faer::{Accum, Mat, Par};
use cholupdate::gradient::{
    Cotangents, CotangentsMut, GradientWorkspace, Modified, Tangents, modify_jvp_into, modify_vjp_into,
};
use cholupdate::{Cpu, Weights, Workspace, modify_into};
use cholupdate_bench::about::about;
use cholupdate_bench::limits::Limits;
use cholupdate_bench::measure::{Competitor, Timed, in_turns};
use cholupdate_bench::plot::{Chart, Curve, Stroke, figure};
use cholupdate_bench::scalar::{Real, largest_residual};
use cholupdate_bench::settings::{Mode, Settings};
use cholupdate_bench::table::{lay_out, time};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::process::ExitCode;

fn main() -> ExitCode {
    let settings = Settings::new();
    if settings.mode == Mode::Test {
        println!("test mode: every code path once, nothing measured; --bench measures");
    }
    let (interval, dram_bytes) = settings.limits();
    let mut limits = Limits::new(interval, dram_bytes);
    for (name, value) in about("gradient", None, &[], &limits.describe()) {
        println!("{name}: {value}");
    }
    let (orders, ranks): (&[usize], &[usize]) = match settings.mode {
        Mode::Test => (&[40], &[1, 3]),
        Mode::Quick => (&[64, 256, 512, 1024], &[1, 4, 16, 64]),
        Mode::Full => (&[64, 256, 512, 1024, 2048, 4096], &[1, 4, 16, 64]),
    };
    let (orders, ranks) = match settings.mode {
        Mode::Test => (orders.to_vec(), ranks.to_vec()),
        _ => settings.grid(orders, ranks),
    };
    let (mut lines, mut points, mut right) = (Vec::new(), Vec::new(), true);
    for &n in &orders {
        for &k in &ranks {
            if let Some(seconds) = cell::<f64>(&settings, &limits, n, k, &mut lines) {
                points.push((n, k, seconds));
            } else {
                right = false;
            }
            right &= cell::<f32>(&settings, &limits, n, k, &mut lines).is_some();
        }
    }
    let headings =
        ["type", "n", "k", "update", "vjp", "of update", "jvp", "of update", "O(n³)", "of vjp", "difference"];
    println!("\nmedian times\n{}", lay_out(&headings, &lines));
    if let Some(path) = std::env::var_os("CHOLUPDATE_BENCH_SVG") {
        let charts = [ranks[0], *ranks.get(2).unwrap_or(&ranks[ranks.len() - 1])];
        let unit = charts.map(|k| format!("seconds, k = {k}"));
        let charts = [0, 1].map(|c| chart(&points, charts[c], &unit[c]));
        figure(path.as_ref(), "", charts).expect("the file of the curves can be written");
    }
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Seconds of the update, of both modes, and of the cotangents through a fresh factorization.
type Seconds = [f64; 4];

fn chart<'a>(points: &[(usize, usize, Seconds)], rank: usize, unit: &'a str) -> Chart<'a> {
    let methods = [
        ("update", Stroke::Solid),
        ("reverse mode", Stroke::Bold),
        ("forward mode", Stroke::Solid),
        ("reverse mode in O(n³)", Stroke::Solid),
    ];
    let curves = methods.into_iter().enumerate().map(|(color, (name, stroke))| {
        let of_rank = points.iter().filter(|&&(_, k, _)| k == rank);
        let points = of_rank.map(|&(n, _, seconds)| (n as f64, seconds[color])).collect();
        Curve { name: name.to_owned(), points, stroke, color }
    });
    Chart { x: "n", unit, logarithmic: true, curves: curves.collect() }
}

/// What the methods begin with. `expected`: L̄ through a fresh factorization.
struct Given<T> {
    l: Mat<T>,
    new: Mat<T>,
    v: Mat<T>,
    bar: Mat<T>,
    expected: Mat<T>,
}

impl<T: Real> Given<T> {
    fn new(n: usize, k: usize) -> Self {
        let random = &mut StdRng::seed_from_u64(1);
        let mut entry = |size: f64| random.random_range(-size..size);
        let beside = 1.0 / (n as f64).sqrt();
        let l = Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => T::narrow(0.0),
            std::cmp::Ordering::Equal => T::narrow(2.0 + entry(0.5)),
            std::cmp::Ordering::Greater => T::narrow(entry(beside)),
        });
        let v = Mat::from_fn(n, k, |_, _| T::narrow(entry(1.0 / (n as f64 * k as f64).sqrt())));
        let bar = Mat::from_fn(n, n, |i, j| T::narrow(if i < j { 0.0 } else { entry(1.0) }));
        let mut new = Mat::zeros(n, n);
        let cpu = Cpu::sequential();
        modify_into(l.as_ref(), &v, Weights::Plus, new.as_mut(), &cpu, &mut Workspace::new())
            .expect("well posed");
        let mut given = Self { l, new, v, bar, expected: Mat::zeros(n, n) };
        let mut again = Again::new(&given);
        Competitor::run(&mut again, 0);
        let Again { to, .. } = again;
        given.expected = to;
        given
    }

    fn modified(&self) -> Modified<'_, T> {
        Modified { l: self.l.as_ref(), new: self.new.as_ref(), v: self.v.as_ref(), weights: Weights::Plus }
    }

    /// max |ΔL̄| / max |L̄|.
    fn difference(&self, to: &Mat<T>) -> f64 {
        let (mut error, mut largest) = (0.0f64, 0.0f64);
        for j in 0..to.ncols() {
            for i in j..to.nrows() {
                let expected = self.expected[(i, j)].wide();
                error = error.max((to[(i, j)].wide() - expected).abs());
                largest = largest.max(expected.abs());
            }
        }
        error / largest
    }
}

/// The modification itself.
struct Update<'a, T: Real>(&'a Given<T>, Mat<T>, Workspace<T>);

impl<T: Real> Competitor for Update<'_, T> {
    fn turns(&self) -> usize {
        1
    }
    fn run(&mut self, _: usize) {
        let (l, cpu) = (self.0.l.as_ref(), Cpu::sequential());
        modify_into(l, &self.0.v, Weights::Plus, self.1.as_mut(), &cpu, &mut self.2).expect("well posed");
    }
    fn residual(&self, _: usize) -> f64 {
        0.0
    }
}

struct Reverse<'a, T: Real>(&'a Given<T>, Cotangents<T>, GradientWorkspace<T>);

impl<T: Real> Competitor for Reverse<'_, T> {
    fn turns(&self) -> usize {
        1
    }
    fn run(&mut self, _: usize) {
        let (bar, to) = (self.0.bar.as_ref(), CotangentsMut::from(&mut self.1));
        modify_vjp_into(&self.0.modified(), bar, to, &Cpu::sequential(), &mut self.2).expect("well posed");
    }
    fn residual(&self, _: usize) -> f64 {
        self.0.difference(&self.1.l)
    }
}

struct Forward<'a, T: Real>(&'a Given<T>, Mat<T>, GradientWorkspace<T>);

impl<T: Real> Competitor for Forward<'_, T> {
    fn turns(&self) -> usize {
        1
    }
    fn run(&mut self, _: usize) {
        let along = Tangents { l: self.0.bar.as_ref(), v: self.0.v.as_ref(), weights: None };
        let (to, cpu) = (self.1.as_mut(), Cpu::sequential());
        modify_jvp_into(&self.0.modified(), &along, to, &cpu, &mut self.2).expect("well posed");
    }
    fn residual(&self, _: usize) -> f64 {
        0.0
    }
}

/// Reverse mode through a fresh factorization, after that factorization.
struct Again<'a, T: Real> {
    given: &'a Given<T>,
    phi: Mat<T>,
    transposed: Mat<T>,
    to: Mat<T>,
    of_v: Mat<T>,
}

impl<'a, T: Real> Again<'a, T> {
    fn new(given: &'a Given<T>) -> Self {
        let (n, k) = given.v.shape();
        let square = || Mat::zeros(n, n);
        Self { given, phi: square(), transposed: square(), to: square(), of_v: Mat::zeros(n, k) }
    }
}

impl<T: Real> Competitor for Again<'_, T> {
    fn turns(&self) -> usize {
        1
    }
    fn run(&mut self, _: usize) {
        let Self { given, phi, transposed, to, of_v } = self;
        let (n, one) = (given.l.nrows(), T::narrow(1.0));
        let (full, lower) = (BlockStructure::Rectangular, BlockStructure::TriangularLower);
        let upper = given.new.transpose();
        let triangle = BlockStructure::TriangularUpper;
        matmul(phi.as_mut(), lower, Accum::Replace, upper, triangle, &given.bar, lower, one, Par::Seq);
        for j in 0..n {
            for i in 0..j {
                phi[(i, j)] = phi[(j, i)];
            }
        }
        solve_lt(upper, phi.as_mut(), Par::Seq);
        transposed.copy_from(phi.transpose());
        solve_lt(upper, transposed.as_mut(), Par::Seq);
        let m = transposed.as_ref();
        matmul(to.as_mut(), lower, Accum::Replace, m, full, given.l.as_ref(), lower, one, Par::Seq);
        matmul(of_v.as_mut(), full, Accum::Replace, m, full, given.v.as_ref(), full, one, Par::Seq);
    }
    fn residual(&self, _: usize) -> f64 {
        self.given.difference(&self.to)
    }
}

/// The line of a cell, and its times if the results are right.
fn cell<T: Real>(
    settings: &Settings,
    limits: &Limits,
    n: usize,
    k: usize,
    lines: &mut Vec<Vec<String>>,
) -> Option<Seconds> {
    let given = Given::<T>::new(n, k);
    let mut update = Update(&given, Mat::zeros(n, n), Workspace::new());
    let cotangents =
        Cotangents { l: Mat::zeros(n, n), v: Mat::zeros(n, k), weights: vec![T::narrow(0.0); k] };
    let mut reverse = Reverse(&given, cotangents, GradientWorkspace::new());
    let mut forward = Forward(&given, Mat::zeros(n, n), GradientWorkspace::new());
    let mut again = Again::new(&given);
    let mut methods: Vec<&mut dyn Timed> = vec![&mut update, &mut reverse, &mut forward, &mut again];
    let largest = largest_residual(T::NAME, n, k);
    let measured = in_turns(&mut methods, settings.effort(), limits.timer, largest);
    let timings: Vec<_> = measured.into_iter().flatten().flatten().collect();
    let [update, reverse, forward, again] = &timings[..] else { return None };
    let ratio = |x: f64, y: f64| format!("{:.1} ×", x / y);
    let difference = format!("{}{:.1e}", if reverse.right { "" } else { "WRONG " }, reverse.residual);
    let line = vec![
        T::NAME.to_owned(),
        n.to_string(),
        k.to_string(),
        time(update.seconds),
        time(reverse.seconds),
        ratio(reverse.seconds, update.seconds),
        time(forward.seconds),
        ratio(forward.seconds, update.seconds),
        time(again.seconds),
        ratio(again.seconds, reverse.seconds),
        difference,
    ];
    println!("{}", line.join("  "));
    lines.push(line);
    reverse.right.then_some([update, reverse, forward, again].map(|timing| timing.seconds))
}
