//! What is known about weights before they are read.

/// What is known about the weights of V before they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signs {
    /// All are 1, and are not read.
    Plus,
    /// All are −1, and are not read.
    Minus,
    /// They are in device memory, with any mix of signs. V is then swept twice, with the columns of each sign.
    Any,
}
