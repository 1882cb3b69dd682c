//! The rank-1 update and downdate of LINPACK, `dchud` and `dchdd` (Dongarra, Moler, Bunch, Stewart, *LINPACK Users' Guide*,
//! SIAM 1979, chapter 10), without right-hand sides.
//!
//! LINPACK stores the upper factor R = Lᵀ and processes its contiguous columns. Here L is lower and its columns are contiguous,
//! so the two nested loops are interchanged: every number comes from the same rotations in the same order, and the factor is
//! read and written once, in the order of memory, as in the original. A column passes a vector instead of a scalar to the next
//! ones, which lets the compiler vectorize. This is faster than the original, never slower.

use cholupdate::{RealScalar, faer::MatMut};
use std::cmp::Ordering;

/// The work vectors that LINPACK takes from its caller.
pub struct Work<T> {
    cosines: Vec<T>,
    sines: Vec<T>,
    carry: Vec<T>,
}

impl<T: RealScalar> Work<T> {
    /// Work vectors for a factor of `order` rows.
    pub fn new(order: usize) -> Self {
        let vector = || vec![T::ZERO; order];
        Self { cosines: vector(), sines: vector(), carry: vector() }
    }
}

/// `INFO = -1` of `dchdd`: A − x xᵀ is not positive definite, and the factor is not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indefinite;

/// `dchud`: L becomes the factor of L Lᵀ + x xᵀ.
///
/// Shapes: L (n × n), column-major, lower triangle; x (n). As in the original, a diagonal entry takes the sign of the entry of
/// x with which it is rotated if that entry is larger.
pub fn dchud<T: RealScalar>(mut l: MatMut<'_, T>, x: &[T], work: &mut Work<T>) {
    let carry = &mut work.carry[..];
    carry.copy_from_slice(x);
    for j in 0..l.ncols() {
        let column = &mut column(l.as_mut(), j)[j..];
        let (c, s);
        (column[0], c, s) = drotg(column[0], carry[j]);
        for (l, x) in column[1..].iter_mut().zip(&mut carry[j + 1..]) {
            let rotated = c * *l + s * *x;
            *x = c * *x - s * *l;
            *l = rotated;
        }
    }
}

/// `dchdd`: L becomes the factor of L Lᵀ − x xᵀ.
///
/// Shapes: as [`dchud`].
///
/// # Errors
/// [`Indefinite`] where ‖L⁻¹x‖ is not less than 1; L is then not changed.
pub fn dchdd<T: RealScalar>(mut l: MatMut<'_, T>, x: &[T], work: &mut Work<T>) -> Result<(), Indefinite> {
    let n = l.ncols();
    let Work { cosines, sines, carry } = work;

    // L s = x, column by column.
    sines.copy_from_slice(x);
    for j in 0..n {
        let column = &column(l.as_mut(), j)[j..];
        let s = sines[j] / column[0];
        sines[j] = s;
        for (x, l) in sines[j + 1..].iter_mut().zip(&column[1..]) {
            *x -= s * *l;
        }
    }
    let norm = dnrm2(sines);
    if norm.partial_cmp(&T::ONE) != Some(Ordering::Less) {
        return Err(Indefinite);
    }

    // The rotations that reduce (s, α) to (0, 1), from the bottom up.
    let mut alpha = (T::ONE - norm * norm).sqrt();
    for i in (0..n).rev() {
        let scale = alpha + sines[i].abs();
        let (a, b) = (alpha / scale, sines[i] / scale);
        let norm = (a * a + b * b).sqrt();
        (cosines[i], sines[i]) = (a / norm, b / norm);
        alpha = scale * norm;
    }

    carry.fill(T::ZERO);
    for j in (0..n).rev() {
        let (c, s) = (cosines[j], sines[j]);
        for (l, x) in column(l.as_mut(), j)[j..].iter_mut().zip(&mut carry[j..]) {
            let rotated = c * *x + s * *l;
            *l = c * *l - s * *x;
            *x = rotated;
        }
    }
    Ok(())
}

/// Column `j` of a column-major factor.
fn column<T>(l: MatMut<'_, T>, j: usize) -> &mut [T] {
    l.col_mut(j).try_as_col_major_mut().expect("the factor is stored by columns").as_slice_mut()
}

/// The rotation (r, c, s) with c a + s b = r and c b − s a = 0, scaled against overflow as in the BLAS.
fn drotg<T: RealScalar>(a: T, b: T) -> (T, T, T) {
    let scale = a.abs() + b.abs();
    if scale == T::ZERO {
        return (T::ZERO, T::ONE, T::ZERO);
    }
    let (p, q) = (a / scale, b / scale);
    let length = scale * (p * p + q * q).sqrt();
    let larger = if a.abs() > b.abs() { a } else { b };
    let r = if larger < T::ZERO { -length } else { length };
    (r, a / r, b / r)
}

/// ‖x‖₂, scaled against overflow and underflow as in the BLAS.
fn dnrm2<T: RealScalar>(x: &[T]) -> T {
    let (mut scale, mut sum) = (T::ZERO, T::ONE);
    for x in x.iter().map(|x| x.abs()) {
        if x == T::ZERO {
            continue;
        }
        if x > scale {
            let ratio = scale / x;
            sum = T::ONE + sum * ratio * ratio;
            scale = x;
        } else {
            let ratio = x / scale;
            sum += ratio * ratio;
        }
    }
    scale * sum.sqrt()
}
