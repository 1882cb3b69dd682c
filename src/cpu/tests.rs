//! Tests of the sweep's internals: every instruction set, every schedule, and panels that are stored elsewhere.

use super::serial;
use super::staged::{SweepMemory, plan};
use super::workers::{Workers, cut};
use crate::Cpu;
use crate::element::Element;
use crate::host::layout::{lower, zeros};
use crate::host::threads::Threads;
use crate::sweep::outline::Outline;
use crate::sweep::weights::Weights;
use cholupdate_kernels::health::Health;
use cholupdate_kernels::isa::Isa;
use cholupdate_kernels::number::{Float, Number};
use cholupdate_kernels::panel::Panel;
use cholupdate_kernels::steps::Breakdown;
use cholupdate_kernels::sweep::entries::Entries;
use cholupdate_kernels::sweep::job::Job;
use faer::traits::ComplexField;
use faer::{Mat, MatRef, c32, c64};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

const SHAPES: [(usize, usize); 14] = [
    (1, 1),
    (3, 2),
    (8, 1),
    (17, 1),
    (17, 3),
    (64, 4),
    (65, 1),
    (100, 7),
    (130, 1),
    (131, 16),
    (200, 5),
    (150, 40),
    (270, 3),
    (300, 4),
];

/// A lower factor, V and weights of either sign for which A + V diag(w) Vᵀ is safely positive definite.
fn problem<T: Element>(n: usize, k: usize, seed: u64) -> (Mat<T>, Mat<T>, Vec<T::Part>) {
    let real = T::Part::from_f64;
    let mut rng = StdRng::seed_from_u64(seed);
    let mut entry = |scale: f64| entry::<T>(&mut rng, scale);
    let l = Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
        core::cmp::Ordering::Less => T::ZERO,
        core::cmp::Ordering::Equal => T::of_real(real(2.0) + entry(0.5).real()),
        core::cmp::Ordering::Greater => entry(1.0 / (n as f64).sqrt()),
    });
    let v = Mat::from_fn(n, k, |_, _| entry(0.5 / (n as f64 * k as f64).sqrt()));
    let weights = (0..k).map(|r| real(if r % 3 == 1 { -0.75 } else { 1.5 })).collect();
    (l, v, weights)
}

/// A number whose parts are at most of this size.
fn entry<T: Number>(rng: &mut StdRng, scale: f64) -> T {
    let mut part = || T::Part::from_f64(rng.random_range(-scale..scale));
    let re = part();
    T::of_parts([re, if T::PARTS == 2 { part() } else { re }])
}

fn wide<T: Number>(x: T) -> c64 {
    let parts = T::parts(core::slice::from_ref(&x));
    c64::new(parts[0].to_f64(), if T::PARTS == 2 { parts[1].to_f64() } else { 0.0 })
}

/// The definition: one hyperbolic Householder column after another, in double precision.
fn definition<T: Element>(l: MatRef<'_, T>, v: MatRef<'_, T>, weights: &[T::Part]) -> Mat<c64> {
    let mut l = Mat::from_fn(l.nrows(), l.ncols(), |i, j| wide(l[(i, j)]));
    let mut v = Mat::from_fn(v.nrows(), v.ncols(), |i, r| wide(v[(i, r)]));
    let (n, k) = (l.nrows(), v.ncols());
    for j in 0..n {
        let (pivot, row) = (l[(j, j)].re, v.row(j).to_owned());
        let dot = |x: &dyn Fn(usize) -> c64| {
            (0..k).map(|r| x(r) * row[r].conj() * weights[r].to_f64()).sum::<c64>()
        };
        let alpha = (pivot * pivot + dot(&|r| row[r]).re).sqrt();
        for i in j + 1..n {
            let old = l[(i, j)];
            let new = (old * pivot + dot(&|r| v[(i, r)])) / alpha;
            for r in 0..k {
                v[(i, r)] -= (old + new) / (pivot + alpha) * row[r];
            }
            l[(i, j)] = new;
        }
        l[(j, j)] = c64::new(alpha, 0.0);
    }
    l
}

