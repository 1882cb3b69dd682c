//! The rooms against what they promise, on a device where there is one.

use super::device::Device;
use super::kernels::{Kernels, Trailing, reflector_stride};
use super::memory::{DeviceBuffer, Event, Pinned, Stream};
use super::tuning::Tuning;
use crate::error::Error;
use crate::scalar::Scalar;
use core::ops::Range;

#[cfg(feature = "fake-cuda")]
#[path = "../../tests/fake_cuda/mod.rs"]
pub(super) mod fake_cuda;

/// Holds off the tests that change how the fake driver behaves.
#[cfg(feature = "fake-cuda")]
type Turn = fake_cuda::Shared;
#[cfg(not(feature = "fake-cuda"))]
struct Turn;

/// The first device. Without one the test says so, or fails if it was to have one.
fn device() -> Option<(Turn, Device)> {
    #[cfg(feature = "fake-cuda")]
    let turn = fake_cuda::shared();
    #[cfg(not(feature = "fake-cuda"))]
    let turn = Turn;
    match Device::new(0) {
        Ok(device) => Some((turn, device)),
        Err(error) if std::env::var_os("CHOLUPDATE_REQUIRE_CUDA").is_some_and(|value| value == "1") => {
            panic!("CHOLUPDATE_REQUIRE_CUDA is set, but: {error}")
        }
        Err(error) => {
            eprintln!("SKIPPED, for want of a device: {error}");
            None
        }
    }
}

/// Entries in [-1, 1), always the same.
fn entries<T: Scalar>(seed: u64, len: usize) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        T::from_f64((state >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
    };
    (0..len).map(|_| next()).collect()
}

#[test]
fn a_device_that_is_not_there_is_an_error() {
    #[cfg(feature = "fake-cuda")]
    let _turn = fake_cuda::shared();
    let error = Device::new(usize::MAX).unwrap_err();
    assert!(matches!(&error, Error::Device { message } if !message.is_empty()), "{error:?}");
}

#[test]
fn a_device_tells_what_it_is() {
    let Some((_turn, device)) = device() else { return };
    let (free, all) = device.memory_bytes().unwrap();
    assert!(free <= all && all > 0);
    assert!(device.multiprocessors() > 0 && !device.name().is_empty());
    assert!(format!("{device:?}").contains(device.name()));
    Tuning::for_device(&device).validate().unwrap();
}

#[test]
fn more_memory_than_there_is_is_an_error() {
    let Some((_turn, device)) = device() else { return };
    for len in [usize::MAX, usize::MAX / 16] {
        assert!(matches!(DeviceBuffer::<f64>::new(&device, len), Err(Error::Device { .. })));
        assert!(matches!(Pinned::<f64>::new(&device, len), Err(Error::Device { .. })));
    }
    assert_eq!(DeviceBuffer::<f32>::new(&device, 0).unwrap().len(), 0);
    assert_eq!(Pinned::<f32>::new(&device, 0).unwrap().as_slice(), []);
}

#[test]
fn parts_of_memory_go_to_the_device_and_back() {
    let Some((_turn, device)) = device() else { return };
    let (up, down, arrived) =
        (Stream::new(&device).unwrap(), Stream::new(&device).unwrap(), Event::new(&device).unwrap());
    let mut source = Pinned::<f64>::new(&device, 1000).unwrap();
    source.as_mut_slice().copy_from_slice(&entries(1, 1000));
    let target = Pinned::<f64>::new(&device, 1000).unwrap();
    let buffer = DeviceBuffer::<f64>::new(&device, 500).unwrap();
    // SAFETY: the slices are 300 long, `down` waits for `up`, and nobody comes near the memory before both
    // are done.
    unsafe {
        up.upload(&source, 100..400, buffer.slice(7..307)).unwrap();
        arrived.record(&up).unwrap();
        down.wait(&arrived).unwrap();
        down.download(buffer.slice(7..307), &target, 600..900).unwrap();
        down.upload(&source, 5..5, buffer.slice(0..0)).unwrap();
    }
    down.synchronize().unwrap();
    arrived.synchronize().unwrap();
    assert_eq!(target.as_slice()[600..900], source.as_slice()[100..400]);
    assert!(target.as_slice()[..600].iter().chain(&target.as_slice()[900..]).all(|&x| x == 0.0));
}

