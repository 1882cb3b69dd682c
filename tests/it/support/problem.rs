//! Factors and modifications with known properties, from a seed.

use super::exact::exact_factor;
use super::real::Real;
use cholupdate::faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use cholupdate::faer::{Mat, Par, Scale, Side, fx128};
use cholupdate::{Cholesky, Engine, Error, Modification};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// The direction of a rank-1 downdate: nearly along the first or the last column of L, or anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    First,
    Last,
    Any,
}

impl Direction {
    pub const ALL: [Self; 3] = [Self::First, Self::Last, Self::Any];
}

/// A problem: L Lᵀ + V diag(w) Vᵀ.
#[derive(Clone)]
pub struct Problem<T> {
    pub l: Mat<T>,
    pub v: Mat<T>,
    pub weights: Vec<T>,
}

/// Signs of a modification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Up,
    Down,
    /// Plus and minus alternately.
    Mixed,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Up, Self::Down, Self::Mixed];

    /// Weights of ±1.
    pub fn weights<T: Real>(self, k: usize) -> Vec<T> {
        let minus = |r: usize| match self {
            Self::Up => false,
            Self::Down => true,
            Self::Mixed => r % 2 == 1,
        };
        (0..k).map(|r| T::of(if minus(r) { -1.0 } else { 1.0 })).collect()
    }
}

