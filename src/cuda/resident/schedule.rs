//! The schedule of the resident sweep: tasks, and the order in which thread blocks take them. The work of a task is in
//! `kernels/resident/task.cuh`.
//!
//! L is divided into row blocks of 128 rows, and these into panel ranges of several panels of 64 columns. One task of each row
//! block is on the critical path: it transforms V alone up to the diagonal, where it computes the next panels. Update tasks
//! compute the new L after it, from V as it was at the beginning of each range.
//!
//! ```text
//!                    panel range 0      1            2            3
//! row block 0        C U
//!           1        C C U
//!           ..
//!           k        F ───── V ─────>   C ── V ──>   ── V ──>     C      C: critical path, V alone, then the diagonal
//!                                       U            U            U      U: update, L and V, as soon as there is room
//!                                                                        F: forwarding, L and V, before C begins
//! ```
//!
//! With several rank blocks of V the sweep of each follows the previous one over the same L, at a distance of some panels; a
//! task of kind I inverts each diagonal block that the previous sweep has left. There may be such tasks behind the last sweep too,
//! for later launches and solves. In the list each task comes after all tasks for
//! which it waits, and thread blocks take tasks in this order, so a task waits only for tasks that have started.
//!
//! Where several devices have L, each has the tasks of its own row blocks, in this order as well. The first task of all that is
//! not done then waits for no other, so the devices do not wait for each other for ever.

use super::share::Share;
use super::sizes::ROW_BLOCK_PANELS;

/// The kind of work of a task on a row block, with the numbers of `task.cuh`. Tasks that are needed at the same time are in
/// this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::cuda) enum Kind {
    /// Applies a panel range to L and V, and passes V to the next range.
    Forwarding = 0,
    /// Inverts a diagonal block that the sweep before has left.
    Inverting = 1,
    /// Applies panels to V alone, from a panel range to the diagonal blocks of the row block, and processes those.
    CriticalPath = 2,
    /// Applies a panel range to L and V, after the task on the critical path.
    Update = 3,
}

/// Bit positions of the parts of a task's word after the row block.
pub(in crate::cuda) const RANGE_SHIFT: usize = 14;
pub(in crate::cuda) const RANK_BLOCK_SHIFT: usize = 26;
pub(in crate::cuda) const KIND_SHIFT: usize = 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Task {
    /// The rank block, or the sweep over it.
    sweep: usize,
    row_block: usize,
    /// For an inverting task, the index of the diagonal block in the row block.
    range: usize,
    kind: Kind,
}

impl Task {
    /// In the format of the kernel.
    fn word(self) -> i32 {
        debug_assert!(self.row_block < 1 << RANGE_SHIFT);
        debug_assert!(self.range < 1 << (RANK_BLOCK_SHIFT - RANGE_SHIFT));
        debug_assert!(self.sweep < 1 << (KIND_SHIFT - RANK_BLOCK_SHIFT));
        let (range, sweep) = (self.range << RANGE_SHIFT, self.sweep << RANK_BLOCK_SHIFT);
        ((self.row_block | range | sweep | (self.kind as usize) << KIND_SHIFT) as u32).cast_signed()
    }
}

/// The partition of L for a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cuda) struct Partition {
    /// Panels of a panel range.
    range_panels: usize,
    /// Lookahead depth: a task on the critical path processes this many sixteenths of the panel ranges before its own, rounded
    /// up, and at most `depth` of them.
    sixteenths: usize,
    depth: usize,
    /// The number of panels by which a sweep follows the previous one over the same L: the time from a panel of one sweep to the
    /// same panel of the next, in panels. At least a panel range.
    distance: usize,
}

