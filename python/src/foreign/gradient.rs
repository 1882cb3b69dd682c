//! Tangents and cotangents of L' for each matrix of a stack. Those of a matrix that could not be modified are zero.

use super::stack::{Stack, Vectors};
use crate::numbers::Real;
use cholupdate::faer::{Mat, MatMut, MatRef};
use cholupdate::gradient::{
    CotangentsMut, GradientWorkspace, Modified, Tangents, modify_jvp_into, modify_vjp_into,
};
use cholupdate::{Cpu, Error};
use core::cell::RefCell;
use rayon::prelude::*;

/// The work, in multiplications, from which on a stack is shared by threads.
const WORTH_SHARING: usize = 1 << 16;

/// Numbers of which a modification can be differentiated.
pub trait Differentiable: Real {
    const NIL: Self;
    const NAN: Self;

    /// Calls `call` with the working memory of this thread.
    fn with_gradient_workspace<R>(call: impl FnOnce(&mut GradientWorkspace<Self>) -> R) -> R;
}

macro_rules! differentiable {
    ($($type:ty),*) => {$(
        impl Differentiable for $type {
            const NIL: Self = 0.0;
            const NAN: Self = <$type>::NAN;

            fn with_gradient_workspace<R>(call: impl FnOnce(&mut GradientWorkspace<Self>) -> R) -> R {
                thread_local! {
                    static WORKSPACE: RefCell<GradientWorkspace<$type>> = RefCell::default();
                }
                // A pool thread that waits for other threads may start another call, which finds the memory borrowed.
                WORKSPACE.with(|workspace| match workspace.try_borrow_mut() {
                    Ok(mut workspace) => call(&mut workspace),
                    Err(_) => call(&mut GradientWorkspace::new()),
                })
            }
        }
    )*};
}

differentiable!(f32, f64);

/// What has been modified, for each matrix.
#[derive(Clone, Copy)]
pub struct Given<T> {
    pub count: usize,
    /// n and k.
    pub extents: (usize, usize),
    /// L and L', lower triangular, with strides of their own. (n × n)
    pub l: Stack<T>,
    pub new: Stack<T>,
    /// (n × k)
    pub v: Stack<T>,
    pub weights: Vectors<T>,
    /// Whether L' exists, one byte for each matrix.
    pub ok: Vectors<u8>,
}

/// The cotangents of L, V and w, to be written.
#[derive(Clone, Copy)]
pub struct To<T> {
    pub l: Stack<T>,
    pub v: Stack<T>,
    pub weights: Vectors<T>,
}

/// The tangents of L, V and w.
#[derive(Clone, Copy)]
pub struct Along<T> {
    pub l: Stack<T>,
    pub v: Stack<T>,
    pub weights: Vectors<T>,
}

