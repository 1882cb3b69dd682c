//! The structures of DLPack, in the layout of `dlpack.h`, and their capsules.

use core::ffi::{CStr, c_void};
use core::ptr::NonNull;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::any::Any;
use std::sync::Arc;

/// `kDLCUDA`.
pub const CUDA: i32 = 2;
/// `kDLCUDAManaged`.
pub const CUDA_MANAGED: i32 = 13;
/// The devices whose memory the host can read: `kDLCPU` and `kDLCUDAHost`.
pub const HOST: [i32; 2] = [1, 3];

/// `kDLInt`.
pub const INT: u8 = 0;
/// `kDLFloat`.
pub const FLOAT: u8 = 2;
/// `DLPACK_FLAG_BITMASK_READ_ONLY`.
const READ_ONLY: u64 = 1;
const PLAIN: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";

#[repr(C)]
struct Device {
    device_type: i32,
    device_id: i32,
}

#[repr(C)]
struct DataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: Device,
    ndim: i32,
    dtype: DataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct ManagedVersioned {
    version: [u32; 2],
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
    flags: u64,
    tensor: Tensor,
}

/// The description of an array by its capsule. The capsule keeps the array alive; it is not consumed, and the producer frees the
/// array.
pub struct Described<'py> {
    pub address: u64,
    pub device_id: i32,
    /// The NumPy name.
    pub dtype: String,
    pub shape: Vec<usize>,
    /// In entries.
    pub strides: Vec<isize>,
    /// Whether the producer says so. Before DLPack 1.0 none did.
    pub read_only: bool,
    _capsule: Bound<'py, PyCapsule>,
}

impl<'py> Described<'py> {
    pub fn new(capsule: Bound<'py, PyCapsule>) -> PyResult<Self> {
        let (tensor, read_only) = if capsule.is_valid_checked(Some(VERSIONED)) {
            let managed = capsule.pointer_checked(Some(VERSIONED))?.cast::<ManagedVersioned>();
            // SAFETY: a capsule of this name holds this structure, whose version is its first field in every version.
            let [major, minor] = unsafe { (*managed.as_ptr()).version };
            if major != 1 {
                let message = format!("DLPack {major}.{minor} is not understood, 1 is");
                return Err(PyBufferError::new_err(message));
            }
            // SAFETY: as above, and this is the layout of version 1.
            let managed = unsafe { &*managed.as_ptr() };
            (&managed.tensor, managed.flags & READ_ONLY != 0)
        } else {
            let managed = capsule.pointer_checked(Some(PLAIN))?.cast::<Managed>();
            // SAFETY: a capsule of this name holds this structure, and keeps it alive.
            (unsafe { &(*managed.as_ptr()).tensor }, false)
        };
        let ndim = usize::try_from(tensor.ndim).unwrap_or(0);
        // SAFETY: the producer has stored `ndim` numbers there.
        let shape: Vec<usize> = unsafe { numbers(tensor.shape, ndim) }.iter().map(|&n| n as usize).collect();
        let strides = if tensor.strides.is_null() {
            row_major(&shape)
        } else {
            // SAFETY: as above.
            unsafe { numbers(tensor.strides, ndim) }.iter().map(|&n| n as isize).collect()
        };
        Ok(Self {
            address: tensor.data.addr() as u64 + tensor.byte_offset,
            device_id: tensor.device.device_id,
            dtype: name(&tensor.dtype),
            shape,
            strides,
            read_only,
            _capsule: capsule,
        })
    }
}

/// # Safety
/// `at` points to `len` numbers that outlive the slice, unless `len` is 0.
unsafe fn numbers<'a>(at: *const i64, len: usize) -> &'a [i64] {
    // SAFETY: the caller's obligation. If `len` is 0, the pointer may be null.
    if len == 0 { &[] } else { unsafe { core::slice::from_raw_parts(at, len) } }
}

/// Strides of a packed array in row-major order.
fn row_major(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as isize;
    }
    strides
}

fn name(dtype: &DataType) -> String {
    let kind = match dtype.code {
        0 => "int",
        1 => "uint",
        FLOAT => "float",
        4 => "bfloat",
        5 => "complex",
        6 => "bool",
        _ => "opaque",
    };
    let lanes = if dtype.lanes == 1 { String::new() } else { format!("x{}", dtype.lanes) };
    format!("{kind}{}{lanes}", dtype.bits)
}

