//! Rows and columns that come, go and move.

use super::{Factor, Matrix, symmetric};
use crate::support::problem::rng;
use crate::support::real::Real;
use cholupdate::faer::Mat;
use cholupdate::{Cpu, Error, Ldlt};
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

/// A pool of rows of a large matrix, some of which are in use, in some order.
struct Model<T> {
    all: Mat<T>,
    rows: Vec<usize>,
    unused: Vec<usize>,
}

impl<T: Real> Model<T> {
    fn new(matrix: Matrix, n: usize, random: &mut StdRng) -> Self {
        let all = matrix.make(n + 8, random);
        let mut rows: Vec<usize> = (0..n + 8).collect();
        rows.shuffle(random);
        let unused = rows.split_off(n);
        Self { all, rows, unused }
    }

    fn matrix(&self, rows: &[usize], columns: &[usize]) -> Mat<T> {
        Mat::from_fn(rows.len(), columns.len(), |i, j| self.all[(rows[i], columns[j])])
    }

    fn take(&mut self, random: &mut StdRng) -> Vec<usize> {
        let count = random.random_range(0..=self.unused.len().min(3));
        self.unused.drain(..count).collect()
    }

    /// Makes one change of `factor` and of the model. Returns for each row the old one, if there was one, and how many
    /// modifications it consists of.
    fn change(
        &mut self,
        factor: &mut Ldlt<T>,
        random: &mut StdRng,
    ) -> Result<(Vec<Option<usize>>, usize), Error> {
        let n = self.rows.len();
        let old = |rows: &[usize], from: &[usize]| -> Vec<Option<usize>> {
            rows.iter().map(|row| from.iter().position(|old| old == row)).collect()
        };
        let before = self.rows.clone();
        let mut steps = 1;
        match random.random_range(0..6) {
            0 => {
                let new = self.take(random);
                let (cross, corner) = (self.matrix(&self.rows, &new), self.matrix(&new, &new));
                self.rows.extend(&new);
                factor.append(&cross, &corner)?;
            }
            1 => {
                let (new, at) = (self.take(random), random.random_range(0..=n));
                self.rows.splice(at..at, new.iter().copied());
                factor.insert(at, &self.matrix(&self.rows, &new))?;
            }
            2 => {
                let mut indices: Vec<usize> = (0..n).collect();
                indices.shuffle(random);
                indices.truncate(random.random_range(0..=n.min(4)));
                self.unused.extend(indices.iter().map(|&i| before[i]));
                self.rows = (0..n).filter(|i| !indices.contains(i)).map(|i| before[i]).collect();
                factor.remove(&indices)?;
            }
            3 => {
                let mut new = self.take(random);
                self.unused.extend(new.split_off(new.len().min(n)));
                let at = random.random_range(0..=n - new.len());
                self.unused.extend(self.rows.splice(at..at + new.len(), new.iter().copied()));
                factor.replace(at, &self.matrix(&self.rows, &new))?;
            }
            4 if n > 0 => {
                let (from, to) = (random.random_range(0..n), random.random_range(0..n));
                let row = self.rows.remove(from);
                self.rows.insert(to, row);
                factor.shift(from, to)?;
            }
            _ => {
                let mut order: Vec<usize> = (0..n).collect();
                order.shuffle(random);
                self.rows = order.iter().map(|&i| before[i]).collect();
                factor.permute(&order)?;
                steps = n.max(1);
            }
        }
        Ok((old(&self.rows, &before), steps))
    }
}

