//! L' of one matrix.

use super::layout::{clear_above, clear_below, fill, flip, mirror};
use crate::numbers::{Number, Real};
use cholupdate::faer::{MatMut, MatRef, c32, c64};
use cholupdate::{
    Cholesky, Cpu, Error, Operand, Safeguard, Weights, Workspace, modify_checked_in_place, modify_into,
};

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

    /// As [`modify`], where `to` is L.
    ///
    /// # Safety
    /// As [`modify`].
    unsafe fn modify_in_place(
        to: RowMajor<Self>,
        v: MatRef<'_, Self>,
        weights: Weights<'_, Self::RealPart>,
        engine: &Cpu,
    ) -> Result<(), Error>;
}

/// A square matrix in row-major memory, of which one triangle counts.
#[derive(Clone, Copy)]
pub struct RowMajor<T> {
    pub at: *mut T,
    pub order: usize,
    pub upper: bool,
}

impl<T> RowMajor<T> {
    /// The same memory by columns, in which L' is computed: what is above the diagonal there is below it here.
    ///
    /// # Safety
    /// Nothing else uses the matrix during `'a`.
    unsafe fn by_columns<'a>(self) -> MatMut<'a, T> {
        // SAFETY: as the caller guarantees.
        unsafe { MatMut::from_raw_parts_mut(self.at, self.order, self.order, 1, self.order as isize) }
    }

