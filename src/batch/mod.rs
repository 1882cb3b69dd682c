//! Many small factors that are modified together.
//!
//! | file | holds |
//! |---|---|
//! | `operand` | batches of matrices in the caller's memory |
//! | `outcome` | what a call has done to each matrix |
//! | `tiles` | the factors in memory, and the threads that work on them |
//! | `updates`, `rows`, `systems` | the calls that modify, that change rows and columns, and that solve |
//! | `begin`, `modify`, `structure`, `solve`, `copies` | what they do, on all tiles |
//! | `alone` | matrices that are processed as single factors |
//! | `snapshot` | factors as plain data (feature `serde`) |
//! | `saved` | their matrices, to and from tiles |
//! | `verbs` | what compiles them |
//! | `kernels/` | the steps on as many matrices as a register has lanes |

mod alone;
#[allow(unsafe_code, reason = "hands the memory of factors to its kernel")]
mod begin;
#[allow(unsafe_code, reason = "threads write to the caller's matrices")]
mod copies;
#[allow(unsafe_code, reason = "hands the memory of factors to its kernel")]
mod modify;
#[allow(unsafe_code, reason = "references with strides of their own")]
pub(crate) mod operand;
mod outcome;
mod rows;
#[cfg(feature = "serde")]
mod saved;
#[cfg(feature = "serde")]
mod snapshot;
#[allow(unsafe_code, reason = "hands the memory of factors to its kernel")]
mod solve;
#[allow(unsafe_code, reason = "hands the memory of factors to its kernel")]
mod structure;
mod systems;
#[allow(unsafe_code, reason = "threads share the tiles")]
mod tiles;
mod updates;
pub(crate) mod verbs;

pub use self::operand::{BatchMut, BatchRef};
pub use self::outcome::BatchOutcome;
#[cfg(feature = "serde")]
pub use self::snapshot::BatchSnapshot;
pub use self::updates::BatchWeights;

use self::begin::Kind;
use self::tiles::{Extent, Tiles};
use crate::check::{extent, finite_hermitian, index, room};
use crate::cpu::Cpu;
use crate::error::Error;
use crate::operand::Operand;
use crate::scalar::Scalar;
use cholupdate_kernels::batch::packed::entries;
use faer::Mat;

/// Cholesky factors of many small matrices, kept current together: A_b = L_b L_bᵀ for b = 0, 1, …, or L_b L_bᴴ of complex numbers,
/// for which every transpose is a conjugate transpose.
///
/// As many matrices as a register of the processor has lanes are processed side by side, so that one matrix takes a fraction of the time
/// of a single [`Cholesky`](crate::Cholesky), and several threads share the batch. The result of a matrix does not depend on the others,
/// on its place or on the number of threads, bit for bit, and the accuracy and the rules of failure are those of `Cholesky`, matrix by
/// matrix: one that cannot be modified stays as it was, the outcome names it, and the others are modified.
///
/// ```
/// use cholupdate::{BatchRef, CholeskyBatch, Error};
///
/// # fn main() -> Result<(), Error> {
/// // Two matrices of order 2, one after the other, by rows.
/// let a = [4.0, 2.0, 2.0, 5.0,   9.0, 3.0, 3.0, 2.0];
/// let mut batch = CholeskyBatch::new(BatchRef::by_rows(&a, [2, 2, 2])?)?;
///
/// // A column for each.
/// let v = [1.0, 2.0,   0.0, 1.5];
/// let v = BatchRef::by_rows(&v, [2, 2, 1])?;
/// assert!(batch.update(v)?.failed().is_empty());           // A_b + v_b v_bᵀ
/// batch.downdate(v)?;                                      // A_b again
///
/// // A_1 − v v_ᵀ would not be positive definite. It stays as it was, and A_0 is downdated.
/// let outcome = batch.downdate(v)?;
/// assert_eq!(outcome.failed(), [1]);
/// assert_eq!(outcome.status(1), Err(Error::NotPositiveDefinite { column: 1 }));
/// assert!(outcome.report(0)?.min_pivot_ratio < 1.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct CholeskyBatch<T: Scalar> {
    tiles: Tiles<T>,
    /// The largest order for which there is room.
    order: usize,
}

impl<T: Scalar> CholeskyBatch<T> {
    /// The factors of matrices A, on all threads.
    ///
    /// A matrix that is not positive definite, or not finite, has no factor: [`status`](Self::status) says why, and every later call
    /// reports it, until [`replace`](Self::replace).
    ///
    /// # Shapes
    /// A (count × n × n); only lower triangles are read, and no imaginary parts of the diagonals.
    ///
    /// # Errors
    /// `Shape`, or `OutOfRange`, naming `a`, if there is not enough memory.
    ///
    /// # Cost
    /// n³/3 flops for each matrix.
    pub fn new(a: BatchRef<'_, T>) -> Result<Self, Error> {
        Self::new_in(a, Cpu::default())
    }

