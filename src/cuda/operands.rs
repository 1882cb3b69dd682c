//! Matrices in device memory as operands of the public calls.

use super::device::Device;
use super::matrix::{DeviceMatrix, DeviceView, DeviceViewMut};
use crate::error::Error;
use crate::input::{AsMatrix, AsMatrixMut, Operand, OperandMut};
use crate::scalar::Scalar;

impl<T: Scalar> DeviceMatrix<T> {
    /// Copies a matrix to the device.
    ///
    /// # Errors
    /// [`Error::Device`] if the device or the host has no memory for it, or the driver fails.
    pub fn from_host(device: &Device, a: &(impl AsMatrix<T> + ?Sized)) -> Result<Self, Error> {
        Self::new(device, a.as_matrix().on_host()?.as_ref())
    }

    /// Copies a matrix of the same shape to this one.
    ///
    /// # Errors
    /// `Shape`, naming `a`; [`Error::Device`].
    pub fn copy_from_host(&mut self, a: &(impl AsMatrix<T> + ?Sized)) -> Result<(), Error> {
        self.view_mut().copy_from_host(a)
    }
}

impl<T: Scalar> DeviceViewMut<'_, T> {
    /// Copies a matrix of the same shape to this memory.
    ///
    /// # Errors
    /// `Shape`, naming `a`; [`Error::Device`].
    pub fn copy_from_host(&mut self, a: &(impl AsMatrix<T> + ?Sized)) -> Result<(), Error> {
        self.write(a.as_matrix().on_host()?.as_ref())
    }
}

impl<T: Scalar> AsMatrix<T> for DeviceMatrix<T> {
    fn as_matrix(&self) -> Operand<'_, T> {
        Operand::Device(self.view())
    }
}

impl<T: Scalar> AsMatrix<T> for DeviceView<'_, T> {
    fn as_matrix(&self) -> Operand<'_, T> {
        Operand::Device(self.clone())
    }
}

impl<T: Scalar> AsMatrix<T> for DeviceViewMut<'_, T> {
    fn as_matrix(&self) -> Operand<'_, T> {
        Operand::Device(self.as_view())
    }
}

impl<T: Scalar> AsMatrixMut<T> for DeviceMatrix<T> {
    fn as_matrix_mut(&mut self) -> OperandMut<'_, T> {
        OperandMut::Device(self.view_mut())
    }
}

impl<T: Scalar> AsMatrixMut<T> for DeviceViewMut<'_, T> {
    fn as_matrix_mut(&mut self) -> OperandMut<'_, T> {
        OperandMut::Device(self.as_mut())
    }
}
