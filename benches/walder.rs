//! Figures 2 and 3 of Walder's gpucholmod (2010) on this machine: time and error of rank-16 and rank-1 up-
//! and downdates by order, LINPACK's routines on the CPU against the hybrid engine.
//!
//! Walder's procedure: B (n × n) and V (n × k) uniform on [0, 1]. The update starts from the factor of BᵀB + I, the downdate
//! from that of BᵀB + I + V Vᵀ; the error is max |A' − L'L'ᵀ|. Double precision. Writes `walder.csv`, `walder_k16.svg` and
//! `walder_k1.svg` to the folder `CHOLUPDATE_WALDER` names, else `target/walder`. Without a device it does nothing.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench walder
//! ```

use cholupdate::cuda::{Device, Hybrid, Tuning};
use cholupdate::faer::linalg::matmul::matmul;
use cholupdate::faer::linalg::matmul::triangular::{self, BlockStructure};
use cholupdate::faer::{Accum, Mat, Par};
use cholupdate::{Cholesky, Cpu, Engine, Error};
use cholupdate_bench::about::in_short;
use cholupdate_bench::case::Verb;
use cholupdate_bench::competitors::ours::modify;
use cholupdate_bench::linpack::{Work, dchdd, dchud};
use cholupdate_bench::measure::time_calls;
use cholupdate_bench::plot::{Chart, Curve, Stroke, figure};
use cholupdate_bench::settings::{Mode, Settings, var};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

const SEED: u64 = 2010;
/// Of an engine.
const SAMPLES: usize = 5;
const METHODS: [&str; 4] = ["LINPACK", "hybrid", "hybrid, his parameters", "CPU, all threads"];

/// Seconds and the largest error of one method at one order.
#[derive(Clone, Copy)]
struct Point {
    seconds: f64,
    error: f64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = Settings::new();
    let device = match Device::new(0) {
        Ok(device) => device,
        Err(error) => {
            println!("no device, nothing measured: {error}");
            return Ok(());
        }
    };
    let testing = settings.mode == Mode::Test;
    let all: &[_] = if testing { &[100, 200] } else { &[500, 1000, 2000, 3000, 4000, 5000, 7500, 10_000] };
    let orders = settings.orders.clone().unwrap_or(all.to_vec());
    let folder = PathBuf::from(var("CHOLUPDATE_WALDER").unwrap_or("target/walder".into()));
    fs::create_dir_all(&folder)?;
    let about = in_short(Some(device.name()));
    let mut csv = format!("# {about}, seed {SEED}\nk,n,verb,method,seconds,max_error\n");
    for rank in [16, 1] {
        let mut points = Vec::new();
        for &order in &orders {
            let cell = cell(&device, order, rank)?;
            for (verb, by_method) in ["update", "downdate"].iter().zip(&cell) {
                for (method, Point { seconds, error }) in METHODS.iter().zip(by_method) {
                    csv += &format!("{rank},{order},{verb},\"{method}\",{seconds:.6e},{error:.3e}\n");
                }
                let [linpack, hybrid, his, cpu] = by_method.map(|point| 1e3 * point.seconds);
                println!(
                    "k {rank:>2} n {order:>5} {verb:<8} LINPACK {linpack:>9.2} ms, hybrid {hybrid:>7.2} ms ({:.1} x), \
                     his parameters {his:>7.2} ms ({:.1} x), CPU {cpu:>7.2} ms; errors {:.1e} {:.1e} {:.1e} {:.1e}",
                    linpack / hybrid,
                    linpack / his,
                    by_method[0].error,
                    by_method[1].error,
                    by_method[2].error,
                    by_method[3].error,
                );
            }
            points.push((order, cell));
        }
        let curves = |of: fn(Point) -> f64| {
            let curve = |verb: usize, method: usize| Curve {
                name: format!("{}, {}", METHODS[method], ["update", "downdate"][verb]),
                points: points.iter().map(|(n, cell)| (*n as f64, of(cell[verb][method]))).collect(),
                stroke: if verb == 1 { Stroke::Dashed } else { Stroke::Solid },
                color: method,
            };
            (0..METHODS.len()).flat_map(|method| [curve(0, method), curve(1, method)]).collect::<Vec<_>>()
        };
        let title = format!("k = {rank}: {about}");
        figure(
            &folder.join(format!("walder_k{rank}.svg")),
            &title,
            [
                Chart { x: "n", unit: "seconds", logarithmic: false, curves: curves(|point| point.seconds) },
                Chart { x: "n", unit: "max error", logarithmic: false, curves: curves(|point| point.error) },
            ],
        )?;
    }
    fs::write(folder.join("walder.csv"), csv)?;
    println!("written to {}", folder.display());
    Ok(())
}