impl<T: Differentiable> Given<T> {
    /// The cotangents of L, V and w from that of L'.
    ///
    /// # Safety
    /// The memory is described correctly. That of the results overlaps no other.
    pub unsafe fn pull(&self, cotangent: Stack<T>, to: To<T>) {
        let given = *self;
        self.each(move |matrix, engine| {
            let (n, k) = given.extents;
            // SAFETY: as the caller guarantees; each matrix has results of its own.
            let (mut l, mut v, weights) = unsafe {
                (to.l.view_mut(matrix, (n, n)), to.v.view_mut(matrix, (n, k)), to.weights.view_mut(matrix, k))
            };
            let mut pull = |modified: &Modified<'_, T>, weights: &mut [T]| {
                // SAFETY: as the caller guarantees.
                let cotangent = unsafe { cotangent.view(matrix, (n, n)) };
                let to = CotangentsMut { l: l.as_mut(), v: v.as_mut(), weights };
                T::with_gradient_workspace(|workspace| {
                    modify_vjp_into(modified, cotangent, to, &engine, workspace)
                })
            };
            // SAFETY: as the caller guarantees.
            let found = unsafe { given.modified(matrix, |modified| pull(modified, weights)) };
            match found {
                Some(Ok(signs)) => negate(l, &signs),
                failed => {
                    let value = if failed.is_none() { T::NIL } else { T::NAN };
                    l.fill(value);
                    v.fill(value);
                    weights.fill(value);
                    upper_zero(l);
                }
            }
        });
    }

    /// The tangent of L'.
    ///
    /// # Safety
    /// As [`pull`](Self::pull).
    pub unsafe fn push(&self, along: Along<T>, to: Stack<T>) {
        let given = *self;
        self.each(move |matrix, engine| {
            let (n, k) = given.extents;
            // SAFETY: as the caller guarantees; each matrix has a result of its own.
            let mut to = unsafe { to.view_mut(matrix, (n, n)) };
            // SAFETY: as the caller guarantees.
            let (l, v, weights) = unsafe {
                (along.l.view(matrix, (n, n)), along.v.view(matrix, (n, k)), along.weights.view(matrix, k))
            };
            let push = |modified: &Modified<'_, T>, l: MatRef<'_, T>, to: MatMut<'_, T>| {
                let tangents = Tangents { l, v, weights: Some(weights) };
                T::with_gradient_workspace(|workspace| {
                    modify_jvp_into(modified, &tangents, to, &engine, workspace)
                })
            };
            // SAFETY: as the caller guarantees.
            let found = unsafe {
                given.modified(matrix, |modified| match given.signs(matrix) {
                    None => push(modified, l, to.as_mut()),
                    Some(signs) => {
                        let mut l = l.to_owned();
                        negate(l.as_mut(), &signs);
                        push(modified, l.as_ref(), to.as_mut())
                    }
                })
            };
            if !matches!(found, Some(Ok(_))) {
                to.fill(if found.is_none() { T::NIL } else { T::NAN });
                upper_zero(to);
            }
        });
    }

    /// Calls `work` for each matrix, on several threads if that pays.
    fn each(&self, work: impl Fn(usize, Cpu) + Sync + Send) {
        let (n, k) = self.extents;
        match self.count {
            1 => work(0, Cpu::default()),
            count if count * n * n * k.max(1) < WORTH_SHARING => {
                (0..count).for_each(|matrix| work(matrix, Cpu::sequential()));
            }
            count => (0..count).into_par_iter().for_each(|matrix| work(matrix, Cpu::sequential())),
        }
    }

    /// Calls `work` with a matrix that was modified. Returns which columns of L were negated before, or nothing if it was not modified.
    ///
    /// # Safety
    /// As [`pull`](Self::pull).
    unsafe fn modified(
        &self,
        matrix: usize,
        work: impl FnOnce(&Modified<'_, T>) -> Result<(), Error>,
    ) -> Option<Result<Vec<bool>, Error>> {
        let (n, k) = self.extents;
        // SAFETY: as the caller guarantees.
        unsafe {
            if self.ok.view(matrix, 1)[0] == 0 {
                return None;
            }
            let (l, signs) = (self.l.view(matrix, (n, n)), self.signs(matrix));
            let positive: Mat<T>;
            let l = match &signs {
                None => l,
                Some(signs) => {
                    let mut copy = l.to_owned();
                    negate(copy.as_mut(), signs);
                    positive = copy;
                    positive.as_ref()
                }
            };
            let weights = super::alone::named(self.weights.view(matrix, k));
            let modified =
                Modified { l, new: self.new.view(matrix, (n, n)), v: self.v.view(matrix, (n, k)), weights };
            Some(work(&modified).map(|()| signs.unwrap_or_default()))
        }
    }

    /// Which columns of L have a negative diagonal entry, if any. They were negated by the modification.
    ///
    /// # Safety
    /// As [`pull`](Self::pull).
    unsafe fn signs(&self, matrix: usize) -> Option<Vec<bool>> {
        let n = self.extents.0;
        // SAFETY: as the caller guarantees.
        let l = unsafe { self.l.view(matrix, (n, n)) };
        let is_negative = |j: usize| l[(j, j)] < T::ZERO;
        (0..n).any(is_negative).then(|| (0..n).map(is_negative).collect())
    }
}

/// Negates columns of a lower triangle.
fn negate<T: Real>(mut l: MatMut<'_, T>, signs: &[bool]) {
    let order = l.nrows();
    for j in (0..signs.len()).filter(|&j| signs[j]) {
        l.as_mut().col_mut(j).subrows_mut(j, order - j).iter_mut().for_each(|x| *x = -*x);
    }
}

/// Zeros above the diagonal.
fn upper_zero<T: Differentiable>(mut l: MatMut<'_, T>) {
    for j in 1..l.ncols() {
        l.as_mut().col_mut(j).subrows_mut(0, j).fill(T::NIL);
    }
}