/// A random walk over all calls. Returns how many calls succeeded.
fn walk<T: Real>(matrix: Matrix, n: usize, steps: usize, seed: u64) -> usize {
    let random = &mut rng(seed);
    let mut model = Model::<T>::new(matrix, n, random);
    let a = model.matrix(&model.rows, &model.rows);
    let Ok(mut factor) = Ldlt::new_in(&a, Cpu::sequential()) else { return 0 };
    let mut done = 0;
    for step in 0..steps {
        let (old, a, rows, unused) =
            (Factor::of(&factor), Factor::of(&factor).product(), model.rows.clone(), model.unused.clone());
        let what = format!("{matrix:?}, n {n}, seed {seed}, step {step}");
        match model.change(&mut factor, random) {
            Ok((from, steps)) => {
                done += 1;
                let new = Factor::of(&factor);
                assert!(new.is_factor(), "{what}");
                let product = new.product();
                let size = |i: usize| new.absolute(i, i) + from[i].map_or(0.0, |i| old.absolute(i, i));
                for j in 0..product.ncols() {
                    for i in j..product.nrows() {
                        let wanted = match (from[i], from[j]) {
                            (Some(i), Some(j)) => a[(i, j)],
                            _ => model.all[(model.rows[i], model.rows[j])].f64(),
                        };
                        let error = (product[(i, j)] - wanted).abs() / (size(i) * size(j)).sqrt() / T::U;
                        let bound = 3.0 * (steps * (product.nrows() + 8)) as f64;
                        assert!(error <= bound, "{what}: {error:.0} u at ({i}, {j})");
                    }
                }
                assert_eq!(factor.inertia().0 + factor.inertia().1, model.rows.len());
            }
            Err(error) => {
                assert!(matches!(error, Error::Singular { .. } | Error::Unstable { .. }), "{what}: {error}");
                assert!(super::unchanged(&factor, &old), "{what}");
                (model.rows, model.unused) = (rows, unused);
            }
        }
    }
    done
}

#[test]
fn rows_of_quasi_definite_matrices_come_go_and_move() {
    for seed in 0..60 {
        let n = seed as usize % 30;
        // Every order of the rows has a factor.
        assert_eq!(walk::<f64>(Matrix::QuasiDefinite(0.1), n, 12, seed), 12);
        walk::<f32>(Matrix::QuasiDefinite(0.1), n, 12, seed);
    }
}

#[test]
fn rows_of_other_matrices_come_go_and_move_or_are_refused() {
    let done: usize = (0..60).map(|seed| walk::<f64>(Matrix::Random, seed as usize % 30, 12, seed)).sum();
    assert!(done > 600, "{done}");
    for seed in 0..30 {
        walk::<f64>(Matrix::SaddlePoint, seed as usize, 12, seed);
        walk::<f32>(Matrix::Definite, seed as usize, 12, seed);
    }
}

#[test]
fn large_factors_change_their_rows() {
    for seed in 0..2 {
        walk::<f64>(Matrix::QuasiDefinite(0.1), 150, 6, seed);
    }
}

#[test]
fn a_matrix_between_two_that_have_a_factor_need_not_have_one() {
    // (0 1; 1 0) has none; the last row makes the order 2, 0, 1 possible.
    let a = cholupdate::faer::mat![[1.0, 1.0, 0.0], [1.0, 1.0 + 1e-3, 1.0], [0.0, 1.0, 5.0]];
    let mut factor = Ldlt::new(&a).unwrap();
    // Row 1 replaced so that the leading minor of order 2 would vanish without the simultaneous change.
    let b = [2.0, 1.0, 3.0];
    factor.replace(1, &b).unwrap();
    let want = cholupdate::faer::mat![[1.0, 2.0, 0.0], [2.0, 1.0, 3.0], [0.0, 3.0, 5.0]];
    assert!((Factor::of(&factor).product() - want).norm_max() < 1e-12);
    assert_eq!(factor.inertia(), (2, 1));
}

#[test]
fn permutations_whose_steps_are_singular_are_factored_again() {
    let random = &mut rng(9);
    let mut fallbacks = 0;
    for _ in 0..40 {
        // Saddle points with as many constraints as variables: many leading minors of other orders vanish.
        let n = 6;
        let g = symmetric(n, random);
        let a = Mat::from_fn(n, n, |i, j| if i >= 3 && j >= 3 { 0.0 } else { g[(i, j)] });
        let Ok(mut factor) = Ldlt::new(&a) else { continue };
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(random);
        let wanted = Mat::from_fn(n, n, |i, j| a[(order[i], order[j])]);
        let direct = Ldlt::new(&wanted).is_ok_and(|factor| factor.growth() < 1e6);
        if direct {
            factor.permute(&order).unwrap();
            fallbacks += 1;
            assert!((Factor::of(&factor).product() - &wanted).norm_max() < 1e-8);
        }
    }
    assert!(fallbacks > 0);
}
