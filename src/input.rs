//! What the public calls accept as a matrix: faer's matrices and views, slices, nalgebra's matrices (feature `nalgebra`), and
//! matrices in the memory of a GPU (feature `cuda`).

use crate::error::Error;
use crate::scalar::Scalar;
use core::ops::Range;
use faer::{Col, ColMut, ColRef, Mat, MatMut, MatRef, Row, RowRef};

#[cfg(feature = "nalgebra")]
#[allow(unsafe_code, reason = "views of nalgebra's storage")]
mod nalgebra;

#[cfg(feature = "cuda")]
use crate::cuda::{DeviceView, DeviceViewMut};

/// A matrix that is read, in host or device memory: the result of [`AsMatrix`]. (rows × columns)
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Operand<'a, T: Scalar> {
    /// In host memory.
    Host(MatRef<'a, T>),
    /// In the memory of a GPU.
    #[cfg(feature = "cuda")]
    Device(DeviceView<'a, T>),
}

/// A matrix that is written, in host or device memory: the result of [`AsMatrixMut`]. (rows × columns)
#[derive(Debug)]
#[non_exhaustive]
pub enum OperandMut<'a, T: Scalar> {
    /// In host memory.
    Host(MatMut<'a, T>),
    /// In the memory of a GPU.
    #[cfg(feature = "cuda")]
    Device(DeviceViewMut<'a, T>),
}

/// A matrix of `T` that can be read: any layout, any strides, in host memory or in that of a GPU.
///
/// A slice, array, `Vec` or column is a matrix of one column.
pub trait AsMatrix<T: Scalar> {
    /// A view of the entries. (rows × columns)
    fn as_matrix(&self) -> Operand<'_, T>;
}

/// A matrix of `T` that can be written in place: any layout, any strides, in host memory or in that of a GPU.
pub trait AsMatrixMut<T: Scalar>: AsMatrix<T> {
    /// A mutable view of the entries. (rows × columns)
    fn as_matrix_mut(&mut self) -> OperandMut<'_, T>;
}

impl<'a, T: Scalar> Operand<'a, T> {
    /// Rows and columns.
    #[must_use]
    #[inline(always)]
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::Host(a) => a.shape(),
            #[cfg(feature = "cuda")]
            Self::Device(a) => a.shape(),
        }
    }

    /// A range of rows.
    pub(crate) fn rows(&self, range: Range<usize>) -> Self {
        match self {
            Self::Host(a) => Self::Host(a.subrows(range.start, range.len())),
            #[cfg(feature = "cuda")]
            Self::Device(a) => Self::Device(a.rows(range)),
        }
    }

    /// The entries in host memory: the view itself, or a copy of device memory.
    ///
    /// # Errors
    /// [`Error::Device`] if the device that holds them fails.
    #[inline(always)]
    pub(crate) fn on_host(self) -> Result<OnHost<'a, T>, Error> {
        match self {
            Self::Host(a) => Ok(OnHost::There(a)),
            #[cfg(feature = "cuda")]
            Self::Device(a) => Ok(OnHost::Copied(a.to_host()?)),
        }
    }
}

/// Entries in host memory.
pub(crate) enum OnHost<'a, T> {
    There(MatRef<'a, T>),
    Copied(Mat<T>),
}

impl<T> OnHost<'_, T> {
    pub fn as_ref(&self) -> MatRef<'_, T> {
        match self {
            Self::There(a) => *a,
            Self::Copied(a) => a.as_ref(),
        }
    }

    pub fn into_owned(self) -> Mat<T>
    where
        T: Scalar,
    {
        match self {
            Self::There(a) => a.to_owned(),
            Self::Copied(a) => a,
        }
    }
}

impl<T: Scalar> OperandMut<'_, T> {
    /// Rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::Host(a) => a.shape(),
            #[cfg(feature = "cuda")]
            Self::Device(a) => a.as_view().shape(),
        }
    }

    /// Applies `change` to the entries in host memory, in place or on a copy that is written back to the device.
    ///
    /// # Errors
    /// Those of `change`, after which nothing is written back; [`Error::Device`] if the device that holds them fails.
    pub(crate) fn change_on_host(
        self,
        change: impl FnOnce(MatMut<'_, T>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self {
            Self::Host(a) => change(a),
            #[cfg(feature = "cuda")]
            Self::Device(mut a) => {
                let mut copy = a.as_view().to_host()?;
                change(copy.as_mut())?;
                a.write(copy.as_ref())
            }
        }
    }
}

impl<T: Scalar> AsMatrix<T> for Operand<'_, T> {
    fn as_matrix(&self) -> Operand<'_, T> {
        self.clone()
    }
}

impl<T: Scalar> AsMatrix<T> for OperandMut<'_, T> {
    fn as_matrix(&self) -> Operand<'_, T> {
        match self {
            Self::Host(a) => Operand::Host(a.as_ref()),
            #[cfg(feature = "cuda")]
            Self::Device(a) => Operand::Device(a.as_view()),
        }
    }
}

impl<T: Scalar> AsMatrixMut<T> for OperandMut<'_, T> {
    fn as_matrix_mut(&mut self) -> OperandMut<'_, T> {
        match self {
            Self::Host(a) => OperandMut::Host(a.as_mut()),
            #[cfg(feature = "cuda")]
            Self::Device(a) => OperandMut::Device(a.as_mut()),
        }
    }
}

impl<T: Scalar, M: AsMatrix<T> + ?Sized> AsMatrix<T> for &M {
    fn as_matrix(&self) -> Operand<'_, T> {
        (**self).as_matrix()
    }
}

impl<T: Scalar, M: AsMatrix<T> + ?Sized> AsMatrix<T> for &mut M {
    fn as_matrix(&self) -> Operand<'_, T> {
        (**self).as_matrix()
    }
}

impl<T: Scalar, M: AsMatrixMut<T> + ?Sized> AsMatrixMut<T> for &mut M {
    fn as_matrix_mut(&mut self) -> OperandMut<'_, T> {
        (**self).as_matrix_mut()
    }
}

macro_rules! readable {
    ($($type:ty: |$me:ident| $view:expr;)*) => {$(
        impl<T: Scalar> AsMatrix<T> for $type {
            fn as_matrix(&self) -> Operand<'_, T> {
                let $me = self;
                Operand::Host($view)
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
    fn as_matrix(&self) -> Operand<'_, T> {
        self.as_slice().as_matrix()
    }
}

macro_rules! writable {
    ($($type:ty: |$me:ident| $view:expr;)*) => {$(
        impl<T: Scalar> AsMatrixMut<T> for $type {
            fn as_matrix_mut(&mut self) -> OperandMut<'_, T> {
                let $me = self;
                OperandMut::Host($view)
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
    fn as_matrix_mut(&mut self) -> OperandMut<'_, T> {
        self.as_mut_slice().as_matrix_mut()
    }
}
