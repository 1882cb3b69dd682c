//! Rows and columns that come, go and move.

use super::{Factor, turned, unchanged};
use crate::complex::problem::rng;
use crate::complex::scalar::Complex;
use crate::ldlt::Matrix;
use cholupdate::faer::{Mat, c32, c64};
use cholupdate::{Cpu, Error, Ldlt};
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

/// A pool of rows of a large matrix, some of which are in use, in some order.
#[derive(Clone)]
struct Model<T> {
    all: Mat<T>,
    rows: Vec<usize>,
    unused: Vec<usize>,
}

impl<T: Complex> Model<T> {
    fn new(matrix: Matrix, n: usize, random: &mut StdRng) -> Self {
        let mut rows: Vec<usize> = (0..n + 8).collect();
        rows.shuffle(random);
        let unused = rows.split_off(n);
        Self { all: turned(matrix, n + 8, random), rows, unused }
    }

    /// These rows and columns, with imaginary parts of NaN where both are the same, which no call reads.
    fn matrix(&self, rows: &[usize], columns: &[usize]) -> Mat<T> {
        Mat::from_fn(rows.len(), columns.len(), |i, j| {
            let entry = self.all[(rows[i], columns[j])].c64();
            T::from_c64(if rows[i] == columns[j] { c64::new(entry.re, f64::NAN) } else { entry })
        })
    }

    fn take(&mut self, random: &mut StdRng) -> Vec<usize> {
        let count = random.random_range(0..=self.unused.len().min(3));
        self.unused.drain(..count).collect()
    }

    /// Makes one change of `factor` and of the model. Returns how many modifications it consists of.
    fn change(&mut self, factor: &mut Ldlt<T>, random: &mut StdRng) -> Result<usize, Error> {
        let (n, before) = (self.rows.len(), self.rows.clone());
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
                return Ok(n.max(1));
            }
        }
        Ok(1)
    }
}

/// A random walk over all calls. Returns how many calls succeeded.
fn walk<T: Complex>(matrix: Matrix, n: usize, steps: usize, seed: u64) -> usize {
    let random = &mut rng(seed);
    let mut model = Model::<T>::new(matrix, n, random);
    let Ok(mut factor) = Ldlt::new_in(&model.matrix(&model.rows, &model.rows), Cpu::sequential()) else {
        return 0;
    };
    let mut done = 0;
    for step in 0..steps {
        let (old, before) = (Factor::of(&factor), model.clone());
        let what = format!("{matrix:?}, n {n}, seed {seed}, step {step}");
        match model.change(&mut factor, random) {
            Ok(steps) => {
                done += 1;
                let (new, a) = (Factor::of(&factor), old.product());
                assert!(new.is_factor(), "{what}");
                let product = new.product();
                let old_row = |i: usize| before.rows.iter().position(|&row| row == model.rows[i]);
                let size = |i: usize| new.absolute(i, i) + old_row(i).map_or(0.0, |i| old.absolute(i, i));
                for j in 0..product.ncols() {
                    for i in j..product.nrows() {
                        let wanted = match (old_row(i), old_row(j)) {
                            (Some(i), Some(j)) => a[(i, j)],
                            _ => model.all[(model.rows[i], model.rows[j])].c64(),
                        };
                        let error =
                            (product[(i, j)] - wanted).norm() / (size(i) * size(j)).sqrt() / T::ROUNDOFF;
                        let bound = 3.0 * (steps * (product.nrows() + 8)) as f64;
                        assert!(error <= bound, "{what}: {error:.0} u at ({i}, {j})");
                    }
                }
                assert_eq!(factor.inertia().0 + factor.inertia().1, model.rows.len());
            }
            Err(error) => {
                assert!(matches!(error, Error::Singular { .. } | Error::Unstable { .. }), "{what}: {error}");
                assert!(unchanged(&factor, &old), "{what}");
                model = before;
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
        assert_eq!(walk::<c64>(Matrix::QuasiDefinite(0.1), n, 12, seed), 12);
        walk::<c32>(Matrix::QuasiDefinite(0.1), n, 12, seed);
    }
}

#[test]
fn rows_of_other_matrices_come_go_and_move_or_are_refused() {
    let done: usize = (0..60).map(|seed| walk::<c64>(Matrix::Random, seed as usize % 30, 12, seed)).sum();
    assert!(done > 600, "{done}");
    for seed in 0..30 {
        walk::<c64>(Matrix::SaddlePoint, seed as usize, 12, seed);
        walk::<c32>(Matrix::Definite, seed as usize, 12, seed);
    }
}

#[test]
fn large_factors_change_their_rows() {
    for seed in 0..2 {
        walk::<c64>(Matrix::QuasiDefinite(0.1), 150, 6, seed);
    }
}

#[test]
fn permutations_whose_steps_are_singular_are_factored_again() {
    let random = &mut rng(9);
    let mut direct = 0;
    for _ in 0..40 {
        // As many constraints as variables: many leading minors of other orders vanish.
        let n = 6;
        let g = turned::<c64>(Matrix::Random, n, random);
        let a = Mat::from_fn(n, n, |i, j| if i >= 3 && j >= 3 { c64::default() } else { g[(i, j)] });
        let Ok(mut factor) = Ldlt::new(&a) else { continue };
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(random);
        let wanted = Mat::from_fn(n, n, |i, j| a[(order[i], order[j])]);
        if Ldlt::new(&wanted).is_ok_and(|factor| factor.growth() < 1e6) {
            factor.permute(&order).unwrap();
            direct += 1;
            assert!((Factor::of(&factor).product() - &wanted).norm_max() < 1e-8);
        }
    }
    assert!(direct > 0);
}
