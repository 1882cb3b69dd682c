//! A factor L S Lᴴ as plain data.

use super::Ldlt;
use super::expected::Expected;
use crate::check::{extent, room_for_copy};
use crate::cpu::Cpu;
use crate::error::Error;
use crate::scalar::Scalar;
use crate::snapshot::{Format, Invalid, OfLdlt, Triangle};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An [`Ldlt`] as plain data in host memory, which serde writes and reads (feature `serde`): L, S, the limit of the growth, and the
/// expected signs or inertia. It does not have the engine. Reading refuses data that is not that of a factor, as that of a
/// [`Snapshot`](crate::Snapshot) does.
///
/// [`Ldlt`] itself is written as its snapshot, and is read to the default [`Cpu`] engine.
///
/// ```
/// use cholupdate::{Ldlt, faer::mat};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut factor = Ldlt::new(&mat![[2.0, 1.0], [1.0, -1.0]])?;
/// factor.expect_inertia(1, 1);
/// let file = serde_json::to_string(&factor)?;
///
/// let mut again: Ldlt<f64> = serde_json::from_str(&file)?;
/// assert_eq!((again.l(), again.signs()), (factor.l(), factor.signs()));
/// assert!(again.modify(&[1.0, 0.0], &[-4.0]).is_err());               // what is expected is kept as well
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(bound = "", transparent)]
pub struct LdltSnapshot<T: Scalar>(Data<T>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
struct Data<T: Scalar> {
    format: Format<OfLdlt, T>,
    factor: Triangle<T>,
    /// Which entries of S are −1.
    negative: Vec<bool>,
    expected: Expected,
    /// Absent if it is infinite, which not every format has.
    growth_limit: Option<f64>,
}

impl<T: Scalar> Data<T> {
    fn check(&self) -> Result<(), Invalid> {
        let Self { factor, negative, expected, growth_limit, .. } = self;
        factor.check()?;
        if let Some(column) = factor.singular {
            return Err(Invalid::Pivot { column, found: 0.0 });
        }
        extent("negative", "entries", factor.order, negative.len())?;
        if let Expected::Signs(signs) = expected {
            extent("expected", "entries", factor.order, signs.len())?;
        }
        if growth_limit.is_some_and(|limit| !(limit >= 1.0)) {
            return Err(Error::OutOfRange { argument: "growth_limit", rule: "at least 1" }.into());
        }
        Ok(())
    }
}

impl<T: Scalar> LdltSnapshot<T> {
    /// n, the number of rows of A.
    #[must_use]
    pub fn order(&self) -> usize {
        self.0.factor.order
    }
}

impl<'de, T: Scalar> Deserialize<'de> for LdltSnapshot<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let data = Data::deserialize(deserializer)?;
        match data.check() {
            Ok(()) => Ok(Self(data)),
            Err(invalid) => Err(invalid.of("LDLᵀ factor")),
        }
    }
}

impl<T: Scalar> Ldlt<T> {
    /// A copy of L and S, and of what is expected of the result of every call, as plain data.
    ///
    /// # Cost
    /// One copy of L.
    #[must_use]
    pub fn snapshot(&self) -> LdltSnapshot<T> {
        let limit = self.state.limit;
        LdltSnapshot(Data {
            format: Format::THIS,
            factor: Triangle::of(self.l()),
            negative: self.state.now.negative.clone(),
            expected: self.state.expected.clone(),
            growth_limit: (limit < f64::INFINITY).then_some(limit),
        })
    }

    /// The factor of a snapshot, on the default [`Cpu`] engine. L and S are those of the snapshot bit for bit; the growth is computed from
    /// them.
    ///
    /// # Errors
    /// `Overflow`, naming `l`, if squares of entries of L could overflow; `OutOfRange`, naming `l`, if there is not enough memory.
    ///
    /// # Cost
    /// One copy of L, and one pass over it.
    pub fn from_snapshot(snapshot: &LdltSnapshot<T>) -> Result<Self, Error> {
        Self::from_snapshot_in(snapshot, Cpu::default())
    }

    /// As [`from_snapshot`](Self::from_snapshot), with the threads of `engine`.
    ///
    /// # Errors, cost
    /// As [`from_snapshot`](Self::from_snapshot).
    pub fn from_snapshot_in(snapshot: &LdltSnapshot<T>, engine: Cpu) -> Result<Self, Error> {
        let Data { factor, negative, expected, growth_limit, .. } = &snapshot.0;
        room_for_copy::<T>("l", (factor.order, factor.order))?;
        let mut state = T::ldlt_restored(factor, negative, engine.threads)?;
        state.expected = expected.clone();
        state.limit = growth_limit.unwrap_or(f64::INFINITY);
        Ok(Self { engine, state })
    }
}

/// Writes the [snapshot](Ldlt::snapshot).
impl<T: Scalar> Serialize for Ldlt<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.snapshot().serialize(serializer)
    }
}

/// Reads an [`LdltSnapshot`], to the default engine.
impl<'de, T: Scalar> Deserialize<'de> for Ldlt<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_snapshot(&LdltSnapshot::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}
