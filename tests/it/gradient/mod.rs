//! Derivatives of what is done with a factor.

mod accuracy;
mod calls;
#[cfg(feature = "cuda")]
mod in_device_memory;
#[cfg(feature = "cuda")]
mod on_device;
mod others;
mod reference;

use crate::support::real::Real;
use cholupdate::faer::{Mat, MatRef};
use cholupdate::gradient::{Cotangents, Tangents};
use rand::Rng;
use rand::rngs::StdRng;

/// Tangents of L, V and w, with NaN above the diagonal.
struct Along<T> {
    l: Mat<T>,
    v: Mat<T>,
    weights: Vec<T>,
}

impl<T: Real> Along<T> {
    fn new(n: usize, k: usize, rng: &mut StdRng) -> Self {
        Self {
            l: triangle(n, rng),
            v: Mat::from_fn(n, k, |_, _| T::of(rng.random_range(-1.0..1.0))),
            weights: (0..k).map(|_| T::of(rng.random_range(-1.0..1.0))).collect(),
        }
    }

    fn tangents(&self) -> Tangents<'_, T> {
        Tangents { l: self.l.as_ref(), v: self.v.as_ref(), weights: Some(&self.weights) }
    }
}

/// A lower triangle, with NaN above it.
fn triangle<T: Real>(n: usize, rng: &mut StdRng) -> Mat<T> {
    Mat::from_fn(n, n, |i, j| T::of(if i < j { f64::NAN } else { rng.random_range(-1.0..1.0) }))
}

/// ⟨X, Y⟩ over the lower triangles, or over all entries, and the sum of the magnitudes of the terms.
fn inner<T: Real>(x: MatRef<'_, T>, y: MatRef<'_, T>, is_lower: bool) -> (f64, f64) {
    let rows = |j: usize| if is_lower { j } else { 0 }..x.nrows();
    let terms = (0..x.ncols()).flat_map(|j| rows(j).map(move |i| (i, j)));
    terms.map(|at| x[at].f64() * y[at].f64()).fold((0.0, 0.0), |(sum, all), x| (sum + x, all + x.abs()))
}

/// ⟨cotangents, tangents⟩, and the sum of the magnitudes of the terms.
fn dual<T: Real>(pulled: &Cotangents<T>, along: &Tangents<'_, T>) -> (f64, f64) {
    let l = inner(pulled.l.as_ref(), along.l, true);
    let v = inner(pulled.v.as_ref(), along.v, false);
    let weights = along.weights.unwrap_or_default().iter().zip(&pulled.weights);
    let w = weights
        .map(|(x, y)| x.f64() * y.f64())
        .fold((0.0, 0.0), |(sum, all): (f64, f64), x| (sum + x, all + x.abs()));
    (l.0 + v.0 + w.0, l.1 + v.1 + w.1)
}
