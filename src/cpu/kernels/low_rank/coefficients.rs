//! The coefficients of a few columns of L for one column of V.
//!
//! A column's coefficients depend on its pivot and its entry of V, and this on all earlier columns: a chain of square roots.
//! With p̂ = D⁻¹ v for the old block D, which is a chain of multiply-adds, all roots are computed together (method C1 of Gill,
//! Golub, Murray and Saunders, *Methods for modifying matrix factorizations*, Math. Comp. 28, 1974):
//!
//! ```text
//! t_0 = 1,   t_j = t_{j−1} + σ p̂_j²      α / l = √(t_j / t_{j−1})      a / l = p̂_j / √t_{j−1}
//! ```
//!
//! If t changes by much, the coefficients are computed one after the other.

use super::stored::{BLOCK, Coefficients};
use crate::cpu::kernels::diagonal::{Pivot, SMALL_CHANGE, pivot};
use crate::cpu::kernels::interchange::Interchange;
use crate::cpu::kernels::shape::MAX_LANES;
use crate::float::Float;
use pulp::Simd;

/// The largest factor by which t may grow or shrink in a block. The difference between p̂ and the rows of V that the
/// reflections give is a rounding error, up to √6 times as large as that of the reflections.
const LARGEST_CHANGE: f64 = 6.0;

/// A scalar for each column, with space for whole registers.
pub(super) type Each<T> = [T; MAX_LANES];

/// p̂, and t before and after each column.
pub(super) struct Solution<T> {
    p: Each<T>,
    before: Each<T>,
    after: Each<T>,
}

/// Computes p̂ and t, if t is within its limits. (`width` columns; those of L have this stride)
///
/// # Safety
/// The entries below the diagonal of the block at `l`, and its rows at `v`, must be readable.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) unsafe fn solve<T: Float, S: Simd>(
    (l, stride): (*const T, isize),
    v: *const T,
    width: usize,
    minus: bool,
    pivots: &Each<T>,
) -> Option<Solution<T>> {
    let ones = [T::ONE; MAX_LANES];
    let mut solution = Solution { p: [T::ZERO; MAX_LANES], before: ones, after: ones };
    let Solution { p, before, after } = &mut solution;
    let (mut t, mut chain) = (T::ONE, [T::ZERO; BLOCK]);
    for i in 0..width {
        // SAFETY: rows and entries that the caller guarantees.
        let mut x = unsafe { *v.add(i) };
        for j in 0..i {
            // SAFETY: as above.
            let entry = unsafe { *l.offset(j as isize * stride).add(i) };
            x = T::fused::<S>(-chain[j], entry, x);
        }
        let inverse = T::ONE / pivots[i];
        chain[i] = x * inverse;
        // The quotient to its last digit. The chain does not wait for it.
        p[i] = T::fused::<S>(T::fused::<S>(-chain[i], pivots[i], x), inverse, chain[i]);
        let next = T::fused::<S>(if minus { -p[i] } else { p[i] }, p[i], t);
        (before[i], after[i], t) = (t, next, next);
    }
    within_limits(t).then_some(solution)
}

/// Whether t, which began as 1, is within its limits. It is monotonic, so all values between have roots.
#[inline(always)]
pub(crate) fn within_limits<T: Float>(t: T) -> bool {
    let most = T::from_f64(LARGEST_CHANGE);
    // The comparison is false for NaN.
    t * most >= T::ONE && t <= most
}

/// The sign of a column of V, and what went before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Plus,
    /// After columns with a minus sign alone.
    Minus,
    /// With a minus sign, after columns with a plus sign, which may nearly cancel it. The entries of L between them are then large, and
    /// their rounding errors are not to be mixed with those of the small entries that are stored.
    AfterPlus,
}

impl Kind {
    pub fn is_minus(self) -> bool {
        self != Self::Plus
    }
}

/// The pivots of a block between one column of V and the next: a base, and the sum of the small changes after it.
pub(super) struct Pivots<T> {
    base: Each<T>,
    change: Each<T>,
    /// Their rounded sums, as L stores them.
    pub now: Each<T>,
}

impl<T: Float> Pivots<T> {
    /// Those of old L.
    #[inline(always)]
    pub fn new(old: Each<T>) -> Self {
        Self { base: old, change: [T::ZERO; MAX_LANES], now: old }
    }

    /// Adds a change, or sets the new pivot if the change is large; returns α, the pivot as L stores it or, for a `Kind` that says
    /// so, the new pivot of this column of V alone.
    #[inline(always)]
    fn record_change(&mut self, j: usize, change: T, new: T, kind: Kind) -> T {
        let old = self.now[j];
        // If the change is small, it is more accurate than the new pivot; if it is large, less.
        let small = change.abs() < T::from_f64(SMALL_CHANGE) * old;
        self.change[j] = if small { self.change[j] + change } else { T::ZERO };
        self.base[j] = if small { self.base[j] } else { new };
        self.now[j] = self.base[j] + self.change[j];
        match kind {
            Kind::AfterPlus if small => old + change,
            Kind::AfterPlus => new,
            Kind::Plus | Kind::Minus => self.now[j],
        }
    }
}

