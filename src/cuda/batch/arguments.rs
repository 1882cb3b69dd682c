//! The arguments of the kernels in `kernels/batch`, as `batch.cuh` and the kernels' files declare them.

use crate::cuda::memory::DeviceBuffer;
use crate::cuda::plain::Plain;

/// Matrices that lie side by side, and the largest order for which they do.
pub(in crate::cuda) const GROUP: usize = 32;
pub(in crate::cuda) const SIDE_BY_SIDE: usize = 8;

/// The largest order of which a modification is made in place.
pub(in crate::cuda) const IN_PLACE: usize = 32;

/// The orders of matrices that have no factor.
pub(super) const NO_FACTOR: i32 = -1;

/// `Factors`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(in crate::cuda) struct Factors {
    pub l: u64,
    pub group_stride: i64,
    pub count: i64,
    pub orders: u64,
    pub sides: u64,
    pub side_stride: i64,
    pub n: i32,
    pub group: i32,
}

/// `Given`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(in crate::cuda) struct Given {
    pub v: u64,
    pub v_strides: [i64; 3],
    pub weights: u64,
    /// From one matrix to the next, and from one column to the next.
    pub weights_strides: [i64; 2],
    pub mask: u64,
    pub rank: i32,
    pub sign: i32,
}

/// `Outcome`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(in crate::cuda) struct Results {
    pub status: u64,
    pub place: u64,
    pub ratio: u64,
    pub log_det: u64,
    pub pending: u64,
}

/// `Modification`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(in crate::cuda) struct Modification {
    pub factors: Factors,
    pub given: Given,
    pub results: Results,
}

/// `Source`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(in crate::cuda) struct Source {
    pub a: u64,
    pub a_strides: [i64; 3],
    pub orders: u64,
    pub why: u64,
    pub place: u64,
    pub factors: i32,
}

/// `Target`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(in crate::cuda) struct Target {
    pub to: u64,
    pub to_strides: [i64; 3],
}

/// `Choice`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Choice {
    pub chosen: u64,
    pub first: i64,
    pub count: i64,
    /// `why` and `place_of` of the source and of the target.
    pub reasons: [[u64; 2]; 2],
}

/// `Appending`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Appending {
    pub factors: Factors,
    pub columns: Columns,
    pub results: Results,
}

/// `Columns`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Columns {
    pub a: u64,
    pub matrix: i64,
    pub row: i64,
    pub mask: u64,
}

/// `Removal`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Removal {
    pub factors: Factors,
    pub indices: u64,
    pub mask: u64,
    pub results: Results,
}

/// `Systems`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(in crate::cuda) struct Systems {
    pub x: u64,
    pub x_strides: [i64; 3],
    pub count: i32,
    pub lower: i32,
    pub upper: i32,
    pub shared_stride: i32,
    pub status: u64,
    pub place: u64,
}

/// The address of a buffer.
pub(super) fn address<T: Plain>(buffer: &DeviceBuffer<T>) -> u64 {
    buffer.slice(0..buffer.len()).address()
}
