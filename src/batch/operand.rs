//! Batches of matrices in the caller's memory.

use crate::error::Error;
use cholupdate_kernels::batch::view::{BatchView, BatchViewMut};
use faer::MatRef;

/// Matrices of equal shape in one slice, with any strides. (count × rows × columns)
///
/// ```
/// use cholupdate::{BatchRef, Error};
///
/// # fn main() -> Result<(), Error> {
/// // Two matrices of 3 × 2, one after the other, by rows as NumPy stores them.
/// let data = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0,  7.0, 8.0, 9.0, 10.0, 11.0, 12.0];
/// let v = BatchRef::by_rows(&data, [2, 3, 2])?;
/// assert_eq!(v.get(1, 2, 0), 11.0);
/// // The same memory as matrices that lie side by side.
/// let beside = BatchRef::new(&data, [2, 3, 2], [1, 4, 2])?;
/// assert_eq!(beside.get(1, 2, 0), 10.0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct BatchRef<'a, T>(BatchView<'a, T>);

impl<T> Clone for BatchRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for BatchRef<'_, T> {}

/// Matrices of equal shape in one slice, with any strides, to be written. (count × rows × columns)
///
/// ```
/// use cholupdate::{BatchMut, Error};
///
/// # fn main() -> Result<(), Error> {
/// let mut data = [0.0; 6];
/// // Two columns of three entries. Entries that share memory are refused.
/// BatchMut::by_rows(&mut data, [2, 3, 1])?;
/// let error = BatchMut::new(&mut data, [2, 3, 1], [0, 1, 1]).unwrap_err();
/// assert!(matches!(error, Error::OutOfRange { argument: "strides", .. }));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct BatchMut<'a, T>(BatchViewMut<'a, T>);

impl<'a, T: Copy> BatchRef<'a, T> {
    /// Entry (i, j) of matrix b at `data[b · strides[0] + i · strides[1] + j · strides[2]]`. A stride may be 0: one matrix for all
    /// is `[0, 1, rows]`.
    ///
    /// # Errors
    /// `OutOfRange`, naming `strides`, if an entry would be outside of `data`.
    pub fn new(data: &'a [T], shape: [usize; 3], strides: [usize; 3]) -> Result<Self, Error> {
        within(data.len(), shape, strides)?;
        // SAFETY: all entries are in the slice, which is borrowed.
        Ok(Self(unsafe { BatchView::new(data.as_ptr(), shape, strides) }))
    }

    /// The matrices one after the other, each by rows.
    ///
    /// # Errors
    /// `Shape`, naming `data`, unless it has as many entries.
    pub fn by_rows(data: &'a [T], shape: [usize; 3]) -> Result<Self, Error> {
        let strides = of_rows(data.len(), shape)?;
        Self::new(data, shape, strides)
    }

    /// Entry (i, j) of matrix b at `start.add(b · strides[0] + i · strides[1] + j · strides[2])`, for other languages.
    ///
    /// # Safety
    /// These entries are aligned and initialized, and nothing writes to them during `'a`. Their offsets in bytes are less than 2⁶³.
    ///
    /// ```
    /// use cholupdate::BatchRef;
    ///
    /// let data = [1.0, 2.0, 3.0, 4.0];
    /// // SAFETY: all entries are in the array.
    /// let v = unsafe { BatchRef::from_raw_parts(data.as_ptr(), [2, 2, 1], [1, 2, 0]) };
    /// assert_eq!([v.get(0, 1, 0), v.get(1, 0, 0)], [3.0, 2.0]);
    /// ```
    #[must_use]
    pub unsafe fn from_raw_parts(start: *const T, shape: [usize; 3], strides: [usize; 3]) -> Self {
        // SAFETY: as the caller guarantees.
        Self(unsafe { BatchView::new(start, shape, strides) })
    }

    /// The same matrix `count` times.
    #[must_use]
    pub fn repeated(matrix: MatRef<'a, T>, count: usize) -> Option<Self> {
        let strides =
            [0, usize::try_from(matrix.row_stride()).ok()?, usize::try_from(matrix.col_stride()).ok()?];
        let shape = [count, matrix.nrows(), matrix.ncols()];
        // SAFETY: all entries are those of the matrix, which is borrowed.
        Some(Self(unsafe { BatchView::new(matrix.as_ptr(), shape, strides) }))
    }

    /// The number of matrices, their rows and their columns.
    #[must_use]
    pub fn shape(&self) -> [usize; 3] {
        self.0.shape()
    }

    /// Entry (i, j) of matrix `b`.
    ///
    /// # Panics
    /// If there is no such entry.
    #[must_use]
    pub fn get(&self, b: usize, i: usize, j: usize) -> T {
        self.0.get(b, i, j)
    }

    /// What the kernels take.
    #[inline(always)]
    pub(crate) fn view(&self) -> BatchView<'a, T> {
        self.0
    }
}

