//! A batch of factors as plain data.

use super::CholeskyBatch;
use super::saved::Matrix;
use crate::cpu::Cpu;
use crate::error::Error;
use crate::scalar::Scalar;
use crate::snapshot::{Format, Invalid, OfBatch, Sequence, Triangle, read_sequence};
use cholupdate_kernels::number::Float;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A [`CholeskyBatch`] as plain data, which serde writes and reads (feature `serde`): the factors, the largest order, and why matrices have
/// no factor. It does not have the engine. Reading refuses data that is not that of factors, as that of a [`Snapshot`](crate::Snapshot)
/// does, and names the matrix.
///
/// [`CholeskyBatch`] itself is written as its snapshot, and is read to the default [`Cpu`] engine.
///
/// ```
/// use cholupdate::{BatchRef, CholeskyBatch};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let a = [4.0, 2.0, 2.0, 5.0,   9.0, 3.0, 3.0, 2.0];
/// let batch = CholeskyBatch::new(BatchRef::by_rows(&a, [2, 2, 2])?)?;
/// let file = serde_json::to_string(&batch)?;
///
/// let again: CholeskyBatch<f64> = serde_json::from_str(&file)?;
/// assert_eq!(again.factor(1)?, batch.factor(1)?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(bound = "", transparent)]
pub struct BatchSnapshot<T: Scalar>(Data<T>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields, expecting = "the data of a batch of Cholesky factors")]
struct Data<T: Scalar> {
    format: Format<OfBatch, T>,
    /// The largest order.
    order: usize,
    #[serde(deserialize_with = "matrices")]
    matrices: Vec<Matrix<T>>,
}

fn matrices<'de, T: Scalar, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Matrix<T>>, D::Error> {
    read_sequence(deserializer, Sequence::Matrices)
}

impl<T: Scalar> Data<T> {
    fn check(&self) -> Result<(), Invalid> {
        for (matrix, data) in self.matrices.iter().enumerate() {
            let Matrix::Factor(factor) = data else { continue };
            self.check_one(factor).map_err(|why| Invalid::Matrix { matrix, why: Box::new(why) })?;
        }
        Ok(())
    }

    fn check_one(&self, factor: &Triangle<T>) -> Result<(), Invalid> {
        let (found, largest) = (factor.order, self.order);
        if found > largest {
            return Err(Invalid::Order { found, largest });
        }
        factor.check()?;
        if factor.largest_square() > T::Part::LARGE_SQUARE.to_f64() {
            return Err(Error::Overflow { argument: "l" }.into());
        }
        Ok(())
    }
}

impl<T: Scalar> BatchSnapshot<T> {
    /// The number of matrices.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.matrices.len()
    }

    /// The largest order that a matrix can have.
    #[must_use]
    pub fn order(&self) -> usize {
        self.0.order
    }
}

impl<'de, T: Scalar> Deserialize<'de> for BatchSnapshot<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let data = Data::deserialize(deserializer)?;
        match data.check() {
            Ok(()) => Ok(Self(data)),
            Err(invalid) => Err(invalid.of("batch of Cholesky factors")),
        }
    }
}

impl<T: Scalar> CholeskyBatch<T> {
    /// Copies of all factors, as plain data.
    ///
    /// # Cost
    /// Two copies.
    #[must_use]
    pub fn snapshot(&self) -> BatchSnapshot<T> {
        let matrices = T::batch_saved(&self.tiles);
        BatchSnapshot(Data { format: Format::THIS, order: self.order, matrices })
    }

    /// The batch of a snapshot, on all threads. Each factor is that of the snapshot bit for bit.
    ///
    /// # Errors
    /// `OutOfRange`, naming `snapshot`, if there is not enough memory.
    ///
    /// # Cost
    /// Two copies.
    pub fn from_snapshot(snapshot: &BatchSnapshot<T>) -> Result<Self, Error> {
        Self::from_snapshot_in(snapshot, Cpu::default())
    }

    /// As [`from_snapshot`](Self::from_snapshot), with the threads of an engine.
    ///
    /// # Errors, cost
    /// As [`from_snapshot`](Self::from_snapshot).
    pub fn from_snapshot_in(snapshot: &BatchSnapshot<T>, engine: Cpu) -> Result<Self, Error> {
        let Data { order, matrices, .. } = &snapshot.0;
        let extent = Self::extent("snapshot", (matrices.len(), *order), engine)?;
        Ok(Self { tiles: T::batch_restored(extent, matrices), order: *order })
    }
}

/// Writes the [snapshot](CholeskyBatch::snapshot).
impl<T: Scalar> Serialize for CholeskyBatch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.snapshot().serialize(serializer)
    }
}

/// Reads a [`BatchSnapshot`], to the default engine.
impl<'de, T: Scalar> Deserialize<'de> for CholeskyBatch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_snapshot(&BatchSnapshot::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}
