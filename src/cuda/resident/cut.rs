//! How the columns of V are cut up.

use super::steps::V_COLS;
use crate::change::Change;
use crate::scalar::Scalar;
use core::ops::Range;

/// Columns of either sign, in sweeps of sixteen.
#[derive(Clone, Copy)]
pub(super) struct Sweeps {
    plus: usize,
    minus: usize,
}

impl Sweeps {
    pub fn new<T: Scalar>(change: &Change<'_, T>) -> Self {
        Self { plus: change.plus, minus: change.minus }
    }

    fn of_plus(self) -> usize {
        self.plus.div_ceil(V_COLS)
    }

    pub fn count(self) -> usize {
        self.of_plus() + self.minus.div_ceil(V_COLS)
    }

    /// Columns of V on the device: sixteen a sweep.
    pub fn columns(self) -> usize {
        self.count() * V_COLS
    }

    pub fn sign(self, sweep: usize) -> f64 {
        if sweep < self.of_plus() { 1.0 } else { -1.0 }
    }

    /// The columns with a plus sign and those with a minus: the first on the host, the first on the device, how
    /// many.
    pub fn columns_of_v(self) -> [(usize, usize, usize); 2] {
        [(0, 0, self.plus), (self.plus, self.of_plus() * V_COLS, self.minus)]
    }

    /// The columns of zeros behind either on the device.
    pub fn columns_of_zeros(self) -> [Range<usize>; 2] {
        let second = self.of_plus() * V_COLS;
        [self.plus..second, second + self.minus..self.columns()]
    }
}
