//! Hermitian matrices, their factors and what is left of a direction, to some thirty digits.

use super::scalar::{Complex, size, wide};
use crate::support::real::Real;
use cholupdate::faer::{Mat, MatRef, c64, cx128, fx128};

fn zero() -> cx128 {
    wide(c64::default())
}

/// A Hermitian matrix to some thirty digits: the lower triangle by rows.
#[derive(Clone)]
pub struct Hermitian(Vec<Vec<cx128>>);

impl Hermitian {
    /// X Xᴴ. (n × k)
    pub fn product(x: &Mat<c64>) -> Self {
        let mut a = Self((0..x.nrows()).map(|i| vec![zero(); i + 1]).collect());
        a.add(x, &vec![1.0; x.ncols()]);
        a
    }

    /// A ← A + X diag(w) Xᴴ.
    pub fn add<W: Real>(&mut self, x: &Mat<c64>, weights: &[W]) {
        for (column, weight) in x.col_iter().zip(weights) {
            let conjugate: Vec<cx128> = column.iter().map(|&x| wide(x.conj())).collect();
            let first = column.iter().take_while(|x| **x == c64::default()).count();
            for i in first..x.nrows() {
                let entry = conjugate[i].conj() * fx128::from(weight.f64());
                self.0[i][first..].iter_mut().zip(&conjugate[first..]).for_each(|(a, &x)| *a += entry * x);
            }
        }
    }

    /// A ← s A.
    pub fn scale_by(&mut self, s: f64) {
        self.0.iter_mut().flatten().for_each(|a| *a *= fx128::from(s));
    }

    /// The matrix with these rows and columns of this one; the entries of new rows and columns come from `new`.
    pub fn with_rows(&self, rows: &[Option<usize>], new: impl Fn(usize, usize) -> c64) -> Self {
        let entry = |i: usize, j: usize| match (rows[i], rows[j]) {
            (Some(a), Some(b)) if a >= b => self.0[a][b],
            (Some(a), Some(b)) => self.0[b][a].conj(),
            _ => wide(new(i, j)),
        };
        Self((0..rows.len()).map(|i| (0..=i).map(|j| entry(i, j)).collect()).collect())
    }

    pub fn order(&self) -> usize {
        self.0.len()
    }

    /// An entry, rounded.
    pub fn entry(&self, i: usize, j: usize) -> c64 {
        let x = self.0[i.max(j)][i.min(j)];
        let x = c64::new(x.re.0, x.im.0);
        if i < j { x.conj() } else { x }
    }

    /// Both triangles, rounded. (n × n)
    pub fn rounded(&self) -> Mat<c64> {
        Mat::from_fn(self.order(), self.order(), |i, j| self.entry(i, j))
    }

    /// max over i, j of |A − B|_ij / √(B_ii B_jj).
    pub fn largest_difference(&self, other: &Self) -> f64 {
        let scales: Vec<f64> = (0..other.order()).map(|i| other.entry(i, i).re.sqrt()).collect();
        self.difference(other, &scales)
    }

    /// max over i, j of |A − B|_ij / (s_i s_j).
    pub fn difference(&self, other: &Self, scales: &[f64]) -> f64 {
        assert_eq!(self.order(), other.order());
        let mut worst = 0.0_f64;
        for (i, (row, others)) in self.0.iter().zip(&other.0).enumerate() {
            for (j, (&x, &y)) in row.iter().zip(others).enumerate() {
                worst = worst.max(size(x - y) / (scales[i] * scales[j]));
            }
        }
        worst
    }

    /// The numbers of positive and negative pivots by elimination; `None` if one is less than this share of the terms of which it is the
    /// sum. `sizes` are those of the diagonal entries. (n)
    pub fn inertia(&self, share: f64, mut sizes: Vec<f64>) -> Option<(usize, usize)> {
        let (mut a, mut found) = (self.0.clone(), (0, 0));
        for j in 0..self.order() {
            let pivot = a[j][j].re;
            if pivot.0.abs() <= share * sizes[j] {
                return None;
            }
            if pivot.0 > 0.0 {
                found.0 += 1
            } else {
                found.1 += 1
            }
            for i in j + 1..self.order() {
                let factor = a[i][j].unscale(pivot);
                sizes[i] += size(factor * a[i][j].conj());
                for m in j + 1..=i {
                    let entry = a[m][j].conj();
                    a[i][m] -= factor * entry;
                }
            }
        }
        Some(found)
    }

