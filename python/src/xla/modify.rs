//! The call `cholupdate_modify`: L' of each matrix, and whether it exists.

use super::api::{CallFrame, Error, data_type};
use super::frame::{Call, Refused, Tensor, answer};
use crate::foreign::modify::{Alone, Modify, OnBreakdown};
use crate::foreign::stack::{Stack, Vectors};
use cholupdate::faer::{c32, c64};

/// Arguments: L (…, n, n), V (…, n, k), w (…, k), each with all matrices or one for all. Results: L' (…, n, n), ok (…).
/// Attributes: `upper`, `nan`.
///
/// # Safety
/// XLA calls it.
pub unsafe extern "C" fn handler(frame: *mut CallFrame) -> *mut Error {
    // SAFETY: as the caller guarantees.
    unsafe { answer(frame, |call| dispatch(call)) }
}

/// # Safety
/// As [`handler`].
unsafe fn dispatch(call: Call<'_>) -> Result<(), Refused> {
    let arguments @ [l, ..] = call.arguments::<3>()?;
    // SAFETY: as the caller guarantees.
    unsafe {
        match l.data_type {
            data_type::F32 => run::<f32>(call, arguments),
            data_type::F64 => run::<f64>(call, arguments),
            data_type::C64 => run::<c32>(call, arguments),
            data_type::C128 => run::<c64>(call, arguments),
            _ => Err("a matrix has numbers of another type"),
        }
    }
}

/// # Safety
/// As [`handler`]; numbers are of this type.
unsafe fn run<T: Alone>(call: Call<'_>, [l, v, weights]: [Tensor<'_>; 3]) -> Result<(), Refused> {
    let [to, ok] = call.results::<2>()?;
    let (upper, nan) = (call.flag("upper")?, call.flag("nan")?);
    let ([count, n, columns], of_l) = (to.matrices()?, l.matrices()?);
    let (of_v, of_weights) = (v.matrices()?, weights.vectors()?);
    let k = of_v[2];
    let agree = |other: usize| other == count || other == 1;
    if [of_l[0], of_v[0], of_weights[0]].into_iter().any(|other| !agree(other))
        || [of_l[1], of_l[2], columns, of_v[1]] != [n; 4]
        || of_weights[1] != k
        || ok.entries() != count
    {
        return Err("shapes do not match");
    }
    let modify = Modify::<T> {
        count,
        extents: (n, k),
        l: Stack::by_rows(l.data.cast(), of_l).transposed_if(upper),
        v: Stack::by_rows(v.data.cast(), of_v),
        weights: Vectors::new(weights.data.cast(), of_weights),
        to: to.data.cast(),
        ok: ok.data.cast(),
        upper,
        on_breakdown: if nan { OnBreakdown::Nan } else { OnBreakdown::Keep },
    };
    // SAFETY: XLA's tensors are as it describes them, and results are in memory of their own.
    unsafe { modify.run() };
    Ok(())
}