pub fn rng(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

/// Entries in (−1, 1). (rows × cols)
pub fn uniform(rows: usize, cols: usize, rng: &mut StdRng) -> Mat<f64> {
    Mat::from_fn(rows, cols, |_, _| rng.random_range(-1.0..1.0))
}

/// A well-conditioned lower triangular factor: rows of norm about 1. (n × n)
pub fn factor(n: usize, rng: &mut StdRng) -> Mat<f64> {
    let scale = 0.5 / (n.max(1) as f64).sqrt();
    Mat::from_fn(n, n, |i, j| match i {
        _ if i > j => scale * rng.random_range(-1.0..1.0),
        _ if i == j => rng.random_range(0.5..1.5),
        _ => 0.0,
    })
}

/// P (n × k) with 1 − ‖P‖₂² = `gap`, its other singular values between 0.1 and 0.7.
pub fn contraction(n: usize, k: usize, gap: f64, rng: &mut StdRng) -> Mat<f64> {
    let rank = n.min(k);
    let orthonormal = |rows: usize, rng: &mut StdRng| {
        uniform(rows, rank, rng).qr().compute_thin_Q() // (rows, rank)
    };
    let (left, right) = (orthonormal(n, rng), orthonormal(k, rng));
    let sigma: Vec<f64> =
        (0..rank).map(|r| if r == 0 { (1.0 - gap).sqrt() } else { rng.random_range(0.1..0.7) }).collect();
    let scaled = Mat::from_fn(n, rank, |i, r| left[(i, r)] * sigma[r]);
    scaled * right.transpose()
}

impl<T: Real> Problem<T> {
    pub fn new(l: &Mat<f64>, v: &Mat<f64>, weights: &[f64]) -> Self {
        let narrow = |a: &Mat<f64>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| T::of(a[(i, j)]));
        Self { l: narrow(l), v: narrow(v), weights: weights.iter().map(|&w| T::of(w)).collect() }
    }

    /// A modification of the given signs that cannot break down: its minus columns are a downdate with
    /// 1 − ‖P‖² = `gap` on their own.
    pub fn feasible(n: usize, k: usize, kind: Kind, gap: f64, seed: u64) -> Self {
        let mut rng = rng(seed);
        let l = factor(n, &mut rng);
        let weights = kind.weights::<f64>(k);
        let minus: Vec<usize> = (0..k).filter(|&r| weights[r] < 0.0).collect();
        let mut p = uniform(n, k, &mut rng);
        let contraction = contraction(n, minus.len(), gap, &mut rng);
        for (c, &r) in minus.iter().enumerate() {
            p.col_mut(r).copy_from(contraction.col(c));
        }
        Self::new(&l, &(&l * p), &weights)
    }

    /// Minus columns that nearly cancel plus columns, so that plus and minus alone are far larger than L: column 2 c + 1
    /// differs from column 2 c by L q with 2 ‖L⁻¹v‖ ‖q‖ < 1, so that the outcome is positive definite. About half of the pivots
    /// of L are scaled by `pivot`. (k = 2 pairs)
    pub fn cancelling(n: usize, pairs: usize, pivot: f64, seed: u64) -> Self {
        let mut rng = rng(seed);
        let mut l = factor(n, &mut rng);
        for j in 0..n {
            if rng.random_bool(0.5) {
                l.col_mut(j).iter_mut().for_each(|x| *x *= pivot);
            }
        }
        let plus = uniform(n, pairs, &mut rng);
        let mut p = plus.clone();
        solve_lower_triangular_in_place(l.as_ref(), p.as_mut(), Par::Seq);
        let mut q = uniform(n, pairs, &mut rng);
        for c in 0..pairs {
            let length = 0.2 / (pairs as f64 * p.col(c).norm_l2().max(1.0) * q.col(c).norm_l2());
            q.col_mut(c).iter_mut().for_each(|x| *x *= length);
        }
        let minus = &plus + &l * q;
        let v =
            Mat::from_fn(n, 2 * pairs, |i, r| if r % 2 == 0 { plus[(i, r / 2)] } else { minus[(i, r / 2)] });
        Self::new(&l, &v, &Kind::Mixed.weights::<f64>(2 * pairs))
    }

    /// A downdate of rank one that leaves `left` of its direction: v = L p with ‖p‖² = 1 − `left`.
    pub fn exhausting(n: usize, left: f64, direction: Direction, seed: u64) -> Self {
        let mut rng = rng(seed);
        let l = factor(n, &mut rng);
        let mut p = uniform(n, 1, &mut rng);
        let main = match direction {
            Direction::First => Some(0),
            Direction::Last => Some(n - 1),
            Direction::Any => None,
        };
        if let Some(main) = main {
            let aside = 0.5 * left.sqrt() / p.norm_l2();
            p.col_mut(0).iter_mut().for_each(|x| *x *= aside);
            p[(main, 0)] = 1.0;
        }
        let length = (1.0 - left).sqrt() / p.norm_l2();
        p.col_mut(0).iter_mut().for_each(|x| *x *= length);
        Self::new(&l, &(&l * p), &[-1.0])
    }

    /// A downdate by k nearly parallel columns V = (L p) qᵀ + .., whose lengths fall by `ratio` from one to the next: each
    /// column leaves `ratio` of what the previous ones have left, all of them together ratio^k.
    pub fn parallel(n: usize, k: usize, ratio: f64, seed: u64) -> Self {
        let mut rng = rng(seed);
        let l = factor(n, &mut rng);
        let first = n.min(64);
        // 1 − ‖q‖² = ratio^k, the remainder of the direction.
        let q: Vec<f64> = (0..k).map(|j| (ratio.powi(j as i32) * (1.0 - ratio)).sqrt()).collect();
        let left = ratio.powi(k as i32).sqrt();
        let p = |j: usize| if j.is_multiple_of(3) { -1.0 } else { 1.0 } / (first as f64).sqrt();
        let v = Mat::from_fn(n, k, |i, r| {
            let along: f64 = (0..first.min(i + 1)).map(|j| l[(i, j)] * p(j)).sum();
            let beside = if i < first { 0.0 } else { 0.3 * left * l[(i, i)] / (n as f64).sqrt() };
            (along + beside) * q[r]
        });
        Self::new(&l, &v, &vec![-1.0; k])
    }

    /// k − 1 plus columns and a minus column that leaves `left` of a direction of L Lᵀ + V₊ V₊ᵀ.
    pub fn at_the_edge(n: usize, k: usize, left: f64, seed: u64) -> Self {
        let mut rng = rng(seed);
        let l = factor(n, &mut rng);
        let plus = uniform(n, k - 1, &mut rng);
        let middle = (&l * l.transpose() + &plus * plus.transpose()).llt(Side::Lower).unwrap().L().to_owned();
        let p = uniform(n, 1, &mut rng);
        let minus = middle * &p * Scale((1.0 - left).sqrt() / p.norm_l2());
        let v = Mat::from_fn(n, k, |i, r| if r + 1 < k { plus[(i, r)] } else { minus[(i, 0)] });
        Self::new(&l, &v, &(0..k).map(|r| if r + 1 < k { 1.0 } else { -1.0 }).collect::<Vec<_>>())
    }

    /// 1 − vᵀ M⁻¹ v for the one minus column v and M = L Lᵀ + V₊ V₊ᵀ, to some thirty digits: the least eigenvalue of the
    /// outcome relative to M. `None` where M is not positive definite.
    pub fn margin(&self) -> Option<f64> {
        let (n, k) = self.v.shape();
        let minus = (0..k).find(|&r| self.weights[r] < T::ZERO)?;
        let mut plus = self.weights.clone();
        plus[minus] = T::ZERO;
        let middle = exact_factor(self.l.as_ref(), self.v.as_ref(), &plus)?;
        let mut p: Vec<fx128> = Vec::new();
        for i in 0..n {
            let known = middle[i].iter().zip(&p);
            let rest = known.fold(fx128::from(self.v[(i, minus)].f64()), |rest, (&l, &p)| rest - l * p);
            p.push(rest / middle[i][i]);
        }
        let left = p.iter().fold(fx128::from(1.0), |left, &p| left - p * p);
        Some(left.0)
    }

    /// V that outgrows some column of L, by up to ten to the sixth.
    pub fn outgrowing(n: usize, k: usize, kind: Kind, seed: u64) -> Self {
        let mut rng = rng(seed);
        let mut problem = Problem::<f64>::feasible(n, k, kind, 0.5, seed);
        let column = rng.random_range(0..n);
        let shrunk = 10f64.powf(rng.random_range(-6.0..0.0));
        // The minus columns are formed from those of L, so that what they remove shrinks as well.
        let p = |v: &Mat<f64>, l: &Mat<f64>| {
            let mut p = v.clone();
            solve_lower_triangular_in_place(l.as_ref(), p.as_mut(), Par::Seq);
            p
        };
        let p = p(&problem.v, &problem.l);
        problem.l.col_mut(column).iter_mut().for_each(|x| *x *= shrunk);
        let small = &problem.l * p;
        for r in (0..k).filter(|&r| problem.weights[r] < 0.0) {
            problem.v.col_mut(r).copy_from(small.col(r));
        }
        Self::new(&problem.l, &problem.v, &problem.weights)
    }

    /// The factor before.
    pub fn factor<E: Engine<T> + Clone>(&self, engine: &E) -> Cholesky<T, E> {
        Cholesky::from_factor_in(&self.l, engine.clone()).unwrap()
    }

    /// The factor after, and the report.
    pub fn modified<E: Engine<T> + Clone>(&self, engine: &E) -> Result<(Mat<T>, Modification), Error> {
        let mut factor = self.factor(engine);
        let report = factor.modify(&self.v, &self.weights)?;
        Ok((factor.to_factor().unwrap(), report))
    }

    /// Rows of L and V scaled by `grade(i)`: the same problem for D A D.
    pub fn graded(mut self, grade: impl Fn(usize) -> f64) -> Self {
        for i in 0..self.l.nrows() {
            let grade = T::of(grade(i));
            self.l.row_mut(i).iter_mut().for_each(|x| *x *= grade);
            self.v.row_mut(i).iter_mut().for_each(|x| *x *= grade);
        }
        self
    }

    /// V scaled as a whole.
    pub fn dominated(mut self, scale: f64) -> Self {
        let scale = T::of(scale);
        self.v.col_iter_mut().for_each(|column| column.iter_mut().for_each(|x| *x *= scale));
        self
    }
}