    fn diagonal(self, at: usize) -> *mut T {
        self.at.wrapping_add(at * (self.order + 1))
    }
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

/// Writes L' to `to`, with zeros in the other triangle. The result is whether it exists.
///
/// If `to` is upper triangular, L is R transposed, as the caller has seen to, and R' is written. L may be in the same memory.
///
/// # Safety
/// `to` is an n × n matrix that nothing else uses, but for L.
pub unsafe fn modify<T: Alone>(
    l: MatRef<'_, T>,
    v: MatRef<'_, T>,
    weights: &[T::RealPart],
    to: RowMajor<T>,
    (on_breakdown, engine): (OnBreakdown, &Cpu),
) -> bool {
    let weights = named(weights);
    // SAFETY: as the caller guarantees.
    unsafe {
        if core::ptr::eq(l.as_ptr(), to.at) {
            match T::modify_in_place(to, v, weights, engine) {
                Ok(()) => true,
                Err(error) => {
                    write_nan(to, on_breakdown, &error);
                    false
                }
            }
        } else {
            match T::modify_into(l, v, weights, to.by_columns(), engine) {
                Ok(()) => {
                    into_rows(to);
                    true
                }
                Err(error) => {
                    write_triangle(l, to);
                    write_nan(to, on_breakdown, &error);
                    false
                }
            }
        }
    }
}

/// Takes L' from the memory of its columns.
///
/// # Safety
/// As [`modify`].
unsafe fn into_rows<T: Alone>(to: RowMajor<T>) {
    // SAFETY: as the caller guarantees.
    unsafe {
        match to.upper {
            true => clear_below(to.at, to.order, T::NIL),
            false => flip(to.at, to.order, T::NIL),
        }
    }
}

/// Writes a lower triangular matrix, or if `to` is upper triangular its transpose.
///
/// # Safety
/// As [`modify`].
pub unsafe fn write_triangle<T: Alone>(l: MatRef<'_, T>, to: RowMajor<T>) {
    let entry = |row: usize, column: usize| if to.upper { l[(column, row)] } else { l[(row, column)] };
    // SAFETY: as the caller guarantees.
    unsafe { fill(to.at, (to.order, to.upper), T::NIL, entry) };
}

/// Writes NaN instead, if that is asked for or if L has such entries.
///
/// # Safety
/// As [`modify`].
#[cold]
pub unsafe fn write_nan<T: Alone>(to: RowMajor<T>, on_breakdown: OnBreakdown, error: &Error) {
    if on_breakdown == OnBreakdown::Nan || matches!(error, Error::NonFinite { argument: "l", .. }) {
        // SAFETY: as the caller guarantees.
        unsafe { fill(to.at, (to.order, to.upper), T::NIL, |_, _| T::NAN) };
    }
}

/// L ← L' for real numbers. The other triangle holds a copy of L meanwhile, so that L can be restored without memory for a second one.
///
/// # Safety
/// As [`modify`].
unsafe fn in_place<T: Real + Alone>(
    to: RowMajor<T>,
    v: MatRef<'_, T>,
    weights: Weights<'_, T>,
    engine: &Cpu,
) -> Result<(), Error> {
    let RowMajor { at, order, upper } = to;
    let can_break = match weights {
        Weights::Plus => false,
        Weights::Minus => true,
        Weights::Each(each) => !each.iter().all(|w| *w >= T::ZERO),
    };
    // SAFETY: as the caller guarantees; all addresses are those of entries.
    unsafe {
        let pivots: Vec<T> = (0..order).map(|j| *to.diagonal(j)).collect();
        let is_copied = !upper || can_break || !pivots.iter().all(|pivot| *pivot >= T::ZERO);
        let prepare = || {
            for (j, pivot) in pivots.iter().enumerate() {
                *to.diagonal(j) = *pivot;
            }
            if is_copied {
                mirror(at, (order, upper), T::NIL);
            }
            for j in (0..order).filter(|&j| pivots[j] < T::ZERO) {
                to.by_columns().col_mut(j).subrows_mut(j, order - j).iter_mut().for_each(|x| *x = -*x);
            }
        };
        prepare();
        let modify = |engine: &Cpu| {
            T::with_workspace(|workspace| {
                let modified =
                    modify_checked_in_place(to.by_columns(), Operand::from(v), weights, engine, workspace);
                modified.map(|_| ())
            })
        };
        let unguarded = engine.with_safeguard(Safeguard::None);
        let mut modified = modify(if is_copied { &unguarded } else { engine });
        if let (Err(Error::NotPositiveDefinite { .. }), true) = (&modified, is_copied) {
            // With a safeguard a decision that is close is made in higher precision.
            if upper {
                mirror(at, (order, false), T::NIL);
            }
            prepare();
            modified = modify(engine);
            T::with_workspace(|workspace| *workspace = Workspace::new());
        }
        match modified {
            Ok(()) => into_rows(to),
            Err(_) => {
                for (j, pivot) in pivots.iter().enumerate() {
                    *to.diagonal(j) = *pivot;
                }
                match upper {
                    true if is_copied => {
                        mirror(at, (order, false), T::NIL);
                        clear_below(at, order, T::NIL);
                    }
                    true => clear_below(at, order, T::NIL),
                    false => clear_above(at, order, T::NIL),
                }
            }
        }
        modified
    }
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

            unsafe fn modify_in_place(
                to: RowMajor<Self>,
                v: MatRef<'_, Self>,
                weights: Weights<'_, Self>,
                engine: &Cpu,
            ) -> Result<(), Error> {
                // SAFETY: as the caller guarantees.
                unsafe { in_place(to, v, weights, engine) }
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

            unsafe fn modify_in_place(
                to: RowMajor<Self>,
                v: MatRef<'_, Self>,
                weights: Weights<'_, $part>,
                engine: &Cpu,
            ) -> Result<(), Error> {
                let RowMajor { at, order, upper } = to;
                let (row, column) = if upper { (1, order as isize) } else { (order as isize, 1) };
                // SAFETY: as the caller guarantees. The factor is a copy of L.
                unsafe {
                    let l = MatRef::from_raw_parts(at, order, order, row, column);
                    let factor = Cholesky::from_factor_in(l, *engine);
                    let modified = factor.and_then(|mut factor| factor.modify(v, weights).map(|_| factor));
                    match &modified {
                        Ok(factor) => write_triangle(factor.l(), to),
                        Err(_) if upper => clear_below(at, order, Self::NIL),
                        Err(_) => clear_above(at, order, Self::NIL),
                    }
                    modified.map(|_| ())
                }
            }
        }
    )*};
}

real!(f32, f64);
complex!(c32: f32, c64: f64);
