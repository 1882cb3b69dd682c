//! The forms of a rank block and its reflectors in the kernels of the trailing step.

/// The values of `elements_per_thread` for which the kernels are instantiated.
pub(crate) const ELEMENTS: [usize; 4] = [4, 8, 16, 32];

/// Columns of L are processed in groups of this many: `COLUMN_GROUP` of `trailing.cu` and `trailing_tensor.cu`.
pub(crate) const COLUMN_GROUP: usize = 8;

/// The forms in which a device's kernels process rank blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forms {
    /// They have [`Form::Tensor`].
    pub tensor: bool,
    /// They have [`Form::Columns`] with each of these numbers of lanes; of equal ones the first is taken.
    pub lanes: &'static [usize],
}

/// How the trailing step processes a row, in one rank block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `trailing.cu`: column after column, by 1, 2 or 4 threads that share the row.
    Columns { lanes: usize },
    /// `trailing_tensor.cu`: eight columns at a time on tensor cores. Double precision only.
    Tensor,
}

impl Form {
    /// Threads that share a row.
    pub fn lanes(self) -> usize {
        match self {
            Self::Columns { lanes } => lanes,
            Self::Tensor => 4,
        }
    }

    /// Scalars of the reflectors of 8 columns of L in a rank block.
    pub fn group_scalars<T>(self, elements: usize) -> usize {
        match self {
            Self::Columns { lanes } => COLUMN_GROUP * lanes * reflector_stride::<T>(elements),
            Self::Tensor => (self.lanes() * elements + COLUMN_GROUP + 2) * COLUMN_GROUP,
        }
    }
}

/// For [`Form::Columns`]: scalars from one row of the reflectors to the next, which are b and 16 bytes with s and x.
pub(crate) fn reflector_stride<T>(elements_per_thread: usize) -> usize {
    elements_per_thread + 16 / size_of::<T>()
}

/// For [`Form::Tensor`]: the index of entry r of b_j in a group's reflectors, j < 8.
pub(crate) fn tensor_b(j: usize, r: usize) -> usize {
    COLUMN_GROUP * r + (j ^ (r & 6))
}
