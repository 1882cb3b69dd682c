//! Batches in device memory, and the calls that differentiate them on a stream.

use super::{Along, triangle};
use crate::support::cuda::device;
use crate::support::problem::{Problem, rng};
use crate::support::real::Real;
use cholupdate::Cpu;
use cholupdate::cuda::Device;
use cholupdate::cuda::gradient::{
    OnStream, RawCotangents, RawMatrices, RawModification, RawTangents, RawVectors, RawWeights,
    jvp_scratch_bytes, modify_jvp, modify_vjp, vjp_scratch_bytes,
};
use cholupdate::faer::Mat;
use cholupdate::gradient::Cotangents;
use core::cell::Cell;
use cudarc::driver::result::{self, stream};
use cudarc::driver::sys::CUstream;

/// Device memory.
pub struct Memory(pub u64);

impl Memory {
    pub fn new(bytes: usize) -> Self {
        // SAFETY: a device has been made, so that its context is current.
        Self(unsafe { result::malloc_sync(bytes.max(1)) }.unwrap())
    }

    fn holding<X: Copy>(all: &[X]) -> Self {
        let memory = Self::new(size_of_val(all));
        // SAFETY: it has this many bytes.
        unsafe { result::memcpy_htod_sync(memory.0, all) }.unwrap();
        memory
    }

    fn read<X: Copy>(&self, like: X, len: usize) -> Vec<X> {
        let mut all = vec![like; len];
        // SAFETY: it has this many bytes, and all work is done.
        unsafe { result::memcpy_dtoh_sync(&mut all, self.0) }.unwrap();
        all
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated by `new`, and all work is done.
        unsafe { result::free_sync(self.0) }.unwrap();
    }
}

/// How the matrices of a batch lie in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    Columns,
    Rows,
}

fn place(order: Order, address: u64, rows: usize, cols: usize) -> RawMatrices {
    let (row, column) = if order == Order::Columns { (1, rows) } else { (cols, 1) };
    RawMatrices { address, matrix: (rows * cols) as i64, row: row as i64, column: column as i64 }
}

fn matrices<T: Real>(order: Order, all: &[&Mat<T>]) -> (Memory, RawMatrices) {
    let (rows, cols) = all[0].shape();
    let flat: Vec<T> = all
        .iter()
        .flat_map(|a| {
            let (outer, inner) = if order == Order::Columns { (cols, rows) } else { (rows, cols) };
            let at = move |o: usize, i: usize| if order == Order::Columns { (i, o) } else { (o, i) };
            (0..outer).flat_map(move |o| (0..inner).map(move |i| a[at(o, i)]))
        })
        .collect();
    let memory = Memory::holding(&flat);
    let place = place(order, memory.0, rows, cols);
    (memory, place)
}

/// The matrices of a batch, from the device.
fn from_device<T: Real>(order: Order, memory: &Memory, [count, rows, cols]: [usize; 3]) -> Vec<Mat<T>> {
    let flat = memory.read(T::ZERO, count * rows * cols);
    let at = |b: usize, i: usize, j: usize| {
        b * rows * cols + if order == Order::Columns { j * rows + i } else { i * cols + j }
    };
    (0..count).map(|b| Mat::from_fn(rows, cols, |i, j| flat[at(b, i, j)])).collect()
}

/// A modification that has been made, a cotangent and tangents.
pub struct Case<T> {
    pub problem: Problem<T>,
    pub new: Mat<T>,
    pub bar: Mat<T>,
    pub along: Along<T>,
}

impl<T: Real> Case<T> {
    pub fn new(problem: Problem<T>, seed: u64) -> Self {
        let (n, k) = problem.v.shape();
        let mut rng = rng(seed);
        let (new, _) = problem.modified(&Cpu::sequential()).unwrap();
        Self { new, bar: triangle(n, &mut rng), along: Along::new(n, k, &mut rng), problem }
    }
}

/// A device, and a stream of another library.
pub struct There {
    device: Device,
    stream: CUstream,
    pub cases: Cell<usize>,
    /// Whether forward mode is told of no tangents of weights.
    pub fixed_weights: Cell<bool>,
}

