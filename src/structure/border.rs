//! The rows and columns of L for new rows and columns of A.

use super::scratch::{BorderMemory, room};
use crate::error::Error;
use crate::host::blocked::{self, Memory};
use crate::host::layout::make_diagonal_real;
use crate::host::threads::where_it_pays;
use cholupdate_kernels::dense::Dense;
use cholupdate_kernels::number::{Float, Number};
use faer::linalg::matmul::triangular::BlockStructure;
use faer::reborrow::IntoConst;
use faer::{Accum, Conj, MatMut, MatRef, Par};

/// r rows of L, and the columns below their diagonal block.
#[derive(Clone, Copy, Debug)]
pub struct Border<'a, T: Number> {
    /// The conjugate of S; its transpose is left of the diagonal block. (at × r)
    pub left: MatRef<'a, T>,
    /// C, zero above the diagonal. (r × r)
    pub corner: MatRef<'a, T>,
    /// X. (m × r)
    pub below: MatRef<'a, T>,
    /// min over the rows of c_jj² / k_jj: the smallest share of a new diagonal entry that the other rows do not explain.
    pub least_ratio: T::Part,
    /// log det C Cᴴ.
    pub log_det: f64,
}

impl<'a, T: Dense> Border<'a, T> {
    /// Computes the border for the columns B₁, K and B₂, one above the other, at row `at` of L. ((at + r + m) × r)
    ///
    /// `eliminate` solves with `at` leading columns of L, the first half of a solve; L has this capacity. `skipped` is the
    /// number of rows of L from `at` on that have no row in B₂, because they are replaced.
    ///
    /// # Errors
    /// `NotPositiveDefinite` at a row of K; `Device`.
    pub fn new(
        (capacity, eliminate): (usize, impl FnOnce(MatMut<'_, T>) -> Result<(), Error>),
        at: usize,
        columns: MatRef<'_, T>,
        skipped: usize,
        memory: &'a mut BorderMemory<T>,
        par: Par,
    ) -> Result<Self, Error> {
        let BorderMemory { rhs, corner, cholesky } = memory;
        let rank = columns.ncols();
        let (above, rest) = columns.split_at_row(at);
        let (k, b2) = rest.split_at_row(rank);
        let mut rhs = room(rhs, (at + skipped + b2.nrows(), capacity), rank);
        rhs.as_mut().subrows_mut(0, at).copy_from(above);
        rhs.as_mut().subrows_mut(at, skipped).fill(T::ZERO);
        rhs.as_mut().subrows_mut(at + skipped, b2.nrows()).copy_from(b2);
        eliminate(rhs.as_mut())?;
        let (mut left, rest) = rhs.split_at_row_mut(at);
        let mut below = rest.subrows_mut(skipped, b2.nrows());
        let par = where_it_pays(par, (at + b2.nrows()) * rank * rank);
        let mut corner = room(corner, (rank, rank), rank);
        schur(left.as_ref(), k, corner.as_mut(), cholesky, par)
            .map_err(|column| Error::NotPositiveDefinite { column: at + column })?;
        if rank == 1 {
            let pivot = corner[(0, 0)].real();
            below.as_mut().col_mut(0).iter_mut().for_each(|x| *x = x.over(pivot));
        } else {
            // X Cᴴ = Y is C̄ Xᵀ = Yᵀ.
            T::solve_lower((corner.as_ref(), Conj::Yes), below.as_mut().transpose_mut(), par);
        }
        if T::PARTS > 1 {
            left.as_mut().col_iter_mut().for_each(|s| s.iter_mut().for_each(|s| *s = s.conj()));
        }
        let corner = corner.into_const();
        let (least_ratio, log_det) = least_ratio_and_log_det(corner, k);
        Ok(Self { left: left.into_const(), corner, below: below.into_const(), least_ratio, log_det })
    }

    /// A border that consists of all rows of L.
    pub fn whole(l: MatRef<'a, T>) -> Self {
        let nothing = || MatRef::from_column_major_slice(&[], 0, l.ncols());
        Self { left: nothing(), corner: l, below: nothing(), least_ratio: T::Part::ONE, log_det: 0.0 }
    }

    /// r.
    pub fn rows(&self) -> usize {
        self.corner.nrows()
    }
}

/// [`Border::least_ratio`], at most 1, and [`Border::log_det`]. Only the diagonals are read. (r × r, r × r)
pub fn least_ratio_and_log_det<T: Dense>(c: MatRef<'_, T>, k: MatRef<'_, T>) -> (T::Part, f64) {
    let pivots = || c.diagonal().column_vector().iter().map(|c| c.real());
    let ratios = pivots().zip(k.diagonal().column_vector().iter()).map(|(c, k)| c * (c / k.real()));
    let least_ratio = ratios.fold(T::Part::ONE, |least, ratio| if ratio < least { ratio } else { least });
    (least_ratio, 2.0 * pivots().map(|c| c.to_f64().ln()).sum::<f64>())
}

/// Computes C with C Cᴴ = K − Sᴴ S, with zeros above the diagonal; only the lower triangle of K is read, and not the imaginary
/// part of its diagonal. (at × r, r × r)
///
/// # Errors
/// The first row whose pivot² is not greater than zero.
pub fn schur<T: Dense>(
    s: MatRef<'_, T>,
    k: MatRef<'_, T>,
    mut c: MatMut<'_, T>,
    memory: &mut Memory,
    par: Par,
) -> Result<(), usize> {
    let rank = k.ncols();
    if rank == 1 {
        let square = k[(0, 0)].real() - T::squared_norm(s.col(0));
        c[(0, 0)] = T::of_real(square.sqrt());
        return if square > T::Part::ZERO && square.is_finite() { Ok(()) } else { Err(0) };
    }
    for j in 0..rank {
        c.as_mut().col_mut(j).subrows_mut(0, j).fill(T::ZERO);
        c.as_mut().col_mut(j).subrows_mut(j, rank - j).copy_from(k.col(j).subrows(j, rank - j));
    }
    let (lower, all) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    let (left, right) = ((s.transpose(), all, Conj::Yes), (s, all, Conj::No));
    T::triangular_matmul((c.as_mut(), lower), Accum::Add, left, right, -T::ONE, par);
    // Rounding may leave an imaginary part in the products too.
    make_diagonal_real(c.as_mut());
    match blocked::factorize_in(c.as_mut(), par, memory) {
        Ok(()) if c.as_ref().is_all_finite() => Ok(()),
        Ok(()) => Err((0..rank).find(|&j| !c.as_ref().row(j).is_all_finite()).unwrap_or(0)),
        Err(column) => Err(column),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::{Mat, c64};

    /// A well-conditioned matrix that is equal to its conjugate transpose. (n × n)
    fn matrix(n: usize) -> Mat<c64> {
        let entry = |i: usize, j: usize| {
            c64::new((7 * i + 3 * j) as f64 % 11.0 - 5.0, (5 * i + 8 * j) as f64 % 13.0 - 6.0)
        };
        let x = Mat::from_fn(n, n + 3, entry);
        &x * x.adjoint() + Mat::from_fn(n, n, |i, j| if i == j { c64::new(40.0, 0.0) } else { c64::ZERO })
    }

    #[test]
    fn a_border_of_complex_rows_completes_the_factor() {
        for (at, rank, below) in [(0, 1, 3), (6, 1, 0), (5, 1, 4), (4, 3, 5), (0, 2, 0)] {
            let order = at + rank + below;
            let a = matrix(order);
            let kept = |row: usize| row < at || row >= at + rank;
            let rows: Vec<usize> = (0..order).filter(|&row| kept(row)).collect();
            let l = Mat::from_fn(rows.len(), rows.len(), |i, j| a[(rows[i], rows[j])]);
            let l = l.llt(faer::Side::Lower).unwrap().L().to_owned();
            let mut columns = a.subcols(at, rank).to_owned();
            (0..rank).for_each(|j| columns[(at + j, j)].im = f64::NAN);
            let eliminate = |rhs: MatMut<'_, c64>| {
                let (above, below) = rhs.split_at_row_mut(at);
                let mut above = above;
                c64::solve_lower((l.submatrix(0, 0, at, at), Conj::No), above.as_mut(), Par::Seq);
                let l21 = (l.submatrix(at, 0, l.nrows() - at, at), Conj::No);
                c64::matmul(below, Accum::Add, l21, above.as_ref(), -c64::ONE, Par::Seq);
                Ok(())
            };
            let mut memory =
                BorderMemory { rhs: Mat::new(), corner: Mat::new(), cholesky: Memory::default() };
            let border =
                Border::new((order, eliminate), at, columns.as_ref(), 0, &mut memory, Par::Seq).unwrap();
            let exact = a.llt(faer::Side::Lower).unwrap().L().to_owned();
            let off = [
                (border.left.transpose() - exact.submatrix(at, 0, rank, at)).norm_max(),
                (border.corner - exact.submatrix(at, at, rank, rank)).norm_max(),
                (border.below - exact.submatrix(at + rank, at, below, rank)).norm_max(),
            ];
            assert!(off.iter().all(|off| *off < 1e-12), "{at}, {rank}, {below}: {off:?}");
            assert!((0..rank).all(|j| border.corner[(j, j)].im == 0.0));
            let pivots = (0..rank).map(|j| exact[(at + j, at + j)].re);
            assert!((border.log_det - 2.0 * pivots.map(f64::ln).sum::<f64>()).abs() < 1e-12);
        }
    }
}
