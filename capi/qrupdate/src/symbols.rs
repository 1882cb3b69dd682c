//! The names that Fortran programs use, with all arguments by pointer: for 32-bit integers, and with `_64_` for 64-bit ones.
//!
//! Callers must satisfy the contracts in `qrupdate` and `linpack`. Pointers are to single numbers, except those to arrays.

use crate::linpack::{Along, chdd, chex, chud};
use crate::qrupdate::{ch1dn, ch1up, chdex, chinx, chshx};
use crate::xerbla::xerbla;

/// Reports a wrong argument.
fn checked(routine: &str, info: i64) -> i64 {
    if info < 0 {
        xerbla(routine, -info);
    }
    info
}

/// # Safety
/// The pointer is to a readable integer.
unsafe fn int<I: Copy + Into<i64>>(pointer: *const I) -> i64 {
    // SAFETY: the caller guarantees the pointer.
    unsafe { *pointer }.into()
}

macro_rules! symbols {
    (
        $module:ident: $real:ty, $int:ty;
        $ch1up:ident $ch1dn:ident $chinx:ident $chdex:ident $chshx:ident $chud:ident $chdd:ident $chex:ident;
        $name_ch1dn:literal $name_chinx:literal $name_chdex:literal $name_chshx:literal
    ) => {
        mod $module {
            use super::*;
            type Real = $real;
            type Int = $int;

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $ch1up(
                n: *const Int,
                r: *mut Real,
                ldr: *const Int,
                u: *mut Real,
                w: *mut Real,
            ) {
                // SAFETY: the caller guarantees the contract.
                unsafe { ch1up(int(n), r, int(ldr), u, w) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $ch1dn(
                n: *const Int,
                r: *mut Real,
                ldr: *const Int,
                u: *mut Real,
                w: *mut Real,
                info: *mut Int,
            ) {
                // SAFETY: the caller guarantees the contract.
                unsafe {
                    let code = ch1dn(int(n), r, int(ldr), u, w);
                    *info = code as Int;
                    checked($name_ch1dn, code);
                }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $chinx(
                n: *const Int,
                r: *mut Real,
                ldr: *const Int,
                j: *const Int,
                x: *mut Real,
                w: *mut Real,
                info: *mut Int,
            ) {
                // SAFETY: the caller guarantees the contract.
                unsafe {
                    let code = chinx(int(n), r, int(ldr), int(j), x, w);
                    *info = code as Int;
                    checked($name_chinx, code);
                }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $chdex(
                n: *const Int,
                r: *mut Real,
                ldr: *const Int,
                j: *const Int,
                w: *mut Real,
            ) {
                // SAFETY: the caller guarantees the contract.
                unsafe { checked($name_chdex, chdex(int(n), r, int(ldr), int(j), w)) };
            }

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $chshx(
                n: *const Int,
                r: *mut Real,
                ldr: *const Int,
                i: *const Int,
                j: *const Int,
                w: *mut Real,
            ) {
                // SAFETY: the caller guarantees the contract.
                unsafe { checked($name_chshx, chshx(int(n), r, int(ldr), int(i), int(j), w)) };
            }

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $chud(
                r: *mut Real,
                ldr: *const Int,
                p: *const Int,
                x: *const Real,
                z: *mut Real,
                ldz: *const Int,
                nz: *const Int,
                y: *const Real,
                rho: *mut Real,
                c: *mut Real,
                s: *mut Real,
            ) {
                // SAFETY: the caller guarantees the contract.
                unsafe {
                    let along = Along { z, ldz: int(ldz), nz: int(nz), y, rho };
                    chud((r, int(ldr), int(p)), x, along, (c, s));
                }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $chdd(
                r: *mut Real,
                ldr: *const Int,
                p: *const Int,
                x: *const Real,
                z: *mut Real,
                ldz: *const Int,
                nz: *const Int,
                y: *const Real,
                rho: *mut Real,
                c: *mut Real,
                s: *mut Real,
                info: *mut Int,
            ) {
                // SAFETY: the caller guarantees the contract.
                unsafe {
                    let along = Along { z, ldz: int(ldz), nz: int(nz), y, rho };
                    *info = chdd((r, int(ldr), int(p)), x, along, (c, s)) as Int;
                }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $chex(
                r: *mut Real,
                ldr: *const Int,
                p: *const Int,
                k: *const Int,
                l: *const Int,
                z: *mut Real,
                ldz: *const Int,
                nz: *const Int,
                c: *mut Real,
                s: *mut Real,
                job: *const Int,
            ) {
                // SAFETY: the caller guarantees the contract.
                unsafe {
                    let (z, places) = ((z, int(ldz), int(nz)), (int(k), int(l)));
                    chex((r, int(ldr), int(p)), places, z, (c, s), int(job));
                }
            }
        }
    };
}

symbols! {
    single: f32, i32;
    sch1up_ sch1dn_ schinx_ schdex_ schshx_ schud_ schdd_ schex_;
    "SCH1DN" "SCHINX" "SCHDEX" "SCHSHX"
}
symbols! {
    double: f64, i32;
    dch1up_ dch1dn_ dchinx_ dchdex_ dchshx_ dchud_ dchdd_ dchex_;
    "DCH1DN" "DCHINX" "DCHDEX" "DCHSHX"
}
symbols! {
    single_64: f32, i64;
    sch1up_64_ sch1dn_64_ schinx_64_ schdex_64_ schshx_64_ schud_64_ schdd_64_ schex_64_;
    "SCH1DN" "SCHINX" "SCHDEX" "SCHSHX"
}
symbols! {
    double_64: f64, i64;
    dch1up_64_ dch1dn_64_ dchinx_64_ dchdex_64_ dchshx_64_ dchud_64_ dchdd_64_ dchex_64_;
    "DCH1DN" "DCHINX" "DCHDEX" "DCHSHX"
}
