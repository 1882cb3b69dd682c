//! The names that Fortran programs use, with all arguments by pointer: for 32-bit integers, and with `_64_` for 64-bit ones.
//!
//! Callers must satisfy the contracts in `qrupdate` and `linpack`. Pointers are to single numbers, except those to arrays.

use crate::complex::Complex;
use crate::linpack::{Along, chdd, chex, chud};
use crate::qrupdate::{ch1dn, ch1up, chdex, chinx, chshx};
use crate::upper::size;
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

/// `chshx`, whose workspace is one array (2 n) of real numbers; or one (n) of complex numbers, and one (n) of real ones.
macro_rules! chshx_symbol {
    (real $chshx:ident $name:literal) => {
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $chshx(
            n: *const Int,
            r: *mut Number,
            ldr: *const Int,
            i: *const Int,
            j: *const Int,
            w: *mut Number,
        ) {
            // SAFETY: the caller guarantees the contract.
            unsafe {
                let work = (w.wrapping_add(size(int(n))), w);
                checked($name, chshx(int(n), r, int(ldr), int(i), int(j), work));
            }
        }
    };
    (complex $chshx:ident $name:literal) => {
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $chshx(
            n: *const Int,
            r: *mut Number,
            ldr: *const Int,
            i: *const Int,
            j: *const Int,
            w: *mut Number,
            rw: *mut Real,
        ) {
            // SAFETY: the caller guarantees the contract.
            unsafe { checked($name, chshx(int(n), r, int(ldr), int(i), int(j), (w, rw))) };
        }
    };
}

macro_rules! symbols {
    (
        $module:ident: $kind:ident $number:ty, $real:ty, $int:ty;
        $ch1up:ident $ch1dn:ident $chinx:ident $chdex:ident $chshx:ident $chud:ident $chdd:ident $chex:ident;
        $name_ch1dn:literal $name_chinx:literal $name_chdex:literal $name_chshx:literal
    ) => {
        mod $module {
            use super::*;
            type Number = $number;
            type Real = $real;
            type Int = $int;

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $ch1up(
                n: *const Int,
                r: *mut Number,
                ldr: *const Int,
                u: *mut Number,
                w: *mut Real,
            ) {
                // SAFETY: the caller guarantees the contract.
                unsafe { ch1up(int(n), r, int(ldr), u, w) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $ch1dn(
                n: *const Int,
                r: *mut Number,
                ldr: *const Int,
                u: *mut Number,
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
                r: *mut Number,
                ldr: *const Int,
                j: *const Int,
                x: *mut Number,
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
                r: *mut Number,
                ldr: *const Int,
                j: *const Int,
                w: *mut Real,
            ) {
                // SAFETY: the caller guarantees the contract.
                unsafe { checked($name_chdex, chdex(int(n), r, int(ldr), int(j), w)) };
            }

            chshx_symbol!($kind $chshx $name_chshx);

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $chud(
                r: *mut Number,
                ldr: *const Int,
                p: *const Int,
                x: *const Number,
                z: *mut Number,
                ldz: *const Int,
                nz: *const Int,
                y: *const Number,
                rho: *mut Real,
                c: *mut Real,
                s: *mut Number,
            ) {
                // SAFETY: the caller guarantees the contract.
                unsafe {
                    let along = Along { z, ldz: int(ldz), nz: int(nz), y, rho };
                    chud((r, int(ldr), int(p)), x, along, (c, s));
                }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $chdd(
                r: *mut Number,
                ldr: *const Int,
                p: *const Int,
                x: *const Number,
                z: *mut Number,
                ldz: *const Int,
                nz: *const Int,
                y: *const Number,
                rho: *mut Real,
                c: *mut Real,
                s: *mut Number,
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
                r: *mut Number,
                ldr: *const Int,
                p: *const Int,
                k: *const Int,
                l: *const Int,
                z: *mut Number,
                ldz: *const Int,
                nz: *const Int,
                c: *mut Real,
                s: *mut Number,
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
    single: real f32, f32, i32;
    sch1up_ sch1dn_ schinx_ schdex_ schshx_ schud_ schdd_ schex_;
    "SCH1DN" "SCHINX" "SCHDEX" "SCHSHX"
}
symbols! {
    double: real f64, f64, i32;
    dch1up_ dch1dn_ dchinx_ dchdex_ dchshx_ dchud_ dchdd_ dchex_;
    "DCH1DN" "DCHINX" "DCHDEX" "DCHSHX"
}
symbols! {
    single_complex: complex Complex<f32>, f32, i32;
    cch1up_ cch1dn_ cchinx_ cchdex_ cchshx_ cchud_ cchdd_ cchex_;
    "CCH1DN" "CCHINX" "CCHDEX" "CCHSHX"
}
symbols! {
    double_complex: complex Complex<f64>, f64, i32;
    zch1up_ zch1dn_ zchinx_ zchdex_ zchshx_ zchud_ zchdd_ zchex_;
    "ZCH1DN" "ZCHINX" "ZCHDEX" "ZCHSHX"
}
symbols! {
    single_64: real f32, f32, i64;
    sch1up_64_ sch1dn_64_ schinx_64_ schdex_64_ schshx_64_ schud_64_ schdd_64_ schex_64_;
    "SCH1DN" "SCHINX" "SCHDEX" "SCHSHX"
}
symbols! {
    double_64: real f64, f64, i64;
    dch1up_64_ dch1dn_64_ dchinx_64_ dchdex_64_ dchshx_64_ dchud_64_ dchdd_64_ dchex_64_;
    "DCH1DN" "DCHINX" "DCHDEX" "DCHSHX"
}
symbols! {
    single_complex_64: complex Complex<f32>, f32, i64;
    cch1up_64_ cch1dn_64_ cchinx_64_ cchdex_64_ cchshx_64_ cchud_64_ cchdd_64_ cchex_64_;
    "CCH1DN" "CCHINX" "CCHDEX" "CCHSHX"
}
symbols! {
    double_complex_64: complex Complex<f64>, f64, i64;
    zch1up_64_ zch1dn_64_ zchinx_64_ zchdex_64_ zchshx_64_ zchud_64_ zchdd_64_ zchex_64_;
    "ZCH1DN" "ZCHINX" "ZCHDEX" "ZCHSHX"
}
