//! Tangents and cotangents of L' for each matrix of a stack in the memory of a GPU, on a stream of the caller's, for which nothing waits.

use super::gradient::{Along, Given, To};
use super::stack::{Stack, Vectors};
use cholupdate::cuda::gradient::{
    OnStream, RawCotangents, RawMatrices, RawModification, RawTangents, RawVectors, RawWeights,
    jvp_scratch_bytes, modify_jvp, modify_vjp, vjp_scratch_bytes,
};
use cholupdate::cuda::{Device, Signs};
use cholupdate::{Error, RealScalar};

/// Where work is enqueued, and what is known about the weights.
#[derive(Clone, Copy)]
pub struct GradientOnGpu<'a> {
    pub device: &'a Device,
    pub stream: u64,
    pub signs: Signs,
}

impl GradientOnGpu<'_> {
    /// Enqueues the cotangents of L, V and w, with working memory of as many bytes as `scratch` is asked for. Weights that are written are
    /// packed.
    ///
    /// # Errors
    /// Those of `scratch` and of [`modify_vjp`].
    ///
    /// # Safety
    /// As [`modify_vjp`].
    pub unsafe fn pull<T: RealScalar, E: From<Error>>(
        &self,
        given: &Given<T>,
        cotangent: Stack<T>,
        to: To<T>,
        scratch: impl FnOnce(usize) -> Result<u64, E>,
    ) -> Result<(), E> {
        let of = self.modification(given);
        let on = self.on(vjp_scratch_bytes::<T>(&of), scratch)?;
        let to = RawCotangents { l: raw(to.l), v: raw(to.v), weights: to.weights.at.addr() as u64 };
        // SAFETY: as the caller guarantees.
        unsafe { modify_vjp::<T>(on, &of, raw(cotangent), &to) }.map_err(E::from)
    }

    /// Enqueues the tangent of L'. As [`pull`](Self::pull).
    ///
    /// # Errors
    /// Those of `scratch` and of [`modify_jvp`].
    ///
    /// # Safety
    /// As [`modify_jvp`].
    pub unsafe fn push<T: RealScalar, E: From<Error>>(
        &self,
        given: &Given<T>,
        along: Along<T>,
        to: Stack<T>,
        scratch: impl FnOnce(usize) -> Result<u64, E>,
    ) -> Result<(), E> {
        let of = self.modification(given);
        let on = self.on(jvp_scratch_bytes::<T>(&of), scratch)?;
        let weights = Some(raw_vectors(along.weights));
        let along = RawTangents { l: raw(along.l), v: raw(along.v), weights };
        // SAFETY: as the caller guarantees.
        unsafe { modify_jvp::<T>(on, &of, &along, raw(to)) }.map_err(E::from)
    }

    fn modification<T>(&self, given: &Given<T>) -> RawModification {
        let (n, k) = given.extents;
        let weights = weights_of(self.signs, raw_vectors(given.weights));
        RawModification {
            count: given.count,
            n,
            k,
            l: raw(given.l),
            l_new: raw(given.new),
            v: raw(given.v),
            weights,
            ok: Some(raw_vectors(given.ok)),
        }
    }

    fn on<E>(&self, bytes: u64, scratch: impl FnOnce(usize) -> Result<u64, E>) -> Result<OnStream<'_>, E> {
        let scratch = if bytes == 0 { 0 } else { scratch(bytes as usize)? };
        Ok(OnStream { device: self.device, stream: self.stream, scratch })
    }
}

/// The bytes of working memory of a call: of `push`, or else of `pull`.
pub fn scratch_bytes<T: RealScalar>(
    (count, n, k): (usize, usize, usize),
    signs: Signs,
    forward: bool,
) -> usize {
    let none = RawMatrices { address: 0, matrix: 0, row: 0, column: 0 };
    let weights = weights_of(signs, RawVectors { address: 0, vector: 0 });
    let of = RawModification { count, n, k, l: none, l_new: none, v: none, weights, ok: None };
    let bytes = if forward { jvp_scratch_bytes::<T>(&of) } else { vjp_scratch_bytes::<T>(&of) };
    bytes as usize
}

fn weights_of(signs: Signs, each: RawVectors) -> RawWeights {
    match signs {
        Signs::Plus => RawWeights::Plus,
        Signs::Minus => RawWeights::Minus,
        _ => RawWeights::Each(each),
    }
}

fn raw<T>(stack: Stack<T>) -> RawMatrices {
    let [matrix, row, column] = [stack.each, stack.row, stack.column].map(|stride| stride as i64);
    RawMatrices { address: stack.at.addr() as u64, matrix, row, column }
}

fn raw_vectors<T>(vectors: Vectors<T>) -> RawVectors {
    RawVectors { address: vectors.at.addr() as u64, vector: vectors.each as i64 }
}
