//! Modifications that are enqueued on a stream of the caller's, in the caller's memory.

use crate::support::contract::Observed;
use crate::support::cuda::{device, resident, share};
use crate::support::problem::{Kind, Problem};
use crate::support::real::{Real, bits};
use cholupdate::cuda::{
    CholeskyBatch, Device, DeviceMatrix, Resident, Signs, StreamModification, StreamOperands,
};
use cholupdate::faer::{Mat, concat};
use cholupdate::{BatchRef, Cholesky, Error, Weights};
use cudarc::driver::result::stream;
use cudarc::driver::sys::CUstream;

const ORDERS: [usize; 7] = [1, 2, 63, 64, 65, 128, 300];
const RANKS: [usize; 5] = [0, 1, 16, 17, 40];

/// Matrices of one shape, with a V and weights for each.
struct Given<T> {
    l: Vec<Mat<T>>,
    v: Vec<Mat<T>>,
    weights: Vec<Vec<T>>,
    by_rows: bool,
    /// L, and L'.
    squares_by_rows: [bool; 2],
}

impl<T: Real> Given<T> {
    fn one(l: &Mat<T>, v: &Mat<T>, weights: &[T]) -> Self {
        Self {
            l: vec![l.clone()],
            v: vec![v.clone()],
            weights: vec![weights.to_vec()],
            by_rows: false,
            squares_by_rows: [false; 2],
        }
    }

    fn shape(&self) -> [usize; 3] {
        [self.l.len(), self.l[0].nrows(), self.v[0].ncols()]
    }
}

/// A stream of another library.
struct Theirs(CUstream);

impl Theirs {
    fn new() -> Self {
        Self(stream::create(stream::StreamKind::NonBlocking).unwrap())
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        // SAFETY: created here, and waited for.
        unsafe { stream::destroy(self.0) }.unwrap();
    }
}

fn there<T: Real>(device: &Device, matrices: impl Iterator<Item = Mat<T>>) -> DeviceMatrix<T> {
    let side_by_side = matrices.reduce(|all, next| concat![[all, next]]).unwrap();
    DeviceMatrix::from_host(device, &side_by_side).unwrap()
}

/// L' of each matrix, all of it, and whether it exists. What is above the diagonal of L is NaN.
fn modified<T: Real>(device: &Device, given: &Given<T>, signs: Signs, nan: bool) -> Vec<(Mat<T>, bool)> {
    let [count, n, k] = given.shape();
    let garbage = |l: &Mat<T>| Mat::from_fn(n, n, |i, j| if i < j { T::of(f64::NAN) } else { l[(i, j)] });
    let turned = |a: Mat<T>, by_rows: bool| if by_rows { a.transpose().to_owned() } else { a };
    let [l_by_rows, to_by_rows] = given.squares_by_rows;
    let l = there(device, given.l.iter().map(|l| turned(garbage(l), l_by_rows)));
    let v = there(device, given.v.iter().map(|v| turned(v.clone(), given.by_rows)));
    let weights = there(device, given.weights.iter().map(|w| Mat::from_fn(k, 1, |r, _| w[r])));
    let modification = StreamModification::<T>::new(device, [count, n, k], signs).unwrap();
    let words = modification.scratch_bytes().div_ceil(8);
    let scratch = DeviceMatrix::from_host(device, &Mat::from_fn(words, 1, |_, _| f64::NAN)).unwrap();
    let to = there(device, (0..count).map(|_| Mat::from_fn(n, n, |_, _| T::of(7.0))));
    let ok = DeviceMatrix::from_host(device, &Mat::from_fn(count.div_ceil(4), 1, |_, _| f32::NAN)).unwrap();
    let operands = StreamOperands {
        l: l.view().address(),
        l_matrix: n * n,
        l_by_rows,
        v: v.view().address(),
        v_strides: if given.by_rows { [n * k, k, 1] } else { [n * k, 1, n] },
        weights: weights.view().address(),
        weights_matrix: k,
        to: to.view().address(),
        to_by_rows,
        ok: ok.view().address(),
        nan,
    };
    let theirs = Theirs::new();
    // SAFETY: a stream of the device, and memory that exists until it has been waited for.
    unsafe {
        let handle = theirs.0.addr() as u64;
        modification.enqueue(handle, &operands, scratch.view().address()).unwrap();
        stream::synchronize(theirs.0).unwrap();
    }
    let (to, ok) = (to.to_host().unwrap(), ok.to_host().unwrap());
    let bytes: Vec<u8> = (0..ok.nrows()).flat_map(|word| ok[(word, 0)].to_bits().to_le_bytes()).collect();
    let one = |matrix: usize| {
        assert!(bytes[matrix] <= 1, "not written");
        (turned(to.as_ref().subcols(matrix * n, n).to_owned(), to_by_rows), bytes[matrix] == 1)
    };
    (0..count).map(one).collect()
}

