//! How the columns of V are cut into passes.

use crate::cuda::kernels::ELEMENTS;

/// The passes of one modification: its columns of V, plus signs first, cut into pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Passes {
    /// Columns of V in a pass; those that the last one lacks are zero, and change nothing.
    pub elements: usize,
    plus: usize,
    minus: usize,
}

impl Passes {
    /// For V with that many columns of each sign. `limit`: columns of V in a pass, at most.
    pub fn new(plus: usize, minus: usize, limit: usize) -> Self {
        let wanted = (plus + minus).min(limit);
        let elements = ELEMENTS.into_iter().find(|&e| e >= wanted).unwrap_or(limit);
        Self { elements, plus, minus }
    }

    pub fn count(&self) -> usize {
        (self.plus + self.minus).div_ceil(self.elements)
    }

    /// Columns of V on the device.
    pub fn columns(&self) -> usize {
        self.count() * self.elements
    }

    /// Columns with a plus sign in all passes. Zero columns go with the ones before them.
    pub fn all_plus(&self) -> usize {
        if self.minus == 0 { self.columns() } else { self.plus }
    }

    /// Columns with a plus sign in one pass; they come first.
    pub fn plus(&self, pass: usize) -> usize {
        self.all_plus().saturating_sub(pass * self.elements).min(self.elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_take_every_column_with_its_sign() {
        for (plus, minus) in [(1, 0), (0, 1), (3, 2), (16, 0), (17, 30), (40, 1), (0, 256)] {
            for limit in ELEMENTS {
                let passes = Passes::new(plus, minus, limit);
                assert!(passes.elements <= limit && passes.columns() >= plus + minus);
                assert!(passes.columns() - (plus + minus) < passes.elements);
                let all: usize = (0..passes.count()).map(|pass| passes.plus(pass)).sum();
                assert_eq!(all, passes.all_plus());
                assert_eq!(all, if minus == 0 { passes.columns() } else { plus });
            }
        }
    }
}
