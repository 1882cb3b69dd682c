//! The kernels of rearrangement, and the functions that launch them.

use super::places::{Direction, Places};
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::plain::Plain;
use crate::cuda::ptx::REARRANGE;
use crate::cuda::stream::{Event, Stream};
use crate::error::Error;
use crate::real::Real;
use crate::structure::Rearrangement;
use cholupdate_kernels::rotation::Rotation;
use core::ffi::{c_int, c_longlong};
use core::marker::PhantomData;
use core::ops::Range;

/// Threads of a block.
const THREADS: usize = 256;
/// Rows and columns that a block of a gather copies.
const ROWS_OF_BLOCK: usize = 4 * THREADS;
const COLUMNS_OF_BLOCK: usize = 4;
/// The largest second extent of a grid.
const BLOCKS: usize = 65535;

/// `rearrange.cu` for one scalar type, a stream for it, and its data on the device.
pub(super) struct Rearranger<T> {
    gather: Function,
    move_rows: Function,
    rotate: Function,
    pub stream: Stream,
    /// After the last work that reads the indices.
    done: Event,
    /// Indices of rows and columns.
    indices: Option<(Pinned<i32>, DeviceBuffer<i32>)>,
    /// x and s of each rotation.
    rotations: Option<(Pinned<f64>, DeviceBuffer<f64>)>,
    device: Device,
    scalar: PhantomData<T>,
}

/// A matrix on the device, and its column stride.
pub(super) type Columns<'a, T> = (DeviceSlice<'a, T>, usize);

