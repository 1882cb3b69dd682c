//! The kernels that copy lower triangles to and from the engine's memory, and those of L Lᵀ and its diagonal, with the functions that
//! launch them.

use super::rearrange::Columns;
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::ptx::{SQUARE, TRIANGLE};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;
use core::ffi::{c_int, c_longlong};

/// Threads of a block.
const THREADS: usize = 256;
/// Rows that a block processes.
const ROWS_OF_BLOCK: usize = 4 * THREADS;
/// Blocks along the columns: enough to fill the multiprocessors, and few enough that not too many write the same word.
const BLOCKS_OF_COLUMNS: usize = 128;
/// Rows that a block sums the squares of.
const ROWS_OF_SQUARES: usize = 32;
/// Rows and columns of a tile of L Lᵀ.
const TILE: usize = 64;

/// `take_lower` of `triangle.cu` for one scalar type, and memory for the place that it returns.
pub(super) struct TakeLower {
    kernel: Function,
    not_finite: (DeviceBuffer<u64>, Pinned<u64>),
}

/// The destination of a triangle; `None` if it is only checked. If it becomes a factor, columns with a negative diagonal entry
/// are negated.
pub(super) struct To<'a, T> {
    pub columns: Option<Columns<'a, T>>,
    pub as_factor: bool,
}

impl TakeLower {
    /// # Errors
    /// [`Error::Device`] if the driver refuses the kernel, or there is no memory.
    pub fn load<T: Real>(device: &Device) -> Result<Self, Error> {
        let module = device.module(&TRIANGLE)?;
        let layout = [("THREADS", THREADS), ("ROWS_OF_THREAD", ROWS_OF_BLOCK / THREADS)];
        module.layout("triangle")?.check(&layout)?;
        let kernel = Function::load(&module, &format!("take_lower_{}", T::TYPE_NAME))?;
        Ok(Self { kernel, not_finite: (DeviceBuffer::new(device, 1)?, Pinned::new(device, 1)?) })
    }

    /// Copies and checks the lower triangle of a matrix (n × n, n > 0), and waits. Returns row and column of the first entry, column
    /// after column, that is not finite.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// Until it returns, both matrices exist and have n rows and columns, nothing writes the first, and nothing else uses the
    /// second.
    pub unsafe fn copy_and_check<T: Real>(
        &self,
        stream: &Stream,
        (from, from_stride): Columns<'_, T>,
        To { columns, as_factor }: To<'_, T>,
        order: usize,
    ) -> Result<Option<(usize, usize)>, Error> {
        debug_assert!((order - 1) * from_stride + order <= from.len());
        let (to, to_stride) = columns.unwrap_or((DeviceSlice::empty(), order));
        debug_assert!(columns.is_none() || (order - 1) * to_stride + order <= to.len());
        let (mut from, mut from_stride) = (from.address(), from_stride as c_longlong);
        let (mut to, mut to_stride) = (to.address(), to_stride as c_longlong);
        let not_finite = self.not_finite.0.slice(0..1);
        let (mut at, mut orient, mut n) = (not_finite.address(), c_int::from(as_factor), order as c_longlong);
        let mut arguments = [
            argument(&mut from),
            argument(&mut from_stride),
            argument(&mut to),
            argument(&mut to_stride),
            argument(&mut at),
            argument(&mut orient),
            argument(&mut n),
        ];
        // SAFETY: seven arguments of the types of the kernel's; the caller guarantees both matrices, the place belongs to this
        // struct, and all work is waited for here.
        let enqueued = unsafe {
            let mut enqueue = || {
                stream.clear(not_finite)?;
                self.kernel.launch(stream, shape(order), &mut arguments)?;
                stream.download(not_finite, &self.not_finite.1, 0..1)
            };
            enqueue()
        };
        stream.synchronize().and(enqueued)?;
        let found = self.not_finite.1.as_slice()[0];
        let place = !found as usize;
        Ok((found > 0).then_some((place % order, place / order)))
    }
}

fn shape(order: usize) -> Launch {
    Launch::new((order.div_ceil(ROWS_OF_BLOCK), order.min(BLOCKS_OF_COLUMNS)), THREADS)
}

/// Returns the diagonal of L Lᵀ for an L (n × n) on the device.
///
/// # Errors
/// [`Error::Device`].
///
/// # Safety
/// Until it returns, L exists and nothing writes it.
pub(super) unsafe fn diagonal_of_product<T: Real>(
    device: &Device,
    (l, stride): Columns<'_, T>,
    order: usize,
) -> Result<Vec<f64>, Error> {
    if order == 0 {
        return Ok(Vec::new());
    }
    debug_assert!((order - 1) * stride + order <= l.len());
    let module = device.module(&TRIANGLE)?;
    module.layout("triangle")?.check(&[("THREADS", THREADS), ("ROWS_OF_SQUARES", ROWS_OF_SQUARES)])?;
    let kernel = Function::load(&module, &format!("diagonal_{}", T::TYPE_NAME))?;
    let (sums, stream) = (Pinned::<f64>::new(device, order)?, Stream::new(device)?);
    let (mut l, mut stride, mut n) = (l.address(), stride as c_longlong, order as c_longlong);
    let mut to = sums.address(0);
    let mut arguments = [argument(&mut l), argument(&mut stride), argument(&mut to), argument(&mut n)];
    let launch = Launch::new((order.div_ceil(ROWS_OF_SQUARES), 1), THREADS);
    // SAFETY: four arguments of the types of the kernel's; the caller guarantees L, the rest belongs to this call, and all work is
    // waited for here.
    let enqueued = unsafe { kernel.launch(&stream, launch, &mut arguments) };
    stream.synchronize().and(enqueued)?;
    Ok(sums.as_slice().to_vec())
}

/// A matrix that is computed from L on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DerivedMatrix {
    /// L, zero above the diagonal.
    Factor,
    /// L Lᵀ.
    Product,
}

impl DerivedMatrix {
    /// Computes it from L (n × n) in packed memory, and waits.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// Until it returns, L exists and nothing writes it.
    pub unsafe fn make<T: Real>(
        self,
        device: &Device,
        (l, stride): Columns<'_, T>,
        order: usize,
    ) -> Result<DeviceBuffer<T>, Error> {
        let made = DeviceBuffer::new(device, order.saturating_mul(order))?;
        if order == 0 {
            return Ok(made);
        }
        debug_assert!((order - 1) * stride + order <= l.len());
        let (kernel, launch) = match self {
            Self::Factor => {
                let module = device.module(&TRIANGLE)?;
                (Function::load(&module, &format!("give_lower_{}", T::TYPE_NAME))?, shape(order))
            }
            Self::Product => {
                let module = device.module(&SQUARE)?;
                module.layout("square")?.check(&[("THREADS", THREADS), ("TILE", TILE)])?;
                let tiles = order.div_ceil(TILE);
                let launch = Launch::new((tiles, tiles), THREADS);
                (Function::load(&module, &format!("square_{}", T::TYPE_NAME))?, launch)
            }
        };
        let stream = Stream::new(device)?;
        let (mut l, mut stride, mut n) = (l.address(), stride as c_longlong, order as c_longlong);
        let mut to = made.slice(0..made.len()).address();
        let mut arguments = [argument(&mut l), argument(&mut stride), argument(&mut to), argument(&mut n)];
        // SAFETY: four arguments of the types that both kernels have; the caller guarantees L, the rest belongs to this call,
        // and all work is waited for here.
        let enqueued = unsafe { kernel.launch(&stream, launch, &mut arguments) };
        stream.synchronize().and(enqueued)?;
        Ok(made)
    }
}
