//! The rooms against what they promise, on a device where there is one.

use super::device::Device;
use super::kernels::{ELEMENTS, Form, GROUP, Kernels, Trailing, reflector_stride, tensor_b};
use super::memory::{DeviceBuffer, Event, Pinned, Stream};
use super::tuning::Tuning;
use super::{factorize, solver};
use crate::error::Error;
use crate::factorize::blocked;
use crate::scalar::Scalar;
use core::ops::Range;
use faer::{Mat, Par};

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

/// The trailing step in host memory.
struct Step<T> {
    form: Form,
    elements: usize,
    panel: Vec<T>,
    panel_stride: usize,
    v: Vec<T>,
    v_stride: usize,
    /// b_j of each pass. (width × cols × passes)
    b: Vec<T>,
    /// ρ_j of each pass. (cols × passes)
    rho: Vec<T>,
    cols: usize,
    passes: usize,
    plus: usize,
    rows: Range<usize>,
}

impl<T: Scalar> Step<T> {
    fn new(form: Form, elements: usize, cols: usize, [passes, plus]: [usize; 2], rows: Range<usize>) -> Self {
        let (panel_stride, v_stride) = (rows.end + 3, rows.end + 5);
        let width = form.lanes() * elements;
        // Small ones: the entries stay of the order of one.
        let scaled = |mut x: Vec<T>, scale: f64| {
            x.iter_mut().for_each(|x| *x *= T::from_f64(scale));
            x
        };
        Self {
            form,
            elements,
            panel: entries(1, cols * panel_stride),
            panel_stride,
            v: entries(2, passes * width * v_stride),
            v_stride,
            b: scaled(entries(3, passes * cols * width), 0.5 / (width as f64).sqrt()),
            rho: scaled(entries(4, passes * cols), 0.25),
            cols,
            passes,
            plus,
            rows,
        }
    }

    fn width(&self) -> usize {
        self.form.lanes() * self.elements
    }

    fn mixed(&self) -> bool {
        self.plus > 0 && self.plus < self.passes * self.width()
    }

    /// Entry r of b_j with the sign of its column where signs are mixed.
    fn signed(&self, pass: usize, j: usize, r: usize) -> T {
        let b = self.b[(pass * self.cols + j) * self.width() + r];
        if self.mixed() && pass * self.width() + r >= self.plus { -b } else { b }
    }

    /// The sign of all columns where they have one.
    fn sign(&self) -> T {
        if self.plus > 0 { T::ONE } else { -T::ONE }
    }

    /// τ_ij for columns `first` + i and `first` + j.
    fn tau(&self, pass: usize, first: usize, i: usize, j: usize) -> T {
        let width = self.width();
        let products = (0..width)
            .map(|r| self.b[(pass * self.cols + first + i) * width + r] * self.signed(pass, first + j, r));
        let sum = products.fold(T::ZERO, |sum, x| sum + x);
        let sign = if self.mixed() { T::ONE } else { self.sign() };
        sign * sum * self.rho[pass * self.cols + first + j]
    }

    /// As the kernel takes them.
    fn reflectors(&self) -> Vec<T> {
        let (width, lanes, elements) = (self.width(), self.form.lanes(), self.elements);
        let scalars = self.form.group_scalars::<T>(elements);
        let mut all = Vec::new();
        for (pass, first) in (0..self.passes).flat_map(|p| (0..self.cols).step_by(GROUP).map(move |j| (p, j)))
        {
            let b = |j: usize, r: usize| self.b[(pass * self.cols + first + j) * width + r];
            let rho = |j: usize| self.rho[pass * self.cols + first + j];
            let mut group = vec![T::ZERO; scalars];
            for j in 0..GROUP {
                match self.form {
                    Form::Columns { .. } => {
                        let stride = reflector_stride::<T>(elements);
                        for lane in 0..lanes {
                            let row = &mut group[(j * lanes + lane) * stride..][..stride];
                            row.iter_mut().enumerate().for_each(|(r, x)| {
                                *x = if r < elements { b(j, lane * elements + r) } else { rho(j) };
                            });
                        }
                    }
                    Form::Tensor => {
                        (0..width).for_each(|r| group[tensor_b(j, r)] = b(j, r));
                        group[width * GROUP + GROUP * GROUP + j] = rho(j);
                        for i in 0..j {
                            group[width * GROUP + GROUP * i + j] = self.tau(pass, first, i, j);
                        }
                    }
                }
            }
            all.extend(group);
        }
        all
    }

