//! Batches of matrices in either memory, as arguments of calls.

use super::device_batch::{DeviceBatch, DeviceBatchView, DeviceBatchViewMut};
use crate::batch::BatchWeights;
use crate::batch::operand::{BatchMut, BatchRef};
use crate::cuda::device::Device;
use crate::cuda::stream::{Event, Stream};
use crate::error::Error;
use crate::real::Real;
use crate::sweep::weights::Weights;
use core::marker::PhantomData;

/// Matrices in host memory, or in that of a GPU.
#[derive(Clone)]
pub enum BatchOperand<'a, T> {
    /// In host memory. They are copied to the device.
    Host(BatchRef<'a, T>),
    /// In the memory of the device.
    Device(DeviceBatchView<'a, T>),
}

/// The same for writing.
pub enum BatchOperandMut<'a, T> {
    /// In host memory. They are copied to the device and back.
    Host(BatchMut<'a, T>),
    /// In the memory of the device.
    Device(DeviceBatchViewMut<'a, T>),
}

/// The weights of a modification, in host memory or in that of a GPU.
#[derive(Clone)]
pub enum WeightsOperand<'a, T> {
    /// In host memory.
    Host(BatchWeights<'a, T>),
    /// In the memory of the device: k weights for each matrix (count × k × 1), with any strides; 0 from one matrix to the next gives
    /// all the same.
    Device(DeviceBatchView<'a, T>),
}

impl<'a, T, W: Into<Weights<'a, T>>> From<W> for WeightsOperand<'a, T> {
    fn from(weights: W) -> Self {
        Self::Host(BatchWeights::Shared(weights.into()))
    }
}

impl<'a, T> From<BatchWeights<'a, T>> for WeightsOperand<'a, T> {
    fn from(weights: BatchWeights<'a, T>) -> Self {
        Self::Host(weights)
    }
}

impl<'a, T> From<DeviceBatchView<'a, T>> for WeightsOperand<'a, T> {
    fn from(weights: DeviceBatchView<'a, T>) -> Self {
        Self::Device(weights)
    }
}

macro_rules! operands {
    ($($operand:ident::$variant:ident of $from:ty, |$a:ident| $view:expr;)*) => {$(
        impl<'a, T: Real> From<$from> for $operand<'a, T> {
            fn from($a: $from) -> Self {
                Self::$variant($view)
            }
        }
    )*};
}

operands! {
    BatchOperand::Host of BatchRef<'a, T>, |a| a;
    BatchOperand::Device of DeviceBatchView<'a, T>, |a| a;
    BatchOperand::Device of &'a DeviceBatch<T>, |a| a.view();
    BatchOperandMut::Host of BatchMut<'a, T>, |a| a;
    BatchOperandMut::Device of DeviceBatchViewMut<'a, T>, |a| a;
    BatchOperandMut::Device of &'a mut DeviceBatch<T>, |a| a.view_mut();
}

/// An operand on the device, and the copy that it may be.
pub(super) struct Taken<'a, T> {
    pub address: u64,
    pub strides: [i64; 3],
    pub stream: Option<u64>,
    copy: Option<DeviceBatch<T>>,
    given: PhantomData<&'a T>,
}

impl<'a, T: Real> BatchOperand<'a, T> {
    /// The number of matrices, their rows and their columns.
    #[must_use]
    pub fn shape(&self) -> [usize; 3] {
        match self {
            Self::Host(a) => a.shape(),
            Self::Device(a) => a.shape(),
        }
    }

    /// Brings the matrices to the device.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub(super) fn take(&self, device: &Device, argument: &str) -> Result<Taken<'a, T>, Error> {
        match self {
            Self::Host(a) => Ok(Taken::copied(DeviceBatch::from_host(device, *a)?)),
            Self::Device(a) => {
                a.is_on(device, argument)?;
                let (strides, given) = (a.strides(), PhantomData);
                Ok(Taken { address: a.address(), strides, stream: a.stream(), copy: None, given })
            }
        }
    }
}

impl<T: Real> Taken<'_, T> {
    fn copied(copy: DeviceBatch<T>) -> Self {
        let view = copy.view();
        let (address, strides) = (view.address(), view.strides());
        Self { address, strides, stream: None, copy: Some(copy), given: PhantomData }
    }
}

impl<T: Real> BatchOperandMut<'_, T> {
    /// The number of matrices, their rows and their columns.
    #[must_use]
    pub fn shape(&self) -> [usize; 3] {
        match self {
            Self::Host(a) => a.shape(),
            Self::Device(a) => a.as_view().shape(),
        }
    }

    /// Brings the matrices to the device.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub(super) fn take(&self, device: &Device, argument: &str) -> Result<Taken<'_, T>, Error> {
        match self {
            Self::Host(a) => BatchOperand::Host(a.as_ref()).take(device, argument),
            Self::Device(a) => BatchOperand::Device(a.as_view()).take(device, argument),
        }
    }

    /// Copies the entries back to where they have come from. All work on them has been waited for if they are in host memory.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub(super) fn give_back(self, copy: Option<DeviceBatch<T>>) -> Result<(), Error> {
        match (self, copy) {
            (Self::Host(a), Some(copy)) => copy.copy_to(a),
            _ => Ok(()),
        }
    }
}

impl<T> Taken<'_, T> {
    pub(super) fn into_copy(self) -> Option<DeviceBatch<T>> {
        self.copy
    }
}

/// Orders later work on `stream` after the work so far on the streams of these operands.
///
/// # Errors
/// [`Error::Device`].
pub(super) fn begin_behind(stream: &Stream, theirs: &[Option<u64>]) -> Result<(), Error> {
    theirs.iter().flatten().try_for_each(|&theirs| {
        // SAFETY: the callers of `on_stream` guarantee the streams.
        unsafe { stream.wait_behind(theirs) }
    })
}

/// Lets later work on the streams of the operands come after the work on `stream`, or waits for it if one of the operands
/// has no stream.
///
/// # Errors
/// [`Error::Device`].
pub(super) fn end_before(stream: &Stream, device: &Device, theirs: &[Option<u64>]) -> Result<(), Error> {
    if theirs.iter().any(Option::is_none) {
        return stream.synchronize();
    }
    let order = || {
        let event = Event::new(device)?;
        event.record(stream)?;
        theirs.iter().flatten().try_for_each(|&theirs| {
            // SAFETY: the callers of `on_stream` guarantee the streams.
            unsafe { event.holds_up(theirs) }
        })
    };
    // Work that is not ordered must not go on after an error.
    order().inspect_err(|_| drop(stream.synchronize()))
}
