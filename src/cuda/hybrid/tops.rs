//! What the CPU does of the hybrid sweep: the top of each panel, pass after pass.
//!
//! A pass takes the columns of V that a thread of the device keeps in registers, plus signs first. The sweep
//! over all columns of V is that of one pass after another, panel by panel, and breaks down where the whole
//! modification does: what the first passes add, the others only take away.

use crate::cpu::{Buffer, Chain, Columns, Isa, Job, Packed, Shape};
use crate::cuda::kernels::{ELEMENTS, reflector_stride};
use crate::cuda::memory::Pinned;
use crate::plan::Panel;
use crate::report::Health;
use crate::scalar::Scalar;
use core::ops::Range;
use faer::ColRef;

/// The passes of one modification: its columns of V, plus signs first, cut into pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Passes {
    /// Columns of V in a pass; those that the last one lacks are zero, and change nothing.
    pub elements: usize,
    plus: usize,
    minus: usize,
}

impl Passes {
    /// For V with that many columns of each sign. `limit`: columns of V in a pass, at most.
    pub fn new(plus: usize, minus: usize, limit: usize) -> Self {
        let wanted = (plus + minus).min(limit);
        let elements = ELEMENTS.into_iter().find(|&e| e >= wanted).unwrap_or(limit);
        Self { elements, plus, minus }
    }

    pub fn count(&self) -> usize {
        (self.plus + self.minus).div_ceil(self.elements)
    }

    /// Columns with a plus sign in all passes. Zero columns go with the ones before them.
    pub fn all_plus(&self) -> usize {
        if self.minus == 0 { self.columns() } else { self.plus }
    }

    /// Columns with a plus sign in one pass; they come first.
    fn plus(&self, pass: usize) -> usize {
        self.all_plus().saturating_sub(pass * self.elements).min(self.elements)
    }

    /// Columns of V on the device.
    pub fn columns(&self) -> usize {
        self.count() * self.elements
    }
}

/// Working memory of the CPU, kept between calls.
pub(super) struct Tops<T> {
    passes: Passes,
    panel_cols: usize,
    isa: Isa,
    shape: Shape,
    each: Vec<Pass<T>>,
    /// The pivots of a panel before its diagonal step. (panel_cols)
    old: Vec<T>,
}

struct Pass<T> {
    /// The rows of V that meet the diagonal block, and those of its head, by the parity of the panel.
    v: [Packed<T>; 2],
    reflectors: Buffer<T>,
}

impl<T> Default for Pass<T> {
    fn default() -> Self {
        Self { v: [Packed::default(), Packed::default()], reflectors: Buffer::default() }
    }
}

impl<T: Scalar> Tops<T> {
    pub fn new() -> Self {
        let isa = Isa::detect();
        Self {
            passes: Passes::default(),
            panel_cols: 0,
            isa,
            shape: isa.shape::<T>(1),
            each: Vec::new(),
            old: Vec::new(),
        }
    }

    /// Makes room for a sweep.
    pub fn prepare(&mut self, passes: Passes, panel_cols: usize) {
        (self.passes, self.panel_cols) = (passes, panel_cols);
        self.shape = self.isa.shape::<T>(passes.elements);
        let Shape { block, lanes, .. } = self.shape;
        if self.each.len() < passes.count() {
            self.each.resize_with(passes.count(), Pass::default);
        }
        for pass in &mut self.each[..passes.count()] {
            pass.reflectors.reserve(Job::<T>::reflector_len(panel_cols, block, lanes, passes.elements));
        }
        self.old.resize(panel_cols, T::ZERO);
    }

    /// Takes `rows` of V, which meet the diagonal block of the panel at position `index`.
    ///
    /// # Safety
    /// Nothing writes to these rows of `v` meanwhile. (column stride `stride`)
    pub unsafe fn load(&mut self, v: &Pinned<T>, stride: usize, rows: Range<usize>, index: usize) {
        let elements = self.passes.elements;
        for (g, pass) in self.each[..self.passes.count()].iter_mut().enumerate() {
            let columns = (g * elements..(g + 1) * elements).map(|r| {
                debug_assert!(r * stride + rows.end <= v.len());
                // SAFETY: column r of V has `stride` rows there, and they are at rest as the caller says.
                let column =
                    unsafe { ColRef::from_raw_parts(v.as_ptr().add(r * stride + rows.start), rows.len(), 1) };
                (column, T::ONE)
            });
            pass.v[index % 2].pack_columns(columns, elements, rows.len(), rows.start, self.shape.tile);
        }
    }

