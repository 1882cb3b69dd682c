//! A factor on any engine, behind one interface.

use crate::engines::Built;
use crate::options::Settings;
use cholupdate::faer::Mat;
use cholupdate::{
    AsMatrix, AsMatrixMut, Carried, Cholesky, Engine, Error, Extension, Modification, Operand, OperandMut,
    RefactorPolicy, Scalar, Weights,
};

/// A matrix that is read, wherever it is.
pub struct Given<'a, T: Scalar>(pub Operand<'a, T>);

impl<T: Scalar> AsMatrix<T> for Given<'_, T> {
    fn as_matrix(&self) -> Operand<'_, T> {
        self.0.clone()
    }
}

/// What a solve solves.
#[derive(Clone, Copy)]
pub enum Sides {
    /// A X = B.
    Both,
    /// L Y = B.
    L,
    /// Lᵀ X = Y.
    Transpose,
}

/// L⁻¹ B, and the factor of what A does not explain of K: an extension without its base.
pub type Border<T> = (Mat<T>, Mat<T>);

pub type Changed<T> = Result<Modification<T>, Error>;

/// The verbs of [`Cholesky`], whatever its engine. What they do, take and refuse is said there.
pub trait Held<T: Scalar>: Send + Sync {
    fn order(&self) -> usize;
    fn modify(&mut self, v: &Given<'_, T>, weights: Weights<'_, T>) -> Changed<T>;
    fn modify_scaled(&mut self, decay: T, v: &Given<'_, T>, weights: Weights<'_, T>) -> Changed<T>;
    fn modify_carrying(
        &mut self,
        decay: T,
        v: &Given<'_, T>,
        weights: Weights<'_, T>,
        y: &Given<'_, T>,
        carried: &mut Carried<T>,
    ) -> Changed<T>;
    /// The outcome is that of the modification in flight, for `wait` or `wait_and_solve`.
    fn submit(&mut self, v: &Given<'_, T>, weights: Weights<'_, T>) -> Result<(), Error>;
    fn wait(&mut self) -> Changed<T>;
    fn wait_and_solve(&mut self, rhs: OperandMut<'_, T>) -> (Changed<T>, Result<(), Error>);
    fn can_downdate(&mut self, v: &Given<'_, T>) -> Result<bool, Error>;
    fn append(&mut self, cross: &Given<'_, T>, corner: &Given<'_, T>) -> Changed<T>;
    fn insert(&mut self, at: usize, columns: &Given<'_, T>) -> Changed<T>;
    fn remove(&mut self, indices: &[usize]) -> Changed<T>;
    fn replace(&mut self, at: usize, columns: &Given<'_, T>) -> Changed<T>;
    fn shift(&mut self, from: usize, to: usize) -> Changed<T>;
    fn permute(&mut self, order: &[usize]) -> Changed<T>;
    fn reserve(&mut self, additional: usize) -> Result<(), Error>;
    fn solve(&self, sides: Sides, rhs: OperandMut<'_, T>) -> Result<(), Error>;
    fn log_det(&self) -> Result<T, Error>;
    fn condition(&self) -> Result<T, Error>;
    fn error_estimate(&self) -> f64;
    fn needs_refactor(&self, policy: &RefactorPolicy) -> bool;
    fn to_factor(&self) -> Result<Mat<T>, Error>;
    fn carry(&self, b: &Given<'_, T>, sums: &[T]) -> Result<Carried<T>, Error>;
    fn extension(&self, cross: &Given<'_, T>, corner: &Given<'_, T>) -> Result<Border<T>, Error>;
    fn solve_extended(&self, border: &Border<T>, rhs: &Given<'_, T>) -> Result<Mat<T>, Error>;
    fn log_det_extended(&self, border: &Border<T>) -> Result<T, Error>;
    fn on_engine(&self, settings: &Settings) -> Result<Box<dyn Held<T>>, Error>;
}

impl<T: Scalar, E: Engine<T> + Send + Sync + 'static> Held<T> for Cholesky<T, E>
where
    Self: Send + Sync,
{
    fn order(&self) -> usize {
        self.order()
    }

    fn modify(&mut self, v: &Given<'_, T>, weights: Weights<'_, T>) -> Changed<T> {
        self.modify(v, weights)
    }

    fn modify_scaled(&mut self, decay: T, v: &Given<'_, T>, weights: Weights<'_, T>) -> Changed<T> {
        self.modify_scaled(decay, v, weights)
    }

    fn modify_carrying(
        &mut self,
        decay: T,
        v: &Given<'_, T>,
        weights: Weights<'_, T>,
        y: &Given<'_, T>,
        carried: &mut Carried<T>,
    ) -> Changed<T> {
        self.modify_carrying(decay, v, weights, y, carried)
    }

    fn submit(&mut self, v: &Given<'_, T>, weights: Weights<'_, T>) -> Result<(), Error> {
        self.submit(v, weights).map(core::mem::forget)
    }

    fn wait(&mut self) -> Changed<T> {
        self.pending().wait()
    }

    fn wait_and_solve(&mut self, rhs: OperandMut<'_, T>) -> (Changed<T>, Result<(), Error>) {
        self.pending().solve_in_place(&mut Changing(rhs))
    }

    fn can_downdate(&mut self, v: &Given<'_, T>) -> Result<bool, Error> {
        self.can_downdate(v)
    }

    fn append(&mut self, cross: &Given<'_, T>, corner: &Given<'_, T>) -> Changed<T> {
        self.append(cross, corner)
    }

    fn insert(&mut self, at: usize, columns: &Given<'_, T>) -> Changed<T> {
        self.insert(at, columns)
    }

    fn remove(&mut self, indices: &[usize]) -> Changed<T> {
        self.remove(indices)
    }

    fn replace(&mut self, at: usize, columns: &Given<'_, T>) -> Changed<T> {
        self.replace(at, columns)
    }

    fn shift(&mut self, from: usize, to: usize) -> Changed<T> {
        self.shift(from, to)
    }

    fn permute(&mut self, order: &[usize]) -> Changed<T> {
        self.permute(order)
    }

    fn reserve(&mut self, additional: usize) -> Result<(), Error> {
        self.reserve(additional)
    }

    fn solve(&self, sides: Sides, rhs: OperandMut<'_, T>) -> Result<(), Error> {
        let mut rhs = Changing(rhs);
        match sides {
            Sides::Both => self.solve_in_place(&mut rhs),
            Sides::L => self.solve_l_in_place(&mut rhs),
            Sides::Transpose => self.solve_lt_in_place(&mut rhs),
        }
    }

    fn log_det(&self) -> Result<T, Error> {
        self.log_det()
    }

    fn condition(&self) -> Result<T, Error> {
        self.condition()
    }

    fn error_estimate(&self) -> f64 {
        self.error_estimate()
    }

    fn needs_refactor(&self, policy: &RefactorPolicy) -> bool {
        self.needs_refactor(policy)
    }

    fn to_factor(&self) -> Result<Mat<T>, Error> {
        self.to_factor()
    }

    fn carry(&self, b: &Given<'_, T>, sums: &[T]) -> Result<Carried<T>, Error> {
        Carried::new(self, b, sums)
    }

    fn extension(&self, cross: &Given<'_, T>, corner: &Given<'_, T>) -> Result<Border<T>, Error> {
        Ok(self.extension(cross, corner)?.into_parts())
    }

    fn solve_extended(&self, (s, corner): &Border<T>, rhs: &Given<'_, T>) -> Result<Mat<T>, Error> {
        Extension::from_parts(self, s.clone(), corner.clone())?.solve(rhs)
    }

    fn log_det_extended(&self, (s, corner): &Border<T>) -> Result<T, Error> {
        Extension::from_parts(self, s.clone(), corner.clone())?.log_det()
    }

    fn on_engine(&self, settings: &Settings) -> Result<Box<dyn Held<T>>, Error> {
        Ok(match Built::new(settings)? {
            Built::Cpu(engine) => Box::new(self.to_engine(engine)?),
            Built::Hybrid(engine) => Box::new(self.to_engine(engine)?),
            Built::Resident(engine) => Box::new(self.to_engine(engine)?),
        })
    }
}

/// A matrix that is written, wherever it is.
struct Changing<'a, T: Scalar>(OperandMut<'a, T>);

impl<T: Scalar> AsMatrix<T> for Changing<'_, T> {
    fn as_matrix(&self) -> Operand<'_, T> {
        match &self.0 {
            OperandMut::Host(matrix) => Operand::Host(matrix.as_ref()),
            OperandMut::Device(matrix) => Operand::Device(matrix.as_view()),
            _ => unreachable!("a matrix is in host memory or in that of a GPU"),
        }
    }
}

impl<T: Scalar> AsMatrixMut<T> for Changing<'_, T> {
    fn as_matrix_mut(&mut self) -> OperandMut<'_, T> {
        match &mut self.0 {
            OperandMut::Host(matrix) => OperandMut::Host(matrix.as_mut()),
            OperandMut::Device(matrix) => OperandMut::Device(matrix.as_mut()),
            _ => unreachable!("a matrix is in host memory or in that of a GPU"),
        }
    }
}

/// What a factor is made from.
pub enum Origin<'a, T: Scalar> {
    /// A.
    Matrix(Given<'a, T>),
    /// L.
    Factor(Given<'a, T>),
    /// Zeros, so many rows of them.
    Nothing(usize),
}

/// A factor on an engine.
pub fn hold<T: Scalar>(from: &Origin<'_, T>, settings: &Settings) -> Result<Box<dyn Held<T>>, Error> {
    fn on<T: Scalar, E: Engine<T> + Send + Sync + 'static>(
        engine: E,
        from: &Origin<'_, T>,
    ) -> Result<Box<dyn Held<T>>, Error>
    where
        Cholesky<T, E>: Send + Sync,
    {
        Ok(Box::new(match from {
            Origin::Matrix(a) => Cholesky::new_in(a, engine)?,
            Origin::Factor(l) => Cholesky::from_factor_in(l, engine)?,
            Origin::Nothing(order) => Cholesky::zeros_in(*order, engine)?,
        }))
    }
    match Built::new(settings)? {
        Built::Cpu(engine) => on(engine, from),
        Built::Hybrid(engine) => on(engine, from),
        Built::Resident(engine) => on(engine, from),
    }
}
