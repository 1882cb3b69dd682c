//! The contract of LINPACK (Dongarra, Bunch, Moler, Stewart, 1979, chapter 10), with right-hand sides Z (p × nz), Y and RHO
//! (nz).

use crate::chain::{APART, DOWN, step};
use crate::columns::{Rotations, shift_left, shift_right};
use crate::rank_one::{downdate, half_solve, update};
use crate::real::Real;
use crate::rotation::{Blas, length};
use crate::upper::Upper;
use core::slice;

/// The right-hand sides that are modified together with R.
pub struct Along<T> {
    pub z: *mut T,
    pub ldz: i64,
    pub nz: i64,
    pub y: *const T,
    pub rho: *mut T,
}

impl<T: Real> Along<T> {
    /// Applies `change` to column, y and rho of each right-hand side.
    ///
    /// # Safety
    /// Z has `nz` columns of `rows` entries at a distance of `ldz`, y and rho have `nz` entries; no other code uses them.
    unsafe fn each(&self, rows: usize, mut change: impl FnMut(&mut [T], T, &mut T)) {
        for column in 0..size(self.nz) {
            // SAFETY: the caller guarantees these entries.
            unsafe {
                let z = slice::from_raw_parts_mut(self.z.add(column * size(self.ldz)), rows);
                change(z, *self.y.add(column), &mut *self.rho.add(column));
            }
        }
    }
}

/// `dchud`: R becomes that of RᵀR + x xᵀ, and Z and RHO those with one more observation. A negative RHO does not change.
///
/// # Safety
/// R has p columns of p entries at a distance of `ldr`; x, c and s have p entries; the rest is as [`Along::each`] requires.
pub unsafe fn chud<T: Real>(
    (r, ldr, p): (*mut T, i64, i64),
    x: *const T,
    along: Along<T>,
    (c, s): (*mut T, *mut T),
) {
    // SAFETY: the caller guarantees the arrays.
    unsafe {
        update::<T, Blas>(Upper::new(r, size(ldr), size(p)), x, c, s);
        along.each(size(p), |z, y, rho| {
            let mut zeta = y;
            for (k, z) in z.iter_mut().enumerate() {
                (*z, zeta) = step::<T, DOWN, APART>(*c.add(k), *s.add(k), *z, zeta);
            }
            if zeta != T::ZERO && *rho >= T::ZERO {
                *rho = length(zeta, *rho);
            }
        });
    }
}

/// `dchdd`: R becomes that of RᵀR − x xᵀ, and Z and RHO those with one observation less.
///
/// Returns −1 if that is not possible; R, Z and RHO are then unchanged. Returns 1 if it is not possible for a RHO, which
/// becomes −1.
///
/// # Safety
/// As for [`chud`].
pub unsafe fn chdd<T: Real>(
    (r, ldr, p): (*mut T, i64, i64),
    x: *const T,
    along: Along<T>,
    (c, s): (*mut T, *mut T),
) -> i64 {
    let mut info = 0;
    // SAFETY: the caller guarantees the arrays.
    unsafe {
        let r = Upper::new(r, size(ldr), size(p));
        core::ptr::copy(x, s, r.order);
        let norm = half_solve(r, s);
        if !(norm < T::ONE) {
            return -1;
        }
        downdate(r, ((T::ONE - norm) * (T::ONE + norm)).sqrt(), c, s);
        along.each(r.order, |z, y, rho| {
            let mut zeta = y;
            for (k, z) in z.iter_mut().enumerate() {
                *z = (*z - *s.add(k) * zeta) / *c.add(k);
                zeta = *c.add(k) * zeta - *s.add(k) * *z;
            }
            let zeta = zeta.abs();
            if zeta <= *rho {
                *rho = ((*rho - zeta).sqrt()) * ((*rho + zeta).sqrt());
            } else {
                info = 1;
                *rho = -T::ONE;
            }
        });
    }
    info
}

/// `dchex`: moves column l of R left to column k (job 1), or column k right to column l (job 2), counted from 1, and updates Z.
/// c and s receive the rotations in the order of their application.
///
/// # Safety
/// R has p columns of p entries at a distance of `ldr`, Z has `nz` such columns, c and s have p entries; 1 ≤ k < l ≤ p.
pub unsafe fn chex<T: Real>(
    (r, ldr, p): (*mut T, i64, i64),
    (k, l): (i64, i64),
    (z, ldz, nz): (*mut T, i64, i64),
    (c, s): (*mut T, *mut T),
    job: i64,
) {
    let (first, last) = (size(k - 1), size(l - 1));
    if k < 1 || k >= l || l > p {
        return;
    }
    let count = last - first;
    // SAFETY: the caller guarantees the arrays; the saved entries and the rotations fit into them together.
    unsafe {
        let r = Upper::new(r, size(ldr), size(p));
        let columns = (0..size(nz)).map(|at| z.add(at * size(ldz) + first));
        if job == 1 {
            shift_left::<T, Blas>(r, (last, first), s, Rotations { c, s: s.add(first) });
            // Reversed: the last rotation was computed first.
            core::ptr::copy(s.add(first), s, count);
            slice::from_raw_parts_mut(s, count).reverse();
            slice::from_raw_parts_mut(c, count).reverse();
        } else if job == 2 {
            shift_right::<T, Blas>(r, (first, last), s.add(count), Rotations { c, s });
        } else {
            return;
        }
        for column in columns {
            for at in 0..count {
                let upper = column.add(if job == 1 { count - 1 - at } else { at });
                let (above, below) = (*upper, *upper.add(1));
                *upper = *c.add(at) * above + *s.add(at) * below;
                *upper.add(1) = *c.add(at) * below - *s.add(at) * above;
            }
        }
    }
}

/// A number of rows; 0 if it is negative.
fn size(n: i64) -> usize {
    usize::try_from(n).unwrap_or(0)
}
