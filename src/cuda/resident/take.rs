//! Copies columns that are already on the device to and from the engine's own memory, and checks them.

use super::sweep_launch::WHOLE;
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::ptx::TAKE;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;
use core::ffi::{c_int, c_longlong};
use core::mem;

/// Data about a column.
pub(in crate::cuda) struct Found<T> {
    /// The magnitude of its largest entry.
    pub largest: T,
    /// The first row that is not finite, and the first that is not zero.
    pub not_finite: Option<usize>,
    pub not_zero: Option<usize>,
}

/// The kernels of `take.cu`, with their memory for a number of columns.
pub(in crate::cuda) struct Take<T> {
    kernel: Function,
    give_back: Function,
    scale: (Pinned<T>, DeviceBuffer<T>),
    place: (Pinned<i32>, DeviceBuffer<i32>),
    /// Columns whose scales and places are on the device, and those that will be once the stream has been waited for.
    sent: usize,
    on_their_way: usize,
    /// Those of the last launch, of which only the first `taken` columns are not zeros, and those of the next one, which are all
    /// zeros if `clean`.
    facts: [DeviceBuffer<u64>; 2],
    taken: usize,
    clean: bool,
    /// In host memory, written by the device.
    reported: Pinned<u64>,
    found: Vec<Found<T>>,
}

/// Threads of a block.
const THREADS: usize = 256;
/// Rows of a column that a block processes.
const ROWS_OF_BLOCK: usize = 4 * THREADS;
/// The limit on the second extent of a grid is almost twice this number.
const COLUMNS_OF_LAUNCH: usize = 1 << 15;
/// Numbers about a column: three facts, and how many blocks have added to them.
const FACTS: usize = 4;
/// Blocks that sum squares of rows for each one that processes those rows of a column.
const OF_SQUARES: usize = ROWS_OF_BLOCK / 32;

impl<T: Real> Take<T> {
    fn new(device: &Device, cols: usize) -> Result<Self, Error> {
        let module = device.module(&TAKE)?;
        let layout =
            [("THREADS", THREADS), ("FACTS", FACTS), ("WHOLE", WHOLE as usize), ("OF_SQUARES", OF_SQUARES)];
        module.layout("take")?.check(&layout)?;
        Ok(Self {
            kernel: Function::load(&module, &format!("take_{}", T::TYPE_NAME))?,
            give_back: Function::load(&module, &format!("give_back_{}", T::TYPE_NAME))?,
            scale: (Pinned::new(device, cols)?, DeviceBuffer::new(device, cols)?),
            place: (Pinned::new(device, cols)?, DeviceBuffer::new(device, cols)?),
            sent: 0,
            on_their_way: 0,
            facts: [DeviceBuffer::new(device, FACTS * cols)?, DeviceBuffer::new(device, FACTS * cols)?],
            taken: cols,
            clean: false,
            reported: Pinned::new(device, FACTS * cols)?,
            found: Vec::with_capacity(cols),
        })
    }

