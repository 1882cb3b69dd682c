//! The kernels of products with L and of L times a number, and the functions that launch them.

use super::rearrange::Columns;
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::memory::{DeviceBuffer, Pinned};
use crate::cuda::ptx::MULTIPLY;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;
use crate::storage::Side;
use core::ffi::c_longlong;
use core::marker::PhantomData;
use faer::MatMut;

/// Threads of a block, and its warps.
const THREADS: usize = 256;
const WARPS: usize = THREADS / 32;
/// The largest second extent of a grid.
const BLOCKS: usize = 65535;

/// `multiply.cu` for one scalar type.
pub(super) struct Products<T> {
    lower: Function,
    transposed: Function,
    scale: Function,
    device: Device,
    scalar: PhantomData<T>,
}

impl<T: Real> Products<T> {
    /// # Errors
    /// [`Error::Device`] if the driver refuses the kernels.
    pub fn new(device: &Device) -> Result<Self, Error> {
        let module = device.module(&MULTIPLY)?;
        module.layout("multiply")?.check(&[("THREADS", THREADS), ("WARPS", WARPS)])?;
        let function = |name: &str| Function::load(&module, &format!("{name}_{}", T::TYPE_NAME));
        Ok(Self {
            lower: function("multiply_lower")?,
            transposed: function("multiply_transposed")?,
            scale: function("scale")?,
            device: device.clone(),
            scalar: PhantomData,
        })
    }

    /// B ← L B or Lᵀ B. (n × m)
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// L (n × n) exists, and nothing writes it until this returns.
    pub unsafe fn multiply(
        &self,
        (l, stride): Columns<'_, T>,
        side: Side,
        mut rhs: MatMut<'_, T>,
    ) -> Result<(), Error> {
        let (order, count) = rhs.shape();
        let len = order * count;
        if len == 0 {
            return Ok(());
        }
        let stream = Stream::new(&self.device)?;
        let mut host = Pinned::new(&self.device, len)?;
        let (from, to) = (DeviceBuffer::new(&self.device, len)?, DeviceBuffer::new(&self.device, len)?);
        for (to, column) in host.as_mut_slice()?.chunks_exact_mut(order).zip(rhs.as_ref().col_iter()) {
            to.iter_mut().zip(column.iter()).for_each(|(to, from)| *to = *from);
        }
        let (function, blocks) = match side {
            Side::L => (&self.lower, order.div_ceil(THREADS)),
            Side::Transpose => (&self.transposed, order.div_ceil(WARPS)),
        };
        // SAFETY: the caller guarantees L, the rest belongs to this call, and all work is waited for here.
        let enqueued = unsafe {
            let product = || {
                stream.upload(&host, 0..len, from.slice(0..len))?;
                for first in (0..count).step_by(BLOCKS) {
                    let columns = BLOCKS.min(count - first);
                    let (mut l, mut stride) = (l.address(), stride as c_longlong);
                    let mut source = from.slice(first * order..len).address();
                    let mut target = to.slice(first * order..len).address();
                    let mut n = order as c_longlong;
                    let mut arguments = [
                        argument(&mut l),
                        argument(&mut stride),
                        argument(&mut source),
                        argument(&mut target),
                        argument(&mut n),
                    ];
                    function.launch(&stream, Launch::new((blocks, columns), THREADS), &mut arguments)?;
                }
                stream.download(to.slice(0..len), &host, 0..len)
            };
            product()
        };
        stream.synchronize().and(enqueued)?;
        for (from, column) in host.as_slice().chunks_exact(order).zip(rhs.as_mut().col_iter_mut()) {
            column.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        }
        Ok(())
    }

    /// Multiplies leading columns of L by a number, and waits.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// L (n × n) exists, and nothing else uses it until this returns.
    pub unsafe fn scale(
        &self,
        (l, stride): Columns<'_, T>,
        (order, cols): (usize, usize),
        mut by: T,
    ) -> Result<(), Error> {
        if cols == 0 {
            return Ok(());
        }
        let stream = Stream::new(&self.device)?;
        let (mut l, mut stride) = (l.address(), stride as c_longlong);
        let (mut n, mut count) = (order as c_longlong, cols as c_longlong);
        let mut arguments = [
            argument(&mut l),
            argument(&mut stride),
            argument(&mut by),
            argument(&mut n),
            argument(&mut count),
        ];
        let launch = Launch::new((order.div_ceil(THREADS), cols.min(BLOCKS)), THREADS);
        // SAFETY: five arguments of the types of the kernel's; the caller guarantees L.
        let enqueued = unsafe { self.scale.launch(&stream, launch, &mut arguments) };
        stream.synchronize().and(enqueued)
    }
}
