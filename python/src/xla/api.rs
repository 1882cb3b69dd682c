//! XLA's interface of custom calls (`xla/ffi/api/c_api.h`, version 0.3), as far as the calls need it.
//!
//! Each structure begins with its size as XLA knows it, so that fields that a later version appends are ignored, and those that an
//! earlier one lacks are not read.

use core::ffi::{c_char, c_int, c_void};

/// The version that is declared here.
pub const MAJOR: c_int = 0;
pub const MINOR: c_int = 3;

/// The types of numbers that the calls take, as XLA numbers them.
pub mod data_type {
    use core::ffi::c_int;

    pub const BOOL: c_int = 1;
    pub const F32: c_int = 11;
    pub const F64: c_int = 12;
    pub const C64: c_int = 15;
    pub const C128: c_int = 18;
}

/// What an array of arguments, results or attributes holds.
pub const BUFFER: c_int = 1;
pub const SCALAR: c_int = 3;

pub const EXTENSION_METADATA: c_int = 1;
pub const STAGE_EXECUTE: c_int = 3;

pub const INVALID_ARGUMENT: c_int = 3;
pub const INTERNAL: c_int = 13;

/// An error that XLA has made.
#[repr(C)]
pub struct Error {
    _private: [u8; 0],
}

#[repr(C)]
pub struct Extension {
    pub struct_size: usize,
    pub kind: c_int,
    pub next: *mut Extension,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ApiVersion {
    pub struct_size: usize,
    pub extension_start: *mut Extension,
    pub major: c_int,
    pub minor: c_int,
}

#[repr(C)]
pub struct ErrorCreateArgs {
    pub struct_size: usize,
    pub extension_start: *mut Extension,
    pub message: *const c_char,
    pub code: c_int,
}

#[repr(C)]
pub struct StreamGetArgs {
    pub struct_size: usize,
    pub extension_start: *mut Extension,
    pub context: *mut c_void,
    pub stream: *mut c_void,
}

#[repr(C)]
pub struct MemoryAllocateArgs {
    pub struct_size: usize,
    pub extension_start: *mut Extension,
    pub context: *mut c_void,
    pub size: usize,
    pub alignment: usize,
    pub data: *mut c_void,
}

#[repr(C)]
pub struct MemoryFreeArgs {
    pub struct_size: usize,
    pub extension_start: *mut Extension,
    pub context: *mut c_void,
    pub size: usize,
    pub data: *mut c_void,
}

/// One of XLA's functions, with the structure of its arguments.
pub type Function<A> = Option<unsafe extern "C" fn(*mut A) -> *mut Error>;

/// XLA's functions, as far as they are used.
#[repr(C)]
pub struct Api {
    pub struct_size: usize,
    pub extension_start: *mut Extension,
    pub version: ApiVersion,
    pub internal: *const c_void,
    pub error_create: Function<ErrorCreateArgs>,
    /// Messages and the end of an error; registration.
    _errors: [*const c_void; 3],
    pub stream_get: Function<StreamGetArgs>,
    /// Types, and what is kept about a call.
    _state: [*const c_void; 4],
    pub memory_allocate: Function<MemoryAllocateArgs>,
    pub memory_free: Function<MemoryFreeArgs>,
}

#[repr(C)]
pub struct Buffer {
    pub struct_size: usize,
    pub extension_start: *mut Extension,
    pub data_type: c_int,
    pub data: *mut c_void,
    pub rank: i64,
    pub dims: *const i64,
}

#[repr(C)]
pub struct ByteSpan {
    pub start: *const u8,
    pub len: usize,
}

#[repr(C)]
pub struct Scalar {
    pub data_type: c_int,
    pub value: *const c_void,
}

/// Arguments, and results, which are declared alike.
#[repr(C)]
pub struct Buffers {
    pub struct_size: usize,
    pub extension_start: *mut Extension,
    pub size: i64,
    pub kinds: *const c_int,
    pub items: *const *const Buffer,
}

#[repr(C)]
pub struct Attributes {
    pub struct_size: usize,
    pub extension_start: *mut Extension,
    pub size: i64,
    pub kinds: *const c_int,
    pub names: *const *const ByteSpan,
    pub items: *const *const c_void,
}

#[repr(C)]
pub struct CallFrame {
    pub struct_size: usize,
    pub extension_start: *mut Extension,
    pub api: *const Api,
    pub context: *mut c_void,
    pub stage: c_int,
    pub arguments: Buffers,
    pub results: Buffers,
    pub attributes: Attributes,
}

/// What XLA asks about a handler when it registers it.
#[repr(C)]
pub struct Metadata {
    pub struct_size: usize,
    pub version: ApiVersion,
    pub traits: u32,
    /// Since version 0.2.
    pub state_type: i64,
}

#[repr(C)]
pub struct MetadataExtension {
    pub base: Extension,
    pub metadata: *mut Metadata,
}