/// A modification that breaks down at `column` and not before.
///
/// Rows of P above `column` are small: all leading pivots² ratios are at least 3/4. In row `column` p S pᵀ = −4, and the ratio is at
/// most 1 + p S pᵀ = −3. Rows below are arbitrary.
pub fn breaking<T: Real>(n: usize, k: usize, column: usize, kind: Kind, seed: u64) -> Problem<T> {
    let mut rng = rng(seed);
    let l = factor(n, &mut rng);
    let weights = kind.weights::<f64>(k);
    let mut p = uniform(n, k, &mut rng);
    let above: f64 = (0..column).map(|i| (0..k).map(|r| p[(i, r)].powi(2)).sum::<f64>()).sum();
    for i in 0..column {
        p.row_mut(i).iter_mut().for_each(|x| *x *= 0.5 / above.sqrt());
    }
    let square = |sign: f64, p: &Mat<f64>| {
        (0..k).filter(|&r| weights[r] * sign > 0.0).map(|r| p[(column, r)].powi(2)).sum::<f64>()
    };
    let (plus, minus) = (square(1.0, &p), square(-1.0, &p));
    for r in (0..k).filter(|&r| weights[r] < 0.0) {
        p[(column, r)] *= ((plus + 4.0) / minus).sqrt();
    }
    Problem::new(&l, &(&l * p), &weights)
}
