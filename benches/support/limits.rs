//! The limits of the machine, measured in the same run as the results that are compared with them.

use crate::competitors::Team;
use crate::problem::Real;
use pulp::{Arch, Simd, WithSimd};
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Loops that reach the limits, under the best instruction set of the machine.
pub trait Kernels: Sized {
    /// x ← c x
    fn scale(arch: Arch, x: &mut [Self], c: Self);
    /// Independent chains of fused multiply-adds in registers; returns their number of flops.
    fn fma(arch: Arch) -> f64;
    /// Scalars in one register.
    fn lanes(arch: Arch) -> usize;
}

/// Chains that hide the latency of a multiply-add and fit sixteen registers.
const CHAINS: usize = 12;
const STEPS: usize = 4096;
/// f64 in a cache line.
const LINE: usize = 8;

macro_rules! kernels {
    ($t:ident, $lanes:ident, $as_simd:ident, $splat:ident, $mul:ident, $fma:ident) => {
        impl Kernels for $t {
            fn scale(arch: Arch, x: &mut [Self], c: Self) {
                struct Scale<'a>(&'a mut [$t], $t);
                impl WithSimd for Scale<'_> {
                    type Output = ();
                    #[inline(always)]
                    fn with_simd<S: Simd>(self, simd: S) {
                        let (body, rest) = S::$as_simd(self.0);
                        let c = simd.$splat(self.1);
                        body.iter_mut().for_each(|x| *x = simd.$mul(*x, c));
                        rest.iter_mut().for_each(|x| *x *= self.1);
                    }
                }
                arch.dispatch(Scale(x, c));
            }
            fn fma(arch: Arch) -> f64 {
                struct Chains;
                impl WithSimd for Chains {
                    type Output = f64;
                    #[inline(always)]
                    fn with_simd<S: Simd>(self, simd: S) -> f64 {
                        let (a, b) = (simd.$splat(black_box(0.5)), simd.$splat(black_box(1.0)));
                        let mut x = [b; CHAINS];
                        for _ in 0..STEPS {
                            for x in &mut x {
                                *x = simd.$fma(*x, a, b);
                            }
                        }
                        black_box(x);
                        (2 * STEPS * CHAINS * S::$lanes) as f64
                    }
                }
                arch.dispatch(Chains)
            }
            fn lanes(arch: Arch) -> usize {
                struct Lanes;
                impl WithSimd for Lanes {
                    type Output = usize;
                    #[inline(always)]
                    fn with_simd<S: Simd>(self, _: S) -> usize {
                        S::$lanes
                    }
                }
                arch.dispatch(Lanes)
            }
        }
    };
}
kernels!(f32, F32_LANES, as_mut_simd_f32s, splat_f32s, mul_f32s, mul_add_e_f32s);
kernels!(f64, F64_LANES, as_mut_simd_f64s, splat_f64s, mul_f64s, mul_add_e_f64s);

/// [`Kernels::fma`] of one type.
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

    /// A lower bound, in seconds, for a rank-`k` modification of a factor of order `n`: the larger of the times of reading and
    /// writing the factor once, at the bandwidth of a footprint of its size, and of 2 k n² flops.
    pub fn bound<T: Real>(&mut self, n: usize, k: usize, team: Team) -> f64 {
        let entries = n * (n + 1) / 2;
        self.bound_of::<T>(entries, 2.0 * entries as f64, 2.0 * k as f64 * (n as f64).powi(2), team)
    }

    /// A lower bound, in seconds, for an operation that reads and writes `moved` entries of a factor of `stored` entries and
    /// takes `flops` flops: the larger of both times.
    pub fn bound_of<T: Real>(&mut self, stored: usize, moved: f64, flops: f64, team: Team) -> f64 {
        let bandwidth = self.bandwidth(stored * size_of::<T>()).of(team);
        let memory = moved * size_of::<T>() as f64 / bandwidth;
        memory.max(flops / self.flops::<T>().of(team))
    }

    pub fn print(&mut self) {
        let mib = self.dram_bytes >> 20;
        let (dram, f64s, f32s) = (self.dram(), self.flops::<f64>(), self.flops::<f32>());
        println!(
            "limits, 1 thread and {} threads ({} f64 a register):",
            all_threads(),
            f64::lanes(self.arch)
        );
        println!("  in-place scale, {mib} MiB   {:7.1} {:7.1} GB/s", dram.one / 1e9, dram.all / 1e9);
        println!("  multiply-add f64         {:7.1} {:7.1} GFLOP/s", f64s.one / 1e9, f64s.all / 1e9);
        println!("  multiply-add f32         {:7.1} {:7.1} GFLOP/s", f32s.one / 1e9, f32s.all / 1e9);
        println!("  empty timed region       {:7} ns, subtracted", self.timer.as_nanos());
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
