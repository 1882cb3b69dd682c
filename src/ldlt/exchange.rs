//! Rows and columns that go and come in one step: the new leading minors of A are those of the result alone.
//!
//! Rows in the order of the new A: n₁ rows before the new ones, the new ones, and the rest. What the removed columns of L leave is a V
//! for the sweep; over the first n₁ columns it is carried to the rest, where the new columns of L join it with the opposite sign.

use super::border::Border;
use super::report::{LdltModification, sign};
use super::state::Indefinite;
use super::systems::change_signs;
use crate::element::Element;
use crate::error::Error;
use crate::host::threads::where_it_pays;
use crate::structure::{Rearrangement, Run, shifts};
use crate::sweep::weights::Weights;
use cholupdate_kernels::number::Float;
use core::ops::Range;
use faer::{Accum, Conj, Mat, MatRef};

/// Rows that keep their order: those of an old A (n × n) without the removed ones, with `came` new rows at `at`.
fn kept(order: usize, removed: &[usize], at: usize, came: usize) -> Vec<Run> {
    let mut without = Rearrangement::default();
    let runs = without.without(removed, order).rows.iter().flat_map(|&Run { from, to, len }| {
        let before = at.saturating_sub(to).min(len);
        let behind = Run { from: from + before, to: to + before + came, len: len - before };
        [Run { from, to, len: before }, behind]
    });
    runs.filter(|run| run.len > 0).collect()
}

