//! Batches in the memory of a GPU, and PyTorch.

use crate::matrices::{Matrices, moved};
use crate::{HEADINGS, cell, orders};
use cholupdate::Error;
use cholupdate::cuda::{CholeskyBatch, Device, DeviceBatch};
use cholupdate_bench::batches::Table;
use cholupdate_bench::engines::OnDevice;
use cholupdate_bench::limits::Limits;
use cholupdate_bench::measure::{Competitor, Timed, in_turns};
use cholupdate_bench::peers::python::{Python, Remote};
use cholupdate_bench::scalar::{Real, largest_residual};
use cholupdate_bench::settings::Mode;
use std::time::Duration;

/// Bytes of the lower triangles of a batch, which no cache holds. The peer's script has as many matrices.
const BYTES: usize = 512 << 20;
/// Different matrices, which are repeated.
const DIFFERENT: usize = 64;

/// Measures all of them, if there is a device. Returns whether all results are right.
pub fn measure() -> Result<bool, Error> {
    let torch = Device::new(0).ok().and_then(|_| Python::start("pytorch_batch_peer.py"));
    let Some(on) = OnDevice::new("batch_rows", &[torch.as_ref()]) else { return Ok(true) };
    let timer = Limits::new(Duration::ZERO, 0).timer;
    let mut bench = Bench { on, torch, timer, table: Table::new(&HEADINGS) };
    for n in orders(&bench.on.settings, &[4, 8, 16, 32, 64, 128]) {
        bench.of_order::<f64>(n)?;
        bench.of_order::<f32>(n)?;
    }
    Ok(bench.table.finish())
}

struct Bench {
    on: OnDevice,
    torch: Option<Python>,
    timer: Duration,
    table: Table,
}

/// The batch, and the new columns. (count × n × 1)
struct Batch<'a, T: Real>(&'a Matrices<T>, CholeskyBatch<T>, DeviceBatch<T>);

impl<T: Real> Competitor for Batch<'_, T> {
    fn run(&mut self, turn: usize) {
        let outcome = if turn == 0 { self.1.remove(&self.0.indices) } else { self.1.append(&self.2) };
        outcome.map(drop).expect("a batch whose rows change");
    }
    fn residual(&self, turn: usize) -> f64 {
        self.0.residual(turn, |matrix| self.1.factor(matrix).expect("a factor"))
    }
}

/// Factoring the matrices that a removal and an append lead to.
struct Again<'a, T: Real> {
    matrices: &'a Matrices<T>,
    device: &'a Device,
    after: [DeviceBatch<T>; 2],
    batch: Option<CholeskyBatch<T>>,
}

impl<T: Real> Competitor for Again<'_, T> {
    fn prepare(&mut self, _: usize) {
        self.batch = None;
    }
    fn run(&mut self, turn: usize) {
        self.batch = Some(CholeskyBatch::new(self.device, &self.after[turn]).expect("A"));
    }
    fn residual(&self, turn: usize) -> f64 {
        let batch = self.batch.as_ref().expect("a batch");
        self.matrices.residual(turn, |matrix| batch.factor(matrix).expect("a factor"))
    }
}

/// The matrices whose lower triangles have these bytes.
fn count_of<T>(bytes: usize, n: usize) -> usize {
    (bytes / (n * (n + 1) / 2 * size_of::<T>())).max(1)
}

impl Bench {
    fn of_order<T: Real>(&mut self, n: usize) -> Result<(), Error> {
        let Self { on, torch, timer, table } = self;
        if !on.settings.takes(T::NAME) {
            return Ok(());
        }
        let bytes = if on.settings.mode == Mode::Test { 1 << 14 } else { BYTES };
        let count = count_of::<T>(bytes, n);
        let matrices = &Matrices::<T>::new(count, n, DIFFERENT);
        let there = |batch| DeviceBatch::from_host(&on.device, batch);
        let after = [there(matrices.after(0))?, there(matrices.after(1))?];
        let batch = CholeskyBatch::new(&on.device, &after[1])?;
        let mut ours = Batch(matrices, batch, there(matrices.columns())?);
        let mut again = Again { matrices, device: &on.device, after, batch: None };
        // The peer factors one order a method; k only makes a V that it does not use.
        let mut ready = [0, 1].map(|turn| {
            let order = matrices.order_after(turn);
            torch.as_ref().map(|torch| Remote::new(torch, "ready", T::NAME, (order, 1), 1))
        });

        // The name, the number of matrices, and the turn of the first time.
        let mut about = vec![("batch", count, 0), ("factoring again, batch", count, 0)];
        let mut methods: Vec<&mut dyn Timed> = vec![&mut ours, &mut again];
        for (turn, peer) in ready.iter_mut().enumerate() {
            let of_peer =
                ("PyTorch, factoring again", count_of::<T>(BYTES, matrices.order_after(turn)), turn);
            about.extend(peer.is_some().then_some(of_peer));
            methods.extend(peer.as_mut().map(|peer| peer as &mut dyn Timed));
        }
        let bounds = moved(n).map(|scalars| (scalars * size_of::<T>()) as f64 / on.memory);
        let largest = largest_residual(T::NAME, n, 1);
        let measured = in_turns(&mut methods, on.settings.effort(), *timer, largest);
        for ((name, count, first), timings) in about.into_iter().zip(measured) {
            let Some(timings) = timings else { continue };
            let mut line = vec![T::NAME.to_owned(), n.to_string(), count.to_string(), name.to_owned()];
            line.extend((0..2_usize).map(|turn| {
                let timing = turn.checked_sub(first).and_then(|at| timings.get(at));
                timing.map_or(String::new(), |timing| cell(timing, count, bounds[turn], 3))
            }));
            table.line(line, &timings);
        }
        Ok(())
    }
}
