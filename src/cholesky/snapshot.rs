//! A factor as plain data.

use super::Cholesky;
use crate::check::room_for_copy;
use crate::cpu::Cpu;
use crate::engine::Engine;
use crate::error::Error;
use crate::factor::Factor;
use crate::factor::verbs::Verbs;
use crate::history::Kept;
use crate::operand::Operand;
use crate::scalar::Scalar;
use crate::snapshot::{Format, Invalid, OfCholesky, Triangle, refused};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};

/// A [`Cholesky`] as plain data in host memory, which serde writes and reads (feature `serde`): L, and what its modifications have left of
/// rounding errors. It does not have the engine.
///
/// Reading refuses data that is not that of a factor, and says what is wrong with it: another type of factor or of numbers, too few or too
/// many entries, entries that are not finite, pivots that are not positive. A factor that [began singular](Cholesky::zeros) may have pivots
/// that are zero.
///
/// [`Cholesky`] itself is written as its snapshot, and is read to the default [`Cpu`] engine. What is read has the bits of what was
/// written if the format preserves numbers: of `serde_json` that takes its feature `float_roundtrip`.
///
/// ```
/// use cholupdate::{Cholesky, Cpu, Snapshot, faer::mat};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
/// factor.update(&[1.0, 0.5])?;
/// let file = serde_json::to_string(&factor)?;                         // or of factor.snapshot()?
///
/// let again: Cholesky<f64> = serde_json::from_str(&file)?;
/// assert_eq!(again.l(), factor.l());                                  // bit for bit
/// let snapshot: Snapshot<f64> = serde_json::from_str(&file)?;
/// let on_one_thread = Cholesky::from_snapshot_in(&snapshot, Cpu::sequential())?;
/// assert_eq!(on_one_thread.error_estimate(), factor.error_estimate());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(bound = "", transparent)]
pub struct Snapshot<T: Scalar>(Data<T>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields, expecting = "the data of a Cholesky factor")]
struct Data<T: Scalar> {
    format: Format<OfCholesky, T>,
    factor: Triangle<T>,
    history: Kept,
}

const KIND: &str = "Cholesky factor";

impl<T: Scalar> Data<T> {
    fn check(&self) -> Result<(), Invalid> {
        self.factor.check()?;
        Ok(self.history.check(self.factor.order)?)
    }
}

impl<T: Scalar> Snapshot<T> {
    /// n, the number of rows of A.
    #[must_use]
    pub fn order(&self) -> usize {
        self.0.factor.order
    }
}

impl<'de, T: Scalar> Deserialize<'de> for Snapshot<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let data = Data::deserialize(deserializer)?;
        match data.check() {
            Ok(()) => Ok(Self(data)),
            Err(invalid) => Err(invalid.of(KIND)),
        }
    }
}

impl<T: Scalar> Cholesky<T> {
    /// The factor of a snapshot, on the default [`Cpu`] engine.
    ///
    /// # Errors
    /// `Overflow`, naming `l`, if squares of rows of L could overflow; `OutOfRange`, naming `l`, if there is not enough memory.
    ///
    /// # Cost
    /// Two copies of L.
    pub fn from_snapshot(snapshot: &Snapshot<T>) -> Result<Self, Error> {
        Self::from_snapshot_in(snapshot, Cpu::default())
    }
}

impl<T: Scalar, E: Engine<T>> Cholesky<T, E> {
    /// A copy of L and of what is known about its errors, as plain data in host memory. Any engine can continue with it.
    ///
    /// # Errors
    /// [`Error::Poisoned`]; [`Error::Device`] from an engine with a device.
    ///
    /// # Cost
    /// Two copies of L.
    pub fn snapshot(&self) -> Result<Snapshot<T>, Error> {
        let (l, start) = E::Factor::copied(&self.factor)?;
        let (factor, history) = (Triangle::of(l.as_ref()), Kept::of(start.history));
        Ok(Snapshot(Data { format: Format::THIS, factor, history }))
    }

    /// As [`Cholesky::from_snapshot`], on `engine`.
    ///
    /// # Errors
    /// As [`Cholesky::from_snapshot`], and [`Error::Device`] from an engine with a device.
    ///
    /// # Cost
    /// Two copies of L, and one by the engine.
    pub fn from_snapshot_in(snapshot: &Snapshot<T>, engine: E) -> Result<Self, Error> {
        let Data { factor, history, .. } = &snapshot.0;
        room_for_copy::<T>("l", (factor.order, factor.order))?;
        let l = factor.to_l();
        let (l, mut start) = E::Factor::checked(&Operand::Host(l.as_ref()), engine.par())?;
        start.history = history.to_history();
        let factor = Factor::new(engine.adopt(l)?, start);
        Ok(Self { engine, factor })
    }
}

/// Writes the [snapshot](Cholesky::snapshot). A factor that is [lost](Error::Poisoned) is an error.
impl<T: Scalar, E: Engine<T>> Serialize for Cholesky<T, E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.snapshot().map_err(ser::Error::custom)?.serialize(serializer)
    }
}

/// Reads a [`Snapshot`], to the default engine.
impl<'de, T: Scalar> Deserialize<'de> for Cholesky<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_snapshot(&Snapshot::deserialize(deserializer)?).map_err(|error| refused(error, KIND))
    }
}
