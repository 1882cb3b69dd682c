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
use crate::number::{Float, Number};
use crate::sweep::diagonal::{Pivot, SMALL_CHANGE, pivot};
use crate::sweep::interchange::Interchange;
use crate::sweep::shape::MAX_LANES;
use pulp::Simd;

/// The largest factor by which t may grow or shrink in a block. The difference between p̂ and the rows of V that the
/// reflections give is a rounding error, up to √6 times as large as that of the reflections.
const LARGEST_CHANGE: f64 = 6.0;

/// A scalar for each column, with space for whole registers.
pub type Each<T> = [T; MAX_LANES];

/// p̂, and t before and after each column.
pub struct Solution<T: Number> {
    p: Each<T>,
    before: Each<T::Part>,
    after: Each<T::Part>,
}

/// Computes p̂ and t, if t is within its limits. (`width` columns; those of L have this stride)
///
/// # Safety
/// The entries below the diagonal of the block at `l`, and its rows at `v`, must be readable.
#[cfg_attr(not(unoptimized), inline(always))]
pub unsafe fn solve<T: Number, S: Simd>(
    (l, stride): (*const T, isize),
    (v, apart): (*const T::Part, usize),
    width: usize,
    minus: bool,
    pivots: &Each<T::Part>,
) -> Option<Solution<T>> {
    let one = T::Part::ONE;
    let ones = [one; MAX_LANES];
    let mut solution = Solution { p: [T::ZERO; MAX_LANES], before: ones, after: ones };
    let Solution { p, before, after } = &mut solution;
    let (mut t, mut chain) = (one, [T::ZERO; BLOCK]);
    for i in 0..width {
        // SAFETY: rows and entries that the caller guarantees.
        let mut x = unsafe { T::read_parts(v.add(i), apart) };
        for j in 0..i {
            // SAFETY: as above.
            let entry = unsafe { *l.offset(j as isize * stride).add(i) };
            x = T::fused::<S>(-chain[j], entry, x);
        }
        let inverse = one / pivots[i];
        chain[i] = x.times(inverse);
        // The quotient to its last digit. The chain does not wait for it.
        let rest = T::fused_times::<S>(-pivots[i], chain[i], x);
        p[i] = T::fused_times::<S>(inverse, rest, chain[i]);
        let next = T::plus_square::<S>(p[i], minus, t);
        (before[i], after[i], t) = (t, next, next);
    }
    within_limits(t).then_some(solution)
}

/// Whether t, which began as 1, is within its limits. It is monotonic, so all values between have roots.
#[inline(always)]
pub fn within_limits<T: Float>(t: T) -> bool {
    let most = T::from_f64(LARGEST_CHANGE);
    // The comparison is false for NaN.
    t * most >= T::ONE && t <= most
}

