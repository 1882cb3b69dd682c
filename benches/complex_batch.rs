//! Batches of complex factors on one thread: an update and the downdate that reverses it, and a solve, against a batch of the real parts,
//! single complex factors in a loop, and factoring again in a batch.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench complex_batch
//! ```
//!
//! The factors fit a second-level cache. Times are medians for one matrix. A complex update has four times the flops of a real one of the
//! same order and rank, and twice the memory. For factoring again, A + V Vᴴ is in place.
//!
//! | variable | |
//! |---|---|
//! | `CHOLUPDATE_BENCH_N`, `_K` | orders n and ranks k instead of the grid's |

use cholupdate::faer::{Mat, c64};
use cholupdate::{BatchMut, BatchRef, Cholesky, CholeskyBatch, Cpu};
use cholupdate_bench::about::about;
use cholupdate_bench::batches::norm_max;
use cholupdate_bench::limits::Limits;
use cholupdate_bench::measure::{Competitor, Timed, in_turns};
use cholupdate_bench::scalar::largest_residual;
use cholupdate_bench::settings::{Mode, Settings};
use cholupdate_bench::table::lay_out;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::process::ExitCode;

/// Bytes of the complex factors of a batch.
const IN_CACHE: usize = 384 << 10;

fn main() -> ExitCode {
    let settings = Settings::new();
    let (interval, dram_bytes) = settings.limits();
    let mut limits = Limits::new(interval, dram_bytes);
    for (name, value) in about("complex batch", None, &[], &limits.describe()) {
        println!("{name}: {value}");
    }
    let (orders, ranks) = match settings.mode {
        Mode::Test => (vec![5], vec![1, 3]),
        _ => settings.grid(&[4, 8, 16, 32, 64], &[1, 4]),
    };
    let bytes = if settings.mode == Mode::Test { 1 << 12 } else { IN_CACHE };
    let (mut lines, mut right) = (Vec::new(), true);
    for (&n, &k) in orders.iter().flat_map(|n| ranks.iter().map(move |k| (n, k))) {
        right &= cell(&settings, &limits, (n, k, bytes), &mut lines);
    }
    let headings = ["n", "k", "matrices", "method", "update", "downdate", "solve", "residual"];
    println!("\nns for one matrix\n{}", lay_out(&headings, &lines));
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Matrices A = L Lᴴ and columns V.
struct Given {
    n: usize,
    l: Vec<Mat<c64>>,
    v: Vec<Mat<c64>>,
}

impl Given {
    fn new(count: usize, n: usize, k: usize) -> Self {
        let random = &mut StdRng::seed_from_u64(1);
        let mut entry =
            |size: f64| c64::new(random.random_range(-size..size), random.random_range(-size..size));
        let (mut l, mut v) = (Vec::new(), Vec::new());
        for _ in 0..count {
            l.push(Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
                std::cmp::Ordering::Less => c64::new(0.0, 0.0),
                std::cmp::Ordering::Equal => c64::new(1.0 + entry(0.5).re, 0.0),
                std::cmp::Ordering::Greater => entry(0.4 / (n as f64).sqrt()),
            }));
            v.push(Mat::from_fn(n, k, |_, _| entry(0.2)));
        }
        Self { n, l, v }
    }

    /// max |L'L'ᴴ − A'| / max |A'| over some matrices, of which a `part` is compared.
    fn residual(&self, turn: usize, part: impl Fn(c64) -> c64, l: impl Fn(usize) -> Mat<c64>) -> f64 {
        norm_max((0..self.l.len()).step_by(self.l.len().div_ceil(20)).map(|at| {
            let of = |a: &Mat<c64>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| part(a[(i, j)]));
            let (old, v, new) = (of(&self.l[at]), of(&self.v[at]), l(at));
            let mut wanted = &old * old.adjoint();
            if turn == 0 {
                wanted += &v * v.adjoint();
            }
            (&new * new.adjoint() - &wanted).norm_max() / wanted.norm_max()
        }))
    }

    fn by_rows<T>(all: &[Mat<c64>], part: impl Fn(c64) -> T) -> Vec<T> {
        let entries = |a: &Mat<c64>| {
            (0..a.nrows())
                .flat_map(|i| (0..a.ncols()).map(move |j| (i, j)))
                .map(|at| a[at])
                .collect::<Vec<_>>()
        };
        all.iter().flat_map(entries).map(part).collect()
    }
}

/// A batch of such numbers.
struct Batch<'a, T: cholupdate::Scalar> {
    given: &'a Given,
    batch: CholeskyBatch<T>,
    v: Vec<T>,
    rhs: Vec<T>,
    of: fn(c64) -> T,
    back: fn(T) -> c64,
}

impl<'a, T: cholupdate::Scalar> Batch<'a, T> {
    fn new(given: &'a Given, of: fn(c64) -> T, back: fn(T) -> c64) -> Self {
        let (count, n) = (given.l.len(), given.n);
        let l = Given::by_rows(&given.l, of);
        let l = BatchRef::by_rows(&l, [count, n, n]).expect("the shape of L");
        let batch = CholeskyBatch::from_factors_in(l, Cpu::sequential()).expect("factors");
        Self { given, batch, v: Given::by_rows(&given.v, of), rhs: vec![of(c64::ONE); count * n], of, back }
    }
}

