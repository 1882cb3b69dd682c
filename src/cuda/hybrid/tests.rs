//! Tests of the pipeline's internals: the purpose of each of its waits.

use crate::cuda::tests::fake_cuda::{Exclusive, exclusive};
use crate::cuda::{Device, Hybrid, Tuning};
use crate::guarded::Guarded;
use crate::history::History;
use crate::hybrid::waits::Wait;
use crate::hybrid::waits::omitted::{GATE, without};
use crate::operand::Operand;
use crate::storage::Storage;
use crate::sweep::weights::Weights;
use faer::Mat;
use std::sync::PoisonError;

const ORDER: usize = 83;
/// On tensor cores, in two rank blocks.
const RANK: usize = 20;

fn tuning(slots: usize) -> Tuning {
    Tuning { blocks_per_kernel: 1, threads_per_block: 32, elements_per_thread: 4, panel_cols: 8, slots }
}

/// The factor after an update and a downdate, with the streams interleaved by `seed`; `None` if the driver has detected an
/// error.
fn outcome(fake: &Exclusive, seed: u32, slots: usize) -> Option<Mat<f64>> {
    fake.seed(seed);
    let l = Mat::from_fn(ORDER, ORDER, |i, j| match i {
        _ if i == j => 3.0,
        _ if i > j => ((i * 7 + j * 3) % 11) as f64 / 11.0 - 0.5,
        _ => 0.0,
    });
    let v = Mat::from_fn(ORDER, RANK, |i, r| ((i * 5 + r * 13) % 17) as f64 / 17.0 - 0.4);
    let engine = Hybrid::new(&Device::new(0).ok()?, tuning(slots)).ok()?;
    let mut factor = Guarded::new(engine.factor(l).ok()?, 1.0, History::default());
    for weights in [Weights::Plus, Weights::Minus] {
        factor.modify(&Operand::Host(v.as_ref()), weights).ok()?;
    }
    let mut l = Mat::zeros(ORDER, ORDER);
    let read = factor.healthy().and_then(|factor| factor.read(l.as_mut()));
    // A sweep that has not waited for its end is completed here.
    without(None);
    factor.factor().drain();
    read.ok().map(|()| l)
}

/// The number of seeds for which the result without a wait is wrong.
fn wrong(fake: &Exclusive, expected: &Mat<f64>, wait: Option<Wait>, slots: usize) -> usize {
    let wrong = |seed| {
        without(wait);
        let got = outcome(fake, seed, slots);
        without(None);
        fake.reset();
        got.as_ref() != Some(expected)
    };
    (0..20).filter(|&seed| wrong(seed)).count()
}

#[test]
fn with_all_waits_every_interleaving_gives_the_same_bits() {
    let Some(fake) = exclusive() else { return };
    let expected = outcome(&fake, 1, 3).unwrap();
    for slots in [2, 3] {
        assert_eq!(wrong(&fake, &expected, None, slots), 0);
    }
}

#[test]
fn without_any_one_wait_some_interleaving_is_wrong() {
    let _alone = GATE.write().unwrap_or_else(PoisonError::into_inner);
    let Some(fake) = exclusive() else { return };
    let expected = outcome(&fake, 1, 3).unwrap();
    for missing in [
        Wait::SlotLeft,
        Wait::Arrived,
        Wait::Ready,
        Wait::Worked,
        Wait::WorkedAhead,
        Wait::Exported,
        Wait::Finished,
    ] {
        for slots in [2, 3] {
            let wrong = wrong(&fake, &expected, Some(missing), slots);
            println!("without {missing:?}, {slots} slots: {wrong} of 20 interleavings are wrong");
            assert!(wrong > 0, "without {missing:?} and with {slots} slots every interleaving is right");
        }
    }
}
