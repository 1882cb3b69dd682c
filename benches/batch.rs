//! Batches of small factors on the CPU engine: an update and the downdate that reverses it, and a solve, against single factors in a
//! loop and factoring again in a batch.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench batch
//! CHOLUPDATE_BENCH_N=16,32 CHOLUPDATE_BENCH_K=1 cargo bench -p cholupdate-bench --bench batch
//! ```
//!
//! All methods take the same matrices and V, in turns, in one process. (hyhound is called from Python and takes its own; the time of as
//! many calls at order 1, the interpreter's, is subtracted. At small orders nothing would be left.) Times are medians for one matrix. A
//! cell is measured for a batch that fits a second-level cache and for one that fits none. `bound` is the time to read and write the lower
//! triangles, and to read V, at the bandwidth of the machine for memory of this size. For factoring again, A + V Vᵀ is in place.
//!
//! | variable | |
//! |---|---|
//! | `CHOLUPDATE_BENCH` | `quick` (the cache alone) or `full` (the default) |
//! | `CHOLUPDATE_BENCH_N`, `_K`, `_TYPES` | orders n, ranks k and types instead of the grid's |
//! | `RAYON_NUM_THREADS` | the number of "all threads" |

use cholupdate::faer::{Mat, MatRef};
use cholupdate::{BatchMut, BatchRef, Cholesky, CholeskyBatch, Cpu};
use cholupdate_bench::about::about;
use cholupdate_bench::batches::{Table, norm_max, residual};
use cholupdate_bench::limits::{Limits, Team};
use cholupdate_bench::linpack::{Work, dchdd, dchud};
use cholupdate_bench::measure::{Competitor, Timed, Timing, in_turns};
use cholupdate_bench::peers::eigen::{Eigen, version};
use cholupdate_bench::peers::python::{Python, Remote};
use cholupdate_bench::scalar::{Real, largest_residual};
use cholupdate_bench::settings::{Mode, Settings};
use nalgebra::{DMatrix, DVector, Dyn};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::process::ExitCode;
use std::sync::OnceLock;

/// Bytes of the factors of a batch in a second-level cache.
const IN_CACHE: usize = 384 << 10;