impl Partition {
    /// Measured on an NVIDIA H200 with 1, 2, 4 and 8 sweeps. If there are enough multiprocessors, the time is that of the panels
    /// one after the other: ranges are short, and the critical path covers many of them. If not, V alone and the starts of ranges
    /// are additional work: three eighths of the multiprocessors are on the critical path, or a quarter if they are far from enough.
    pub fn new(order_panels: usize, sweeps: usize, multiprocessors: usize) -> Self {
        let row_blocks = order_panels.div_ceil(ROW_BLOCK_PANELS);
        if sweeps <= 1 {
            let range_panels = match row_blocks {
                ..=8 => 2,
                9..=16 => 4,
                _ if 4 * row_blocks <= multiprocessors => 8,
                _ => 16,
            };
            let on_critical_path = if 2 * row_blocks <= multiprocessors { 6 } else { 4 };
            let sixteenths = (on_critical_path * multiprocessors / row_blocks.max(1)).clamp(2, 16);
            return Self { range_panels, sixteenths, depth: usize::MAX, distance: range_panels };
        }
        let (range_panels, depth, distance) = match (sweeps, row_blocks) {
            (2, ..=8) => (2, usize::MAX, 16),
            (2, ..=16) => (4, usize::MAX, 16),
            (2, ..=64) => (8, 3, 24),
            (2, _) => (16, 1, 24),
            (_, ..=8) => (2, 2, 16),
            (_, ..=16) => (4, 2, 16),
            (_, ..=32) => (4, 3, 16),
            (_, ..=64) => (8, 1, 16),
            _ => (12, 1, 24),
        };
        Self { range_panels, sixteenths: 16, depth, distance }
    }
}

/// The partitions for launches of one sweep, of two, and of more.
#[derive(Clone, Copy, Debug)]
pub(in crate::cuda) struct Partitions([Partition; 3]);

impl Partitions {
    pub fn new(order_panels: usize, multiprocessors: usize) -> Self {
        Self([1, 2, 3].map(|sweeps| Partition::new(order_panels, sweeps, multiprocessors)))
    }

    pub fn of(self, sweeps: usize) -> Partition {
        self.0[sweeps.clamp(1, 3) - 1]
    }

    /// Numbers of sweeps up to `most`, one of which takes the most memory.
    pub fn largest(most: usize) -> [usize; 3] {
        [1, 2, most].map(|sweeps| sweeps.min(most))
    }
}

/// The tasks of one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cuda) struct Schedule {
    panels: usize,
    sweeps: usize,
    partition: Partition,
    /// Whether the diagonal blocks of the last sweep are inverted.
    leaves_inverses: bool,
    /// The row blocks of the device, and the number in L of the first row block of the sweep.
    share: Share,
    first_row_block: usize,
}

impl Schedule {
    pub fn new(panels: usize, sweeps: usize, partition: Partition) -> Self {
        // Required by the order below and by the critical path.
        debug_assert!(
            partition.range_panels.is_multiple_of(ROW_BLOCK_PANELS)
                && partition.range_panels <= partition.distance
        );
        debug_assert!(partition.sixteenths > 0 && partition.depth > 0 && sweeps > 0);
        Self { panels, sweeps, partition, leaves_inverses: false, share: Share::WHOLE, first_row_block: 0 }
    }

    /// The same for one of several devices. The sweep begins at this row block of L.
    pub fn on(self, share: Share, first_row_block: usize) -> Self {
        Self { share, first_row_block, ..self }
    }

    /// The same with inverses of the diagonal blocks that the last sweep leaves.
    pub fn leaving_inverses(self) -> Self {
        debug_assert!(
            self.sweeps < 1 << (KIND_SHIFT - RANK_BLOCK_SHIFT),
            "a word has no number for these tasks"
        );
        Self { leaves_inverses: true, ..self }
    }

    /// Whether it leaves these inverses.
    pub fn leaves_inverses(self) -> bool {
        self.leaves_inverses
    }

    /// The number of tasks.
    pub fn len(self) -> usize {
        let inverted = self.sweeps - 1 + usize::from(self.leaves_inverses);
        let tasks =
            |row_block| self.sweeps * (self.own(row_block) + 2) + inverted * self.panels_of(row_block);
        (0..self.row_blocks()).filter(|&row_block| self.has(row_block)).map(tasks).sum()
    }

    pub fn panels(self) -> usize {
        self.panels
    }

    pub fn sweeps(self) -> usize {
        self.sweeps
    }