pub(super) fn in_place<T: Element>(l: &mut Mat<T>) -> Entries<T> {
    let (dst, stride) = (l.as_ptr_mut(), l.col_stride());
    Entries { src: dst.cast_const(), src_stride: stride, dst, dst_stride: stride }
}

/// Stages V for a sweep under this instruction set.
pub(super) fn staged<T: Element>(
    isa: Isa,
    v: &Mat<T>,
    weights: Weights<'_, T::Part>,
) -> (SweepMemory<T>, Outline) {
    let mut memory = SweepMemory::default();
    let outline = memory.stage_for(isa, v.as_ref(), weights, Threads::Fixed(1)).unwrap();
    (memory, outline)
}

/// The columns that V changes.
fn columns<T: Element>(n: usize, outline: &Outline) -> core::ops::Range<usize> {
    outline.first_column::<T>(n).unwrap_or(n)..n
}

fn sequential<T: Element>(
    isa: Isa,
    l: &mut Mat<T>,
    v: &Mat<T>,
    weights: &[T::Part],
) -> Result<(), Breakdown> {
    let (mut memory, outline) = staged(isa, v, Weights::Each(weights));
    let plan = plan(l.nrows(), columns::<T>(l.nrows(), &outline), &outline);
    let job = memory.job(isa, in_place(l), &plan, &outline, 1);
    // SAFETY: L and the working memory are borrowed by this function alone.
    unsafe { serial::sweep(&job, &plan) }.map(|_| ())
}

fn every_isa<T: Element>(tolerance: f64) {
    for (seed, &(n, k)) in SHAPES.iter().enumerate() {
        let (l, v, weights) = problem::<T>(n, k, seed as u64);
        let expected = definition(l.as_ref(), v.as_ref(), &weights);
        for isa in Isa::all() {
            let mut l = lower(l.as_ref());
            sequential(isa, &mut l, &v, &weights).unwrap();
            let error = (0..n).flat_map(|j| (0..n).map(move |i| (i, j)));
            let error = error.fold(0.0, |m: f64, (i, j)| m.max((wide(l[(i, j)]) - expected[(i, j)]).norm()));
            assert!(error <= tolerance, "{isa:?}, n = {n}, k = {k}: {error:e}");
        }
    }
}

#[test]
fn every_instruction_set_follows_the_definition() {
    every_isa::<f64>(3e-14);
    every_isa::<f32>(2e-5);
    every_isa::<c64>(3e-14);
    every_isa::<c32>(2e-5);
}

/// Columns of L and V are interchanged where V is sixteen times as large, and again when it is removed.
#[test]
fn every_instruction_set_changes_places() {
    changes_places::<f32>();
    changes_places::<c32>();
}

fn changes_places<T: Element<Part = f32> + ComplexField<Real = f32>>() {
    for (seed, &(n, k)) in SHAPES.iter().enumerate() {
        let (l, _, _) = problem::<T>(n, k, seed as u64);
        let mut rng = StdRng::seed_from_u64(seed as u64);
        let v = Mat::from_fn(n, k, |_, _| entry::<T>(&mut rng, 32.0));
        let [plus, minus] = [1.0, -1.0].map(|w| vec![w; k]);
        let expected = definition(l.as_ref(), v.as_ref(), &plus);
        for isa in Isa::all() {
            let mut new = lower(l.as_ref());
            sequential(isa, &mut new, &v, &plus).unwrap();
            let unit = f64::from(f32::EPSILON) / 2.0;
            for j in 0..n {
                let error = (wide(new[(j, j)]) / expected[(j, j)] - 1.0).norm() / unit;
                assert!(
                    error <= 4.0 * (n + k) as f64,
                    "{isa:?}, n = {n}, k = {k}: pivot {j} is off by {error} u"
                );
            }
            sequential(isa, &mut new, &v, &minus).unwrap();
            let (error, size) = ((&new - &l).norm_max(), l.norm_max());
            assert!(error <= 3e-3 * size, "{isa:?}, n = {n}, k = {k}: {error} after both");
        }
    }
}

