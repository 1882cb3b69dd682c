//! Updates and downdates of a complex factor, A = L Lᴴ, against the same of a real one, faer's rank-k update, Eigen's rank-1 update,
//! LINPACK's `zchud` and `zchdd`, and factoring again.
//!
//! The methods take turns; an update is followed by the downdate that reverses it. A complex update has four times the flops of a real one
//! of the same order and rank, and twice the memory.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench complex
//! ```
//!
//! | variable | |
//! |---|---|
//! | `CHOLUPDATE_BENCH` | `quick` (orders up to 1024) or `full` (the default) |
//! | `CHOLUPDATE_BENCH_N`, `_K` | orders n and ranks k instead of the grid's |

use cholupdate::faer::diag::Diag;
use cholupdate::faer::dyn_stack::{MemBuffer, MemStack};
use cholupdate::faer::linalg::cholesky::llt::{factor as llt, update::rank_r_update_clobber};
use cholupdate::faer::{Mat, Par, Spec, c64};
use cholupdate::{Cholesky, Cpu};
use cholupdate_bench::about::about;
use cholupdate_bench::limits::Limits;
use cholupdate_bench::measure::{Competitor, Timed, in_turns};
use cholupdate_bench::peers::eigen::{EigenComplex, version};
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
    for (name, value) in about("complex", None, &[version().unwrap_or_default()], &limits.describe()) {
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
        for &k in &ranks {
            right &= cell(&settings, &limits, n, k, &mut lines);
        }
    }
    println!("\nmedian times\n{}", lay_out(&["n", "k", "method", "update", "downdate", "residual"], &lines));
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What the methods begin with: L and V, and A before and after an update.
struct Given {
    l: Mat<c64>,
    v: Mat<c64>,
    sums: [Mat<c64>; 2],
}

impl Given {
    fn new(n: usize, k: usize) -> Self {
        let random = &mut StdRng::seed_from_u64(1);
        let mut entry =
            |size: f64| c64::new(random.random_range(-size..size), random.random_range(-size..size));
        let l = Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => c64::new(0.0, 0.0),
            std::cmp::Ordering::Equal => c64::new(2.0 + entry(0.5).re, 0.0),
            std::cmp::Ordering::Greater => entry(1.0 / (n as f64).sqrt()),
        });
        let v = Mat::from_fn(n, k, |_, _| entry(1.0 / (n as f64 * k as f64).sqrt()));
        let a = &l * l.adjoint();
        let updated = &a + &v * v.adjoint();
        Self { l, v, sums: [updated, a] }
    }

    /// max |L'L'ᴴ − A'| / max |A'|.
    fn residual(&self, turn: usize, l: impl Fn(usize, usize) -> c64) -> f64 {
        let (n, wanted) = (self.l.nrows(), &self.sums[turn]);
        let l = Mat::from_fn(n, n, |i, j| if i < j { c64::new(0.0, 0.0) } else { l(i, j) });
        (&l * l.adjoint() - wanted).norm_max() / wanted.norm_max()
    }
}

fn sign(turn: usize) -> f64 {
    if turn == 0 { 1.0 } else { -1.0 }
}

struct Ours<'a>(&'a Given, Cholesky<c64>);

impl Competitor for Ours<'_> {
    fn run(&mut self, turn: usize) {
        if turn == 0 { self.1.update(&self.0.v) } else { self.1.downdate(&self.0.v) }.expect("well posed");
    }
    fn residual(&self, turn: usize) -> f64 {
        let l = self.1.l();
        self.0.residual(turn, |i, j| l[(i, j)])
    }
}

/// The real parts of L and V.
struct OfReals {
    factor: Cholesky<f64>,
    v: Mat<f64>,
    sums: [Mat<f64>; 2],
}

impl OfReals {
    fn new(given: &Given) -> Self {
        let (n, k) = given.v.shape();
        let (l, v) =
            (Mat::from_fn(n, n, |i, j| given.l[(i, j)].re), Mat::from_fn(n, k, |i, r| given.v[(i, r)].re));
        let factor = Cholesky::from_factor_in(&l, Cpu::sequential()).expect("well posed");
        let a = &l * l.transpose();
        Self { factor, sums: [&a + &v * v.transpose(), a], v }
    }
}

impl Competitor for OfReals {
    fn run(&mut self, turn: usize) {
        if turn == 0 { self.factor.update(&self.v) } else { self.factor.downdate(&self.v) }
            .expect("well posed");
    }
    fn residual(&self, turn: usize) -> f64 {
        let (l, wanted) = (self.factor.l(), &self.sums[turn]);
        (l * l.transpose() - wanted).norm_max() / wanted.norm_max()
    }
}

/// faer's routine overwrites V and the weights, which are copied outside of the timed region.
struct ByFaer<'a>(&'a Given, Mat<c64>, Mat<c64>, Diag<c64>);

impl Competitor for ByFaer<'_> {
    fn prepare(&mut self, turn: usize) {
        self.2.copy_from(&self.0.v);
        self.3.column_vector_mut().fill(c64::new(sign(turn), 0.0));
    }
    fn run(&mut self, _turn: usize) {
        rank_r_update_clobber(self.1.as_mut(), self.2.as_mut(), self.3.as_mut()).expect("well posed");
    }
    fn residual(&self, turn: usize) -> f64 {
        self.0.residual(turn, |i, j| self.1[(i, j)])
    }
}

