//! Makes a factor from a matrix without another copy of it in host memory: of A, by one of the devices, if it has room for that,
//! which then sends the others their rows; of L, by copying it to all devices.

use super::Distributed;
use super::factor::DistributedFactor;
use crate::check::finite_lower;
use crate::cuda::memory::DeviceBuffer;
use crate::cuda::operands::on_device;
use crate::cuda::resident::share::rows_of;
use crate::cuda::resident::sizes::ROW_BLOCK;
use crate::cuda::resident::{Resident, ResidentFactor};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::host::squares::diagonal_of_product;
use crate::host::threads::Threads;
use crate::operand::Operand;
use crate::real::Real;
use crate::storage::{Made, Origin, Swept};

/// Orders from which on a copy in host memory is avoided.
const WORTH_SENDING: usize = 2048;

impl Distributed {
    /// As [`Engine::make`](crate::Engine::make).
    ///
    /// # Errors
    /// As [`Engine::make`](crate::Engine::make).
    pub(crate) fn made<T: Real>(
        &self,
        what: Origin,
        given: &Operand<'_, T>,
    ) -> Result<Made<DistributedFactor<T>>, Error> {
        match what {
            Origin::Matrix => self.factorize(given),
            Origin::Factor => self.adopt(given),
        }
    }

    fn factorize<T: Real>(&self, a: &Operand<'_, T>) -> Result<Made<DistributedFactor<T>>, Error> {
        let home = match on_device(a) {
            Some(a) => a.is_on_one_of(&self.devices, "a")?,
            None => 0,
        };
        let Some((l, diagonal)) = Resident::new(&self.devices[home]).made(Origin::Matrix, a)? else {
            return Ok(None);
        };
        Ok(Some((self.spread(home, &l)?, diagonal)))
    }

    /// Copies the rows of L from one device to all of them.
    fn spread<T: Real>(&self, home: usize, l: &ResidentFactor<T>) -> Result<DistributedFactor<T>, Error> {
        let (order, view) = (l.order(), l.view()?);
        let mut factor = DistributedFactor::new(&self.devices, self.together, order)?;
        let (device, stream) = (&self.devices[home], Stream::new(&self.devices[home])?);
        let packed = DeviceBuffer::new(device, ROW_BLOCK * order)?;
        let (from, stride) = view.slice_on(&stream)?;
        let enqueue = || {
            for part in &factor.parts {
                for &(row_block, at) in &part.places {
                    let rows = rows_of(row_block, order);
                    let (from, columns) = (from.part(rows.start..from.len()), rows.end);
                    let (piece, to) = (0..columns * ROW_BLOCK, at..at + columns * ROW_BLOCK);
                    let packed = packed.slice(piece);
                    // SAFETY: L, its copy and the packed rows exist until the stream has been waited for, and only this stream
                    // uses them.
                    unsafe {
                        stream.move_columns((from, stride), (rows.len(), columns), (packed, ROW_BLOCK))?;
                        let to = part.slice().part(to);
                        stream.copy_between((packed, device), (to, &part.device))?;
                    }
                }
            }
            Ok(())
        };
        let enqueued = enqueue();
        stream.synchronize().and(enqueued)?;
        factor.diagonal = (0..order).map(|column| l.pivot(column)).collect();
        Ok(factor)
    }

    fn adopt<T: Real>(&self, l: &Operand<'_, T>) -> Result<Made<DistributedFactor<T>>, Error> {
        let Operand::Host(l) = *l else { return Ok(None) };
        let is_positive = || l.diagonal().column_vector().iter().all(|pivot| *pivot >= T::ZERO);
        if l.nrows() < WORTH_SENDING || !is_positive() {
            return Ok(None);
        }
        finite_lower("l", l)?;
        let mut factor = DistributedFactor::new(&self.devices, self.together, l.nrows())?;
        factor.write(l)?;
        Ok(Some((factor, diagonal_of_product(l, Threads::Pool.par()))))
    }
}
