//! The limits of the machine, measured in the same run as the results that are compared with them.

use crate::scalar::Real;
use pulp::Arch;
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// f64 in a cache line.
const LINE: usize = 8;

/// On one thread, or on all threads of the pool that the engines use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Team {
    One,
    All,
}

impl Team {
    pub const BOTH: [Self; 2] = [Self::One, Self::All];

    #[must_use]
    pub fn threads(self) -> usize {
        match self {
            Self::One => 1,
            Self::All => all_threads(),
        }
    }
}

/// [`Real::fma`] of one type.
type Fma = fn(Arch) -> f64;

/// A rate of one thread and of all threads together.
#[derive(Clone, Copy)]
pub struct Rate {
    one: f64,
    all: f64,
}

impl Rate {
    /// A limit is the best result of a few trials of `measure(threads)`.
    fn new(measure: impl Fn(usize) -> f64) -> Self {
        let best = |threads| (0..5).map(|_| measure(threads)).fold(0.0, f64::max);
        Self { one: best(1), all: best(all_threads()) }
    }

    fn max(self, other: Self) -> Self {
        Self { one: self.one.max(other.one), all: self.all.max(other.all) }
    }

    pub fn of(self, team: Team) -> f64 {
        match team {
            Team::One => self.one,
            Team::All => self.all,
        }
    }
}

/// What an operation on a factor takes at least.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Entries of the factor.
    pub stored: usize,
    /// Entries that are read, and entries that are written.
    pub moved: f64,
    pub flops: f64,
}

/// The limits of the machine. Bandwidths are measured on first use, and kept.
pub struct Limits {
    arch: Arch,
    interval: Duration,
    dram_bytes: usize,
    flops: HashMap<&'static str, (Fma, Rate)>,
    bytes: HashMap<usize, Rate>,
    /// The time of an empty timed region.
    pub timer: Duration,
}

impl Limits {
    /// `interval`: the time for which a limit is measured; `dram_bytes`: a footprint that fits no cache.
    pub fn new(interval: Duration, dram_bytes: usize) -> Self {
        let mut empty: Vec<_> = (0..10_001).map(|_| Instant::now().elapsed()).collect();
        empty.sort_unstable();
        let timer = empty[empty.len() / 2];
        let (flops, bytes) = Default::default();
        Self { arch: Arch::new(), interval, dram_bytes, flops, bytes, timer }
    }

    /// Multiply-adds, in flop/s.
    pub fn flops<T: Real>(&mut self) -> Rate {
        let interval = self.interval;
        let (arch, fma) = (self.arch, T::fma as Fma);
        self.flops.entry(T::NAME).or_insert_with(|| (fma, flops(arch, interval, fma))).1
    }

    /// The rate of scaling `bytes` of memory in place repeatedly, in bytes read and written a second.
    pub fn bandwidth(&mut self, bytes: usize) -> Rate {
        let (arch, interval) = (self.arch, self.interval);
        let bytes = bytes.min(self.dram_bytes);
        *self.bytes.entry(bytes).or_insert_with(|| bandwidth(arch, interval, bytes))
    }

    /// Measures every used limit once more and keeps the better figure: other work on the machine may have slowed one of the
    /// two.
    pub fn again(&mut self) {
        let (arch, interval) = (self.arch, self.interval);
        self.flops.values_mut().for_each(|(fma, rate)| *rate = rate.max(flops(arch, interval, *fma)));
        self.bytes.iter_mut().for_each(|(&bytes, rate)| *rate = rate.max(bandwidth(arch, interval, bytes)));
    }

    pub fn dram(&mut self) -> Rate {
        self.bandwidth(self.dram_bytes)
    }

    /// A lower bound, in seconds: the larger of the times to move the entries, at the bandwidth of a footprint of this size,
    /// and to do the flops.
    pub fn bound(&mut self, scalar: &str, cost: Cost, team: Team) -> f64 {
        match scalar {
            f32::NAME => self.bound_of::<f32>(cost, team),
            _ => self.bound_of::<f64>(cost, team),
        }
    }

    fn bound_of<T: Real>(&mut self, Cost { stored, moved, flops }: Cost, team: Team) -> f64 {
        let bandwidth = self.bandwidth(stored * size_of::<T>()).of(team);
        let memory = moved * size_of::<T>() as f64 / bandwidth;
        memory.max(flops / self.flops::<T>().of(team))
    }

    /// The limits, for the head of a result.
    pub fn describe(&mut self) -> String {
        let (dram, f64s, f32s) = (self.dram(), self.flops::<f64>(), self.flops::<f32>());
        let of = |team: Team, threads: &str| {
            let [dram, f64s, f32s] = [dram, f64s, f32s].map(|rate| rate.of(team) / 1e9);
            format!("{threads}: {dram:.0} GB/s, {f64s:.0} GFLOP/s f64, {f32s:.0} f32")
        };
        let all = match all_threads() {
            1 => String::new(),
            threads => format!("; {}", of(Team::All, &format!("{threads} threads"))),
        };
        format!("{}{all}", of(Team::One, "1 thread"))
    }
}

fn flops(arch: Arch, interval: Duration, fma: Fma) -> Rate {
    Rate::new(|threads| on_each(threads, interval, || (), |()| fma(arch)))
}

fn bandwidth(arch: Arch, interval: Duration, bytes: usize) -> Rate {
    Rate::new(|threads| {
        let share = (bytes / size_of::<f64>()).div_ceil(threads);
        // Room to align the start to a cache line.
        let memory = || vec![1.0; share + LINE];
        // Repeated multiplication by −1 keeps the entries in range.
        let pass = |memory: &mut Vec<f64>| {
            let start = memory.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE);
            let x = &mut memory[start..][..share];
            f64::scale(arch, x, black_box(-1.0));
            (2 * size_of_val(x)) as f64
        };
        on_each(threads, interval, memory, pass)
    })
}

/// Threads of the pool that the engines use.
pub fn all_threads() -> usize {
    rayon::current_num_threads()
}

/// The work a second of `threads` threads, each repeating `work` on its own state for `interval`.
fn on_each<S>(
    threads: usize,
    interval: Duration,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S) -> f64 + Sync,
) -> f64 {
    let barrier = Barrier::new(threads);
    let rate = || {
        let mut state = state();
        let mut done = work(&mut state);
        // Calls between two reads of the clock, so that the time of the clock is negligible.
        let start = Instant::now();
        work(&mut state);
        let batch = (20e-6 / start.elapsed().as_secs_f64().max(1e-9)).ceil().max(1.0) as usize;
        barrier.wait();
        let start = Instant::now();
        done *= 0.0;
        while start.elapsed() < interval {
            done += (0..batch).map(|_| work(&mut state)).sum::<f64>();
        }
        done / start.elapsed().as_secs_f64()
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(rate)).collect();
        handles.into_iter().map(|handle| handle.join().expect("a limit loop cannot fail")).sum()
    })
}
