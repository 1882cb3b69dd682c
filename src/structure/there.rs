//! New rows and columns of A whose border the engine computes in its own memory.

use crate::element::Element;
use crate::operand::Operand;
use cholupdate_kernels::number::Number;
use core::ops::Range;

/// Some rows of the new columns of A: the name of the argument that they belong to, and their first row in it.
#[derive(Clone, Debug)]
pub struct Part<'a, T: Element> {
    /// The entries.
    pub entries: Operand<'a, T>,
    /// Name of the argument.
    pub argument: &'static str,
    /// First row in the argument.
    pub row: usize,
}

/// New columns of A at row `at`: B₁ above, K on and B₂ below the diagonal. (at × r, r × r, m × r)
#[derive(Clone, Debug)]
pub struct Parts<'a, T: Element> {
    /// B₁.
    pub above: Part<'a, T>,
    /// K.
    pub corner: Part<'a, T>,
    /// B₂.
    pub below: Part<'a, T>,
}

impl<'a, T: Element> Parts<'a, T> {
    /// Divides one argument with all rows into the three parts.
    pub fn of(columns: &Operand<'a, T>, at: usize, argument: &'static str) -> Self {
        let (rows, rank) = columns.shape();
        let part = |range: Range<usize>| Part { row: range.start, entries: columns.rows(range), argument };
        Self { above: part(0..at), corner: part(at..at + rank), below: part(at + rank..rows) }
    }

    /// The parts of rows that are appended.
    pub fn at_the_end(cross: &Operand<'a, T>, corner: &Operand<'a, T>) -> Self {
        let order = cross.shape().0;
        let part = |entries, argument| Part { entries, argument, row: 0 };
        Self {
            above: part(cross.clone(), "cross"),
            corner: part(corner.clone(), "corner"),
            below: part(cross.rows(order..order), "cross"),
        }
    }
}

/// Numbers about a border that has been computed, as in [`Border`](super::Border).
#[derive(Clone, Debug)]
pub struct BorderThere<T: Number> {
    /// min over the rows of c_jj² / k_jj.
    pub least_ratio: T::Part,
    /// log det C Cᴴ.
    pub log_det: f64,
    /// The largest diagonal entry of K.
    pub largest: f64,
    /// The diagonal of K.
    pub diagonal: Vec<f64>,
}
