//! Compares a block processed at once with the same block column by column, under every instruction set.

use cholupdate_kernels::isa::Isa;
use cholupdate_kernels::number::{Float, Number};
use cholupdate_kernels::sweep::apply::Tile;
use cholupdate_kernels::sweep::at_once::at_once;
use cholupdate_kernels::sweep::diagonal::diagonal;
use cholupdate_kernels::sweep::reflector::Reflector;
use cholupdate_kernels::sweep::shape::{MAX_LANES, NARROW, WIDE, wide};
use core::marker::PhantomData;
use faer::{c32, c64};
use pulp::{Simd, WithSimd};

const RANK: usize = 5;

/// A block with ones on the diagonal and entries of about `coupling` below it, and entries of V of about `v`.
struct Case<T> {
    coupling: f64,
    v: f64,
    minus: bool,
    scalar: PhantomData<T>,
}

/// The result for a block.
struct Found<T: Number> {
    made: bool,
    columns: usize,
    lanes: usize,
    /// By columns. (lanes × columns)
    block: Vec<T>,
    pivots: [T::Part; MAX_LANES],
    reflector: Vec<T>,
}

impl<T: Number> Case<T> {
    fn run<S: Simd, const C: usize>(&self, simd: S, one_by_one: bool) -> Found<T> {
        let lanes = T::lanes::<S>();
        let part = |x: f64, at: usize| T::Part::from_f64(x * (1.0 - 0.3 * (at % 7) as f64));
        let entry = |x: f64, i: usize, j: usize| {
            let at = 3 * i + 5 * j;
            T::of_parts([part(x, at), part(0.7 * x, at + 2)])
        };
        let mut block = vec![T::ZERO; lanes * C];
        for j in 0..C {
            for i in j..C {
                block[j * lanes + i] = if i == j { T::ONE } else { entry(self.coupling, i, j) };
            }
        }
        let mut v = vec![T::Part::ZERO; lanes * RANK * T::PARTS];
        for (at, parts) in v.chunks_exact_mut(lanes * T::PARTS).enumerate() {
            for i in 0..lanes {
                let entry = entry(self.v, i, at);
                (0..T::PARTS).for_each(|part| parts[part * lanes + i] = T::parts(&[entry])[part]);
            }
        }
        let mut memory = vec![T::ZERO; Reflector::<T>::len(RANK, lanes)];
        let mut pivots = [T::Part::ZERO; MAX_LANES];
        let stride = lanes as isize;
        // SAFETY: block, V and reflector are borrowed by this function alone, and have these sizes.
        let made = unsafe {
            let tile = Tile {
                src: block.as_ptr(),
                src_stride: stride,
                dst: block.as_mut_ptr(),
                dst_stride: stride,
                stream: false,
                ahead: 0,
                v: v.as_mut_ptr(),
                v_stride: lanes * T::PARTS,
            };
            let reflector = Reflector::at(memory.as_mut_ptr(), lanes, RANK);
            match one_by_one {
                true => diagonal(simd, C, tile, reflector, self.minus, &mut pivots).is_ok(),
                false => at_once::<T, S, C>(simd, tile, reflector, self.minus, &mut pivots),
            }
        };
        Found { made, columns: C, lanes, block, pivots, reflector: memory }
    }
}

impl<T: Number> WithSimd for &Case<T> {
    /// At once, and one by one.
    type Output = [Found<T>; 2];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [Found<T>; 2] {
        [false, true].map(|one_by_one| match wide::<S>() {
            true => self.run::<S, { WIDE.1 }>(simd, one_by_one),
            false => self.run::<S, { NARROW.1 }>(simd, one_by_one),
        })
    }
}

fn same<T: Number>(coupling: f64, v: f64, minus: bool) {
    for isa in Isa::all() {
        let [found, expected] = isa.run(&Case::<T> { coupling, v, minus, scalar: PhantomData });
        assert!(found.made && expected.made, "{isa:?}, {coupling}, {v}, {minus}");
        let Found { columns, lanes, .. } = found;
        let close = |what: &str, a: T, b: T| {
            let error = (a - b).abs().to_f64();
            let most = 40.0 * T::Part::UNIT.to_f64() * b.abs().max(T::Part::ONE).to_f64();
            assert!(error <= most, "{what}: {a:?} for {b:?}, {isa:?}, {coupling}, {v}, {minus}");
        };
        for j in 0..columns {
            close("pivot", T::of_real(found.pivots[j]), T::of_real(expected.pivots[j]));
            for i in j..columns {
                close("D", found.block[j * lanes + i], expected.block[j * lanes + i]);
            }
            for row in (0..2 * RANK).chain([2 * RANK + lanes, 2 * RANK + lanes + 1]) {
                let at = row * lanes + j;
                close("B, S B, s, x", found.reflector[at], expected.reflector[at]);
            }
            for i in 0..j {
                let at = (2 * RANK + j) * lanes + i;
                close("tau", found.reflector[at], expected.reflector[at]);
            }
        }
    }
}

#[test]
fn the_reflector_is_that_of_column_by_column() {
    for (coupling, v) in [(0.0, 0.1), (0.2, 1e-9), (0.2, 0.05), (-0.3, 0.15)] {
        for minus in [false, true] {
            same::<f64>(coupling, v, minus);
            same::<f32>(coupling, v, minus);
            same::<c64>(coupling, v, minus);
            same::<c32>(coupling, v, minus);
        }
    }
}

fn declined<T: Number>(coupling: f64, v: f64, minus: bool) {
    for isa in Isa::all() {
        let case = Case::<T> { coupling, v, minus, scalar: PhantomData };
        let untouched = isa.run(&Case::<T> { v: 0.0, ..case });
        let [found, _] = isa.run(&case);
        assert!(!found.made, "{isa:?}, {coupling}, {v}, {minus}");
        if coupling.is_finite() {
            assert_eq!(found.block, untouched[1].block, "{isa:?}, {coupling}, {v}, {minus}");
        }
    }
}

#[test]
fn what_is_badly_conditioned_or_breaks_down_is_left_alone() {
    for (coupling, v, minus) in [
        (3.0, 0.1, false),
        (3.0, 0.1, true),
        (0.1, 1.5, false),
        (0.1, 0.7, true),
        (0.1, 1.5, true),
        (0.1, 1e200, false),
        (0.1, f64::NAN, false),
        (0.1, f64::NAN, true),
        (f64::NAN, 0.1, false),
    ] {
        declined::<f64>(coupling, v, minus);
        declined::<f32>(coupling, v, minus);
        declined::<c64>(coupling, v, minus);
        declined::<c32>(coupling, v, minus);
    }
}
