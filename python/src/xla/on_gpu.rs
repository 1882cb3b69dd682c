//! The call `cholupdate_modify` on CUDA: L' of each matrix, and whether it exists, on the stream that XLA gives.

use super::api::{CallFrame, Error, data_type};
use super::frame::{Call, Failure, Tensor, answer};
use crate::foreign::on_gpu::ModifyOnGpu;
use crate::foreign::stack::{Stack, Vectors};
use cholupdate::RealScalar;
use cholupdate::cuda::{Device, Signs};

/// Arguments: L (…, n, n), V (…, n, k), w (…, k), each with all matrices or one for all. Results: L' (…, n, n), ok (…). Attributes:
/// `upper`, that L and L', lower triangular, are by columns, so that to this call, which has them by rows, they are upper triangular;
/// otherwise they are by rows, as small matrices of which there are several may be; `nan`; `plus` and `minus`, that all weights are 1 or −1.
///
/// # Safety
/// XLA calls it.
pub unsafe extern "C" fn handler(frame: *mut CallFrame) -> *mut Error {
    // SAFETY: as the caller guarantees.
    unsafe { answer(frame, |call| dispatch(call)) }
}

/// # Safety
/// As [`handler`].
unsafe fn dispatch(call: Call<'_>) -> Result<(), Failure> {
    let arguments @ [l, ..] = call.arguments::<3>()?;
    // SAFETY: as the caller guarantees.
    unsafe {
        match l.data_type {
            data_type::F32 => run::<f32>(call, arguments),
            data_type::F64 => run::<f64>(call, arguments),
            _ => Err("a matrix has numbers of another type".into()),
        }
    }
}

/// What the attributes say about the weights.
pub(super) fn signs(call: Call<'_>) -> Result<Signs, Failure> {
    Ok(match (call.flag("plus")?, call.flag("minus")?) {
        (true, _) => Signs::Plus,
        (_, true) => Signs::Minus,
        _ => Signs::Any,
    })
}

/// # Safety
/// As [`handler`]; numbers are of this type.
unsafe fn run<T: RealScalar>(call: Call<'_>, [l, v, weights]: [Tensor<'_>; 3]) -> Result<(), Failure> {
    let [to, ok] = call.results::<2>()?;
    let ([count, n, columns], of_l) = (to.matrices()?, l.matrices()?);
    let (of_v, of_weights) = (v.matrices()?, weights.vectors()?);
    let agree = |other: usize| other == count || other == 1;
    if [of_l[0], of_v[0], of_weights[0]].into_iter().any(|other| !agree(other))
        || [of_l[1], of_l[2], columns, of_v[1]] != [n; 4]
        || of_weights[1] != of_v[2]
        || ok.entries() != count
    {
        return Err("shapes do not match".into());
    }
    // SAFETY: as the caller guarantees; XLA's memory is as it describes it, and what follows on the stream waits for the work.
    unsafe {
        let (stream, upper) = (call.stream()?, call.flag("upper")?);
        let device = Device::of_stream(stream)?;
        let modify = ModifyOnGpu::<T> {
            device: &device,
            shape: [count, n, of_v[2]],
            signs: signs(call)?,
            l: Stack::by_rows(l.data.cast(), of_l).transposed_if(upper || n <= 1),
            v: Stack::by_rows(v.data.cast(), of_v),
            weights: Vectors::new(weights.data.cast(), of_weights),
            to: to.data.cast(),
            to_by_rows: !upper && n > 1,
            ok: ok.data.cast(),
            nan: call.flag("nan")?,
        };
        let mut scratch = None;
        let enqueued = modify.enqueue(stream, |bytes| {
            let memory = call.device_memory(bytes)?;
            let address = memory.address();
            scratch = Some(memory);
            Ok::<_, Failure>(address)
        });
        // XLA gives the memory to later work on the stream.
        scratch.map_or(Ok(()), |memory| call.free(memory)).and(enqueued)
    }
}
