//! One call of the driver fails, or some in a row, anywhere in any verb: the result is then reported correctly, and later calls
//! are correct.
//!
//! A failing call does nothing here, and does not wait: copies and kernels that it should wait for are still in flight, and run
//! later in any order. Reusing their memory meanwhile gives wrong numbers.

use crate::support::cuda::fake_cuda::{Exclusive, exclusive};
use crate::support::cuda::{device, small};
use crate::support::problem::{contraction, factor, rng, uniform};
use crate::support::real::bits;
use cholupdate::cuda::{Device, DeviceMatrix, Distributed, Hybrid, Resident};
use cholupdate::faer::{Mat, MatRef};
use cholupdate::{Carried, Cholesky, Engine, Error, Weights};

/// Three panels of the hybrid engine, and one of the resident engine: there are many calls, so each must be short.
const ORDER: usize = 40;
/// `CUDA_ERROR_OPERATING_SYSTEM`, as an arbitrary error; and out of memory, which has fallbacks.
const SOME_ERROR: i32 = 304;
const OUT_OF_MEMORY: i32 = 2;

/// The arguments of the verbs.
struct Given {
    l: Mat<f64>,
    /// Small enough that A remains positive definite after all downdates.
    v: Mat<f64>,
    rhs: Mat<f64>,
    /// Further rows and columns, and rows of A that replace others.
    cross: Mat<f64>,
    corner: Mat<f64>,
    columns: Mat<f64>,
    /// V and right-hand sides in device memory.
    v_there: DeviceMatrix<f64>,
}

impl Given {
    fn new() -> Self {
        let rng = &mut rng(71);
        let l = factor(ORDER, rng);
        let v = &l * contraction(ORDER, 3, 0.6, rng);
        let cross = &l * uniform(ORDER, 2, rng) * cholupdate::faer::Scale(0.05);
        let corner = Mat::from_fn(2, 2, |i, j| if i == j { 3.0 } else { 0.5 });
        let columns = Mat::from_fn(ORDER, 2, |i, j| match i {
            20 | 21 => corner[(i - 20, j)],
            _ => cross[(i, j)] / 4.0,
        });
        let rhs = uniform(ORDER, 2, rng);
        let v_there = DeviceMatrix::from_host(&device().unwrap(), &v).unwrap();
        Self { l, v, rhs, cross, corner, columns, v_there }
    }

    fn inserted(&self) -> Mat<f64> {
        Mat::from_fn(ORDER + 2, 2, |i, j| match i {
            0..20 => self.cross[(i, j)] / 4.0,
            20 | 21 => self.corner[(i - 20, j)],
            _ => self.cross[(i - 2, j)] / 4.0,
        })
    }
}