impl<T: Element> Indefinite<T> {
    /// Removes these rows, in ascending order, and puts the columns of A at row `at` of what is left; `argument` is their name. What was
    /// expected of the sign of the row `moved` is expected of the new one. ((n + r) × r, of the new A)
    ///
    /// # Errors
    /// `Overflow`, naming the argument; `Singular` or `Unstable` with a column of the new L, `Inertia`, `Sign`.
    pub(super) fn exchange(
        &mut self,
        removed: &[usize],
        (at, columns, moved): (usize, MatRef<'_, T>, Option<usize>),
        argument: &'static str,
    ) -> Result<LdltModification, Error> {
        if removed.is_empty() && columns.ncols() == 0 {
            return Ok(self.unchanged());
        }
        if let Some(made) = self.exchange_by(removed, (at, columns, moved), (argument, true))? {
            return Ok(made);
        }
        let made = self.exchange_by(removed, (at, columns, moved), (argument, false))?;
        Ok(made.expect("block reflectors are for any V"))
    }

    /// The same; `None` if `by_runs` says that V may take the steps for columns of one sign, and a pivot changes its sign.
    fn exchange_by(
        &mut self,
        removed: &[usize],
        (at, columns, moved): (usize, MatRef<'_, T>, Option<usize>),
        name: (&'static str, bool),
    ) -> Result<Option<LdltModification>, Error> {
        let (old_order, came) = (self.order(), columns.ncols());
        let order = old_order - removed.len() + came;
        let runs = kept(old_order, removed, at, came);
        self.arrange(&runs, order, at..at + came);
        let (mut v, mut weights) = self.removed_columns(&runs, order, removed);
        let mut least = 1.0_f64;
        // What the removed columns change before the new ones.
        if removed.first().is_some_and(|&first| first < at) {
            let given = (v.as_ref(), Weights::Each(&weights));
            let Some((report, signs)) = self.sweep_next(0..at, given, name)? else { return Ok(None) };
            least = least.min(report.min_pivot_ratio);
            if let Some([plus, minus]) = signs {
                v = Mat::zeros(order, plus + minus);
                v.subrows_mut(at, order - at).copy_from(self.memory.residual(at..order, plus + minus));
                weights = (0..plus + minus).map(|r| sign(r >= plus)).collect();
            }
        }
        let behind = at + came;
        if came > 0 {
            v.subrows_mut(at, came).fill(T::ZERO);
            let (share, below) = self.put(at, columns)?;
            least = least.min(share);
            let old = v.ncols();
            v.resize_with(order, old + came, |_, _| T::ZERO);
            v.subcols_mut(old, came).subrows_mut(behind, order - behind).copy_from(below);
            let negative = &self.next.negative[at..behind];
            weights.extend(negative.iter().map(|&negative| sign::<T::Part>(!negative)));
        }
        let given = (v.as_ref(), Weights::Each(&weights));
        let Some((report, _)) = self.sweep_next(0..order, given, name)? else { return Ok(None) };
        least = least.min(report.min_pivot_ratio);
        let mut rows = vec![None; order];
        for run in runs {
            run.old_places().zip(run.new_places()).for_each(|(old, new)| rows[new] = Some(old));
        }
        if moved.is_some() {
            rows[at] = moved;
        }
        let expected = self.expected.rearranged(rows.into_iter());
        let log_abs_det = self.next.log_abs_det() - self.now.log_abs_det();
        self.accept(least, log_abs_det, Some(expected)).map(Some)
    }

    /// Copies L and S to their new places in the next factor; new rows and columns are zero.
    fn arrange(&mut self, runs: &[Run], order: usize, came: Range<usize>) {
        let Self { now, next, .. } = self;
        next.resize(order);
        for run in runs {
            for (column, to) in run.old_places().zip(run.new_places()) {
                next.negative[to] = now.negative[column];
                let (from, to) = (now.l.col_as_slice(column), next.l.col_as_slice_mut(to));
                if came.end > 0 {
                    to[came.clone()].fill(T::ZERO);
                }
                for part in runs.iter().filter_map(|run| run.old_from(column)) {
                    to[part.new_places()].copy_from_slice(&from[part.old_places()]);
                }
            }
        }
        for column in came {
            next.l.col_as_slice_mut(column).fill(T::ZERO);
        }
    }

    /// The removed columns of L in the new rows, and their signs. (n' × q, q)
    fn removed_columns(&self, runs: &[Run], order: usize, removed: &[usize]) -> (Mat<T>, Vec<T::Part>) {
        let mut v = Mat::zeros(order, removed.len());
        for (r, &column) in removed.iter().enumerate() {
            let (from, to) = (self.now.l.col_as_slice(column), v.col_as_slice_mut(r));
            for part in runs.iter().filter_map(|run| run.old_from(column)) {
                to[part.new_places()].copy_from_slice(&from[part.old_places()]);
            }
        }
        (v, removed.iter().map(|&column| sign(self.now.negative[column])).collect())
    }

    /// Writes the rows and columns of the next L for these columns of A, whose leading n₁ rows and columns are done. Returns the least
    /// share of a new pivot in (|L| |D| |Lᵀ|)_ii, and the rows below. (m × r)
    fn put(&mut self, at: usize, columns: MatRef<'_, T>) -> Result<(f64, Mat<T>), Error> {
        let (order, came, threads) = (columns.nrows(), columns.ncols(), self.threads);
        let next = &mut self.next;
        let border = {
            let before = (next.l.as_ref().submatrix(0, 0, at, at), &next.negative[..at]);
            Border::new(before, columns, order, threads)?
        };
        let par = where_it_pays(threads.par(), order * came * came);
        let mut rows = columns.subrows(at + came, order - at - came).to_owned();
        let l = next.l.as_ref().submatrix(at + came, 0, order - at - came, at);
        T::matmul(
            rows.as_mut(),
            Accum::Add,
            (l, Conj::No),
            border.y.as_ref(),
            -T::ONE,
            where_it_pays(par, order * at * came),
        );
        // X S Cᴴ = Y is C̄ (X S)ᵀ = Yᵀ.
        T::solve_lower((border.corner.as_ref(), Conj::Yes), rows.as_mut().transpose_mut(), par);
        change_signs(&border.negative, rows.as_mut().transpose_mut());
        let share = |j: usize| border.corner[(j, j)].square_to_f64() / border.square(j);
        let least = (0..came).map(share).fold(1.0, f64::min);
        next.negative[at..at + came].copy_from_slice(&border.negative);
        next.l.submatrix_mut(at, 0, came, at).copy_from(border.signed.adjoint());
        next.l.submatrix_mut(at, at, came, came).copy_from(border.corner.as_ref());
        next.l.submatrix_mut(at + came, at, order - at - came, came).copy_from(rows.as_ref());
        Ok((least, rows))
    }

    /// Moves a row and column of A from the first index to the second.
    pub(super) fn moved(&mut self, (from, to): (usize, usize)) -> Result<LdltModification, Error> {
        if from == to {
            return Ok(self.unchanged());
        }
        // The column of A, in the new order.
        let order = self.order();
        let mut a = Mat::from_fn(order, 1, |i, _| if i == from { T::ONE } else { T::ZERO });
        self.multiply(a.as_mut());
        let mut new: Vec<T> = (0..order).filter(|&i| i != from).map(|i| a[(i, 0)]).collect();
        new.insert(to, a[(from, 0)]);
        let column = MatRef::from_column_major_slice(&new, order, 1);
        self.exchange(&[from], (to, column, Some(from)), "from")
    }

    /// The same for every row: row i of the new A is row `rows[i]` of the old one.
    pub(super) fn permuted(&mut self, rows: &[usize]) -> Result<LdltModification, Error> {
        /// An order between the first and the last whose growth exceeds both by more costs digits.
        const PERMITTED: f64 = 8.0;
        let shifts = shifts(rows);
        if shifts.is_empty() {
            return Ok(self.unchanged());
        }
        let before = self.clone();
        // Only the last order must be as expected.
        let expected = core::mem::take(&mut self.expected).rearranged(rows.iter().map(|&row| Some(row)));
        let (mut report, mut most) = (self.unchanged(), 1.0_f64);
        for shift in shifts {
            match self.moved(shift) {
                Ok(made) => (report, most) = (report.then(made), most.max(made.growth)),
                // Such an order may have no factor.
                Err(Error::Singular { .. } | Error::Unstable { .. }) => {
                    most = f64::INFINITY;
                    break;
                }
                Err(error) => {
                    *self = before;
                    return Err(error);
                }
            }
        }
        if most <= PERMITTED * report.growth.max(before.growth.growth) {
            return match expected.check(&self.now.negative) {
                Ok(()) => {
                    self.expected = expected;
                    Ok(report)
                }
                Err(error) => {
                    *self = before;
                    Err(error)
                }
            };
        }
        *self = before;
        self.factored_again(rows)
    }

    /// Forms A in the new order and factors it.
    fn factored_again(&mut self, rows: &[usize]) -> Result<LdltModification, Error> {
        let a = self.reconstruct();
        let new = Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(rows[i], rows[j])]);
        let made = Self::of_matrix(&(&new).into(), self.threads).map_err(|error| match error {
            Error::Overflow { .. } => error.with_argument("order"),
            error => error,
        })?;
        let ratio = |j: usize| {
            let ratio = made.now.l[(j, j)].real() / self.now.l[(rows[j], rows[j])].real();
            (ratio * ratio).to_f64()
        };
        let least = (0..a.nrows()).map(ratio).fold(1.0, f64::min);
        let log_abs_det = made.now.log_abs_det() - self.now.log_abs_det();
        self.next = made.now;
        let expected = self.expected.rearranged(rows.iter().map(|&row| Some(row)));
        self.accept(least, log_abs_det, Some(expected))
    }
}