/// Computes p, x and g from p̂ and t, and the new pivots, for which no coefficient waits.
#[inline(always)]
pub(super) fn coefficients_of<T: Float, S: Simd>(
    simd: S,
    (kind, width): (Kind, usize),
    solution: &Solution<T>,
    pivots: &mut Pivots<T>,
    out: &mut Coefficients<T>,
) {
    let (mut changes, mut new) = ([T::ZERO; MAX_LANES], [T::ONE; MAX_LANES]);
    let sign = T::splat(simd, if kind.is_minus() { -T::ONE } else { T::ONE });
    out.interchanges = [T::ZERO; BLOCK];
    let whole = T::mask(simd, 0, T::lanes::<S>().min(BLOCK));
    for j in (0..BLOCK).step_by(T::lanes::<S>()) {
        // SAFETY: the arrays have space for whole registers, and masks restrict stores to BLOCK columns.
        unsafe {
            let before = T::vsqrt(simd, T::load::<S>(solution.before.as_ptr().add(j)));
            let after = T::vsqrt(simd, T::load::<S>(solution.after.as_ptr().add(j)));
            let p = T::load::<S>(solution.p.as_ptr().add(j));
            let signed = T::vmul(simd, sign, p);
            let g = T::vdiv(simd, signed, after);
            let new_p = T::vdiv(simd, p, T::vadd(simd, before, after));
            let x = T::neg_mul_add(simd, g, new_p, T::splat(simd, T::ZERO));
            let growth = T::vmul(simd, T::vdiv(simd, signed, before), new_p); // α / l − 1
            T::store_masked(simd, whole, out.p.as_mut_ptr().add(j), new_p);
            T::store_masked(simd, whole, out.x.as_mut_ptr().add(j), x);
            T::store_masked(simd, whole, out.g.as_mut_ptr().add(j), g);
            let l = T::load::<S>(pivots.now.as_ptr().add(j));
            T::store::<S>(changes.as_mut_ptr().add(j), T::vmul(simd, growth, l));
            T::store::<S>(new.as_mut_ptr().add(j), T::vmul(simd, T::vdiv(simd, after, before), l));
        }
    }
    for j in 0..width {
        pivots.record_change(j, changes[j], new[j], kind);
    }
}

/// The same as `solve` and `coefficients_of`, one column at a time, with the rounding errors of the rows below; after
/// the first column of V up to a rounding of the sum of the changes.
///
/// # Errors
/// The column whose pivot² is not greater than zero, counted from the first.
///
/// # Safety
/// As `solve`.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) unsafe fn one_by_one<T: Float, S: Simd>(
    (l, stride): (*const T, isize),
    v: *const T,
    (width, rank): (usize, usize),
    kind: Kind,
    pivots: &mut Pivots<T>,
    out: &mut Coefficients<T>,
) -> Result<(), usize> {
    let minus = kind.is_minus();
    let sign = if minus { -T::ONE } else { T::ONE };
    let mut rows = [T::ZERO; BLOCK];
    // SAFETY: rows that the caller guarantees.
    unsafe { core::ptr::copy_nonoverlapping(v, rows.as_mut_ptr(), width) };
    out.interchanges = [T::ZERO; BLOCK];
    for j in 0..width {
        let (old, a) = (pivots.now[j], rows[j]);
        if let Some(made) = Interchange::new(old, a * a, 1, minus, |_| a) {
            let Interchange { sign, small, large, beta, .. } = made;
            let (p, g) = (small / beta, small / large);
            (out.p[j], out.x[j], out.g[j], out.interchanges[j]) = (p, -(g * p), g, sign);
            let new = if minus { small } else { large };
            pivots.record_change(j, new - old, new, kind);
            for i in j + 1..width {
                // SAFETY: an entry that the caller guarantees.
                let l = unsafe { *l.offset(j as isize * stride).add(i) };
                rows[i] = out.change_places::<S>(j, l, rows[i], minus).1;
            }
            continue;
        }
        let Pivot { alpha, new, .. } = pivot(old, sign * a * a, 1, minus, |_| a).ok_or(j)?;
        let stored = pivots.record_change(j, new - old, new, kind);
        // The α of a zero pivot that stays zero makes coefficients of zero.
        let alpha = if stored > T::ZERO { stored } else { alpha };
        let (p, g) = (a / (old + alpha), sign * a / alpha);
        let x = -(g * p);
        (out.p[j], out.x[j], out.g[j]) = (p, x, g);
        for i in j + 1..width {
            // SAFETY: an entry that the caller guarantees.
            let l = unsafe { *l.offset(j as isize * stride).add(i) };
            let d = T::fused::<S>(g, rows[i], x * l);
            let alone = rank == 1 || kind == Kind::AfterPlus;
            let both = if alone { T::fused::<S>(T::TWO, l, d) } else { l + (l + d) };
            rows[i] = T::fused::<S>(-p, both, rows[i]);
        }
    }
    Ok(())
}
