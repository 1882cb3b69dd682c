//! The state of a C program's factor between calls, for every type of numbers.

use crate::number::Number;
use crate::status::Refused;
use cholupdate::faer::{Mat, c64};
use cholupdate::{Cholesky, EngineSpec, Error, Modification};
use core::sync::atomic::{AtomicU64, Ordering};

/// A factor on any engine for such numbers.
pub type Factor<T> = Cholesky<T, <T as Number>::Engine>;

/// L⁻¹ B, and the factor of the Schur complement K − Bᴴ A⁻¹ B: an extension without its base.
pub type Border<T> = (Mat<T>, Mat<T>);

pub type Changed = Result<Modification, Error>;

/// A factor of a C program.
pub struct Kept<T: Number> {
    held: Factor<T>,
    /// There is a pending object, which has exclusive use of this factor.
    in_flight: bool,
    /// The program has freed the factor, and only the pending object is left.
    freed: bool,
    /// A different number for every matrix that a factor has represented.
    matrix: u64,
}

// Threads of the program may read a factor at once, and give it to one another.
const fn goes_anywhere<T: Send + Sync>() {}
const _: () = goes_anywhere::<Kept<f64>>();
const _: () = goes_anywhere::<Kept<c64>>();

impl<T: Number> Kept<T> {
    pub fn new(held: Factor<T>) -> Self {
        Self { held, in_flight: false, freed: false, matrix: next() }
    }

    /// Copies the factor, on the same engine or on another.
    pub fn copied(&self, settings: Option<EngineSpec>) -> Result<Self, Refused> {
        let held = self.at_rest()?;
        let engine = settings.map_or_else(|| Ok(held.engine().clone()), |settings| T::engine(&settings))?;
        Ok(Self::new(held.to_engine(engine)?))
    }

    pub fn order(&self) -> usize {
        self.held.order()
    }

    /// The factor for reading, if no modification is in flight.
    pub fn at_rest(&self) -> Result<&Factor<T>, Refused> {
        self.landed().map(|()| &self.held)
    }

    /// The factor for calls that do not change the matrix, if no modification is in flight.
    pub fn at_rest_mut(&mut self) -> Result<&mut Factor<T>, Refused> {
        self.landed()?;
        Ok(&mut self.held)
    }

    /// Changes the matrix by `verb`.
    pub fn change(&mut self, verb: impl FnOnce(&mut Factor<T>) -> Changed) -> Result<Modification, Refused> {
        let report = verb(self.at_rest_mut()?)?;
        self.matrix = next();
        Ok(report)
    }

    /// Submits a modification by `verb`. A pending object waits for it.
    pub fn submit(&mut self, verb: impl FnOnce(&mut Factor<T>) -> Result<(), Error>) -> Result<(), Refused> {
        verb(self.at_rest_mut()?)?;
        self.in_flight = true;
        Ok(())
    }

    /// Waits for the modification by `wait`, which may do more work after it.
    pub fn land<R>(&mut self, wait: impl FnOnce(&mut Factor<T>) -> (Changed, R)) -> (Changed, R) {
        self.in_flight = false;
        let (changed, rest) = wait(&mut self.held);
        if changed.is_ok() {
            self.matrix = next();
        }
        (changed, rest)
    }

    /// Records that the program has freed the factor. Returns whether its memory can be freed now; otherwise the pending object
    /// frees it.
    pub fn is_over(&mut self) -> bool {
        self.freed = true;
        !self.in_flight
    }

    pub fn is_freed(&self) -> bool {
        self.freed
    }

    /// The number of the matrix that the factor represents.
    pub fn matrix(&self) -> u64 {
        self.matrix
    }

    fn landed(&self) -> Result<(), Refused> {
        if self.in_flight {
            return Err(Refused::not_so("`factor` has a modification in flight: wait for it first"));
        }
        Ok(())
    }
}

/// A number that no factor has had.
pub fn next() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
