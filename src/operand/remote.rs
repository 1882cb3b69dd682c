//! Matrices in the memory of a device, without the type of the device.

use crate::error::Error;
use crate::real::Real;
use core::any::Any;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;
use faer::{Mat, MatRef};

/// A view of a matrix in the memory of a device. (rows × columns)
///
/// An engine that reads this memory finds its own type by [`as_any`](Self::as_any); for every other engine the entries are
/// copied to the host and back.
pub trait RemoteMatrix<T: Real>: Any + Send + Sync {
    /// The name of the kind of memory, for example `cuda`.
    fn memory(&self) -> &'static str;

    /// Rows and columns.
    fn shape(&self) -> (usize, usize);

    /// A range of rows; the whole range is a copy of the view.
    fn rows(&self, range: Range<usize>) -> Box<dyn RemoteMatrix<T>>;

    /// Returns a copy in host memory.
    ///
    /// # Errors
    /// [`Error::Device`].
    fn to_host(&self) -> Result<Mat<T>, Error>;

    /// Copies a matrix of the same shape to this memory. Only called for a view of a [`RemoteViewMut`].
    ///
    /// # Errors
    /// `Shape`, naming `a`; [`Error::Device`].
    fn write(&mut self, a: MatRef<'_, T>) -> Result<(), Error>;

    /// The view as its own type.
    fn as_any(&self) -> &dyn Any;
}

/// A matrix in the memory of a device, for reading. (rows × columns)
pub struct RemoteView<'a, T: Real> {
    matrix: Box<dyn RemoteMatrix<T>>,
    lifetime: PhantomData<&'a T>,
}

/// A matrix in the memory of a device, for reading and writing. (rows × columns)
pub struct RemoteViewMut<'a, T: Real> {
    view: RemoteView<'a, T>,
    unique: PhantomData<&'a mut T>,
}

impl<'a, T: Real> RemoteView<'a, T> {
    /// A view for the lifetime 'a. The type of `matrix` has no lifetime, because it is asked for at run time.
    ///
    /// # Safety
    /// The memory exists for 'a, and nothing writes to it meanwhile.
    #[allow(unsafe_code, reason = "the caller guarantees the lifetime")]
    pub unsafe fn new(matrix: Box<dyn RemoteMatrix<T>>) -> Self {
        Self { matrix, lifetime: PhantomData }
    }

    /// The name of the kind of memory.
    #[must_use]
    pub fn memory(&self) -> &'static str {
        self.matrix.memory()
    }

    /// Rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.matrix.shape()
    }

    /// Returns a copy in host memory.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn to_host(&self) -> Result<Mat<T>, Error> {
        self.matrix.to_host()
    }

    /// The view as this type, if it is one.
    ///
    /// # Safety
    /// The type names no lifetime: it is not used, nor what is made from it, after 'a.
    #[must_use]
    #[allow(unsafe_code, reason = "the caller keeps to the lifetime")]
    pub unsafe fn as_type<M: RemoteMatrix<T>>(&self) -> Option<&M> {
        self.matrix.as_any().downcast_ref()
    }

    pub(super) fn rows(&self, range: Range<usize>) -> Self {
        Self { matrix: self.matrix.rows(range), lifetime: PhantomData }
    }
}

impl<T: Real> Clone for RemoteView<'_, T> {
    fn clone(&self) -> Self {
        self.rows(0..self.shape().0)
    }
}

impl<'a, T: Real> RemoteViewMut<'a, T> {
    /// As [`RemoteView::new`], for writing.
    ///
    /// # Safety
    /// The memory exists for 'a, and no other code uses it meanwhile.
    #[allow(unsafe_code, reason = "the caller guarantees the lifetime")]
    pub unsafe fn new(matrix: Box<dyn RemoteMatrix<T>>) -> Self {
        // SAFETY: the caller guarantees the memory.
        Self { view: unsafe { RemoteView::new(matrix) }, unique: PhantomData }
    }

    /// Rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.view.shape()
    }

    /// Returns a copy in host memory.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn to_host(&self) -> Result<Mat<T>, Error> {
        self.view.to_host()
    }

    /// Copies a matrix of the same shape to this memory.
    ///
    /// # Errors
    /// `Shape`, naming `a`; [`Error::Device`].
    pub fn write(&mut self, a: MatRef<'_, T>) -> Result<(), Error> {
        self.view.matrix.write(a)
    }

    /// The same for reading.
    #[must_use]
    pub fn as_view(&self) -> RemoteView<'_, T> {
        self.view.clone()
    }

    /// The same with a shorter lifetime.
    #[must_use]
    pub fn as_mut(&mut self) -> RemoteViewMut<'_, T> {
        RemoteViewMut { view: self.view.clone(), unique: PhantomData }
    }
}

impl<T: Real> fmt::Debug for RemoteView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (memory, shape) = (self.memory(), self.shape());
        f.debug_struct("RemoteView").field("memory", &memory).field("shape", &shape).finish_non_exhaustive()
    }
}

impl<T: Real> fmt::Debug for RemoteViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteViewMut").field("view", &self.view).finish()
    }
}
