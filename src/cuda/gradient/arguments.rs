//! The arguments of the kernels in `kernels/gradient`, as `rows.cuh`, `stage.cuh` and the kernels' files declare them.

use super::given::{RawMatrices, RawModification, RawVectors, RawWeights};
use crate::real::Real;
use core::ffi::c_int;

/// `ONLY`, `FIRST` and `SECOND`: what a launch does for matrices whose weights may have both signs.
#[derive(Clone, Copy)]
#[repr(i32)]
pub(super) enum Pass {
    Only = 0,
    First = 1,
    Second = 2,
}

/// `Matrices`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Matrices {
    pub first: u64,
    of_matrix: i64,
    row: i64,
    column: i64,
}

impl From<RawMatrices> for Matrices {
    fn from(raw: RawMatrices) -> Self {
        Self { first: raw.address, of_matrix: raw.matrix, row: raw.row, column: raw.column }
    }
}

impl Matrices {
    /// Packed square matrices, column by column.
    pub fn squares(first: u64, n: usize) -> Self {
        let n = n as i64;
        Self { first, of_matrix: n * n, row: 1, column: n }
    }
}

/// `Modification`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Modification<T> {
    pub l: Matrices,
    pub l_new: Matrices,
    pub v: Matrices,
    pub weights: u64,
    pub of_weights: i64,
    pub ok: u64,
    pub of_ok: i64,
    pub sign: T,
    pub n: c_int,
    pub k: c_int,
}

impl<T: Real> Modification<T> {
    pub fn new(of: &RawModification) -> Self {
        let (weights, sign) = match of.weights {
            RawWeights::Plus => (RawVectors::NONE, T::ONE),
            RawWeights::Minus => (RawVectors::NONE, -T::ONE),
            RawWeights::Each(weights) => (weights, T::ZERO),
        };
        let ok = of.ok.unwrap_or(RawVectors::NONE);
        Self {
            l: of.l.into(),
            l_new: of.l_new.into(),
            v: of.v.into(),
            weights: weights.address,
            of_weights: weights.vector,
            ok: ok.address,
            of_ok: ok.vector,
            sign,
            n: of.n as c_int,
            k: of.k as c_int,
        }
    }
}

/// `Reverse`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Reverse<T> {
    pub of: Modification<T>,
    pub cotangent: Matrices,
    pub to: Matrices,
    pub to_v: Matrices,
    pub to_weights: u64,
    pub between: Matrices,
    pub of_between: Matrices,
    pub v: u64,
    pub q: u64,
    pub steps: u64,
    pub a: u64,
    pub partial: u64,
    pub totals: u64,
    pub start: i64,
    pub parts: c_int,
    pub launch: Pass,
}

/// `AlongV`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct AlongV {
    pub v: Matrices,
    pub weights: u64,
    pub of_weights: i64,
}

/// `Forward`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Forward<T> {
    pub of: Modification<T>,
    pub tangent: Matrices,
    pub along: AlongV,
    pub to: Matrices,
    pub between: Matrices,
    pub of_between: Matrices,
    pub v: u64,
    pub dv: u64,
    pub steps: u64,
    pub rows: u64,
    pub start: i64,
    pub launch: Pass,
}

/// `Step`.
#[repr(C)]
pub(super) struct Step<T>([T; 8], c_int);