/// One pass over a panel, in host memory.
struct Pass<T> {
    panel: Vec<T>,
    panel_stride: usize,
    v: Vec<T>,
    v_stride: usize,
    reflectors: Vec<T>,
    cols: usize,
    passes: usize,
    lanes: usize,
    plus: usize,
    rows: Range<usize>,
}

impl<T: Scalar> Pass<T> {
    fn new(elements: usize, cols: usize, [passes, lanes, plus]: [usize; 3], rows: Range<usize>) -> Self {
        let (panel_stride, v_stride) = (rows.end + 3, rows.end + 5);
        Self {
            panel: entries(1, cols * panel_stride),
            panel_stride,
            v: entries(2, passes * lanes * elements * v_stride),
            v_stride,
            reflectors: entries(3, passes * cols * lanes * reflector_stride::<T>(elements)),
            cols,
            passes,
            lanes,
            plus,
            rows,
        }
    }

    /// The equations of `trailing.cu` in its order of operations, so that every bit agrees.
    fn on_host(&mut self, elements: usize, fma: impl Fn(T, T, T) -> T) {
        let Self { passes, lanes, plus, cols, v_stride, .. } = *self;
        let width = lanes * elements;
        let mixed = plus > 0 && plus < passes * width;
        let sign = if plus > 0 { T::ONE } else { -T::ONE };
        let stride = reflector_stride::<T>(elements);
        for (pass, i) in (0..passes).flat_map(|pass| self.rows.clone().map(move |i| (pass, i))) {
            let signed = |r: usize, b: T| if mixed && pass * width + r >= plus { -b } else { b };
            let v = &mut self.v[pass * width * v_stride..];
            for j in 0..cols {
                let row = &self.reflectors[(pass * cols + j) * lanes * stride..];
                let b = |r: usize| row[r / elements * stride + r % elements];
                let mut dots: Vec<T> = (0..lanes)
                    .map(|lane| {
                        let product = |r: usize| (v[i + r * v_stride], signed(r, b(r)));
                        let first = lane * elements;
                        let mut sums: [T; 4] = core::array::from_fn(|r| {
                            let (v, b) = product(first + r);
                            v * b
                        });
                        for r in 4..elements {
                            let (v, b) = product(first + r);
                            sums[r % 4] = fma(v, b, sums[r % 4]);
                        }
                        (sums[0] + sums[1]) + (sums[2] + sums[3])
                    })
                    .collect();
                let mut other = 1;
                while other < lanes {
                    dots = (0..lanes).map(|lane| dots[lane] + dots[lane ^ other]).collect();
                    other *= 2;
                }
                let l = &mut self.panel[i + j * self.panel_stride];
                let u = row[elements] * fma(sign, dots[0], *l);
                *l = u - *l;
                for r in 0..width {
                    let v = &mut v[i + r * v_stride];
                    *v = fma(-u, b(r), *v);
                }
            }
        }
    }

    fn on_device(&mut self, device: &Device, tuning: &Tuning) {
        let kernels = Kernels::<T>::load(device).unwrap();
        let stream = Stream::new(device).unwrap();
        let mut homes = [&self.panel, &self.v, &self.reflectors].map(|part| {
            let mut pinned = Pinned::new(device, part.len()).unwrap();
            pinned.as_mut_slice().copy_from_slice(part);
            (pinned, DeviceBuffer::<T>::new(device, part.len()).unwrap())
        });
        // SAFETY: one stream does everything, and nobody comes near the memory before it is done.
        unsafe {
            for (pinned, buffer) in &homes {
                stream.upload(pinned, 0..pinned.len(), buffer.slice(0..buffer.len())).unwrap();
            }
            let [panel, v, reflectors] = homes.each_ref().map(|(_, buffer)| buffer.slice(0..buffer.len()));
            let step = Trailing {
                panel,
                panel_stride: self.panel_stride,
                v,
                v_stride: self.v_stride,
                reflectors,
                cols: self.cols,
                passes: self.passes,
                lanes: self.lanes,
                elements: tuning.elements_per_thread,
                plus: self.plus,
                rows: self.rows.clone(),
            };
            kernels.trailing(&stream, &step, tuning).unwrap();
            for (pinned, buffer) in &homes {
                stream.download(buffer.slice(0..buffer.len()), pinned, 0..pinned.len()).unwrap();
            }
        }
        stream.synchronize().unwrap();
        let [panel, v, _] = homes.each_mut().map(|(pinned, _)| pinned.as_slice().to_vec());
        (self.panel, self.v) = (panel, v);
    }
}

