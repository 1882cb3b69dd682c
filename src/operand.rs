//! What the public calls accept as a matrix: faer's matrices and views, slices, nalgebra's matrices (feature `nalgebra`), ndarray's
//! (feature `ndarray`), and matrices in the memory of a device.

mod remote;

pub use self::remote::{RemoteMatrix, RemoteView, RemoteViewMut};

use crate::check::{room, room_for_copy};
use crate::element::Element;
use crate::error::Error;
use core::ops::Range;
use faer::{Col, ColMut, ColRef, Mat, MatMut, MatRef, Row, RowRef};

#[cfg(feature = "nalgebra")]
#[allow(unsafe_code, reason = "views of nalgebra's storage")]
mod nalgebra;
#[cfg(feature = "ndarray")]
#[allow(unsafe_code, reason = "views of ndarray's memory")]
mod ndarray;

/// A matrix that is read: any layout, any strides, in host memory or in that of a device. (rows × columns)
///
/// Every call that reads a matrix takes `impl Into<Operand>`, for example `&Mat`, `MatRef`, `&[T]` or `&DeviceMatrix`. A slice,
/// array, `Vec` or column is a matrix of one column. (In bounds, `Element` is every [`Scalar`](crate::Scalar).)
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Operand<'a, T: Element> {
    /// In host memory.
    Host(MatRef<'a, T>),
    /// In the memory of a device.
    Remote(RemoteView<'a, T>),
}

/// A matrix that is written in place: any layout, any strides, in host memory or in that of a device. (rows × columns)
///
/// Every call that writes a matrix takes `impl Into<OperandMut>`, for example `&mut Mat`, `MatMut`, `&mut [T]` or `&mut
/// DeviceMatrix`.
#[derive(Debug)]
#[non_exhaustive]
pub enum OperandMut<'a, T: Element> {
    /// In host memory.
    Host(MatMut<'a, T>),
    /// In the memory of a device.
    Remote(RemoteViewMut<'a, T>),
}

impl<'a, T: Element> Operand<'a, T> {
    /// Rows and columns.
    #[must_use]
    #[inline(always)]
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::Host(a) => a.shape(),
            Self::Remote(a) => a.shape(),
        }
    }

    /// A range of rows.
    pub(crate) fn rows(&self, range: Range<usize>) -> Self {
        match self {
            Self::Host(a) => Self::Host(a.subrows(range.start, range.len())),
            Self::Remote(a) => Self::Remote(a.rows(range)),
        }
    }

    /// Checks that there is memory for a copy of a matrix in host memory.
    ///
    /// # Errors
    /// `OutOfRange`, naming `argument`.
    pub(crate) fn has_room_on_host(&self, argument: &'static str) -> Result<(), Error> {
        self.host().map_or(Ok(()), |a| room_for_copy::<T>(argument, a.shape()))
    }

    /// Checks that there is memory for V (n × k) packed in tiles, and for the data kept about its columns.
    ///
    /// # Errors
    /// `OutOfRange`, naming `v`.
    #[inline(always)]
    pub(crate) fn has_room_as_v(&self) -> Result<(), Error> {
        /// Rows of a tile.
        const TILE: usize = 64;
        /// Bytes kept about each column.
        const SEEN: usize = 96;
        match self {
            Self::Host(v) if v.nrows() > 0 => room::<T>("v", v.ncols(), (v.nrows().max(TILE), SEEN)),
            _ => Ok(()),
        }
    }

    /// The view, if the matrix is in host memory.
    pub(crate) fn host(&self) -> Option<MatRef<'a, T>> {
        match self {
            Self::Host(a) => Some(*a),
            Self::Remote(_) => None,
        }
    }

    /// The entries in host memory: the view itself, or a copy of the device's memory.
    ///
    /// # Errors
    /// [`Error::Device`] if the device that holds them fails.
    #[inline(always)]
    pub(crate) fn on_host(&self) -> Result<OnHost<'a, T>, Error> {
        match self {
            Self::Host(a) => Ok(OnHost::There(*a)),
            Self::Remote(a) => Ok(OnHost::Copied(a.to_host()?)),
        }
    }

    /// Passes the matrix to `work`: where it is, if that is host memory or the `memory` of this name, otherwise as a copy in
    /// host memory.
    ///
    /// # Errors
    /// Those of `work`; [`Error::Device`] if the device that holds the matrix fails.
    #[inline(always)]
    pub(crate) fn read_from<R>(
        &self,
        memory: Option<&'static str>,
        work: impl FnOnce(&Operand<'_, T>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        match self {
            Self::Remote(a) if Some(a.memory()) != memory => {
                let copied = a.to_host()?;
                work(&Operand::Host(copied.as_ref()))
            }
            a => work(a),
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
        T: Element,
    {
        match self {
            Self::There(a) => a.to_owned(),
            Self::Copied(a) => a,
        }
    }
}

impl<T: Element> OperandMut<'_, T> {
    /// Rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::Host(a) => a.shape(),
            Self::Remote(a) => a.shape(),
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
            Self::Remote(mut a) => {
                let mut copy = a.to_host()?;
                change(copy.as_mut())?;
                a.write(copy.as_ref())
            }
        }
    }
}

