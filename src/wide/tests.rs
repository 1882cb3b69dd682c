use super::certain::indefinite;
use super::{Given, Here, recurrence};
use cholupdate_kernels::number::Number;
use faer::{Mat, MatMut, c64};

/// Numbers in (−1, 1).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / 2.0_f64.powi(52) - 1.0
    }
}

/// L with entries of up to `most` below the diagonal, and V with 1 − ‖L⁻¹ V₋‖² of about `left`. Every other column has a plus
/// sign if `mixed`.
fn problem(n: usize, k: usize, (most, left): (f64, f64), mixed: bool, seed: u64) -> (Mat<f64>, Given<f64>) {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15 ^ (seed + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9));
    let l = Mat::from_fn(n, n, |i, j| match i == j {
        true => 1.0 + 0.5 * numbers.next(),
        false if i > j => most * numbers.next(),
        false => 0.0,
    });
    let mut p = Mat::from_fn(n, k, |_, _| 0.5 * numbers.next() / ((n * k) as f64).sqrt());
    let main = p.col(0).norm_l2();
    p.col_mut(0).iter_mut().for_each(|x| *x *= (1.0 - left).sqrt() / main);
    let weights: Vec<f64> = (0..k).map(|r| if mixed && r % 2 == 1 { 1.0 } else { -1.0 }).collect();
    let v = &l * p;
    (l, Given { v, weights, start: 0, scale: 1.0 })
}

fn completes(l: &Mat<f64>, given: &Given<f64>) -> bool {
    let n = l.nrows();
    let mut memory: Vec<f64> = (0..n * n).map(|at| l[(at % n, at / n)]).collect();
    recurrence::modify(MatMut::from_column_major_slice_mut(&mut memory, n, n), given).is_ok()
}

#[test]
fn what_is_refused_for_certain_is_indefinite() {
    let mut decided = [0, 0];
    for seed in 0..3000 {
        let (n, k) = ([2, 3, 5, 12][seed as usize % 4], [1, 2, 8][seed as usize % 3]);
        let most = [1.0, 30.0, 300.0][seed as usize / 7 % 3] / (n as f64).sqrt();
        let left = 10f64.powi(-(seed as i32 % 16)) * if seed % 2 == 0 { -1.0 } else { 1.0 };
        let (l, given) = problem(n, k, (most, left), seed % 5 == 0, seed);
        let refused = indefinite(&Here(l.as_ref()), &given).unwrap();
        assert!(!(refused && completes(&l, &given)), "n = {n}, k = {k}, seed {seed}");
        decided[usize::from(refused)] += 1;
    }
    assert!(decided[0] > 500 && decided[1] > 500, "{decided:?}");
}

#[test]
fn ordinary_refusals_are_certain() {
    for seed in 0..300 {
        for (n, k) in [(1, 1), (3, 1), (20, 4), (70, 17)] {
            let (l, given) = problem(n, k, (1.0 / (n as f64).sqrt(), -0.05), seed % 3 == 0, seed);
            // A plus column adds little.
            assert!(!completes(&l, &given));
            assert!(indefinite(&Here(l.as_ref()), &given).unwrap(), "n = {n}, k = {k}, seed {seed}");
        }
    }
}

#[test]
fn columns_before_the_first_stay_and_the_others_are_scaled() {
    let (l, mut given) = problem(9, 3, (0.5, 0.3), true, 1);
    given.v.as_mut().subrows_mut(0, 4).fill(0.0);
    let after = |start: usize, scale: f64| {
        let given = Given { v: given.v.clone(), weights: given.weights.clone(), start, scale };
        let mut new: Vec<f64> = (0..81).map(|at| l[(at % 9, at / 9)]).collect();
        let report = recurrence::modify(MatMut::from_column_major_slice_mut(&mut new, 9, 9), &given).unwrap();
        (new, report)
    };
    let ((whole, report), (halved, of_halved)) = (after(0, 1.0), after(4, 0.5));
    assert_eq!(report, of_halved);
    for at in 0..81 {
        let (i, j) = (at % 9, at / 9);
        let old = if i < j { 0.0 } else { l[(i, j)] };
        assert_eq!(whole[at] == old, j < 4 || i < j);
        assert_eq!(halved[at], if j < 4 || i < j { old } else { 0.5 * whole[at] });
    }
}

/// L, and V with 1 − ‖L⁻¹ v‖² equal to `left` for its first column. Others have a plus sign and are small.
fn complex_problem(n: usize, k: usize, left: f64, seed: u64) -> (Mat<c64>, Given<c64>) {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15 ^ (seed + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9));
    let mut number = |size: f64| c64::new(size * numbers.next(), size * numbers.next());
    let l = Mat::from_fn(n, n, |i, j| match i == j {
        true => c64::of_real(1.0 + 0.5 * number(1.0).re),
        false if i > j => number(1.0 / (n as f64).sqrt()),
        false => c64::ZERO,
    });
    let mut p = Mat::from_fn(n, k, |_, r| number(if r == 0 { 1.0 } else { 1e-3 / (n as f64).sqrt() }));
    let main = p.col(0).norm_l2();
    p.col_mut(0).iter_mut().for_each(|x| *x = x.times((1.0 - left).sqrt() / main));
    let weights = (0..k).map(|r| if r == 0 { -1.0 } else { 1.0 }).collect();
    (l.clone(), Given { v: l * p, weights, start: 0, scale: 1.0 })
}

#[test]
fn complex_refusals_are_certain_where_the_matrix_is_clearly_indefinite_and_never_where_it_is_not() {
    for seed in 0..200 {
        for (n, k) in [(1, 1), (3, 2), (20, 1), (40, 3)] {
            let (l, given) = complex_problem(n, k, -0.05, seed);
            assert!(indefinite(&Here(l.as_ref()), &given).unwrap(), "n = {n}, k = {k}, seed {seed}");
            let left = 10f64.powi(-(seed as i32 % 12));
            let (l, given) = complex_problem(n, k, left, seed);
            assert!(!indefinite(&Here(l.as_ref()), &given).unwrap(), "n = {n}, k = {k}, seed {seed}");
        }
    }
}
