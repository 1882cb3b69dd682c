//! Batches of small factors in the memory of a GPU: an update, the downdate that reverses it and a solve, with V and right-hand sides
//! there, against PyTorch's batched factorization and solve.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench batch_device
//! CHOLUPDATE_BENCH_N=16,32 CHOLUPDATE_BENCH_K=1 cargo bench -p cholupdate-bench --bench batch_device
//! ```
//!
//! The methods take turns. A call is timed on the host until its results are there. `bound` is the time to read and write the lower
//! triangles, and to read V, at the bandwidth of the device's memory. The last lines are those of fewer
//! matrices in single precision. Without a device it prints that and ends.
//!
//! | variable | |
//! |---|---|
//! | `CHOLUPDATE_BENCH` | `quick` or `full` (the default) |
//! | `CHOLUPDATE_BENCH_N`, `_K`, `_TYPES` | orders n, ranks k and types instead of the grid's |
//! | `CHOLUPDATE_BENCH_PYTHON` | the Python that has PyTorch, instead of `python3` |

use cholupdate::cuda::{CholeskyBatch, Device, DeviceBatch};
use cholupdate::faer::Mat;
use cholupdate::{BatchMut, BatchRef, Error};
use cholupdate_bench::batches::{Table, norm_max, residual};
use cholupdate_bench::engines::OnDevice;
use cholupdate_bench::limits::Limits;
use cholupdate_bench::measure::{Competitor, Timed, Timing, in_turns};
use cholupdate_bench::peers::python::{Python, Remote};
use cholupdate_bench::scalar::{Real, largest_residual};
use cholupdate_bench::settings::Mode;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::process::ExitCode;
use std::time::Duration;

/// Bytes of the lower triangles of a batch, which no cache holds. The peer's script has as many matrices.
const BYTES: usize = 512 << 20;
/// Different matrices, which are repeated.
const DIFFERENT: usize = 64;
/// Matrices of the small batch.
const FEW: usize = 8192;
/// Orders and numbers of matrices of a contest of batched factorizations (GPU MODE, 2026), which are in single precision.
const CONTEST: [(usize, usize); 5] = [(32, 4096), (64, 1024), (128, 256), (256, 64), (512, 16)];

