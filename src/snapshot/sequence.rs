//! Sequences of which an error names the element.

use core::fmt::{self, Display};
use core::marker::PhantomData;
use serde::{Deserialize, Deserializer, de};

/// Reads the elements of a sequence, which is `what`. Memory for them is not reserved: the data may state any number.
///
/// # Errors
/// That of the first element that cannot be read, after what it is: "entry 3 of `errors`: …". It is an error of the data, also where
/// the data ends too early.
pub(crate) fn read_sequence<'de, X: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
    what: Sequence,
) -> Result<Vec<X>, D::Error> {
    deserializer.deserialize_seq(Reader { what, element: PhantomData })
}

/// What the elements of a sequence are.
#[derive(Clone, Copy)]
pub(crate) enum Sequence {
    /// Those of the vector in this field.
    Entries(&'static str),
    /// The matrices of a batch.
    Matrices,
}

impl Sequence {
    /// The error of the element with this number.
    pub fn error_at<E: de::Error>(self, number: usize, error: impl Display) -> E {
        match self {
            Self::Entries(field) => E::custom(format_args!("entry {number} of `{field}`: {error}")),
            Self::Matrices => E::custom(format_args!("matrix {number}: {error}")),
        }
    }
}

impl Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entries(field) => write!(f, "the entries of `{field}`"),
            Self::Matrices => f.write_str("the matrices of a batch"),
        }
    }
}

struct Reader<X> {
    what: Sequence,
    element: PhantomData<X>,
}

impl<'de, X: Deserialize<'de>> de::Visitor<'de> for Reader<X> {
    type Value = Vec<X>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.what.fmt(f)
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut sequence: A) -> Result<Vec<X>, A::Error> {
        let mut elements = Vec::new();
        loop {
            let number = elements.len();
            match sequence.next_element() {
                Ok(Some(element)) => elements.push(element),
                Ok(None) => return Ok(elements),
                Err(error) => return Err(self.what.error_at::<A::Error>(number, error)),
            }
        }
    }
}
