//! A sweep over L S Lᴴ, S = diag(±1), with a V whose columns have one sign: columns of L of one sign are processed by the steps for a
//! positive definite matrix. Relative to a negative pivot, V has the opposite sign. From the first pivot on that would change its sign or
//! come near zero, the steps are those for any signs, if they read V where it is.
//!
//! ```text
//! columns of L      + + + + + + + + + − − − − − − − − − − …
//! panels            │     D     │ D │D│  D  │     D     │     each of one sign; blocks of columns are where they would be in an L of one sign
//! ```

mod panels;
mod steps;

use self::panels::{RunPanels, cut};
use self::steps::{AnySigns, RunSteps};
use super::serial;
use super::signature::{SignatureMemory, SignedFactor, tolerance};
use super::staged::plan;
use super::sweep::{run, run_asking};
use super::tuning;
use crate::element::Element;
use crate::host::interrupt::Asks;
use crate::host::threads::Threads;
use crate::report::Modification;
use crate::sweep::outline::Outline;
use crate::sweep::stop::Stop;
use cholupdate_kernels::isa::Isa;
use cholupdate_kernels::number::{Float, Number};
use cholupdate_kernels::sweep::entries::Entries;
use cholupdate_kernels::sweep::job::Job;
use cholupdate_kernels::sweep::shape::{ANY, IN_REGISTERS, WIDE, by_column, shape};
use cholupdate_kernels::sweep::signature::{BlockChange, OneColumn, SignatureJob};
use core::ops::Range;
use core::sync::atomic::AtomicUsize;
use faer::MatRef;

/// The number of columns of L of one sign that must follow each other on average, for V with `rank` columns: where the sign changes, V is
/// read and written once more, and blocks of columns are narrower, for which block reflectors need most of the time of a whole one.
fn worthwhile<T: Number>(rank: usize, rows: usize) -> usize {
    let wide = shape::<T>(Isa::detect(), ANY).block == WIDE.1;
    match rank {
        _ if by_column(rank, rows) => 3,
        ..=IN_REGISTERS if wide => 4,
        _ if wide => 8,
        _ => 32,
    }
}

/// Whether a V of one sign with `rank` columns takes less time by runs of these columns of L, which has so many rows.
pub(crate) fn are_long<T: Number>(negative: &[bool], rank: usize, rows: usize) -> bool {
    let changes: usize = negative.iter().zip(negative.iter().skip(1)).map(|(a, b)| usize::from(a != b)).sum();
    changes < negative.len().div_ceil(worthwhile::<T>(rank, rows))
}

/// Sums over the rows of a factor L S Lᴴ. (n, n)
pub(crate) struct RowSums<'a> {
    /// Σ_j |l_ij|², the diagonal of L Lᴴ.
    pub squares: &'a mut [f64],
    /// Σ_j s_j |l_ij|², that of A.
    pub diagonal: &'a mut [f64],
}

/// What a sweep over runs of columns has done.
pub(crate) struct SweptRuns {
    pub report: Modification,
    /// All steps were those for one sign: no pivot has changed its sign, and the sums are current.
    pub keeps_signs: bool,
}

