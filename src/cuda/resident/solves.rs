//! The kernels of triangular systems, and the one function that launches them.

use super::steps::PANEL_COLS;
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::memory::DeviceSlice;
use crate::cuda::ptx::SOLVE;
use crate::cuda::stream::Stream;
use crate::engine::Side;
use crate::error::Error;
use crate::scalar::Scalar;
use core::ffi::{c_int, c_longlong};
use core::marker::PhantomData;
use core::ops::Range;

/// Threads of a block.
const THREADS: usize = 256;
/// Right-hand sides that a block of threads takes.
const RHS_OF_BLOCK: usize = 8;

/// `solve.cu` for one scalar type.
pub(super) struct SolveSteps<T> {
    /// For one right-hand side, and for [`RHS_OF_BLOCK`].
    forward: [Function; 2],
    backward: [Function; 2],
    scalar: PhantomData<T>,
}

/// A system with L (n × n), of which the diagonal blocks' inverses are known.
pub(super) struct System<'a, T> {
    pub l: DeviceSlice<'a, T>,
    pub l_stride: usize,
    pub n: usize,
    pub inverse: DeviceSlice<'a, f64>,
    /// B (n × count), worked on.
    pub from: DeviceSlice<'a, T>,
    /// The solution (n × count).
    pub to: DeviceSlice<'a, T>,
    pub count: usize,
}

impl<T: Scalar> SolveSteps<T> {
    pub fn load(device: &Device) -> Result<Self, Error> {
        let module = device.module(SOLVE)?;
        let expected = [("PANEL_COLS", PANEL_COLS), ("THREADS", THREADS), ("MAX_RHS", RHS_OF_BLOCK)];
        module.layout("solve")?.check(&expected)?;
        let function = |way: &str, together: usize| {
            Function::load(&module, &format!("solve_{way}_{together}_{}", T::TYPE_NAME))
        };
        Ok(Self {
            forward: [function("forward", 1)?, function("forward", RHS_OF_BLOCK)?],
            backward: [function("backward", 1)?, function("backward", RHS_OF_BLOCK)?],
            scalar: PhantomData,
        })
    }

    /// Enqueues the part of the solution of these columns, which begin a panel and are not more than it has, and what it
    /// takes from the others' parts.
    ///
    /// # Safety
    /// The slices have the shapes that `solve.cu` tells of, live until it is done, and but for L and the inverses are
    /// this stream's.
    pub unsafe fn panel(
        &self,
        stream: &Stream,
        system: &System<'_, T>,
        side: Side,
        columns: Range<usize>,
    ) -> Result<(), Error> {
        let &System { n, count, .. } = system;
        let (first, cols) = (columns.start, columns.len());
        debug_assert!((1..=PANEL_COLS).contains(&cols) && columns.end <= n);
        debug_assert!(first.is_multiple_of(PANEL_COLS) && (n - 1) * system.l_stride + n <= system.l.len());
        debug_assert!(n * count <= system.from.len().min(system.to.len()));
        let (functions, blocks) = match side {
            Side::L => (&self.forward, (n - columns.end).div_ceil(THREADS)),
            Side::Transpose => (&self.backward, first / PANEL_COLS),
        };
        let (function, groups) = match count {
            1 => (&functions[0], 1),
            _ => (&functions[1], count.div_ceil(RHS_OF_BLOCK)),
        };
        let (mut l, mut inverse) = (system.l.address(), system.inverse.address());
        let (mut from, mut to) = (system.from.address(), system.to.address());
        let (mut l_stride, mut x_stride) = (system.l_stride as c_longlong, n as c_longlong);
        let (mut first, mut cols) = (first as c_longlong, cols as c_int);
        let (mut n, mut count) = (n as c_longlong, count as c_int);
        let mut arguments = [
            argument(&mut l),
            argument(&mut l_stride),
            argument(&mut inverse),
            argument(&mut from),
            argument(&mut to),
            argument(&mut x_stride),
            argument(&mut first),
            argument(&mut cols),
            argument(&mut n),
            argument(&mut count),
        ];
        // SAFETY: ten arguments of the types of the kernel's; the caller vouches for what they point to.
        unsafe { function.launch(stream, Launch::new((blocks.max(1), groups), THREADS), &mut arguments) }
    }
}
