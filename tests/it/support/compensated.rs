//! X Yᵀ as if in twice the precision of f64, by the compensated dot product of Ogita, Rump and Oishi (*Accurate sum and
//! dot product*, SIAM J. Sci. Comput. 26, 2005, Algorithm 5.3).
//!
//! Products are split by Dekker's method instead of fused, so that the loops vectorize on every machine.

use pulp::{Arch, NullaryFnOnce};

/// A column of f64 numbers, each also as the sum of two halves of 26 bits.
struct Split {
    whole: Vec<f64>,
    high: Vec<f64>,
    low: Vec<f64>,
}

impl Split {
    fn new(column: &[f64]) -> Self {
        let high: Vec<f64> = column.iter().map(|&x| split(x).0).collect();
        let low = column.iter().map(|&x| split(x).1).collect();
        Self { whole: column.to_vec(), high, low }
    }
}

/// x = high + low exactly, neither with more than 26 bits.
#[inline(always)]
fn split(x: f64) -> (f64, f64) {
    let t = 134_217_729.0 * x; // 2²⁷ + 1
    let high = t - (t - x);
    (high, x - high)
}

/// a + b = sum + error exactly.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// The sum as if in twice the precision.
pub fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (sum, error) = terms.fold((0.0, 0.0), |(sum, error), x| {
        let (sum, lost) = two_sum(sum, x);
        (sum, error + lost)
    });
    sum + error
}

/// a · b = product + error exactly.
pub fn two_product(a: f64, b: f64) -> (f64, f64) {
    let ((a1, a2), (b1, b2)) = (split(a), split(b));
    let product = a * b;
    (product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2)
}

/// Σ over pairs (x, y) of x yᵀ.
pub fn product_of_rows(pairs: &[(&[f64], &[f64])]) -> f64 {
    let (mut total, mut error) = (0.0, 0.0);
    for (x, y) in pairs {
        for (&x, &y) in x.iter().zip(*y) {
            let (product, lost) = two_product(x, y);
            let (sum, rest) = two_sum(total, product);
            total = sum;
            error += lost + rest;
        }
    }
    total + error
}

/// Σ over pairs (x, y) of columns of x yᵀ, lower triangle by columns: entry (i, j) at [j][i − j].
///
/// Leading zeros of the column pairs are skipped.
pub fn sum_of_products(order: usize, pairs: &[(Vec<f64>, Vec<f64>)]) -> Vec<Vec<f64>> {
    let pairs: Vec<(Split, &[f64], usize)> = pairs
        .iter()
        .map(|(x, y)| {
            let leading = x.iter().zip(y).take_while(|&(&x, &y)| x == 0.0 && y == 0.0).count();
            (Split::new(x), &y[..], leading)
        })
        .collect();
    let arch = Arch::new();
    (0..order)
        .map(|j| {
            let (mut sum, mut error) = (vec![0.0; order - j], vec![0.0; order - j]);
            for (x, y, _) in pairs.iter().filter(|pair| pair.2 <= j) {
                arch.dispatch(Accumulate { sum: &mut sum, error: &mut error, x, y: y[j], from: j });
            }
            sum.iter().zip(&error).map(|(s, e)| s + e).collect()
        })
        .collect()
}

/// sum + error ← sum + error + x[from..] · y.
struct Accumulate<'a> {
    sum: &'a mut [f64],
    error: &'a mut [f64],
    x: &'a Split,
    y: f64,
    from: usize,
}

/// Compiled for the widest vectors of the machine, because these loops take much of the suite's time.
impl NullaryFnOnce for Accumulate<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { sum, error, x, y, from } = self;
        let rows = sum.len();
        let (y1, y2) = split(y);
        let (whole, high, low) = (&x.whole[from..], &x.high[from..], &x.low[from..]);
        let (error, whole, high, low) = (&mut error[..rows], &whole[..rows], &high[..rows], &low[..rows]);
        for i in 0..rows {
            let product = whole[i] * y;
            let lost = ((high[i] * y1 - product) + high[i] * y2 + low[i] * y1) + low[i] * y2;
            let (s, e) = two_sum(sum[i], product);
            sum[i] = s;
            error[i] += e + lost;
        }
    }
}