fn trailing_agrees<T: Scalar>(fma: impl Fn(T, T, T) -> T + Copy) {
    let Some((_turn, device)) = device() else { return };
    for elements_per_thread in [4, 8, 16, 32] {
        let all = elements_per_thread;
        for (cols, [passes, lanes, plus], rows, threads_per_block) in [
            (8, [1, 1, all], 0..1, 32),
            (24, [1, 1, 0], 5..300, 64),
            (64, [2, 1, 2 * all], 13..141, 32),
            (304, [3, 1, 0], 0..40, 128),
            (72, [1, 1, 1], 2..90, 64),
            (16, [3, 1, all + 2], 0..33, 32),
            (8, [1, 1, all], 9..9, 32),
            (24, [1, 2, 2 * all], 3..77, 32),
            (40, [2, 4, 3 * all + 1], 0..21, 64),
            (16, [1, 8, 0], 1..50, 32),
            (16, [2, 8, 16 * all], 0..9, 32),
        ] {
            // Two blocks a launch: most of these take several launches.
            let tuning =
                Tuning { blocks_per_kernel: 2, threads_per_block, elements_per_thread, ..Tuning::walder() };
            let mut expected = Pass::<T>::new(elements_per_thread, cols, [passes, lanes, plus], rows.clone());
            let mut found = Pass::<T>::new(elements_per_thread, cols, [passes, lanes, plus], rows);
            // Smaller reflectors: the entries stay of the order of one.
            for pass in [&mut expected, &mut found] {
                pass.reflectors.iter_mut().for_each(|x| *x *= T::from_f64(0.25));
                // Every lane has the same rho.
                let stride = reflector_stride::<T>(elements_per_thread);
                for column in pass.reflectors.chunks_exact_mut(pass.lanes * stride) {
                    let rho = column[elements_per_thread];
                    column.chunks_exact_mut(stride).for_each(|lane| lane[elements_per_thread] = rho);
                }
            }
            expected.on_host(elements_per_thread, fma);
            found.on_device(&device, &tuning);
            let what = format!("{elements_per_thread} elements, {cols} columns, {lanes} lanes");
            assert!(expected.panel == found.panel, "L: {what}");
            assert!(expected.v == found.v, "V: {what}");
        }
    }
}

#[test]
fn the_trailing_step_agrees_bit_for_bit_in_double_precision() {
    trailing_agrees::<f64>(f64::mul_add);
}

#[test]
fn the_trailing_step_agrees_bit_for_bit_in_single_precision() {
    trailing_agrees::<f32>(f32::mul_add);
}

#[test]
fn the_trailing_step_refuses_a_tuning_that_is_not_valid() {
    let Some((_turn, device)) = device() else { return };
    let kernels = Kernels::<f64>::load(&device).unwrap();
    let stream = Stream::new(&device).unwrap();
    let buffer = DeviceBuffer::<f64>::new(&device, 64).unwrap();
    let part = buffer.slice(0..64);
    let step = Trailing {
        panel: part,
        panel_stride: 1,
        v: part,
        v_stride: 1,
        reflectors: part,
        cols: 8,
        passes: 1,
        lanes: 1,
        elements: 5,
        plus: 5,
        rows: 0..1,
    };
    let tuning = Tuning { elements_per_thread: 5, ..Tuning::walder() };
    // SAFETY: refused before anything is launched.
    let outcome = unsafe { kernels.trailing(&stream, &step, &tuning) };
    assert!(matches!(outcome, Err(Error::Tuning { field: "elements_per_thread", found: 5, .. })));
}
