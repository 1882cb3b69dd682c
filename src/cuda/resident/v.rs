//! V diag(√|w|) in rank blocks, on the device or in page-locked memory of the host, and its staging.

use super::sizes::ROW_BLOCK;
use super::sweep_launch::{NARROW, WIDE, has_room_for_wide};
use super::take::Take;
use crate::cuda::copying::CopyKernel;
use crate::cuda::device::Device;
use crate::cuda::matrix::DeviceView;
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::host::layout::whole_lines;
use crate::host::threads::Threads;
use crate::real::Real;
use crate::sweep::outline::{Outline, Seen, outline};
use crate::sweep::rank_blocks::RankBlocks;
use crate::sweep::signed::Signed;
use crate::sweep::weights::Weights;
use core::ops::Range;
use faer::MatRef;

/// Bytes of a run of columns of V up to which a kernel copies it from host memory. (On an NVIDIA H200 the copy engine takes 116
/// microseconds for 2 MiB that the host has just written; for 64 KiB both take 6. The limit itself has not been measured.)
const BYTES_BY_KERNEL: usize = 1 << 22;

/// The memory for V, and the state of its contents.
pub(in crate::cuda) struct StagedV<T> {
    device: DeviceBuffer<T>,
    copy: CopyKernel<T>,
    /// For a V in host memory, allocated when first needed: the same layout as on the device.
    host: Option<Pinned<T>>,
    /// Distance from one column to the next.
    stride: usize,
    pub blocks: RankBlocks,
    /// Rows of V that are in host memory, and not on the device.
    in_host: Option<Range<usize>>,
    /// Of a V that the caller has on the device, allocated when first needed: for each row the sum of squares of V diag(√|w|) over
    /// the columns with a plus sign, and behind these those over the columns with a minus sign. In host memory, written by the device.
    squares: Option<Pinned<f64>>,
    /// The rows of which they are.
    squared: usize,
}

impl<T: Real> StagedV<T> {
    /// # Errors
    /// [`Error::Device`] if the device does not have that much memory.
    pub fn new(device: &Device, order: usize, blocks: RankBlocks) -> Result<Self, Error> {
        let stride = whole_lines::<T>(order);
        Ok(Self {
            device: DeviceBuffer::new(device, stride * blocks.columns())?,
            copy: CopyKernel::load(device)?,
            host: None,
            stride,
            blocks,
            in_host: None,
            squares: None,
            squared: 0,
        })
    }

    /// Whether the memory suffices for these columns.
    pub fn fits(&self, blocks: RankBlocks) -> bool {
        self.stride * blocks.columns() <= self.device.len()
    }

    /// Sets the rank blocks of the next V.
    pub fn expect(&mut self, blocks: RankBlocks) {
        (self.blocks, self.in_host, self.squared) = (blocks, None, 0);
    }

    /// The squared norms of the rows of V diag(√|w|), of its columns with a plus and with a minus sign, if they have been summed on
    /// the device. (n, n)
    pub fn row_squares(&self) -> Option<[&[f64]; 2]> {
        let squares = self.squares.as_ref().filter(|_| self.squared > 0)?;
        let (plus, rest) = squares.as_slice().split_at(self.squared);
        Some([plus, &rest[..self.squared]])
    }

    /// Where a sweep reads the V that has been staged, with its column stride: on the device, or in host memory over the link.
    pub fn place(&self) -> (DeviceSlice<'_, T>, usize) {
        match (&self.in_host, &self.host) {
            (Some(_), Some(host)) => (host.mapped(), self.stride),
            _ => self.slice(),
        }
    }

    /// V on the device, with its column stride.
    pub fn slice(&self) -> (DeviceSlice<'_, T>, usize) {
        (self.device.slice(0..self.device.len()), self.stride)
    }

