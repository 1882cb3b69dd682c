//! Shared by the benchmarks of the engines with a GPU.

use crate::about::about;
use crate::competitors::ours::cpu;
use crate::csv::Csv;
use crate::limits::{Limits, Team};
use crate::link;
use crate::measure::{Competitor, Effort, Outcome, Timed, in_turns};
use crate::peers::python::Python;
use crate::problem::Problem;
use crate::row::{Entry, Row};
use crate::scalar::{Real, largest_residual};
use crate::settings::{Mode, Settings};
use cholupdate::cuda::Device;
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Cpu};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// A method of one case.
pub struct Entrant<'a> {
    pub method: String,
    /// Of the CPU. 0: the work is on the device.
    pub threads: usize,
    /// Of each verb. NaN: unknown.
    pub bounds: Vec<f64>,
    pub timed: Box<dyn Timed + 'a>,
}

impl<'a> Entrant<'a> {
    pub fn new(method: impl Into<String>, threads: usize, bounds: &[f64], timed: impl Timed + 'a) -> Self {
        Self { method: method.into(), threads, bounds: bounds.to_vec(), timed: Box::new(timed) }
    }
}

/// The device, what limits it, and where results go.
pub struct OnDevice {
    pub settings: Settings,
    pub device: Device,
    /// Bytes of device memory read or written in a second.
    pub memory: f64,
    /// Bytes a second over the link, each way, with both ways busy.
    pub link: f64,
    /// Largest flops a second.
    pub flops: f64,
    effort: Effort,
    empty: Duration,
    csv: Csv,
}

impl OnDevice {
    /// `None`, and the reason printed, without a device. `peers`: those that are called from Python.
    #[must_use]
    pub fn new(bench: &str, peers: &[Option<&Python>]) -> Option<Self> {
        let settings = Settings::new();
        let device =
            Device::new(0).inspect_err(|error| println!("no device, nothing measured: {error}")).ok()?;
        let (memory, link, flops) = (link::device_memory(), link::both_ways(), link::flops());
        let limits = format!(
            "device memory {:.2} TB/s read and written, link {:.1} GB/s each way, {:.0} TFLOP/s",
            memory / 1e12,
            link / 1e9,
            flops / 1e12
        );
        println!("{}: {limits}", device.name());
        let versions: Vec<String> = peers.iter().flatten().map(|python| python.versions.clone()).collect();
        let csv = Csv::new(settings.csv.as_ref(), &about(bench, Some(device.name()), &versions, &limits));
        let effort = |budget, at_least| Effort {
            budget: Duration::from_secs_f64(budget),
            at_least,
            at_most: 40,
            lone: Duration::from_secs_f64(if settings.mode == Mode::Test { 1e9 } else { 4.0 * budget }),
            first_compiles: true,
            skip: Duration::MAX,
        };
        let effort = match settings.mode {
            Mode::Test => effort(0.0, 1),
            Mode::Quick => effort(0.3, 1),
            Mode::Full => effort(1.5, 4),
        };
        let empty = Limits::new(Duration::ZERO, 0).timer;
        Some(Self { settings, device, memory, link, flops, effort, empty, csv })
    }

    /// Measures all methods of a case in turns, prints them and writes them.
    pub fn measure<T: Real>(&self, cell: (usize, usize), verbs: &[String], entrants: Vec<Entrant<'_>>) {
        self.measure_at_most::<T>(self.effort.at_most, cell, verbs, entrants);
    }

    /// The same with so many samples at most.
    pub fn measure_at_most<T: Real>(
        &self,
        at_most: usize,
        (order, rank): (usize, usize),
        verbs: &[String],
        mut entrants: Vec<Entrant<'_>>,
    ) {
        let effort = Effort { at_most, ..self.effort };
        let mut methods: Vec<&mut dyn Timed> =
            entrants.iter_mut().map(|entrant| &mut *entrant.timed as _).collect();
        let largest = largest_residual(T::NAME, order, rank);
        let measured = in_turns(&mut methods, effort, self.empty, largest);
        let entry = |(entrant, timings): (Entrant<'_>, Option<_>)| Entry {
            method: entrant.method,
            threads: entrant.threads,
            bounds: entrant.bounds,
            outcome: timings.map_or(Outcome::Missing, Outcome::Measured),
        };
        let entries = entrants.into_iter().zip(measured).map(entry).collect();
        let row = Row { scalar: T::NAME, order, rank, verbs: verbs.to_vec(), costs: Vec::new(), entries };
        row.print();
        self.csv.add(&row.lines());
    }

    /// The time to read L and write the new one in device memory, and to do the flops.
    #[must_use]
    pub fn bound<T>(&self, order: usize, flops: f64) -> f64 {
        ((order * (order + 1) * size_of::<T>()) as f64 / self.memory).max(flops / self.flops)
    }

    /// A factor on the CPU engine with all threads, unless the settings leave it out.
    ///
    /// # Panics
    /// When the engine refuses it.
    #[must_use]
    pub fn on_the_cpu<T: Real>(&self, problem: &Problem<T>) -> Option<Rc<RefCell<Cholesky<T, Cpu>>>> {
        let factor = || Cholesky::from_factor_in(&problem.l, cpu(Team::All)).expect("a factor");
        self.settings.with_cpu.then(|| Rc::new(RefCell::new(factor())))
    }
}

/// What is done to a state in a turn, which is counted from 0.
type Call<'a, S> = Box<dyn FnMut(&mut S, usize) + 'a>;
/// The residual of a state after a turn.
type Check<'a, S> = Box<dyn Fn(&S, usize) -> f64 + 'a>;

/// A method that is given by closures, on a state.
pub struct Calls<'a, S> {
    pub turns: usize,
    pub state: S,
    pub prepare: Call<'a, S>,
    pub run: Call<'a, S>,
    pub residual: Check<'a, S>,
}

impl<S> Competitor for Calls<'_, S> {
    fn turns(&self) -> usize {
        self.turns
    }
    fn prepare(&mut self, turn: usize) {
        (self.prepare)(&mut self.state, turn);
    }
    fn run(&mut self, turn: usize) {
        (self.run)(&mut self.state, turn);
    }
    fn residual(&self, turn: usize) -> f64 {
        (self.residual)(&self.state, turn)
    }
}

/// max |(L Lᵀ + V Vᵀ) x − b| / max |b| of the first right-hand side; without V: of L Lᵀ x.
#[must_use]
pub fn residual_of_solution<T: Real>(l: &Mat<T>, v: Option<&Mat<T>>, x: &Mat<T>, b: &Mat<T>) -> f64 {
    let (x, b) = (x.col(0), b.col(0));
    let mut back = l * (l.transpose() * x) - b;
    if let Some(v) = v {
        back += v * (v.transpose() * x);
    }
    back.norm_max().wide() / b.norm_max().wide()
}
