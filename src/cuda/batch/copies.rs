//! Copies of a batch on a device: of some matrices, with more room, and of a single one in place of another.

use super::arguments::{Choice, address};
use super::operand::BatchOperand;
use super::{CholeskyBatch, MOST_ROWS};
use crate::batch::operand::BatchRef;
use crate::check::{extent, finite_lower, index};
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::ptx;
use crate::error::Error;
use crate::operand::Operand;
use crate::real::Real;

/// Threads of a block.
const THREADS: usize = 128;

impl<T: Real> CholeskyBatch<T> {
    /// A batch of copies of some of the matrices, in this order; one may occur several times. The list is in host memory, and the
    /// call waits for the device.
    ///
    /// # Errors
    /// `Index`, or `OutOfRange` for too many of them, naming `matrices`; [`Error::Device`] if the device has not enough memory, or fails.
    ///
    /// ```
    /// use cholupdate::cuda::{CholeskyBatch, Device};
    /// use cholupdate::{BatchRef, Error};
    ///
    /// fn on_the_gpu() -> Result<(), Error> {
    ///     let batch = CholeskyBatch::new(&Device::new(0)?, BatchRef::by_rows(&[4.0, 9.0], [2, 1, 1])?)?;
    ///     let three = batch.select(&[1, 1, 0])?;
    ///     assert_eq!(three.factor(1)?[(0, 0)], 3.0);
    ///     Ok(())
    /// }
    /// # match on_the_gpu() { Ok(()) | Err(Error::Device { .. }) => {} Err(error) => panic!("{error}") }
    /// ```
    pub fn select(&self, matrices: &[usize]) -> Result<Self, Error> {
        let limit = self.count;
        if let Some(entry) = matrices.iter().position(|&matrix| matrix >= limit) {
            return Err(Error::Index { argument: "matrices", entry, found: matrices[entry], limit });
        }
        // Lists of matrices are in 32 bits.
        if i32::try_from(matrices.len()).is_err() {
            return Err(Error::OutOfRange { argument: "matrices", rule: "less than 2³¹ matrices" });
        }
        let chosen: Vec<i32> = matrices.iter().map(|&matrix| i32::try_from(matrix).unwrap_or(0)).collect();
        let other = Self::empty(&self.device, self.argument, (chosen.len(), self.order))?;
        self.copy_to(&other, Some(&chosen), 0)?;
        Ok(other)
    }

    /// A copy of the batch.
    ///
    /// # Errors
    /// [`Error::Device`] if the device has not enough memory, or fails.
    pub fn try_clone(&self) -> Result<Self, Error> {
        self.with_room(self.order)
    }

    /// Makes room for matrices of this order, which becomes the [`order`](Self::order) of the batch unless that is as large already.
    /// No matrix changes.
    ///
    /// # Errors
    /// `OutOfRange`, naming `order`, if it is more than 4096; [`Error::Device`] if the device has not enough memory, or fails. Nothing is
    /// changed then.
    ///
    /// # Cost
    /// A copy of all factors, beside which the old ones exist until it is done. A CUDA graph that has captured calls on the batch must
    /// not be launched any more: it has the old addresses.
    pub fn reserve(&mut self, order: usize) -> Result<(), Error> {
        if order <= self.order {
            return Ok(());
        }
        if order > MOST_ROWS {
            return Err(Error::OutOfRange { argument: "order", rule: "at most 4096" });
        }
        let roomy = self.with_room(order)?;
        // The numbers of later modifications are where those of earlier ones were.
        let results = self.results.clone();
        *self = Self { results, ..roomy };
        Ok(())
    }

    /// Factors another A in place of a matrix, on the device. The outcomes of calls before are gone.
    ///
    /// # Shapes
    /// A (m × m), with m of at most the order of the batch; only its lower triangle is read.
    ///
    /// # Errors
    /// As [`CholeskyBatch::replace`](crate::CholeskyBatch::replace), and [`Error::Device`]; the matrix stays as it was.
    pub fn replace<'a>(&mut self, matrix: usize, a: impl Into<Operand<'a, T>>) -> Result<(), Error> {
        index("matrix", matrix, self.count)?;
        let a = a.into();
        let (rows, columns) = a.shape();
        extent("a", "columns", rows, columns)?;
        index("a", rows, self.order + 1)?;
        let a = a.on_host()?;
        finite_lower("a", a.as_ref())?;
        // Strides of any sign are not those of a batch.
        let by_columns: Vec<T> = a.as_ref().col_iter().flat_map(|column| column.iter().copied()).collect();
        let one = BatchRef::new(&by_columns, [1, rows, rows], [0, 1, rows])?;
        let one = Self::begun(&self.device, ("a", BatchOperand::Host(one)), None, false)?;
        one.status_of(0)?;
        // Their numbers refer to why the matrix has had no factor.
        (self.outcome_of, self.has_solved) = (None, false);
        one.copy_to(self, None, matrix)
    }

    /// A copy of all matrices, with room for this order.
    fn with_room(&self, order: usize) -> Result<Self, Error> {
        let other = Self::empty(&self.device, self.argument, (self.count, order))?;
        self.copy_to(&other, None, 0)?;
        Ok(other)
    }

    /// Copies the chosen matrices, or all of them, to those of another batch from number `first` on, and waits for it.
    fn copy_to(&self, other: &Self, chosen: Option<&[i32]>, first: usize) -> Result<(), Error> {
        let count = chosen.map_or(self.count, <[i32]>::len);
        if count == 0 {
            return Ok(());
        }
        let module = self.device.module(&ptx::BATCH_COPIES)?;
        module.layout("batch_copies")?.check(&[("THREADS", THREADS), ("CHOICE", size_of::<Choice>())])?;
        let select = Function::load(&module, &format!("batch_select_{}", T::TYPE_NAME))?;
        let chosen = chosen.map(|chosen| self.staged(chosen)).transpose()?;
        let choice = Choice {
            chosen: chosen.as_ref().map_or(0, |(_, chosen)| address(chosen)),
            first: i64::try_from(first).unwrap_or(0),
            count: i64::try_from(count).unwrap_or(0),
            reasons: [self, other].map(|batch| [address(&batch.why), address(&batch.why_place)]),
        };
        let launch = Launch::new((count.min(64 * self.device.multiprocessors()), 1), THREADS);
        // What the other batch has been asked for comes first.
        other.stream.synchronize()?;
        let enqueue = || {
            // SAFETY: all memories exist until the work has been waited for, below, and no other stream uses them until then. There
            // is room for the matrices, whose orders are at most those of both batches.
            unsafe {
                if let Some((staged, to)) = &chosen {
                    self.stream.upload(staged, 0..count, to.slice(0..count))?;
                }
                let (mut from, mut to, mut choice) = (self.factors(), other.factors(), choice);
                let arguments = &mut [argument(&mut from), argument(&mut to), argument(&mut choice)];
                select.launch(&self.stream, launch, arguments)
            }
        };
        let enqueued = enqueue();
        self.stream.synchronize().and(enqueued)
    }
}
