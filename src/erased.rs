//! Storages of different engines as one type. What makes them is compiled in this crate, once for each scalar type: a program
//! that only names an engine does not compile the storage of that engine.

use crate::compiled::functions;
use crate::cpu::HostFactor;
#[cfg(feature = "cuda")]
use crate::cuda::{DerivedMatrix, DeviceMatrix, DeviceView, Distributed, Hybrid, Resident, ResidentFactor};
use crate::element::Element;
use crate::error::Error;
#[cfg(feature = "opencl")]
use crate::opencl;
use crate::operand::{Operand, OperandMut};
use crate::report::Modification;
use crate::storage::{Direct, Edit, Op, Room, Side, Solved, Staged, Storage, Swept, Target, Traits};
#[cfg(feature = "cuda")]
use crate::storage::{Made, Origin};
use crate::structure::{BorderThere, Parts, Rearrangement};
use crate::sweep::outline::Outline;
use crate::sweep::stop::Stop;
use crate::sweep::weights::Weights;
use core::ops::Range;
use faer::{Mat, MatMut, MatRef};

/// A storage of any engine.
pub type AnyStorage<T> = Box<dyn Storage<T>>;

functions! {
    /// Makes storages of one type, and reads from them.
    Erased {
        on_host(storage: HostFactor<Self>) -> AnyStorage<Self> = any;
        #[cfg(feature = "cuda")]
        hybrid(engine: &Hybrid, l: Mat<Self>) -> Result<AnyStorage<Self>, Error> = |engine: &Hybrid, l| engine.factor(l).map(any);
        #[cfg(feature = "cuda")]
        hybrid_made(engine: &Hybrid, what: Origin, given: &Operand<'_, Self>) -> Result<Made<AnyStorage<Self>>, Error>
            = |engine: &Hybrid, what, given| engine.made(what, given).map(any_made);
        #[cfg(feature = "opencl")]
        opencl_hybrid(engine: &opencl::Hybrid, l: Mat<Self>) -> Result<AnyStorage<Self>, Error>
            = |engine: &opencl::Hybrid, l| engine.factor(l).map(any);
        #[cfg(feature = "cuda")]
        resident(engine: &Resident, l: Mat<Self>) -> Result<AnyStorage<Self>, Error> = |engine: &Resident, l| engine.factor(l).map(any);
        #[cfg(feature = "cuda")]
        resident_made(engine: &Resident, what: Origin, given: &Operand<'_, Self>) -> Result<Made<AnyStorage<Self>>, Error>
            = |engine: &Resident, what, given| engine.made(what, given).map(any_made);
        #[cfg(feature = "cuda")]
        distributed(engine: &Distributed, l: Mat<Self>) -> Result<AnyStorage<Self>, Error> = |engine: &Distributed, l| engine.factor(l).map(any);
        #[cfg(feature = "cuda")]
        distributed_made(engine: &Distributed, what: Origin, given: &Operand<'_, Self>) -> Result<Made<AnyStorage<Self>>, Error>
            = |engine: &Distributed, what, given| engine.made(what, given).map(any_made);
        #[cfg(feature = "cuda")]
        view(storage: &ResidentFactor<Self>) -> Result<DeviceView<'_, Self>, Error> = ResidentFactor::view;
        #[cfg(feature = "cuda")]
        derived(storage: &ResidentFactor<Self>, matrix: DerivedMatrix) -> Result<DeviceMatrix<Self>, Error> = ResidentFactor::derived;
    }
}

fn any<T: Element, F: Storage<T>>(storage: F) -> AnyStorage<T> {
    Box::new(storage)
}

#[cfg(feature = "cuda")]
fn any_made<T: Element, F: Storage<T>>(made: Made<F>) -> Made<AnyStorage<T>> {
    made.map(|(storage, diagonal)| (any(storage), diagonal))
}

impl<T: Element> Swept<T> for AnyStorage<T> {
    fn traits(&self) -> Traits {
        (**self).traits()
    }

    fn order(&self) -> usize {
        (**self).order()
    }

    fn pivot(&self, column: usize) -> T::Part {
        (**self).pivot(column)
    }

    fn row_squares(&self) -> Option<[&[f64]; 2]> {
        (**self).row_squares()
    }

    fn row_norm(&self) -> Result<f64, Error> {
        (**self).row_norm()
    }

    fn reserve(&mut self, room: Room) -> Result<(), Error> {
        (**self).reserve(room)
    }

    fn modify_directly(&mut self, v: MatRef<'_, T>, weights: Weights<'_, T::Part>) -> Option<Direct> {
        (**self).modify_directly(v, weights)
    }

    fn stage(&mut self, v: &Staged<'_, T>) -> Result<Outline, Error> {
        (**self).stage(v)
    }

    #[allow(unsafe_code, reason = "a contract")]
    unsafe fn stage_lent(
        &mut self,
        v: &Operand<'_, T>,
        weights: Weights<'_, T::Part>,
    ) -> Result<Outline, Error> {
        // SAFETY: the caller guarantees V.
        unsafe { (**self).stage_lent(v, weights) }
    }

    fn withdraw(&mut self) {
        (**self).withdraw();
    }

    fn sweep(&mut self, outline: &Outline, columns: Range<usize>, target: Target) -> Result<(), Stop> {
        (**self).sweep(outline, columns, target)
    }

    fn wait(&mut self) -> Result<Modification, Stop> {
        (**self).wait()
    }

    fn commit(&mut self, start: usize) {
        (**self).commit(start);
    }
}

impl<T: Element> Storage<T> for AnyStorage<T> {
    fn capacity(&self) -> usize {
        (**self).capacity()
    }

    fn read(&self, to: MatMut<'_, T>) -> Result<(), Error> {
        (**self).read(to)
    }

    fn apply(&self, op: Op<'_>, rhs: OperandMut<'_, T>) -> Result<(), Error> {
        (**self).apply(op, rhs)
    }

    fn wait_and_solve(
        &mut self,
        sides: &[Side],
        rhs: &mut OperandMut<'_, T>,
    ) -> (Result<Modification, Stop>, Solved) {
        (**self).wait_and_solve(sides, rhs)
    }

    fn carried(&mut self, rows: (MatRef<'_, T>, &[T::Part]), start: usize, z: MatMut<'_, T>) -> Vec<f64> {
        (**self).carried(rows, start, z)
    }

    fn edit(&mut self, edit: Edit<'_, T>) -> Result<(), Stop> {
        (**self).edit(edit)
    }

    fn rearrange_and_sweep(
        &mut self,
        rearrangement: &Rearrangement,
        outline: &Outline,
        columns: Range<usize>,
    ) -> Result<Option<Modification>, Stop> {
        (**self).rearrange_and_sweep(rearrangement, outline, columns)
    }

    fn border_there(
        &mut self,
        at: usize,
        parts: &Parts<'_, T>,
        skipped: usize,
    ) -> Result<Option<BorderThere<T>>, Error> {
        (**self).border_there(at, parts, skipped)
    }

    fn border_below(&self) -> Result<Option<Mat<T>>, Error> {
        (**self).border_below()
    }
}
