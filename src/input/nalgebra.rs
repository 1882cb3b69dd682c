//! nalgebra matrices, vectors and views of any storage, read and written in place.

use super::{AsMatrix, AsMatrixMut, Operand, OperandMut};
use crate::scalar::Scalar;
use faer::{MatMut, MatRef};
use nalgebra::{Dim, Matrix, RawStorage, RawStorageMut};

impl<T: Scalar + nalgebra::Scalar, R: Dim, C: Dim, S: RawStorage<T, R, C>> AsMatrix<T>
    for Matrix<T, R, C, S>
{
    fn as_matrix(&self) -> Operand<'_, T> {
        let ((rows, columns), (row_stride, column_stride)) = (self.shape(), self.strides());
        // SAFETY: nalgebra's storage holds an initialized entry at i·row_stride + j·column_stride for all
        // i, j in shape, and is borrowed for as long as the view lives.
        let entries = unsafe {
            MatRef::from_raw_parts(
                self.data.ptr(),
                rows,
                columns,
                row_stride as isize,
                column_stride as isize,
            )
        };
        Operand::Host(entries)
    }
}

impl<T: Scalar + nalgebra::Scalar, R: Dim, C: Dim, S: RawStorageMut<T, R, C>> AsMatrixMut<T>
    for Matrix<T, R, C, S>
{
    fn as_matrix_mut(&mut self) -> OperandMut<'_, T> {
        let ((rows, columns), (row_stride, column_stride)) = (self.shape(), self.strides());
        // SAFETY: as for reading; the storage is borrowed exclusively.
        let entries = unsafe {
            MatMut::from_raw_parts_mut(
                self.data.ptr_mut(),
                rows,
                columns,
                row_stride as isize,
                column_stride as isize,
            )
        };
        OperandMut::Host(entries)
    }
}