/// The sign of a column of V, and what went before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
pub struct Pivots<T> {
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
pub fn coefficients_of<T: Number, S: Simd>(
    simd: S,
    (kind, width): (Kind, usize),
    solution: &Solution<T>,
    pivots: &mut Pivots<T::Part>,
    out: &mut Coefficients<T>,
) {
    let (zero, one) = (T::Part::ZERO, T::Part::ONE);
    let (mut changes, mut new) = ([zero; MAX_LANES], [one; MAX_LANES]);
    let sign = T::Part::splat(simd, if kind.is_minus() { -one } else { one });
    out.interchanges = [T::ZERO; BLOCK];
    let whole = T::mask(simd, 0, T::lanes::<S>().min(BLOCK));
    for j in (0..BLOCK).step_by(T::lanes::<S>()) {
        // SAFETY: the arrays have space for whole registers, and masks restrict stores to BLOCK columns.
        unsafe {
            let before = T::Part::vsqrt(simd, T::Part::load::<S>(solution.before.as_ptr().add(j)));
            let after = T::Part::vsqrt(simd, T::Part::load::<S>(solution.after.as_ptr().add(j)));
            let p = T::load::<S>(solution.p.as_ptr().add(j));
            let signed = T::vconj(simd, T::vtimes(simd, sign, p));
            let g = T::vover(simd, signed, after);
            let new_p = T::vover(simd, p, T::Part::vadd(simd, before, after));
            let x =
                T::vsub(simd, T::splat(simd, T::ZERO), T::vreal(simd, T::real_of_product(simd, g, new_p)));
            let growth = T::real_of_product(simd, T::vover(simd, signed, before), new_p); // α / l − 1
            T::store_masked(simd, whole, out.p.as_mut_ptr().add(j), new_p);
            T::store_masked(simd, whole, out.x.as_mut_ptr().add(j), x);
            T::store_masked(simd, whole, out.g.as_mut_ptr().add(j), g);
            let l = T::Part::load::<S>(pivots.now.as_ptr().add(j));
            T::Part::store::<S>(changes.as_mut_ptr().add(j), T::Part::vmul(simd, growth, l));
            let grown = T::Part::vmul(simd, T::Part::vdiv(simd, after, before), l);
            T::Part::store::<S>(new.as_mut_ptr().add(j), grown);
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
pub unsafe fn one_by_one<T: Number, S: Simd>(
    simd: S,
    (l, stride): (*const T, isize),
    (v, apart): (*const T::Part, usize),
    (width, rank): (usize, usize),
    kind: Kind,
    pivots: &mut Pivots<T::Part>,
    out: &mut Coefficients<T>,
) -> Result<(), usize> {
    let minus = kind.is_minus();
    let sign = if minus { -T::Part::ONE } else { T::Part::ONE };
    let mut rows = [T::ZERO; BLOCK];
    for (i, row) in rows[..width].iter_mut().enumerate() {
        // SAFETY: rows that the caller guarantees.
        *row = unsafe { T::read_parts(v.add(i), apart) };
    }
    out.interchanges = [T::ZERO; BLOCK];
    for j in 0..width {
        let (old, a) = (pivots.now[j], rows[j]);
        let parts = T::parts(core::slice::from_ref(&a));
        let square = parts[1..].iter().fold(parts[0] * parts[0], |sum, &part| sum + part * part);
        if let Some(made) = Interchange::new(old, square, 1, minus, |_| a) {
            let Interchange { turn, small, large, beta, .. } = made;
            let (p, g) = (small / beta, small / large);
            (out.p[j], out.x[j]) = (T::of_real(p), T::of_real(-(g * p)));
            (out.g[j], out.interchanges[j]) = (T::of_real(g), turn);
            let new = if minus { small } else { large };
            pivots.record_change(j, new - old, new, kind);
            for i in j + 1..width {
                // SAFETY: an entry that the caller guarantees.
                let l = unsafe { *l.offset(j as isize * stride).add(i) };
                let (l, row) = (T::splat(simd, l), T::splat(simd, rows[i]));
                rows[i] = T::lane::<S>(out.change_places(simd, j, l, row, minus).1, 0);
            }
            continue;
        }
        let Pivot { alpha, new, .. } =
            pivot(old, sign * square, T::PARTS, minus, |part| parts[part]).ok_or(j)?;
        let stored = pivots.record_change(j, new - old, new, kind);
        // The α of a zero pivot that stays zero makes coefficients of zero.
        let alpha = if stored > T::Part::ZERO { stored } else { alpha };
        let (p, g) = (a.over(old + alpha), a.conj().times(sign).over(alpha));
        let x = -(g * p).real();
        (out.p[j], out.x[j], out.g[j]) = (p, T::of_real(x), g);
        for i in j + 1..width {
            // SAFETY: an entry that the caller guarantees.
            let l = unsafe { *l.offset(j as isize * stride).add(i) };
            let d = T::fused::<S>(g, rows[i], l.times(x));
            let alone = (rank == 1 && T::PARTS == 1) || kind == Kind::AfterPlus;
            let both = if alone { T::fused_times::<S>(T::Part::TWO, l, d) } else { l + (l + d) };
            rows[i] = T::fused::<S>(-p, both, rows[i]);
        }
    }
    Ok(())
}