    /// As [`new`](Self::new), with the threads of an engine.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn new_in(a: BatchRef<'_, T>, engine: Cpu) -> Result<Self, Error> {
        Self::begin(("a", a), Kind::Matrices, None, engine)
    }

    /// As [`new_in`](Self::new_in), for matrices of different orders: of matrix b the leading `orders[b]` rows and columns are read.
    /// Rows of V and of right-hand sides from there on may be anything.
    ///
    /// # Shapes
    /// A (count × n × n), `orders` (count entries).
    ///
    /// # Errors
    /// As [`new`](Self::new); `Shape`, or `Index` for an order greater than n, naming `orders`.
    ///
    /// ```
    /// use cholupdate::{BatchRef, CholeskyBatch, Cpu, Error};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let a = [4.0, 0.0, 2.0, 5.0,   9.0, 0.0, 0.0, 0.0];
    /// let batch = CholeskyBatch::with_orders(BatchRef::by_rows(&a, [2, 2, 2])?, &[2, 1], Cpu::default())?;
    /// assert_eq!(batch.factor(1)?[(0, 0)], 3.0);
    /// assert_eq!(batch.factor(1)?.nrows(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_orders(a: BatchRef<'_, T>, orders: &[usize], engine: Cpu) -> Result<Self, Error> {
        Self::begin(("a", a), Kind::Matrices, Some(orders), engine)
    }

    /// A batch of known factors L.
    ///
    /// # Shapes
    /// L (count × n × n); only lower triangles are read. As for [`Cholesky::from_factor`](crate::Cholesky::from_factor), columns with a
    /// negative diagonal entry are negated, those with a complex one turned, and L may have zeros on the diagonal: updates make it regular.
    ///
    /// # Errors
    /// As [`new`](Self::new), naming `l`. A matrix of which L is not finite, or its square not, has no factor.
    ///
    /// # Cost
    /// Some copies.
    pub fn from_factors(l: BatchRef<'_, T>) -> Result<Self, Error> {
        Self::from_factors_in(l, Cpu::default())
    }

    /// As [`from_factors`](Self::from_factors), with the threads of an engine.
    ///
    /// # Errors
    /// As [`from_factors`](Self::from_factors).
    pub fn from_factors_in(l: BatchRef<'_, T>, engine: Cpu) -> Result<Self, Error> {
        Self::begin(("l", l), Kind::Factors, None, engine)
    }

    /// As [`from_factors_in`](Self::from_factors_in), for factors of different orders: of L_b the leading `orders[b]` rows are read.
    ///
    /// # Shapes
    /// L (count × n × n), `orders` (count entries).
    ///
    /// # Errors
    /// As [`with_orders`](Self::with_orders), naming `l`.
    pub fn from_factors_with_orders(
        l: BatchRef<'_, T>,
        orders: &[usize],
        engine: Cpu,
    ) -> Result<Self, Error> {
        Self::begin(("l", l), Kind::Factors, Some(orders), engine)
    }

    fn begin(
        (argument, from): (&'static str, BatchRef<'_, T>),
        kind: Kind,
        orders: Option<&[usize]>,
        engine: Cpu,
    ) -> Result<Self, Error> {
        let [count, order, columns] = from.shape();
        extent(argument, "columns", order, columns)?;
        check_orders(orders, (count, order))?;
        let mut tiles = Tiles::new(Self::extent(argument, (count, order), engine)?);
        T::batch_begin(&mut tiles, from, kind, orders);
        Ok(Self { tiles, order })
    }

    /// The extents of a batch for which there is memory.
    ///
    /// # Errors
    /// `OutOfRange`, naming the argument.
    fn extent(argument: &'static str, (count, order): (usize, usize), engine: Cpu) -> Result<Extent, Error> {
        // The order is stored in 32 bits, and a triangle of that order would fill any memory.
        let scalars = if order < 1 << 31 { entries(order).checked_add(2) } else { None };
        room::<T>(argument, count, (scalars.unwrap_or(usize::MAX), size_of::<u32>() + size_of::<f64>()))?;
        Ok(Extent::new::<T>(count, order, engine.threads))
    }

    /// The number of matrices.
    #[must_use]
    pub fn count(&self) -> usize {
        self.tiles.extent.count
    }

    /// n, the number of rows of V and of right-hand sides: the largest order that a matrix can have.
    #[must_use]
    pub fn order(&self) -> usize {
        self.order
    }

    /// The order of a matrix, at most n.
    ///
    /// # Errors
    /// As [`status`](Self::status).
    pub fn order_of(&self, matrix: usize) -> Result<usize, Error> {
        self.status(matrix)?;
        let (tile, at) = self.tiles.of(matrix);
        Ok(tile.orders[at] as usize)
    }

    /// Whether a matrix has a factor.
    ///
    /// # Errors
    /// The reason why it has none; `Index`, naming `matrix`, if there is no such matrix.
    pub fn status(&self, matrix: usize) -> Result<(), Error> {
        index("matrix", matrix, self.count())?;
        let (tile, at) = self.tiles.of(matrix);
        tile.missing(at).map_or(Ok(()), |error| Err(error.clone()))
    }

    /// The matrices that have no factor, in order.
    #[must_use]
    pub fn missing(&self) -> Vec<usize> {
        let all = self.tiles.tiles.iter().enumerate();
        let of = |(t, tile): (usize, &tiles::Tile<T>)| {
            let first = self.tiles.extent.matrices(t).start;
            tile.missing.iter().map(|(at, _)| first + at).collect::<Vec<_>>()
        };
        all.flat_map(of).collect()
    }

    /// A copy of the factor of a matrix, zero above the diagonal. (n × n)
    ///
    /// # Errors
    /// As [`status`](Self::status).
    pub fn factor(&self, matrix: usize) -> Result<Mat<T>, Error> {
        self.status(matrix)?;
        let (tile, at) = self.tiles.of(matrix);
        Ok(tile.factor(self.tiles.extent, at))
    }

    /// Copies all factors to lower triangles. Entries above the diagonal are not written, nor rows from the order of a matrix on, nor
    /// [`missing`](Self::missing) matrices.
    ///
    /// # Shapes
    /// L (count × n × n).
    ///
    /// # Errors
    /// `Shape`, naming `l`.
    ///
    /// ```
    /// use cholupdate::{BatchMut, BatchRef, CholeskyBatch, Error};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let a = [4.0, 2.0, 2.0, 5.0,   -1.0, 0.0, 0.0, 1.0];
    /// let batch = CholeskyBatch::new(BatchRef::by_rows(&a, [2, 2, 2])?)?;
    /// let mut l = [7.0; 8];
    /// batch.copy_factors(BatchMut::by_rows(&mut l, [2, 2, 2])?)?;
    /// assert_eq!(l, [2.0, 7.0, 1.0, 2.0,   7.0, 7.0, 7.0, 7.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn copy_factors(&self, l: BatchMut<'_, T>) -> Result<(), Error> {
        let [count, rows, columns] = l.shape();
        extent("l", "matrices", self.count(), count)?;
        extent("l", "rows", self.order, rows)?;
        extent("l", "columns", self.order, columns)?;
        copies::copy(&self.tiles, &l);
        Ok(())
    }

    /// Factors another A in place of a matrix.
    ///
    /// # Shapes
    /// A (m × m), with m of at most the order of the batch; only its lower triangle is read.
    ///
    /// # Errors
    /// As [`Cholesky::new`](crate::Cholesky::new), and the matrix stays as it was; `Index`, naming `matrix`, if there is no such one, or
    /// naming `a` if it is too large.
    pub fn replace<'a>(&mut self, matrix: usize, a: impl Into<Operand<'a, T>>) -> Result<(), Error> {
        index("matrix", matrix, self.count())?;
        let a = a.into();
        let (rows, columns) = a.shape();
        extent("a", "columns", rows, columns)?;
        index("a", rows, self.order + 1)?;
        let a = a.on_host()?;
        finite_hermitian("a", a.as_ref())?;
        T::batch_replace(&mut self.tiles, matrix, &a.into_owned())
    }

    /// A batch of copies of some of the matrices, in this order; one may occur several times.
    ///
    /// # Errors
    /// `Index`, naming `matrices`; `OutOfRange` if there is not enough memory.
    pub fn select(&self, matrices: &[usize]) -> Result<Self, Error> {
        let limit = self.count();
        if let Some(entry) = matrices.iter().position(|&matrix| matrix >= limit) {
            return Err(Error::Index { argument: "matrices", entry, found: matrices[entry], limit });
        }
        room::<T>("matrices", matrices.len(), (entries(self.order) + 2, 12))?;
        Ok(Self { tiles: T::batch_select(&self.tiles, matrices, self.order), order: self.order })
    }
}

/// Checks that there is an order of at most `order` for each of `count` matrices, if there are any.
pub(crate) fn check_orders(orders: Option<&[usize]>, (count, order): (usize, usize)) -> Result<(), Error> {
    let Some(orders) = orders else { return Ok(()) };
    extent("orders", "entries", count, orders.len())?;
    match orders.iter().position(|&each| each > order) {
        Some(entry) => {
            Err(Error::Index { argument: "orders", entry, found: orders[entry], limit: order + 1 })
        }
        None => Ok(()),
    }
}

impl<T: Scalar> core::fmt::Debug for CholeskyBatch<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("CholeskyBatch")
            .field("count", &self.count())
            .field("order", &self.order)
            .finish_non_exhaustive()
    }
}