    /// Checks a V in host memory and packs it there, in one pass if its first row is not zero.
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `v`; [`Error::Device`] if the host does not have that much memory.
    pub fn stage_host(
        &mut self,
        device: &Device,
        (v, weights): (MatRef<'_, T>, Weights<'_, T>),
        signed: &mut Signed<T>,
        blocks: RankBlocks,
    ) -> Result<Outline, Error> {
        self.expect(blocks);
        let host = match &mut self.host {
            Some(host) => host,
            none => none.insert(Pinned::new(device, self.device.len())?),
        };
        let to = (host.as_mut_slice()?, self.stride);
        if signed.sources().iter().any(|&(r, _)| v[(0, r)] != T::ZERO) {
            let outline = signed.check_and_pack((v, weights), &blocks, to)?;
            self.in_host = Some(0..v.nrows());
            return Ok(outline);
        }
        let outline = signed.check(v, weights, Threads::Pool.par())?;
        if let Some(first) = outline.first_column::<T>(v.nrows()) {
            let rows = first / ROW_BLOCK * ROW_BLOCK..v.nrows();
            signed.pack(v, &blocks, rows.clone(), to);
            self.in_host = Some(rows);
        }
        Ok(outline)
    }

    /// Checks a V on the device, and copies it there.
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `v`; [`Error::Device`]. No work in flight uses the view when this returns, with or
    /// without an error.
    ///
    /// # Safety
    /// No work in flight uses this memory.
    pub unsafe fn stage_device(
        &mut self,
        (stream, take): (&Stream, &mut Take<T>),
        (v, weights): (&DeviceView<'_, T>, Weights<'_, T>),
        signed: &mut Signed<T>,
        blocks: RankBlocks,
    ) -> Result<Outline, Error> {
        // SAFETY: the view's memory exists and is not written while it is borrowed; the caller guarantees the other.
        let begun = unsafe { self.begin_device((stream, take), v, signed, blocks, true) };
        stream.synchronize().and(begun)?;
        Self::outline_of(take, v.shape(), weights)
    }

    /// Starts [`stage_device`](Self::stage_device). After the stream has been waited for, also after an error,
    /// [`outline_of`](Self::outline_of) returns the outcome, and [`row_squares`](Self::row_squares) those that are wanted.
    ///
    /// # Errors
    /// [`Error::Device`]. Some of the work may be in flight.
    ///
    /// # Safety
    /// No work in flight uses this memory. Until the stream has been waited for, the view's memory exists, nothing writes it, and
    /// [`row_squares`](Self::row_squares) is not called.
    pub unsafe fn begin_device(
        &mut self,
        (stream, take): (&Stream, &mut Take<T>),
        v: &DeviceView<'_, T>,
        signed: &mut Signed<T>,
        blocks: RankBlocks,
        with_squares: bool,
    ) -> Result<(), Error> {
        self.expect(blocks);
        let places = signed.places(&blocks, v.shape().1);
        let to = (self.device.slice(0..self.device.len()), self.stride);
        let from = v.slice_on(stream)?;
        if with_squares && self.squares.is_none() {
            self.squares = Some(Pinned::new(self.device.device(), 2 * self.stride)?);
        }
        let squares = self.squares.as_ref().filter(|_| with_squares);
        self.squared = squares.map_or(0, |_| v.shape().0);
        // SAFETY: the caller guarantees the memory of V, and waits for the stream before it calls `row_squares`.
        unsafe { take.begin(stream, from, to, v.shape(), places.iter().copied(), squares) }
    }

    /// The outline of the V (rows × cols) that has been copied.
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `v`.
    pub fn outline_of(
        take: &mut Take<T>,
        (rows, cols): (usize, usize),
        weights: Weights<'_, T>,
    ) -> Result<Outline, Error> {
        let found = take.found((rows, cols));
        let seen = found.iter().map(|found| Seen { largest: found.largest, not_finite: found.not_finite });
        outline(rows, weights, seen, |column, end| found[column].not_zero.filter(|&row| row < end))
    }

