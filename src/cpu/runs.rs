//! A sweep over L S Lᴴ, S = diag(±1), with a V of few columns: the columns of L that have one sign and follow each other are processed by
//! the steps for a positive definite matrix. Relative to a negative pivot, V has the opposite sign.

use super::signature::{SignatureMemory, SignedFactor};
use super::sweep::{sweep, sweep_by};
use crate::element::Element;
use crate::host::threads::Threads;
use crate::report::Modification;
use crate::sweep::outline::Outline;
use crate::sweep::stop::Stop;
use cholupdate_kernels::number::Float;
use cholupdate_kernels::sweep::entries::Entries;
use cholupdate_kernels::sweep::shape::by_column;
use core::ops::Range;
use faer::MatRef;

/// Whether these steps are for this number of columns of V, all of one sign, and of rows of L: the others begin at multiples of a block
/// of columns, where a run need not begin.
pub(crate) fn are_few(columns: usize, rows: usize) -> bool {
    columns > 0 && by_column(columns, rows)
}

/// The columns of L of one sign that follow each other must be this many on average, as each run of them takes a sweep.
const WORTH_A_SWEEP: usize = 16;

/// Columns from which on a run begins at the start of a cache line of L, so that the rows below are written in whole lines.
const WORTH_ALIGNING: usize = 256;

/// Sums over the rows of a factor L S Lᴴ. (n, n)
pub(crate) struct RowSums<'a> {
    /// Σ_j |l_ij|², the diagonal of L Lᴴ.
    pub squares: &'a mut [f64],
    /// Σ_j s_j |l_ij|², that of A.
    pub diagonal: &'a mut [f64],
}

/// The ranges of these columns that are processed together, or `None` if they are too many.
fn runs<T>(negative: &[bool], columns: Range<usize>) -> Option<Vec<Range<usize>>> {
    let line = 64 / size_of::<T>();
    let most = columns.len().div_ceil(WORTH_A_SWEEP);
    let mut runs = Vec::with_capacity(4);
    let mut first = columns.start;
    for same in negative[columns].chunk_by(|a, b| a == b) {
        let end = first + same.len();
        let aligned = first.next_multiple_of(line);
        if same.len() >= WORTH_ALIGNING && aligned > first {
            runs.push(first..aligned);
            first = aligned;
        }
        runs.push(first..end);
        first = end;
        if runs.len() > most {
            return None;
        }
    }
    Some(runs)
}

/// Sweeps over a range of columns of L, out of place or, without `old`, in place, with the staged V, whose columns have one sign. Keeps
/// the sums of the rows of L current, if there are some: the sum of the squares of a row of L and V is the same before and after the steps
/// of one sign.
///
/// Returns `None` if a pivot would change its sign or come near zero, or if there are too many runs. `new` and the sums are then
/// unspecified from the first column on.
///
/// # Errors
/// `Interrupted`.
pub(crate) fn sweep_runs<T: Element>(
    old: Option<MatRef<'_, T>>,
    new: SignedFactor<'_, T>,
    columns: Range<usize>,
    outline: &Outline,
    memory: &mut SignatureMemory<T>,
    (mut sums, threads): (Option<RowSums<'_>>, Threads),
) -> Result<Option<Modification>, Stop> {
    let SignedFactor { l: new, negative } = new;
    let order = new.nrows();
    assert!(
        new.ncols() == order && negative.len() == order,
        "L is square, and S has an entry for each column"
    );
    assert!(old.is_none_or(|old| old.shape() == new.shape()), "old and new L have one shape");
    assert!(new.row_stride() == 1 || order < 2, "L is column-major");
    assert!(outline.plus == 0 || outline.minus == 0, "the columns of V have one sign");
    let Some(runs) = runs::<T>(negative, columns) else { return Ok(None) };
    let (dst, dst_stride) = (new.as_ptr_mut(), new.col_stride());
    let (src, src_stride) = match old {
        Some(old) => (old.as_ptr(), old.col_stride()),
        None => (dst.cast_const(), dst_stride),
    };
    let entries = Entries { src, src_stride, dst, dst_stride };
    // Where a pivot is nearly zero, whether any digit of it is known must be found out.
    let least = (64.0 * (order + outline.rank()) as f64 * T::Part::UNIT.to_f64()).max(1e-3);
    let sign = if outline.minus == 0 { 1.0 } else { -1.0 };
    let memory = &mut memory.sweep;
    let mut report: Option<Modification> = None;
    for run in runs {
        let (relative, own) = match negative[run.start] {
            false => (*outline, 1.0),
            true => (Outline { plus: outline.minus, minus: outline.plus, ..*outline }, -1.0),
        };
        let (first, end) = (run.start, run.end);
        if let Some(sums) = &mut sums {
            memory.add_squares(first, own * sign, &mut sums.squares[first..]);
            memory.add_squares(first, sign, &mut sums.diagonal[first..]);
        }
        // SAFETY: L has these rows and columns, column-major, and is borrowed, exclusively where it is written.
        let swept = unsafe {
            match old {
                Some(_) => sweep(entries, (order, None), run, &relative, memory, threads),
                None => sweep_by(entries, order, run, &relative, (memory, threads), |job| job),
            }
        };
        match swept {
            Ok(()) => {}
            Err(Stop::Breakdown { .. }) => return Ok(None),
            Err(stop) => return Err(stop),
        }
        let made = memory.take_report();
        // The comparison is false for NaN.
        if !(made.min_pivot_ratio >= least) {
            return Ok(None);
        }
        report = Some(report.map_or(made, |report| report.then(made)));
        if let Some(sums) = &mut sums {
            memory.add_squares(end, -own * sign, &mut sums.squares[end..]);
            memory.add_squares(end, -sign, &mut sums.diagonal[end..]);
        }
    }
    Ok(report)
}
