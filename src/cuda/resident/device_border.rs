//! The border for new rows and columns of A, in memory of the device that is kept between calls.

use super::border_launch::{BorderKernels, FACTS, FEW, Fact, PartArgument};
use super::rearrange::Columns;
use crate::cuda::dense::Dense;
use crate::cuda::device::Device;
use crate::cuda::factorize::Blocked;
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::operands::on_device;
use crate::cuda::packing::pack;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::operand::Operand;
use crate::real::Real;

/// Columns of a border whose memory is kept for the next one.
const KEPT_COLUMNS: usize = 256;

/// The rows of a border: those of B₁, those of L that B₂ has no rows for, and all up to the last one of B₂; and its columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct BorderShape {
    pub at: usize,
    pub skipped: usize,
    pub rows: usize,
    pub rank: usize,
}

impl BorderShape {
    /// Rows of B₂.
    pub fn below(&self) -> usize {
        self.rows - self.at - self.skipped
    }
}

/// The border that has been computed last: S, above rows that are not read, above X; and C.
pub(super) struct DeviceBorder<T> {
    pub kernels: BorderKernels<T>,
    /// For corners that are not small.
    cholesky: Option<Blocked<T>>,
    /// B, and what the elimination makes of it. (rows × r)
    sides: [DeviceBuffer<T>; 2],
    /// K, and C if it is computed there. (r × r)
    corner: Dense<T>,
    /// C of a small corner. (FEW × FEW)
    small: DeviceBuffer<T>,
    facts: (DeviceBuffer<u64>, Pinned<u64>),
    /// The diagonals of K and of C, written by the device.
    pivots: Pinned<f64>,
    /// B and K from host memory, packed.
    host: Option<Pinned<T>>,
    pub shape: BorderShape,
    /// Whether a border has been computed that is not yet part of L.
    pub is_there: bool,
}

impl<T: Real> DeviceBorder<T> {
    /// The existing one if it has memory for these columns of up to `capacity` rows, otherwise a new one.
    ///
    /// # Errors
    /// [`Error::Device`] if the device or the host does not have that much memory.
    pub fn ready(
        kept: Option<Self>,
        device: &Device,
        capacity: usize,
        shape: BorderShape,
    ) -> Result<Self, Error> {
        let BorderShape { rank, rows, .. } = shape;
        let mut border = match kept {
            Some(fitting) if fitting.fits(shape) => fitting,
            old => {
                // The old one is freed first, because both might not fit.
                drop(old);
                let side = || DeviceBuffer::new(device, capacity.max(rows).saturating_mul(rank));
                Self {
                    kernels: BorderKernels::load(device)?,
                    cholesky: (rank > FEW).then(|| Blocked::new(device)).transpose()?,
                    sides: [side()?, side()?],
                    corner: Dense::aligned(device, rank, rank)?,
                    small: DeviceBuffer::new(device, FEW * FEW)?,
                    facts: (DeviceBuffer::new(device, FACTS)?, Pinned::new(device, FACTS)?),
                    pivots: Pinned::new(device, 2 * rank)?,
                    host: None,
                    shape,
                    is_there: false,
                }
            }
        };
        border.corner.set_order(rank);
        (border.shape, border.is_there) = (shape, false);
        Ok(border)
    }

    fn fits(&self, BorderShape { rank, rows, .. }: BorderShape) -> bool {
        let has_kernels = rank <= FEW || self.cholesky.is_some();
        has_kernels && rank <= self.corner.capacity() && rows.saturating_mul(rank) <= self.sides[0].len()
    }

    /// Returns it if its memory is small enough to be kept.
    pub fn kept(self) -> Option<Self> {
        (self.corner.capacity() <= KEPT_COLUMNS).then_some(self)
    }

    /// B, and the memory for what the elimination makes of it. Without rows above there is no elimination, and both are the same.
    pub fn sides(&self) -> [DeviceSlice<'_, T>; 2] {
        let BorderShape { at, rows, rank, .. } = self.shape;
        let [given, made] = self.sides.each_ref().map(|side| side.slice(0..rows * rank));
        [given, if at > 0 { made } else { given }]
    }