/// Sweeps over a range of columns of L, out of place or, without `old`, in place, with the staged V, whose columns have one sign. Keeps
/// the sums of the rows of L current, if there are some: the sum of the squares of a row of L and V is the same before and after the steps
/// of one sign.
///
/// Returns `None` if a pivot would change its sign or come near zero, and the steps for any signs must begin again. `new` and the sums
/// are then unspecified from the first column on.
///
/// # Errors
/// `Interrupted`, and as [`sweep`](super::signature::sweep).
pub(crate) fn sweep_runs<T: Element>(
    old: Option<(MatRef<'_, T>, &[bool])>,
    new: SignedFactor<'_, T>,
    columns: Range<usize>,
    outline: &Outline,
    memory: &mut SignatureMemory<T>,
    (sums, threads): (Option<RowSums<'_>>, Threads),
) -> Result<Option<SweptRuns>, Stop> {
    let SignedFactor { l: new, negative: new_signs } = new;
    let (order, new_negative) = (new.nrows(), new_signs.as_mut_ptr());
    assert!(
        new.ncols() == order && new_signs.len() == order && columns.end <= order,
        "L is square, and S has an entry for each column"
    );
    assert!(
        old.is_none_or(|(old, signs)| old.shape() == new.shape() && signs.len() == order),
        "old and new L have one shape"
    );
    assert!(new.row_stride() == 1 || order < 2, "L is column-major");
    assert!(outline.plus == 0 || outline.minus == 0, "the columns of V have one sign");
    let (dst, dst_stride) = (new.as_ptr_mut(), new.col_stride());
    let (src, src_stride, negative) = match old {
        Some((old, signs)) => (old.as_ptr(), old.col_stride(), signs),
        None => (dst.cast_const(), dst_stride, &*new_signs),
    };
    let (isa, plan) = (Isa::detect(), plan(order, columns.clone(), outline));
    let threads = tuning::threads(threads, &plan, outline.rank());
    let (mut plus, first) = (outline.plus, AtomicUsize::new(usize::MAX));
    let SignatureMemory { sweep, panels, chunks, blocks, columns: each_column, reflectors, saved } = memory;
    cut(negative, columns.clone(), (plan.panel_cols, sweep.block(outline.rank())), panels);
    let sets = if threads > 1 { panels.len() } else { 1 };
    let job = sweep.job(isa, Entries { src, src_stride, dst, dst_stride }, &plan, outline, sets);
    let shape = shape::<T>(isa, ANY);
    // In place the old L would have to be saved as well.
    let any_signs = (old.is_some() && !job.by_column && job.v.tile == shape.tile).then(|| {
        reflectors.reserve(sets * SignatureJob::<T>::reflector_len(plan.panel_cols, &shape, outline.rank()));
        saved.reserve(plan.panel_cols * outline.rank());
        let count = panels.len() * plan.panel_cols.div_ceil(job.block);
        blocks.resize(count.max(blocks.len()), BlockChange::default());
        each_column.resize(plan.cols.max(each_column.len()), OneColumn::default());
        AnySigns {
            steps: SignatureJob {
                tolerance: tolerance::<T>(order, outline),
                job: Job { reflectors: reflectors.as_mut_ptr(), ..job },
                old: negative.as_ptr(),
                new: new_negative,
                blocks: blocks.as_mut_ptr(),
                columns: each_column.as_mut_ptr(),
                plus: &raw mut plus,
            },
            first: &first,
            saved: saved.as_mut_ptr().cast(),
        }
    });
    let steps = RunSteps {
        jobs: [job, Job { plus: job.minus, minus: job.plus, ..job }],
        negative,
        sign: if outline.minus == 0 { 1.0 } else { -1.0 },
        end: columns.end,
        sums: sums.map(|RowSums { squares, diagonal }| {
            assert!(squares.len() == order && diagonal.len() == order, "each row has its sums");
            [squares.as_mut_ptr(), diagonal.as_mut_ptr()]
        }),
        // Where a pivot is nearly zero, whether any digit of it is known must be found out.
        least: (64.0 * tolerance::<T>(order, outline).to_f64()).max(1e-3),
        any_signs,
    };
    let panels = RunPanels { panels, rows: columns.start..order, unit: plan.panel_cols };
    // SAFETY: L has these rows and columns, column-major, and is borrowed, exclusively where it is written, as are the sums; V and the
    // reflectors are borrowed from `sweep`, with a set of reflectors for each panel, or, on one thread, for the current one.
    let swept = unsafe {
        match Asks::claim() {
            Some(asks) => run_asking(steps, asks, &panels, (threads, chunks)),
            None if threads > 1 => run(&steps, &panels, (threads, chunks)).map_err(Stop::from),
            None => serial::sweep(&steps, &panels).map_err(Stop::from),
        }
    };
    let keeps_signs = first.into_inner() == usize::MAX;
    match swept {
        Ok(health) => {
            Ok(Some(SweptRuns { report: Modification::of_sweep(&health, plan.start), keeps_signs }))
        }
        Err(Stop::Breakdown { .. }) if keeps_signs => Ok(None),
        Err(stop) => Err(stop),
    }
}
