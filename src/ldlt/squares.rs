//! Sums of squares of the rows of L, over the columns of each sign.

use crate::compiled::compiled;
use crate::number::Float;
use core::ops::Range;
use faer::MatRef;
use pulp::{Simd, WithSimd};

compiled! {
    /// [`Squares`].
    SquaresKernel {
        add_squares: Squares<'_, Self> => (),
    }
}

/// Adds the squares of these columns of L to the sums of their sign, from the row of the first column on.
pub(crate) struct Squares<'a, T> {
    /// Column-major. (n × n)
    l: MatRef<'a, T>,
    columns: Range<usize>,
    negative: &'a [bool],
    /// Of positive and of negative columns. (n less the first column, each)
    sums: [&'a mut [T]; 2],
}

impl<'a, T: Float> Squares<'a, T> {
    pub fn new(
        l: MatRef<'a, T>,
        columns: Range<usize>,
        negative: &'a [bool],
        sums: [&'a mut [T]; 2],
    ) -> Self {
        let rows = l.nrows() - columns.start;
        assert!(l.row_stride() == 1 || l.nrows() < 2, "L is column-major");
        assert!(columns.end <= l.ncols() && negative.len() >= columns.end, "L has these columns");
        assert!(sums.iter().all(|sums| sums.len() == rows), "there is a sum for each row");
        Self { l, columns, negative, sums }
    }
}

impl<T: Float> WithSimd for Squares<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { l, columns, negative, sums: [plus, minus] } = self;
        let (first, lanes, order) = (columns.start, T::lanes::<S>(), l.nrows());
        for j in columns {
            let sums = if negative[j] { minus.as_mut_ptr() } else { plus.as_mut_ptr() };
            let column = l.as_ptr().wrapping_offset(j as isize * l.col_stride());
            let mut row = j;
            // SAFETY: rows j.. of column j of L, and their sums, of which `new` has checked that there are as many; masks restrict the
            // last access to them.
            unsafe {
                while row + lanes <= order {
                    let (x, sum) = (T::load::<S>(column.add(row)), sums.add(row - first));
                    T::store::<S>(sum, T::mul_add(simd, x, x, T::load::<S>(sum)));
                    row += lanes;
                }
                if row < order {
                    let rest = T::mask(simd, 0, order - row);
                    let (x, sum) = (T::load_masked(simd, rest, column.add(row)), sums.add(row - first));
                    T::store_masked(simd, rest, sum, T::mul_add(simd, x, x, T::load_masked(simd, rest, sum)));
                }
            }
        }
    }
}