fn main() -> Result<ExitCode, Error> {
    let torch = Python::start("pytorch_batch_peer.py");
    let Some(on) = OnDevice::new("batch_device", &[torch.as_ref()]) else { return Ok(ExitCode::SUCCESS) };
    let timer = Limits::new(Duration::ZERO, 0).timer;
    let mut bench = Bench { on, torch, timer, table: Table::new(&HEADINGS) };
    let (orders, ranks) = match bench.on.settings.mode {
        Mode::Test => (vec![5], vec![1, 3]),
        _ => bench.on.settings.grid(&[4, 8, 16, 32, 64, 128, 256], &[1, 4]),
    };
    for &n in &orders {
        for &k in &ranks {
            bench.cell::<f64>(n, k, None)?;
            bench.cell::<f32>(n, k, None)?;
        }
    }
    if bench.on.settings.mode != Mode::Test {
        for n in [27, 81] {
            for k in [2, 12] {
                bench.cell::<f32>(n, k, Some(FEW))?;
            }
        }
        for (n, count) in CONTEST {
            bench.cell::<f32>(n, 4, Some(count))?;
        }
    }
    Ok(if bench.table.finish() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

const HEADINGS: [&str; 9] =
    ["type", "n", "k", "matrices", "method", "update", "downdate", "solve", "residual"];

struct Bench {
    on: OnDevice,
    torch: Option<Python>,
    timer: Duration,
    table: Table,
}

/// A batch on the device, and what is done with it.
struct Batch<T: Real> {
    batch: CholeskyBatch<T>,
    v: DeviceBatch<T>,
    x: DeviceBatch<T>,
    ones: DeviceBatch<T>,
    /// The first matrices, and columns for them.
    a: Vec<Mat<f64>>,
    columns: Vec<Mat<f64>>,
}

impl<T: Real> Batch<T> {
    fn new(device: &Device, count: usize, (n, k): (usize, usize)) -> Result<Self, Error> {
        let random = &mut StdRng::seed_from_u64(1);
        let different = count.min(DIFFERENT);
        let mut entries = |rows: usize, columns: usize, half: f64| -> Vec<Mat<f64>> {
            let one =
                |_| Mat::from_fn(rows, columns, |_, _| T::narrow(random.random_range(-half..half)).wide());
            (0..different).map(one).collect()
        };
        let below = entries(n, n, 1.0 / (n as f64).sqrt());
        let diagonal = entries(n, 1, 0.5);
        let lower = |(l, d): (&Mat<f64>, &Mat<f64>)| {
            Mat::from_fn(n, n, |i, j| match i {
                _ if i > j => l[(i, j)],
                _ if i == j => T::narrow(2.0 + d[(i, 0)]).wide(),
                _ => 0.0,
            })
        };
        let l: Vec<Mat<f64>> = below.iter().zip(&diagonal).map(lower).collect();
        let columns = entries(n, k, 0.3 / (k as f64).sqrt());
        let flat = |all: &[Mat<f64>]| -> Vec<T> {
            let entry = |a: &Mat<f64>| {
                (0..a.nrows() * a.ncols())
                    .map(|at| T::narrow(a[(at % a.nrows(), at / a.nrows())]))
                    .collect::<Vec<T>>()
            };
            let some: Vec<T> = all.iter().flat_map(entry).collect();
            let one = some.len() / different;
            (0..count).flat_map(|matrix| some[matrix % different * one..][..one].iter().copied()).collect()
        };
        let by_columns = |rows: usize, columns: usize| ([count, rows, columns], [rows * columns, 1, rows]);
        let there = |data: &[T], (shape, strides)| {
            DeviceBatch::from_host(device, BatchRef::new(data, shape, strides)?)
        };
        let batch = CholeskyBatch::from_factors(device, &there(&flat(&l), by_columns(n, n))?)?;
        let v = there(&flat(&columns), by_columns(n, k))?;
        let ones = vec![T::narrow(1.0); count * n];
        let [x, ones] = [there(&ones, by_columns(n, 1))?, there(&ones, by_columns(n, 1))?];
        let a = l.iter().map(|l| l * l.transpose()).collect();
        Ok(Self { batch, v, x, ones, a, columns })
    }
}

impl<T: Real> Batch<T> {
    /// max |A x − b| / (‖A‖ ‖x‖) of the first matrices, in the maximum norms.
    fn residual_of_solutions(&self) -> f64 {
        let [count, n, _] = self.x.shape();
        let mut x = vec![T::narrow(0.0); count * n];
        let shape = [count, n, 1];
        self.x.copy_to(BatchMut::by_rows(&mut x, shape).expect("its shape")).expect("a copy");
        let residual = |(matrix, a): (usize, &Mat<f64>)| {
            let x = Mat::from_fn(n, 1, |i, _| x[matrix * n + i].wide());
            let off = a * &x - Mat::from_fn(n, 1, |_, _| 1.0);
            off.norm_max() / (n as f64 * a.norm_max() * x.norm_max())
        };
        norm_max(self.a.iter().enumerate().take(8).map(residual))
    }
}

impl<T: Real> Competitor for Batch<T> {
    fn turns(&self) -> usize {
        3
    }
    fn prepare(&mut self, turn: usize) {
        if turn == 2 {
            self.x.copy_from(&self.ones).expect("a copy on the device");
        }
    }
    fn run(&mut self, turn: usize) {
        match turn {
            0 => self.batch.update(&self.v).map(drop),
            1 => self.batch.downdate(&self.v).map(drop),
            _ => self.batch.solve_in_place(&mut self.x).map(drop),
        }
        .expect("a batch that is modified");
    }
    fn residual(&self, turn: usize) -> f64 {
        if turn == 2 {
            return self.residual_of_solutions();
        }
        norm_max((0..self.a.len().min(8)).map(|matrix| {
            let l = self.batch.factor(matrix).expect("a factor");
            let mut wanted = self.a[matrix].clone();
            if turn == 0 {
                wanted += &self.columns[matrix] * self.columns[matrix].transpose();
            }
            residual(l.nrows(), |i, j| l[(i, j)].wide(), |i, j| wanted[(i, j)])
        }))
    }
}

impl Bench {
    fn cell<T: Real>(&mut self, n: usize, k: usize, count: Option<usize>) -> Result<(), Error> {
        if !self.on.settings.takes(T::NAME) {
            return Ok(());
        }
        let triangle = n * (n + 1) / 2 * size_of::<T>();
        let bytes = if self.on.settings.mode == Mode::Test { 1 << 14 } else { BYTES };
        let matrices = count.unwrap_or((bytes / triangle).max(1));
        let mut ours = Batch::<T>::new(&self.on.device, matrices, (n, k))?;
        let remote = |method: &str, turns| {
            let method = count.map_or(method.to_owned(), |count| format!("{method}_{count}"));
            self.torch.as_ref().map(|torch| Remote::new(torch, &method, T::NAME, (n, k), turns))
        };
        let (mut again, mut ready) = (remote("again", 3), remote("ready", 1));
        let mut names = vec!["batch"];
        let mut methods: Vec<&mut dyn Timed> = vec![&mut ours];
        for (name, peer) in
            [("PyTorch, factoring A ± V Vᵀ", again.as_mut()), ("PyTorch, factoring A", ready.as_mut())]
        {
            names.extend(peer.is_some().then_some(name));
            methods.extend(peer.map(|peer| peer as &mut dyn Timed));
        }
        let moved = [2 * triangle + n * k * size_of::<T>(), triangle + 2 * n * size_of::<T>()];
        let bounds = moved.map(|moved| moved as f64 / self.on.memory);
        let largest = largest_residual(T::NAME, n, k);
        let measured = in_turns(&mut methods, self.on.settings.effort(), self.timer, largest);
        for (name, timings) in names.into_iter().zip(measured) {
            let Some(timings) = timings else { continue };
            let cell = |(turn, timing): (usize, &Timing)| {
                let each = timing.seconds / matrices as f64;
                format!("{:.3} ({:.2})", each * 1e9, each / bounds[usize::from(turn == 2)])
            };
            let mut line = vec![T::NAME.to_owned(), n.to_string(), k.to_string(), matrices.to_string()];
            line.push(name.to_owned());
            let cells: Vec<String> = timings.iter().enumerate().map(cell).collect();
            line.extend((0..3).map(|turn| cells.get(turn).cloned().unwrap_or_default()));
            self.table.line(line, &timings);
        }
        Ok(())
    }
}