/// Update and downdate by each method.
fn cell(device: &Device, order: usize, rank: usize) -> Result<[[Point; 4]; 2], Error> {
    let mut rng = StdRng::seed_from_u64(SEED + order as u64);
    let b = Mat::<f64>::from_fn(order, order, |_, _| rng.random());
    let v = Mat::<f64>::from_fn(order, rank, |_, _| rng.random());
    let mut small = Mat::<f64>::identity(order, order);
    matmul(small.as_mut(), Accum::Add, b.transpose(), &b, 1.0, Par::rayon(0));
    drop(b);
    let mut large = small.clone();
    matmul(large.as_mut(), Accum::Add, &v, v.transpose(), 1.0, Par::rayon(0));

    let mut cell = [[Point { seconds: 0.0, error: 0.0 }; 4]; 2];
    for (verb, from, to) in [(Verb::Update, &small, &large), (Verb::Downdate, &large, &small)] {
        let l = Cholesky::new(from)?.to_factor()?;
        let points = &mut cell[verb as usize];
        points[0] = by_linpack(&l, &v, verb, to);
        let tunings = [Tuning::for_device(device), Tuning::walder()];
        for (point, tuning) in points[1..3].iter_mut().zip(tunings) {
            *point = by_engine(&l, &v, verb, to, Hybrid::new(device, tuning)?)?;
        }
        points[3] = by_engine(&l, &v, verb, to, Cpu::default())?;
    }
    Ok(cell)
}

fn by_linpack(l: &Mat<f64>, v: &Mat<f64>, verb: Verb, expected: &Mat<f64>) -> Point {
    let mut work = Work::new(l.nrows());
    let columns: Vec<Vec<f64>> = v.col_iter().map(|column| column.iter().copied().collect()).collect();
    let mut new = l.clone();
    let start = Instant::now();
    for x in &columns {
        match verb {
            Verb::Downdate => dchdd(new.as_mut(), x, &mut work).expect("a factor to be left"),
            _ => dchud(new.as_mut(), x, &mut work),
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    Point { seconds, error: error(&new, expected) }
}

/// The median of five calls, each reversed before the next.
fn by_engine<E: Engine<f64>>(
    l: &Mat<f64>,
    v: &Mat<f64>,
    verb: Verb,
    expected: &Mat<f64>,
    engine: E,
) -> Result<Point, Error> {
    let mut factor = Cholesky::from_factor_in(l, engine)?;
    modify(&mut factor, v.as_ref(), verb)?;
    let error = error(&factor.to_factor()?, expected);
    let undone = if verb == Verb::Update { Verb::Downdate } else { Verb::Update };
    modify(&mut factor, v.as_ref(), undone)?;
    let [seconds, _] = time_calls(SAMPLES, |turn| modify(&mut factor, v.as_ref(), [verb, undone][turn]));
    Ok(Point { seconds, error })
}

/// max |A' − L'L'ᵀ|.
fn error(l: &Mat<f64>, expected: &Mat<f64>) -> f64 {
    let mut difference = expected.clone();
    let (lower, upper) = (BlockStructure::TriangularLower, BlockStructure::TriangularUpper);
    triangular::matmul(
        difference.as_mut(),
        lower,
        Accum::Add,
        l,
        lower,
        l.transpose(),
        upper,
        -1.0,
        Par::rayon(0),
    );
    let below = |j: usize| difference.col(j).subrows(j, l.nrows() - j).norm_max();
    (0..l.ncols()).map(below).fold(0.0, f64::max)
}
