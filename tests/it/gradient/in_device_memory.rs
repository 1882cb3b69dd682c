//! Derivatives in device memory, on a stream of the caller's.

use super::accuracy::{self, Modes, distance};
use super::{Along, triangle};
use crate::support::cuda::{device, turn};
use crate::support::problem::{Kind, Problem, rng};
use crate::support::real::{Real, bits};
use cholupdate::cuda::Device;
use cholupdate::cuda::gradient::{
    MOST_COLUMNS, OnStream, RawCotangents, RawMatrices, RawModification, RawTangents, RawVectors, RawWeights,
    jvp_scratch_bytes, modify_jvp, modify_vjp, vjp_scratch_bytes,
};
use cholupdate::faer::Mat;
use cholupdate::gradient::Cotangents;
use cholupdate::{Cpu, Error};
use core::cell::Cell;
use cudarc::driver::result::{self, stream};
use cudarc::driver::sys::CUstream;

/// Device memory.
struct Memory(u64);

impl Memory {
    fn new(bytes: usize) -> Self {
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
enum Order {
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
struct Case<T> {
    problem: Problem<T>,
    new: Mat<T>,
    bar: Mat<T>,
    along: Along<T>,
}

impl<T: Real> Case<T> {
    fn new(problem: Problem<T>, seed: u64) -> Self {
        let (n, k) = problem.v.shape();
        let mut rng = rng(seed);
        let (new, _) = problem.modified(&Cpu::sequential()).unwrap();
        Self { new, bar: triangle(n, &mut rng), along: Along::new(n, k, &mut rng), problem }
    }
}

/// A device, and a stream of another library.
struct There {
    device: Device,
    stream: CUstream,
    cases: Cell<usize>,
}

impl There {
    fn new() -> Option<Self> {
        let device = device()?;
        let stream = stream::create(stream::StreamKind::NonBlocking).unwrap();
        Some(Self { device, stream, cases: Cell::new(0) })
    }

    fn on(&self, scratch: &Memory) -> OnStream<'_> {
        OnStream { device: &self.device, stream: self.stream.addr() as u64, scratch: scratch.0 }
    }

    fn wait(&self) {
        // SAFETY: it lives.
        unsafe { stream::synchronize(self.stream) }.unwrap();
    }

    /// Both modes, of a batch; where `weights` is given, all weights are that.
    fn batch<T: Real>(
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

        let [square, tangent] = [(); 2].map(|()| Memory::new(count * n * n * size_of::<T>()));
        let columns = Memory::new(count * n * k * size_of::<T>());
        let of_weights = Memory::new(count * k * size_of::<T>());
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
        let along = RawTangents { l: dl, v: dv, weights: Some(of_each(&dw)) };
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

/// Weights that are 1 all or −1 all are said to be, in every other case.
impl<T: Real> Modes<T> for There {
    fn both(
        &self,
        problem: &Problem<T>,
        new: &Mat<T>,
        bar: &Mat<T>,
        along: &Along<T>,
    ) -> (Cotangents<T>, Mat<T>) {
        self.cases.set(self.cases.get() + 1);
        let case = Case {
            problem: Problem { l: problem.l.clone(), v: problem.v.clone(), weights: problem.weights.clone() },
            new: new.clone(),
            bar: bar.clone(),
            along: Along { l: along.l.clone(), v: along.v.clone(), weights: along.weights.clone() },
        };
        let are = |x: T| self.cases.get().is_multiple_of(2) && problem.weights.iter().all(|&w| w == x);
        let weights = match () {
            () if are(T::ONE) => Some(RawWeights::Plus),
            () if are(-T::ONE) => Some(RawWeights::Minus),
            () => None,
        };
        self.batch(&[&case], Order::Columns, weights, None).remove(0)
    }

    fn takes(&self, case: usize) -> bool {
        !cfg!(feature = "fake-cuda") || case % 7 == 3
    }
}

fn hold_the_contract<T: Real>() {
    let _turn = turn();
    let Some(there) = There::new() else { return };
    let more = [(48, 64), (64, 16), (64, 40), (65, 1), (66, 2), (129, 5), (140, 17)];
    accuracy::all::<T>(&there, &[&accuracy::SHAPES[..], &more].concat());
}

#[test]
fn contract_f64() {
    hold_the_contract::<f64>();
}

#[test]
fn contract_f32() {
    hold_the_contract::<f32>();
}

fn all_bits<T: Real>((pulled, pushed): &(Cotangents<T>, Mat<T>)) -> Vec<u64> {
    let matrices = [&pulled.l, &pulled.v, pushed].into_iter().flat_map(|a| bits(a.as_ref()));
    matrices.chain(pulled.weights.iter().map(|w| w.bits())).collect()
}

#[test]
fn each_matrix_of_a_batch_is_as_if_it_were_alone() {
    let _turn = turn();
    let Some(there) = There::new() else { return };
    for (n, k) in [(1, 1), (7, 3), (33, 1), (64, 20), (70, 2), (200, 6)] {
        let cases: Vec<_> = (Kind::ALL.into_iter().zip(1..))
            .map(|(kind, seed)| Case::new(Problem::<f64>::feasible(n, k, kind, 0.3, seed), seed))
            .collect();
        let all: Vec<_> = cases.iter().collect();
        for order in [Order::Columns, Order::Rows] {
            let together = there.batch(&all, order, None, None);
            for (case, found) in cases.iter().zip(&together) {
                let alone = there.batch(&[case], Order::Columns, None, None).remove(0);
                assert!(all_bits(found) == all_bits(&alone), "{n} × {k}, {order:?}");
                // Zeros above the diagonal, and nothing there was read: it is NaN.
                for a in [&found.0.l, &found.1] {
                    assert!((0..n).all(|j| (0..j).all(|i| a[(i, j)].to_bits() == 0)), "{n} × {k}");
                    assert!((0..n).all(|j| (j..n).all(|i| a[(i, j)].is_finite())), "{n} × {k}");
                }
            }
        }
    }
}

#[test]
fn a_matrix_that_broke_down_has_zeros_and_leaves_others_alone() {
    let _turn = turn();
    let Some(there) = There::new() else { return };
    for (n, k) in [(5, 2), (80, 3)] {
        let case = |seed| Case::new(Problem::<f32>::feasible(n, k, Kind::Mixed, 0.3, seed), seed);
        let (good, mut broken) = (case(1), case(2));
        broken.new = Mat::from_fn(n, n, |_, _| f32::NAN);
        broken.problem.v[(n - 1, 0)] = f32::INFINITY;
        broken.problem.weights[0] = f32::NAN;
        let found = there.batch(&[&broken, &good, &broken], Order::Columns, None, Some(&[0, 1, 0]));
        let alone = there.batch(&[&good], Order::Columns, None, None).remove(0);
        assert!(all_bits(&found[1]) == all_bits(&alone));
        for broken in [&found[0], &found[2]] {
            assert!(all_bits(broken).into_iter().all(|bits| bits == 0), "{n} × {k}");
        }
    }
}

/// A column of L with the other sign is the same L Lᵀ, and has derivatives with the other sign.
#[test]
fn pivots_may_be_negative() {
    let _turn = turn();
    let Some(there) = There::new() else { return };
    for (n, k) in [(9, 2), (70, 5)] {
        let case = |flips: bool| {
            let mut case = Case::new(Problem::<f64>::feasible(n, k, Kind::Mixed, 0.3, 1), 1);
            for j in (0..n).step_by(3).filter(|_| flips) {
                (j..n).for_each(|i| case.problem.l[(i, j)] = -case.problem.l[(i, j)]);
                (j..n).for_each(|i| case.along.l[(i, j)] = -case.along.l[(i, j)]);
            }
            case
        };
        let all = |flips| there.batch(&[&case(flips)], Order::Columns, None, None).remove(0);
        let (mut found, expected) = (all(true), all(false));
        for j in (0..n).step_by(3) {
            (j..n).for_each(|i| found.0.l[(i, j)] = -found.0.l[(i, j)]);
        }
        assert!(all_bits(&found) == all_bits(&expected), "{n} × {k}");
    }
}

/// Many blocks of rows, whose sums are added up by another kernel.
#[test]
fn large_matrices_agree_with_the_cpu() {
    let _turn = turn();
    let Some(there) = There::new() else { return };
    for (n, k, kind) in [(400, 1, Kind::Up), (330, 6, Kind::Down), (260, 33, Kind::Mixed)] {
        let case = Case::new(Problem::<f64>::feasible(n, k, kind, 0.3, 3), 4);
        let Problem { l, v, weights } = &case.problem;
        let (pulled, pushed) = there.batch(&[&case], Order::Columns, None, None).remove(0);
        let expected = cholupdate::gradient::modify_vjp(l, &case.new, v, weights, &case.bar).unwrap();
        let tangent =
            cholupdate::gradient::modify_jvp(l, &case.new, v, weights, &case.along.tangents()).unwrap();
        let errors = [
            distance(&pulled.l, &expected.l, |_| 1.0),
            distance(&pulled.v, &expected.v, |_| 1.0),
            distance(&pushed, &tangent, |_| 1.0),
        ];
        let limit = (n + k) as f64 * f64::EPSILON;
        assert!(errors.iter().all(|&error| error <= limit), "{n} × {k}, {kind:?}: {errors:?}");
        let weights = Mat::from_fn(k, 1, |i, _| pulled.weights[i]);
        let expected = Mat::from_fn(k, 1, |i, _| expected.weights[i]);
        assert!(distance(&weights, &expected, |_| 1.0) <= limit, "{n} × {k}, {kind:?}");
    }
}

#[test]
fn what_is_empty_and_what_is_refused() {
    let _turn = turn();
    let Some(there) = There::new() else { return };
    let none = RawMatrices { address: 0, matrix: 0, row: 1, column: 1 };
    let to = RawCotangents { l: none, v: none, weights: 0 };
    let scratch = Memory::new(1);
    let mut of = RawModification {
        count: 0,
        n: 3,
        k: 1,
        l: none,
        l_new: none,
        v: none,
        weights: RawWeights::Plus,
        ok: None,
    };
    // SAFETY: no matrix.
    unsafe { modify_vjp::<f64>(there.on(&scratch), &of, none, &to) }.unwrap();
    of.count = 1;
    of.k = MOST_COLUMNS + 1;
    // SAFETY: nothing is enqueued.
    let refused = unsafe { modify_vjp::<f64>(there.on(&scratch), &of, none, &to) }.unwrap_err();
    assert_eq!(refused, Error::OutOfRange { argument: "v", rule: "of at most 64 columns" });
    // Without columns of V, L' is L, and its derivatives are those of L.
    for n in [4, 70] {
        let problem = Problem::<f64>::feasible(n, 0, Kind::Up, 0.3, 1);
        let case = Case::new(problem, 1);
        let (pulled, pushed) = there.batch(&[&case], Order::Columns, None, None).remove(0);
        for j in 0..n {
            for i in j..n {
                assert!((pulled.l[(i, j)] - case.bar[(i, j)]).abs() <= 4.0 * f64::EPSILON);
                assert!((pushed[(i, j)] - case.along.l[(i, j)]).abs() <= 4.0 * f64::EPSILON);
            }
        }
    }
}
