//! The reflections of a modification in twice the precision, column by column: [L V] → [L' V'].
//!
//! For each column of L, with pivot l and the row v of V, there is one reflector for the columns of V with a plus sign (σ = 1)
//! and one for those with a minus sign (σ = −1), as in docs/accuracy.md:
//!
//! ```text
//! α² = l² + σ v vᵀ
//! d_i = V_i vᵀ σ / α − σ v vᵀ / (α (l + α)) l_i          l_i ← l_i + d_i
//! V_i ← V_i − (2 l_i + d_i) / (l + α) v                  with the l_i of before
//! ```
//!
//! V and the current column of L are wide. L is read in its own precision, and an entry is rounded once, when it is written.

use super::double::Double;
use super::given::Given;
use crate::compiled::compiled;
use crate::float::Float;
use crate::host::interrupt::Asks;
use crate::host::isa::Isa;
use crate::report::{Health, Modification};
use crate::sweep::stop::Stop;
use faer::MatMut;
use pulp::{Simd, WithSimd};

/// Rows that are processed together.
const ROWS: usize = 64;

/// A vector of wide numbers: their high parts and their low parts.
#[derive(Clone)]
struct Wide {
    hi: Vec<f64>,
    lo: Vec<f64>,
}

impl Wide {
    fn zeros(len: usize) -> Self {
        Self { hi: vec![0.0; len], lo: vec![0.0; len] }
    }

    #[inline(always)]
    fn get(&self, at: usize) -> Double {
        Double { hi: self.hi[at], lo: self.lo[at] }
    }

    #[inline(always)]
    fn set(&mut self, at: usize, x: Double) {
        (self.hi[at], self.lo[at]) = (x.hi, x.lo);
    }

    /// Changes a range of entries, each with the corresponding one of `others`.
    #[inline(always)]
    fn each(&mut self, first: usize, others: &mut [Double], change: impl Fn(Double, &mut Double) -> Double) {
        let (hi, lo) = (&mut self.hi[first..][..others.len()], &mut self.lo[first..][..others.len()]);
        for ((hi, lo), other) in hi.iter_mut().zip(lo).zip(others) {
            let new = change(Double { hi: *hi, lo: *lo }, other);
            (*hi, *lo) = (new.hi, new.lo);
        }
    }
}

/// Makes L the factor of scale² (L Lᵀ + V diag(w) Vᵀ) from column `start` on. V is zero before it, and L does not change there.
/// (n × n)
///
/// # Errors
/// At the first pivot² that is not greater than zero, or if the caller interrupts. L is then half changed.
pub(super) fn modify<T: RecurrenceKernel>(l: MatMut<'_, T>, given: &Given<T>) -> Result<Modification, Stop> {
    T::modify_again(Isa::detect(), Recurrence { l, given, asks: Asks::claim() })
}

compiled! {
    /// [`modify`].
    RecurrenceKernel {
        modify_again: Recurrence<'_, '_, Self> => Result<Modification, Stop>,
    }
}

pub(crate) struct Recurrence<'l, 'v, T> {
    l: MatMut<'l, T>,
    given: &'v Given<T>,
    asks: Option<Asks>,
}

impl<T: Float> WithSimd for Recurrence<'_, '_, T> {
    type Output = Result<Modification, Stop>;

    /// Compiled for the instruction set, for its fused multiplications.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let Self { mut l, given, asks } = self;
        let Given { v, weights, start, scale } = given;
        let (order, scale) = (l.nrows(), Double::new(*scale));
        let [plus, minus] = [1.0, -1.0].map(|sign| columns(v.as_ref(), weights, sign));
        let mut signs = [(1.0, plus), (-1.0, minus)];
        let (mut column, mut health) = (Wide::zeros(order), Health::default());
        let narrow = |x: Double| T::from_f64((x * scale).hi);
        for j in *start..order {
            if asks.as_ref().is_some_and(Asks::stop) {
                return Err(Stop::Interrupted);
            }
            let old = l[(j, j)];
            (j..order).for_each(|i| column.set(i, Double::new(l[(i, j)].to_f64())));
            for (sign, v) in &mut signs {
                reflect(*sign, v, &mut column, j).ok_or(Stop::Breakdown { column: j })?;
            }
            let new = T::from_f64(column.get(j).hi);
            if !(new > T::ZERO && narrow(column.get(j)) > T::ZERO) {
                return Err(Stop::Breakdown { column: j });
            }
            health.record(&[old], &[new]);
            (j..order).for_each(|i| l[(i, j)] = narrow(column.get(i)));
        }
        Ok(health.report(*start))
    }
}

/// The columns of V diag(√|w|) with weights of this sign.
fn columns<T: Float>(v: faer::MatRef<'_, T>, weights: &[T], sign: f64) -> Vec<Wide> {
    let weights = weights.iter().map(|weight| weight.to_f64() * sign).enumerate();
    let of_sign = weights.filter(|&(_, weight)| weight > 0.0).map(|(r, weight)| {
        let (root, mut wide) = (Double::new(weight).sqrt(), Wide::zeros(v.nrows()));
        (0..v.nrows()).for_each(|i| wide.set(i, Double::new(v[(i, r)].to_f64()) * root));
        wide
    });
    of_sign.collect()
}

/// Applies a reflector to a column of L, given from row `j` on, and to the columns of V of one sign. Returns `None` if the
/// pivot² is not greater than zero.
#[inline(always)]
fn reflect(sign: f64, v: &mut [Wide], column: &mut Wide, j: usize) -> Option<()> {
    let row: Vec<Double> = v.iter().map(|v| v.get(j)).collect();
    if row.iter().all(|a| a.hi == 0.0) {
        return Some(());
    }
    let (pivot, sign) = (column.get(j), Double::new(sign));
    let square = sign * row.iter().fold(Double::ZERO, |sum, &a| sum + a * a);
    let new_square = pivot * pivot + square;
    if !(new_square.hi > 0.0) {
        return None;
    }
    let new = new_square.sqrt();
    let both = pivot + new;
    let of_column = -square / new / both;
    let of_v = sign / new;
    let shares: Vec<Double> = row.iter().map(|&a| a / both).collect();
    let rows = column.hi.len();
    for first in (j + 1..rows).step_by(ROWS) {
        let mut memory = [Double::ZERO; ROWS];
        let some = &mut memory[..ROWS.min(rows - first)];
        for (v, &a) in v.iter_mut().zip(&row) {
            v.each(first, some, |v, sum| {
                *sum = *sum + v * a;
                v
            });
        }
        column.each(first, some, |l, sum| {
            let change = of_column * l + of_v * *sum;
            *sum = l + l + change;
            l + change
        });
        for (v, &share) in v.iter_mut().zip(&shares) {
            v.each(first, some, |v, both| v - *both * share);
        }
    }
    column.set(j, new);
    Some(())
}
