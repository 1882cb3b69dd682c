//! The CPU engine with modifications as in a batch: beside other matrices, in lanes. So that the suites of all engines hold for
//! batches too.

use super::problem::{factor, rng, uniform};
use super::real::Real;
use cholupdate::faer::{Mat, MatMut, MatRef, Par};
use cholupdate::unstable::*;
use cholupdate::{
    BatchRef, BatchWeights, CholeskyBatch, Cpu, Engine, Error, Modification, OperandMut, RealScalar, Weights,
};
use std::fmt;
use std::ops::Range;

/// What is larger is left to the sweep, which has tests of its own.
const MOST_ROWS: usize = 100;
const MOST_COLUMNS: usize = 70;

#[derive(Clone, Copy, Debug)]
pub struct Batched;

type Inner<T> = <Cpu as Engine<T>>::Factor;

/// The factor of a single matrix, and the batch in which it has been modified last, if nothing else has changed it since.
pub struct BatchedFactor<T: RealScalar>(Inner<T>, Option<CholeskyBatch<T>>);

impl Sealed for Batched {}

impl<T: RealScalar + Real> Engine<T> for Batched {
    type Factor = BatchedFactor<T>;

    fn adopt(&self, l: Mat<T>) -> Result<BatchedFactor<T>, Error> {
        Engine::<T>::adopt(&Cpu::sequential(), l).map(|inner| BatchedFactor(inner, None))
    }

    fn par(&self) -> Par {
        Par::Seq
    }
}

impl<T: RealScalar> fmt::Debug for BatchedFactor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BatchedFactor")
    }
}

impl<T: Real> BatchedFactor<T> {
    /// A batch in which this is the second of three matrices.
    fn batch(&self) -> Option<CholeskyBatch<T>> {
        let n = self.0.order();
        let mut own = Mat::zeros(n, n);
        self.0.read(own.as_mut()).ok()?;
        let beside = factor(n, &mut rng(n as u64));
        let mut l = Vec::new();
        for matrix in 0..3 {
            for i in 0..n {
                l.extend((0..n).map(|j| if matrix == 1 { own[(i, j)] } else { T::of(beside[(i, j)]) }));
            }
        }
        CholeskyBatch::from_factors(BatchRef::by_rows(&l, [3, n, n]).ok()?).ok()
    }

    /// The new factor and its report. The third matrix of the batch breaks down.
    fn in_a_batch(&mut self, v: MatRef<'_, T>, weights: &[T]) -> Option<(Mat<T>, Modification)> {
        let (n, k) = v.shape();
        let mut batch = self.1.take().or_else(|| self.batch())?;
        let other = uniform(n, k, &mut rng((n + 100 * k) as u64));
        let mut columns = Vec::new();
        let mut all_weights = Vec::new();
        for matrix in 0..3 {
            for i in 0..n {
                columns.extend((0..k).map(|r| if matrix == 1 { v[(i, r)] } else { T::of(other[(i, r)]) }));
            }
            let other = if matrix == 0 { 0.5 } else { -1e3 };
            all_weights.extend((0..k).map(|r| if matrix == 1 { weights[r] } else { T::of(other) }));
        }
        let columns = BatchRef::by_rows(&columns, [3, n, k]).ok()?;
        let report = batch.modify(columns, BatchWeights::OfEach(&all_weights)).ok()?.report(1).ok()?;
        let new = batch.factor(1).ok()?;
        self.1 = Some(batch);
        Some((new, report))
    }
}

impl<T: RealScalar + Real> Swept<T> for BatchedFactor<T> {
    fn traits(&self) -> Traits {
        self.0.traits()
    }

    fn order(&self) -> usize {
        self.0.order()
    }

    fn pivot(&self, column: usize) -> T {
        self.0.pivot(column)
    }

    fn row_norm(&self) -> Result<f64, Error> {
        self.0.row_norm()
    }

    fn reserve(&mut self, room: Room) -> Result<(), Error> {
        self.0.reserve(room)
    }

    fn modify_directly(&mut self, v: MatRef<'_, T>, weights: Weights<'_, T>) -> Option<Direct> {
        let (n, k) = v.shape();
        if n != self.order() || n == 0 || n > MOST_ROWS || k > MOST_COLUMNS {
            return None;
        }
        let each: Vec<T> = match weights {
            Weights::Plus => vec![T::ONE; k],
            Weights::Minus => vec![-T::ONE; k],
            Weights::Each(each) => each.to_vec(),
        };
        if each.len() != k {
            return None;
        }
        let (l, report) = self.in_a_batch(v, &each)?;
        let none = Mat::zeros(0, n);
        let border = Border {
            left: none.as_ref(),
            corner: l.as_ref(),
            below: none.as_ref(),
            least_ratio: T::ONE,
            log_det: 0.0,
        };
        self.0.edit(Edit::Write { at: 0, border: &border }).ok()?;
        let row = |i: usize| (0..k).map(|r| each[r].f64().max(0.0) * v[(i, r)].f64().powi(2)).sum::<f64>();
        Some(Direct { report, added: (0..n).map(row).fold(0.0, f64::max) })
    }

    fn stage(&mut self, v: &Staged<'_, T>) -> Result<Outline, Error> {
        self.1 = None;
        self.0.stage(v)
    }

    fn sweep(&mut self, outline: &Outline, columns: Range<usize>, target: Target) -> Result<(), Stop> {
        self.1 = None;
        self.0.sweep(outline, columns, target)
    }

    fn wait(&mut self) -> Result<Modification, Stop> {
        self.0.wait()
    }

    fn commit(&mut self, start: usize) {
        self.1 = None;
        self.0.commit(start);
    }
}

impl<T: RealScalar + Real> Storage<T> for BatchedFactor<T> {
    fn capacity(&self) -> usize {
        self.0.capacity()
    }

    fn read(&self, to: MatMut<'_, T>) -> Result<(), Error> {
        self.0.read(to)
    }

    fn apply(&self, op: Op<'_>, rhs: OperandMut<'_, T>) -> Result<(), Error> {
        self.0.apply(op, rhs)
    }

    fn carried(&mut self, y: (MatRef<'_, T>, &[T]), start: usize, z: MatMut<'_, T>) -> Vec<f64> {
        self.0.carried(y, start, z)
    }

    fn edit(&mut self, edit: Edit<'_, T>) -> Result<(), Stop> {
        self.1 = None;
        self.0.edit(edit)
    }

    fn rearrange_and_sweep(
        &mut self,
        rearrangement: &Rearrangement,
        outline: &Outline,
        columns: Range<usize>,
    ) -> Result<Option<Modification>, Stop> {
        self.1 = None;
        self.0.rearrange_and_sweep(rearrangement, outline, columns)
    }
}

impl<T: RealScalar + Real> Verbs<T> for BatchedFactor<T> {}
