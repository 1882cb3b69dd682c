//! A square matrix in device memory, and transfers of its lower triangle.

use super::device::Device;
use super::memory::{DeviceBuffer, DeviceSlice, Pinned};
use super::packing::{pack, pack_column, unpack_column};
use super::stream::{Event, Stream};
use crate::error::Error;
use crate::real::Real;
use core::ops::Range;
use faer::{MatMut, MatRef};
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Bytes of one half of the staging memory, unless a column is longer: enough for the link's rate, and quick to lock.
const STAGE_BYTES: usize = 8 << 20;

/// A matrix (n × n) on the device, column-major. Only its lower triangle is transferred.
pub(crate) struct Dense<T> {
    buffer: DeviceBuffer<T>,
    order: usize,
    /// The largest order for which there is room.
    capacity: usize,
    /// Distance from one column to the next.
    stride: usize,
    /// Page-locked staging memory for pieces of the matrix, allocated for the first of them. Each half has this length: one is
    /// filled or emptied by the host while the other is copied.
    halves: Mutex<Option<[Half<T>; 2]>>,
    half_len: usize,
    device: Device,
}

/// Staging memory, and the event after its last copy.
type Half<T> = (Pinned<T>, Event);

impl<T: Real> Dense<T> {
    /// Not initialized; the column stride is n.
    ///
    /// # Errors
    /// [`Error::Device`] if the device or the host does not have that much memory.
    pub fn new(device: &Device, order: usize) -> Result<Self, Error> {
        Self::with_stride(device, order, order, order)
    }

    /// The same with room for more rows and columns. Columns begin at multiples of 16 bytes.
    pub fn aligned(device: &Device, order: usize, capacity: usize) -> Result<Self, Error> {
        Self::with_stride(device, order, capacity, capacity.next_multiple_of(16 / size_of::<T>()))
    }

    fn with_stride(device: &Device, order: usize, capacity: usize, stride: usize) -> Result<Self, Error> {
        let len = capacity.saturating_mul(stride);
        let buffer = DeviceBuffer::new(device, len)?;
        let half_len = (STAGE_BYTES / size_of::<T>()).min(len).max(capacity);
        let halves = Mutex::new(None);
        Ok(Self { buffer, order, capacity, stride, halves, half_len, device: device.clone() })
    }

    /// Calls `work` with the staging memory, and waits for the stream. After this, also after an error, no copy uses the memory
    /// any more, so that another reader of the matrix may use it.
    fn with_halves(
        &self,
        stream: &Stream,
        work: impl FnOnce(&mut [Half<T>; 2]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        let halves = match &mut *halves {
            Some(halves) => halves,
            none => {
                let half =
                    || Ok::<_, Error>((Pinned::new(&self.device, self.half_len)?, Event::new(&self.device)?));
                none.insert([half()?, half()?])
            }
        };
        let outcome = work(halves);
        stream.synchronize().and(outcome)
    }

    pub fn order(&self) -> usize {
        self.order
    }

    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Sets the order, for which there is room. New entries are unspecified.
    pub fn set_order(&mut self, order: usize) {
        debug_assert!(order <= self.capacity);
        self.order = order;
    }

    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Exchanges the entries for others of the same shape.
    pub fn exchange(&mut self, other: &mut DeviceBuffer<T>) {
        debug_assert!(self.buffer.len() == other.len());
        core::mem::swap(&mut self.buffer, other);
    }

    /// All entries.
    pub fn slice(&self) -> DeviceSlice<'_, T> {
        self.buffer.slice(0..self.buffer.len())
    }

    /// Divides the first `cols` columns into pieces, each with rows from its first diagonal entry on.
    fn pieces(&self, cols: usize) -> impl Iterator<Item = Range<usize>> + use<T> {
        let (order, len) = (self.order, self.half_len);
        let mut first = 0;
        core::iter::from_fn(move || {
            (first < cols).then(|| {
                let together = (len / (order - first)).min(cols - first);
                first += together;
                first - together..first
            })
        })
    }

