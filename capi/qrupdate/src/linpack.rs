//! The contract of LINPACK (Dongarra, Bunch, Moler, Stewart, 1979, chapter 10), with right-hand sides Z (p × nz), Y and RHO
//! (nz).

use crate::chain::{APART, DOWN, NEIGHBOURS, step};
use crate::columns::{Rotations, shift_left, shift_right};
use crate::number::{Number, length};
use crate::rank_one::{downdate, half_solve, update};
use crate::real::Real;
use crate::rotation::Blas;
use crate::upper::{Upper, size};
use core::slice;

/// The right-hand sides that are modified together with R.
pub struct Along<T: Number> {
    pub z: *mut T,
    pub ldz: i64,
    pub nz: i64,
    pub y: *const T,
    pub rho: *mut T::Real,
}

impl<T: Number> Along<T> {
    /// Applies `change` to column, y and rho of each right-hand side.
    ///
    /// # Safety
    /// Z has `nz` columns of `rows` entries at a distance of `ldz`, y and rho have `nz` entries; no other code uses them.
    unsafe fn each(&self, rows: usize, mut change: impl FnMut(&mut [T], T, &mut T::Real)) {
        for column in 0..size(self.nz) {
            // SAFETY: the caller guarantees these entries.
            unsafe {
                let z = slice::from_raw_parts_mut(self.z.add(column * size(self.ldz)), rows);
                change(z, *self.y.add(column), &mut *self.rho.add(column));
            }
        }
    }
}

/// `dchud`: R becomes that of RᴴR + xᴴx, with the row x, and Z and RHO those with one more observation. A negative RHO does not change.
///
/// # Safety
/// R has p columns of p entries at a distance of `ldr`; x, c and s have p entries; the rest is as [`Along::each`] requires.
pub unsafe fn chud<T: Number>(
    (r, ldr, p): (*mut T, i64, i64),
    x: *const T,
    along: Along<T>,
    (c, s): (*mut T::Real, *mut T),
) {
    // SAFETY: the caller guarantees the arrays.
    unsafe {
        update::<T, Blas>(Upper::new(r, size(ldr), size(p)), x, c, s);
        along.each(size(p), |z, y, rho| {
            let mut zeta = y;
            for (k, z) in z.iter_mut().enumerate() {
                (*z, zeta) = step::<T, DOWN, APART>(*c.add(k), *s.add(k), *z, zeta);
            }
            if zeta != T::ZERO && *rho >= T::Real::ZERO {
                *rho = length(zeta.abs(), *rho);
            }
        });
    }
}

/// `dchdd`: R becomes that of RᴴR − xᴴx, with the row x, and Z and RHO those with one observation less.
///
/// Returns −1 if that is not possible; R, Z and RHO are then unchanged. Returns 1 if it is not possible for a RHO, which
/// becomes −1.
///
/// # Safety
/// As for [`chud`].
pub unsafe fn chdd<T: Number>(
    (r, ldr, p): (*mut T, i64, i64),
    x: *const T,
    along: Along<T>,
    (c, s): (*mut T::Real, *mut T),
) -> i64 {
    let mut info = 0;
    // SAFETY: the caller guarantees the arrays.
    unsafe {
        let r = Upper::new(r, size(ldr), size(p));
        for k in 0..r.order {
            *s.add(k) = (*x.add(k)).conj();
        }
        let (norm, one) = (half_solve(r, s), T::Real::ONE);
        if !(norm < one) {
            return -1;
        }
        downdate(r, ((one - norm) * (one + norm)).sqrt(), c, s);
        along.each(r.order, |z, y, rho| {
            let mut zeta = y;
            for (k, z) in z.iter_mut().enumerate() {
                let (c, s) = (*c.add(k), *s.add(k));
                *z = (*z - s.conj() * zeta).over(c);
                zeta = zeta.scale(c) - s * *z;
            }
            let zeta = zeta.abs();
            if zeta <= *rho {
                *rho = ((*rho - zeta).sqrt()) * ((*rho + zeta).sqrt());
            } else {
                info = 1;
                *rho = -one;
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
pub unsafe fn chex<T: Number>(
    (r, ldr, p): (*mut T, i64, i64),
    (k, l): (i64, i64),
    (z, ldz, nz): (*mut T, i64, i64),
    (c, s): (*mut T::Real, *mut T),
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
                (*upper, *upper.add(1)) = step::<T, DOWN, NEIGHBOURS>(*c.add(at), *s.add(at), below, above);
            }
        }
    }
}
