//! Sums of squared magnitudes of the rows of L, over the columns of each sign.

use crate::compiled;
use crate::number::Number;
use core::ops::Range;
use faer::MatRef;
use pulp::{Simd, WithSimd};

compiled! {
    /// [`Squares`].
    SquaresKernel of numbers {
        add_squares: Squares<'_, Self> => (),
    }
}

/// Adds the squares of these columns of L to the sums of their sign, from the row of the first column on.
pub struct Squares<'a, T: Number> {
    /// Column-major. (n × n)
    l: MatRef<'a, T>,
    columns: Range<usize>,
    negative: &'a [bool],
    /// Of positive and of negative columns. (n less the first column, each)
    sums: [&'a mut [T::Part]; 2],
}

impl<'a, T: Number> Squares<'a, T> {
    pub fn new(
        l: MatRef<'a, T>,
        columns: Range<usize>,
        negative: &'a [bool],
        sums: [&'a mut [T::Part]; 2],
    ) -> Self {
        let rows = l.nrows() - columns.start;
        assert!(l.row_stride() == 1 || l.nrows() < 2, "L is column-major");
        assert!(columns.end <= l.ncols() && negative.len() >= columns.end, "L has these columns");
        assert!(sums.iter().all(|sums| sums.len() == rows), "there is a sum for each row");
        Self { l, columns, negative, sums }
    }
}

impl<T: Number> WithSimd for Squares<'_, T> {
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
                    T::Part::store::<S>(sum, T::plus_squares(simd, x, T::Part::load::<S>(sum)));
                    row += lanes;
                }
                if row < order {
                    let (of_l, rest) = (T::mask(simd, 0, order - row), T::Part::mask(simd, 0, order - row));
                    let (x, sum) = (T::load_masked(simd, of_l, column.add(row)), sums.add(row - first));
                    let new = T::plus_squares(simd, x, T::Part::load_masked(simd, rest, sum));
                    T::Part::store_masked(simd, rest, sum, new);
                }
            }
        }
    }
}
