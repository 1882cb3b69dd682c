//! The word that all data begins with. It is checked as soon as it is read, because in a binary format what follows cannot be
//! read as another type.

use cholupdate_kernels::number::{Float, Number};
use core::fmt;
use core::marker::PhantomData;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Of the layout of the data that this version of the library writes, and the only one that it reads.
const VERSION: &str = "1";

/// A type of factor.
pub(crate) trait Kind {
    const NAME: &'static str;
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OfCholesky;
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OfBatch;
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OfLdlt;

impl Kind for OfCholesky {
    const NAME: &'static str = "Cholesky";
}
impl Kind for OfBatch {
    const NAME: &'static str = "CholeskyBatch";
}
impl Kind for OfLdlt {
    const NAME: &'static str = "Ldlt";
}

/// That this is data of a factor of this type, with numbers of the type T: `"cholupdate/Cholesky/f64/1"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Format<K, T>(PhantomData<(K, T)>);

impl<K, T> Format<K, T> {
    pub const THIS: Self = Self(PhantomData);
}

/// The name of a scalar type.
fn scalar<T: Number>() -> &'static str {
    match (T::Part::TYPE_NAME, T::PARTS) {
        (real, 1) => real,
        ("f32", _) => "c32",
        _ => "c64",
    }
}

impl<K: Kind, T: Number> Serialize for Format<K, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("cholupdate/{}/{}/{VERSION}", K::NAME, scalar::<T>()))
    }
}

impl<'de, K: Kind, T: Number> Deserialize<'de> for Format<K, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Expected(PhantomData))
    }
}

struct Expected<K, T>(PhantomData<(K, T)>);

impl<K: Kind, T: Number> de::Visitor<'_> for Expected<K, T> {
    type Value = Format<K, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"cholupdate/{}/{}/{VERSION}\"", K::NAME, scalar::<T>())
    }

    fn visit_str<E: de::Error>(self, found: &str) -> Result<Self::Value, E> {
        // What follows is part of the version.
        let mut words = found.splitn(4, '/');
        let words = [(); 4].map(|()| words.next().unwrap_or_default());
        let [library, kind, numbers, version] = words;
        if library != "cholupdate" {
            return Err(E::invalid_value(de::Unexpected::Str(found), &self));
        }
        for (what, found, expected) in [
            ("version of the data", version, VERSION),
            ("type of factor", kind, K::NAME),
            ("scalar type", numbers, scalar::<T>()),
        ] {
            if found != expected {
                return Err(E::custom(format_args!("the {what} is `{found}`, but `{expected}` is expected")));
            }
        }
        Ok(Format::THIS)
    }
}