    /// Returns the existing one if it has memory for this number of columns, otherwise replaces it.
    ///
    /// # Errors
    /// [`Error::Device`] if the device or the host does not have that much memory.
    pub fn ready<'a>(
        kept: &'a mut Option<Self>,
        device: &Device,
        cols: usize,
    ) -> Result<&'a mut Self, Error> {
        let fitting = match kept.take() {
            Some(take) if take.fits(cols) => take,
            // The old one is freed first, because both might not fit.
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

    /// Copies the columns of `from` (rows × cols), each to its column of `to` according to `targets`, multiplied by the
    /// magnitude of that scale. Returns the data about each.
    ///
    /// # Errors
    /// [`Error::Device`]. No work in flight uses either memory when this returns, also after an error.
    ///
    /// # Safety
    /// As [`begin`](Self::begin), until this returns.
    pub unsafe fn copy_and_check(
        &mut self,
        stream: &Stream,
        from: (DeviceSlice<'_, T>, usize),
        to: (DeviceSlice<'_, T>, usize),
        shape: (usize, usize),
        targets: impl IntoIterator<Item = Option<(usize, T)>>,
    ) -> Result<&[Found<T>], Error> {
        // SAFETY: the caller guarantees both memories.
        let begun = unsafe { self.begin(stream, from, to, shape, targets, None) };
        stream.synchronize().and(begun)?;
        Ok(self.found(shape))
    }

    /// Starts it. After the stream has been waited for, [`found`](Self::found) returns the data. Earlier work with this memory has
    /// been waited for, on any stream. `squares` (2 × rows), if wanted, then has for each row the sum of squares of its entries,
    /// multiplied by the scales, over the columns with a positive scale; and behind these those over the columns with a
    /// negative one.
    ///
    /// # Errors
    /// [`Error::Device`]. Some of the work may be in flight.
    ///
    /// # Safety
    /// Until the stream has been waited for, all memory exists, only the stream uses `to` and `squares`, and no other code writes
    /// `from`.
    pub unsafe fn begin(
        &mut self,
        stream: &Stream,
        (from, from_stride): (DeviceSlice<'_, T>, usize),
        (to, to_stride): (DeviceSlice<'_, T>, usize),
        (rows, cols): (usize, usize),
        targets: impl IntoIterator<Item = Option<(usize, T)>>,
        squares: Option<&Pinned<f64>>,
    ) -> Result<(), Error> {
        debug_assert!(squares.is_none_or(|squares| 2 * rows <= squares.len()));
        debug_assert!(self.fits(cols) && (cols == 0 || (cols - 1) * from_stride + rows <= from.len()));
        let (scales, places) = (self.scale.0.as_mut_slice()?, self.place.0.as_mut_slice()?);
        for (column, target) in (0..cols).zip(targets) {
            debug_assert!(target.is_none_or(|(place, _)| place * to_stride + rows <= to.len()));
            let (place, scale) = target.map_or((-1, T::ZERO), |(place, scale)| (place as i32, scale));
            if (places[column], scales[column]) != (place, scale) {
                self.sent = self.sent.min(column);
                (places[column], scales[column]) = (place, scale);
            }
        }
        // Reset until the enqueueing has succeeded.
        let sent = mem::take(&mut self.sent);
        let (clean, taken) = (mem::take(&mut self.clean), mem::replace(&mut self.taken, self.scale.1.len()));
        self.facts.swap(0, 1);
        // SAFETY: the caller guarantees both matrices and the squares; all other memory is waited for before it is used again.
        unsafe {
            self.enqueue(stream, (from, from_stride), (to, to_stride), (rows, cols), (sent, clean), squares)?;
        };
        self.on_their_way = sent.max(cols);
        if rows > 0 {
            // The launch has made zeros of that many columns.
            (self.taken, self.clean) = (cols, taken <= cols);
        }
        Ok(())
    }

    /// Returns the data about the columns (rows × cols) that have been copied; the stream has been waited for.
    pub fn found(&mut self, (rows, cols): (usize, usize)) -> &[Found<T>] {
        self.sent = mem::take(&mut self.on_their_way);
        let row = |fact: u64| (fact > 0).then_some(!fact as usize);
        let reported = self.reported.as_slice()[..FACTS * cols].as_chunks::<FACTS>().0.iter();
        self.found.clear();
        self.found.extend(reported.map(|&[largest, not_finite, not_zero, _]| match rows {
            0 => Found { largest: T::ZERO, not_finite: None, not_zero: None },
            _ => Found {
                largest: T::from_f64(f64::from_bits(largest)),
                not_finite: row(not_finite),
                not_zero: row(not_zero),
            },
        }));
        &self.found
    }

    /// Enqueues copies of columns of `from` (rows × cols, at most as many as were taken last) to `to`, unless a column taken is
    /// not finite, or the status reports a breakdown.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// As [`begin`](Self::begin); in addition the status exists, and is written only by the stream or before the work on it.
    pub unsafe fn give_back(
        &self,
        stream: &Stream,
        (from, from_stride): (DeviceSlice<'_, T>, usize),
        (to, to_stride): (DeviceSlice<'_, T>, usize),
        (rows, cols): (usize, usize),
        status: Option<&Pinned<i32>>,
    ) -> Result<(), Error> {
        debug_assert!(cols <= COLUMNS_OF_LAUNCH && self.fits(cols));
        let (mut from, mut to) = (from.address(), to.address());
        let (mut from_stride, mut to_stride) = (from_stride as c_longlong, to_stride as c_longlong);
        let mut facts = self.facts[0].slice(0..FACTS * cols).address();
        let mut status = status.map_or(0, |status| status.address(0));
        let mut length = rows as c_longlong;
        let mut arguments = [
            argument(&mut from),
            argument(&mut from_stride),
            argument(&mut to),
            argument(&mut to_stride),
            argument(&mut facts),
            argument(&mut status),
            argument(&mut length),
        ];
        let blocks = (rows.div_ceil(ROWS_OF_BLOCK), cols);
        // SAFETY: seven arguments of the types of the kernel's; the caller guarantees the memory to which they point.
        unsafe { self.give_back.launch(stream, Launch::new(blocks, THREADS), &mut arguments) }
    }

    /// `sent`, `clean`: what is already on the device.
    ///
    /// # Safety
    /// As [`begin`](Self::begin).
    unsafe fn enqueue(
        &self,
        stream: &Stream,
        (from, from_stride): (DeviceSlice<'_, T>, usize),
        (to, to_stride): (DeviceSlice<'_, T>, usize),
        (rows, cols): (usize, usize),
        (sent, clean): (usize, bool),
        squares: Option<&Pinned<f64>>,
    ) -> Result<(), Error> {
        let all = 0..cols;
        let [facts, zeros] = self.facts.each_ref().map(|facts| facts.slice(0..facts.len()));
        // SAFETY: only this stream uses the memory until it has been waited for; the kernel has twelve arguments of these types.
        unsafe {
            if !clean {
                stream.clear(facts)?;
            }
            if sent < cols {
                let new = sent..cols;
                stream.upload(&self.scale.0, new.clone(), self.scale.1.slice(new.clone()))?;
                stream.upload(&self.place.0, new.clone(), self.place.1.slice(new))?;
            }
            for first in all.step_by(COLUMNS_OF_LAUNCH).filter(|_| rows > 0) {
                let some = first..cols.min(first + COLUMNS_OF_LAUNCH);
                let mut source = from.part(first * from_stride..from.len()).address();
                let own = FACTS * first..FACTS * cols;
                let (mut facts, mut zeros) = (facts.part(own.clone()).address(), zeros.part(own).address());
                let (mut target, mut found) = (to.address(), self.reported.address(FACTS * first));
                let (mut from_stride, mut to_stride) = (from_stride as c_longlong, to_stride as c_longlong);
                let (mut scale, mut place) =
                    (self.scale.1.slice(some.clone()).address(), self.place.1.slice(some.clone()).address());
                let (mut squares, mut add) =
                    (squares.map_or(0, |squares| squares.address(0)), c_int::from(first > 0));
                let mut length = rows as c_longlong;
                let mut arguments = [
                    argument(&mut source),
                    argument(&mut from_stride),
                    argument(&mut target),
                    argument(&mut to_stride),
                    argument(&mut scale),
                    argument(&mut place),
                    argument(&mut facts),
                    argument(&mut found),
                    argument(&mut zeros),
                    argument(&mut squares),
                    argument(&mut add),
                    argument(&mut length),
                ];
                let of_squares = if squares == 0 { 0 } else { OF_SQUARES };
                let blocks = (rows.div_ceil(ROWS_OF_BLOCK), some.len() + of_squares);
                self.kernel.launch(stream, Launch::new(blocks, THREADS), &mut arguments)?;
            }
        }
        Ok(())
    }
}
