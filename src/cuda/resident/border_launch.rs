//! The kernels of a border, and the functions that launch them.

use super::rearrange::Columns;
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::ptx::BORDER;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;
use core::ffi::c_longlong;
use core::marker::PhantomData;

/// Threads of a block, and its warps.
const THREADS: usize = 256;
const WARPS: usize = THREADS / 32;
/// The largest second extent of a grid.
const BLOCKS: usize = 65535;

/// `border.cu` for one scalar type.
pub(super) struct BorderKernels<T> {
    schur: Function,
    below: Function,
    left: Function,
    scalar: PhantomData<T>,
}

impl<T: Real> BorderKernels<T> {
    /// # Errors
    /// [`Error::Device`] if the driver refuses the kernels.
    pub fn load(device: &Device) -> Result<Self, Error> {
        let module = device.module(&BORDER)?;
        module.layout("border")?.check(&[("THREADS", THREADS), ("WARPS", WARPS)])?;
        let function = |name: &str| Function::load(&module, &format!("border_{name}_{}", T::TYPE_NAME));
        Ok(Self {
            schur: function("schur")?,
            below: function("below")?,
            left: function("left")?,
            scalar: PhantomData,
        })
    }

    /// Enqueues K ← K − Sᵀ S, in the lower triangle. (r × r; rows × r)
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// Until it is done, both exist, nothing writes S, and only the stream uses K.
    pub unsafe fn schur(
        &self,
        stream: &Stream,
        s: Columns<'_, T>,
        k: Columns<'_, T>,
        (rows, rank): (usize, usize),
    ) -> Result<(), Error> {
        let blocks = (rank.div_ceil(WARPS), rank.min(BLOCKS));
        // SAFETY: the caller guarantees the memory; the blocks are those that the kernel requires.
        unsafe { launch(&self.schur, stream, blocks, (s, k), (rows, rank)) }
    }

    /// Enqueues X ← X C⁻ᵀ. (rows × r; r × r)
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// Until it is done, both exist, nothing writes C, and only the stream uses X.
    pub unsafe fn below(
        &self,
        stream: &Stream,
        c: Columns<'_, T>,
        x: Columns<'_, T>,
        (rows, rank): (usize, usize),
    ) -> Result<(), Error> {
        // SAFETY: the caller guarantees the memory; the blocks are those that the kernel requires.
        unsafe { launch(&self.below, stream, (rows.div_ceil(THREADS), 1), (c, x), (rows, rank)) }
    }

    /// Enqueues a copy of the columns of S to rows of L, the first at `to`. (r × rows; rows × r)
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// Until it is done, both exist, nothing writes S, and only the stream uses those rows.
    pub unsafe fn left(
        &self,
        stream: &Stream,
        s: Columns<'_, T>,
        to: Columns<'_, T>,
        (rows, rank): (usize, usize),
    ) -> Result<(), Error> {
        // SAFETY: the caller guarantees the memory; the blocks are those that the kernel requires.
        unsafe { launch(&self.left, stream, (rows.div_ceil(THREADS), 1), (s, to), (rows, rank)) }
    }
}

/// # Safety
/// The function is one of `border.cu`, the blocks are those that it requires, and its contract holds for the rest.
unsafe fn launch<T: Real>(
    function: &Function,
    stream: &Stream,
    blocks: (usize, usize),
    ((first, first_stride), (second, second_stride)): (Columns<'_, T>, Columns<'_, T>),
    (rows, rank): (usize, usize),
) -> Result<(), Error> {
    if rows * rank == 0 {
        return Ok(());
    }
    let (mut first, mut first_stride) = (first.address(), first_stride as c_longlong);
    let (mut second, mut second_stride) = (second.address(), second_stride as c_longlong);
    let (mut rows, mut rank) = (rows as c_longlong, rank as c_longlong);
    let mut arguments = [
        argument(&mut first),
        argument(&mut first_stride),
        argument(&mut second),
        argument(&mut second_stride),
        argument(&mut rows),
        argument(&mut rank),
    ];
    // SAFETY: six arguments of the types that each of these kernels has; the caller guarantees the rest.
    unsafe { function.launch(stream, Launch::new(blocks, THREADS), &mut arguments) }
}
