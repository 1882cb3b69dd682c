//! The width of panels and the shape of launches.

use crate::error::Error;

/// A block has at most this number of threads divided by the elements of each.
pub(crate) const MAX_THREADS_ELEMENTS: usize = 4096;

/// The parameters of the engines that stream panels through a GPU, with the names of Walder (2010).
///
/// `blocks_per_kernel`, `threads_per_block` and `slots` do not change a bit of the result; the other two change its rounding
/// errors.
///
/// ```
/// # #[cfg(feature = "cuda")] {
/// use cholupdate::cuda::Tuning;
///
/// let tuning = Tuning { panel_cols: 64, ..Tuning::walder() };
/// assert!(tuning.validate().is_ok());
/// # }
/// ```
///
/// Source: C. Walder, *Rank k Cholesky Up/Down-dating on the GPU: gpucholmodV0.2*, 2010, section 4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tuning {
    /// Thread blocks (OpenCL: work-groups) in a launch. More rows than `blocks_per_kernel · threads_per_block`, divided by the
    /// threads that share a row, need several launches.
    pub blocks_per_kernel: usize,
    /// Threads (OpenCL: work-items) in a block. With CUDA 1, 2 or 4 neighbours share a trailing row of a panel, 4 on tensor
    /// cores (double precision, 9 columns of V or more); with OpenCL each has a row.
    pub threads_per_block: usize,
    /// The largest number of columns of V that a thread keeps in registers for one rank block. A rank block has that many for
    /// each of the threads that share a row.
    pub elements_per_thread: usize,
    /// Columns in a panel, which is the order of the diagonal blocks that the CPU transforms.
    pub panel_cols: usize,
    /// Panels on the device at a time: with two, one is copied while another is transformed; with three, both directions of the
    /// link are busy as well.
    pub slots: usize,
}

impl Tuning {
    /// The parameters of the paper: 28 blocks of 32 threads with 16 elements, for the Tesla C2050 of 2010.
    ///
    /// The paper's diagonal blocks have as many columns as a launch has rows, 28 · 32 = 896, so that is `panel_cols`. It copies
    /// one panel at a time; here copies overlap with work, which needs two `slots`.
    ///
    /// Source: Walder (2010), sections 4.1 and 4.3.
    #[must_use]
    pub fn walder() -> Self {
        Self {
            blocks_per_kernel: 28,
            threads_per_block: 32,
            elements_per_thread: 16,
            panel_cols: 28 * 32,
            slots: 2,
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::Tuning`] with the first field that violates its rule:
    ///
    /// - `blocks_per_kernel`: 1 to 65535,
    /// - `elements_per_thread`: 4, 8, 16 or 32,
    /// - `threads_per_block`: a multiple of 32, at most `4096 / elements_per_thread` (1024 to 128), which leaves
    ///   each thread the registers that its elements take,
    /// - `panel_cols`: a multiple of 8, 8 to 1024,
    /// - `slots`: 2 or 3.
    pub fn validate(&self) -> Result<(), Error> {
        let Self { blocks_per_kernel, threads_per_block, elements_per_thread, panel_cols, slots } = *self;
        let check = |holds: bool, field, rule, found| {
            if holds { Ok(()) } else { Err(Error::Tuning { field, rule, found }) }
        };
        check(
            (1..=65_535).contains(&blocks_per_kernel),
            "blocks_per_kernel",
            "1 to 65535",
            blocks_per_kernel,
        )?;
        check(
            matches!(elements_per_thread, 4 | 8 | 16 | 32),
            "elements_per_thread",
            "4, 8, 16 or 32",
            elements_per_thread,
        )?;
        check(
            threads_per_block.is_multiple_of(32)
                && (1..=MAX_THREADS_ELEMENTS / elements_per_thread).contains(&threads_per_block),
            "threads_per_block",
            "a multiple of 32, at most 4096 / elements_per_thread",
            threads_per_block,
        )?;
        check(
            panel_cols.is_multiple_of(8) && (8..=1024).contains(&panel_cols),
            "panel_cols",
            "a multiple of 8, 8 to 1024",
            panel_cols,
        )?;
        check((2..=3).contains(&slots), "slots", "2 or 3", slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(tuning: Tuning) -> Option<(&'static str, usize)> {
        match tuning.validate() {
            Ok(()) => None,
            Err(Error::Tuning { field, found, .. }) => Some((field, found)),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn names_the_field_that_breaks_its_rule() {
        let good = Tuning::walder();
        assert_eq!(refused(good), None);
        for found in [0, 65_536, usize::MAX] {
            assert_eq!(
                refused(Tuning { blocks_per_kernel: found, ..good }),
                Some(("blocks_per_kernel", found))
            );
        }
        for found in [0, 1, 12, 64] {
            assert_eq!(
                refused(Tuning { elements_per_thread: found, ..good }),
                Some(("elements_per_thread", found))
            );
        }
        for (elements_per_thread, found) in [(16, 0), (16, 48), (16, 288), (32, 160), (4, 1056)] {
            assert_eq!(
                refused(Tuning { elements_per_thread, threads_per_block: found, ..good }),
                Some(("threads_per_block", found))
            );
        }
        for (elements_per_thread, threads_per_block) in [(4, 1024), (8, 512), (16, 256), (32, 128)] {
            assert_eq!(refused(Tuning { elements_per_thread, threads_per_block, ..good }), None);
        }
        for found in [0, 4, 12, 1032] {
            assert_eq!(refused(Tuning { panel_cols: found, ..good }), Some(("panel_cols", found)));
        }
        for found in [0, 1, 4] {
            assert_eq!(refused(Tuning { slots: found, ..good }), Some(("slots", found)));
        }
    }

    #[test]
    fn an_error_says_the_rule() {
        let error = Tuning { slots: 1, ..Tuning::walder() }.validate().unwrap_err();
        assert_eq!(error.to_string(), "`slots` is 1, but must be 2 or 3");
    }
}
