//! Modifications.

use super::*;
use crate::{Cholesky, Cpu, Error, Modification, Weights};
use faer::Mat;

fn modified<T: Number>(
    at: (usize, Settings),
    l: &Mat<T>,
    (v, w): (&Mat<T>, &[T]),
) -> (Result<Modification, Error>, Mat<T>) {
    let (v, w) = (v.clone(), w.to_vec());
    on_all(at, l, move |factor| {
        let rows = mine(&factor.cyclic(), &v);
        let dry = factor.dry_run(Rows::All(v.as_ref()), Weights::Each(&w));
        let outcome = factor.modify(Rows::Mine(rows.as_ref()), Weights::Each(&w));
        assert_eq!(dry, outcome);
        (outcome, whole(factor))
    })
}

fn reference<T: Number>(l: &Mat<T>, (v, w): (&Mat<T>, &[T])) -> (Result<Modification, Error>, Mat<T>) {
    let mut factor = Cholesky::<T>::from_factor_in(l, Cpu::sequential()).unwrap();
    let outcome = factor.modify(v, w);
    (outcome, factor.to_factor().unwrap())
}

fn weights<T: Number>(k: usize, signs: &str) -> Vec<T> {
    let sign = |r: usize| match signs {
        "+" => 1.0,
        "-" => -1.0,
        _ => [1.0, -0.25, 0.5][r % 3],
    };
    (0..k).map(|r| T::of(sign(r))).collect()
}

fn same_bits<T: Number>() {
    for (n, k) in
        [(0, 2), (1, 1), (5, 3), (100, 1), (100, 4), (130, 2), (300, 1), (333, 3), (520, 6), (700, 20)]
    {
        for signs in ["+", "-", "±"] {
            let (l, mut v) = (factor::<T>(n), matrix::<T>(n, k, 0.02 / (k as f64).sqrt()));
            // Leading zeros of V, to the middle of a block.
            for i in 0..if n > 300 && signs == "+" { 41 } else { 0 } {
                v.row_mut(i).fill(T::of(0.0));
            }
            let w = weights::<T>(k, signs);
            let expected = reference(&l, (&v, &w));
            expected.0.as_ref().unwrap();
            for (ranks, block, threads) in [(1, 64, 1), (2, 16, 1), (2, 48, 2), (3, 64, 1), (4, 256, 2)] {
                let found = modified((ranks, settings(block, threads)), &l, (&v, &w));
                assert_eq!(found.0, expected.0, "n {n}, k {k}, {signs}, {ranks} ranks, block {block}");
                assert!(found.1 == expected.1, "n {n}, k {k}, {signs}, {ranks} ranks, block {block}");
            }
        }
    }
}

#[test]
fn a_modification_has_the_bits_of_the_cpu_engine() {
    same_bits::<f64>();
}

#[test]
fn also_in_single_precision() {
    same_bits::<f32>();
}

#[test]
fn a_breakdown_leaves_every_process_as_it_was() {
    let n = 400;
    let l = factor::<f64>(n);
    for column in [0, 5, 70, 399] {
        for k in [1, 3, 9] {
            let mut v = matrix::<f64>(n, k, 1e-3);
            v.col_mut(0).fill(0.0);
            v[(column, 0)] = 40.0;
            let w = vec![-1.0; k];
            let expected = reference(&l, (&v, &w));
            assert!(matches!(expected.0, Err(Error::NotPositiveDefinite { .. })));
            for (ranks, block, threads) in [(1, 16, 1), (2, 64, 2), (3, 16, 1), (4, 48, 1)] {
                let found = modified((ranks, settings(block, threads)), &l, (&v, &w));
                assert_eq!(found.0, expected.0);
                assert!(found.1 == l, "L is as it was");
            }
        }
    }
}

#[test]
fn what_working_precision_cannot_decide_is_repeated() {
    // A' has an eigenvalue that is positive, but smaller than the rounding errors of A.
    let n = 90;
    let l = Mat::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 });
    let v = Mat::from_fn(n, 1, |i, _| if i == 3 || i == 60 { (0.5f64).sqrt() } else { 0.0 });
    let mut outcomes = Vec::new();
    for step in 0..40 {
        let w = [-(1.0 + (step as f64 - 20.0) * 1e-17 * 8.0)];
        let expected = reference(&l, (&v, &w));
        let found = modified((3, settings(16, 1)), &l, (&v, &w));
        assert_eq!(found.0, expected.0);
        assert!(found.1 == expected.1);
        outcomes.push(found.0.is_ok());
    }
    assert!(outcomes.contains(&true) && outcomes.contains(&false));
}
