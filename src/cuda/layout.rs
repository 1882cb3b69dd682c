//! Numbers that the kernels of a module export: sizes, layouts, limits and thresholds (`kernels/common/layout.cuh`). The host
//! uses them, or compares them with its own constants when it loads the module.

use crate::error::{Error, other};

/// Named values that a module exports.
pub(super) struct Exports<V> {
    symbol: String,
    entries: Vec<(String, V)>,
}

/// The integers that a module exports.
pub(super) type Layout = Exports<i32>;

impl<V: Copy> Exports<V> {
    /// The values of a module at this symbol, and their names: a C string, separated by commas.
    ///
    /// # Errors
    /// [`Error::Device`] if there is not one name for each value.
    pub fn new(symbol: String, values: Vec<V>, names: &[u8]) -> Result<Self, Error> {
        let names = String::from_utf8_lossy(names);
        let names: Vec<_> =
            names.trim_end_matches('\0').split(',').map(|name| name.trim().to_owned()).collect();
        if names.len() != values.len() {
            return Err(other(format!("`{symbol}` has {} values and {} names", values.len(), names.len())));
        }
        Ok(Self { symbol, entries: names.into_iter().zip(values).collect() })
    }

    /// # Errors
    /// [`Error::Device`] if the kernels export nothing of this name.
    pub fn value(&self, name: &str) -> Result<V, Error> {
        let found = self.entries.iter().find(|(entry, _)| entry == name);
        found
            .map(|&(_, value)| value)
            .ok_or_else(|| other(format!("`{}` has no entry `{name}`", self.symbol)))
    }
}

impl Layout {
    /// A size that the host reads from the kernels.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn size(&self, name: &str) -> Result<usize, Error> {
        let value = self.value(name)?;
        usize::try_from(value).map_err(|_| other(format!("`{}` has {name} = {value}", self.symbol)))
    }

    /// Checks that host and kernels agree.
    ///
    /// # Errors
    /// [`Error::Device`] that names the first entry that differs.
    pub fn check(&self, expected: &[(&str, usize)]) -> Result<(), Error> {
        for &(name, value) in expected {
            let found = self.value(name)?;
            if usize::try_from(found) != Ok(value) {
                let symbol = &self.symbol;
                return Err(other(format!(
                    "`{symbol}` has {name} = {found}, the host expects {value}: kernels and host are of different versions"
                )));
            }
        }
        Ok(())
    }
}