type F<E> = Cholesky<f64, E>;
/// A verb, and what it returns, as bits.
type Verb<E> = (&'static str, fn(&mut F<E>, &Given) -> Result<Vec<u64>, Error>);

/// The result of a solve that failed after a successful modification: the state of the factor is known.
const UNKNOWN: [u64; 1] = [u64::MAX];

fn nothing<X>(_: X) -> Vec<u64> {
    Vec::new()
}

fn owned(x: Mat<f64>) -> Vec<u64> {
    bits(x.as_ref())
}

/// In host memory: b if the solve fails, otherwise the solution.
fn solved<E: Engine<f64>>(f: &mut F<E>, given: &Given) -> Result<Vec<u64>, Error> {
    let mut x = given.rhs.clone();
    f.solve_in_place(&mut x).inspect_err(|_| assert!(bits(x.as_ref()) == bits(given.rhs.as_ref())))?;
    Ok(owned(x))
}

fn verbs<E: Engine<f64>>() -> Vec<Verb<E>> {
    let all: &[Verb<E>] = &[
        ("update", |f, given| f.update(&given.v).map(nothing)),
        ("downdate", |f, given| f.downdate(&given.v).map(nothing)),
        ("modify", |f, given| f.modify(&given.v, &[0.5, -0.5, 1.0]).map(nothing)),
        ("of which one breaks down", |f, given| {
            let far = Mat::from_fn(ORDER, 1, |i, _| 1e3 * given.v[(i, 0)]);
            match f.downdate(&far) {
                Err(Error::NotPositiveDefinite { .. }) => Ok(Vec::new()),
                other => other.map(|_| panic!("it does not break down")),
            }
        }),
        ("submit", |f, given| f.submit(&given.v, Weights::Minus)?.wait().map(nothing)),
        ("submit and solve", |f, given| {
            let mut x = given.rhs.clone();
            let (modified, solved) = f.submit(&given.v, Weights::Minus)?.solve_in_place(&mut x);
            modified?;
            Ok(if solved.is_ok() { owned(x) } else { UNKNOWN.to_vec() })
        }),
        ("can_downdate", |f, given| f.can_downdate(&given.v).map(|can| vec![u64::from(can)])),
        ("modify_scaled", |f, given| f.modify_scaled(0.9, &given.v, &[1.0; 3]).map(nothing)),
        ("modify_carrying", |f, given| {
            let mut carried = Carried { z: uniform(ORDER, 1, &mut rng(72)), squares: vec![1e3] };
            f.modify_carrying(1.0, &given.v, &[1.0; 3], &[0.1, 0.2, 0.3], &mut carried)?;
            Ok(owned(carried.z))
        }),
        ("append", |f, given| f.append(&given.cross, &given.corner).map(nothing)),
        ("insert", |f, given| f.insert(20, &given.inserted()).map(nothing)),
        ("replace", |f, given| f.replace(20, &given.columns).map(nothing)),
        ("remove", |f, _| f.remove(&[3, 30]).map(nothing)),
        ("shift forwards", |f, _| f.shift(5, 35).map(nothing)),
        ("shift backwards", |f, _| f.shift(35, 5).map(nothing)),
        ("reserve", |f, _| f.reserve(50).map(nothing)),
        ("solve", solved),
        ("solve_lt", |f, given| f.solve_lt(&given.rhs).map(owned)),
        ("to_factor", |f, _| f.to_factor().map(owned)),
        ("extension", |f, given| {
            let more = f.extension(&given.cross, &given.corner)?;
            more.solve(&uniform(ORDER + 2, 1, &mut rng(73))).map(owned)
        }),
    ];
    all.to_vec()
}

fn verbs_there() -> Vec<Verb<Resident>> {
    let all: &[Verb<Resident>] = &[
        ("update with V there", |f, given| f.update(&given.v_there).map(nothing)),
        ("modify with V there", |f, given| f.modify(&given.v_there, &[0.5, -0.5, 1.0]).map(nothing)),
        ("solve there", |f, given| {
            let mut x = given.v_there.view().to_matrix()?;
            f.solve_in_place(&mut x)?;
            x.to_host().map(owned)
        }),
        ("submit and solve there", |f, given| {
            let mut x = given.v_there.view().to_matrix()?;
            let (modified, solved) = f.submit(&given.v_there, Weights::Minus)?.solve_in_place(&mut x);
            modified?;
            Ok(if solved.is_ok() { x.to_host().map_or(UNKNOWN.to_vec(), owned) } else { UNKNOWN.to_vec() })
        }),
        ("append from there", |f, given| {
            let [cross, corner] =
                [&given.cross, &given.corner].map(|a| DeviceMatrix::from_host(f.engine().device(), a));
            f.append(&cross?, &corner?).map(nothing)
        }),
        ("insert from there", |f, given| {
            f.insert(20, &DeviceMatrix::from_host(f.engine().device(), &given.inserted())?).map(nothing)
        }),
        ("replace from there", |f, given| {
            f.replace(20, &DeviceMatrix::from_host(f.engine().device(), &given.columns)?).map(nothing)
        }),
        ("to_factor_on_device", |f, _| f.to_factor_on_device()?.to_host().map(owned)),
        ("reconstruct_on_device", |f, _| f.reconstruct_on_device()?.to_host().map(owned)),
        ("l_on_device", |f, _| f.l_on_device()?.to_host().map(|l| owned(lower(l.as_ref())))),
    ];
    all.to_vec()
}

fn lower(l: MatRef<'_, f64>) -> Mat<f64> {
    Mat::from_fn(l.nrows(), l.ncols(), |i, j| if i >= j { l[(i, j)] } else { 0.0 })
}

/// The results of the next three calls, for a factor of any order.
fn next<E: Engine<f64>>(f: &mut F<E>, order: usize) -> Vec<Result<Vec<u64>, Error>> {
    let n = f.order();
    let solve = |f: &mut F<E>| f.solve(&uniform(n, 3, &mut rng(74))).map(owned);
    let read = |f: &mut F<E>| f.to_factor().map(owned);
    let update = |f: &mut F<E>| f.update(&uniform(n, 2, &mut rng(75))).map(nothing);
    let downdate = |f: &mut F<E>| {
        let v = Mat::from_fn(n, 1, |i, _| if i + 3 > n { 0.1 } else { 0.0 });
        f.downdate(&v).map(nothing)
    };
    let append = |f: &mut F<E>| f.append(&vec![0.01; n], &[4.0]).map(nothing);
    match order {
        0 => vec![solve(f), update(f), read(f)],
        1 => vec![read(f), append(f), read(f)],
        2 => vec![update(f), solve(f), read(f)],
        _ => vec![downdate(f), read(f), solve(f)],
    }
}

const ORDERS: usize = 4;

/// A factor that has been used, so that its memory is there, or a new one.
fn fresh<E: Engine<f64> + Clone>(engine: &E, given: &Given, used: bool) -> F<E> {
    let mut f = Cholesky::from_factor_in(&given.l, engine.clone()).unwrap();
    if used {
        f.downdate(&Mat::from_fn(ORDER, 3, |i, j| given.v[(i, j)] / 2.0)).unwrap();
        f.solve(&given.rhs).unwrap();
        // If the engine takes it, the sweep of the next V in device memory begins before it is known to be valid.
        let _ = f.update(&given.v_there);
    }
    f
}

/// The failing calls of the driver: in turn every `stride`-th call of a verb from the `first` on and `count` calls from it on, with
/// this error.
#[derive(Clone, Copy, Debug)]
struct Failing {
    used: bool,
    first: u64,
    stride: u64,
    count: u64,
    error: i32,
}

const FAILING: [Failing; 3] = [
    Failing { used: true, first: 0, stride: 1, count: 1, error: SOME_ERROR },
    // Until the verb has returned: no wait succeeds.
    Failing { used: true, first: 0, stride: 5, count: u64::MAX, error: SOME_ERROR },
    Failing { used: false, first: 0, stride: 7, count: 1, error: OUT_OF_MEMORY },
];

/// The number of times that a verb returned an error.
fn failures<E: Engine<f64> + Clone>(
    fake: &Exclusive,
    engine: &E,
    given: &Given,
    (name, verb): Verb<E>,
    failing: Failing,
) -> usize {
    let Failing { used, first, stride, count, error } = failing;
    let expected = |order: usize, changed: bool| {
        let mut f = fresh(engine, given, used);
        let returned = if changed { verb(&mut f, given).unwrap() } else { Vec::new() };
        (returned, next(&mut f, order))
    };
    let all: Vec<_> =
        (0..ORDERS).map(|order| [false, true].map(|changed| expected(order, changed))).collect();
    let mut failed = 0;
    for (number, at) in (first..).step_by(stride as usize).enumerate() {
        fake.seed(at as u32 + 1);
        let mut f = fresh(engine, given, used);
        fake.reset_stats();
        fake.fail_calls(at, count, error);
        let outcome = verb(&mut f, given);
        fake.fail_calls(0, 0, 0);
        if fake.stats().calls <= at {
            outcome.unwrap();
            break;
        }
        let what = format!("{name}, call {at}, {failing:?}: {outcome:?}");
        let order = number % ORDERS;
        let [old, new] = &all[order];
        let found = next(&mut f, order);
        failed += usize::from(outcome.is_err());
        match &outcome {
            Ok(returned) => {
                assert!(*returned == new.0 || *returned == UNKNOWN, "{what}");
                assert!(found == new.1, "{what}: not the new factor");
            }
            Err(Error::Device { .. }) => {
                let lost = found.iter().all(|found| *found == Err(Error::Poisoned));
                assert!(lost || found == old.1, "{what}: neither lost nor the old factor");
            }
            Err(_) => panic!("{what}"),
        }
    }
    failed
}

/// With one in `share` of the failing calls of each verb, others for the next verb: most verbs make the same calls.
fn fails_anywhere<E: Engine<f64> + Clone>(engine: E, fake: &Exclusive, verbs: &[Verb<E>], share: u64) {
    let given = Given::new();
    let failed = verbs.iter().zip(0..).flat_map(|(&verb, first)| {
        let some = |all: Failing| Failing { first: first % share, stride: share * all.stride, ..all };
        FAILING.map(some).map(|failing| failures(fake, &engine, &given, verb, failing))
    });
    let failed: usize = failed.sum();
    assert!(failed as u64 * share > 10 * verbs.len() as u64, "{failed} failures are no experiment");
    // What a failing call did not free is freed with the devices.
    drop((engine, given));
    assert_eq!(fake.stats().live_bytes, 0);
}

#[test]
fn a_call_that_fails_never_leads_to_a_wrong_answer_of_the_resident_engine() {
    let Some(fake) = exclusive() else { return };
    let engine = Resident::new(&device().unwrap());
    fails_anywhere(engine, &fake, &[verbs(), verbs_there()].concat(), 3);
}

#[test]
fn a_call_that_fails_never_leads_to_a_wrong_answer_on_several_devices() {
    let Some(fake) = exclusive() else { return };
    let devices = [0, 1].map(|ordinal| Device::new(ordinal).unwrap());
    let engine = Distributed::new(&devices).unwrap().with_block_rows(128).unwrap();
    // One of each kind: there are several times as many calls as on one device.
    let some = |verb: &Verb<Distributed>| ["downdate", "append", "insert", "solve"].contains(&verb.0);
    let verbs: Vec<_> = verbs().into_iter().filter(some).collect();
    drop(devices);
    fails_anywhere(engine, &fake, &verbs, 3);
}

#[test]
fn a_call_that_fails_never_leads_to_a_wrong_answer_of_the_hybrid_engine() {
    let Some(fake) = exclusive() else { return };
    let engine = Hybrid::new(&device().unwrap(), small()).unwrap();
    fails_anywhere(engine, &fake, &verbs(), 1);
}