    pub fn range_panels(self) -> usize {
        self.partition.range_panels
    }

    /// Slots for V of a row block between ranges.
    pub fn v_slots(self) -> usize {
        (0..self.row_blocks())
            .map(|row_block| self.own(row_block) - self.first(row_block) + 1)
            .max()
            .unwrap_or(1)
    }

    /// The tasks in the format of the kernel, in an order in which each comes after all tasks for which it waits.
    pub fn words(self) -> impl Iterator<Item = i32> {
        self.tasks().into_iter().filter(move |task| self.has(task.row_block)).map(Task::word)
    }

    fn has(self, row_block: usize) -> bool {
        self.share.has(self.first_row_block + row_block)
    }

    /// Panels on the diagonal of a row block.
    fn panels_of(self, row_block: usize) -> usize {
        ROW_BLOCK_PANELS.min(self.panels - row_block * ROW_BLOCK_PANELS)
    }

    fn row_blocks(self) -> usize {
        self.panels.div_ceil(ROW_BLOCK_PANELS)
    }

    /// The range of a row block's own panels.
    fn own(self, row_block: usize) -> usize {
        row_block * ROW_BLOCK_PANELS / self.partition.range_panels
    }

    /// The range at which the task of a row block on the critical path begins.
    fn first(self, row_block: usize) -> usize {
        let own = self.own(row_block);
        own - (own * self.partition.sixteenths).div_ceil(16).min(self.partition.depth)
    }

