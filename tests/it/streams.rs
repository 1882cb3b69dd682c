//! Matrices in device memory that streams of another library write and read, before and after the calls.

use crate::support::cuda::{device, on_the_fake_driver, resident};
use crate::support::problem::{Kind, Problem};
use crate::support::real::bits;
use cholupdate::cuda::{Device, DeviceMatrix, DeviceView, DeviceViewMut};
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Weights};
use cudarc::driver::result::{self, stream};
use cudarc::driver::sys::CUstream;

const ORDER: usize = 64 * 4 + 9;
const COLUMNS: usize = 5;

/// A stream of another library, and memory whose writing takes some milliseconds, or little on the fake driver.
struct Theirs {
    stream: CUstream,
    scratch: DeviceMatrix<f64>,
}

impl Theirs {
    fn all(device: &Device) -> [Self; 2] {
        let len = if on_the_fake_driver() { 1 << 8 } else { 1 << 24 };
        let scratch = || DeviceMatrix::from_host(device, &Mat::zeros(len, 1)).unwrap();
        let own = stream::create(stream::StreamKind::NonBlocking).unwrap();
        // The default stream has a null handle.
        [own, core::ptr::null_mut()].map(|stream| Self { stream, scratch: scratch() })
    }

    fn name(&self) -> u64 {
        self.stream.addr() as u64
    }

    /// Queues a copy of a matrix to another of the same shape, after much other work.
    fn copy_late(&self, from: &DeviceMatrix<f64>, to: &DeviceMatrix<f64>) {
        assert_eq!(from.shape(), to.shape());
        let bytes = from.shape().0 * from.shape().1 * size_of::<f64>();
        let len = self.scratch.shape().0 * size_of::<f64>();
        // SAFETY: all of them live until the stream has been waited for, and have this number of bytes.
        unsafe {
            for value in 0..50 {
                result::memset_d8_async(self.scratch.view().address(), value, len, self.stream).unwrap();
            }
            result::memcpy_dtod_async(to.view().address(), from.view().address(), bytes, self.stream)
                .unwrap();
        }
    }

    fn wait(&self) {
        // SAFETY: it lives.
        unsafe { stream::synchronize(self.stream) }.unwrap();
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        self.wait();
        if !self.stream.is_null() {
            // SAFETY: created here, and no work is on it any more.
            unsafe { stream::destroy(self.stream) }.unwrap();
        }
    }
}

fn view<'a>(of: &'a DeviceMatrix<f64>, theirs: &Theirs) -> DeviceView<'a, f64> {
    // SAFETY: a stream of the one device, which outlives the view.
    unsafe { of.view().on_stream(theirs.name()) }
}

fn view_mut<'a>(of: &'a mut DeviceMatrix<f64>, theirs: &Theirs) -> DeviceViewMut<'a, f64> {
    // SAFETY: as above.
    unsafe { of.view_mut().on_stream(theirs.name()) }
}

#[test]
fn calls_come_behind_what_is_there_and_before_what_follows() {
    let Some((_turn, engine)) = resident() else { return };
    let device = device().unwrap();
    let problem = Problem::<f64>::feasible(ORDER, COLUMNS, Kind::Up, 0.3, 71);
    let anything = Mat::from_fn(ORDER, COLUMNS, |_, _| f64::NAN);
    let on_device = |a: &Mat<f64>| DeviceMatrix::from_host(&device, a).unwrap();
    let (good, nothing) = (on_device(&problem.v), on_device(&anything));
    for theirs in Theirs::all(&device) {
        for _ in 0..3 {
            let new = || Cholesky::from_factor_in(&problem.l, engine.clone()).unwrap();
            let (mut here, mut there) = (new(), new());
            let mut v = on_device(&anything);
            theirs.copy_late(&good, &v);
            here.update(view(&v, &theirs)).unwrap();
            theirs.copy_late(&nothing, &v);
            there.update(&problem.v).unwrap();
            // V has been copied when this returns.
            theirs.copy_late(&good, &v);
            let pending = here.submit(view(&v, &theirs), Weights::Minus).unwrap();
            theirs.copy_late(&nothing, &v);
            assert_eq!(pending.wait().unwrap(), there.downdate(&problem.v).unwrap());

            theirs.copy_late(&good, &v);
            here.solve_in_place(view_mut(&mut v, &theirs)).unwrap();
            let copy = on_device(&anything);
            theirs.copy_late(&v, &copy);
            let x = there.solve(&problem.v).unwrap();
            theirs.wait();
            assert_eq!(bits(copy.to_host().unwrap().as_ref()), bits(x.as_ref()));

            theirs.copy_late(&good, &v);
            let pending = here.submit(&problem.v, Weights::Plus).unwrap();
            let (modified, solved) = pending.solve_in_place(view_mut(&mut v, &theirs));
            assert_eq!((modified.unwrap(), solved), (there.update(&problem.v).unwrap(), Ok(())));
            theirs.copy_late(&v, &copy);
            let x = there.solve(&problem.v).unwrap();
            theirs.wait();
            assert_eq!(bits(copy.to_host().unwrap().as_ref()), bits(x.as_ref()));

            theirs.copy_late(&good, &v);
            assert_eq!(view(&v, &theirs).to_host().unwrap(), problem.v);
            theirs.copy_late(&nothing, &v);
            view_mut(&mut v, &theirs).copy_from_host(&problem.v).unwrap();
            assert_eq!(v.to_host().unwrap(), problem.v);
        }
    }
}

#[test]
fn the_factor_can_be_read_where_it_is() {
    let Some((_turn, engine)) = resident() else { return };
    let problem = Problem::<f64>::feasible(ORDER, COLUMNS, Kind::Up, 0.3, 72);
    let mut factor = Cholesky::from_factor_in(&problem.l, engine).unwrap();
    for rows in [ORDER, ORDER + 3] {
        let expected = factor.to_factor().unwrap();
        let view = factor.l_on_device().unwrap();
        assert_eq!(view.shape(), (rows, rows));
        let found = view.to_host().unwrap();
        for j in 0..rows {
            assert_eq!(found.col(j).subrows(j, rows - j), expected.col(j).subrows(j, rows - j));
        }
        factor.update(&Mat::from_fn(rows, 2, |i, j| (i + j) as f64 / 100.0)).unwrap();
        factor.append(&Mat::zeros(rows, 3), &Mat::<f64>::identity(3, 3)).unwrap();
    }
}
