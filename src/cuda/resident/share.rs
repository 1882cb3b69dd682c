//! Which row blocks of L a device has, where several devices have L.
//!
//! A row block has 128 rows. The devices have them block-cyclically: some neighbours at a time, in turn. A device stores its row
//! blocks one after the other, each column-major with its columns up to its diagonal block, so that n rows take n²/2 entries on
//! all devices together, and new rows come at the end.

use super::sizes::{PANEL_COLS, ROW_BLOCK, ROW_BLOCK_PANELS};
use crate::sweep::cyclic::owner;
use core::ops::Range;

/// The row blocks of one of several devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::cuda) struct Share {
    devices: usize,
    device: usize,
    /// Neighbours that a device has at a time.
    together: usize,
}

impl Share {
    /// All row blocks.
    pub const WHOLE: Self = Self { devices: 1, device: 0, together: 1 };

    pub fn new(devices: usize, device: usize, together: usize) -> Self {
        debug_assert!(device < devices && together > 0);
        Self { devices, device, together }
    }

    /// The device that has a row block.
    pub fn owner(self, row_block: usize) -> usize {
        owner(row_block, self.together, self.devices)
    }

    pub fn has(self, row_block: usize) -> bool {
        self.owner(row_block) == self.device
    }

    /// The row blocks of the device among the first `count`.
    pub fn row_blocks(self, count: usize) -> impl Iterator<Item = usize> {
        (0..count).filter(move |&row_block| self.has(row_block))
    }

    /// Entries of these row blocks.
    pub fn entries(self, count: usize) -> usize {
        self.row_blocks(count).map(entries_of).sum()
    }

    /// Where each of these row blocks begins in the memory of the device, and its number.
    pub fn places(self, count: usize) -> impl Iterator<Item = (usize, usize)> {
        self.row_blocks(count).scan(0, |next, row_block| {
            let at = *next;
            *next += entries_of(row_block);
            Some((row_block, at))
        })
    }

    /// Panels that a device has at a time.
    pub fn panels_together(self) -> usize {
        self.together * ROW_BLOCK_PANELS
    }

    /// The tasks of the backward substitution on the device, in an order in which each comes after those of all devices that it
    /// waits for: blocks of neighbouring panels from the last one on, and for each its own panels, then those before it, from the
    /// last one on. As words of `solve.cu`: the panel, and from bit 16 on the block.
    pub fn backward(self, panels: usize) -> impl Iterator<Item = i32> {
        let together = self.panels_together();
        let own =
            (0..panels.div_ceil(together)).rev().filter(move |block| block % self.devices == self.device);
        own.flat_map(move |block| {
            let panels = 0..((block + 1) * together).min(panels);
            panels.rev().map(move |panel| ((panel | block << 16) as u32).cast_signed())
        })
    }

    /// The panels of these row blocks.
    pub fn panels(self, count: usize) -> impl Iterator<Item = usize> {
        self.row_blocks(count)
            .flat_map(|row_block| row_block * ROW_BLOCK_PANELS..(row_block + 1) * ROW_BLOCK_PANELS)
    }
}

/// The number of row blocks of a factor of this order.
pub(in crate::cuda) fn row_blocks(order: usize) -> usize {
    order.div_ceil(ROW_BLOCK)
}

/// The rows of a row block of a factor of this order.
pub(in crate::cuda) fn rows_of(row_block: usize, order: usize) -> Range<usize> {
    row_block * ROW_BLOCK..((row_block + 1) * ROW_BLOCK).min(order)
}

/// Entries of a row block.
fn entries_of(row_block: usize) -> usize {
    const _: () = assert!(ROW_BLOCK == ROW_BLOCK_PANELS * PANEL_COLS);
    (row_block + 1) * ROW_BLOCK * ROW_BLOCK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backward_tasks_come_after_what_they_wait_for() {
        for (devices, together, panels) in [(1, 1, 5), (2, 1, 9), (3, 2, 20), (4, 3, 2), (2, 2, 17)] {
            let lists: Vec<Vec<i32>> = (0..devices)
                .map(|device| Share::new(devices, device, together).backward(panels).collect())
                .collect();
            let mut places = vec![0; devices];
            let mut done = std::collections::HashSet::new();
            let total: usize = lists.iter().map(Vec::len).sum();
            while done.len() < total {
                let before = done.len();
                for (place, list) in places.iter_mut().zip(&lists) {
                    let Some(&word) = list.get(*place) else { continue };
                    let (panel, block) = (word & 0xffff, word >> 16);
                    let first = block * (together * ROW_BLOCK_PANELS) as i32;
                    let end = (first + (together * ROW_BLOCK_PANELS) as i32).min(panels as i32);
                    // The sums from the next block, and the solutions of this one.
                    let sums = end == panels as i32 || done.contains(&(panel | (block + 1) << 16));
                    let solved =
                        (first.max(panel + 1)..end).all(|other| done.contains(&(other | block << 16)));
                    if sums && solved {
                        done.insert(word);
                        *place += 1;
                    }
                }
                assert!(done.len() > before, "{devices} {together} {panels}");
            }
        }
    }

    #[test]
    fn row_blocks_lie_one_after_the_other_and_each_is_on_one_device() {
        for (devices, together, count) in [(1, 1, 5), (2, 1, 9), (3, 2, 20), (4, 3, 2)] {
            let mut found = vec![0; count];
            for device in 0..devices {
                let share = Share::new(devices, device, together);
                let mut end = 0;
                for (row_block, at) in share.places(count) {
                    assert_eq!(at, end);
                    end += entries_of(row_block);
                    found[row_block] += 1;
                }
                assert_eq!(end, share.entries(count));
            }
            assert!(found.iter().all(|&times| times == 1));
        }
    }
}
