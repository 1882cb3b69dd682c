//! Compares the trailing step with its equations, bit for bit.

use super::{device, entries};
use crate::cuda::device::Device;
use crate::cuda::hybrid::kernels::Kernels;
use crate::cuda::memory::{DeviceBuffer, Pinned};
use crate::cuda::stream::Stream;
use crate::hybrid::api::Trailing;
use crate::hybrid::blocking::Blocking;
use crate::hybrid::form::{COLUMN_GROUP, ELEMENTS, Form, reflector_stride, tensor_b};
use crate::hybrid::tuning::Tuning;
use crate::real::Real;
use crate::sweep::rank_blocks::RankBlocks;
use core::ops::Range;

/// The trailing step in host memory.
struct Step<T> {
    form: Form,
    elements: usize,
    panel: Vec<T>,
    panel_stride: usize,
    v: Vec<T>,
    v_stride: usize,
    /// b_j of each rank block. (width × cols × blocks)
    b: Vec<T>,
    /// s_j of each rank block, and x_j. (cols × blocks)
    s: Vec<T>,
    x: Vec<T>,
    cols: usize,
    blocks: usize,
    rows: Range<usize>,
}

impl<T: Real> Step<T> {
    fn new(form: Form, elements: usize, cols: usize, blocks: usize, rows: Range<usize>) -> Self {
        let (panel_stride, v_stride) = (rows.end + 3, rows.end + 5);
        let width = form.lanes() * elements;
        // Small values, so that the entries remain of order one.
        let scaled = |mut x: Vec<T>, scale: f64| {
            x.iter_mut().for_each(|x| *x *= T::from_f64(scale));
            x
        };
        Self {
            form,
            elements,
            panel: entries(1, cols * panel_stride),
            panel_stride,
            v: entries(2, blocks * width * v_stride),
            v_stride,
            b: scaled(entries(3, blocks * cols * width), 0.5 / (width as f64).sqrt()),
            s: scaled(entries(4, blocks * cols), 0.25),
            x: scaled(entries(5, blocks * cols), 0.25),
            cols,
            blocks,
            rows,
        }
    }

    fn width(&self) -> usize {
        self.form.lanes() * self.elements
    }

    /// τ_ij for columns `first` + i and `first` + j.
    fn tau(&self, block: usize, first: usize, i: usize, j: usize) -> T {
        let width = self.width();
        let b = |j: usize, r: usize| self.b[(block * self.cols + first + j) * width + r];
        let sum = (0..width).fold(T::ZERO, |sum, r| sum + b(i, r) * b(j, r));
        sum * self.s[block * self.cols + first + j]
    }

