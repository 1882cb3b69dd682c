//! The kernels of a border, and the functions that launch them.

use super::rearrange::Columns;
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::memory::DeviceSlice;
use crate::cuda::ptx::BORDER;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;
use core::ffi::c_longlong;
use core::marker::PhantomData;

/// Threads of a block.
const THREADS: usize = 256;
/// Rows of the new columns of A that a block copies.
const ROWS_OF_BLOCK: usize = 4 * THREADS;
/// Rows and columns of K of a block.
const TILE: usize = 4;
/// Columns of a corner that is factored where X is computed.
pub(super) const FEW: usize = 32;
/// Columns and rows of S that a block copies to L.
const LEFT_TILE: usize = 32;
/// The largest second extent of a grid.
const BLOCKS: usize = 65535;

/// What is found about the new columns, in the order of the kernels.
#[derive(Clone, Copy)]
pub(super) enum Fact {
    /// The first entry that is not finite, of each part.
    Above,
    Below,
    Corner,
    /// The largest diagonal entry of K.
    Largest,
    /// The first column in which K breaks down, if C is computed where X is.
    Breakdown,
    /// The first row of X with a square that is too large.
    LostRow,
}

/// How many they are.
pub(super) const FACTS: usize = Fact::LostRow as usize + 1;

/// Rows of the new columns of A, on the device or in page-locked memory of the host: `Part` of `border.cu`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct PartArgument {
    entries: u64,
    stride: c_longlong,
    rows: c_longlong,
}

impl PartArgument {
    /// With this number of rows.
    pub fn new<T>(((entries, stride), rows): (Columns<'_, T>, usize)) -> Self {
        Self { entries: entries.address(), stride: stride as c_longlong, rows: rows as c_longlong }
    }
}

/// `border.cu` for one scalar type.
pub(super) struct BorderKernels<T> {
    take: Function,
    schur: Function,
    below: Function,
    finish: Function,
    left: Function,
    scalar: PhantomData<T>,
}

impl<T: Real> BorderKernels<T> {
    /// # Errors
    /// [`Error::Device`] if the driver refuses the kernels.
    pub fn load(device: &Device) -> Result<Self, Error> {
        let module = device.module(&BORDER)?;
        module.layout("border")?.check(&[
            ("THREADS", THREADS),
            ("ROWS_OF_BLOCK", ROWS_OF_BLOCK),
            ("TILE", TILE),
            ("FEW", FEW),
            ("LEFT_TILE", LEFT_TILE),
            ("FACTS", FACTS),
            ("PART_BYTES", size_of::<PartArgument>()),
        ])?;
        let function = |name: &str| Function::load(&module, &format!("border_{name}_{}", T::TYPE_NAME));
        Ok(Self {
            take: function("take")?,
            schur: function("schur")?,
            below: function("below")?,
            finish: function("finish")?,
            left: function("left")?,
            scalar: PhantomData,
        })
    }

    /// Enqueues the copy of B₁, B₂ and K to B (rows × r), with `skipped` rows of zeros after those of B₁, and to K (r × r), and
    /// their check.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// Until it is done, all of it exists, nothing writes the parts, and only the stream uses the rest. The facts are zeros.
    pub unsafe fn take(
        &self,
        stream: &Stream,
        [mut above, mut below, mut corner]: [PartArgument; 3],
        skipped: usize,
        ((b, b_stride), (k, k_stride)): (Columns<'_, T>, Columns<'_, T>),
        (facts, pivots): (DeviceSlice<'_, u64>, DeviceSlice<'_, f64>),
    ) -> Result<(), Error> {
        let rank = corner.rows as usize;
        let rows = above.rows as usize + skipped + below.rows as usize + rank;
        let mut skipped = skipped as c_longlong;
        let (mut b, mut b_stride) = (b.address(), b_stride as c_longlong);
        let (mut k, mut k_stride) = (k.address(), k_stride as c_longlong);
        let (mut facts, mut pivots) = (facts.address(), pivots.address());
        let mut arguments = [
            argument(&mut above),
            argument(&mut below),
            argument(&mut corner),
            argument(&mut skipped),
            argument(&mut b),
            argument(&mut b_stride),
            argument(&mut k),
            argument(&mut k_stride),
            argument(&mut facts),
            argument(&mut pivots),
        ];
        let launch = Launch::new((rows.div_ceil(ROWS_OF_BLOCK), rank.min(BLOCKS)), THREADS);
        // SAFETY: ten arguments of the types of the kernel's; the caller guarantees the memory.
        unsafe { self.take.launch(stream, launch, &mut arguments) }
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
        let tiles = rank.div_ceil(TILE);
        // SAFETY: the caller guarantees the memory; the blocks are those that the kernel requires.
        unsafe { launch(&self.schur, stream, (tiles, tiles.min(BLOCKS)), (s, k), (rows, rank)) }
    }

