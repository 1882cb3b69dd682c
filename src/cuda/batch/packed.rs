//! Batches of matrices in device memory that are made there.

use super::device_batch::{DeviceBatch, DeviceBatchView, DeviceBatchViewMut};
use crate::check::index;
use crate::cuda::device::Device;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;

impl<T: Real> DeviceBatch<T> {
    /// Matrices of zeros.
    ///
    /// # Errors
    /// [`Error::Device`] if the device has no memory for them, or the driver fails.
    pub fn zeros(device: &Device, shape: [usize; 3]) -> Result<Self, Error> {
        let batch = Self::new(device, shape)?;
        let stream = Stream::new(device)?;
        // SAFETY: the memory exists, and nothing else uses it until the stream has been waited for.
        let enqueued = unsafe { stream.clear(batch.buffer.slice(0..batch.buffer.len())) };
        stream.synchronize().and(enqueued)?;
        Ok(batch)
    }

    /// Sets all entries of some matrices to NaN. A matrix may occur several times.
    ///
    /// # Errors
    /// `Index`, naming `matrices`, and nothing is changed; [`Error::Device`].
    pub fn fill_with_nan(&mut self, matrices: &[usize]) -> Result<(), Error> {
        /// A number of which all bits are set is a NaN.
        const BYTE: u8 = 0xff;
        let [count, rows, columns] = self.shape;
        matrices.iter().try_for_each(|&matrix| index("matrices", matrix, count))?;
        let (stream, each) = (Stream::new(&self.device)?, rows * columns);
        let fill = || {
            // One call for matrices that lie one after the other.
            matrices.chunk_by(|&one, &next| next == one + 1).try_for_each(|run| {
                let at = self.buffer.slice(run[0] * each..(run[0] + run.len()) * each);
                // SAFETY: the memory exists, and nothing else uses it until the stream has been waited for.
                unsafe { stream.fill(at, BYTE) }
            })
        };
        let enqueued = fill();
        stream.synchronize().and(enqueued)
    }
}

impl<T: Real> DeviceBatchView<'_, T> {
    /// The transposes of all matrices.
    #[must_use]
    pub fn transposed(mut self) -> Self {
        self.shape.swap(1, 2);
        self.strides.swap(1, 2);
        self
    }

    /// Returns a copy of matrices that are packed by columns. It is complete when this returns.
    ///
    /// # Errors
    /// `OutOfRange`, naming `strides`, if entries of a column, or columns, are not next to each other, or matrices overlap;
    /// [`Error::Device`] if the device has no room for the copy, or the driver fails.
    pub fn to_batch(&self) -> Result<DeviceBatch<T>, Error> {
        let ([count, rows, columns], [step, down, across]) = (self.shape, self.strides);
        let each = rows.saturating_mul(columns);
        let packed = (rows <= 1 || down == 1) && (columns <= 1 || across == rows);
        if each.saturating_mul(count) > 0 && !(packed && (count <= 1 || step >= each)) {
            return Err(Error::OutOfRange {
                argument: "strides",
                rule: "those of matrices packed by columns",
            });
        }
        let batch = DeviceBatch::new(&self.device, self.shape)?;
        if each * count == 0 {
            return Ok(batch);
        }
        let stream = Stream::new(&self.device)?;
        if let Some(theirs) = self.stream() {
            // SAFETY: the caller of `on_stream` guarantees the stream.
            unsafe { stream.wait_behind(theirs)? };
        }
        let to = batch.buffer.slice(0..batch.buffer.len());
        let step = if count <= 1 { each } else { step };
        // SAFETY: the view has these entries; both memories exist, and nothing else uses the copy until the stream has been waited for.
        let enqueued = unsafe { stream.move_columns((self.slice, step), (each, count), (to, each)) };
        stream.synchronize().and(enqueued)?;
        Ok(batch)
    }
}

impl<T: Real> DeviceBatchViewMut<'_, T> {
    /// The transposes of all matrices.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self { view: self.view.transposed(), ..self }
    }
}
