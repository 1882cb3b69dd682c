//! Modifications with a forgetting factor, and carried right-hand sides.

use super::{Guarded, Source};
use crate::carried::Carried;
use crate::check::{finite, room};
use crate::element::Element;
use crate::error::Error;
use crate::operand::{Operand, OperandMut};
use crate::report::Modification;
use crate::storage::{Edit, Op, Side, Staged, Storage, pivots};
use crate::sweep::outline::Outline;
use crate::sweep::stop::Stop;
use crate::sweep::weights::Weights;
use crate::wide::Given;
use cholupdate_kernels::number::{Float, Number};
use core::cell::Cell;
use faer::{Accum, Conj, Mat, MatRef, Par};

/// The rows y that are added or removed, and the carried right-hand sides.
type Carrying<'a, T> = (MatRef<'a, T>, &'a mut Carried<T>);

impl<T: Element, F: Storage<T>> Guarded<T, F> {
    /// L Lᴴ ← δ L Lᴴ + V diag(w) Vᴴ = δ (L Lᴴ + V diag(w / δ) Vᴴ).
    pub fn modify_scaled(
        &mut self,
        decay: T::Part,
        v: &Operand<'_, T>,
        weights: Weights<'_, T::Part>,
        carrying: Option<Carrying<'_, T>>,
    ) -> Result<Modification, Error> {
        if !(decay > T::Part::ZERO && decay <= T::Part::ONE) {
            return Err(Error::OutOfRange { argument: "decay", rule: "positive and at most 1" });
        }
        self.ready_for(v, weights)?;
        let (order, columns) = v.shape();
        if let Some((y, carried)) = &carrying {
            carried.check(order, columns, *y)?;
        }
        if order == 0 && carrying.is_none() {
            return Ok(Modification::identity());
        }
        room::<T>("v", columns, (1, 0))?;
        let each: Vec<T::Part> = (0..columns).map(|r| weights.of(r) / decay).collect();
        if each.iter().any(|w| !w.is_finite()) {
            let rule = "large enough that weights divided by it are finite";
            return Err(Error::OutOfRange { argument: "decay", rule });
        }
        if let Some((y, _)) = &carrying {
            let of_weights = each.iter().fold(0.0, |largest: f64, w| largest.max(w.abs().to_f64()));
            if finite("y", *y)?.to_f64().powi(2) * of_weights * columns as f64
                > T::Part::LARGE_SQUARE.to_f64()
            {
                return Err(Error::Overflow { argument: "y" });
            }
        }
        let weights = Weights::Each(&each[..]);
        let Some((y, carried)) = carrying else {
            let (report, _) = self.scaled_or_again(decay, v, weights)?;
            return Ok(report);
        };
        let v = v.on_host()?;
        let v = v.as_ref();
        let operand = &Operand::Host(v);
        let swept = self.factor().traits().carries.then(|| {
            let stage =
                |factor: &mut F| factor.stage(&Staged::Carrying { v, weights, z: carried.z.as_ref(), y });
            self.scaled(decay, (operand, weights), stage, |_, _, swept| swept)
        });
        // A breakdown that can be repeated is repeated without the right-hand sides.
        let swept = swept.filter(|swept| {
            !(matches!(swept, Err(Error::NotPositiveDefinite { .. })) && self.healthy().is_ok())
        });
        if let Some(swept) = swept {
            let (report, start) = swept?;
            let root = decay.sqrt();
            carried
                .z
                .subrows_mut(0, start)
                .col_iter_mut()
                .for_each(|z| z.iter_mut().for_each(|z| *z = z.times(root)));
            let changes =
                self.in_place(|factor| Ok(factor.carried((y, &each), start, carried.z.as_mut())))?;
            carried.add(decay.to_f64(), changes.into_iter());
            return Ok(report);
        }
        let mut apart = CarriedSeparately::before(self.regular()?, (v, &each), y, carried)?;
        let (report, _) = self.scaled_or_again(decay, operand, weights)?;
        // The factor has changed, so an error from here on loses it: z must match the factor.
        let changes = self.in_place(|factor| {
            let changes = apart.after(factor, (v, &each), decay);
            changes.map_err(|error| Stop::before(error).after_a_change())
        })?;
        carried.z = apart.z;
        carried.add(decay.to_f64(), changes.into_iter());
        Ok(report)
    }

    /// A modification, scaled by δ and repeated if it breaks down. Also returns the column of L at which the sweep began.
    fn scaled_or_again(
        &mut self,
        decay: T::Part,
        v: &Operand<'_, T>,
        weights: Weights<'_, T::Part>,
    ) -> Result<(Modification, usize), Error> {
        let scale = if self.factor().traits().scales { decay.sqrt().to_f64() } else { 1.0 };
        let again = |guarded: &mut Self, start, swept| {
            guarded.or_again(swept, |_| Ok(Given { start, scale, ..Given::new(v, weights)? }))
        };
        v.read_from(self.factor().traits().memory, |v| {
            self.scaled(decay, (v, weights), |factor| factor.stage(&Staged::Given(v, weights)), again)
        })
    }

