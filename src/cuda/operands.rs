//! Matrices in device memory as operands of the public calls.

use super::device::Device;
use super::matrix::{DeviceMatrix, DeviceView, DeviceViewMut};
use crate::error::Error;
use crate::operand::{Operand, OperandMut, RemoteMatrix, RemoteView, RemoteViewMut};
use crate::real::Real;
use core::ops::Range;
use faer::{Mat, MatRef};

/// The name of this memory: [`RemoteMatrix::memory`].
pub(crate) const MEMORY: &str = "cuda";

impl<T: Real> DeviceMatrix<T> {
    /// Copies a matrix to the device.
    ///
    /// # Errors
    /// [`Error::Device`] if the device or the host has no memory for it, or the driver fails.
    pub fn from_host<'a>(device: &Device, a: impl Into<Operand<'a, T>>) -> Result<Self, Error> {
        Self::new(device, a.into().on_host()?.as_ref())
    }

    /// Copies a matrix of the same shape to this one.
    ///
    /// # Errors
    /// `Shape`, naming `a`; [`Error::Device`].
    pub fn copy_from_host<'a>(&mut self, a: impl Into<Operand<'a, T>>) -> Result<(), Error> {
        self.view_mut().copy_from_host(a)
    }
}

impl<T: Real> DeviceViewMut<'_, T> {
    /// Copies a matrix of the same shape to this memory.
    ///
    /// # Errors
    /// `Shape`, naming `a`; [`Error::Device`].
    pub fn copy_from_host<'a>(&mut self, a: impl Into<Operand<'a, T>>) -> Result<(), Error> {
        self.write(a.into().on_host()?.as_ref())
    }
}

/// A view without its lifetime, which the operand that holds it keeps to. No other code can name it.
struct Held<T: Real>(DeviceView<'static, T>);

impl<T: Real> RemoteMatrix<T> for Held<T> {
    fn memory(&self) -> &'static str {
        MEMORY
    }

    fn shape(&self) -> (usize, usize) {
        self.0.shape()
    }

    fn rows(&self, range: Range<usize>) -> Box<dyn RemoteMatrix<T>> {
        Box::new(Self(self.0.rows(range)))
    }

    fn to_host(&self) -> Result<Mat<T>, Error> {
        self.0.to_host()
    }

    unsafe fn write(&mut self, a: MatRef<'_, T>) -> Result<(), Error> {
        // SAFETY: the caller guarantees that no other code uses the memory.
        unsafe { DeviceViewMut::of(self.0.clone()) }.write(a)
    }
}

impl<'a, T: Real> From<DeviceView<'a, T>> for Operand<'a, T> {
    fn from(a: DeviceView<'a, T>) -> Self {
        // SAFETY: the operand has the lifetime of the view, and alone has the new one.
        Self::Remote(unsafe { RemoteView::new(Box::new(Held(a.of_any_lifetime()))) })
    }
}

impl<'a, T: Real> From<&'a DeviceView<'_, T>> for Operand<'a, T> {
    fn from(a: &'a DeviceView<'_, T>) -> Self {
        a.clone().into()
    }
}

impl<'a, T: Real> From<&'a DeviceMatrix<T>> for Operand<'a, T> {
    fn from(a: &'a DeviceMatrix<T>) -> Self {
        a.view().into()
    }
}

impl<'a, T: Real> From<&'a DeviceViewMut<'_, T>> for Operand<'a, T> {
    fn from(a: &'a DeviceViewMut<'_, T>) -> Self {
        a.as_view().into()
    }
}

impl<'a, T: Real> From<DeviceViewMut<'a, T>> for OperandMut<'a, T> {
    fn from(a: DeviceViewMut<'a, T>) -> Self {
        // SAFETY: the operand has the lifetime of the view, and alone has the new one and the memory.
        Self::Remote(unsafe { RemoteViewMut::new(Box::new(Held(a.as_view().of_any_lifetime()))) })
    }
}

impl<'a, T: Real> From<&'a mut DeviceViewMut<'_, T>> for OperandMut<'a, T> {
    fn from(a: &'a mut DeviceViewMut<'_, T>) -> Self {
        a.as_mut().into()
    }
}

impl<'a, T: Real> From<&'a mut DeviceMatrix<T>> for OperandMut<'a, T> {
    fn from(a: &'a mut DeviceMatrix<T>) -> Self {
        a.view_mut().into()
    }
}

/// The view of a matrix in CUDA memory.
pub(super) fn on_device<'m, 'a, T: Real>(a: &'m Operand<'a, T>) -> Option<&'m DeviceView<'a, T>> {
    match a {
        Operand::Host(_) => None,
        // SAFETY: the view is handed out with the lifetime of the operand.
        Operand::Remote(a) => unsafe { a.as_type::<Held<T>>() }.map(|Held(view)| view),
    }
}

/// The same for writing.
pub(super) fn on_device_mut<'m, T: Real>(a: &'m mut OperandMut<'_, T>) -> Option<DeviceViewMut<'m, T>> {
    match a {
        OperandMut::Host(_) => None,
        OperandMut::Remote(a) => {
            // SAFETY: the operand has the memory to itself, and is borrowed for as long as the new view.
            unsafe { Some(DeviceViewMut::of(a.view().as_type::<Held<T>>()?.0.clone())) }
        }
    }
}
