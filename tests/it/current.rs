//! The CUDA context that is current on a thread, by which other code there knows on which device to work.

use crate::support::cuda::fake_cuda;
use cholupdate::cuda::{self, Device, Resident, keeping_current_context};
use cholupdate::{BatchMut, BatchRef, Cholesky};
use cudarc::driver::result::ctx;
use cudarc::driver::{CudaContext, sys};
use std::panic::{AssertUnwindSafe, catch_unwind};

const A: [f64; 4] = [4.0, 2.0, 2.0, 5.0];

/// Makes a batch and a factor on the second device, modifies and frees them.
fn on_the_second() {
    let device = Device::new(1).unwrap();
    let a = BatchRef::by_rows(&A, [1, 2, 2]).unwrap();
    let v = BatchRef::by_rows(&[1.0, 0.5], [1, 2, 1]).unwrap();
    let mut batch = cuda::CholeskyBatch::new(&device, a).unwrap();
    assert!(batch.update(v).unwrap().failed().unwrap().is_empty());
    let mut x = [1.0, 2.0];
    batch.solve_in_place(BatchMut::by_rows(&mut x, [1, 2, 1]).unwrap()).unwrap();
    let a = cholupdate::faer::MatRef::from_column_major_slice(&A, 2, 2);
    let mut factor = Cholesky::new_in(a, Resident::new(&device)).unwrap();
    factor.update(&[1.0, 0.5]).unwrap();
}

fn current() -> Option<sys::CUcontext> {
    ctx::get_current().unwrap()
}

#[test]
fn work_on_another_device_leaves_the_first_one_current() {
    let Some(_fake) = fake_cuda::exclusive() else { return };
    Device::new(0).unwrap();
    let first = CudaContext::new(0).unwrap();
    let before = Some(first.cu_ctx());
    assert_eq!(current(), before);
    keeping_current_context(on_the_second);
    assert_eq!(current(), before);
    keeping_current_context(|| {
        on_the_second();
        let inside = current();
        assert_ne!(inside, before);
        keeping_current_context(|| drop(Device::new(2).unwrap()));
        assert_eq!(current(), inside);
    });
    assert_eq!(current(), before);
    // If no caller asks for its context back, the device stays current.
    on_the_second();
    assert_ne!(current(), before);
}

#[test]
fn a_thread_without_a_current_device_has_none_afterwards() {
    let Some(_fake) = fake_cuda::exclusive() else { return };
    let work = || {
        assert_eq!(current(), None);
        keeping_current_context(on_the_second);
        assert_eq!(current(), None);
    };
    std::thread::scope(|scope| scope.spawn(work).join().unwrap());
}

#[test]
fn a_panic_leaves_the_first_one_current() {
    let Some(_fake) = fake_cuda::exclusive() else { return };
    Device::new(0).unwrap();
    let first = CudaContext::new(0).unwrap();
    let call = || {
        on_the_second();
        panic!("after some work");
    };
    let ended: Result<(), _> = catch_unwind(AssertUnwindSafe(|| keeping_current_context(call)));
    assert!(ended.is_err());
    assert_eq!(current(), Some(first.cu_ctx()));
}
