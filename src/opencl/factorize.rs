//! Initial factors by kernels that are enqueued column after column.

use super::device::{Device, DeviceKind};
use super::memory::Memory;
use super::program::Source;
use super::queue::{Function, Queue};
use crate::error::Error;
use crate::host::crout::remaining_columns;
use crate::host::layout::lower;
use crate::real::Real;
use faer::{Mat, MatRef};
use std::time::{Duration, Instant};

/// Work-items of a work-group. Always the same: some drivers compile a kernel again for each size.
const GROUP: usize = 64;

/// Kernels that factor a matrix column after column.
///
/// A CPU reads the matrix row after row, as the thesis does; on a GPU the columns are contiguous, so that neighbouring
/// work-items read neighbouring entries.
///
/// Source: J. P. T. Ruschel, *Parallel Implementations of the Cholesky Decomposition on CPUs and GPUs*, UFRGS (2016), section
/// 4.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ColumnKernels {
    /// One kernel for each column: every work-item computes an entry, and the pivot for itself. The thesis's "simple single
    /// kernel".
    Single,
    /// Two kernels: one work-item computes the pivot, then each other work-item an entry. The thesis's "simple multiple
    /// kernels".
    Two,
    /// The same, in the memory of A. The thesis's "in-place multiple kernels".
    TwoInPlace,
}

impl ColumnKernels {
    /// All of them, in the order of the thesis.
    pub const ALL: [Self; 3] = [Self::Single, Self::Two, Self::TwoInPlace];
}

/// Computes L by these kernels, and the last `cutoff` columns on the host. Returns the time including transfers.
///
/// # Errors
/// `NotPositiveDefinite`; `Device`.
pub(crate) fn by_column<T: Real>(
    device: &Device,
    a: MatRef<'_, T>,
    kernels: ColumnKernels,
    cutoff: usize,
) -> Result<(Mat<T>, Duration), Error> {
    device.supports::<T>()?;
    let mut l = lower(a);
    let cols = l.ncols().saturating_sub(cutoff);
    if cols == 0 {
        let start = Instant::now();
        remaining_columns(l.as_mut(), 0)?;
        return Ok((l, start.elapsed()));
    }
    let run = Run::<T>::new(device, a.nrows(), kernels)?;
    let mut entries = run.layout.pack(l.as_ref());
    let start = Instant::now();
    run.columns(&mut entries, cols)?;
    let on_the_device = start.elapsed();
    run.layout.unpack(&entries, &mut l, cols);
    let start = Instant::now();
    remaining_columns(l.as_mut(), cols)?;
    Ok((l, on_the_device + start.elapsed()))
}

/// The order of a matrix's entries in memory.
#[derive(Clone, Copy)]
struct Layout {
    order: usize,
    by_rows: bool,
}

impl Layout {
    fn place(self, i: usize, j: usize) -> usize {
        if self.by_rows { i * self.order + j } else { j * self.order + i }
    }

    /// The lower triangle, with zeros above it.
    fn pack<T: Real>(self, l: MatRef<'_, T>) -> Vec<T> {
        let mut entries = vec![T::ZERO; self.order * self.order];
        for j in 0..self.order {
            (j..self.order).for_each(|i| entries[self.place(i, j)] = l[(i, j)]);
        }
        entries
    }

    /// Writes the lower triangle of the first `cols` columns.
    fn unpack<T: Real>(self, entries: &[T], l: &mut Mat<T>, cols: usize) {
        for j in 0..cols {
            (j..self.order).for_each(|i| l[(i, j)] = entries[self.place(i, j)]);
        }
    }
}

/// The device memory and kernels of a factorization.
struct Run<T> {
    layout: Layout,
    queue: Queue,
    a: Memory<T>,
    /// The destination of the factor, if it is not the memory of A.
    l: Option<Memory<T>>,
    info: Memory<i32>,
    steps: Vec<Step>,
}

/// One kernel of a column.
struct Step {
    function: Function,
    extent: Extent,
}

/// The rows that have a work-item.
#[derive(Clone, Copy)]
enum Extent {
    One,
    FromDiagonal,
    Below,
}

impl<T: Real> Run<T> {
    fn new(device: &Device, order: usize, kernels: ColumnKernels) -> Result<Self, Error> {
        let layout = Layout { order, by_rows: device.kind() == DeviceKind::Cpu };
        let program = device.program(Source {
            name: "crout.cl",
            text: include_str!("../../kernels/opencl/crout.cl"),
            parameters: vec![
                ("DOUBLE", usize::from(size_of::<T>() == 8)),
                ("BY_ROWS", usize::from(layout.by_rows)),
            ],
        })?;
        let steps: &[_] = match kernels {
            ColumnKernels::Single => &[(c"crout_single", Extent::FromDiagonal)],
            ColumnKernels::Two | ColumnKernels::TwoInPlace => {
                &[(c"crout_diagonal", Extent::One), (c"crout_below", Extent::Below)]
            }
        };
        let memory = || Memory::new(device, order * order);
        let run = Self {
            layout,
            queue: Queue::new(device)?,
            a: memory()?,
            l: if kernels == ColumnKernels::TwoInPlace { None } else { Some(memory()?) },
            info: Memory::new(device, 1)?,
            steps: steps
                .iter()
                .map(|&(name, extent)| Ok(Step { function: Function::new(device, &program, name)?, extent }))
                .collect::<Result<_, Error>>()?,
        };
        for Step { function, .. } in &run.steps {
            // SAFETY: the types of the parameters of every kernel of the program: a, l, n, j (which `columns` sets), info.
            unsafe {
                function.set(0, &run.a.handle())?;
                function.set(1, &run.l().handle())?;
                function.set(2, &(order as u64))?;
                function.set(4, &run.info.handle())?;
            }
        }
        Ok(run)
    }

    fn l(&self) -> &Memory<T> {
        self.l.as_ref().unwrap_or(&self.a)
    }

    /// Copies A to the device, computes the first `cols` columns of L, and copies them back.
    fn columns(&self, entries: &mut [T], cols: usize) -> Result<(), Error> {
        self.queue.write(entries, &self.a)?;
        self.queue.write(&[0], &self.info)?;
        let enqueued = (0..cols).try_for_each(|column| self.column(column));
        // Also after an error: nothing is in flight when this returns.
        self.queue.finish().and(enqueued)?;
        let mut info = [0];
        self.queue.read(&self.info, &mut info)?;
        match info[0] {
            0 if self.layout.by_rows => self.queue.read(self.l(), entries),
            0 => self.queue.read(self.l(), &mut entries[..cols * self.layout.order]),
            column => Err(Error::NotPositiveDefinite { column: column as usize - 1 }),
        }
    }

    fn column(&self, column: usize) -> Result<(), Error> {
        let order = self.layout.order;
        for Step { function, extent } in &self.steps {
            let items = match extent {
                Extent::One => 1,
                Extent::FromDiagonal => order - column,
                Extent::Below => order - column - 1,
            };
            if items > 0 {
                // SAFETY: j of every kernel; the others are set. The buffers have the shapes that the kernels' file states,
                // exist as long as `self`, and this queue alone uses them.
                unsafe {
                    function.set(3, &(column as u64))?;
                    self.queue.launch(function, items, GROUP)?;
                }
            }
        }
        Ok(())
    }
}
