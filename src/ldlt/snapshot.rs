//! A factor L S Lᴴ as plain data.

use super::Ldlt;
use super::expected::Expected;
use crate::check::{extent, room_for_copy};
use crate::cpu::Cpu;
use crate::error::Error;
use crate::scalar::Scalar;
use crate::snapshot::{Format, Invalid, OfLdlt, Sequence, Triangle, read_sequence, refused};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
#[serde(bound = "", deny_unknown_fields, expecting = "the data of an LDLᵀ factor")]
struct Data<T: Scalar> {
    format: Format<OfLdlt, T>,
    factor: Triangle<T>,
    /// Which entries of S are −1.
    #[serde(deserialize_with = "negative")]
    negative: Vec<bool>,
    expected: Expected,
    growth_limit: Limit,
}

/// The limit of the growth, without an infinity, which not every format has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Limit {
    None,
    AtMost(f64),
}

/// Expected signs as −1, 1 and, where either is right, 0: not every format has a missing entry.
pub(super) mod signs {
    use super::{Deserialize, Deserializer, Sequence, Serializer, read_sequence};
    use serde::de::{Error, Unexpected};

    pub fn serialize<S: Serializer>(signs: &[Option<bool>], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(signs.iter().map(|negative| match negative {
            None => 0_i8,
            Some(false) => 1,
            Some(true) => -1,
        }))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Option<bool>>, D::Error> {
        let signs: Vec<Sign> = read_sequence(deserializer, Sequence::Entries("expected"))?;
        Ok(signs.into_iter().map(|Sign(negative)| negative).collect())
    }

    struct Sign(Option<bool>);

    impl<'de> Deserialize<'de> for Sign {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            match i8::deserialize(deserializer)? {
                0 => Ok(Self(None)),
                1 => Ok(Self(Some(false))),
                -1 => Ok(Self(Some(true))),
                other => Err(Error::invalid_value(Unexpected::Signed(other.into()), &"-1, 0 or 1")),
            }
        }
    }
}

fn negative<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<bool>, D::Error> {
    read_sequence(deserializer, Sequence::Entries("negative"))
}

const KIND: &str = "LDLᵀ factor";

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
        match growth_limit {
            Limit::AtMost(limit) if !(*limit >= 1.0) => {
                Err(Error::OutOfRange { argument: "growth_limit", rule: "at least 1" }.into())
            }
            _ => Ok(()),
        }
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
            Err(invalid) => Err(invalid.of(KIND)),
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
            growth_limit: if limit < f64::INFINITY { Limit::AtMost(limit) } else { Limit::None },
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
        state.limit = match *growth_limit {
            Limit::None => f64::INFINITY,
            Limit::AtMost(limit) => limit,
        };
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
        Self::from_snapshot(&LdltSnapshot::deserialize(deserializer)?).map_err(|error| refused(error, KIND))
    }
}
