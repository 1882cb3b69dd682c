//! ndarray's matrices and vectors of any storage and strides, read and written in place. A vector is a matrix of one column.

use super::{Operand, OperandMut};
use crate::element::Element;
use faer::{MatMut, MatRef};
use ndarray::{
    ArrayBase, ArrayRef, ArrayView, ArrayView2, ArrayViewMut, ArrayViewMut2, Axis, Data, DataMut, Ix1, Ix2,
};

fn readable<T: Element>(a: ArrayView2<'_, T>) -> Operand<'_, T> {
    let ((rows, columns), strides) = (a.dim(), [a.strides()[0], a.strides()[1]]);
    // SAFETY: ndarray's view holds an initialized entry at i·strides[0] + j·strides[1] from its first one for all i, j in shape, and
    // its memory is borrowed for as long as the view lives.
    Operand::Host(unsafe { MatRef::from_raw_parts(a.as_ptr(), rows, columns, strides[0], strides[1]) })
}

fn writable<T: Element>(mut a: ArrayViewMut2<'_, T>) -> OperandMut<'_, T> {
    let ((rows, columns), strides) = (a.dim(), [a.strides()[0], a.strides()[1]]);
    // SAFETY: as for reading; the memory is borrowed exclusively, and no two entries of a mutable view are in the same place.
    let entries =
        unsafe { MatMut::from_raw_parts_mut(a.as_mut_ptr(), rows, columns, strides[0], strides[1]) };
    OperandMut::Host(entries)
}

macro_rules! of_dimension {
    ($dimension:ty: |$a:ident| $matrix:expr) => {
        impl<'a, T: Element, S: Data<Elem = T>> From<&'a ArrayBase<S, $dimension>> for Operand<'a, T> {
            fn from(a: &'a ArrayBase<S, $dimension>) -> Self {
                Self::from(a.view())
            }
        }

        impl<'a, T: Element> From<&'a ArrayRef<T, $dimension>> for Operand<'a, T> {
            fn from(a: &'a ArrayRef<T, $dimension>) -> Self {
                Self::from(a.view())
            }
        }

        impl<'a, T: Element> From<ArrayView<'a, T, $dimension>> for Operand<'a, T> {
            fn from($a: ArrayView<'a, T, $dimension>) -> Self {
                readable($matrix)
            }
        }

        impl<'a, T: Element, S: DataMut<Elem = T>> From<&'a mut ArrayBase<S, $dimension>>
            for OperandMut<'a, T>
        {
            fn from(a: &'a mut ArrayBase<S, $dimension>) -> Self {
                Self::from(a.view_mut())
            }
        }

        impl<'a, T: Element> From<&'a mut ArrayRef<T, $dimension>> for OperandMut<'a, T> {
            fn from(a: &'a mut ArrayRef<T, $dimension>) -> Self {
                Self::from(a.view_mut())
            }
        }

        impl<'a, T: Element> From<ArrayViewMut<'a, T, $dimension>> for OperandMut<'a, T> {
            fn from($a: ArrayViewMut<'a, T, $dimension>) -> Self {
                writable($matrix)
            }
        }
    };
}

of_dimension!(Ix1: |a| a.insert_axis(Axis(1)));
of_dimension!(Ix2: |a| a);
