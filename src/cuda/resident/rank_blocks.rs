//! How the columns of V are cut up.

use super::steps::V_COLS;
use core::ops::Range;

/// Columns of either sign, in sweeps of sixteen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    plus: usize,
    minus: usize,
}

impl Cut {
    pub fn new(plus: usize, minus: usize) -> Self {
        Self { plus, minus }
    }

    /// Sweeps with a plus sign, which come first.
    pub fn of_plus(self) -> usize {
        self.plus.div_ceil(V_COLS)
    }

    pub fn count(self) -> usize {
        self.of_plus() + self.minus.div_ceil(V_COLS)
    }

    /// Columns of V on the device: sixteen a sweep.
    pub fn columns(self) -> usize {
        self.count() * V_COLS
    }

    /// The column on the device of a column on the host.
    pub fn place(self, column: usize) -> usize {
        if column < self.plus { column } else { self.of_plus() * V_COLS + column - self.plus }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_on_the_device_has_one_source_and_its_sign() {
        for (plus, minus) in [(1, 0), (0, 1), (16, 0), (17, 16), (3, 40), (256, 1)] {
            let cut = Cut::new(plus, minus);
            let mut sources = vec![Vec::new(); cut.columns()];
            for (from, to, count) in cut.columns_of_v() {
                (0..count).for_each(|r| sources[to + r].push(Some(from + r)));
            }
            cut.columns_of_zeros().into_iter().flatten().for_each(|column| sources[column].push(None));
            assert!(sources.iter().all(|sources| sources.len() == 1), "{plus} and {minus}");
            let columns = sources.iter().enumerate().filter_map(|(at, sources)| Some((at, sources[0]?)));
            let signed: Vec<_> = columns.map(|(at, from)| (from, at / V_COLS < cut.of_plus())).collect();
            let expected: Vec<_> = (0..plus + minus).map(|from| (from, from < plus)).collect();
            assert_eq!(signed, expected);
        }
    }
}
