//! L in device memory, and the state of its engine.

use super::device_border::DeviceBorder;
use super::inverses::Inverses;
use super::products::Products;
use super::queue::{Queue, When};
use super::rearrange::Rearranger;
use super::sizes::ROW_BLOCK;
use super::take::Take;
use super::triangle::{DerivedMatrix, diagonal_of_product};
use super::triangular_solver::TriangularSolver;
use crate::cuda::dense::Dense;
use crate::cuda::device::Device;
use crate::cuda::matrix::{DeviceMatrix, DeviceView};
use crate::cuda::memory::DeviceBuffer;
use crate::cuda::operands::MEMORY;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::host::squares::largest_of;
use crate::operand::{Operand, OperandMut};
use crate::real::Real;
use crate::report::Modification;
use crate::storage::{Edit, Op, Room, Safeguard, Side, Solved, Staged, Storage, Swept, Target, Traits};
use crate::structure::{BorderThere, Parts, Rearrangement};
use crate::sweep::outline::Outline;
use crate::sweep::signed::Signed;
use crate::sweep::stop::Stop;
use crate::sweep::weights::Weights;
use cholupdate_kernels::health::Health;
use core::mem;
use core::ops::Range;
use faer::{Mat, MatMut};
use std::sync::{Mutex, PoisonError};

/// L as the resident engine stores it.
pub struct ResidentFactor<T> {
    /// Dropped first: it waits for work in flight that uses the other memory.
    pub(super) queue: Option<Queue<T>>,
    pub(super) l: Dense<T>,
    /// The destination of the next modification.
    pub(super) shadow: Option<DeviceBuffer<T>>,
    /// The diagonal of L, in host memory.
    pub(super) diagonal: Vec<T>,
    /// Memory for that of the new L.
    new_diagonal: Vec<T>,
    pub(super) signed: Signed<T>,
    /// Whether the device has the memory for wide rank blocks, once that has been queried.
    pub(super) room_for_wide: Option<bool>,
    /// For a V that is already on the device.
    pub(super) take: Option<Take<T>>,
    /// The sweep in flight: its target and its first column.
    pub(super) flight: Option<(Target, usize)>,
    pub(super) solving: Mutex<(Inverses, TriangularSolver<T>)>,
    pub(super) device: Device,
    /// For insertions, removals and shifts.
    pub(super) resizing: Option<Rearranger<T>>,
    /// Columns of L as V of a modification.
    pub(super) columns: Option<DeviceBuffer<T>>,
    /// The border of new rows and columns, and its memory.
    pub(super) border: Option<DeviceBorder<T>>,
    /// With a staged V whose rows before this one are zero, and whose sweep leaves earlier columns in L and others in the shadow
    /// buffer: this row.
    pub(super) splits_at: Option<usize>,
    /// After such a sweep, the first column that is in the shadow buffer.
    pub(super) split: Option<usize>,
}

impl<T> core::fmt::Debug for ResidentFactor<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ResidentFactor").finish_non_exhaustive()
    }
}

const _: () = {
    const fn goes_anywhere<T: Send + Sync>() {}
    goes_anywhere::<ResidentFactor<f64>>();
    goes_anywhere::<ResidentFactor<f32>>();
};

impl<T: Real> ResidentFactor<T> {
    /// Makes a factor of L and its diagonal.
    pub(super) fn new(device: &Device, l: Dense<T>, diagonal: Vec<T>) -> Result<Self, Error> {
        let inverses = Inverses::new::<T>(device, l.order(), l.capacity())?;
        let solving = Mutex::new((inverses, TriangularSolver::new(device)?));
        Ok(Self {
            queue: None,
            l,
            shadow: None,
            diagonal,
            new_diagonal: Vec::new(),
            signed: Signed::default(),
            room_for_wide: None,
            take: None,
            flight: None,
            resizing: None,
            columns: None,
            border: None,
            splits_at: None,
            split: None,
            solving,
            device: device.clone(),
        })
    }