    /// The equations of the kernel in its order of operations, so that every bit agrees.
    fn on_host(&mut self, fma: impl Fn(T, T, T) -> T + Copy) {
        for pass in 0..self.passes {
            for i in self.rows.clone() {
                match self.form {
                    Form::Columns { lanes } => self.by_column(pass, i, lanes, fma),
                    Form::Tensor => self.by_eight_columns(pass, i, fma),
                }
            }
        }
    }

    fn by_column(&mut self, pass: usize, i: usize, lanes: usize, fma: impl Fn(T, T, T) -> T) {
        let (width, elements, v_stride) = (self.width(), self.elements, self.v_stride);
        let at = |r: usize| i + (pass * width + r) * v_stride;
        for j in 0..self.cols {
            let mut dots: Vec<T> = (0..lanes)
                .map(|lane| {
                    let product = |r: usize| (self.v[at(r)], self.signed(pass, j, r));
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
            let sign = if self.mixed() { T::ONE } else { self.sign() };
            let l = self.panel[i + j * self.panel_stride];
            let u = self.rho[pass * self.cols + j] * fma(sign, dots[0], l);
            self.panel[i + j * self.panel_stride] = u - l;
            for r in 0..width {
                let b = self.b[(pass * self.cols + j) * width + r];
                self.v[at(r)] = fma(-u, b, self.v[at(r)]);
            }
        }
    }

    /// Tensor cores add one product after another, each sum rounded.
    fn by_eight_columns(&mut self, pass: usize, i: usize, fma: impl Fn(T, T, T) -> T) {
        let (width, v_stride) = (self.width(), self.v_stride);
        let at = |r: usize| i + (pass * width + r) * v_stride;
        let sign = if self.mixed() { T::ONE } else { self.sign() };
        for first in (0..self.cols).step_by(GROUP) {
            let mut u: [T; GROUP] = core::array::from_fn(|j| {
                let mut sums = [T::ZERO; 4];
                for r in 0..width {
                    let sum = &mut sums[r / 4 % 4];
                    *sum = fma(self.v[at(r)], self.signed(pass, first + j, r), *sum);
                }
                let l = self.panel[i + (first + j) * self.panel_stride];
                let met = fma(sign, (sums[0] + sums[1]) + (sums[2] + sums[3]), l);
                self.rho[pass * self.cols + first + j] * met
            });
            for before in 0..GROUP {
                for j in before + 1..GROUP {
                    u[j] = fma(-self.tau(pass, first, before, j), u[before], u[j]);
                }
            }
            for (j, u) in u.into_iter().enumerate() {
                let l = &mut self.panel[i + (first + j) * self.panel_stride];
                *l = u - *l;
                for r in 0..width {
                    let b = self.b[(pass * self.cols + first + j) * width + r];
                    self.v[at(r)] = fma(-u, b, self.v[at(r)]);
                }
            }
        }
    }

    fn on_device(&mut self, device: &Device, tuning: &Tuning) {
        let kernels = Kernels::<T>::load(device).unwrap();
        let stream = Stream::new(device).unwrap();
        let reflectors = self.reflectors();
        let mut homes = [&self.panel, &self.v, &reflectors].map(|part| {
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
                form: self.form,
                elements: self.elements,
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

fn trailing_agrees<T: Scalar>(forms: &[Form], fma: impl Fn(T, T, T) -> T + Copy) {
    let Some((_turn, device)) = device() else { return };
    for (&form, elements_per_thread) in forms.iter().flat_map(|form| ELEMENTS.map(|e| (form, e))) {
        let all = form.lanes() * elements_per_thread;
        for (cols, [passes, plus], rows, threads_per_block) in [
            (8, [1, all], 0..1, 32),
            (24, [1, 0], 5..300, 64),
            (64, [2, 2 * all], 13..141, 32),
            (104, [3, 0], 0..40, 128),
            (72, [1, 1], 2..90, 64),
            (16, [3, all + 2], 0..33, 32),
            (8, [1, all], 9..9, 32),
            (40, [2, all + 1], 0..21, 64),
        ] {
            // Two blocks a launch: most of these take several launches.
            let tuning =
                Tuning { blocks_per_kernel: 2, threads_per_block, elements_per_thread, ..Tuning::walder() };
            let step = || Step::<T>::new(form, elements_per_thread, cols, [passes, plus], rows.clone());
            let (mut expected, mut found) = (step(), step());
            expected.on_host(fma);
            found.on_device(&device, &tuning);
            let what = format!("{form:?}, {elements_per_thread} elements, {cols} columns, plus {plus}");
            assert!(expected.panel == found.panel, "L: {what}");
            assert!(expected.v == found.v, "V: {what}");
        }
    }
}

const BY_COLUMNS: [Form; 4] = [
    Form::Columns { lanes: 1 },
    Form::Columns { lanes: 2 },
    Form::Columns { lanes: 4 },
    Form::Columns { lanes: 8 },
];

#[test]
fn the_trailing_step_agrees_bit_for_bit_in_double_precision() {
    trailing_agrees::<f64>(&BY_COLUMNS, f64::mul_add);
}

#[test]
fn the_trailing_step_agrees_bit_for_bit_in_single_precision() {
    trailing_agrees::<f32>(&BY_COLUMNS, f32::mul_add);
}

#[test]
fn the_trailing_step_agrees_bit_for_bit_on_tensor_cores() {
    trailing_agrees::<f64>(&[Form::Tensor], f64::mul_add);
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
        form: Form::Columns { lanes: 1 },
        elements: 5,
        plus: 5,
        rows: 0..1,
    };
    let tuning = Tuning { elements_per_thread: 5, ..Tuning::walder() };
    // SAFETY: refused before anything is launched.
    let outcome = unsafe { kernels.trailing(&stream, &step, &tuning) };
    assert!(matches!(outcome, Err(Error::Tuning { field: "elements_per_thread", found: 5, .. })));
}

/// A = G Gᵀ + n I, lower triangle alone; what is above must not be looked at.
fn positive_definite<T: Scalar>(order: usize) -> Mat<T> {
    let g = entries::<T>(7, 3 * order);
    Mat::from_fn(order, order, |i, j| match i {
        _ if i < j => T::from_f64(f64::NAN),
        _ if i == j => T::from_f64(order as f64 + 3.0),
        _ => (0..3).fold(T::ZERO, |sum, r| sum + g[3 * i + r] * g[3 * j + r]),
    })
}

fn cusolver_factors<T: Scalar>(tolerance: f64) {
    let Some((_turn, device)) = device() else { return };
    if !solver::is_present() {
        return eprintln!("SKIPPED, for want of cuSOLVER");
    }
    // The last one goes over the link in several pieces.
    for order in [0, 1, 2, 31, 100, 2100] {
        let a = positive_definite::<T>(order);
        let mut expected = a.clone();
        blocked::factorize(expected.as_mut(), Par::Seq).unwrap();
        let mut found = a.clone();
        factorize::by_cusolver(&device, found.as_mut()).unwrap();
        for j in 0..order {
            assert!((0..j).all(|i| found[(i, j)] == T::ZERO), "above column {j}");
            for i in j..order {
                let difference = (found[(i, j)] - expected[(i, j)]).to_f64().abs();
                let size = expected[(i, i)].to_f64();
                assert!(difference <= tolerance * size, "order {order}, ({i}, {j}): {difference:e}");
            }
        }
    }
    for column in [0, 1, 29, 39] {
        let mut a = positive_definite::<T>(40);
        a[(column, column)] = T::from_f64(-1.0);
        let error = factorize::by_cusolver(&device, a.as_mut()).unwrap_err();
        assert_eq!(error, Error::NotPositiveDefinite { column });
    }
}

#[test]
fn cusolver_factors_as_the_cpu_does() {
    cusolver_factors::<f64>(1e-13);
    cusolver_factors::<f32>(1e-4);
}