    /// The Cholesky factor, by rows: entry (i, j), j ≤ i, at [i][j]. `None` where A is not positive definite.
    pub fn factor(&self) -> Option<Vec<Vec<cx128>>> {
        let mut rows: Vec<Vec<cx128>> = Vec::new();
        for i in 0..self.order() {
            let mut row: Vec<cx128> = Vec::new();
            for j in 0..=i {
                let known = if j < i { &rows[j][..] } else { &row[..] };
                let terms = row.iter().zip(&known[..j]);
                let rest = terms.fold(self.0[i][j], |rest, (&x, y)| rest - x * y.conj());
                if j < i {
                    row.push(rest.unscale(rows[j][j].re));
                } else if rest.re > fx128::from(0.0) {
                    row.push(cx128::new(rest.re.sqrt(), fx128::from(0.0)));
                } else {
                    return None;
                }
            }
            rows.push(row);
        }
        Some(rows)
    }
}

/// The least pivot of 1 − V₋ᴴ M⁻¹ V₋ for M = L Lᴴ + V₊ V₊ᴴ and weights of ±1: what is left of a direction, relative to M. `None`
/// where A' is not positive definite.
///
/// By elimination in (1 + P₊ᴴ P₊, P₊ᴴ P₋; P₋ᴴ P₊, P₋ᴴ P₋ − 1) with P = L⁻¹ V, which keeps its digits for any L.
pub fn margin<T: Complex>(l: MatRef<'_, T>, v: MatRef<'_, T>, weights: &[T::Re]) -> Option<f64> {
    assert!(weights.iter().all(|w| w.f64().abs() == 1.0));
    let of_sign = |sign: f64| (0..v.ncols()).filter(move |&r| weights[r].f64() == sign);
    let (order, plus): (Vec<usize>, _) = (of_sign(1.0).chain(of_sign(-1.0)).collect(), of_sign(1.0).count());
    let solved = |&r: &usize| {
        let mut p: Vec<cx128> = Vec::new();
        for i in 0..l.nrows() {
            let known = p.iter().enumerate();
            let rest = known.fold(wide(v[(i, r)].c64()), |rest, (j, &p)| rest - wide(l[(i, j)].c64()) * p);
            p.push(rest.unscale(fx128::from(l[(i, i)].c64().re)));
        }
        p
    };
    let p: Vec<Vec<cx128>> = order.iter().map(solved).collect();
    let k = p.len();
    let entry = |a: usize, b: usize| {
        let own = wide(c64::from(if a == b { weights[order[a]].f64() } else { 0.0 }));
        p[a].iter().zip(&p[b]).fold(own, |sum, (x, &y)| sum + x.conj() * y)
    };
    let mut h: Vec<Vec<cx128>> = (0..k).map(|a| (0..k).map(|b| entry(a, b)).collect()).collect();
    let mut least = 1.0_f64;
    for a in 0..k {
        let pivot = h[a][a].re;
        if a >= plus {
            if !(pivot < fx128::from(0.0)) {
                return None;
            }
            least = least.min(-pivot.0);
        }
        for b in a + 1..k {
            let share = h[b][a].unscale(pivot);
            for c in a + 1..k {
                let above = h[a][c];
                h[b][c] -= share * above;
            }
        }
    }
    Some(least)
}

/// The pivots of L Lᴴ + V Vᴴ, by rotations in thirty digits of one column of V after the other: they retain the digits of
/// pivots that are far smaller than V, which L Lᴴ + V Vᴴ itself lacks.
pub fn exact_update<T: Complex>(l: MatRef<'_, T>, v: MatRef<'_, T>) -> Vec<f64> {
    let n = l.nrows();
    let mut columns: Vec<Vec<cx128>> =
        (0..n).map(|j| (j..n).map(|i| wide(l[(i, j)].c64())).collect()).collect();
    for column in v.col_iter() {
        let mut x: Vec<cx128> = column.iter().map(|x| wide(x.c64())).collect();
        for (j, l) in columns.iter_mut().enumerate() {
            let (pivot, a) = (l[0].re, x[j]);
            let alpha = (pivot * pivot + a.re * a.re + a.im * a.im).sqrt();
            if alpha.0 == 0.0 {
                continue;
            }
            let (c, s) = (pivot / alpha, a.unscale(alpha));
            for (l, x) in l.iter_mut().zip(&mut x[j..]) {
                (*l, *x) = (l.scale(c) + s.conj() * *x, x.scale(c) - s * *l);
            }
        }
    }
    columns.iter().map(|column| column[0].re.0).collect()
}
