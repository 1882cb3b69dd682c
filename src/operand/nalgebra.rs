//! nalgebra matrices, vectors and views of any storage, read and written in place.

use super::{Operand, OperandMut};
use crate::element::Element;
use faer::{MatMut, MatRef};
use nalgebra::{Dim, Matrix, RawStorage, RawStorageMut};

impl<'a, T: Element + nalgebra::Scalar, R: Dim, C: Dim, S: RawStorage<T, R, C>> From<&'a Matrix<T, R, C, S>>
    for Operand<'a, T>
{
    fn from(a: &'a Matrix<T, R, C, S>) -> Self {
        let ((rows, columns), (row_stride, column_stride)) = (a.shape(), a.strides());
        // SAFETY: nalgebra's storage holds an initialized entry at i·row_stride + j·column_stride for all
        // i, j in shape, and is borrowed for as long as the view lives.
        let entries = unsafe {
            MatRef::from_raw_parts(a.data.ptr(), rows, columns, row_stride as isize, column_stride as isize)
        };
        Operand::Host(entries)
    }
}

impl<'a, T: Element + nalgebra::Scalar, R: Dim, C: Dim, S: RawStorageMut<T, R, C>>
    From<&'a mut Matrix<T, R, C, S>> for OperandMut<'a, T>
{
    fn from(a: &'a mut Matrix<T, R, C, S>) -> Self {
        let ((rows, columns), (row_stride, column_stride)) = (a.shape(), a.strides());
        // SAFETY: as for reading; the storage is borrowed exclusively.
        let entries = unsafe {
            MatMut::from_raw_parts_mut(
                a.data.ptr_mut(),
                rows,
                columns,
                row_stride as isize,
                column_stride as isize,
            )
        };
        OperandMut::Host(entries)
    }
}
