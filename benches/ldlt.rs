//! Updates and downdates of an indefinite factor L S Lᵀ, against faer's rank-k update of an LDLᵀ, Eigen's rank-1 update and factoring again.
//!
//! A = (H Aᵀ; A −1) has n/3 negative eigenvalues, with the rows of H first. The methods take turns; an update is followed by the downdate
//! that reverses it. No inertia changes. This crate's time includes the pass over L for the growth, and its shadow buffer.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench ldlt
//! ```
//!
//! | variable | |
//! |---|---|
//! | `CHOLUPDATE_BENCH` | `quick` (orders up to 1024) or `full` (the default) |
//! | `CHOLUPDATE_BENCH_N`, `_K` | orders n and ranks k instead of the grid's |

use cholupdate::faer::diag::Diag;
use cholupdate::faer::dyn_stack::{MemBuffer, MemStack};
use cholupdate::faer::linalg::cholesky::ldlt::{factor as ldlt, update::rank_r_update_clobber};
use cholupdate::faer::{Mat, Par, Spec};
use cholupdate::{Cpu, Ldlt};
use cholupdate_bench::about::about;
use cholupdate_bench::limits::Limits;
use cholupdate_bench::measure::{Competitor, Timed, in_turns};
use cholupdate_bench::peers::eigen::{EigenLdlt, version};
use cholupdate_bench::scalar::largest_residual;
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
    for (name, value) in about("ldlt", None, &[version().unwrap_or_default()], &limits.describe()) {
        println!("{name}: {value}");
    }
    let (orders, ranks): (&[usize], &[usize]) = match settings.mode {
        Mode::Test => (&[9], &[1, 3]),
        Mode::Quick => (&[64, 256, 1024], &[1, 4, 16, 64]),
        Mode::Full => (&[64, 256, 1024, 4096], &[1, 4, 16, 64]),
    };
    let (orders, ranks) = match settings.mode {
        Mode::Test => (orders.to_vec(), ranks.to_vec()),
        _ => settings.grid(orders, ranks),
    };
    let (mut lines, mut right) = (Vec::new(), true);
    for &n in &orders {
        let a = problem(n);
        for &k in &ranks {
            right &= cell(&settings, &limits, &a, k, &mut lines);
        }
    }
    println!("\nmedian times\n{}", lay_out(&["n", "k", "method", "update", "downdate", "residual"], &lines));
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn problem(n: usize) -> Mat<f64> {
    let random = &mut StdRng::seed_from_u64(1);
    let own = n - n / 3;
    let g = Mat::<f64>::from_fn(n, n, |_, _| random.random_range(-1.0..1.0) / (n as f64).sqrt());
    let h = &g * g.transpose();
    Mat::from_fn(n, n, |i, j| match (i.max(j), i.min(j)) {
        (i, j) if i < own => h[(i, j)] + if i == j { 1.0 } else { 0.0 },
        (i, j) if j >= own => {
            if i == j {
                -1.0
            } else {
                0.0
            }
        }
        (i, j) => g[(i, j)],
    })
}

/// What the methods begin with.
struct Given<'a> {
    a: &'a Mat<f64>,
    v: &'a Mat<f64>,
    updated: &'a Mat<f64>,
}

impl Given<'_> {
    /// max |L D Lᵀ − A'| / max |A'|, for a unit L with D on its diagonal.
    fn residual(&self, turn: usize, ld: impl Fn(usize, usize) -> f64) -> f64 {
        let n = self.a.nrows();
        let wanted = if turn == 0 { self.updated } else { self.a };
        let l = Mat::from_fn(n, n, |i, j| {
            if i > j {
                ld(i, j)
            } else if i == j {
                1.0
            } else {
                0.0
            }
        });
        let scaled = Mat::from_fn(n, n, |i, j| l[(i, j)] * ld(j, j));
        (scaled * l.transpose() - wanted).norm_max() / wanted.norm_max()
    }
}

struct Ours<'a>(&'a Given<'a>, Ldlt<f64>);

impl Competitor for Ours<'_> {
    fn run(&mut self, turn: usize) {
        if turn == 0 { self.1.update(self.0.v) } else { self.1.downdate(self.0.v) }.expect("quasi-definite");
    }
    fn residual(&self, turn: usize) -> f64 {
        let (l, s) = (self.1.l(), self.1.signs());
        self.0
            .residual(turn, |i, j| if i == j { s[j] * l[(j, j)] * l[(j, j)] } else { l[(i, j)] / l[(j, j)] })
    }
}