    /// Enqueues the copy of a V in host memory, if that is where it has been staged.
    ///
    /// # Errors
    /// [`Error::Device`]. Some copies may be in flight.
    ///
    /// # Safety
    /// Earlier copies are done, and only the stream uses this memory until the sweep is done.
    pub unsafe fn send(&mut self, stream: &Stream) -> Result<(), Error> {
        let (Some(rows), Some(host)) = (self.in_host.take(), &self.host) else { return Ok(()) };
        // SAFETY: packed when it was staged; the caller guarantees the memory until the copy is done.
        unsafe { self.send_rows(stream, host, rows) }
    }

    /// Enqueues copies of a V that has been staged, but not sent, in the memory of another device. They come from host memory,
    /// or from the other device.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    ///
    /// # Safety
    /// As [`send`](Self::send), for both; a V on the other device has been waited for.
    pub unsafe fn send_of(&mut self, stream: &Stream, staged: &Self) -> Result<(), Error> {
        self.expect(staged.blocks);
        match (&staged.in_host, &staged.host) {
            (Some(rows), Some(host)) => {
                // SAFETY: packed when it was staged; the caller guarantees the memory until the copy is done.
                unsafe { self.send_rows(stream, host, rows.clone()) }
            }
            _ => {
                for range in self.ranges(&(0..self.stride)) {
                    let (from, to) = (staged.device.slice(range.clone()), self.device.slice(range));
                    // SAFETY: the caller guarantees both memories until the copy is done.
                    unsafe {
                        stream.copy_between((from, staged.device.device()), (to, self.device.device()))?
                    };
                }
                Ok(())
            }
        }
    }

    /// The scalars of these rows of V in its memory.
    fn ranges(&self, rows: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<T> {
        let (stride, rows) = (self.stride, rows.clone());
        let places = self.blocks.places_of_v().into_iter().filter(|places| !places.is_empty());
        places.map(move |places| places.start * stride + rows.start..(places.end - 1) * stride + rows.end)
    }

    /// # Safety
    /// As [`send`](Self::send).
    unsafe fn send_rows(&self, stream: &Stream, host: &Pinned<T>, rows: Range<usize>) -> Result<(), Error> {
        for range in self.ranges(&rows) {
            let (len, to) = (range.len(), self.device.slice(range.clone()));
            // SAFETY: the caller guarantees the memory until the copy is done.
            unsafe {
                if len * size_of::<T>() <= BYTES_BY_KERNEL {
                    self.copy.copy(stream, (host.mapped().part(range), len), (len, 1), (to, len))?;
                } else {
                    stream.upload(host, range, to)?;
                }
            }
        }
        Ok(())
    }
}

/// The number of columns of one sign from which on rank blocks are wide.
const WIDE_FROM: usize = NARROW + 1;

/// Rank blocks of the width that a sweep has on this device, or on several such devices; `room_for_wide` keeps the answer for wide ones.
///
/// # Errors
/// [`Error::Device`] if the driver fails.
pub(in crate::cuda) fn rank_blocks<T: Real>(
    device: &Device,
    distributed: bool,
    room_for_wide: &mut Option<bool>,
    signed: &Signed<T>,
) -> Result<RankBlocks, Error> {
    let (plus, minus) = signed.signs();
    let width = width(plus.max(minus), || match *room_for_wide {
        Some(room) => Ok(room),
        None => Ok(*room_for_wide.insert(has_room_for_wide::<T>(device, distributed)?)),
    })?;
    Ok(signed.blocks(width))
}

/// The width of rank blocks, if one sign has at most this many columns, where wide ones may have room.
///
/// # Errors
/// Those of `has_room`.
pub(in crate::cuda) fn width(
    columns: usize,
    has_room: impl FnOnce() -> Result<bool, Error>,
) -> Result<usize, Error> {
    Ok(if columns >= WIDE_FROM && has_room()? { WIDE } else { NARROW })
}