fn main() -> ExitCode {
    let settings = Settings::new();
    let (interval, dram_bytes) = settings.limits();
    let mut limits = Limits::new(interval, dram_bytes);
    let versions =
        [hyhound().map_or(String::new(), |python| python.versions.clone()), version().unwrap_or_default()];
    for (name, text) in about("batch", None, &versions, &limits.describe()) {
        println!("{name}: {text}");
    }
    let mut table = Table::new(&HEADINGS);
    of_type::<f64>(&settings, &mut limits, dram_bytes, &mut table);
    of_type::<f32>(&settings, &mut limits, dram_bytes, &mut table);
    if table.finish() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

const HEADINGS: [&str; 10] =
    ["type", "n", "k", "matrices", "method", "update", "downdate", "solve", "bound", "residual"];

fn of_type<T: Real>(settings: &Settings, limits: &mut Limits, dram_bytes: usize, table: &mut Table) {
    if !settings.takes(T::NAME) {
        return;
    }
    let (orders, ranks) = match settings.mode {
        Mode::Test => (vec![5], vec![1, 3]),
        _ => settings.grid(&[4, 8, 16, 32, 64], &[1, 4]),
    };
    let bytes: &[usize] = match settings.mode {
        Mode::Test => &[1 << 12],
        Mode::Quick => &[IN_CACHE],
        Mode::Full => &[IN_CACHE, dram_bytes],
    };
    for &bytes in bytes {
        for (&n, &k) in orders.iter().flat_map(|n| ranks.iter().map(move |k| (n, k))) {
            cell::<T>(settings, limits, (n, k, bytes), table);
        }
    }
}

/// Matrices A = L Lᵀ and columns V, by rows.
struct Given<T> {
    shape: [usize; 3],
    a: Vec<T>,
    v: Vec<T>,
}

impl<T: Real> Given<T> {
    fn new(count: usize, n: usize, k: usize) -> Self {
        let random = &mut StdRng::seed_from_u64(1);
        // Some different matrices, repeated.
        let different = count.min(1024);
        let (mut a, mut v) = (Vec::new(), Vec::new());
        for matrix in 0..count {
            if matrix < different {
                let g = Mat::from_fn(n, n, |i, j| match i {
                    _ if i > j => random.random_range(-0.5..0.5) / (n as f64).sqrt(),
                    _ if i == j => random.random_range(0.5..1.5),
                    _ => 0.0,
                });
                let square = &g * g.transpose();
                a.extend((0..n * n).map(|at| T::narrow(square[(at / n, at % n)])));
                v.extend((0..n * k).map(|_| T::narrow(random.random_range(-0.3..0.3))));
            } else {
                let from = matrix % different;
                a.extend_from_within(from * n * n..(from + 1) * n * n);
                v.extend_from_within(from * n * k..(from + 1) * n * k);
            }
        }
        Self { shape: [count, n, k], a, v }
    }

    fn a(&self) -> BatchRef<'_, T> {
        let [count, n, _] = self.shape;
        BatchRef::by_rows(&self.a, [count, n, n]).expect("the shape of A")
    }

    fn v(&self) -> BatchRef<'_, T> {
        BatchRef::by_rows(&self.v, self.shape).expect("the shape of V")
    }

    fn matrix(&self, matrix: usize) -> Mat<T> {
        let [_, n, _] = self.shape;
        Mat::from_fn(n, n, |i, j| self.a().get(matrix, i, j))
    }

    fn columns(&self, matrix: usize) -> Mat<T> {
        let [_, n, k] = self.shape;
        Mat::from_fn(n, k, |i, r| self.v().get(matrix, i, r))
    }

    /// max |L Lᵀ − A| / max |A| over some matrices, where A has been updated or not.
    fn residual(&self, updated: bool, l: impl Fn(usize, usize, usize) -> T) -> f64 {
        let [count, n, k] = self.shape;
        let some = (0..count).step_by(count.div_ceil(20));
        norm_max(some.map(|matrix| {
            let a = |i, j| {
                let v = |i| (0..k).map(move |r| self.v().get(matrix, i, r).wide());
                let added: f64 = v(i).zip(v(j)).map(|(x, y)| x * y).sum();
                self.a().get(matrix, i, j).wide() + if updated { added } else { 0.0 }
            };
            residual(n, |i, j| l(matrix, i, j).wide(), a)
        }))
    }
}

/// The batch.
struct Batch<'a, T: Real> {
    given: &'a Given<T>,
    batch: CholeskyBatch<T>,
    rhs: Vec<T>,
}

impl<T: Real> Competitor for Batch<'_, T> {
    fn turns(&self) -> usize {
        3
    }
    fn run(&mut self, turn: usize) {
        let [count, n, _] = self.given.shape;
        match turn {
            0 => assert!(self.batch.update(self.given.v()).expect("V").all().is_ok()),
            1 => assert!(self.batch.downdate(self.given.v()).expect("V").all().is_ok()),
            _ => {
                let rhs = BatchMut::by_rows(&mut self.rhs, [count, n, 1]).expect("the shape");
                assert!(self.batch.solve_in_place(rhs).expect("right-hand sides").is_empty());
            }
        }
    }
    fn prepare(&mut self, turn: usize) {
        if turn == 2 {
            self.rhs.fill(T::narrow(1.0));
        }
    }
    fn residual(&self, turn: usize) -> f64 {
        let factors = |matrix| self.batch.factor(matrix).expect("a factor");
        self.given.residual(turn == 0, |matrix, i, j| factors(matrix)[(i, j)])
    }
}

/// Single factors in a loop.
struct Single<'a, T: Real>(&'a Given<T>, Vec<Cholesky<T>>, Vec<Mat<T>>);

impl<T: Real> Competitor for Single<'_, T> {
    fn run(&mut self, turn: usize) {
        for (factor, v) in self.1.iter_mut().zip(&self.2) {
            if turn == 0 { factor.update(v) } else { factor.downdate(v) }.expect("V");
        }
    }
    fn residual(&self, turn: usize) -> f64 {
        self.0.residual(turn == 0, |matrix, i, j| self.1[matrix].l()[(i, j)])
    }
}

