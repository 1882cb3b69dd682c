//! The reflections of a modification in twice the precision, column by column: [L V] → [L' V'].
//!
//! For each column of L, with pivot l and the row v of V, there is one reflector for the columns of V with a plus sign (σ = 1)
//! and one for those with a minus sign (σ = −1), as in docs/accuracy.md:
//!
//! ```text
//! α² = l² + σ v vᴴ
//! d_i = V_i vᴴ σ / α − σ v vᴴ / (α (l + α)) l_i          l_i ← l_i + d_i
//! V_i ← V_i − (2 l_i + d_i) / (l + α) v                  with the l_i of before
//! ```
//!
//! V and the current column of L are wide. L is read in its own precision, and an entry is rounded once, when it is written.

use super::double::Double;
use super::given::Given;
use super::number::{Complex, Vector, Wide};
use crate::host::interrupt::Asks;
use crate::report::Modification;
use crate::sweep::stop::Stop;
use cholupdate_kernels::compiled;
use cholupdate_kernels::health::Health;
use cholupdate_kernels::isa::Isa;
use cholupdate_kernels::number::{Float, Number};
use faer::{MatMut, MatRef};
use pulp::{Simd, WithSimd};

/// Rows that are processed together.
const ROWS: usize = 64;

/// Makes L the factor of scale² (L Lᴴ + V diag(w) Vᴴ) from column `start` on. V is zero before it, and L does not change there.
/// (n × n)
///
/// # Errors
/// At the first pivot² that is not greater than zero, or if the caller interrupts. L is then half changed.
pub(super) fn modify<T: RecurrenceKernel>(l: MatMut<'_, T>, given: &Given<T>) -> Result<Modification, Stop> {
    T::modify_again(Isa::detect(), Recurrence { l, given, asks: Asks::claim() })
}

compiled! {
    /// [`modify`].
    RecurrenceKernel of numbers {
        modify_again: Recurrence<'_, '_, Self> => Result<Modification, Stop>,
    }
}

pub(crate) struct Recurrence<'l, 'v, T: Number> {
    l: MatMut<'l, T>,
    given: &'v Given<T>,
    asks: Option<Asks>,
}

impl<T: Number> WithSimd for Recurrence<'_, '_, T> {
    type Output = Result<Modification, Stop>;

    /// Compiled for the instruction set, for its fused multiplications.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        match T::PARTS {
            1 => self.run::<Double>(),
            _ => self.run::<Complex>(),
        }
    }
}

impl<T: Number> Recurrence<'_, '_, T> {
    #[inline(always)]
    fn run<W: Wide>(self) -> Result<Modification, Stop> {
        let Self { mut l, given, asks } = self;
        let Given { v, weights, start, scale } = given;
        let (order, scale) = (l.nrows(), Double::new(*scale));
        let [plus, minus] = [1.0, -1.0].map(|sign| columns::<T, W>(v.as_ref(), weights, sign));
        let mut signs = [(1.0, plus), (-1.0, minus)];
        let (mut column, mut health) = (W::Vector::zeros(order), Health::default());
        let narrow = |x: W| T::of_parts(x.times(scale).rounded().map(T::Part::from_f64));
        for j in *start..order {
            if asks.as_ref().is_some_and(Asks::stop) {
                return Err(Stop::Interrupted);
            }
            let old = l[(j, j)].real();
            column.set(j, W::new([old.to_f64(), 0.0]));
            (j + 1..order).for_each(|i| column.set(i, widened(l[(i, j)])));
            for (sign, v) in &mut signs {
                reflect::<W>(*sign, v, &mut column, j).ok_or(Stop::Breakdown { column: j })?;
            }
            let new = T::Part::from_f64(column.get(j).real().hi);
            if !(new > T::Part::ZERO && narrow(column.get(j)).real() > T::Part::ZERO) {
                return Err(Stop::Breakdown { column: j });
            }
            health.record(&[old], &[new]);
            (j..order).for_each(|i| l[(i, j)] = narrow(column.get(i)));
        }
        Ok(Modification::of_sweep(&health, *start))
    }
}

#[inline(always)]
fn widened<T: Number, W: Wide>(x: T) -> W {
    let mut parts = [0.0; 2];
    parts.iter_mut().zip(T::parts(&[x])).for_each(|(to, part)| *to = part.to_f64());
    W::new(parts)
}

/// The columns of V diag(√|w|) with weights of this sign.
fn columns<T: Number, W: Wide>(v: MatRef<'_, T>, weights: &[T::Part], sign: f64) -> Vec<W::Vector> {
    let weights = weights.iter().map(|weight| weight.to_f64() * sign).enumerate();
    let of_sign = weights.filter(|&(_, weight)| weight > 0.0).map(|(r, weight)| {
        let (root, mut wide) = (Double::new(weight).sqrt(), W::Vector::zeros(v.nrows()));
        (0..v.nrows()).for_each(|i| wide.set(i, widened::<T, W>(v[(i, r)]).times(root)));
        wide
    });
    of_sign.collect()
}