/// An array in device memory for export, packed in column-major order, or in row-major order if `by_rows`.
#[derive(Clone)]
pub struct Offered {
    pub address: u64,
    pub device_id: i32,
    /// `INT` or `FLOAT`.
    pub code: u8,
    pub bits: u8,
    pub shape: Vec<usize>,
    pub by_rows: bool,
    /// The owner of the memory.
    pub memory: Arc<dyn Any + Send + Sync>,
}

/// What must live as long as the exported tensor.
struct Kept {
    shape: Vec<i64>,
    strides: Vec<i64>,
    _memory: Arc<dyn Any + Send + Sync>,
}

impl Offered {
    /// A versioned capsule, or one of the kind before DLPack 1.0. The array must be completely written.
    pub fn capsule<'py>(&self, py: Python<'py>, versioned: bool) -> PyResult<Bound<'py, PyCapsule>> {
        let shape: Vec<i64> = self.shape.iter().map(|&n| n as i64).collect();
        let strides = match self.by_rows {
            true => row_major(&self.shape).iter().map(|&stride| stride as i64).collect(),
            false => shape.iter().scan(1, |next, n| Some(core::mem::replace(next, *next * n))).collect(),
        };
        let mut kept = Box::new(Kept { shape, strides, _memory: self.memory.clone() });
        let tensor = Tensor {
            data: core::ptr::without_provenance_mut(self.address as usize),
            device: Device { device_type: CUDA, device_id: self.device_id },
            ndim: kept.shape.len() as i32,
            dtype: DataType { code: self.code, bits: self.bits, lanes: 1 },
            shape: kept.shape.as_mut_ptr(),
            strides: kept.strides.as_mut_ptr(),
            byte_offset: 0,
        };
        let context = Box::into_raw(kept).cast();
        if versioned {
            let deleter = Some(delete_versioned as unsafe extern "C" fn(*mut ManagedVersioned));
            let managed = Box::new(ManagedVersioned { version: [1, 0], context, deleter, flags: 0, tensor });
            let pointer = NonNull::from(Box::leak(managed)).cast();
            // SAFETY: either `unused_versioned` or the consumer that renames the capsule calls the deleter, once.
            unsafe {
                PyCapsule::new_with_pointer_and_destructor(py, pointer, VERSIONED, Some(unused_versioned))
            }
        } else {
            let deleter = Some(delete as unsafe extern "C" fn(*mut Managed));
            let managed = Box::new(Managed { tensor, context, deleter });
            let pointer = NonNull::from(Box::leak(managed)).cast();
            // SAFETY: either `unused` or the consumer that renames the capsule calls the deleter, once.
            unsafe { PyCapsule::new_with_pointer_and_destructor(py, pointer, PLAIN, Some(unused)) }
        }
    }
}

macro_rules! release {
    ($delete:ident, $unused:ident, $type:ty, $name:expr) => {
        /// Frees the memory. Any thread may call it.
        unsafe extern "C" fn $delete(managed: *mut $type) {
            // SAFETY: `Offered::capsule` made the pointer from two boxes; DLPack requires that the deleter is called once, with
            // this pointer.
            unsafe {
                let managed = Box::from_raw(managed);
                drop(Box::from_raw(managed.context.cast::<Kept>()));
            }
        }

        /// The destructor of the capsule. A capsule that still has its original name was not consumed, and its tensor is freed
        /// here.
        unsafe extern "C" fn $unused(capsule: *mut ffi::PyObject) {
            // SAFETY: Python calls this attached, with a live capsule. If the name is valid, it holds the pointer that
            // `Offered::capsule` stored.
            unsafe {
                if ffi::PyCapsule_IsValid(capsule, $name.as_ptr()) == 1 {
                    $delete(ffi::PyCapsule_GetPointer(capsule, $name.as_ptr()).cast());
                }
            }
        }
    };
}

release!(delete, unused, Managed, PLAIN);
release!(delete_versioned, unused_versioned, ManagedVersioned, VERSIONED);
