//! Times of a distributed factor: `mpirun -n 4 target/release/deps/distributed-… --orders 8192 --ranks 1,16,64`.
//!
//! | option | |
//! |---|---|
//! | `--orders`, `--ranks`, `--block` | n, the numbers of columns of V, rows of a block |
//! | `--threads`, `--repeat` | of each process; of each call |
//! | `--messages` | broadcasts first, each begun by the process that has received the one before |
//! | `--cpu` | on one process, the `Cpu` engine as well |
//! | `--peers` | a factor of A, by this library and by ScaLAPACK on the process grid that is closest to a square |
//!
//! Each line has the medians of several calls and, with a vector x, the residual ‖A' x − A x − V Vᵀ x‖ / ‖A x‖ of the update.

#[path = "../tests/ranks/common.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod common;

use cholupdate_mpi::cholupdate::faer::{Col, Mat};
use cholupdate_mpi::cholupdate::{Cholesky, Cpu};
use cholupdate_mpi::scalapack::Grid;
use cholupdate_mpi::{Cyclic, Distributed, Rows, Settings};
use common::{matrix, mine};
use mpi::collective::SystemOperation;
use mpi::topology::{Communicator, SimpleCommunicator};
use mpi::traits::{CommunicatorCollectives, Root};
use std::time::Instant;

struct Options {
    orders: Vec<usize>,
    ranks: Vec<usize>,
    block: usize,
    threads: usize,
    repeat: usize,
    peers: bool,
    messages: bool,
    cpu: bool,
}

fn options() -> Options {
    let all: Vec<String> = std::env::args().collect();
    let list = |name: &str, default: &[usize]| match all.iter().position(|argument| argument == name) {
        Some(at) => all[at + 1].split(',').map(|n| n.parse().expect("a number")).collect(),
        None => default.to_vec(),
    };
    Options {
        orders: list("--orders", &[2048]),
        ranks: list("--ranks", &[1, 16, 64]),
        block: list("--block", &[256])[0],
        threads: list("--threads", &[1])[0],
        repeat: list("--repeat", &[5])[0],
        peers: all.iter().any(|argument| argument == "--peers"),
        cpu: all.iter().any(|argument| argument == "--cpu"),
        messages: all.iter().any(|argument| argument == "--messages"),
    }
}

/// The rows of a process of a well-conditioned L. (local rows × n)
fn rows(cyclic: &Cyclic) -> Mat<f64> {
    let scale = 1.0 / (cyclic.order as f64).sqrt();
    Mat::from_fn(cyclic.rows(), cyclic.order, |place, j| {
        let i = cyclic.row(place);
        match i.cmp(&j) {
            core::cmp::Ordering::Less => 0.0,
            core::cmp::Ordering::Equal => 2.0 + (i % 7) as f64 / 7.0,
            core::cmp::Ordering::Greater => scale * ((i * 31 + j * 17) % 64) as f64 / 64.0 - 0.5 * scale,
        }
    })
}