fn lower<T: Real>(l: &Mat<T>) -> Mat<T> {
    Mat::from_fn(l.nrows(), l.ncols(), |i, j| if i < j { T::of(0.0) } else { l[(i, j)] })
}

/// Of `from_factor_in`, a modification and `to_factor`.
fn by_the_class<T: Real>(engine: &Resident, l: &Mat<T>, v: &Mat<T>, weights: Weights<'_, T>) -> Mat<T> {
    let mut factor = Cholesky::from_factor_in(l, engine.clone()).unwrap();
    factor.modify(v, weights).unwrap();
    factor.to_factor().unwrap()
}

/// Of one matrix in a batch on the device.
fn by_the_batch<T: Real>(device: &Device, l: &Mat<T>, v: &Mat<T>) -> Mat<T> {
    let rows = |a: &Mat<T>| -> Vec<T> {
        (0..a.nrows()).flat_map(|i| (0..a.ncols()).map(move |j| (i, j))).map(|(i, j)| a[(i, j)]).collect()
    };
    let (n, k) = v.shape();
    let (l, v) = (rows(l), rows(v));
    let mut batch = CholeskyBatch::from_factors(device, BatchRef::by_rows(&l, [1, n, n]).unwrap()).unwrap();
    batch.update(BatchRef::by_rows(&v, [1, n, k]).unwrap()).unwrap();
    batch.factor(0).unwrap()
}

fn values<T: Real>(engine: &Resident, device: &Device) {
    for (seed, n) in (30..).zip(ORDERS) {
        for k in share(RANKS, 2, seed as usize) {
            for (kind, signs, weights) in
                [(Kind::Up, Signs::Plus, Weights::Plus), (Kind::Down, Signs::Minus, Weights::Minus)]
            {
                let problem = Problem::<T>::feasible(n, k, kind, 0.3, seed);
                let expected = by_the_class(engine, &problem.l, &problem.v, weights);
                let mut given = Given::one(&problem.l, &problem.v, &problem.weights);
                for by_rows in [false, true] {
                    given.by_rows = by_rows;
                    let (found, ok) = modified(device, &given, signs, false).remove(0);
                    let same = bits(found.as_ref()) == bits(expected.as_ref());
                    assert!(ok && same, "n {n}, k {k}, {kind:?}, by rows {by_rows}");
                }
            }
        }
    }
}

#[test]
fn the_result_is_that_of_the_engine_bit_for_bit() {
    let Some((_turn, engine)) = resident() else { return };
    values::<f64>(&engine, &device().unwrap());
    values::<f32>(&engine, &device().unwrap());
}

fn signs_that_are_not_known<T: Real>(device: &Device, mut observed: Observed) {
    for (seed, n) in (50..).zip(ORDERS) {
        for k in share(RANKS, 2, seed as usize + 1) {
            for kind in [Kind::Mixed, Kind::Down, Kind::Up] {
                let mut problem = Problem::<T>::feasible(n, k, kind, 0.3, seed);
                for r in 0..k {
                    let shrinks = problem.weights[r] < T::of(0.0);
                    problem.weights[r] = T::of(if r % 5 == 4 {
                        0.0
                    } else if shrinks {
                        -0.5
                    } else {
                        2.0
                    });
                }
                let mut given = Given::one(&problem.l, &problem.v, &problem.weights);
                // Columns of weight zero are not read.
                (4..k).step_by(5).for_each(|r| given.v[0][(0, r)] = T::of(f64::NAN));
                let (found, ok) = modified(device, &given, Signs::Any, false).remove(0);
                assert!(ok, "n {n}, k {k}, {kind:?}");
                assert_eq!(bits(found.as_ref()), bits(lower(&found).as_ref()));
                observed.check(found.as_ref(), &problem, (n, k, kind));
            }
        }
    }
}

#[test]
fn weights_of_any_sign_meet_the_contract() {
    let Some((_turn, _)) = resident() else { return };
    let device = device().unwrap();
    signs_that_are_not_known::<f64>(&device, Observed::recorded(10.0));
    signs_that_are_not_known::<f32>(&device, Observed::recorded(10.0));
}

