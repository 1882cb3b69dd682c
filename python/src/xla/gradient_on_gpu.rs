//! The calls `cholupdate_modify_vjp` and `cholupdate_modify_jvp` on CUDA, on the stream that XLA gives.

use super::api::{CallFrame, Error, data_type};
use super::frame::{Call, Failure, Tensor, answer};
use super::gradient::{Extents, OTHER_NUMBERS};
use super::on_gpu::signs;
use crate::foreign::gradient::{Along, To};
use crate::foreign::gradient_on_gpu::GradientOnGpu;
use cholupdate::RealScalar;
use cholupdate::cuda::Device;

/// As [`super::gradient::vjp`], with the attributes `plus` and `minus`, that all weights are 1 or −1.
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
                _ => Err(Failure::from(OTHER_NUMBERS)),
            }
        }
    };
    // SAFETY: as the caller guarantees.
    unsafe { answer(frame, work) }
}

/// As [`super::gradient::jvp`], with the attributes `plus` and `minus`.
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
                _ => Err(Failure::from(OTHER_NUMBERS)),
            }
        }
    };
    // SAFETY: as the caller guarantees.
    unsafe { answer(frame, work) }
}

/// # Safety
/// As [`vjp`]; numbers are of this type.
unsafe fn pull<T: RealScalar>(
    call: Call<'_>,
    given: [Tensor<'_>; 5],
    cotangent: Tensor<'_>,
    [of_l, of_v, of_weights]: [Tensor<'_>; 3],
) -> Result<(), Failure> {
    let extents = Extents::new(call, of_l, of_v)?;
    let to = To { l: extents.square(of_l)?, v: extents.tall(of_v)?, weights: extents.weights(of_weights)? };
    let (given, cotangent) = (extents.given::<T>(given)?, extents.square(cotangent)?);
    // SAFETY: XLA's memory is as it describes it, results are in memory of their own, and what follows on the stream waits for the work.
    unsafe { call.enqueue(|on, scratch| on.pull(&given, cotangent, to, scratch)) }
}

/// # Safety
/// As [`vjp`]; numbers are of this type.
unsafe fn push<T: RealScalar>(
    call: Call<'_>,
    given: [Tensor<'_>; 5],
    [l, v, weights]: [Tensor<'_>; 3],
    result: Tensor<'_>,
) -> Result<(), Failure> {
    let extents = Extents::new(call, result, v)?;
    let along = Along { l: extents.square(l)?, v: extents.tall(v)?, weights: extents.weights(weights)? };
    let (given, result) = (extents.given::<T>(given)?, extents.square(result)?);
    // SAFETY: as above.
    unsafe { call.enqueue(|on, scratch| on.push(&given, along, result, scratch)) }
}

impl Call<'_> {
    /// Enqueues work on the stream of the call, with working memory of XLA's.
    ///
    /// # Safety
    /// XLA has made the call, on a device.
    unsafe fn enqueue(
        &self,
        work: impl FnOnce(GradientOnGpu<'_>, &mut dyn FnMut(usize) -> Result<u64, Failure>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let stream = self.stream()?;
        // SAFETY: XLA's stream exists during the call.
        let device = unsafe { Device::of_stream(stream)? };
        let on = GradientOnGpu { device: &device, stream, signs: signs(*self)? };
        let mut scratch = None;
        let enqueued = work(on, &mut |bytes| {
            let memory = self.device_memory(bytes)?;
            let address = memory.address();
            scratch = Some(memory);
            Ok(address)
        });
        // XLA gives the memory to later work on the stream.
        scratch.map_or(Ok(()), |memory| self.free(memory)).and(enqueued)
    }
}
