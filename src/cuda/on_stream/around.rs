//! The kernels before and after the sweeps: `resident/on_stream.cu`.

use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::ptx::ON_STREAM;
use crate::cuda::resident::sizes::PANEL_COLS;
use crate::cuda::resident::sweep_launch::{THREADS, WHOLE};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;

/// `Preparation`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Preparation {
    pub l: u64,
    pub l_stride: i64,
    pub copy: u64,
    pub copy_stride: i64,
    pub cleared: u64,
    pub v: u64,
    pub v_strides: [i64; 2],
    pub weights: u64,
    pub staged: u64,
    pub staged_stride: i64,
    pub inverse: u64,
    pub refine: u64,
    pub records: u64,
    pub record_words: i64,
    pub flags: u64,
    pub flag_words: i64,
    pub status: u64,
    pub refused: u64,
    pub n: i64,
    pub k: i32,
    pub width: i32,
    pub plus_blocks: i32,
    pub blocks: i32,
    pub panels: i32,
    pub row_parts: i32,
}

/// `Completion`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Completion {
    pub l: u64,
    pub from: u64,
    pub from_stride: i64,
    pub to: u64,
    pub ok: u64,
    pub status: u64,
    pub refused: u64,
    pub n: i64,
    pub words: i32,
    pub nan: i32,
}

/// Thread blocks for each multiprocessor that write what needs no particular number of them.
const BLOCKS_EACH: usize = 4;

/// The parts of V that thread blocks write.
pub(super) fn row_parts(n: usize) -> usize {
    n.div_ceil(THREADS)
}

/// The kernels for one scalar type.
pub(super) struct Around {
    prepare: Function,
    finish: Function,
    some: usize,
}

impl Around {
    /// # Errors
    /// [`Error::Device`] if the driver refuses a kernel.
    pub fn load<T: Real>(device: &Device) -> Result<Self, Error> {
        let module = device.module(&ON_STREAM)?;
        module.layout("on_stream")?.check(&[
            ("PANEL_COLS", PANEL_COLS),
            ("THREADS", THREADS),
            ("WHOLE", WHOLE as usize),
            ("PREPARATION_BYTES", size_of::<Preparation>()),
            ("COMPLETION_BYTES", size_of::<Completion>()),
        ])?;
        Ok(Self {
            prepare: Function::load(&module, &format!("prepare_{}", T::TYPE_NAME))?,
            finish: Function::load(&module, &format!("finish_{}", T::TYPE_NAME))?,
            some: BLOCKS_EACH * device.multiprocessors(),
        })
    }

    /// Enqueues what comes before a launch of sweeps.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// The memory is as the kernel describes it, and nothing else uses what is written until it is done.
    pub unsafe fn prepare(&self, stream: &Stream, mut all: Preparation) -> Result<(), Error> {
        let parts = usize::try_from(all.panels + all.row_parts).unwrap_or(0);
        let shape = Launch::new((parts + self.some, 1), THREADS);
        // SAFETY: one argument of the type of the kernel's; the caller guarantees the rest.
        unsafe { self.prepare.launch(stream, shape, &mut [argument(&mut all)]) }
    }

    /// Enqueues what comes after the last launch.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// As [`prepare`](Self::prepare).
    pub unsafe fn finish(&self, stream: &Stream, mut all: Completion) -> Result<(), Error> {
        let blocks = usize::try_from(all.n).unwrap_or(0).clamp(1, self.some);
        // SAFETY: one argument of the type of the kernel's; the caller guarantees the rest.
        unsafe { self.finish.launch(stream, Launch::new((blocks, 1), THREADS), &mut [argument(&mut all)]) }
    }
}