    /// A modification with the staged V, scaled by δ. `behind` receives the column at which the sweep began, and its outcome,
    /// and may replace the outcome. Also returns this column, or the order if there was no sweep.
    fn scaled(
        &mut self,
        decay: T::Part,
        (v, weights): (&Operand<'_, T>, Weights<'_, T::Part>),
        stage: impl Fn(&mut F) -> Result<Outline, Error>,
        behind: impl FnOnce(&mut Self, usize, Result<Modification, Error>) -> Result<Modification, Error>,
    ) -> Result<(Modification, usize), Error> {
        let (order, root, scales) = (self.order(), decay.sqrt(), self.factor().traits().scales);
        // Zero pivots of a singular factor remain zero.
        let lost = |pivot: T::Part| pivot != T::Part::ZERO && !(pivot * root >= T::Part::LEAST_PIVOT);
        if decay != T::Part::ONE && pivots(self.healthy()?).any(lost) {
            let rule = "large enough that no pivot of the factor is lost";
            return Err(Error::OutOfRange { argument: "decay", rule });
        }
        let start = Cell::new(order);
        let swept = self.modify_by(Source::V(v, weights), |factor| {
            let mut outline = stage(factor)?;
            start.set(outline.first_column::<T>(order).unwrap_or(order));
            if scales {
                outline.scale = root.to_f64();
            }
            Ok(outline)
        });
        let start = start.get();
        let report = behind(self, start, swept)?;
        if decay != T::Part::ONE {
            let rest = if scales { start } else { order };
            self.in_place(|factor| {
                factor.edit(Edit::Scale { columns: rest, by: root }).map_err(Stop::after_a_change)
            })?;
            self.bound_rows(self.row_norm() * root.to_f64());
            self.history_mut().scaled(decay.to_f64(), start == order);
        }
        Ok((report.scaled(decay.to_f64(), order), start))
    }
}

/// Right-hand sides computed apart from the sweep, for engines whose sweeps carry none.
///
/// With x = A⁻¹ b before and x' after, e = y − Vᴴ x and e' = y − Vᴴ x', the sums of squares change by Σ_r w_r ē_r e'_r, a sum
/// without cancellation between large terms.
struct CarriedSeparately<T> {
    /// b' / δ, later z.
    z: Mat<T>,
    /// e.
    residual: Mat<T>,
    y: Mat<T>,
}

impl<T: Element> CarriedSeparately<T> {
    fn before<F: Storage<T>>(
        factor: &F,
        (v, weights): (MatRef<'_, T>, &[T::Part]),
        y: MatRef<'_, T>,
        carried: &Carried<T>,
    ) -> Result<Self, Error> {
        let mut x = carried.z.clone();
        factor.apply(Op::Solve(&[Side::Transpose]), OperandMut::Host(x.as_mut()))?;
        let mut b = carried.z.clone();
        factor.apply(Op::Multiply(Side::L), OperandMut::Host(b.as_mut()))?;
        let weighted = Mat::from_fn(y.nrows(), y.ncols(), |r, c| y[(r, c)].times(weights[r]));
        T::matmul(b.as_mut(), Accum::Add, (v, Conj::No), weighted.as_ref(), T::ONE, Par::Seq);
        if !b.as_ref().is_all_finite() {
            return Err(Error::Overflow { argument: "y" });
        }
        Ok(Self { z: b, residual: residual(v, x.as_ref(), y), y: y.to_owned() })
    }

    /// Computes the changes of the sums of squares, and z of the new factor.
    fn after<F: Storage<T>>(
        &mut self,
        factor: &F,
        (v, weights): (MatRef<'_, T>, &[T::Part]),
        decay: T::Part,
    ) -> Result<Vec<f64>, Error> {
        // A' is δ (A + V diag(w / δ) Vᴴ).
        self.z.col_iter_mut().for_each(|b| b.iter_mut().for_each(|b| *b = b.times(decay)));
        factor.apply(Op::Solve(&[Side::L]), OperandMut::Host(self.z.as_mut()))?;
        if !self.z.as_ref().is_all_finite() {
            return Ok(vec![f64::NAN; self.y.ncols()]);
        }
        let mut x = self.z.clone();
        factor.apply(Op::Solve(&[Side::Transpose]), OperandMut::Host(x.as_mut()))?;
        let after = residual(v, x.as_ref(), self.y.as_ref());
        let change = |c: usize| {
            let rows = weights.iter().enumerate();
            rows.map(|(r, w)| {
                let (before, after) = (&[self.residual[(r, c)]], &[after[(r, c)]]);
                // The real part of the product; the imaginary parts of all rows add up to zero.
                let parts = T::parts(before).iter().zip(T::parts(after));
                parts.map(|(e, f)| w.to_f64() * e.to_f64() * f.to_f64()).sum::<f64>()
            })
            .sum()
        };
        Ok((0..self.y.ncols()).map(change).collect())
    }
}

/// y − Vᴴ x.
fn residual<T: Element>(v: MatRef<'_, T>, x: MatRef<'_, T>, y: MatRef<'_, T>) -> Mat<T> {
    let mut rest = y.to_owned();
    T::matmul(rest.as_mut(), Accum::Add, (v.transpose(), Conj::Yes), x, -T::ONE, Par::Seq);
    rest
}