    /// A piece of the matrix, on the device.
    fn part(&self, piece: &Range<usize>) -> DeviceSlice<'_, T> {
        self.buffer.slice(piece.start * (self.stride + 1)..(piece.end - 1) * self.stride + self.order)
    }

    /// Copies the lower triangle of A to the device, and waits. Entries of A above the diagonal are copied as well.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver fails.
    pub fn upload(&self, stream: &Stream, a: MatRef<'_, T>) -> Result<(), Error> {
        self.with_halves(stream, |halves| self.send(stream, halves, a))
    }

    fn send(&self, stream: &Stream, halves: &mut [Half<T>; 2], a: MatRef<'_, T>) -> Result<(), Error> {
        for (at, piece) in self.pieces(self.order).enumerate() {
            let rows = self.order - piece.start;
            let (half, copied) = &mut halves[at % 2];
            copied.synchronize()?;
            let columns = half.as_mut_slice()?[..rows * piece.len()].par_chunks_exact_mut(rows);
            columns.zip(piece.clone()).for_each(|(to, j)| {
                pack_column(a.col(j).subrows(piece.start, rows), to);
            });
            // SAFETY: the half is not used before `copied`, and only this stream uses the matrix.
            unsafe {
                stream.upload_columns((half, rows), (rows, piece.len()), (self.part(&piece), self.stride))?
            };
            copied.record(stream)?;
        }
        Ok(())
    }

    /// Copies A to the entries from this row and column on, and waits.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver fails.
    pub fn write(
        &self,
        stream: &Stream,
        (row, column): (usize, usize),
        a: MatRef<'_, T>,
    ) -> Result<(), Error> {
        self.with_halves(stream, |halves| self.send_columns(stream, halves, (row, column), a))
    }

    fn send_columns(
        &self,
        stream: &Stream,
        halves: &mut [Half<T>; 2],
        (row, column): (usize, usize),
        a: MatRef<'_, T>,
    ) -> Result<(), Error> {
        let rows = a.nrows();
        if rows == 0 {
            return Ok(());
        }
        let together = self.half_len / rows;
        for (at, first) in (0..a.ncols()).step_by(together).enumerate() {
            let cols = together.min(a.ncols() - first);
            let (half, copied) = &mut halves[at % 2];
            copied.synchronize()?;
            pack(a.subcols(first, cols), &mut half.as_mut_slice()?[..rows * cols]);
            let from = (column + first) * self.stride + row;
            let to = self.buffer.slice(from..self.buffer.len());
            // SAFETY: as in `send`.
            unsafe { stream.upload_columns((half, rows), (rows, cols), (to, self.stride))? };
            copied.record(stream)?;
        }
        Ok(())
    }

    /// Copies the first `cols` columns of the lower triangle from the device to L. The strict upper triangle of L is not
    /// changed.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver fails.
    pub fn download(&self, stream: &Stream, l: MatMut<'_, T>, cols: usize) -> Result<(), Error> {
        self.with_halves(stream, |halves| self.receive(stream, halves, l, cols))
    }

    fn receive(
        &self,
        stream: &Stream,
        halves: &[Half<T>; 2],
        mut l: MatMut<'_, T>,
        cols: usize,
    ) -> Result<(), Error> {
        let order = self.order;
        let mut pieces = self.pieces(cols).enumerate().peekable();
        if let Some((at, piece)) = pieces.peek() {
            self.ask_for(stream, &halves[at % 2], piece)?;
        }
        while let Some((at, piece)) = pieces.next() {
            if let Some((at, piece)) = pieces.peek() {
                self.ask_for(stream, &halves[at % 2], piece)?;
            }
            let rows = order - piece.start;
            let (half, copied) = &halves[at % 2];
            copied.synchronize()?;
            let half = half.as_slice();
            let columns = l.as_mut().subcols_mut(piece.start, piece.len());
            columns.par_col_iter_mut().enumerate().for_each(|(j, column)| {
                let from = &half[j * rows..(j + 1) * rows][j..];
                unpack_column(from, column.subrows_mut(piece.start + j, rows - j));
            });
        }
        Ok(())
    }

    /// Returns the diagonal.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver fails.
    pub fn diagonal(&self, stream: &Stream) -> Result<Vec<T>, Error> {
        self.apart(stream, self.slice(), self.stride + 1, self.order)
    }

    /// Returns some entries of a row.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver fails.
    pub fn row(&self, stream: &Stream, row: usize, columns: Range<usize>) -> Result<Vec<T>, Error> {
        let from = self.buffer.slice(columns.start * self.stride + row..self.buffer.len());
        self.apart(stream, from, self.stride, columns.len())
    }

    /// Returns this number of entries with this stride.
    fn apart(
        &self,
        stream: &Stream,
        from: DeviceSlice<'_, T>,
        stride: usize,
        count: usize,
    ) -> Result<Vec<T>, Error> {
        let host = Pinned::new(&self.device, count)?;
        // SAFETY: the memory belongs to this call, and is read after the copy is done; only this stream uses the matrix.
        let asked = unsafe { stream.download_columns((from, stride), (1, count), (&host, 1)) };
        stream.synchronize().and(asked)?;
        Ok(host.as_slice().to_vec())
    }

    fn ask_for(&self, stream: &Stream, half: &Half<T>, piece: &Range<usize>) -> Result<(), Error> {
        let (half, copied) = half;
        let shape = (self.order - piece.start, piece.len());
        // SAFETY: the half has been emptied, and is not read before `copied`.
        unsafe { stream.download_columns((self.part(piece), self.stride), shape, (half, shape.0))? };
        copied.record(stream)
    }
}
