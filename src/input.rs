//! What the public calls accept as a matrix: faer's matrices and views, slices, and (feature `nalgebra`)
//! nalgebra's.

use crate::scalar::Scalar;
use faer::{Col, ColMut, ColRef, Mat, MatMut, MatRef, Row, RowRef};

#[cfg(feature = "nalgebra")]
#[allow(unsafe_code, reason = "views of nalgebra's storage")]
mod nalgebra;

/// A matrix of `T` that can be read: any layout, any strides, nothing is copied.
///
/// A slice, array, `Vec` or column is a matrix of one column.
pub trait AsMatrix<T: Scalar> {
    /// The entries, as a faer view. (rows × columns)
    fn as_matrix(&self) -> MatRef<'_, T>;
}

/// A matrix of `T` that can be written in place: any layout, any strides.
pub trait AsMatrixMut<T: Scalar>: AsMatrix<T> {
    /// The entries, as a mutable faer view. (rows × columns)
    fn as_matrix_mut(&mut self) -> MatMut<'_, T>;
}

impl<T: Scalar, M: AsMatrix<T> + ?Sized> AsMatrix<T> for &M {
    fn as_matrix(&self) -> MatRef<'_, T> {
        (**self).as_matrix()
    }
}

impl<T: Scalar, M: AsMatrix<T> + ?Sized> AsMatrix<T> for &mut M {
    fn as_matrix(&self) -> MatRef<'_, T> {
        (**self).as_matrix()
    }
}

impl<T: Scalar, M: AsMatrixMut<T> + ?Sized> AsMatrixMut<T> for &mut M {
    fn as_matrix_mut(&mut self) -> MatMut<'_, T> {
        (**self).as_matrix_mut()
    }
}

macro_rules! readable {
    ($($type:ty: |$me:ident| $view:expr;)*) => {$(
        impl<T: Scalar> AsMatrix<T> for $type {
            fn as_matrix(&self) -> MatRef<'_, T> {
                let $me = self;
                $view
            }
        }
    )*};
}

readable! {
    Mat<T>: |m| m.as_ref();
    MatRef<'_, T>: |m| m.as_ref();
    MatMut<'_, T>: |m| m.as_ref();
    Col<T>: |c| c.as_ref().as_mat();
    ColRef<'_, T>: |c| c.as_ref().as_mat();
    ColMut<'_, T>: |c| c.as_ref().as_mat();
    Row<T>: |r| r.as_ref().as_mat();
    RowRef<'_, T>: |r| r.as_ref().as_mat();
    [T]: |s| ColRef::from_slice(s).as_mat();
    Vec<T>: |s| ColRef::from_slice(s).as_mat();
}

impl<T: Scalar, const N: usize> AsMatrix<T> for [T; N] {
    fn as_matrix(&self) -> MatRef<'_, T> {
        self.as_slice().as_matrix()
    }
}

macro_rules! writable {
    ($($type:ty: |$me:ident| $view:expr;)*) => {$(
        impl<T: Scalar> AsMatrixMut<T> for $type {
            fn as_matrix_mut(&mut self) -> MatMut<'_, T> {
                let $me = self;
                $view
            }
        }
    )*};
}

writable! {
    Mat<T>: |m| m.as_mut();
    MatMut<'_, T>: |m| m.as_mut();
    Col<T>: |c| c.as_mut().as_mat_mut();
    ColMut<'_, T>: |c| c.as_mut().as_mat_mut();
    [T]: |s| ColMut::from_slice_mut(s).as_mat_mut();
    Vec<T>: |s| ColMut::from_slice_mut(s).as_mat_mut();
}

impl<T: Scalar, const N: usize> AsMatrixMut<T> for [T; N] {
    fn as_matrix_mut(&mut self) -> MatMut<'_, T> {
        self.as_mut_slice().as_matrix_mut()
    }
}
