//! A thread with one mebibyte of stack suffices for every kernel, also in a build without optimization, where no variable shares
//! its memory with another. A test of its own, so that `cargo test --test stack` compiles little in that profile.

use cholupdate::faer::{Mat, c32, c64};
use cholupdate::{BatchMut, BatchRef, BatchWeights, Cholesky, CholeskyBatch, Cpu, RealScalar, Scalar};

const STACK: usize = 1 << 20;

/// Every verb with ranks that have kernels of their own.
fn every_kernel<T: RealScalar>() {
    let number = |x: f64| T::from_f64(x);
    for order in [1, 3, 8, 17, 64, 130, 200] {
        let a = Mat::from_fn(order, order, |i, j| number(if i == j { order as f64 + 5.0 } else { 0.3 }));
        for rank in [1, 2, 3, 4, 5, 8, 16, 17, 40] {
            let v = Mat::from_fn(order, rank, |i, r| number(((i * 7 + r * 3) % 11) as f64 / 11.0 - 0.5));
            let weights: Vec<_> = (0..rank).map(|r| number(if r % 2 == 0 { 1.0 } else { -0.01 })).collect();
            let mut factor = Cholesky::new_in(&a, Cpu::threads(2)).unwrap();
            factor.update(&v).unwrap();
            factor.downdate(&v).unwrap();
            factor.modify(&v, &weights[..]).unwrap();
            if order > 3 {
                factor.remove(&[1, 2]).unwrap();
                factor.shift(0, order - 3).unwrap();
                factor.shift(order - 3, 0).unwrap();
            }
            factor.solve(&Mat::<T>::zeros(factor.order(), 2)).unwrap();
            factor.condition().unwrap();
        }
    }
}

/// Every call on a batch, likewise, of more matrices than a register has lanes.
fn every_kernel_of_batches<T: Scalar<Part: From<f32>>>() {
    let part = |x: f64| T::Part::from(x as f32);
    let number = |x: f64| T::of_real(part(x));
    let count = 37;
    for order in [1, 3, 8, 17, 50] {
        let shape = [count, order, order];
        let a: Vec<T> = (0..count * order * order)
            .map(|at| number(if at / order % order == at % order { order as f64 + 5.0 } else { 0.3 }))
            .collect();
        let mut batch = CholeskyBatch::new(BatchRef::by_rows(&a, shape).unwrap()).unwrap();
        for rank in [1, 2, 3, 4, 5] {
            let v: Vec<T> =
                (0..count * order * rank).map(|at| number((at * 7 % 11) as f64 / 11.0 - 0.5)).collect();
            let v = BatchRef::by_rows(&v, [count, order, rank]).unwrap();
            let weights: Vec<T::Part> = (0..count * rank).map(|at| part([1.0, -0.01, 0.0][at % 3])).collect();
            batch.update(v).unwrap();
            batch.downdate(v).unwrap();
            batch.modify(v, BatchWeights::OfEach(&weights)).unwrap();
        }
        let mut x = vec![number(1.0); count * order * 2];
        batch.solve_in_place(BatchMut::by_rows(&mut x, [count, order, 2]).unwrap()).unwrap();
        batch.remove(&vec![0; count]).unwrap();
        batch.append(BatchRef::by_rows(&x[..count * order], [count, order, 1]).unwrap()).unwrap();
    }
}

#[test]
fn a_small_stack_suffices() {
    let works = [
        every_kernel::<f64>,
        every_kernel::<f32>,
        every_kernel_of_batches::<f64>,
        every_kernel_of_batches::<f32>,
        every_kernel_of_batches::<c64>,
        every_kernel_of_batches::<c32>,
    ];
    for work in works {
        std::thread::Builder::new().stack_size(STACK).spawn(work).unwrap().join().unwrap();
    }
}
