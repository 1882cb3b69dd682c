//! A call as XLA passes it: its arguments, results and attributes.

use super::api::{
    ApiVersion, BUFFER, Buffer, Buffers, CallFrame, EXTENSION_METADATA, Error, ErrorCreateArgs, INTERNAL,
    INVALID_ARGUMENT, MAJOR, MINOR, Metadata, MetadataExtension, SCALAR, STAGE_EXECUTE, Scalar, data_type,
};
use core::ffi::{c_int, c_void};
use core::mem::offset_of;
use core::ptr::{NonNull, null_mut};
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why a call is refused: a bug of what calls, since JAX checks types and shapes before.
pub type Refused = &'static str;

/// Why a call fails.
pub enum Failure {
    Refused(Refused),
    /// An error of this library.
    Own(cholupdate::Error),
    /// An error of XLA's, which takes it back.
    Theirs(NonNull<Error>),
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<cholupdate::Error> for Failure {
    fn from(error: cholupdate::Error) -> Self {
        Self::Own(error)
    }
}

/// The array of an argument or of a result.
#[derive(Clone, Copy)]
pub struct Tensor<'a> {
    pub data: *mut c_void,
    pub data_type: c_int,
    dims: &'a [i64],
}

impl Tensor<'_> {
    /// The number of matrices, and their extents. A tensor is a matrix, or has one leading dimension.
    pub fn matrices(&self) -> Result<[usize; 3], Refused> {
        let [rest @ .., rows, columns] = self.dims else {
            return Err("a tensor has less than two dimensions");
        };
        Ok([count(rest), extent(*rows), extent(*columns)])
    }

    /// The number of vectors, and their extents.
    pub fn vectors(&self) -> Result<[usize; 2], Refused> {
        let [rest @ .., entries] = self.dims else { return Err("a tensor has no dimension") };
        Ok([count(rest), extent(*entries)])
    }

    /// The number of entries.
    pub fn entries(&self) -> usize {
        count(self.dims)
    }
}

fn extent(of: i64) -> usize {
    usize::try_from(of).unwrap_or(0)
}

fn count(dims: &[i64]) -> usize {
    dims.iter().map(|&of| extent(of)).product()
}

/// A call.
#[derive(Clone, Copy)]
pub struct Call<'a>(pub(super) &'a CallFrame);

impl<'a> Call<'a> {
    /// All arguments, which are as many as these.
    pub fn arguments<const N: usize>(&self) -> Result<[Tensor<'a>; N], Refused> {
        // SAFETY: XLA describes its arguments.
        unsafe { tensors(&self.0.arguments) }
    }

    /// All results.
    pub fn results<const N: usize>(&self) -> Result<[Tensor<'a>; N], Refused> {
        // SAFETY: XLA describes its results.
        unsafe { tensors(&self.0.results) }
    }

    /// An attribute that is true or false.
    pub fn flag(&self, name: &str) -> Result<bool, Refused> {
        let attributes = &self.0.attributes;
        for at in 0..extent(attributes.size) {
            // SAFETY: the three arrays have an entry for each attribute, and a scalar of this type is one byte.
            unsafe {
                let span = &**attributes.names.add(at);
                if core::slice::from_raw_parts(span.start, span.len) != name.as_bytes() {
                    continue;
                }
                if *attributes.kinds.add(at) != SCALAR {
                    return Err("an attribute is no scalar");
                }
                let scalar = &*(*attributes.items.add(at)).cast::<Scalar>();
                if scalar.data_type != data_type::BOOL {
                    return Err("an attribute is not true or false");
                }
                return Ok(*scalar.value.cast::<u8>() != 0);
            }
        }
        Err("an attribute is missing")
    }
}

/// # Safety
/// The buffers are as XLA describes them, and live during `'a`.
unsafe fn tensors<'a, const N: usize>(of: &'a Buffers) -> Result<[Tensor<'a>; N], Refused> {
    if extent(of.size) != N {
        return Err("a call has another number of arguments or results");
    }
    let mut tensors = [Tensor { data: null_mut(), data_type: 0, dims: &[] }; N];
    for (at, tensor) in tensors.iter_mut().enumerate() {
        // SAFETY: the arrays have N entries. Those of a tensor without dimensions are not read.
        unsafe {
            if *of.kinds.add(at) != BUFFER {
                return Err("an argument or result is no tensor");
            }
            let Buffer { data_type, data, rank, dims, .. } = **of.items.add(at);
            let dims: &[i64] = match extent(rank) {
                0 => &[],
                rank => core::slice::from_raw_parts(dims, rank),
            };
            *tensor = Tensor { data, data_type, dims };
        }
    }
    Ok(tensors)
}

/// Answers a call by `work`.
///
/// # Safety
/// The frame is one that XLA passes.
pub unsafe fn answer<E: Into<Failure>>(
    frame: *mut CallFrame,
    work: impl FnOnce(Call<'_>) -> Result<(), E>,
) -> *mut Error {
    // SAFETY: XLA's frame lives during the call.
    let frame = unsafe { &*frame };
    if frame.struct_size < size_of::<CallFrame>() {
        return error(frame, INTERNAL, "XLA's interface is older than that of jaxlib 0.5");
    }
    // SAFETY: an extension of this kind is of this type.
    unsafe {
        if !frame.extension_start.is_null() && (*frame.extension_start).kind == EXTENSION_METADATA {
            describe(frame, &*frame.extension_start.cast::<MetadataExtension>());
            return null_mut();
        }
    }
    if frame.stage != STAGE_EXECUTE {
        return null_mut();
    }
    // Nothing may unwind into XLA.
    match catch_unwind(AssertUnwindSafe(|| work(Call(frame)))) {
        Ok(Ok(())) => null_mut(),
        Ok(Err(failure)) => match failure.into() {
            Failure::Refused(refused) => error(frame, INVALID_ARGUMENT, refused),
            Failure::Own(own) => error(frame, INTERNAL, &own.to_string()),
            Failure::Theirs(theirs) => theirs.as_ptr(),
        },
        Err(_) => error(frame, INTERNAL, "a panic, which is a bug"),
    }
}

/// Says of which version the handler is: of that of the caller, unless that is later.
///
/// # Safety
/// The extension is one that XLA passes with this frame.
unsafe fn describe(frame: &CallFrame, extension: &MetadataExtension) {
    // SAFETY: XLA's structures live during the call, and have fields according to their sizes.
    unsafe {
        // Version 0.1 does not say which one it is.
        let minor = frame.api.as_ref().map_or(1, |api| api.version.minor);
        let metadata = extension.metadata;
        (*metadata).version = ApiVersion {
            struct_size: size_of::<ApiVersion>(),
            extension_start: null_mut(),
            major: MAJOR,
            minor: minor.min(MINOR),
        };
        (*metadata).traits = 0;
        if (*metadata).struct_size >= offset_of!(Metadata, state_type) + size_of::<i64>() {
            (*metadata).state_type = 0;
        }
    }
}

#[cold]
fn error(frame: &CallFrame, code: c_int, message: &str) -> *mut Error {
    let message = CString::new(format!("cholupdate: {message}")).unwrap_or_default();
    let mut arguments = ErrorCreateArgs {
        struct_size: size_of::<ErrorCreateArgs>(),
        extension_start: null_mut(),
        message: message.as_ptr(),
        code,
    };
    // SAFETY: XLA copies the message, and owns the error that it makes.
    unsafe {
        let create = frame.api.as_ref().and_then(|api| api.error_create);
        create.map_or(null_mut(), |create| create(&raw mut arguments))
    }
}