impl<T: cholupdate::Scalar> Competitor for Batch<'_, T> {
    fn turns(&self) -> usize {
        3
    }
    fn run(&mut self, turn: usize) {
        let (count, n, k) = (self.given.l.len(), self.given.n, self.given.v[0].ncols());
        let v = BatchRef::by_rows(&self.v, [count, n, k]).expect("the shape of V");
        match turn {
            0 => assert!(self.batch.update(v).expect("V").all().is_ok()),
            1 => assert!(self.batch.downdate(v).expect("V").all().is_ok()),
            _ => {
                let rhs = BatchMut::by_rows(&mut self.rhs, [count, n, 1]).expect("the shape");
                assert!(self.batch.solve_in_place(rhs).expect("right-hand sides").is_empty());
            }
        }
    }
    fn prepare(&mut self, turn: usize) {
        if turn == 2 {
            self.rhs.fill((self.of)(c64::ONE));
        }
    }
    fn residual(&self, turn: usize) -> f64 {
        let factor = |matrix| {
            let l = self.batch.factor(matrix).expect("a factor");
            Mat::from_fn(l.nrows(), l.nrows(), |i, j| (self.back)(l[(i, j)]))
        };
        self.given.residual(turn, |x| (self.back)((self.of)(x)), factor)
    }
}

/// Single factors in a loop.
struct Single<'a>(&'a Given, Vec<Cholesky<c64>>);

impl Competitor for Single<'_> {
    fn run(&mut self, turn: usize) {
        for (factor, v) in self.1.iter_mut().zip(&self.0.v) {
            if turn == 0 { factor.update(v) } else { factor.downdate(v) }.expect("V");
        }
    }
    fn residual(&self, turn: usize) -> f64 {
        self.0.residual(turn, |x| x, |matrix| self.1[matrix].l().to_owned())
    }
}

/// Factoring A + V Vᴴ, and A, again, in a batch of this library.
struct Again<'a>(&'a Given, [Vec<c64>; 2], Option<CholeskyBatch<c64>>);

impl Competitor for Again<'_> {
    fn run(&mut self, turn: usize) {
        let (count, n) = (self.0.l.len(), self.0.n);
        let a = BatchRef::by_rows(&self.1[turn], [count, n, n]).expect("the shape of A");
        self.2 = Some(CholeskyBatch::new_in(a, Cpu::sequential()).expect("A"));
    }
    fn residual(&self, turn: usize) -> f64 {
        let batch = self.2.as_ref().expect("a batch");
        self.0.residual(turn, |x| x, |matrix| batch.factor(matrix).expect("a factor"))
    }
}

fn cell(
    settings: &Settings,
    limits: &Limits,
    (n, k, bytes): (usize, usize, usize),
    lines: &mut Vec<Vec<String>>,
) -> bool {
    let count = (bytes / (n * (n + 1) / 2 * size_of::<c64>())).max(1);
    let given = Given::new(count, n, k);
    let mut complex = Batch::<c64>::new(&given, |x| x, |x| x);
    let mut real = Batch::<f64>::new(&given, |x| x.re, |x| c64::new(x, 0.0));
    let with = |l: &Mat<c64>| Cholesky::from_factor_in(l, Cpu::sequential()).expect("a factor");
    let mut single = Single(&given, given.l.iter().map(with).collect());
    let sums = [true, false].map(|updated| {
        let sum = |(l, v): (&Mat<c64>, &Mat<c64>)| {
            let a = l * l.adjoint();
            if updated { a + v * v.adjoint() } else { a }
        };
        Given::by_rows(&given.l.iter().zip(&given.v).map(sum).collect::<Vec<_>>(), |x| x)
    });
    let mut again = Again(&given, sums, None);
    let names = ["complex batch", "real batch", "Cholesky<c64>, loop", "factoring again, complex batch"];
    let mut methods: [&mut dyn Timed; 4] = [&mut complex, &mut real, &mut single, &mut again];
    let measured = in_turns(&mut methods, settings.effort(), limits.timer, largest_residual("f64", n, k));
    let mut right = true;
    for (name, timings) in names.into_iter().zip(measured) {
        let Some(timings) = timings else { continue };
        let correct = timings.iter().all(|timing| timing.right);
        right &= correct;
        let worst = norm_max(timings.iter().map(|timing| timing.residual));
        let each = |turn: usize| {
            timings
                .get(turn)
                .map_or(String::new(), |timing| format!("{:.1}", timing.seconds / count as f64 * 1e9))
        };
        let residual = format!("{}{worst:.1e}", if correct { "" } else { "WRONG " });
        let shape = [n, k, count].map(|extent| extent.to_string());
        let line: Vec<String> =
            shape.into_iter().chain([name.to_owned(), each(0), each(1), each(2), residual]).collect();
        println!("{}", line.join("  "));
        lines.push(line);
    }
    right
}