/// LINPACK's `dchud` and `dchdd` in a loop.
struct Linpack<'a, T: Real>(&'a Given<T>, Vec<Mat<T>>, Vec<Mat<T>>, Work<T>);

impl<T: Real> Competitor for Linpack<'_, T> {
    fn run(&mut self, turn: usize) {
        for (l, v) in self.1.iter_mut().zip(&self.2) {
            for x in v.col_iter() {
                let x = x.try_as_col_major().expect("columns").as_slice();
                if turn == 0 {
                    dchud(l.as_mut(), x, &mut self.3);
                } else {
                    dchdd(l.as_mut(), x, &mut self.3).expect("V");
                }
            }
        }
    }
    fn residual(&self, turn: usize) -> f64 {
        self.0.residual(turn == 0, |matrix, i, j| self.1[matrix][(i, j)])
    }
}

/// The update behind Eigen's `LLT::rankUpdate` in a loop.
struct ByEigen<'a, T: Real>(&'a Given<T>, Eigen<T>, Vec<Mat<T>>, &'a [Vec<T>]);

impl<T: Real> Competitor for ByEigen<'_, T> {
    fn run(&mut self, turn: usize) {
        let [_, n, k] = self.0.shape;
        let sign = T::narrow(if turn == 0 { 1.0 } else { -1.0 });
        for (l, v) in self.2.iter_mut().zip(self.3) {
            self.1.modify(l, MatRef::from_column_major_slice(v, n, k), sign);
        }
    }
    fn residual(&self, turn: usize) -> f64 {
        self.0.residual(turn == 0, |matrix, i, j| self.2[matrix][(i, j)])
    }
}

/// nalgebra's `rank_one_update` in a loop.
struct Nalgebra<'a, T: Real>(&'a Given<T>, Vec<nalgebra::Cholesky<T, Dyn>>, Vec<Vec<DVector<T>>>);

impl<T: Real> Competitor for Nalgebra<'_, T> {
    fn run(&mut self, turn: usize) {
        let sign = T::narrow(if turn == 0 { 1.0 } else { -1.0 });
        for (factor, v) in self.1.iter_mut().zip(&self.2) {
            v.iter().for_each(|x| factor.rank_one_update(x, sign));
        }
    }
    fn residual(&self, turn: usize) -> f64 {
        self.0.residual(turn == 0, |matrix, i, j| self.1[matrix].l_dirty()[(i, j)])
    }
}

/// Factoring A + V Vᵀ, and A, again, in a batch of this library.
struct Again<'a, T: Real>(&'a Given<T>, Vec<T>, Option<CholeskyBatch<T>>);

impl<T: Real> Competitor for Again<'_, T> {
    fn run(&mut self, turn: usize) {
        let [count, n, _] = self.0.shape;
        let a = if turn == 0 { &self.1 } else { &self.0.a };
        let a = BatchRef::by_rows(a, [count, n, n]).expect("the shape of A");
        self.2 = Some(CholeskyBatch::new_in(a, Cpu::sequential()).expect("A"));
    }
    fn residual(&self, turn: usize) -> f64 {
        let batch = self.2.as_ref().expect("a batch");
        self.0.residual(turn == 0, |matrix, i, j| batch.factor(matrix).expect("a factor")[(i, j)])
    }
}

fn hyhound() -> Option<&'static Python> {
    static PYTHON: OnceLock<Option<Python>> = OnceLock::new();
    PYTHON.get_or_init(|| Python::start("hyhound_peer.py")).as_ref()
}

