//! Modifications of several small matrices, by the kernels of a batch.

use super::around::{Around, BatchCompletion};
use super::kept::kept;
use super::operands::StreamOperands;
use super::scratch::{Division, Part};
use super::signs::Signs;
use crate::cuda::batch::arguments::{
    Factors, GROUP, Given, IN_PLACE, Modification, Results, SIDE_BY_SIDE, Source, Target,
};
use crate::cuda::batch::begin::stride;
use crate::cuda::batch::kernels::Kernels;
use crate::cuda::device::Device;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;
use core::marker::PhantomData;
use std::sync::Arc;

/// The largest order of matrices that are modified side by side: in larger ones a block of threads has one.
const MOST_ROWS: usize = 256;

/// The kernels for matrices of one order.
struct OfOrder<T>(Kernels, PhantomData<T>);

/// The parts of the working memory.
struct Parts<T> {
    /// The factors as the kernels have them: packed, twice unless they are modified in place.
    l: Part<T>,
    sides: Part<i32>,
    orders: Part<i32>,
    why: Part<i32>,
    why_place: Part<i32>,
    status: Part<i32>,
    place: Part<i32>,
    ratio: Part<T>,
    log_det: Part<T>,
    pending: Part<i32>,
    wide: Part<f64>,
}

/// The work for matrices of one shape on a device.
pub(super) struct SideBySide<T> {
    shape: [usize; 3],
    signs: Signs,
    kernels: Arc<OfOrder<T>>,
    around: Arc<Around>,
    parts: Parts<T>,
    bytes: usize,
}

impl<T: Real> SideBySide<T> {
    /// Whether this number of matrices, of order n, with k columns of V is modified so.
    pub fn takes([count, n, k]: [usize; 3]) -> bool {
        // The kernels count matrices and the entries of a V in 32 bits, with columns up to the next four.
        let most = i32::MAX.unsigned_abs() as usize;
        (1..=MOST_ROWS).contains(&n) && (2..=most).contains(&count) && (1..(most - 4) / n).contains(&k)
    }

    /// # Errors
    /// [`Error::Device`] if the driver refuses a kernel.
    pub fn new(device: &Device, shape: [usize; 3], signs: Signs) -> Result<Self, Error> {
        let [count, n, k] = shape;
        let load = || Ok(OfOrder::<T>(Kernels::load::<T>(device, n, stride::<T>(n))?, PhantomData));
        let kernels = kept(device, n, load)?;
        let around = kept(device, size_of::<T>(), || Around::load::<T>(device))?;
        let groups = if n <= SIDE_BY_SIDE { count.div_ceil(GROUP) } else { count };
        let (places, sides) = if n <= IN_PLACE { (1, 0) } else { (2, count) };
        let mut all = Division::default();
        let parts = Parts {
            l: all.part(groups * stride::<T>(n) * places),
            sides: all.part(sides),
            orders: all.part(count),
            why: all.part(count),
            why_place: all.part(count),
            status: all.part(count),
            place: all.part(count),
            ratio: all.part(count),
            log_det: all.part(count),
            pending: all.part(count + 2),
            wide: all.part(kernels.0.wide_room(count, k)),
        };
        Ok(Self { shape, signs, kernels, around, parts, bytes: all.bytes() })
    }

    /// Bytes of working memory.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Enqueues the modification of all matrices.
    ///
    /// # Errors
    /// [`Error::Device`]. Some of the work may be in flight.
    ///
    /// # Safety
    /// As [`StreamModification::enqueue`](super::StreamModification::enqueue).
    pub unsafe fn enqueue(
        &self,
        stream: &Stream,
        operands: &StreamOperands,
        memory: u64,
    ) -> Result<(), Error> {
        let ([count, n, k], parts, kernels) = (self.shape, &self.parts, &self.kernels.0);
        // SAFETY: the caller guarantees the memory, whose parts these are.
        let (l, sides, pending, orders, status) = unsafe {
            (
                parts.l.at(memory),
                parts.sides.at(memory),
                parts.pending.at(memory),
                parts.orders.at(memory),
                parts.status.at(memory),
            )
        };
        let in_place = parts.sides.len() == 0;
        let factors = Factors {
            l: l.address(),
            group_stride: stride::<T>(n) as i64,
            count: count as i64,
            orders: orders.address(),
            sides: if in_place { 0 } else { sides.address() },
            side_stride: (l.len() / 2) as i64,
            n: n as i32,
            group: if n <= SIDE_BY_SIDE { GROUP as i32 } else { 1 },
        };
        let weights = if self.signs == Signs::Any { operands.weights } else { 0 };
        let given = Given {
            v: operands.v,
            v_strides: operands.v_strides.map(|stride| stride as i64),
            weights,
            weights_strides: [operands.weights_matrix as i64, 1],
            mask: 0,
            rank: k as i32,
            sign: if self.signs == Signs::Minus { -1 } else { 1 },
        };
        let by_columns = |matrix: usize| [matrix as i64, 1, n as i64];
        // SAFETY: the caller guarantees all memory until the work is done; the launches follow each other on the stream.
        unsafe {
            let source = Source {
                a: operands.l,
                a_strides: by_columns(operands.l_matrix),
                orders: 0,
                why: parts.why.at(memory).address(),
                place: parts.why_place.at(memory).address(),
                factors: 1,
            };
            let results = Results {
                status: status.address(),
                place: parts.place.at(memory).address(),
                ratio: parts.ratio.at(memory).address(),
                log_det: parts.log_det.at(memory).address(),
                pending: pending.address(),
            };
            stream.clear(pending.part(0..2))?;
            stream.clear(sides)?;
            kernels.begin(stream, factors, source)?;
            let all = Modification { factors, given, results };
            kernels.modify::<T>(stream, all, parts.wide.at(memory).address())?;
            kernels.copy(stream, factors, Target { to: operands.to, to_strides: by_columns(n * n) })?;
            let completion = BatchCompletion {
                l: operands.l,
                l_matrix: operands.l_matrix as i64,
                to: operands.to,
                ok: operands.ok,
                status: status.address(),
                count: count as i64,
                n: n as i32,
                nan: i32::from(operands.nan),
            };
            self.around.finish_batch(stream, completion)
        }
    }
}