    /// In the kernel's layout.
    fn reflectors(&self) -> Vec<T> {
        let (width, lanes, elements) = (self.width(), self.form.lanes(), self.elements);
        let scalars = self.form.group_scalars::<T>(elements);
        let mut all = Vec::new();
        for (block, first) in
            (0..self.blocks).flat_map(|p| (0..self.cols).step_by(COLUMN_GROUP).map(move |j| (p, j)))
        {
            let b = |j: usize, r: usize| self.b[(block * self.cols + first + j) * width + r];
            let own = |of: &[T], j: usize| of[block * self.cols + first + j];
            let mut group = vec![T::ZERO; scalars];
            for j in 0..COLUMN_GROUP {
                match self.form {
                    Form::Columns { .. } => {
                        let stride = reflector_stride::<T>(elements);
                        for lane in 0..lanes {
                            let row = &mut group[(j * lanes + lane) * stride..][..stride];
                            (0..elements).for_each(|r| row[r] = b(j, lane * elements + r));
                            (row[elements], row[elements + 1]) = (own(&self.s, j), own(&self.x, j));
                        }
                    }
                    Form::Tensor => {
                        (0..width).for_each(|r| group[tensor_b(j, r)] = b(j, r));
                        group[width * COLUMN_GROUP + COLUMN_GROUP * COLUMN_GROUP + j] = own(&self.s, j);
                        group[width * COLUMN_GROUP + COLUMN_GROUP * COLUMN_GROUP + COLUMN_GROUP + j] =
                            own(&self.x, j);
                        for i in 0..j {
                            group[width * COLUMN_GROUP + COLUMN_GROUP * i + j] = self.tau(block, first, i, j);
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
        for block in 0..self.blocks {
            for i in self.rows.clone() {
                match self.form {
                    Form::Columns { lanes } => self.by_column(block, i, lanes, fma),
                    Form::Tensor => self.by_eight_columns(block, i, fma),
                }
            }
        }
    }

    fn by_column(&mut self, block: usize, i: usize, lanes: usize, fma: impl Fn(T, T, T) -> T) {
        let (width, elements, v_stride) = (self.width(), self.elements, self.v_stride);
        let at = |r: usize| i + (block * width + r) * v_stride;
        for j in 0..self.cols {
            let mut dots: Vec<T> = (0..lanes)
                .map(|lane| {
                    let b = |r: usize| self.b[(block * self.cols + j) * width + r];
                    let product = |r: usize| (self.v[at(r)], b(r));
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
            let (l, own) = (self.panel[i + j * self.panel_stride], block * self.cols + j);
            let d = fma(self.s[own], dots[0], self.x[own] * l);
            let u = fma(T::TWO, l, d);
            self.panel[i + j * self.panel_stride] = l + d;
            for r in 0..width {
                let b = self.b[(block * self.cols + j) * width + r];
                self.v[at(r)] = fma(-u, b, self.v[at(r)]);
            }
        }
    }

    /// Tensor cores add one product after another, and round each sum.
    fn by_eight_columns(&mut self, block: usize, i: usize, fma: impl Fn(T, T, T) -> T) {
        let (width, v_stride) = (self.width(), self.v_stride);
        let at = |r: usize| i + (block * width + r) * v_stride;
        for first in (0..self.cols).step_by(COLUMN_GROUP) {
            let old: [T; COLUMN_GROUP] =
                core::array::from_fn(|j| self.panel[i + (first + j) * self.panel_stride]);
            let mut d: [T; COLUMN_GROUP] = core::array::from_fn(|j| {
                let own = block * self.cols + first + j;
                let mut sums = [T::ZERO; 4];
                for r in 0..width {
                    let sum = &mut sums[r / 4 % 4];
                    *sum = fma(self.v[at(r)], self.b[own * width + r], *sum);
                }
                fma(self.s[own], (sums[0] + sums[1]) + (sums[2] + sums[3]), self.x[own] * old[j])
            });
            for before in 0..COLUMN_GROUP {
                let u = fma(T::TWO, old[before], d[before]);
                for j in before + 1..COLUMN_GROUP {
                    d[j] = fma(-self.tau(block, first, before, j), u, d[j]);
                }
            }
            for j in 0..COLUMN_GROUP {
                let u = fma(T::TWO, old[j], d[j]);
                self.panel[i + (first + j) * self.panel_stride] = old[j] + d[j];
                for r in 0..width {
                    let b = self.b[(block * self.cols + first + j) * width + r];
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
            pinned.as_mut_slice().unwrap().copy_from_slice(part);
            (pinned, DeviceBuffer::<T>::new(device, part.len()).unwrap())
        });
        // SAFETY: one stream does all work, and no other code uses the memory before it is done.
        unsafe {
            for (pinned, buffer) in &homes {
                stream.upload(pinned, 0..pinned.len(), buffer.slice(0..buffer.len())).unwrap();
            }
            let [panel, v, reflectors] = homes.each_ref().map(|(_, buffer)| buffer);
            let step = Trailing {
                panel,
                panel_stride: self.panel_stride,
                v,
                v_first: 0,
                v_stride: self.v_stride,
                reflectors,
                cols: self.cols,
                blocking: Blocking {
                    blocks: RankBlocks::new(self.width(), self.blocks * self.width(), 0),
                    form: self.form,
                    instance: ELEMENTS.iter().position(|&e| e == self.elements).unwrap(),
                },
                rank_blocks: 0..self.blocks,
                interchanged: false,
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

fn trailing_agrees<T: Real>(forms: &[Form], fma: impl Fn(T, T, T) -> T + Copy) {
    let Some((_turn, device)) = device() else { return };
    for (&form, elements_per_thread) in forms.iter().flat_map(|form| ELEMENTS.map(|e| (form, e))) {
        for (cols, blocks, rows, threads_per_block) in [
            (8, 1, 0..1, 32),
            (24, 1, 5..300, 64),
            (64, 2, 13..141, 32),
            (104, 3, 0..40, 128),
            (16, 3, 0..33, 32),
            (8, 1, 9..9, 32),
            (40, 2, 0..21, 64),
        ] {
            // Two blocks in a launch: most of these need several launches.
            let tuning =
                Tuning { blocks_per_kernel: 2, threads_per_block, elements_per_thread, ..Tuning::walder() };
            let step = || Step::<T>::new(form, elements_per_thread, cols, blocks, rows.clone());
            let (mut expected, mut found) = (step(), step());
            expected.on_host(fma);
            found.on_device(&device, &tuning);
            let what = format!("{form:?}, {elements_per_thread} elements, {cols} columns");
            assert!(expected.panel == found.panel, "L: {what}");
            assert!(expected.v == found.v, "V: {what}");
        }
    }
}

const BY_COLUMNS: [Form; 3] =
    [Form::Columns { lanes: 1 }, Form::Columns { lanes: 2 }, Form::Columns { lanes: 4 }];

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