/// The median of the times of `work` in seconds, the longest over all processes of each.
fn median(world: &SimpleCommunicator, repeat: usize, mut work: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..repeat)
        .map(|_| {
            world.barrier();
            let start = Instant::now();
            work();
            let (mine, mut longest) = (start.elapsed().as_secs_f64(), 0.0);
            world.all_reduce_into(&mine, &mut longest, SystemOperation::max());
            longest
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[repeat / 2]
}

/// The rows of this process of A x. (n)
fn product(world: &SimpleCommunicator, factor: &Distributed<f64>, x: &Col<f64>) -> Col<f64> {
    let (l, cyclic) = (factor.to_rows().unwrap(), factor.cyclic());
    let own = Col::from_fn(cyclic.rows(), |place| x[cyclic.row(place)]);
    let part = l.transpose() * own;
    let part: Vec<f64> = part.iter().copied().collect();
    let mut all = vec![0.0; cyclic.order];
    world.all_reduce_into(&part[..], &mut all[..], SystemOperation::sum());
    &l * Col::from_fn(cyclic.order, |j| all[j])
}

fn main() {
    let (universe, _) =
        mpi::initialize_with_threading(mpi::Threading::Funneled).expect("MPI is initialized once");
    let (world, options) = (universe.world(), options());
    let (processes, threads) = (world.size() as usize, options.threads);
    let settings = Settings { threads: Some(threads), block: options.block, ..Settings::default() };
    let say = |line: String| {
        if world.rank() == 0 {
            println!("{line}");
        }
    };
    say(format!("{processes} processes of {threads} threads, blocks of {} rows; ms", options.block));
    if options.messages {
        for bytes in [64, 1024, 8192, 65536, 524_288] {
            say(format!("a broadcast of {bytes:6} bytes: {:.2} µs", 1e6 * message(&world, bytes)));
        }
    }
    say("     n    k    update  downdate   solve 1  solve 64   Cpu up  Cpu down       new   pdpotrf  residual".into());
    for &order in &options.orders {
        let cyclic = cholupdate_mpi::rows_of(&world, order, settings);
        let mut factor = Distributed::from_factor(&world, settings, order, rows(&cyclic).as_ref()).unwrap();
        let peers = options.peers.then(|| factorizations(&world, settings, order));
        let solve = |m: usize| {
            let mut b = mine(&cyclic, &matrix::<f64>(order, m, 1.0));
            median(&world, options.repeat, || factor.solve_in_place(b.as_mut()).unwrap())
        };
        let solves = [solve(1), solve(64)];
        for &k in &options.ranks {
            let v = mine(&cyclic, &matrix::<f64>(order, k, 0.1));
            let x = Col::from_fn(order, |i| ((i * 13) % 29) as f64 / 29.0 - 0.4);
            let whole = matrix::<f64>(order, k, 0.1);
            let before = product(&world, &factor, &x);
            factor.update(Rows::Mine(v.as_ref())).unwrap();
            let added = &v * (whole.transpose() * &x);
            let off = product(&world, &factor, &x) - &before - added;
            let (mine, mut norms): (_, [f64; 2]) =
                ([off.squared_norm_l2(), before.squared_norm_l2()], [0.0; 2]);
            world.all_reduce_into(&mine[..], &mut norms[..], SystemOperation::sum());
            factor.downdate(Rows::Mine(v.as_ref())).unwrap();
            let (mut up, mut down) = (Vec::new(), Vec::new());
            for _ in 0..options.repeat {
                up.push(median(&world, 1, || {
                    let _ = factor.update(Rows::Mine(v.as_ref())).unwrap();
                }));
                down.push(median(&world, 1, || {
                    let _ = factor.downdate(Rows::Mine(v.as_ref())).unwrap();
                }));
            }
            let cpu = (options.cpu && processes == 1).then(|| cpu(&world, &factor, &whole, &options));
            let ms = |time: Option<f64>| time.map_or("-".into(), |time| format!("{:.2}", 1e3 * time));
            let middle = |mut times: Vec<f64>| {
                times.sort_by(f64::total_cmp);
                Some(times[times.len() / 2])
            };
            say(format!(
                "{order:6} {k:4} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  {:.1e}",
                ms(middle(up)),
                ms(middle(down)),
                ms(Some(solves[0])),
                ms(Some(solves[1])),
                ms(cpu.map(|cpu| cpu[0])),
                ms(cpu.map(|cpu| cpu[1])),
                ms(peers.map(|peers| peers[0])),
                ms(peers.and_then(|peers| peers[1].is_finite().then_some(peers[1]))),
                (norms[0] / norms[1]).sqrt(),
            ));
        }
    }
}

/// The time of a broadcast in seconds.
fn message(world: &SimpleCommunicator, bytes: usize) -> f64 {
    const TIMES: usize = 400;
    let mut data = vec![0u8; bytes];
    let all = median(world, 5, || {
        for i in 0..TIMES {
            world.process_at_rank(i as i32 % world.size()).broadcast_into(&mut data[..]);
        }
    });
    all / TIMES as f64
}

/// Factors an A, and has ScaLAPACK factor it on the process grid that is closest to a square: the times in seconds, infinite without
/// ScaLAPACK.
fn factorizations(world: &SimpleCommunicator, settings: Settings, order: usize) -> [f64; 2] {
    let entry = |i: usize, j: usize| if i == j { order as f64 } else { ((i + j) % 17) as f64 / 17.0 };
    let cyclic = cholupdate_mpi::rows_of(world, order, settings);
    let rows = Mat::from_fn(cyclic.rows(), order, |place, j| entry(cyclic.row(place), j));
    let ours = median(world, 1, || {
        let _ = Distributed::new(world, settings, order, rows.as_ref()).unwrap();
    });
    drop(rows);
    let ranks = world.size() as usize;
    let squarest = (1..=ranks).filter(|rows| ranks.is_multiple_of(*rows) && rows * rows <= ranks).max();
    let rows = squarest.unwrap_or(1);
    let Ok(grid) = Grid::new(world, (rows, ranks / rows)) else { return [ours, f64::INFINITY] };
    let part = grid.local(order, 64).unwrap();
    let mut a: Vec<f64> =
        part.columns().iter().flat_map(|&j| part.rows().iter().map(move |&i| entry(i, j))).collect();
    [ours, median(world, 1, || grid.factorize(&mut a, &part).unwrap())]
}

/// The `Cpu` engine, on one process.
fn cpu(world: &SimpleCommunicator, factor: &Distributed<f64>, v: &Mat<f64>, options: &Options) -> [f64; 2] {
    let l = factor.to_rows().unwrap();
    let mut cpu = Cholesky::<f64>::from_factor_in(&l, Cpu::threads(options.threads)).unwrap();
    drop(l);
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for _ in 0..options.repeat + 1 {
        up.push(median(world, 1, || {
            let _ = cpu.update(v).unwrap();
        }));
        down.push(median(world, 1, || {
            let _ = cpu.downdate(v).unwrap();
        }));
    }
    [up, down].map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}