struct ByEigen<'a>(&'a Given, EigenComplex, Mat<c64>, Vec<c64>);

impl Competitor for ByEigen<'_> {
    fn run(&mut self, turn: usize) {
        self.1.modify(&mut self.2, &self.3, sign(turn));
    }
    fn residual(&self, turn: usize) -> f64 {
        self.0.residual(turn, |i, j| self.2[(i, j)])
    }
}

/// faer's LLᴴ of the ready sum.
struct Again<'a>(&'a Given, Mat<c64>, MemBuffer);

impl Competitor for Again<'_> {
    fn prepare(&mut self, turn: usize) {
        self.1.copy_from(&self.0.sums[turn]);
    }
    fn run(&mut self, _turn: usize) {
        let (regularization, stack) = (llt::LltRegularization::default(), MemStack::new(&mut self.2));
        llt::cholesky_in_place(self.1.as_mut(), regularization, Par::Seq, stack, Spec::default())
            .expect("well posed");
    }
    fn residual(&self, turn: usize) -> f64 {
        self.0.residual(turn, |i, j| self.1[(i, j)])
    }
}

/// `zchud` and `zchdd`, a call for each column of V: as in `support/linpack.rs`, with the columns of L for the rows of R.
struct ByLinpack<'a> {
    given: &'a Given,
    l: Mat<c64>,
    cosines: Vec<f64>,
    sines: Vec<c64>,
    carry: Vec<c64>,
}

impl<'a> ByLinpack<'a> {
    fn new(given: &'a Given) -> Self {
        let n = given.l.nrows();
        let zeros = || vec![c64::new(0.0, 0.0); n];
        Self { given, l: given.l.clone(), cosines: vec![0.0; n], sines: zeros(), carry: zeros() }
    }

    fn zchud(&mut self, r: usize) {
        let carry = &mut self.carry;
        carry.iter_mut().zip(self.given.v.col(r).iter()).for_each(|(to, v)| *to = *v);
        for j in 0..self.l.ncols() {
            let column = &mut self.l.col_as_slice_mut(j)[j..];
            let root = column[0].re.hypot(carry[j].norm());
            let (c, s) = (column[0].re / root, carry[j] / root);
            column[0] = c64::new(root, 0.0);
            for (l, x) in column[1..].iter_mut().zip(&mut carry[j + 1..]) {
                let rotated = *l * c + s.conj() * *x;
                *x = *x * c - s * *l;
                *l = rotated;
            }
        }
    }

    fn zchdd(&mut self, r: usize) {
        let Self { given, l, cosines, sines, carry } = self;
        let n = l.ncols();
        sines.iter_mut().zip(given.v.col(r).iter()).for_each(|(to, v)| *to = *v);
        for j in 0..n {
            let column = &l.col_as_slice(j)[j..];
            let s = sines[j] / column[0].re;
            sines[j] = s;
            sines[j + 1..].iter_mut().zip(&column[1..]).for_each(|(x, l)| *x -= s * *l);
        }
        let mut alpha = (1.0 - sines.iter().map(|s| s.norm_sqr()).sum::<f64>()).sqrt();
        assert!(alpha > 0.0, "the problem is well posed");
        for i in (0..n).rev() {
            let norm = alpha.hypot(sines[i].norm());
            (cosines[i], sines[i]) = (alpha / norm, sines[i] / norm);
            alpha = norm;
        }
        carry.fill(c64::new(0.0, 0.0));
        for j in (0..n).rev() {
            let (c, s) = (cosines[j], sines[j]);
            for (l, x) in l.col_as_slice_mut(j)[j..].iter_mut().zip(&mut carry[j..]) {
                let rotated = *x * c + s * *l;
                *l = *l * c - s.conj() * *x;
                *x = rotated;
            }
        }
    }
}

impl Competitor for ByLinpack<'_> {
    fn run(&mut self, turn: usize) {
        for r in 0..self.given.v.ncols() {
            if turn == 0 { self.zchud(r) } else { self.zchdd(r) }
        }
    }
    fn residual(&self, turn: usize) -> f64 {
        self.given.residual(turn, |i, j| self.l[(i, j)])
    }
}

fn cell(settings: &Settings, limits: &Limits, n: usize, k: usize, lines: &mut Vec<Vec<String>>) -> bool {
    let given = Given::new(n, k);
    let memory = MemBuffer::new(llt::cholesky_in_place_scratch::<c64>(n, Par::Seq, Spec::default()));
    let factor = Cholesky::from_factor_in(&given.l, Cpu::sequential()).expect("well posed");
    let mut ours = Ours(&given, factor);
    let mut reals = OfReals::new(&given);
    let mut faer = ByFaer(&given, given.l.clone(), given.v.clone(), Diag::zeros(k));
    let mut linpack = ByLinpack::new(&given);
    let mut again = Again(&given, given.l.clone(), memory);
    let columns = given.v.col_iter().flat_map(|column| column.iter().copied()).collect();
    let mut eigen = EigenComplex::load().map(|eigen| ByEigen(&given, eigen, given.l.clone(), columns));
    let mut names = vec!["complex", "real", "faer", "LINPACK", "factoring again"];
    let mut methods: Vec<&mut dyn Timed> = vec![&mut ours, &mut reals, &mut faer, &mut linpack, &mut again];
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
