//! Modifications of several small matrices, by the kernels of a batch.

use super::exchange::{Exchange, Exchanges};
use super::kept::kept;
use super::operands::StreamOperands;
use super::scratch::{Division, Part};
use super::signs::Signs;
use crate::cuda::batch::arguments::{Factors, GROUP, Given, IN_PLACE, Modification, Results, SIDE_BY_SIDE};
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
struct OfOrder<T> {
    batch: Kernels,
    exchanges: Exchanges,
    scalar: PhantomData<T>,
}

/// The parts of the working memory.
struct Parts<T> {
    /// The factors as the kernels have them: packed, twice unless they are modified in place.
    l: Part<T>,
    /// Their sides, if they are there twice, and then the matrices that are decided again.
    sides_and_pending: Part<i32>,
    orders: Part<i32>,
    status: Part<i32>,
    place: Part<i32>,
    ratio: Part<T>,
    log_det: Part<T>,
    wide: Part<f64>,
}

/// The work for matrices of one shape on a device.
pub(super) struct SideBySide<T> {
    shape: [usize; 3],
    signs: Signs,
    kernels: Arc<OfOrder<T>>,
    parts: Parts<T>,
    bytes: usize,
}

impl<T: Real> SideBySide<T> {
    /// Whether this number of matrices, of order n, with k columns of V is modified so.
    pub fn takes([count, n, k]: [usize; 3]) -> bool {
        // The kernels count matrices and the entries of a V in 32 bits, with columns up to the next four.
        let most = i32::MAX.unsigned_abs() as usize;
        (1..=MOST_ROWS).contains(&n) && (2..=most).contains(&count) && k < (most - 4) / n
    }

    /// # Errors
    /// [`Error::Device`] if the driver refuses a kernel.
    pub fn new(device: &Device, shape: [usize; 3], signs: Signs) -> Result<Self, Error> {
        let [count, n, k] = shape;
        let load = || {
            Ok(OfOrder::<T> {
                batch: Kernels::load::<T>(device, n, stride::<T>(n))?,
                exchanges: Exchanges::load::<T>(device, n)?,
                scalar: PhantomData,
            })
        };
        let kernels = kept(device, n, load)?;
        let groups = if n <= SIDE_BY_SIDE { count.div_ceil(GROUP) } else { count };
        let (places, sides) = if n <= IN_PLACE { (1, 0) } else { (2, count) };
        let mut all = Division::default();
        let parts = Parts {
            l: all.part(groups * stride::<T>(n) * places),
            sides_and_pending: all.part(sides + 2 + count),
            orders: all.part(count),
            status: all.part(count),
            place: all.part(count),
            ratio: all.part(count),
            log_det: all.part(count),
            wide: all.part(kernels.batch.wide_room(count, k)),
        };
        Ok(Self { shape, signs, kernels, parts, bytes: all.bytes() })
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
        let ([count, n, k], parts, kernels) = (self.shape, &self.parts, &*self.kernels);
        // SAFETY: the caller guarantees the memory, whose parts these are.
        let (l, sides_and_pending, orders, status) = unsafe {
            (
                parts.l.at(memory),
                parts.sides_and_pending.at(memory),
                parts.orders.at(memory),
                parts.status.at(memory),
            )
        };
        let sides = sides_and_pending.len() - 2 - count;
        let pending = sides_and_pending.part(sides..sides_and_pending.len());
        let factors = Factors {
            l: l.address(),
            group_stride: stride::<T>(n) as i64,
            count: count as i64,
            orders: orders.address(),
            sides: if sides == 0 { 0 } else { sides_and_pending.address() },
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
        let exchange = Exchange {
            factors,
            l: operands.l,
            l_matrix: operands.l_matrix as i64,
            to: operands.to,
            status: status.address(),
            ok: operands.ok,
            l_by_rows: i32::from(operands.l_by_rows),
            to_by_rows: i32::from(operands.to_by_rows),
            nan: i32::from(operands.nan),
        };
        // SAFETY: the caller guarantees all memory until the work is done; the launches follow each other on the stream.
        unsafe {
            let results = Results {
                status: status.address(),
                place: parts.place.at(memory).address(),
                ratio: parts.ratio.at(memory).address(),
                log_det: parts.log_det.at(memory).address(),
                pending: pending.address(),
            };
            stream.clear(sides_and_pending.part(0..sides + 2))?;
            stream.fill_words(orders, n as i32)?;
            kernels.exchanges.take(stream, exchange)?;
            let all = Modification { factors, given, results };
            kernels.batch.modify::<T>(stream, all, parts.wide.at(memory).address())?;
            kernels.exchanges.give(stream, exchange)
        }
    }
}
