//! Columns that are on the device already, on their way into the engine's own memory.

use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::ptx::TAKE;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::scalar::Scalar;
use core::ffi::c_longlong;
use core::mem;

/// What is found out about a column.
pub(super) struct Found<T> {
    /// The magnitude of its largest entry.
    pub largest: T,
    /// The first row that is not finite, and the first that is not zero.
    pub not_finite: Option<usize>,
    pub not_zero: Option<usize>,
}

/// The kernel `take.cu`, with what it needs for so many columns.
pub(super) struct Take<T> {
    kernel: Function,
    scale: (Pinned<T>, DeviceBuffer<T>),
    place: (Pinned<i32>, DeviceBuffer<i32>),
    /// Columns whose factors and places are on the device.
    sent: usize,
    facts: (DeviceBuffer<u64>, Pinned<u64>),
    /// Whether the facts on the device are zeros.
    clean: bool,
    found: Vec<Found<T>>,
}

/// Threads of a block.
const THREADS: usize = 256;
/// Numbers about a column.
const FACTS: usize = 3;

impl<T: Scalar> Take<T> {
    fn new(device: &Device, cols: usize) -> Result<Self, Error> {
        let module = device.module(TAKE)?;
        module.layout("take")?.check(&[("THREADS", THREADS), ("FACTS", FACTS)])?;
        Ok(Self {
            kernel: Function::load(&module, &format!("take_{}", T::TYPE_NAME))?,
            scale: (Pinned::new(device, cols)?, DeviceBuffer::new(device, cols)?),
            place: (Pinned::new(device, cols)?, DeviceBuffer::new(device, cols)?),
            sent: 0,
            facts: (DeviceBuffer::new(device, FACTS * cols)?, Pinned::new(device, FACTS * cols)?),
            clean: false,
            found: Vec::with_capacity(cols),
        })
    }

    /// The one that is there if it has room for so many columns, else another in its place.
    ///
    /// # Errors
    /// [`Error::Device`] where the device or the host has not that much memory.
    pub fn ready<'a>(
        kept: &'a mut Option<Self>,
        device: &Device,
        cols: usize,
    ) -> Result<&'a mut Self, Error> {
        let fitting = match kept.take() {
            Some(take) if take.fits(cols) => take,
            // The old one is gone first: both might not fit.
            old => {
                drop(old);
                Self::new(device, cols)?
            }
        };
        Ok(kept.insert(fitting))
    }

    fn fits(&self, cols: usize) -> bool {
        self.scale.1.len() >= cols
    }

    /// Copies the columns of `from` (rows × cols) each to the column of `to` that `targets` has for it, with that factor;
    /// what there is to know of each.
    ///
    /// # Errors
    /// [`Error::Device`]. Nothing that uses either memory is in flight when this returns, whatever it returns.
    ///
    /// # Safety
    /// Both memories live, and until this returns nothing but the stream uses `to`, and nobody writes `from`.
    pub unsafe fn take(
        &mut self,
        stream: &Stream,
        (from, from_stride): (DeviceSlice<'_, T>, usize),
        (to, to_stride): (DeviceSlice<'_, T>, usize),
        (rows, cols): (usize, usize),
        targets: impl IntoIterator<Item = Option<(usize, T)>>,
    ) -> Result<&[Found<T>], Error> {
        debug_assert!(self.fits(cols) && (cols == 0 || (cols - 1) * from_stride + rows <= from.len()));
        let (scales, places) = (self.scale.0.as_mut_slice(), self.place.0.as_mut_slice());
        for (column, target) in (0..cols).zip(targets) {
            debug_assert!(target.is_none_or(|(place, _)| place * to_stride + rows <= to.len()));
            let (place, scale) = target.map_or((-1, T::ZERO), |(place, factor)| (place as i32, factor));
            if (places[column], scales[column]) != (place, scale) {
                self.sent = self.sent.min(column);
                (places[column], scales[column]) = (place, scale);
            }
        }
        // As long as something may go wrong.
        let (sent, clean) = (mem::take(&mut self.sent), mem::take(&mut self.clean));
        // SAFETY: the caller vouches for both matrices; all other memory is waited for here.
        let enqueued = unsafe {
            self.enqueue(stream, (from, from_stride), (to, to_stride), (rows, cols), (sent, clean))
        };
        stream.synchronize().and(enqueued)?;
        // While the host goes on; the columns are taken, whatever comes of it.
        // SAFETY: other streams use this memory only when this one is gone, and memory is freed when nothing uses it.
        self.clean = unsafe { stream.clear(self.facts.0.slice(0..self.facts.0.len())) }.is_ok();
        self.sent = sent.max(cols);
        let row = |fact: u64| (fact > 0).then_some(!fact as usize);
        let facts = self.facts.1.as_slice()[..FACTS * cols].as_chunks::<FACTS>().0.iter();
        self.found.clear();
        self.found.extend(facts.map(|&[largest, not_finite, not_zero]| Found {
            largest: T::from_f64(f64::from_bits(largest)),
            not_finite: row(not_finite),
            not_zero: row(not_zero),
        }));
        Ok(&self.found)
    }

    /// `sent`, `clean`: what is there already.
    ///
    /// # Safety
    /// As [`take`](Self::take), until the stream has been waited for.
    unsafe fn enqueue(
        &self,
        stream: &Stream,
        (from, from_stride): (DeviceSlice<'_, T>, usize),
        (to, to_stride): (DeviceSlice<'_, T>, usize),
        (rows, cols): (usize, usize),
        (sent, clean): (usize, bool),
    ) -> Result<(), Error> {
        const ROWS_OF_BLOCK: usize = 4 * THREADS;
        /// The second extent of a grid is less than twice as many.
        const COLUMNS_OF_LAUNCH: usize = 1 << 15;
        let all = 0..cols;
        // SAFETY: the memory is this stream's until it has been waited for; the kernel gets eight arguments of its types.
        unsafe {
            if !clean {
                stream.clear(self.facts.0.slice(0..self.facts.0.len()))?;
            }
            if sent < cols {
                let new = sent..cols;
                stream.upload(&self.scale.0, new.clone(), self.scale.1.slice(new.clone()))?;
                stream.upload(&self.place.0, new.clone(), self.place.1.slice(new))?;
            }
            for first in all.step_by(COLUMNS_OF_LAUNCH).filter(|_| rows > 0) {
                let some = first..cols.min(first + COLUMNS_OF_LAUNCH);
                let mut source = from.part(first * from_stride..from.len()).address();
                let (mut target, mut facts) =
                    (to.address(), self.facts.0.slice(FACTS * first..FACTS * cols).address());
                let (mut from_stride, mut to_stride) = (from_stride as c_longlong, to_stride as c_longlong);
                let (mut scale, mut place) =
                    (self.scale.1.slice(some.clone()).address(), self.place.1.slice(some.clone()).address());
                let mut length = rows as c_longlong;
                let mut arguments = [
                    argument(&mut source),
                    argument(&mut from_stride),
                    argument(&mut target),
                    argument(&mut to_stride),
                    argument(&mut scale),
                    argument(&mut place),
                    argument(&mut facts),
                    argument(&mut length),
                ];
                let blocks = (rows.div_ceil(ROWS_OF_BLOCK), some.len());
                self.kernel.launch(stream, Launch::new(blocks, THREADS), &mut arguments)?;
            }
            stream.download(self.facts.0.slice(0..FACTS * cols), &self.facts.1, 0..FACTS * cols)
        }
    }
}