    /// What the steps work on in one pass: L as `top` says, V as it meets the diagonal block of the panel at
    /// position `index`.
    fn job(&mut self, pass: usize, top: Columns<T>, index: usize) -> Job<T> {
        let Shape { block, lanes, .. } = self.shape;
        let elements = self.passes.elements;
        let plus = self.passes.plus(pass);
        // Later passes go on with what the first has written.
        let l = match pass {
            0 => top,
            _ => Columns { src: top.dst.cast_const(), src_stride: top.dst_stride, ..top },
        };
        let Pass { v, reflectors } = &mut self.each[pass];
        Job {
            isa: self.isa,
            l,
            v: v[index % 2].view(),
            stream: false,
            large: false,
            reflectors: reflectors.as_mut_ptr(),
            reflector_sets: 1,
            panel_cols: self.panel_cols,
            block,
            lanes,
            plus,
            minus: elements - plus,
        }
    }

    /// The diagonal step of `panel` in all passes.
    ///
    /// # Errors
    /// The first column whose pivot² is not greater than zero. The new diagonal block is of no use then.
    ///
    /// # Safety
    /// `top` describes the panel's top, readable at `src`, writable at `dst`, nobody else's.
    pub unsafe fn diagonal(
        &mut self,
        panel: Panel,
        top: Columns<T>,
        health: &mut Health<T>,
    ) -> Result<(), usize> {
        let entry = |base: *const T, stride: isize, j: usize| {
            // SAFETY: the diagonal entry of a column of the panel.
            unsafe { *base.wrapping_offset(j as isize * stride).wrapping_add(j) }
        };
        for j in panel.block() {
            self.old[j - panel.first] = entry(top.src, top.src_stride, j);
        }
        let mut broken = None;
        for pass in 0..self.passes.count() {
            // After a breakdown only an earlier one matters, which a later pass may find.
            let cols = broken.map_or(panel.cols, |column| column - panel.first);
            if cols == 0 {
                break;
            }
            let job = self.job(pass, top, panel.index);
            // SAFETY: the caller's promise; earlier panels have been applied to these rows of V, and earlier
            // passes to this panel.
            if let Err(column) = unsafe { job.diagonal(Panel { cols, ..panel }, &mut Chain::default()) } {
                broken = Some(column);
            }
        }
        match broken {
            Some(column) => Err(column),
            None => {
                for j in panel.block() {
                    health.record(self.old[j - panel.first], entry(top.dst, top.dst_stride, j));
                }
                Ok(())
            }
        }
    }

    /// The trailing step of `panel` on the rows that meet the next diagonal block, in all passes.
    ///
    /// # Safety
    /// As `diagonal`, which has been done; the rows of V have been loaded for the next panel.
    pub unsafe fn head(&mut self, panel: Panel, rows: Range<usize>, top: Columns<T>) {
        for pass in 0..self.passes.count() {
            let job = self.job(pass, top, panel.index + 1);
            // SAFETY: forwarded to the caller.
            unsafe { job.trailing(panel, rows.clone()) };
        }
    }

    /// Writes the reflectors of `panel`, a full one, as the device takes them: for each pass `cols` rows of
    /// b, ρ and padding.
    pub fn reflectors(&mut self, panel: Panel, out: &mut [T]) {
        let Shape { block, lanes, .. } = self.shape;
        let Passes { elements, .. } = self.passes;
        let row = reflector_stride::<T>(elements);
        let nowhere =
            Columns { src: core::ptr::null(), src_stride: 0, dst: core::ptr::null_mut(), dst_stride: 0 };
        for pass in 0..self.passes.count() {
            let job = self.job(pass, nowhere, panel.index);
            let out = &mut out[pass * self.panel_cols * row..][..panel.cols * row];
            for (j, out) in out.chunks_exact_mut(row).enumerate() {
                let reflector = job.reflector(panel, j / block);
                debug_assert!(j % block < lanes);
                // SAFETY: the diagonal step has made the reflector, which has column j % block.
                unsafe {
                    for (r, b) in out[..elements].iter_mut().enumerate() {
                        *b = *reflector.b(r).add(j % block);
                    }
                    out[elements..].fill(*reflector.rho().add(j % block));
                }
            }
        }
    }
}