/// faer's routine overwrites V and the weights, which are copied outside of the timed region.
struct ByFaer<'a>(&'a Given<'a>, Mat<f64>, Mat<f64>, Diag<f64>);

impl Competitor for ByFaer<'_> {
    fn prepare(&mut self, turn: usize) {
        self.2.copy_from(self.0.v);
        self.3.column_vector_mut().iter_mut().for_each(|weight| *weight = if turn == 0 { 1.0 } else { -1.0 });
    }
    fn run(&mut self, _turn: usize) {
        rank_r_update_clobber(self.1.as_mut(), self.2.as_mut(), self.3.as_mut());
    }
    fn residual(&self, turn: usize) -> f64 {
        self.0.residual(turn, |i, j| self.1[(i, j)])
    }
}

struct ByEigen<'a>(&'a Given<'a>, EigenLdlt, Mat<f64>, Vec<f64>);

impl Competitor for ByEigen<'_> {
    fn prepare(&mut self, _turn: usize) {
        // Its routine overwrites V.
        self.3.clear();
        self.3.extend(self.0.v.col_iter().flat_map(|column| column.iter().copied()));
    }
    fn run(&mut self, turn: usize) {
        self.1.modify(&mut self.2, &mut self.3, if turn == 0 { 1.0 } else { -1.0 });
    }
    fn residual(&self, turn: usize) -> f64 {
        self.0.residual(turn, |i, j| self.2[(i, j)])
    }
}

/// faer's LDLᵀ of the ready sum.
struct Again<'a>(&'a Given<'a>, Mat<f64>, MemBuffer);

impl Competitor for Again<'_> {
    fn prepare(&mut self, turn: usize) {
        self.1.copy_from(if turn == 0 { self.0.updated } else { self.0.a });
    }
    fn run(&mut self, _turn: usize) {
        factor(&mut self.1, &mut self.2);
    }
    fn residual(&self, turn: usize) -> f64 {
        self.0.residual(turn, |i, j| self.1[(i, j)])
    }
}

fn factor(a: &mut Mat<f64>, memory: &mut MemBuffer) {
    let (regularization, stack) = (ldlt::LdltRegularization::default(), MemStack::new(memory));
    ldlt::cholesky_in_place(a.as_mut(), regularization, Par::Seq, stack, Spec::default())
        .expect("quasi-definite");
}

fn cell(settings: &Settings, limits: &Limits, a: &Mat<f64>, k: usize, lines: &mut Vec<Vec<String>>) -> bool {
    let (n, random) = (a.nrows(), &mut StdRng::seed_from_u64(2));
    // Rows of the constraints are zero, so that A stays quasi-definite.
    let own = n - n / 3;
    let entry = |i: usize, _| if i < own { random.random_range(-1.0..1.0) / (n * k) as f64 } else { 0.0 };
    let v = Mat::from_fn(n, k, entry);
    let given = Given { a, v: &v, updated: &(a + &v * v.transpose()) };
    let memory = || MemBuffer::new(ldlt::cholesky_in_place_scratch::<f64>(n, Par::Seq, Spec::default()));
    let mut ld = a.clone();
    factor(&mut ld, &mut memory());
    let mut ours = Ours(&given, Ldlt::new_in(a, Cpu::sequential()).expect("quasi-definite"));
    let mut faer = ByFaer(&given, ld.clone(), v.clone(), Diag::zeros(k));
    let mut eigen = EigenLdlt::load().map(|eigen| ByEigen(&given, eigen, ld.clone(), Vec::new()));
    let mut again = Again(&given, ld, memory());
    let mut names = vec!["Ldlt", "faer", "factoring again"];
    let mut methods: Vec<&mut dyn Timed> = vec![&mut ours, &mut faer, &mut again];
    if let Some(eigen) = &mut eigen {
        names.push("Eigen");
        methods.push(eigen);
    }
    let measured = in_turns(&mut methods, settings.effort(), limits.timer, largest_residual("f64", n, k));
    let mut right = true;
    for (name, timings) in names.into_iter().zip(measured) {
        let Some(timings) = timings else { continue };
        let worst = timings.iter().map(|timing| timing.residual).fold(0.0, f64::max);
        let correct = timings.iter().all(|timing| timing.right);
        right &= correct;
        let [update, downdate] = [0, 1].map(|turn| time(timings[turn].seconds));
        let residual = format!("{}{worst:.1e}", if correct { "" } else { "WRONG " });
        let line = vec![n.to_string(), k.to_string(), name.to_owned(), update, downdate, residual];
        println!("{}", line.join("  "));
        lines.push(line);
    }
    right
}
