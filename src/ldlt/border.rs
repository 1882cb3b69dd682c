//! New rows below a factor: what the append of rows and an extension begin with.

use super::begin::factored;
use super::systems::change_signs;
use crate::cpu::solve::solve;
use crate::element::Element;
use crate::error::Error;
use crate::host::layout::make_diagonal_real;
use crate::host::threads::{Threads, where_it_pays};
use crate::storage::Side;
use cholupdate_kernels::number::Float;
use faer::linalg::matmul::triangular::BlockStructure;
use faer::{Accum, Conj, Mat, MatRef};

/// The rows (Yᴴ S C) of L for columns of A.
pub(super) struct Border<T> {
    /// L⁻¹ B. (n × r)
    pub y: Mat<T>,
    /// S Y. (n × r)
    pub signed: Mat<T>,
    /// C with C S' Cᴴ = K − Yᴴ S Y, and which entries of S' are −1. (r × r, r)
    pub corner: Mat<T>,
    pub negative: Vec<bool>,
    /// For each row, the sum of the squares left of C. (r)
    pub left: Vec<f64>,
}

impl<T: Element> Border<T> {
    /// From L and S, and B above K, of which the lower triangle is read, but no imaginary part of its diagonal. A pivot is zero to
    /// working precision for a matrix of that order. (n × n, n, (n + r) × r)
    ///
    /// # Errors
    /// `Singular` with a row of the bordered A.
    pub fn new(
        (l, negative): (MatRef<'_, T>, &[bool]),
        columns: MatRef<'_, T>,
        order: usize,
        threads: Threads,
    ) -> Result<Self, Error> {
        let (at, came) = (l.nrows(), columns.ncols());
        let (above, corner) = columns.split_at_row(at);
        let mut y = above.to_owned();
        solve(&l, Side::L, y.as_mut(), threads);
        let mut signed = y.clone();
        change_signs(negative, signed.as_mut());
        let par = where_it_pays(threads.par(), order * came * came);
        let left: Vec<f64> = y.col_iter().map(|y| y.iter().map(|y| y.square_to_f64()).sum()).collect();
        let mut k = Mat::from_fn(came, came, |i, j| if i >= j { corner[(i, j)] } else { T::ZERO });
        make_diagonal_real(k.as_mut());
        let (lower, all) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        T::triangular_matmul(
            (k.as_mut(), lower),
            Accum::Add,
            (y.transpose(), all, Conj::Yes),
            (signed.as_ref(), all, Conj::No),
            -T::ONE,
            par,
        );
        // The imaginary part of a diagonal entry is what rounding has left.
        make_diagonal_real(k.as_mut());
        let tolerance = order as f64 * T::Part::UNIT.to_f64();
        let negative = factored(k.as_mut(), Some(&left), tolerance, par).map_err(|error| match error {
            Error::Singular { column } => Error::Singular { column: at + column },
            error => error,
        })?;
        Ok(Self { y, signed, corner: k, negative, left })
    }

    /// The sum of the squares of row i of (Yᴴ S C).
    pub fn square(&self, i: usize) -> f64 {
        let before = (0..i).map(|m| self.corner[(i, m)].square_to_f64()).sum::<f64>() + self.left[i];
        before + self.corner[(i, i)].square_to_f64()
    }
}