/// Each spoils the second of three matrices, which all have a V and weights of their own, and leaves the others alone.
fn spoilt<T: Real>(engine: &Resident, device: &Device, n: usize) {
    let k = 3;
    let problems: Vec<_> =
        (0..3).map(|b| Problem::<T>::feasible(n, k, Kind::Up, 0.3, 70 + b as u64)).collect();
    let good = || Given {
        l: problems.iter().map(|one| one.l.clone()).collect(),
        v: problems.iter().map(|one| one.v.clone()).collect(),
        weights: vec![vec![T::of(1.0); k]; 3],
        by_rows: true,
        squares_by_rows: [false; 2],
    };
    type Spoil<T> = (&'static str, fn(&mut Given<T>));
    let spoils: [Spoil<T>; 8] = [
        ("a large downdate", |given| given.weights[1][2] = T::of(-1e4)),
        ("NaN in V", |given| given.v[1][(0, 1)] = T::of(f64::NAN)),
        ("an infinite entry of V", |given| {
            let last = given.v[1].nrows() - 1;
            given.v[1][(last, 2)] = T::of(f64::INFINITY);
        }),
        ("a weight that is NaN", |given| given.weights[1][1] = T::of(f64::NAN)),
        ("an infinite weight", |given| given.weights[1][1] = T::of(f64::NEG_INFINITY)),
        ("a pivot of zero", |given| given.l[1][(0, 0)] = T::of(0.0)),
        ("a pivot that is NaN", |given| {
            let last = given.l[1].nrows() - 1;
            given.l[1][(last, last)] = T::of(f64::NAN);
        }),
        ("NaN below the diagonal", |given| {
            let last = given.l[1].nrows() - 1;
            given.l[1][(last, 0)] = T::of(f64::NAN);
        }),
    ];
    for (what, spoil) in spoils {
        for nan in [false, true] {
            let mut given = good();
            spoil(&mut given);
            let found = modified(device, &given, Signs::Any, nan);
            assert_eq!([found[0].1, found[1].1, found[2].1], [true, false, true], "{what}, n {n}");
            for b in [0, 2] {
                // Larger ones are modified one after the other.
                let expected = match n {
                    ..=256 => by_the_batch(device, &given.l[b], &given.v[b]),
                    _ => by_the_class(engine, &given.l[b], &given.v[b], Weights::Plus),
                };
                assert_eq!(bits(found[b].0.as_ref()), bits(expected.as_ref()), "{what}, n {n}");
            }
            let left = &found[1].0;
            for j in 0..n {
                assert!((0..j).all(|i| left[(i, j)] == T::of(0.0)), "{what}, n {n}");
                let is_kept = |i: usize| match nan {
                    true => left[(i, j)].f64().is_nan(),
                    false => left[(i, j)].bits() == given.l[1][(i, j)].bits(),
                };
                assert!((j..n).all(is_kept), "{what}, n {n}, NaN {nan}");
            }
        }
    }
}

#[test]
fn a_factor_that_does_not_exist_is_told_and_leaves_the_others_alone() {
    let Some((_turn, engine)) = resident() else { return };
    let device = device().unwrap();
    for n in [2, 30, 70, 257] {
        spoilt::<f64>(&engine, &device, n);
        spoilt::<f32>(&engine, &device, n);
    }
}

/// Several matrices by rows and by columns, of which one has no factor.
fn side_by_side<T: Real>(device: &Device, (count, n, k): (usize, usize, usize)) {
    let problems: Vec<_> =
        (0..count).map(|b| Problem::<T>::feasible(n, k, Kind::Up, 0.3, 200 + b as u64)).collect();
    let mut given = Given {
        l: problems.iter().map(|one| one.l.clone()).collect(),
        v: problems.iter().map(|one| one.v.clone()).collect(),
        weights: problems.iter().map(|one| one.weights.clone()).collect(),
        by_rows: false,
        squares_by_rows: [false; 2],
    };
    let bad = count - 1;
    given.l[bad][(n - 1, n - 1)] = T::of(-1.0);
    for squares_by_rows in [[false, false], [false, true], [true, false], [true, true]] {
        given.squares_by_rows = squares_by_rows;
        for (b, (found, ok)) in modified(device, &given, Signs::Plus, false).into_iter().enumerate() {
            let what = format!("n {n}, k {k}, matrix {b} of {count}, by rows {squares_by_rows:?}");
            assert_eq!(ok, b != bad, "{what}");
            let expected = match b == bad {
                true => given.l[b].clone(),
                false => by_the_batch(device, &given.l[b], &given.v[b]),
            };
            assert_eq!(bits(found.as_ref()), bits(lower(&expected).as_ref()), "{what}");
        }
    }
}

#[test]
fn small_matrices_are_by_rows_or_by_columns() {
    let Some((_turn, _)) = resident() else { return };
    let device = device().unwrap();
    for shape in [
        (33, 1, 1),
        (70, 3, 2),
        (34, 4, 0),
        (33, 7, 5),
        (64, 8, 1),
        (3, 9, 2),
        (2, 16, 4),
        (3, 17, 1),
        (2, 32, 3),
        (2, 33, 0),
        (3, 65, 2),
        (2, 256, 1),
    ] {
        side_by_side::<f64>(&device, shape);
        side_by_side::<f32>(&device, shape);
    }
    // Others are by columns.
    let modification = StreamModification::<f64>::new(&device, [2, 257, 1], Signs::Plus).unwrap();
    assert!(!modification.takes_rows());
    let [l, to, v] = [257 * 257 * 2 + 1, 257 * 257 * 2, 257 * 2]
        .map(|entries| DeviceMatrix::from_host(&device, &Mat::<f64>::zeros(entries, 1)).unwrap());
    let words = modification.scratch_bytes().div_ceil(8);
    let scratch = DeviceMatrix::from_host(&device, &Mat::<f64>::zeros(words, 1)).unwrap();
    for by_rows in [[true, false], [false, true]] {
        let operands = StreamOperands {
            l: l.view().address(),
            l_matrix: 257 * 257,
            l_by_rows: by_rows[0],
            v: v.view().address(),
            v_strides: [257, 1, 257],
            weights: 0,
            weights_matrix: 0,
            to: to.view().address(),
            to_by_rows: by_rows[1],
            ok: l.view().address() + 257 * 257 * 16,
            nan: false,
        };
        // SAFETY: the default stream, and memory that exists; nothing is enqueued.
        let refused = unsafe { modification.enqueue(0, &operands, scratch.view().address()) }.unwrap_err();
        assert!(refused.to_string().contains("by columns"), "{refused}");
    }
}

#[test]
fn more_sweeps_than_a_launch_has_meet_the_contract() {
    let Some((_turn, engine)) = resident() else { return };
    let device = device().unwrap();
    // The order is odd, so that L is swept in a copy; there are two launches, and the sign changes in the first.
    for (n, k) in [(129, 300), (130, 520)] {
        let problem = Problem::<f64>::feasible(n, k, Kind::Up, 0.3, 90);
        let given = Given::one(&problem.l, &problem.v, &problem.weights);
        let (found, ok) = modified(&device, &given, Signs::Plus, false).remove(0);
        let expected = by_the_class(&engine, &problem.l, &problem.v, Weights::Plus);
        assert!(ok && bits(found.as_ref()) == bits(expected.as_ref()), "{n} {k}");
        let mut observed = Observed::recorded(10.0);
        let (found, ok) = modified(&device, &given, Signs::Any, false).remove(0);
        assert!(ok);
        observed.check(found.as_ref(), &problem, (n, k));
    }
}

#[test]
fn nothing_is_done_for_matrices_without_entries() {
    let Some((_turn, _)) = resident() else { return };
    let device = device().unwrap();
    let ok = DeviceMatrix::from_host(&device, &Mat::from_fn(1, 1, |_, _| f32::NAN)).unwrap();
    for count in [0, 3] {
        let modification = StreamModification::<f64>::new(&device, [count, 0, 2], Signs::Any).unwrap();
        assert_eq!(modification.scratch_bytes(), 0);
        let operands = StreamOperands {
            l: 0,
            l_matrix: 0,
            l_by_rows: false,
            v: 0,
            v_strides: [0; 3],
            weights: 0,
            weights_matrix: 0,
            to: 0,
            to_by_rows: false,
            ok: ok.view().address(),
            nan: false,
        };
        // SAFETY: the default stream, and memory that exists until it has been waited for.
        unsafe {
            modification.enqueue(0, &operands, 0).unwrap();
            stream::synchronize(core::ptr::null_mut()).unwrap();
        }
        let found = ok.to_host().unwrap()[(0, 0)].to_bits();
        let expected =
            if count == 0 { f32::NAN.to_bits() } else { (f32::NAN.to_bits() & 0xff00_0000) | 0x01_0101 };
        assert_eq!(found, expected);
    }
    let refused = StreamModification::<f64>::new(&device, [1, 1, 1 << 30], Signs::Plus).unwrap_err();
    assert!(matches!(refused, Error::OutOfRange { argument: "v", .. }), "{refused:?}");
}
