//! Least squares with carried right-hand sides, and a forgetting factor.

use super::Factor;
use crate::carried::{Carried, unknown};
use crate::check::{extent, finite};
use crate::cpu::HostFactor;
use crate::element::Element;
use crate::error::Error;
use crate::host::threads::Threads;
use crate::operand::{Operand, OperandMut};
use crate::report::Modification;
use crate::storage::{Op, Safeguard, Side, Storage};
use crate::sweep::weights::Weights;
use cholupdate_kernels::number::{Float, Number};
use faer::MatRef;

impl<T: Element, F: Storage<T>> Factor<T, F> {
    /// z = L⁻¹ b, and the residual sums of squares, from b (n × m) and Σ y² (m).
    pub(super) fn carry(&self, b: &Operand<'_, T>, sums: &[T::Part]) -> Result<Carried<T>, Error> {
        extent("b", "rows", self.order(), b.shape().0)?;
        extent("sums", "entries", b.shape().1, sums.len())?;
        b.has_room_on_host("b")?;
        let mut z = b.on_host()?.into_owned();
        finite("b", z.as_ref())?;
        finite("sums", MatRef::from_column_major_slice(sums, sums.len(), 1))?;
        self.guarded.regular()?.apply(Op::Solve(&[Side::L]), OperandMut::Host(z.as_mut()))?;
        let order = self.order() as f64;
        let largest = finite("b", z.as_ref()).map_err(|_| Error::Overflow { argument: "b" })?.to_f64();
        if largest * largest * order > T::Part::LARGE_SQUARE.to_f64() {
            return Err(Error::Overflow { argument: "b" });
        }
        let squares = sums.iter().zip(z.col_iter()).map(|(&sum, z)| {
            let explained = z.iter().map(|z| z.square_to_f64()).sum::<f64>();
            let (rest, rounding) =
                (sum.to_f64() - explained, 4.0 * (order + 1.0) * T::Part::UNIT.to_f64() * explained);
            if rest < -rounding { unknown() } else { T::Part::from_f64(rest.max(0.0)) }
        });
        Ok(Carried { squares: squares.collect(), z })
    }

    pub(super) fn modify_scaled(
        &mut self,
        decay: T::Part,
        v: &Operand<'_, T>,
        weights: Weights<'_, T::Part>,
    ) -> Result<Modification, Error> {
        self.guarded.modify_scaled(decay, v, weights, None)
    }

    pub(super) fn modify_carrying(
        &mut self,
        decay: T::Part,
        v: &Operand<'_, T>,
        weights: Weights<'_, T::Part>,
        y: &Operand<'_, T>,
        carried: &mut Carried<T>,
    ) -> Result<Modification, Error> {
        let y = y.on_host()?;
        let from_nothing =
            decay > T::Part::ZERO && decay <= T::Part::ONE && !self.guarded.factor().traits().carries && {
                self.guarded.finish()?;
                self.guarded.regular().is_err()
            };
        if !from_nothing {
            return self.guarded.modify_scaled(decay, v, weights, Some((y.as_ref(), carried)));
        }
        // A factor that cannot be solved with yet, and sweeps that take no right-hand sides along: they go through one on the host.
        weights.check(self.order(), v.shape())?;
        carried.check(self.order(), v.shape().1, y.as_ref())?;
        let (l, start) = self.copied()?;
        let mut here = Factor::new(HostFactor::new(Threads::Pool, Safeguard::default(), l), start);
        let mut along = carried.clone();
        here.guarded.modify_scaled(decay, v, weights, Some((y.as_ref(), &mut along)))?;
        let report = self.guarded.modify_scaled(decay, v, weights, None)?;
        *carried = along;
        Ok(report)
    }
}