    fn tasks(self) -> Vec<Task> {
        // The time at which a task is needed, in panels published by then.
        let mut tasks = Vec::new();
        // The time at which the last tasks of a row block begin, in the previous sweep.
        let mut begun = vec![0; self.row_blocks()];
        for sweep in 0..self.sweeps + usize::from(self.leaves_inverses) {
            let shift = self.partition.distance * sweep;
            let mut critical = 0;
            for row_block in 0..self.row_blocks() {
                let mut add = |time, range, kind| tasks.push((time, Task { sweep, row_block, range, kind }));
                let blocks = if sweep > 0 { self.panels_of(row_block) } else { 0 };
                if sweep == self.sweeps {
                    // No other task waits for these.
                    let time = begun[row_block] + self.partition.distance;
                    (0..blocks).for_each(|block| add(time, block, Kind::Inverting));
                    continue;
                }
                (0..blocks).for_each(|block| add(begun[row_block], block, Kind::Inverting));
                let (own, first) = (self.own(row_block), self.first(row_block));
                // V alone takes two thirds of the time of the panels.
                let way = row_block * ROW_BLOCK_PANELS - first * self.partition.range_panels;
                let begins = (row_block * ROW_BLOCK_PANELS - 2 * way / 3)
                    .saturating_sub(self.partition.range_panels)
                    .max(first * self.partition.range_panels);
                critical = critical.max(begins + shift).max(begun[row_block]);
                add(critical, first, Kind::CriticalPath);
                for range in 0..=own {
                    let time = (range + 1) * self.partition.range_panels + shift;
                    if range < first {
                        add(time, range, Kind::Forwarding);
                    } else {
                        add(time.max(critical), range, Kind::Update);
                    }
                }
                begun[row_block] = critical.max((own + 1) * self.partition.range_panels + shift);
            }
        }
        tasks.sort_by_key(|&(time, task)| (time, task.sweep, task.kind));
        tasks.into_iter().map(|(_, task)| task).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// The tasks for which a task waits, according to task.cuh, critical_path.cuh and update_task.cuh.
    fn awaited(task: Task, of: Schedule) -> Vec<Task> {
        let Task { sweep, row_block, range, kind } = task;
        let behind = |sweep: usize, range: usize| {
            let kind = if range < of.first(row_block) { Kind::Forwarding } else { Kind::Update };
            Task { sweep, row_block, range, kind }
        };
        let critical = |row_block: usize| Task {
            sweep,
            row_block,
            range: of.first(row_block),
            kind: Kind::CriticalPath,
        };
        let before = sweep.checked_sub(1);
        let mut awaited = Vec::new();
        if kind == Kind::Inverting {
            awaited.extend(before.map(|before| behind(before, of.own(row_block))));
            return awaited;
        }
        // V.
        if range > of.first(row_block) {
            awaited.push(critical(row_block));
        } else if range > 0 {
            awaited.push(behind(sweep, range - 1));
        }
        // L of the previous sweep.
        if let Some(before) = before {
            let last = if kind == Kind::CriticalPath { of.own(row_block) } else { range };
            awaited.extend((range..=last).map(|range| behind(before, range)));
        }
        // The panels, and the tasks that read the L to be overwritten.
        let panels = range * of.partition.range_panels / ROW_BLOCK_PANELS
            ..(range + 1) * of.partition.range_panels / ROW_BLOCK_PANELS;
        match kind {
            Kind::CriticalPath => {
                awaited.extend((panels.start..row_block).map(critical));
                let blocks =
                    before.map_or(0, |_| ROW_BLOCK_PANELS.min(of.panels - row_block * ROW_BLOCK_PANELS));
                let inverter = |block| Task { sweep, row_block, range: block, kind: Kind::Inverting };
                awaited.extend((0..blocks).map(inverter));
            }
            Kind::Update => {
                awaited.extend(panels.filter(|&other| other < row_block).chain([row_block]).map(critical))
            }
            _ => awaited.extend(panels.map(critical)),
        }
        awaited
    }

    fn is_in_order(of: Schedule) {
        let tasks = of.tasks();
        assert_eq!(tasks.len(), of.len(), "{of:?}");
        let places: HashMap<Task, usize> = (0..).zip(&tasks).map(|(at, &task)| (task, at)).collect();
        assert_eq!(places.len(), tasks.len(), "twice in {of:?}");
        for (at, &task) in tasks.iter().enumerate() {
            for before in awaited(task, of) {
                let found = places.get(&before).is_some_and(|&before| before < at);
                assert!(found, "{before:?}, {task:?}, {of:?}");
            }
        }
    }

    #[test]
    fn several_devices_have_each_task_once_and_in_order() {
        let whole =
            Schedule::new(65, 3, Partition { range_panels: 4, sixteenths: 11, depth: 9, distance: 16 });
        let words: Vec<i32> = whole.words().collect();
        for (devices, together, first) in [(1, 1, 0), (2, 1, 0), (2, 3, 5), (3, 2, 1), (40, 1, 0)] {
            let mut rest = words.clone();
            for device in 0..devices {
                let own = whole.on(Share::new(devices, device, together), first);
                let mut at = 0;
                let words: Vec<i32> = own.words().collect();
                assert_eq!(words.len(), own.len());
                for word in words {
                    at += rest[at..].iter().position(|&found| found == word).unwrap();
                    rest.remove(at);
                }
            }
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn each_task_is_there_once_and_behind_what_it_waits_for() {
        for panels in [1, 2, 7, 8, 17, 33, 64, 65, 150, 300] {
            for multiprocessors in [1, 4, 20, 108, 132] {
                for sweeps in [1, 2, 16] {
                    let partition = Partition::new(panels, sweeps, multiprocessors);
                    is_in_order(Schedule::new(panels, sweeps, partition));
                    if sweeps < 16 {
                        is_in_order(Schedule::new(panels, sweeps, partition).leaving_inverses());
                    }
                    // A V whose first nonzero row is late.
                    is_in_order(Schedule::new(panels.div_ceil(2), sweeps, partition));
                }
            }
        }
        for (panels, sweeps, range_panels) in [(1, 8, 8), (7, 1, 2), (40, 3, 4), (65, 8, 16), (33, 2, 12)] {
            for (sixteenths, depth) in [(16, 1000), (11, 1000), (8, 2), (16, 1)] {
                for distance in [range_panels, 16, 24] {
                    is_in_order(Schedule::new(
                        panels,
                        sweeps,
                        Partition { range_panels, sixteenths, depth, distance },
                    ));
                }
            }
        }
    }
}
