//! The kernels of rearrangement, and the functions that launch them.

use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::plain::Plain;
use crate::cuda::ptx::REARRANGE;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;
use crate::structure::Run;
use cholupdate_kernels::rotation::Rotation;
use core::ffi::{c_int, c_longlong};
use core::marker::PhantomData;

/// Threads of a block.
const THREADS: usize = 256;
/// The largest second extent of a grid.
const BLOCKS: usize = 65535;

/// `rearrange.cu` for one scalar type, a stream for it, and its data on the device.
pub(super) struct Rearranger<T> {
    gather: Function,
    rotate: Function,
    pub stream: Stream,
    /// Indices of rows and columns.
    indices: Option<(Pinned<i32>, DeviceBuffer<i32>)>,
    /// x and s of each rotation.
    rotations: Option<(Pinned<f64>, DeviceBuffer<f64>)>,
    device: Device,
    scalar: PhantomData<T>,
}

/// A matrix on the device, and its column stride.
pub(super) type Columns<'a, T> = (DeviceSlice<'a, T>, usize);

/// The entries that a gather copies.
pub(super) struct Places<'a> {
    /// Rows of the old matrix and of the new one, which has `order` of them.
    pub rows: &'a [Run],
    pub order: usize,
    /// The same for columns.
    pub columns: &'a [Run],
    pub cols: usize,
    /// Whether entries above the diagonal of the new matrix are left unchanged.
    pub triangle: bool,
}

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
        module.layout("rearrange")?.check(&[("THREADS", THREADS)])?;
        Ok(Self {
            gather: Function::load(&module, &format!("gather_{}", T::TYPE_NAME))?,
            rotate: Function::load(&module, &format!("move_back_{}", T::TYPE_NAME))?,
            stream: Stream::new(device)?,
            indices: None,
            rotations: None,
            device: device.clone(),
            scalar: PhantomData,
        })
    }

    /// Copies rows and columns of one matrix to another, and waits.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// Until it returns both matrices exist, have these rows and columns, and no other code writes them.
    pub unsafe fn gather(
        &mut self,
        (from, from_stride): Columns<'_, T>,
        (to, to_stride): Columns<'_, T>,
        places: &Places<'_>,
    ) -> Result<(), Error> {
        let &Places { order, cols, triangle, .. } = places;
        if order * cols == 0 {
            return Ok(());
        }
        let (host, there) = room(&mut self.indices, &self.device, order + cols)?;
        let (rows, columns) = host.as_mut_slice()?[..order + cols].split_at_mut(order);
        rows.fill(-1);
        columns.fill(c_int::MAX);
        for (runs, to) in [(places.rows, rows), (places.columns, columns)] {
            for run in runs {
                to[run.new_places()]
                    .iter_mut()
                    .zip(run.old_places())
                    .for_each(|(to, old)| *to = old as c_int);
            }
        }
        let indices = there.slice(0..order + cols);
        let (mut from, mut from_stride) = (from.address(), from_stride as c_longlong);
        let (mut to, mut to_stride) = (to.address(), to_stride as c_longlong);
        let (mut rows, mut columns) = (indices.address(), indices.part(order..order + cols).address());
        let (mut n, mut count) = (order as c_longlong, cols as c_int);
        let mut triangle = c_int::from(triangle);
        let mut arguments = [
            argument(&mut from),
            argument(&mut from_stride),
            argument(&mut to),
            argument(&mut to_stride),
            argument(&mut rows),
            argument(&mut columns),
            argument(&mut n),
            argument(&mut count),
            argument(&mut triangle),
        ];
        let launch = Launch::new((order.div_ceil(THREADS), cols.min(BLOCKS)), THREADS);
        // SAFETY: nine arguments of the types of the kernel's; the caller guarantees both matrices, the indices belong to this
        // struct, and all work is waited for here.
        let enqueued = unsafe {
            self.stream
                .upload(host, 0..order + cols, indices)
                .and_then(|()| self.gather.launch(&self.stream, launch, &mut arguments))
        };
        self.stream.synchronize().and(enqueued)
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
