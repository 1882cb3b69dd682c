//! What the calls take and return.

use crate::sweep::weights::Weights;
use faer::{Mat, MatMut, MatRef};

/// A modification that has been made: L' L'ᵀ = L Lᵀ + V diag(w) Vᵀ.
#[derive(Clone, Copy, Debug)]
pub struct Modified<'a, T> {
    /// L before. Of L and L' the lower triangles are read. (n × n)
    pub l: MatRef<'a, T>,
    /// L'. (n × n)
    pub new: MatRef<'a, T>,
    /// V. (n × k)
    pub v: MatRef<'a, T>,
    /// w. (k)
    pub weights: Weights<'a, T>,
}

/// Tangents of L, V and w.
#[derive(Clone, Copy, Debug)]
pub struct Tangents<'a, T> {
    /// Of L. The lower triangle is read. (n × n)
    pub l: MatRef<'a, T>,
    /// Of V. (n × k)
    pub v: MatRef<'a, T>,
    /// Of the weights, zero if there are none. (k)
    pub weights: Option<&'a [T]>,
}

/// Cotangents of L, V and w.
#[derive(Clone, Debug, PartialEq)]
pub struct Cotangents<T> {
    /// Of L, zero above the diagonal. (n × n)
    pub l: Mat<T>,
    /// Of V. (n × k)
    pub v: Mat<T>,
    /// Of the weights. (k)
    pub weights: Vec<T>,
}

/// Where the cotangents of L, V and w are written.
#[derive(Debug)]
pub struct CotangentsMut<'a, T> {
    /// Of L. (n × n)
    pub l: MatMut<'a, T>,
    /// Of V. (n × k)
    pub v: MatMut<'a, T>,
    /// Of the weights. (k)
    pub weights: &'a mut [T],
}

impl<'a, T> From<&'a mut Cotangents<T>> for CotangentsMut<'a, T> {
    fn from(all: &'a mut Cotangents<T>) -> Self {
        Self { l: all.l.as_mut(), v: all.v.as_mut(), weights: &mut all.weights }
    }
}

/// Cotangents of L and of the right-hand sides of A X = B.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveCotangents<T> {
    /// Of L, zero above the diagonal. (n × n)
    pub l: Mat<T>,
    /// Of B. (n × m)
    pub b: Mat<T>,
}

/// Cotangents of L and of the rows and columns that have been appended to A.
#[derive(Clone, Debug, PartialEq)]
pub struct AppendCotangents<T> {
    /// Of L, zero above the diagonal. (n × n)
    pub l: Mat<T>,
    /// Of the new columns beside A. (n × m)
    pub cross: Mat<T>,
    /// Of the corner, of which the lower triangle is read, and zero above it. (m × m)
    pub corner: Mat<T>,
}
