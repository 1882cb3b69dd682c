//! L and A of a factor in the memory of a GPU, where they are.

use crate::any::AnyEngine;
use crate::cholesky::Cholesky;
use crate::cuda::{DerivedMatrix, DeviceMatrix, DeviceView, Resident, ResidentFactor};
use crate::error::{Error, other};
use crate::scalar::RealScalar;
use core::any::Any;

impl<T: RealScalar> Cholesky<T, Resident> {
    /// A view of L in device memory, for other code to read (n × n, column-major). Entries above the diagonal are unspecified.
    /// The view is complete when this returns, and valid until the factor changes. Work that reads it on a stream of the
    /// caller's must be waited for before the factor changes or is dropped, because its memory then holds another L.
    ///
    /// # Errors
    /// [`Error::Device`], [`Error::Poisoned`].
    ///
    /// # Cost
    /// None.
    pub fn l_on_device(&self) -> Result<DeviceView<'_, T>, Error> {
        T::view(self.in_device_memory()?)
    }

    /// Returns a copy of L on the device, zero above the diagonal (n × n). It is complete when this returns, and does not
    /// change with the factor.
    ///
    /// # Errors
    /// [`Error::Device`], [`Error::Poisoned`].
    ///
    /// # Cost
    /// One copy within the memory of the device.
    ///
    /// ```
    /// use cholupdate::cuda::{Device, Resident};
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// fn stays_there() -> Result<(), Error> {
    ///     let engine = Resident::new(&Device::new(0)?);
    ///     let factor = Cholesky::from_factor_in(&mat![[2.0, 9.0], [1.0, 2.0]], engine.clone())?;
    ///     let l = factor.to_factor_on_device()?;
    ///     assert_eq!(l.to_host()?, mat![[2.0, 0.0], [1.0, 2.0]]);
    ///     let again = Cholesky::from_factor_in(&l, engine)?; // never leaves the device
    ///     assert_eq!(again.reconstruct_on_device()?.to_host()?, mat![[4.0, 2.0], [2.0, 5.0]]);
    ///     Ok(())
    /// }
    /// # match stays_there() { Ok(()) | Err(Error::Device { .. }) => {} Err(error) => panic!("{error}") }
    /// ```
    pub fn to_factor_on_device(&self) -> Result<DeviceMatrix<T>, Error> {
        T::derived(self.in_device_memory()?, DerivedMatrix::Factor)
    }

    /// A = L Lᵀ on the device, both triangles (n × n): as [`reconstruct`](Self::reconstruct), with the result in device memory.
    ///
    /// # Errors
    /// [`Error::Device`], [`Error::Poisoned`].
    ///
    /// # Cost
    /// n³/3 flops.
    pub fn reconstruct_on_device(&self) -> Result<DeviceMatrix<T>, Error> {
        T::derived(self.in_device_memory()?, DerivedMatrix::Product)
    }

    fn in_device_memory(&self) -> Result<&ResidentFactor<T>, Error> {
        let elsewhere = || other("the storage of the factor is not that of its engine");
        resident(&**self.factor.guarded.healthy()?).ok_or_else(elsewhere)
    }
}

/// The storage as that of the resident engine, if it is.
fn resident<T: RealScalar>(storage: &dyn Any) -> Option<&ResidentFactor<T>> {
    storage.downcast_ref()
}

impl<T: RealScalar> Cholesky<T, AnyEngine> {
    /// As [`Cholesky::<T, Resident>::to_factor_on_device`]; `None` if the factor is in host memory.
    ///
    /// # Errors
    /// [`Error::Device`], [`Error::Poisoned`].
    ///
    /// # Cost
    /// One copy within the memory of the device.
    pub fn to_factor_on_device(&self) -> Result<Option<DeviceMatrix<T>>, Error> {
        self.on_device(DerivedMatrix::Factor)
    }

    /// As [`Cholesky::<T, Resident>::reconstruct_on_device`]; `None` if the factor is in host memory.
    ///
    /// # Errors
    /// [`Error::Device`], [`Error::Poisoned`].
    ///
    /// # Cost
    /// n³/3 flops.
    pub fn reconstruct_on_device(&self) -> Result<Option<DeviceMatrix<T>>, Error> {
        self.on_device(DerivedMatrix::Product)
    }

    fn on_device(&self, derived: DerivedMatrix) -> Result<Option<DeviceMatrix<T>>, Error> {
        resident(&**self.factor.guarded.healthy()?).map(|factor| T::derived(factor, derived)).transpose()
    }
}