/// Applies a reflector to a column of L, given from row `j` on, and to the columns of V of one sign. Returns `None` if the
/// pivot² is not greater than zero.
#[inline(always)]
fn reflect<W: Wide>(sign: f64, v: &mut [W::Vector], column: &mut W::Vector, j: usize) -> Option<()> {
    let row: Vec<W> = v.iter().map(|v| v.get(j)).collect();
    if row.iter().all(|a| a.rounded() == [0.0; 2]) {
        return Some(());
    }
    let (pivot, sign) = (column.get(j).real(), Double::new(sign));
    let square = sign * row.iter().fold(Double::ZERO, |sum, a| sum + a.square());
    let new_square = pivot * pivot + square;
    if !(new_square.hi > 0.0) {
        return None;
    }
    let new = new_square.sqrt();
    let both = pivot + new;
    let of_column = -square / new / both;
    let of_v = sign / new;
    let shares: Vec<W> = row.iter().map(|a| a.over(both)).collect();
    let rows = column.len();
    for first in (j + 1..rows).step_by(ROWS) {
        let mut memory = [W::ZERO; ROWS];
        let some = &mut memory[..ROWS.min(rows - first)];
        for (v, a) in v.iter_mut().zip(&row) {
            let a = a.conj();
            v.each(first, some, |v, sum| {
                *sum = *sum + v * a;
                v
            });
        }
        column.each(first, some, |l, sum| {
            let change = l.times(of_column) + sum.times(of_v);
            *sum = l + l + change;
            l + change
        });
        for (v, &share) in v.iter_mut().zip(&shares) {
            v.each(first, some, |v, both| v - *both * share);
        }
    }
    column.set(j, W::of_real(new));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::{Mat, c64};

    /// L, V and weights of both signs. The downdate leaves a good part of A.
    fn problem(n: usize) -> (Mat<c64>, Given<c64>) {
        let entry = |i: usize, j: usize| {
            c64::new((7 * i + 3 * j) as f64 % 11.0 - 5.0, (5 * i + 8 * j) as f64 % 13.0 - 6.0)
        };
        let l = Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
            core::cmp::Ordering::Less => c64::ZERO,
            core::cmp::Ordering::Equal => c64::new(30.0 + i as f64, 0.0),
            core::cmp::Ordering::Greater => entry(i, j),
        });
        let v = Mat::from_fn(n, 3, |i, r| entry(i + 2, 3 * r + 1));
        (l, Given { v, weights: vec![0.5, -0.25, 2.0], start: 0, scale: 1.0 })
    }

    fn modified(l: &Mat<c64>, given: &Given<c64>) -> Result<Mat<c64>, Stop> {
        let mut new = l.clone();
        let work = Recurrence { l: new.as_mut(), given, asks: None };
        Isa::detect().run(work).map(|_| new)
    }

    #[test]
    fn complex_columns_are_reflected() {
        for n in [1, 2, 9, 70] {
            let (l, given) = problem(n);
            let new = modified(&l, &given).unwrap();
            let weighted = Mat::from_fn(n, 3, |i, r| given.v[(i, r)].times(given.weights[r]));
            let a = &l * l.adjoint() + weighted * given.v.adjoint();
            let off = (&new * new.adjoint() - &a).norm_max() / a.norm_max();
            assert!(off < 1e-15, "n {n}: {off:e}");
            assert!((0..n).all(|j| new[(j, j)].re > 0.0 && new[(j, j)].im == 0.0));
        }
    }

    #[test]
    fn a_complex_downdate_and_its_update_are_inverse() {
        let (l, mut given) = problem(12);
        // ‖L⁻¹ v‖² is 1 − 1e-10, which working precision would not survive with as many digits.
        let mut x = Mat::from_fn(12, 1, |i, _| c64::new(i as f64 - 4.0, 3.0 - i as f64));
        let norm = x.norm_l2();
        x.col_mut(0).iter_mut().for_each(|x| *x = x.times((1.0 - 1e-10_f64).sqrt() / norm));
        (given.v, given.weights) = (&l * x, vec![-1.0]);
        let less = modified(&l, &given).unwrap();
        given.weights = vec![1.0];
        let back = modified(&less, &given).unwrap();
        assert!((back - &l).norm_max() < 1e-12 * l.norm_max());
        given.v.col_mut(0).iter_mut().for_each(|x| *x = x.times(1.0 + 1e-9));
        given.weights = vec![-1.0];
        assert!(matches!(modified(&l, &given), Err(Stop::Breakdown { .. })));
    }
}