    /// A view of L. A modification that the caller has forgotten is waited for: it writes to other memory, but nothing may be
    /// in flight.
    pub(crate) fn view(&self) -> Result<DeviceView<'_, T>, Error> {
        self.quiet()?;
        let order = self.l.order();
        Ok(DeviceView::new(self.l.slice(), (order, order), self.l.stride(), &self.device))
    }

    /// L, or L Lᵀ, in separate memory on the device.
    pub(crate) fn derived(&self, matrix: DerivedMatrix) -> Result<DeviceMatrix<T>, Error> {
        self.quiet()?;
        let order = self.l.order();
        // SAFETY: what has written L has been waited for, and what writes it borrows the factor exclusively.
        let buffer = unsafe { matrix.make(&self.device, (self.l.slice(), self.l.stride()), order)? };
        Ok(DeviceMatrix::of(&self.device, buffer, (order, order)))
    }
}

pub(super) fn lost(error: Error, written: bool) -> Stop {
    Stop::Device { error, written }
}

/// Where a sweep reads L and writes the new one.
#[derive(Clone, Copy)]
pub(super) enum Way {
    InPlace,
    ToShadow,
    /// From the shadow buffer to L.
    FromShadow,
}

impl<T: Real> Swept<T> for ResidentFactor<T> {
    /// A sweep in place is slower, because it waits for all reads of the entries that it overwrites.
    fn traits(&self) -> Traits {
        let safeguard = Traits::new(Safeguard::ShadowBuffer);
        Traits { asynchronous: true, memory: Some(MEMORY), prefers_shadow: true, ..safeguard }
    }

    fn order(&self) -> usize {
        self.l.order()
    }

    fn pivot(&self, column: usize) -> T {
        self.diagonal[column]
    }

    fn row_squares(&self) -> Option<[&[f64]; 2]> {
        self.queue.as_ref()?.v.row_squares()
    }

    fn row_norm(&self) -> Result<f64, Error> {
        self.quiet()?;
        // SAFETY: what has written L has been waited for, and what writes it borrows the factor exclusively.
        let squares =
            unsafe { diagonal_of_product(&self.device, (self.l.slice(), self.l.stride()), self.l.order())? };
        Ok(largest_of(&squares).sqrt())
    }

    fn reserve(&mut self, room: Room) -> Result<(), Error> {
        if let Room::Capacity(capacity) = room {
            return self.make_room(capacity);
        }
        if self.shadow.is_none() {
            self.shadow = Some(DeviceBuffer::new(&self.device, self.l.slice().len())?);
        }
        Ok(())
    }

    fn stage(&mut self, v: &Staged<'_, T>) -> Result<Outline, Error> {
        self.splits_at = None;
        match *v {
            Staged::Given(v, weights) => self.stage_given(v, weights, When::AtOnce),
            Staged::Carrying { v, weights, .. } => self.stage_given(&Operand::Host(v), weights, When::Later),
            Staged::Columns(v) => self.stage_columns(v),
            Staged::Border(v) => self.stage_border(v),
        }
    }

    unsafe fn stage_lent(&mut self, v: &Operand<'_, T>, weights: Weights<'_, T>) -> Result<Outline, Error> {
        self.splits_at = None;
        self.stage_given(v, weights, When::WhileLent)
    }

    fn withdraw(&mut self) {
        let (inverses, _) = self.solving.get_mut().unwrap_or_else(PoisonError::into_inner);
        // After an error the contents of its memory are unknown, and its end waits for the work.
        if self.queue.as_mut().is_some_and(|queue| queue.cancel(inverses).is_err()) {
            self.queue = None;
        }
    }

    fn sweep(&mut self, _: &Outline, columns: Range<usize>, target: Target) -> Result<(), Stop> {
        debug_assert!(columns.end == self.l.order(), "the kernels take all columns");
        if target == Target::Discard {
            self.reserve(Room::Shadow).map_err(|error| lost(error, false))?;
        }
        let way = if target == Target::InPlace { Way::InPlace } else { Way::ToShadow };
        self.begin_sweep(columns.start, way, target)
    }

