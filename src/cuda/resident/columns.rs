//! The columns of V, on their way to the device and there.

use super::rank_blocks::Cut;
use crate::check::{COLUMNS_AT_ONCE, largest_entry};
use crate::cpu::kernels::packed::copy_scaled;
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::host::threads::Threads;
use crate::scalar::Scalar;
use crate::sweep::signed::{Change, Weights};
use core::mem;
use core::ops::Range;
use faer::{ColRef, MatRef};
use rayon::prelude::*;

/// Bytes of V from which on threads are worth waking.
const WORTH_SHARING: usize = 1 << 20;

/// V diag(√|w|) as the sweeps take it.
pub(super) struct Columns<T> {
    device: DeviceBuffer<T>,
    /// For V of the host, from the first one on.
    host: Option<Pinned<T>>,
    /// Whether all rows of V are there.
    packed: bool,
    /// From column to column.
    stride: usize,
    /// Whose columns of zeros are zeros.
    cleared: Option<Cut>,
}

impl<T: Scalar> Columns<T> {
    /// # Errors
    /// [`Error::Device`] where the device has not that much memory.
    pub fn new(device: &Device, order: usize, cut: Cut) -> Result<Self, Error> {
        let stride = order.next_multiple_of(128 / size_of::<T>());
        Ok(Self {
            device: DeviceBuffer::new(device, stride * cut.columns())?,
            host: None,
            packed: false,
            stride,
            cleared: None,
        })
    }

    /// Whether there is room for these columns.
    pub fn fits(&self, cut: Cut) -> bool {
        self.stride * cut.columns() <= self.device.len()
    }

    /// Where they are on the device: [`Cut`] has their places.
    pub fn slice(&self) -> (DeviceSlice<'_, T>, usize) {
        (self.device.slice(0..self.device.len()), self.stride)
    }

    /// Has the columns that fill up a sweep cleared, if they are not.
    pub fn clear_zeros(&mut self, stream: &Stream, cut: Cut) -> Result<(), Error> {
        if self.cleared != Some(cut) {
            self.cleared = None;
            for zeros in cut.columns_of_zeros() {
                let zeros = zeros.start * self.stride..zeros.end * self.stride;
                // SAFETY: what uses this memory is on this stream.
                unsafe { stream.clear(self.device.slice(zeros))? };
            }
            self.cleared = Some(cut);
        }
        Ok(())
    }

    /// V of the host, which has rows and goes with w, checked; and packed on the way, if its first row is not zero.
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `v`; [`Error::Device`] where the host has not that much memory.
    pub fn look<'a>(
        &mut self,
        device: &Device,
        v: MatRef<'a, T>,
        weights: Weights<'a, T>,
    ) -> Result<Change<'a, T>, Error> {
        self.packed = false;
        let all = 0..v.nrows();
        if !(0..v.ncols()).any(|r| v[(0, r)] != T::ZERO && weights.of(r) != T::ZERO) {
            return Change::new(v, weights, v.nrows(), Threads::Pool.par());
        }
        let (stride, host) = (self.stride, room(&mut self.host, device, self.device.len())?);
        let change = Change::scanned(v, weights, |first, some, largest| {
            pack(host, stride, weights.places(v.ncols()).skip(first), some, all.clone(), largest);
        })?;
        self.packed = true;
        Ok(change)
    }

    /// Sends `rows` of V, of which the others are zero, packed or not.
    ///
    /// # Errors
    /// [`Error::Device`]. Some may be on their way.
    ///
    /// # Safety
    /// What was sent before has arrived, and nothing but the stream uses it.
    pub unsafe fn send(
        &mut self,
        device: &Device,
        stream: &Stream,
        (cut, change): (Cut, &Change<'_, T>),
        rows: Range<usize>,
    ) -> Result<(), Error> {
        self.clear_zeros(stream, cut)?;
        let (stride, host) = (self.stride, room(&mut self.host, device, self.device.len())?);
        if !mem::take(&mut self.packed) {
            let (v, weights) = (change.v, change.weights);
            Change::scanned(v, weights, |first, some, largest| {
                pack(host, stride, weights.places(v.ncols()).skip(first), some, rows.clone(), largest);
            })?;
        }
        for (from, to, count) in cut.columns_of_v().into_iter().filter(|&(_, _, count)| count > 0) {
            let range = |first: usize| first * stride + rows.start..(first + count - 1) * stride + rows.end;
            // SAFETY: packed above; the caller vouches for the time until it has arrived.
            unsafe { stream.upload(host, range(from), self.device.slice(range(to)))? };
        }
        Ok(())
    }
}

/// The host memory for so many scalars that is kept, or that is from now on.
fn room<'a, T: Scalar>(
    kept: &'a mut Option<Pinned<T>>,
    device: &Device,
    len: usize,
) -> Result<&'a mut Pinned<T>, Error> {
    match kept {
        Some(host) => Ok(host),
        none => Ok(none.insert(Pinned::new(device, len)?)),
    }
}

/// `rows` of some columns of V diag(√|w|) to their places in host memory, `stride` apart, if they have one; what there is
/// to know of them.
fn pack<T: Scalar>(
    host: &mut Pinned<T>,
    stride: usize,
    places: impl Iterator<Item = Option<(usize, T)>>,
    some: MatRef<'_, T>,
    rows: Range<usize>,
    largest: &mut [Result<T, usize>],
) {
    assert!(rows.end <= stride);
    let columns = host.len() / stride;
    let mut of_each = [None; COLUMNS_AT_ONCE];
    of_each.iter_mut().zip(places).for_each(|(to, place)| *to = place);
    let at = Shared(host.as_mut_slice().as_mut_ptr());
    let one = |(r, largest): (usize, &mut Result<T, usize>)| {
        let column = some.col(r).subrows(rows.start, rows.len());
        let Some((place, scale)) = of_each[r] else {
            return *largest = largest_entry(column);
        };
        assert!(place < columns);
        // SAFETY: inside the memory that is borrowed here, as was just found; each column has a place of its own.
        *largest = copy_and_look(unsafe { at.column(place * stride, &rows) }, column, scale);
    };
    if some.ncols() * rows.len() * size_of::<T>() >= WORTH_SHARING {
        largest.par_iter_mut().enumerate().for_each(one);
    } else {
        largest.iter_mut().enumerate().for_each(one);
    }
}

/// Scalars whose columns are different threads'.
#[derive(Clone, Copy)]
struct Shared<T>(*mut T);

// SAFETY: who asks for a column vouches that it is his alone, and T may go to other threads.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// `rows` of a column that starts there.
    ///
    /// # Safety
    /// They lie in the memory, which lives for that long, and nobody else uses them.
    unsafe fn column<'a>(self, start: usize, rows: &Range<usize>) -> &'a mut [T] {
        // SAFETY: forwarded to the caller.
        unsafe { core::slice::from_raw_parts_mut(self.0.add(start + rows.start), rows.len()) }
    }
}

/// y ← scale x, and the largest magnitude in x, or its first row that is not finite.
fn copy_and_look<T: Scalar>(y: &mut [T], x: ColRef<'_, T>, scale: T) -> Result<T, usize> {
    /// Scalars that are read twice while they are at hand.
    const BLOCK: usize = 256;
    y.chunks_mut(BLOCK).enumerate().try_fold(T::ZERO, |largest, (number, y)| {
        let first = number * BLOCK;
        let x = x.subrows(first, y.len());
        copy_scaled(y, x, scale);
        largest_entry(x).map(|entry| largest.max(entry)).map_err(|row| first + row)
    })
}
