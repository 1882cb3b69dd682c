//! Right-hand sides that stay current with the factor: z = L⁻¹ b.
//!
//! b borders A as a further row bᴴ, of which L has the entries zᴴ S. A sweep over the columns of L, with yᴴ as a further row of V, turns
//! them into those of the new b.

use super::Ldlt;
use super::report::{LdltModification, sign};
use super::state::{Indefinite, refused};
use crate::check::{extent, finite};
use crate::cpu::signature::{SignedFactor, sweep};
use crate::element::Element;
use crate::error::Error;
use crate::operand::{Operand, OperandMut};
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::sweep::weights::Weights;
use cholupdate_kernels::number::Float;
use faer::{Mat, MatRef};

impl<T: Scalar> Ldlt<T> {
    /// A ← δ A + V diag(w) Vᵀ, and b ← δ b + V diag(w) y for the right-hand sides whose z = L⁻¹ b is given: z becomes that of the new L
    /// and b, in the same sweep. It begins as [`solve_l`](Self::solve_l) of b, and [`solve_lt`](Self::solve_lt) of S z is the solution of
    /// A x = b.
    ///
    /// For a positive definite A these are the normal equations of least squares, as in
    /// [`Cholesky::modify_carrying`](crate::Cholesky::modify_carrying). There is no residual sum of squares here: c − bᵀ A⁻¹ b, for a c that
    /// changes to δ c + yᵀ diag(w) y, is c − zᵀ S z, and may have any sign.
    ///
    /// # Shapes
    /// As for [`modify_scaled`](Self::modify_scaled); y (k × m), z (n × m).
    ///
    /// # Errors
    /// As [`modify_scaled`](Self::modify_scaled), and `Shape`, `NonFinite` or `Overflow` naming `y` or `z`. After an error the factor and z
    /// are as they were.
    ///
    /// # Cost
    /// That of [`modify_scaled`](Self::modify_scaled) for n + m rows.
    ///
    /// ```
    /// use cholupdate::{Error, Ldlt, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Ldlt::new(&mat![[2.0_f64, 1.0], [1.0, -1.0]])?;
    /// let mut z = factor.solve_l(&[3.0, 0.0])?;                                // b = (3, 0)
    /// factor.modify_carrying(1.0, &[1.0, 1.0], &[1.0], &[2.0], &mut z)?;       // A = (3 2; 2 0), b = (5, 2)
    /// z[(1, 0)] *= factor.signs()[1];
    /// assert!((factor.solve_lt(&z)? - mat![[1.0], [1.0]]).norm_max() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn modify_carrying<'a, 'w, 'z>(
        &mut self,
        decay: T::Part,
        v: impl Into<Operand<'a, T>>,
        weights: impl Into<Weights<'w, T::Part>>,
        y: impl Into<Operand<'a, T>>,
        z: impl Into<OperandMut<'z, T>>,
    ) -> Result<LdltModification, Error> {
        T::ldlt_modify_carrying(&mut self.state, decay, &v.into(), weights.into(), &y.into(), z.into())
    }
}

impl<T: Element> Indefinite<T> {
    pub(super) fn modify_carrying(
        &mut self,
        decay: T::Part,
        v: &Operand<'_, T>,
        weights: Weights<'_, T::Part>,
        y: &Operand<'_, T>,
        z: OperandMut<'_, T>,
    ) -> Result<LdltModification, Error> {
        let (order, rank, sides) = (self.order(), v.shape().1, z.shape().1);
        weights.check(order, v.shape())?;
        extent("z", "rows", order, z.shape().0)?;
        extent("y", "rows", rank, y.shape().0)?;
        extent("y", "columns", sides, y.shape().1)?;
        if order == 0 || sides == 0 {
            return self.modify(decay, v, weights, false);
        }
        v.has_room_as_v()?;
        y.has_room_on_host("y")?;
        Self::check_decay(decay)?;
        let (v, y) = (v.on_host()?, y.on_host()?);
        let mut report = None;
        z.change_on_host(|mut z| {
            for (argument, all) in [("z", z.as_ref()), ("y", y.as_ref())] {
                let largest = finite(argument, all)?.to_f64();
                if largest * largest * (order + rank) as f64 > T::Part::LARGE_SQUARE.to_f64() {
                    return Err(Error::Overflow { argument });
                }
            }
            let carried = self.carried_by(decay, v.as_ref(), weights, (y.as_ref(), z.as_ref()));
            let (made, new) = carried.map_err(|error| self.or_overflow(error, v.as_ref(), weights))?;
            z.copy_from(&new);
            report = Some(made);
            Ok(())
        })?;
        Ok(report.unwrap_or_else(|| self.unchanged()))
    }

    /// Makes the modification, and returns the new z.
    fn carried_by(
        &mut self,
        decay: T::Part,
        v: MatRef<'_, T>,
        weights: Weights<'_, T::Part>,
        (y, z): (MatRef<'_, T>, MatRef<'_, T>),
    ) -> Result<(LdltModification, Mat<T>), Error> {
        let (order, rows) = (self.order(), self.order() + z.ncols());
        let mut of_v = Mat::zeros(rows, v.ncols());
        of_v.subrows_mut(0, order).copy_from(v);
        of_v.subrows_mut(order, z.ncols()).copy_from(y.adjoint());
        let outline = self.memory.stage(of_v.as_ref(), weights, false, self.threads)?;
        self.next.resize(rows);
        let Self { now, next, memory, threads, .. } = self;
        let root = decay.sqrt();
        for j in 0..order {
            let (own, below) = next.l.col_as_slice_mut(j)[j..].split_at_mut(order - j);
            own.iter_mut().zip(&now.l.col_as_slice(j)[j..]).for_each(|(to, &from)| *to = from.times(root));
            let signed = root * sign(now.negative[j]);
            below.iter_mut().zip(z.row(j).iter()).for_each(|(to, &from)| *to = from.conj().times(signed));
        }
        next.negative[..order].copy_from_slice(&now.negative);
        let new = SignedFactor { l: next.l.as_mut(), negative: &mut next.negative };
        let report = match outline.first_column::<T>(order) {
            Some(start) => sweep(None, new, start..order, &outline, memory, *threads),
            None => Ok((Modification::identity(), 0)),
        };
        let (report, _) = report.map_err(refused)?;
        let new = Mat::from_fn(order, z.ncols(), |j, i| {
            next.l[(order + i, j)].conj().times(sign(next.negative[j]))
        });
        next.resize(order);
        finite("y", new.as_ref()).map_err(|_| Error::Overflow { argument: "y" })?;
        let least = report.min_pivot_ratio * decay.to_f64();
        let log_abs_det = report.log_det_change() + order as f64 * decay.to_f64().ln();
        let expected = Some(self.expected.clone());
        Ok((self.accept(least, log_abs_det, expected)?, new))
    }
}