    fn wait(&mut self) -> Result<Modification, Stop> {
        let Self { queue, diagonal, new_diagonal, solving, flight, .. } = self;
        let (Some((target, start)), Some(at_work)) = (flight.take(), &mut *queue) else {
            return Ok(Modification::identity());
        };
        let (inverses, _) = solving.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut health = Health::default();
        new_diagonal.clear();
        new_diagonal.extend_from_slice(&diagonal[..start]);
        let ended = at_work.wait(start..diagonal.len(), |rows, new| {
            health.record(&diagonal[rows], new);
            new_diagonal.extend_from_slice(new);
        });
        match ended {
            Ok(None) => {}
            Ok(Some(column)) => {
                if target != Target::Discard {
                    // The inverses are those of a factor that does not become L.
                    inverses.forget();
                }
                return Err(Stop::Breakdown { column });
            }
            Err(error) => {
                inverses.forget();
                *queue = None;
                return Err(lost(error, true));
            }
        }
        if target != Target::Discard {
            mem::swap(diagonal, new_diagonal);
        }
        Ok(Modification::of_sweep(&health, start))
    }

    fn commit(&mut self, column: usize) {
        match (self.splits_at, &mut self.shadow) {
            (Some(row), Some(_)) if row.min(column) >= ROW_BLOCK => {
                self.split = Some(row.min(column) / ROW_BLOCK * ROW_BLOCK);
            }
            (_, Some(shadow)) => self.l.exchange(shadow),
            (_, None) => {}
        }
    }
}

impl<T: Real> Storage<T> for ResidentFactor<T> {
    fn capacity(&self) -> usize {
        self.l.capacity()
    }

    fn read(&self, to: MatMut<'_, T>) -> Result<(), Error> {
        self.quiet()?;
        self.l.download(&Stream::new(&self.device)?, to, self.l.order())
    }

    fn apply(&self, op: Op<'_>, rhs: OperandMut<'_, T>) -> Result<(), Error> {
        match op {
            Op::Solve(sides) => self.solve_systems(sides, rhs),
            Op::Multiply(side) => rhs.change_on_host(|rhs| {
                let products = Products::new(&self.device)?;
                self.quiet()?;
                // SAFETY: what has written L has been waited for, and what writes it borrows the factor exclusively.
                unsafe { products.multiply((self.l.slice(), self.l.stride()), side, rhs) }
            }),
            Op::Eliminate(columns) => rhs.change_on_host(|rhs| self.eliminate(columns, rhs)),
        }
    }

    fn wait_and_solve(
        &mut self,
        sides: &[Side],
        rhs: &mut OperandMut<'_, T>,
    ) -> (Result<Modification, Stop>, Solved) {
        self.solve_behind(sides, rhs)
    }

    fn edit(&mut self, edit: Edit<'_, T>) -> Result<(), Stop> {
        match edit {
            Edit::Scale { columns, by } => self.scale(columns, by),
            Edit::Rearrange(new) => self.gather(new).map_err(Stop::before),
            Edit::MoveUp { from, to } => self.move_up(from, to),
            Edit::Write { at, border } => self.write_border(at, border).map_err(|error| lost(error, true)),
            Edit::WriteThere { at } => self.write_device_border(at).map_err(|error| lost(error, true)),
            Edit::Close { .. } => Ok(()),
        }
    }

    fn rearrange_and_sweep(
        &mut self,
        new: &Rearrangement,
        _: &Outline,
        columns: Range<usize>,
    ) -> Result<Option<Modification>, Stop> {
        self.move_and_sweep(new, columns)
    }

    fn border_there(
        &mut self,
        at: usize,
        parts: &Parts<'_, T>,
        skipped: usize,
    ) -> Result<Option<BorderThere<T>>, Error> {
        self.make_border(at, parts, skipped)
    }

    fn border_below(&self) -> Result<Option<Mat<T>>, Error> {
        self.read_below()
    }
}

impl<T: Real> ResidentFactor<T> {
    /// Multiplies leading columns by a positive number.
    fn scale(&mut self, columns: usize, by: T) -> Result<(), Stop> {
        let products = Products::new(&self.device).map_err(Stop::before)?;
        self.quiet().map_err(Stop::before)?;
        self.solving.get_mut().unwrap_or_else(PoisonError::into_inner).0.forget();
        let l = (self.l.slice(), self.l.stride());
        // SAFETY: L belongs to the factor, and nothing is in flight.
        unsafe { products.scale(l, (self.l.order(), columns), by) }.map_err(|error| lost(error, true))?;
        self.diagonal[..columns].iter_mut().for_each(|pivot| *pivot *= by);
        Ok(())
    }
}