/// Sweeps over the first columns of L alone, with all rows; then over the others with the residual, as if without interruption.
#[test]
fn a_tall_sweep_leaves_the_residual() {
    for (seed, &(n, k)) in SHAPES.iter().enumerate() {
        let (l, v, weights) = problem::<f64>(n, k, seed as u64);
        let mut expected = lower(l.as_ref());
        sequential(Isa::detect(), &mut expected, &v, &weights).unwrap();
        let (mut memory, outline) = staged(Isa::detect(), &v, Weights::Each(&weights));
        let mut found = lower(l.as_ref());
        let width = plan(n, 0..n, &outline).panel_cols;
        let end = n.min(n.div_ceil(2).next_multiple_of(width));
        let mut health = Health::default();
        for columns in [0..end, end..n] {
            let plan = plan(n, columns, &outline);
            let job = memory.job(Isa::detect(), in_place(&mut found), &plan, &outline, 1);
            for panel in (0..).map_while(|index| plan.panel(index)) {
                // SAFETY: as in `serial::sweep`.
                unsafe {
                    job.diagonal(panel, &mut health).unwrap();
                    job.trailing(panel, panel.end()..n);
                }
            }
        }
        assert_eq!(found, expected, "n = {n}, k = {k}");
    }
}

/// Panels of L that are stored elsewhere, as on a device: they are copied to a slot, transformed there, and copied back.
struct Slots<'a> {
    home: &'a mut Mat<f64>,
    job: Job<f64>,
    /// Three panels in flight: one being copied in, one being transformed, one being copied out.
    slots: [Mat<f64>; 3],
}

impl Slots<'_> {
    /// The job with the columns of `panel` in its slot.
    fn job_in_slot(&mut self, panel: Panel) -> Job<f64> {
        let slot = &mut self.slots[panel.index % 3];
        let stride = slot.col_stride();
        let dst = slot.as_ptr_mut().wrapping_offset(-(panel.first as isize) * stride);
        Job { l: Entries { src: dst.cast_const(), src_stride: stride, dst, dst_stride: stride }, ..self.job }
    }

    fn fetch(&mut self, panel: Panel) {
        let rows = panel.first..self.home.nrows();
        let mut slot = self.slots[panel.index % 3].as_mut();
        slot.fill(f64::NAN);
        let columns = self.home.as_ref().subcols(panel.first, panel.cols).subrows(rows.start, rows.len());
        slot.subcols_mut(0, panel.cols).subrows_mut(rows.start, rows.len()).copy_from(columns);
    }

    fn retire(&mut self, panel: Panel) {
        let n = self.home.nrows();
        let slot = self.slots[panel.index % 3].as_ref();
        for column in panel.block() {
            let from = slot.col(column - panel.first).subrows(column, n - column);
            self.home.as_mut().col_mut(column).subrows_mut(column, n - column).copy_from(from);
        }
    }
}

#[test]
fn panels_in_slots_give_the_same_bits() {
    for (seed, &(n, k)) in SHAPES.iter().enumerate() {
        let (l, v, weights) = problem::<f64>(n, k, seed as u64);
        let mut expected = lower(l.as_ref());
        sequential(Isa::detect(), &mut expected, &v, &weights).unwrap();

        let mut home = lower(l.as_ref());
        let (mut memory, outline) = staged(Isa::detect(), &v, Weights::Each(&weights));
        let plan = plan(n, columns::<f64>(n, &outline), &outline);
        let job = memory.job(Isa::detect(), in_place(&mut home), &plan, &outline, 2);
        let slots = core::array::from_fn(|_| Mat::zeros(n, plan.panel_cols.max(1)));
        let mut slots = Slots { home: &mut home, job, slots };
        let mut health = Health::default();
        slots.fetch(plan.panel(0).unwrap());
        for panel in (0..).map_while(|index| plan.panel(index)) {
            if let Some(next) = plan.panel(panel.index + 1) {
                slots.fetch(next);
            }
            let job = slots.job_in_slot(panel);
            // SAFETY: the slot contains the panel's columns from its first row on, and there is one thread.
            unsafe {
                job.diagonal(panel, &mut health).unwrap();
                // Rows are independent: those that are needed next may come last.
                job.trailing(panel, plan.trailing_rows(panel));
                job.trailing(panel, plan.next_rows(panel));
            }
            slots.retire(panel);
        }
        assert_eq!(home, expected, "n = {n}, k = {k}");
    }
}

