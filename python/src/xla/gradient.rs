//! The calls `cholupdate_modify_vjp` and `cholupdate_modify_jvp`: derivatives of L' of each matrix.

use super::api::{CallFrame, Error, data_type};
use super::frame::{Call, Refused, Tensor, answer};
use crate::foreign::gradient::{Along, Differentiable, Given, To};
use crate::foreign::stack::{Stack, Vectors};

/// Arguments: L and L' (…, n, n), V (…, n, k), w (…, k), ok (…), the cotangent of L'; each with all matrices or one for all.
/// Results: the cotangents of L, V and w, with all matrices. Attribute: `upper`.
///
/// # Safety
/// XLA calls it.
pub unsafe extern "C" fn vjp(frame: *mut CallFrame) -> *mut Error {
    let work = |call: Call<'_>| {
        let [given @ .., cotangent] = call.arguments::<6>()?;
        let results = call.results::<3>()?;
        // SAFETY: as the caller guarantees.
        unsafe {
            match cotangent.data_type {
                data_type::F32 => pull::<f32>(call, given, cotangent, results),
                data_type::F64 => pull::<f64>(call, given, cotangent, results),
                _ => Err(OTHER_NUMBERS),
            }
        }
    };
    // SAFETY: as the caller guarantees.
    unsafe { answer(frame, work) }
}

/// Arguments: as [`vjp`], and in place of the cotangent the tangents of L, V and w. Result: the tangent of L'. Attribute: `upper`.
///
/// # Safety
/// XLA calls it.
pub unsafe extern "C" fn jvp(frame: *mut CallFrame) -> *mut Error {
    let work = |call: Call<'_>| {
        let [l, new, v, weights, ok, tangents @ ..] = call.arguments::<8>()?;
        let (given, [result]) = ([l, new, v, weights, ok], call.results::<1>()?);
        // SAFETY: as the caller guarantees.
        unsafe {
            match result.data_type {
                data_type::F32 => push::<f32>(call, given, tangents, result),
                data_type::F64 => push::<f64>(call, given, tangents, result),
                _ => Err(OTHER_NUMBERS),
            }
        }
    };
    // SAFETY: as the caller guarantees.
    unsafe { answer(frame, work) }
}

pub(super) const OTHER_NUMBERS: Refused = "a matrix has numbers of another type";

/// # Safety
/// As [`vjp`]; numbers are of this type.
unsafe fn pull<T: Differentiable>(
    call: Call<'_>,
    given: [Tensor<'_>; 5],
    cotangent: Tensor<'_>,
    [of_l, of_v, of_weights]: [Tensor<'_>; 3],
) -> Result<(), Refused> {
    let extents = Extents::new(call, of_l, of_v)?;
    let to = To { l: extents.square(of_l)?, v: extents.tall(of_v)?, weights: extents.weights(of_weights)? };
    // SAFETY: XLA's tensors are as it describes them, and results are in memory of their own.
    unsafe { extents.given::<T>(given)?.pull(extents.square(cotangent)?, to) };
    Ok(())
}

/// # Safety
/// As [`vjp`]; numbers are of this type.
unsafe fn push<T: Differentiable>(
    call: Call<'_>,
    given: [Tensor<'_>; 5],
    [l, v, weights]: [Tensor<'_>; 3],
    result: Tensor<'_>,
) -> Result<(), Refused> {
    let extents = Extents::new(call, result, v)?;
    let along = Along { l: extents.square(l)?, v: extents.tall(v)?, weights: extents.weights(weights)? };
    // SAFETY: XLA's tensors are as it describes them, and results are in memory of their own.
    unsafe { extents.given::<T>(given)?.push(along, extents.square(result)?) };
    Ok(())
}

/// What all tensors of a call must agree with.
pub(super) struct Extents {
    count: usize,
    n: usize,
    k: usize,
    upper: bool,
}

impl Extents {
    pub fn new(call: Call<'_>, square: Tensor<'_>, tall: Tensor<'_>) -> Result<Self, Refused> {
        let ([count, n, _], [_, _, k]) = (square.matrices()?, tall.matrices()?);
        Ok(Self { count, n, k, upper: call.flag("upper")? })
    }

    fn check(&self, count: usize, agree: bool) -> Result<(), Refused> {
        let agree = agree && (count == self.count || count == 1);
        if agree { Ok(()) } else { Err("shapes do not match") }
    }

    pub fn square<T>(&self, of: Tensor<'_>) -> Result<Stack<T>, Refused> {
        let shape @ [count, rows, columns] = of.matrices()?;
        self.check(count, [rows, columns] == [self.n; 2])?;
        Ok(Stack::by_rows(of.data.cast(), shape).transposed_if(self.upper))
    }

    pub fn tall<T>(&self, of: Tensor<'_>) -> Result<Stack<T>, Refused> {
        let shape @ [count, rows, columns] = of.matrices()?;
        self.check(count, [rows, columns] == [self.n, self.k])?;
        Ok(Stack::by_rows(of.data.cast(), shape))
    }

    pub fn weights<T>(&self, of: Tensor<'_>) -> Result<Vectors<T>, Refused> {
        let shape @ [count, entries] = of.vectors()?;
        self.check(count, entries == self.k)?;
        Ok(Vectors::new(of.data.cast(), shape))
    }

    pub fn given<T>(&self, [l, new, v, weights, ok]: [Tensor<'_>; 5]) -> Result<Given<T>, Refused> {
        let of_ok = ok.entries();
        self.check(of_ok, ok.data_type == data_type::BOOL)?;
        Ok(Given {
            count: self.count,
            extents: (self.n, self.k),
            l: self.square(l)?,
            new: self.square(new)?,
            v: self.tall(v)?,
            weights: self.weights(weights)?,
            ok: Vectors::new(ok.data.cast(), [of_ok, 1]),
        })
    }
}