impl There {
    pub fn new() -> Option<Self> {
        let device = device()?;
        let stream = stream::create(stream::StreamKind::NonBlocking).unwrap();
        Some(Self { device, stream, cases: Cell::new(0), fixed_weights: Cell::new(false) })
    }

    pub fn on(&self, scratch: &Memory) -> OnStream<'_> {
        OnStream { device: &self.device, stream: self.stream.addr() as u64, scratch: scratch.0 }
    }

    fn wait(&self) {
        // SAFETY: it lives.
        unsafe { stream::synchronize(self.stream) }.unwrap();
    }

    /// Both modes, of a batch; where `weights` is given, all weights are that.
    pub fn batch<T: Real>(
        &self,
        cases: &[&Case<T>],
        order: Order,
        weights: Option<RawWeights>,
        ok: Option<&[u8]>,
    ) -> Vec<(Cotangents<T>, Mat<T>)> {
        let (count, (n, k)) = (cases.len(), cases[0].problem.v.shape());
        let all = |of: fn(&Case<T>) -> &Mat<T>| {
            matrices(order, &cases.iter().map(|case| of(case)).collect::<Vec<_>>())
        };
        let vectors = |of: fn(&Case<T>) -> &Vec<T>| {
            Memory::holding(&cases.iter().flat_map(|case| of(case).iter().copied()).collect::<Vec<_>>())
        };
        let (_l, l) = all(|case| &case.problem.l);
        let (_new, l_new) = all(|case| &case.new);
        let (_v, v) = all(|case| &case.problem.v);
        let (_bar, bar) = all(|case| &case.bar);
        let (_dl, dl) = all(|case| &case.along.l);
        let (_dv, dv) = all(|case| &case.along.v);
        let (w, dw) = (vectors(|case| &case.problem.weights), vectors(|case| &case.along.weights));
        let of_each = |memory: &Memory| RawVectors { address: memory.0, vector: k as i64 };
        let flags = ok.map(Memory::holding);
        let weights = weights.unwrap_or(RawWeights::Each(of_each(&w)));
        let ok = flags.as_ref().map(|flags| RawVectors { address: flags.0, vector: 1 });
        let of = RawModification { count, n, k, l, l_new, v, weights, ok };

        // So that what is not written is found.
        let nan = |len: usize| Memory::holding(&vec![T::of(f64::NAN); len]);
        let [square, tangent] = [(); 2].map(|()| nan(count * n * n));
        let (columns, of_weights) = (nan(count * n * k), nan(count * k));
        let to = RawCotangents {
            l: place(order, square.0, n, n),
            v: place(order, columns.0, n, k),
            weights: of_weights.0,
        };
        let scratch = Memory::new(vjp_scratch_bytes::<T>(&of) as usize);
        // SAFETY: all memory lives until the stream has been waited for, and is as large as it is said to be.
        unsafe { modify_vjp::<T>(self.on(&scratch), &of, bar, &to) }.unwrap();
        self.wait();
        let scratch = Memory::new(jvp_scratch_bytes::<T>(&of) as usize);
        let weights = (!self.fixed_weights.get()).then(|| of_each(&dw));
        let along = RawTangents { l: dl, v: dv, weights };
        // SAFETY: as above.
        unsafe { modify_jvp::<T>(self.on(&scratch), &of, &along, place(order, tangent.0, n, n)) }.unwrap();
        self.wait();
        let l = from_device(order, &square, [count, n, n]);
        let v = from_device(order, &columns, [count, n, k]);
        let weights = of_weights.read(T::ZERO, count * k);
        let tangent = from_device(order, &tangent, [count, n, n]);
        let each = l.into_iter().zip(v).zip(tangent).enumerate();
        each.map(|(b, ((l, v), tangent))| {
            (Cotangents { l, v, weights: weights[b * k..(b + 1) * k].to_vec() }, tangent)
        })
        .collect()
    }
}

impl Drop for There {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and no work is on it.
        unsafe { stream::destroy(self.stream) }.unwrap();
    }
}