impl<'a, T: Copy> BatchMut<'a, T> {
    /// Entry (i, j) of matrix b at `data[b · strides[0] + i · strides[1] + j · strides[2]]`.
    ///
    /// # Errors
    /// `OutOfRange`, naming `strides`, if an entry would be outside of `data` or two of them in the same place. Strides that skip
    /// entries of one another in no order are refused as well.
    pub fn new(data: &'a mut [T], shape: [usize; 3], strides: [usize; 3]) -> Result<Self, Error> {
        within(data.len(), shape, strides)?;
        apart(shape, strides)?;
        // SAFETY: all entries are in the slice, which is borrowed exclusively, in different places.
        Ok(Self(unsafe { BatchViewMut::new(data.as_mut_ptr(), shape, strides) }))
    }

    /// The matrices one after the other, each by rows.
    ///
    /// # Errors
    /// `Shape`, naming `data`, unless it has as many entries.
    pub fn by_rows(data: &'a mut [T], shape: [usize; 3]) -> Result<Self, Error> {
        let strides = of_rows(data.len(), shape)?;
        Self::new(data, shape, strides)
    }

    /// Entry (i, j) of matrix b at `start.add(b · strides[0] + i · strides[1] + j · strides[2])`, for other languages.
    ///
    /// # Errors
    /// `OutOfRange`, naming `strides`, as for [`new`](Self::new), if two entries could be in the same place.
    ///
    /// # Safety
    /// These entries are aligned and initialized, and nothing else uses them during `'a`. Their offsets in bytes are less than 2⁶³.
    ///
    /// ```
    /// use cholupdate::{BatchMut, Error};
    ///
    /// let mut data = [0.0; 6];
    /// // SAFETY: all entries are in the array, which is used by nothing else.
    /// let refused = unsafe { BatchMut::from_raw_parts(data.as_mut_ptr(), [2, 3, 1], [1, 1, 1]) };
    /// assert!(matches!(refused, Err(Error::OutOfRange { argument: "strides", .. })));
    /// // SAFETY: as above.
    /// let x = unsafe { BatchMut::from_raw_parts(data.as_mut_ptr(), [2, 3, 1], [3, 1, 1]) };
    /// assert_eq!(x.map(|x| x.shape()), Ok([2, 3, 1]));
    /// ```
    pub unsafe fn from_raw_parts(
        start: *mut T,
        shape: [usize; 3],
        strides: [usize; 3],
    ) -> Result<Self, Error> {
        apart(shape, strides)?;
        // SAFETY: as the caller guarantees; no two entries are in the same place.
        Ok(Self(unsafe { BatchViewMut::new(start, shape, strides) }))
    }

    /// The number of matrices, their rows and their columns.
    #[must_use]
    pub fn shape(&self) -> [usize; 3] {
        self.0.shape()
    }

    /// The same for reading.
    #[must_use]
    pub fn as_ref(&self) -> BatchRef<'_, T> {
        BatchRef(self.0.as_ref())
    }

    /// What the kernels take.
    #[inline(always)]
    pub(crate) fn view(&self) -> &BatchViewMut<'a, T> {
        &self.0
    }
}

/// The strides of matrices by rows that fill `len` entries.
fn of_rows(len: usize, [count, rows, columns]: [usize; 3]) -> Result<[usize; 3], Error> {
    let expected = count.checked_mul(rows).and_then(|all| all.checked_mul(columns)).unwrap_or(usize::MAX);
    crate::check::extent("data", "entries", expected, len)?;
    Ok([rows * columns, columns, 1])
}

/// Checks that all entries are among `len`.
fn within(len: usize, shape: [usize; 3], strides: [usize; 3]) -> Result<(), Error> {
    let mut last = Some(0_usize);
    for (extent, stride) in shape.into_iter().zip(strides) {
        let far = extent.saturating_sub(1).checked_mul(stride);
        last = last.zip(far).and_then(|(last, far)| last.checked_add(far));
    }
    match last {
        Some(last) if last < len || shape.contains(&0) => Ok(()),
        _ => Err(Error::OutOfRange { argument: "strides", rule: "such that all entries are in the slice" }),
    }
}

/// Checks that no two entries are in the same place.
pub(crate) fn apart(shape: [usize; 3], strides: [usize; 3]) -> Result<(), Error> {
    if shape.contains(&0) {
        return Ok(());
    }
    let mut axes: Vec<_> = strides.into_iter().zip(shape).filter(|&(_, extent)| extent > 1).collect();
    axes.sort_unstable();
    // Each stride is longer than all that lies within it.
    let mut far = 0_usize;
    for (stride, extent) in axes {
        if stride <= far {
            let rule = "such that no two entries share memory";
            return Err(Error::OutOfRange { argument: "strides", rule });
        }
        far = far.saturating_add((extent - 1).saturating_mul(stride));
    }
    Ok(())
}