    /// Enqueues X ← X C⁻ᵀ (rows × r; r × r), the check that its squares are at most `most`, and a copy of the diagonal of C.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// Until it is done, all of it exists, nothing writes C, and only the stream uses the rest.
    pub unsafe fn below(
        &self,
        stream: &Stream,
        ((c, c_stride), (x, x_stride)): (Columns<'_, T>, Columns<'_, T>),
        (rows, rank): (usize, usize),
        mut most: f64,
        (facts, pivots): (DeviceSlice<'_, u64>, DeviceSlice<'_, f64>),
    ) -> Result<(), Error> {
        let (mut c, mut c_stride) = (c.address(), c_stride as c_longlong);
        let (mut x, mut x_stride) = (x.address(), x_stride as c_longlong);
        let launch = Launch::new((rows.div_ceil(THREADS).max(1), 1), THREADS);
        let (mut rows, mut rank) = (rows as c_longlong, rank as c_longlong);
        let (mut facts, mut pivots) = (facts.address(), pivots.address());
        let mut arguments = [
            argument(&mut c),
            argument(&mut c_stride),
            argument(&mut x),
            argument(&mut x_stride),
            argument(&mut rows),
            argument(&mut rank),
            argument(&mut most),
            argument(&mut facts),
            argument(&mut pivots),
        ];
        // SAFETY: nine arguments of the types of the kernel's; the caller guarantees the memory.
        unsafe { self.below.launch(stream, launch, &mut arguments) }
    }

    /// Enqueues the same with C Cᵀ = K first. (r ≤ [`FEW`])
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// Until it is done, all of it exists, nothing writes K, and only the stream uses the rest.
    pub unsafe fn finish(
        &self,
        stream: &Stream,
        ((k, k_stride), (c, c_stride), (x, x_stride)): (Columns<'_, T>, Columns<'_, T>, Columns<'_, T>),
        (rows, rank): (usize, usize),
        mut most: f64,
        (facts, pivots): (DeviceSlice<'_, u64>, DeviceSlice<'_, f64>),
    ) -> Result<(), Error> {
        debug_assert!(rank <= FEW);
        let (mut k, mut k_stride) = (k.address(), k_stride as c_longlong);
        let (mut c, mut c_stride) = (c.address(), c_stride as c_longlong);
        let (mut x, mut x_stride) = (x.address(), x_stride as c_longlong);
        let launch = Launch::new((rows.div_ceil(THREADS).max(1), 1), THREADS);
        let (mut rows, mut rank) = (rows as c_longlong, rank as c_longlong);
        let (mut facts, mut pivots) = (facts.address(), pivots.address());
        let mut arguments = [
            argument(&mut k),
            argument(&mut k_stride),
            argument(&mut c),
            argument(&mut c_stride),
            argument(&mut x),
            argument(&mut x_stride),
            argument(&mut rows),
            argument(&mut rank),
            argument(&mut most),
            argument(&mut facts),
            argument(&mut pivots),
        ];
        // SAFETY: eleven arguments of the types of the kernel's; the caller guarantees the memory.
        unsafe { self.finish.launch(stream, launch, &mut arguments) }
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
        let blocks = (rows.div_ceil(LEFT_TILE), rank.div_ceil(LEFT_TILE).min(BLOCKS));
        // SAFETY: the caller guarantees the memory; the blocks are those that the kernel requires.
        unsafe { launch(&self.left, stream, blocks, (s, to), (rows, rank)) }
    }
}

/// # Safety
/// The function is `schur` or `left` of `border.cu`, the blocks are those that it requires, and its contract holds for the rest.
unsafe fn launch<T: Real>(
    function: &Function,
    stream: &Stream,
    blocks: (usize, usize),
    ((s, s_stride), (to, to_stride)): (Columns<'_, T>, Columns<'_, T>),
    (rows, rank): (usize, usize),
) -> Result<(), Error> {
    if rows * rank == 0 {
        return Ok(());
    }
    let (mut s, mut s_stride) = (s.address(), s_stride as c_longlong);
    let (mut to, mut to_stride) = (to.address(), to_stride as c_longlong);
    let (mut rows, mut rank) = (rows as c_longlong, rank as c_longlong);
    let mut arguments = [
        argument(&mut s),
        argument(&mut s_stride),
        argument(&mut to),
        argument(&mut to_stride),
        argument(&mut rows),
        argument(&mut rank),
    ];
    // SAFETY: six arguments of the types that both kernels have; the caller guarantees the rest.
    unsafe { function.launch(stream, Launch::new(blocks, THREADS), &mut arguments) }
}