fn cell<T: Real>(
    settings: &Settings,
    limits: &mut Limits,
    (n, k, bytes): (usize, usize, usize),
    table: &mut Table,
) {
    let triangle = n * (n + 1) / 2 * size_of::<T>();
    let count = (bytes / triangle).max(1);
    let given = Given::<T>::new(count, n, k);
    let batch = |engine| Batch {
        given: &given,
        batch: CholeskyBatch::new_in(given.a(), engine).expect("A"),
        rhs: vec![T::narrow(1.0); count * n],
    };
    let (mut one, mut all) = (batch(Cpu::sequential()), batch(Cpu::default()));
    let small = bytes <= IN_CACHE;
    let matrices = if small { 0..count } else { 0..0 };
    let columns: Vec<Mat<T>> = matrices.clone().map(|matrix| given.columns(matrix)).collect();
    let factors: Vec<Mat<T>> =
        matrices.clone().map(|matrix| one.batch.factor(matrix).expect("a factor")).collect();
    let with = |l: &Mat<T>| Cholesky::from_factor_in(l, Cpu::sequential()).expect("a factor");
    let mut single = Single(&given, factors.iter().map(with).collect(), columns.clone());
    let dense = |l: &Mat<T>| DMatrix::from_fn(n, n, |i, j| l[(i, j)]);
    let vectors = |v: &Mat<T>| v.col_iter().map(|x| DVector::from_iterator(n, x.iter().copied())).collect();
    let mut nalgebra = Nalgebra(
        &given,
        factors.iter().map(|l| nalgebra::Cholesky::pack_dirty(dense(l))).collect(),
        columns.iter().map(vectors).collect(),
    );
    // By columns without gaps.
    let packed: Vec<Vec<T>> =
        columns.iter().map(|v| v.col_iter().flat_map(|x| x.iter().copied()).collect()).collect();
    let mut eigen = Eigen::load().map(|eigen| ByEigen(&given, eigen, factors.clone(), &packed));
    // Its script has as many matrices.
    let hyhound = if bytes == IN_CACHE && n >= 16 { hyhound() } else { None };
    let mut hyhound = hyhound.map(|python| Remote::new(python, "loop", T::NAME, (n, k), 2));
    let mut linpack = Linpack(&given, factors, columns, Work::new(n));
    let updated = matrices.flat_map(|matrix| {
        let (a, v) = (given.matrix(matrix), given.columns(matrix));
        let new = &a + &v * v.transpose();
        (0..n * n).map(move |at| new[(at / n, at % n)]).collect::<Vec<T>>()
    });
    let mut again = Again(&given, updated.collect(), None);

    let mut names = vec!["batch, 1 thread", "batch, all threads"];
    let mut methods: Vec<&mut dyn Timed> = vec![&mut one, &mut all];
    // Peers in a loop would only wait longer for memory.
    if small {
        names.extend(["Cholesky, loop", "nalgebra, loop", "dchud/dchdd, loop", "factoring again, batch"]);
        methods.extend([&mut single as &mut dyn Timed, &mut nalgebra, &mut linpack, &mut again]);
        for (name, peer) in [
            ("Eigen, loop", eigen.as_mut().map(|eigen| eigen as &mut dyn Timed)),
            ("hyhound, loop", hyhound.as_mut().map(|hyhound| hyhound as &mut dyn Timed)),
        ] {
            names.extend(peer.is_some().then_some(name));
            methods.extend(peer);
        }
    }
    let largest = largest_residual(T::NAME, n, k);
    let measured = in_turns(&mut methods, settings.effort(), limits.timer, largest);
    for (name, timings) in names.into_iter().zip(measured) {
        let Some(timings) = timings else { continue };
        let team = if name.ends_with("all threads") { Team::All } else { Team::One };
        let moved = count * (2 * triangle + n * k * size_of::<T>());
        let bound = moved as f64 / limits.bandwidth(count * triangle).of(team) / count as f64;
        let cell = |timing: Option<&Timing>| {
            timing.map_or(String::new(), |timing| {
                let each = timing.seconds / count as f64;
                format!("{:.1} ({:.1})", each * 1e9, each / bound)
            })
        };
        let mut line: Vec<String> =
            [T::NAME.to_owned(), n.to_string(), k.to_string(), count.to_string()].to_vec();
        line.push(name.to_owned());
        line.extend((0..3).map(|turn| cell(timings.get(turn))));
        line.push(format!("{:.1}", bound * 1e9));
        table.line(line, &timings);
    }
}