#[test]
fn writing_past_the_caches_gives_the_same_bits() {
    for isa in Isa::all().into_iter().skip(1) {
        for (seed, &(n, k)) in SHAPES.iter().enumerate() {
            let (l, v, weights) = problem::<f64>(n, k, seed as u64);
            let mut expected = lower(l.as_ref());
            sequential(isa, &mut expected, &v, &weights).unwrap();

            let (old, mut new) = (lower(l.as_ref()), zeros::<f64>(n));
            let (dst, stride) = (new.as_ptr_mut(), new.col_stride());
            let entries = Entries { src: old.as_ptr(), src_stride: stride, dst, dst_stride: stride };
            let (mut memory, outline) = staged(isa, &v, Weights::Each(&weights));
            let plan = plan(n, columns::<f64>(n, &outline), &outline);
            let job = memory.job(isa, entries, &plan, &outline, 1);
            let aligned = dst.addr().is_multiple_of(64);
            assert!(aligned, "faer allocates whole cache lines");
            let job = Job { stream: true, ..job };
            // SAFETY: both matrices and the working memory are borrowed by this function alone.
            unsafe { serial::sweep(&job, &plan) }.unwrap();
            assert_eq!(new, expected, "{isa:?}, n = {n}, k = {k}");
        }
    }
}

#[test]
fn workers_give_the_same_bits_and_the_same_breakdown() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    for (seed, (n, k)) in
        [(150, 1), (330, 1), (128, 2), (100, 3), (120, 4), (200, 2), (300, 3), (310, 4), (213, 5), (330, 16)]
            .into_iter()
            .enumerate()
    {
        let (l, mut v, weights) = problem::<f64>(n, k, seed as u64);
        // Nothing breaks down, or the first, a middle or the last column with a minus sign does.
        for broken_row in [None, Some(0), Some(n / 2), Some(n - 1)] {
            let minus = weights.iter().position(|w| *w < 0.0).unwrap_or(0);
            let weights: Vec<f64> = if k == 1 { vec![-1.0] } else { weights.clone() };
            let healthy = v.clone();
            if let Some(row) = broken_row {
                v.col_mut(minus).fill(0.0);
                v[(row, minus)] = 9.0;
            }
            for isa in Isa::all() {
                let mut expected = lower(l.as_ref());
                let outcome = sequential(isa, &mut expected, &v, &weights);
                assert_eq!(outcome.is_err(), broken_row.is_some());
                for (threads, panels_in_chunk) in [(2, 1), (3, 2), (8, 1)] {
                    let (mut memory, outline) = staged(isa, &v, Weights::Each(&weights));
                    let plan = plan(n, columns::<f64>(n, &outline), &outline);
                    let mut home = lower(l.as_ref());
                    let job = memory.job(isa, in_place(&mut home), &plan, &outline, plan.panels());
                    let chunk_rows = panels_in_chunk * plan.panel_cols;
                    let mut chunks = Vec::new();
                    cut(&plan, chunk_rows, &mut chunks);
                    // SAFETY: L, V and a reflector for each panel are borrowed by this function alone.
                    let workers = unsafe { Workers::new(&job, &plan, chunk_rows, &mut chunks) };
                    let got = pool.install(|| {
                        // The threads of the library, as many as the pool has, or those of the pool.
                        let _awake = (threads != 3).then(|| Cpu::threads(threads).keep_awake());
                        workers.run(threads).map(|_| ())
                    });
                    assert_eq!(got, outcome, "{isa:?}, n = {n}, k = {k}, {threads} threads");
                    assert!(got.is_err() || home == expected, "{isa:?}, n = {n}, k = {k}, {threads} threads");
                }
            }
            v = healthy;
        }
    }
}

#[test]
fn columns_of_l_do_not_get_in_each_others_way() {
    for order in [1, 8, 64, 512, 1024, 4096] {
        let lines = zeros::<f64>(order).col_stride() as usize / 8;
        assert_eq!(lines % 2, 1, "order {order}");
        assert!(lines < 64 || (8..=56).contains(&(lines % 64)), "order {order}");
    }
}
