//! Matrices in the memory of a device, without the type of the device.

use crate::element::Element;
use crate::error::Error;
use core::any::Any;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;
use faer::{Mat, MatRef};

/// A view of a matrix in the memory of a device. (rows × columns)
///
/// An engine that reads this memory finds its own type by [`RemoteView::as_type`]; for every other engine the entries are copied
/// to the host and back.
pub trait RemoteMatrix<T: Element>: Any + Send + Sync {
    /// The name of the kind of memory, for example `cuda`.
    fn memory(&self) -> &'static str;

    /// Rows and columns.
    fn shape(&self) -> (usize, usize);

    /// A view of a range of rows of the same memory: what is written to one is seen by the other. The range ends at the last row
    /// or before.
    fn rows(&self, range: Range<usize>) -> Box<dyn RemoteMatrix<T>>;

    /// Returns a copy in host memory.
    ///
    /// # Errors
    /// [`Error::Device`].
    fn to_host(&self) -> Result<Mat<T>, Error>;

    /// Copies a matrix of the same shape to this memory.
    ///
    /// # Errors
    /// `Shape`, naming `a`; [`Error::Device`].
    ///
    /// # Safety
    /// The view is that of a [`RemoteViewMut`]: no other code uses the memory meanwhile.
    #[allow(unsafe_code, reason = "the caller guarantees the memory")]
    unsafe fn write(&mut self, a: MatRef<'_, T>) -> Result<(), Error>;
}

/// A matrix in the memory of a device, for reading. (rows × columns)
pub struct RemoteView<'a, T: Element> {
    matrix: Box<dyn RemoteMatrix<T>>,
    lifetime: PhantomData<&'a T>,
}

/// A matrix in the memory of a device, for reading and writing. (rows × columns)
pub struct RemoteViewMut<'a, T: Element> {
    view: RemoteView<'a, T>,
    unique: PhantomData<&'a mut T>,
}

impl<'a, T: Element> RemoteView<'a, T> {
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
        let matrix: &dyn Any = &*self.matrix;
        matrix.downcast_ref()
    }

    pub(super) fn rows(&self, range: Range<usize>) -> Self {
        Self { matrix: self.matrix.rows(range), lifetime: PhantomData }
    }
}

impl<T: Element> Clone for RemoteView<'_, T> {
    fn clone(&self) -> Self {
        self.rows(0..self.shape().0)
    }
}

impl<'a, T: Element> RemoteViewMut<'a, T> {
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
    #[allow(unsafe_code, reason = "the memory is borrowed exclusively")]
    pub fn write(&mut self, a: MatRef<'_, T>) -> Result<(), Error> {
        // SAFETY: the view is this one's, which has the memory to itself.
        unsafe { self.view.matrix.write(a) }
    }

    /// The view.
    #[cfg(feature = "cuda")]
    pub(crate) fn view(&self) -> &RemoteView<'a, T> {
        &self.view
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

impl<T: Element> fmt::Debug for RemoteView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (memory, shape) = (self.memory(), self.shape());
        f.debug_struct("RemoteView").field("memory", &memory).field("shape", &shape).finish_non_exhaustive()
    }
}

impl<T: Element> fmt::Debug for RemoteViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteViewMut").field("view", &self.view).finish()
    }
}