impl<T: Real> Rearranger<T> {
    /// Returns the existing one, or creates it.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver refuses the kernels.
    pub fn ready<'a>(kept: &'a mut Option<Self>, device: &Device) -> Result<&'a mut Self, Error> {
        Ok(match kept {
            Some(fitting) => fitting,
            none => none.insert(Self::new(device)?),
        })
    }

    fn new(device: &Device) -> Result<Self, Error> {
        let module = device.module(&REARRANGE)?;
        module.layout("rearrange")?.check(&[
            ("THREADS", THREADS),
            ("ROWS_OF_BLOCK", ROWS_OF_BLOCK),
            ("COLUMNS_OF_BLOCK", COLUMNS_OF_BLOCK),
        ])?;
        Ok(Self {
            gather: Function::load(&module, &format!("gather_{}", T::TYPE_NAME))?,
            move_rows: Function::load(&module, &format!("move_rows_{}", T::TYPE_NAME))?,
            rotate: Function::load(&module, &format!("move_back_{}", T::TYPE_NAME))?,
            stream: Stream::new(device)?,
            done: Event::new(device)?,
            indices: None,
            rotations: None,
            device: device.clone(),
            scalar: PhantomData,
        })
    }

    /// Enqueues copies of rows and columns of one matrix to another.
    ///
    /// # Errors
    /// [`Error::Device`]. Some of the work may be in flight.
    ///
    /// # Safety
    /// Until it is done both matrices exist, have these rows and columns, and no other code writes them.
    pub unsafe fn gather(
        &mut self,
        from: Columns<'_, T>,
        to: Columns<'_, T>,
        places: &Places<'_>,
    ) -> Result<(), Error> {
        let &Places { order, cols, triangle, .. } = places;
        self.send_places(places)?;
        // SAFETY: the caller guarantees both matrices.
        unsafe { self.copy(from, to, (0..order, 0..cols), triangle)? };
        self.done.record(&self.stream)
    }

    /// Enqueues the copy of the indices of a rearrangement to the device.
    ///
    /// # Errors
    /// [`Error::Device`]; nothing else is in flight.
    pub fn send(&mut self, new: &Rearrangement) -> Result<(), Error> {
        let (rows, columns, order) = (&new.rows, &new.columns, new.order);
        self.send_places(&Places { rows, order, columns, cols: order, triangle: true })
    }

    /// Enqueues a rearrangement of L that has been [sent](Self::send), whose rows move [in one direction](Direction). Columns before
    /// `start` keep their places, and their rows move in place. Rows and columns from there on are copied, old ones at `from` to new
    /// ones at `to`.
    ///
    /// # Errors
    /// [`Error::Device`]. Some of the work may be in flight.
    ///
    /// # Safety
    /// As [`gather`](Self::gather); both matrices are as large as L, and `from` or `to` may be L.
    pub unsafe fn rearrange(
        &mut self,
        (l, stride): Columns<'_, T>,
        (from, to): (DeviceSlice<'_, T>, DeviceSlice<'_, T>),
        (new, direction, start): (&Rearrangement, Direction, usize),
    ) -> Result<(), Error> {
        let (order, unchanged) = (new.order, new.unchanged());
        let trailing = to.part(start * (stride + 1)..to.len());
        // SAFETY: the caller guarantees the matrices. What is moved in place lies before what is copied.
        unsafe {
            self.copy((from, stride), (trailing, stride), (start..order, start..order), true)?;
            self.move_in_place((l, stride), unchanged..order, start, direction)?;
        }
        self.done.record(&self.stream)
    }

    /// Records the end of work on the stream that others have enqueued.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn ended(&self) -> Result<(), Error> {
        self.done.record(&self.stream)
    }

    /// Orders later work on the stream behind that of this struct.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn order_before(&self, stream: &Stream) -> Result<(), Error> {
        stream.wait(&self.done)
    }

    /// Enqueues the copy of the indices of these rows and columns to the device.
    fn send_places(&mut self, &Places { rows, order, columns, cols, .. }: &Places<'_>) -> Result<(), Error> {
        // The memory of the last ones is free.
        self.done.synchronize()?;
        let (host, there) = room(&mut self.indices, &self.device, order + cols)?;
        let (old_rows, old_columns) = host.as_mut_slice()?[..order + cols].split_at_mut(order);
        old_rows.fill(-1);
        old_columns.fill(c_int::MAX);
        for (runs, to) in [(rows, old_rows), (columns, old_columns)] {
            for run in runs {
                to[run.new_places()]
                    .iter_mut()
                    .zip(run.old_places())
                    .for_each(|(to, old)| *to = old as c_int);
            }
        }
        // SAFETY: the memory belongs to this struct, and is waited for before it is used again.
        unsafe { self.stream.upload(host, 0..order + cols, there.slice(0..order + cols)) }
    }

    /// Enqueues the copies of these new rows and columns, whose indices have been sent, all rows before all columns.
    ///
    /// # Safety
    /// As [`gather`](Self::gather), from the first of these rows and columns on at `to`.
    unsafe fn copy(
        &self,
        (from, from_stride): Columns<'_, T>,
        (to, to_stride): Columns<'_, T>,
        (rows, columns): (Range<usize>, Range<usize>),
        triangle: bool,
    ) -> Result<(), Error> {
        let Some((_, indices)) = self.indices.as_ref().filter(|_| rows.len() * columns.len() > 0) else {
            return Ok(());
        };
        let indices = indices.slice(0..rows.end + columns.end);
        let blocks =
            (rows.len().div_ceil(ROWS_OF_BLOCK), columns.len().div_ceil(COLUMNS_OF_BLOCK).min(BLOCKS));
        let (mut from, mut from_stride) = (from.address(), from_stride as c_longlong);
        let (mut to, mut to_stride) = (to.address(), to_stride as c_longlong);
        let (mut n, mut count) = (rows.len() as c_longlong, columns.len() as c_int);
        let first_column = rows.end + columns.start;
        let mut old_rows = indices.part(rows.start..rows.end).address();
        let mut old_columns = indices.part(first_column..indices.len()).address();
        let mut triangle = c_int::from(triangle);
        let mut arguments = [
            argument(&mut from),
            argument(&mut from_stride),
            argument(&mut to),
            argument(&mut to_stride),
            argument(&mut old_rows),
            argument(&mut old_columns),
            argument(&mut n),
            argument(&mut count),
            argument(&mut triangle),
        ];
        // SAFETY: nine arguments of the types of the kernel's; the caller guarantees both matrices, and the indices belong to this
        // struct.
        unsafe { self.gather.launch(&self.stream, Launch::new(blocks, THREADS), &mut arguments) }
    }

    /// Enqueues the move of these new rows, whose indices have been sent, within the first `cols` columns of L.
    ///
    /// # Safety
    /// As [`rearrange`](Self::rearrange).
    unsafe fn move_in_place(
        &self,
        (l, stride): Columns<'_, T>,
        rows: Range<usize>,
        cols: usize,
        direction: Direction,
    ) -> Result<(), Error> {
        let Some((_, indices)) = self.indices.as_ref().filter(|_| rows.len() * cols > 0) else {
            return Ok(());
        };
        let (mut l, mut stride) = (l.address(), stride as c_longlong);
        let mut old_rows = indices.slice(0..rows.end).address();
        let (mut first, mut n, mut count) = (rows.start as c_longlong, rows.end as c_longlong, cols as c_int);
        let mut down = c_int::from(direction == Direction::Down);
        let mut arguments = [
            argument(&mut l),
            argument(&mut stride),
            argument(&mut old_rows),
            argument(&mut first),
            argument(&mut n),
            argument(&mut count),
            argument(&mut down),
        ];
        // SAFETY: seven arguments of the types of the kernel's; the caller guarantees L, and the indices belong to this struct.
        unsafe { self.move_rows.launch(&self.stream, Launch::new((cols, 1), THREADS), &mut arguments) }
    }

    /// Rotates columns `to` + 1 ..= `from` of L (n × n), each by its rotation, the last one first, into its old column `from`.
    /// `old` contains the entries of that column below the diagonal; it becomes column `to`, with this pivot. Waits until it is
    /// done.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// Until it returns both exist, L has these columns, and no other code uses it or writes the other.
    pub unsafe fn rotate(
        &mut self,
        (l, stride): Columns<'_, T>,
        old: DeviceSlice<'_, T>,
        (from, to, order): (usize, usize, usize),
        (rotations, diagonal): (&[Rotation<f64>], &[T]),
    ) -> Result<(), Error> {
        let count = rotations.len();
        debug_assert!(count == from - to && old.len() == order - from - 1);
        let len = 3 * count + 1;
        let (host, there) = room(&mut self.rotations, &self.device, len)?;
        let (x, rest) = host.as_mut_slice()?[..len].split_at_mut(count);
        let (s, pivots) = rest.split_at_mut(count);
        for (to, pivot) in pivots.iter_mut().zip(&diagonal[to..=from]) {
            *to = pivot.to_f64();
        }
        for ((x, s), rotation) in x.iter_mut().zip(s).zip(rotations) {
            (*x, *s) = (rotation.x, rotation.s);
        }
        let all = there.slice(0..len);
        let (mut l, mut stride, mut old) = (l.address(), stride as c_longlong, old.address());
        let [mut x, mut s, mut pivots] = [0, count, 2 * count].map(|first| all.part(first..len).address());
        let (mut f, mut t, mut n) = (from as c_longlong, to as c_longlong, order as c_longlong);
        let mut arguments = [
            argument(&mut l),
            argument(&mut stride),
            argument(&mut old),
            argument(&mut x),
            argument(&mut s),
            argument(&mut pivots),
            argument(&mut f),
            argument(&mut t),
            argument(&mut n),
        ];
        let launch = Launch::new(((order - to).div_ceil(THREADS), 1), THREADS);
        // SAFETY: nine arguments of the types of the kernel's; the caller guarantees L, the rotations belong to this struct,
        // and all work is waited for here.
        let enqueued = unsafe {
            self.stream
                .upload(host, 0..len, all)
                .and_then(|()| self.rotate.launch(&self.stream, launch, &mut arguments))
        };
        self.stream.synchronize().and(enqueued)
    }
}

/// Reserves memory of this length on both sides.
fn room<'a, S: Plain>(
    kept: &'a mut Option<(Pinned<S>, DeviceBuffer<S>)>,
    device: &Device,
    len: usize,
) -> Result<&'a mut (Pinned<S>, DeviceBuffer<S>), Error> {
    Ok(match kept.take() {
        Some(fitting) if fitting.0.len() >= len => kept.insert(fitting),
        old => {
            drop(old);
            kept.insert((Pinned::new(device, len)?, DeviceBuffer::new(device, len)?))
        }
    })
}