    /// S. (at × r)
    pub fn left(&self) -> Columns<'_, T> {
        (self.sides()[1], self.shape.rows)
    }

    /// X. (m × r)
    pub fn below(&self) -> Columns<'_, T> {
        let (all, rows) = self.left();
        (all.part((self.shape.at + self.shape.skipped).min(all.len())..all.len()), rows)
    }

    fn k(&self) -> Columns<'_, T> {
        (self.corner.slice(), self.corner.stride())
    }

    /// C. (r × r)
    pub fn corner(&self) -> Columns<'_, T> {
        if self.is_small() { (self.small.slice(0..FEW * FEW), FEW) } else { self.k() }
    }

    fn is_small(&self) -> bool {
        self.shape.rank <= FEW
    }

    /// The outcome of the factorization of K, once the work has been waited for.
    ///
    /// # Errors
    /// `NotPositiveDefinite` with the column of K.
    pub fn factored(&self) -> Result<(), Error> {
        match (&self.cholesky, self.found(Fact::Breakdown)) {
            (Some(cholesky), _) if !self.is_small() => cholesky.outcome(),
            (_, 0) => Ok(()),
            (_, found) => Err(Error::NotPositiveDefinite { column: !found as usize }),
        }
    }

    /// The diagonals of K and of C, once the work has been waited for.
    pub fn pivots(&self) -> [&[f64]; 2] {
        let pivots = &self.pivots.as_slice()[..2 * self.shape.rank];
        let (before, after) = pivots.split_at(self.shape.rank);
        [before, after]
    }

    /// What has been found, once the work has been waited for.
    pub fn found(&self, fact: Fact) -> u64 {
        self.facts.1.as_slice()[fact as usize]
    }

    /// Packs the parts that are in host memory, and returns for each where it begins there.
    ///
    /// # Errors
    /// [`Error::Device`] if the host does not have that much memory.
    pub fn pack(&mut self, device: &Device, parts: [&Operand<'_, T>; 3]) -> Result<[usize; 3], Error> {
        let lens = parts.map(|part| part.host().map_or(0, |part| part.nrows() * part.ncols()));
        let offsets = [0, lens[0], lens[0] + lens[1]];
        let len = offsets[2] + lens[2];
        let host = match self.host.take() {
            Some(fitting) if fitting.len() >= len => self.host.insert(fitting),
            old => {
                drop(old);
                self.host.insert(Pinned::new(device, len)?)
            }
        };
        let mut rest = host.as_mut_slice()?;
        for (part, len) in parts.iter().zip(lens) {
            let (to, after) = rest.split_at_mut(len);
            if let Some(part) = part.host() {
                pack(part, to);
            }
            rest = after;
        }
        Ok(offsets)
    }

    /// The parts as a kernel on this stream reads them: those that have been packed begin at these scalars.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn parts<'a>(
        &'a self,
        stream: &Stream,
        parts: [&Operand<'a, T>; 3],
        offsets: [usize; 3],
    ) -> Result<[Columns<'a, T>; 3], Error> {
        let mut columns = [(DeviceSlice::empty(), 0); 3];
        for ((to, part), offset) in columns.iter_mut().zip(parts).zip(offsets) {
            *to = match (on_device(part), &self.host) {
                (Some(view), _) => view.slice_on(stream)?,
                (None, Some(host)) => (host.mapped().part(offset..host.len()), part.shape().0),
                (None, None) => continue,
            };
        }
        Ok(columns)
    }

    /// Enqueues the copy of the columns of A to this memory, and its check.
    ///
    /// # Errors
    /// [`Error::Device`]. Some of the work may be in flight.
    ///
    /// # Safety
    /// Until it is done, the parts exist and nothing writes them, and nothing else uses this memory.
    pub unsafe fn take(&self, stream: &Stream, parts: [Columns<'_, T>; 3]) -> Result<(), Error> {
        let BorderShape { at, rank, .. } = self.shape;
        let [above, below, corner] = parts;
        let parts = [(above, at), (below, self.shape.below()), (corner, rank)].map(PartArgument::new);
        let (facts, pivots) = (self.facts.0.slice(0..FACTS), self.pivots.mapped());
        let b = (self.sides()[0], self.shape.rows);
        // SAFETY: the memory has the sizes that `shape` says, and the caller guarantees the rest.
        unsafe {
            stream.clear(facts)?;
            self.kernels.take(stream, parts, self.shape.skipped, (b, self.k()), (facts, pivots))
        }
    }

    /// Enqueues what follows the elimination: C, X, and what has been found.
    ///
    /// # Errors
    /// [`Error::Device`]. Some of the work may be in flight.
    ///
    /// # Safety
    /// As [`take`](Self::take), after it on the stream.
    pub unsafe fn finish(&self, stream: &Stream) -> Result<(), Error> {
        let BorderShape { at, rank, .. } = self.shape;
        let facts = self.facts.0.slice(0..FACTS);
        let most = T::LARGE_SQUARE.to_f64() / rank as f64;
        let pivots = self.pivots.mapped().part(rank..2 * rank);
        let below = (self.shape.below(), rank);
        // SAFETY: the memory has these sizes, and the caller guarantees the rest.
        unsafe {
            self.kernels.schur(stream, self.left(), self.k(), (at, rank))?;
            match &self.cholesky {
                Some(cholesky) if !self.is_small() => {
                    cholesky.enqueue(stream, &self.corner)?;
                    self.kernels.below(stream, (self.k(), self.below()), below, most, (facts, pivots))?;
                }
                _ => {
                    let all = (self.k(), self.corner(), self.below());
                    self.kernels.finish(stream, all, below, most, (facts, pivots))?;
                }
            }
            stream.download(facts, &self.facts.1, 0..FACTS)
        }
    }
}