impl<'a, T: Element> From<&'a Operand<'_, T>> for Operand<'a, T> {
    fn from(a: &'a Operand<'_, T>) -> Self {
        a.clone()
    }
}

impl<'a, T: Element> From<&'a OperandMut<'_, T>> for Operand<'a, T> {
    fn from(a: &'a OperandMut<'_, T>) -> Self {
        match a {
            OperandMut::Host(a) => Self::Host(a.as_ref()),
            OperandMut::Remote(a) => Self::Remote(a.as_view()),
        }
    }
}

impl<'a, T: Element> From<&'a mut OperandMut<'_, T>> for OperandMut<'a, T> {
    fn from(a: &'a mut OperandMut<'_, T>) -> Self {
        match a {
            OperandMut::Host(a) => Self::Host(a.as_mut()),
            OperandMut::Remote(a) => Self::Remote(a.as_mut()),
        }
    }
}

macro_rules! readable {
    ($($type:ty: |$a:ident| $view:expr;)*) => {$(
        impl<'a, T: Element> From<$type> for Operand<'a, T> {
            fn from($a: $type) -> Self {
                Self::Host($view)
            }
        }
    )*};
}

readable! {
    MatRef<'a, T>: |a| a;
    ColRef<'a, T>: |a| a.as_mat();
    RowRef<'a, T>: |a| a.as_mat();
    &'a Mat<T>: |a| a.as_ref();
    &'a MatRef<'_, T>: |a| *a;
    &'a MatMut<'_, T>: |a| a.as_ref();
    &'a Col<T>: |a| a.as_ref().as_mat();
    &'a ColRef<'_, T>: |a| a.as_mat();
    &'a ColMut<'_, T>: |a| a.as_ref().as_mat();
    &'a Row<T>: |a| a.as_ref().as_mat();
    &'a RowRef<'_, T>: |a| a.as_mat();
    &'a [T]: |a| ColRef::from_slice(a).as_mat();
    &'a Vec<T>: |a| ColRef::from_slice(a).as_mat();
    &'a &[T]: |a| ColRef::from_slice(a).as_mat();
    &'a &Mat<T>: |a| a.as_ref();
    &'a &Vec<T>: |a| ColRef::from_slice(a).as_mat();
    &'a mut [T]: |a| ColRef::from_slice(a).as_mat();
    &'a mut Mat<T>: |a| a.as_ref();
    &'a mut Vec<T>: |a| ColRef::from_slice(a).as_mat();
}

impl<'a, T: Element, const N: usize> From<&'a [T; N]> for Operand<'a, T> {
    fn from(a: &'a [T; N]) -> Self {
        Self::from(a.as_slice())
    }
}

macro_rules! writable {
    ($($type:ty: |$a:ident| $view:expr;)*) => {$(
        impl<'a, T: Element> From<$type> for OperandMut<'a, T> {
            fn from($a: $type) -> Self {
                Self::Host($view)
            }
        }
    )*};
}

writable! {
    MatMut<'a, T>: |a| a;
    ColMut<'a, T>: |a| a.as_mat_mut();
    &'a mut Mat<T>: |a| a.as_mut();
    &'a mut MatMut<'_, T>: |a| a.as_mut();
    &'a mut Col<T>: |a| a.as_mut().as_mat_mut();
    &'a mut ColMut<'_, T>: |a| a.as_mut().as_mat_mut();
    &'a mut [T]: |a| ColMut::from_slice_mut(a).as_mat_mut();
    &'a mut Vec<T>: |a| ColMut::from_slice_mut(a).as_mat_mut();
}

impl<'a, T: Element, const N: usize> From<&'a mut [T; N]> for OperandMut<'a, T> {
    fn from(a: &'a mut [T; N]) -> Self {
        Self::from(a.as_mut_slice())
    }
}
