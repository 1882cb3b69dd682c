//! L' of one matrix.

use super::layout::{clear_below, fill, flip};
use crate::numbers::{Number, Real};
use cholupdate::faer::{MatMut, MatRef, c32, c64};
use cholupdate::{Cholesky, Cpu, Error, Operand, Weights, modify_into};

/// What is written for a matrix that cannot be modified.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OnBreakdown {
    /// L.
    Keep,
    /// NaN.
    Nan,
}

/// Numbers of which a single matrix can be modified in the memory of others.
pub trait Alone: Number {
    const NIL: Self;
    const NAN: Self;

    /// Writes the triangle of L', which is column-major.
    ///
    /// # Errors
    /// Those of [`Cholesky::modify`]; the triangle may have been written in part.
    fn modify_into(
        l: MatRef<'_, Self>,
        v: MatRef<'_, Self>,
        weights: Weights<'_, Self::RealPart>,
        to: MatMut<'_, Self>,
        engine: &Cpu,
    ) -> Result<(), Error>;
}

/// The weights, by name if they are all 1 or −1, which is faster.
pub fn named<T: Real>(weights: &[T]) -> Weights<'_, T> {
    match weights {
        [] => Weights::Plus,
        [first, ..] if *first == T::ONE && weights.iter().all(|w| *w == T::ONE) => Weights::Plus,
        [first, ..] if *first == -T::ONE && weights.iter().all(|w| *w == -T::ONE) => Weights::Minus,
        _ => Weights::Each(weights),
    }
}

/// Writes L' to `to`, a row-major matrix, with zeros in the other triangle. The result is whether it exists.
///
/// With `upper`, L is R transposed, as the caller has seen to, and R' is written.
///
/// # Safety
/// `to` is n × n, and nothing else uses it.
pub unsafe fn modify<T: Alone>(
    l: MatRef<'_, T>,
    v: MatRef<'_, T>,
    weights: &[T::RealPart],
    (to, upper): (*mut T, bool),
    (on_breakdown, engine): (OnBreakdown, &Cpu),
) -> bool {
    let order = l.nrows();
    // The same memory by columns. If L' is to be lower, it is there above the diagonal at first.
    // SAFETY: as the caller guarantees.
    let by_columns = unsafe { MatMut::from_raw_parts_mut(to, order, order, 1, order as isize) };
    if T::modify_into(l, v, named(weights), by_columns, engine).is_err() {
        // SAFETY: as the caller guarantees.
        unsafe { write_broken(l, (to, upper), on_breakdown) };
        return false;
    }
    // SAFETY: as the caller guarantees.
    match upper {
        true => unsafe { clear_below(to, order, T::NIL) },
        false => unsafe { flip(to, order, T::NIL) },
    }
    true
}

/// Writes what stands for a factor that does not exist.
///
/// # Safety
/// As [`modify`].
#[cold]
pub unsafe fn write_broken<T: Alone>(
    l: MatRef<'_, T>,
    (to, upper): (*mut T, bool),
    on_breakdown: OnBreakdown,
) {
    let entry = |row: usize, column: usize| match (on_breakdown, upper) {
        (OnBreakdown::Nan, _) => T::NAN,
        (OnBreakdown::Keep, true) => l[(column, row)],
        (OnBreakdown::Keep, false) => l[(row, column)],
    };
    // SAFETY: as the caller guarantees.
    unsafe { fill(to, (l.nrows(), upper), T::NIL, entry) };
}

macro_rules! real {
    ($($type:ty),*) => {$(
        impl Alone for $type {
            const NIL: Self = 0.0;
            const NAN: Self = <$type>::NAN;

            fn modify_into(
                l: MatRef<'_, Self>,
                v: MatRef<'_, Self>,
                weights: Weights<'_, Self>,
                to: MatMut<'_, Self>,
                engine: &Cpu,
            ) -> Result<(), Error> {
                Self::with_workspace(|workspace| {
                    modify_into(l, Operand::from(v), weights, to, engine, workspace).map(|_| ())
                })
            }
        }
    )*};
}

macro_rules! complex {
    ($($type:ty: $part:ty),*) => {$(
        impl Alone for $type {
            const NIL: Self = Self { re: 0.0, im: 0.0 };
            const NAN: Self = Self { re: <$part>::NAN, im: <$part>::NAN };

            fn modify_into(
                l: MatRef<'_, Self>,
                v: MatRef<'_, Self>,
                weights: Weights<'_, $part>,
                mut to: MatMut<'_, Self>,
                engine: &Cpu,
            ) -> Result<(), Error> {
                let mut factor = Cholesky::from_factor_in(l, *engine)?;
                factor.modify(v, weights)?;
                let new = factor.l();
                for column in 0..new.ncols() {
                    for row in column..new.nrows() {
                        to[(row, column)] = new[(row, column)];
                    }
                }
                Ok(())
            }
        }
    )*};
}

real!(f32, f64);
complex!(c32: f32, c64: f64);
