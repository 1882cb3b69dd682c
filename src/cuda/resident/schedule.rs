//! The order in which the blocks of threads of a launch take up their tasks: `kernels/resident/task.cuh`.

/// Panels of a group of rows.
pub(super) const GROUP: usize = 2;

/// What is done with a group of rows: by the numbers that `task.cuh` has, and of tasks wanted at the same time in this
/// order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// Through a stretch of panels, L and V, which is given on to the next.
    Carries = 0,
    /// The inverse of a diagonal block as the sweep before leaves it.
    Inverts = 1,
    /// With V alone from a stretch on to the diagonal, and through it.
    Leads = 2,
    /// Through a stretch of panels behind who leads.
    Follows = 3,
}

/// Where the parts of a task's word begin behind the group.
pub(super) const STRETCH_SHIFT: usize = 14;
pub(super) const SWEEP_SHIFT: usize = 26;
pub(super) const KIND_SHIFT: usize = 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Task {
    sweep: usize,
    group: usize,
    /// Or, where it inverts, which of the group's diagonal blocks.
    stretch: usize,
    kind: Kind,
}

/// A sweep is so many panels behind the one before over the same L: what it takes from a panel of the one to the same of
/// the other.
const BEHIND: usize = 24;

impl Task {
    /// As the kernel takes it.
    fn word(self) -> i32 {
        debug_assert!(self.group < 1 << STRETCH_SHIFT && self.stretch < 1 << (SWEEP_SHIFT - STRETCH_SHIFT));
        debug_assert!(self.sweep < 1 << (KIND_SHIFT - SWEEP_SHIFT));
        let (stretch, sweep) = (self.stretch << STRETCH_SHIFT, self.sweep << SWEEP_SHIFT);
        ((self.group | stretch | sweep | (self.kind as usize) << KIND_SHIFT) as u32).cast_signed()
    }
}

/// How the rows of a factor are cut up, for launches of one sweep or of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cutting {
    /// Panels of a stretch.
    width: usize,
    /// Stretches that a leader begins before its own: so many sixteenths of those that there are, rounded up, and so many
    /// at most.
    sixteenths: usize,
    reach: usize,
}

impl Cutting {
    /// Measured on an NVIDIA H200. Where there are multiprocessors to spare, the time is that of the panels one after the
    /// other: rows are cut finely, and all of the way is led. Where there are not, V alone and a stretch's beginning are work
    /// beside: half of the multiprocessors lead.
    pub fn new(order_panels: usize, together: bool, multiprocessors: usize) -> Self {
        let groups = order_panels.div_ceil(GROUP);
        if together {
            let (width, reach) = match groups {
                ..=16 => (4, 2),
                17..=32 => (8, 2),
                _ => (8, 1),
            };
            return Self { width, sixteenths: 16, reach };
        }
        let width = match groups {
            ..=4 => 2,
            5..=8 => 4,
            _ if 4 * groups <= multiprocessors => 8,
            _ => 16,
        };
        let sixteenths = (8 * multiprocessors / groups.max(1)).clamp(2, 16);
        Self { width, sixteenths, reach: usize::MAX }
    }
}

/// Tasks of one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    panels: usize,
    sweeps: usize,
    cutting: Cutting,
}

impl Schedule {
    pub fn new(panels: usize, sweeps: usize, cutting: Cutting) -> Self {
        // What the order below, and leaders, rest on.
        debug_assert!(cutting.width.is_multiple_of(GROUP) && cutting.width <= BEHIND);
        debug_assert!(cutting.sixteenths > 0 && cutting.reach > 0 && sweeps > 0);
        Self { panels, sweeps, cutting }
    }

    /// How many tasks.
    pub fn len(self) -> usize {
        self.sweeps * (0..self.groups()).map(|group| self.own(group) + 2).sum::<usize>()
            + (self.sweeps - 1) * self.panels
    }

    pub fn panels(self) -> usize {
        self.panels
    }

    pub fn sweeps(self) -> usize {
        self.sweeps
    }

    pub fn width(self) -> usize {
        self.cutting.width
    }

    /// For V of a group between stretches.
    pub fn places(self) -> usize {
        (0..self.groups()).map(|group| self.own(group) - self.first(group) + 1).max().unwrap_or(1)
    }

    /// The tasks as the kernel takes them, in an order in which each is behind all that it waits for.
    pub fn words(self) -> impl Iterator<Item = i32> {
        self.tasks().into_iter().map(Task::word)
    }

    fn groups(self) -> usize {
        self.panels.div_ceil(GROUP)
    }

    /// The stretch of a group's own panels.
    fn own(self, group: usize) -> usize {
        group * GROUP / self.cutting.width
    }

    /// The stretch where who leads a group begins.
    fn first(self, group: usize) -> usize {
        let own = self.own(group);
        own - (own * self.cutting.sixteenths).div_ceil(16).min(self.cutting.reach)
    }

    fn tasks(self) -> Vec<Task> {
        // When a task is wanted, in panels that are placed by then.
        let mut tasks = Vec::with_capacity(self.len());
        // When the last tasks of a group begin, in the sweep before.
        let mut begun = vec![0; self.groups()];
        for sweep in 0..self.sweeps {
            let shift = BEHIND * sweep;
            let mut leads = 0;
            for group in 0..self.groups() {
                let mut add = |time, stretch, kind| tasks.push((time, Task { sweep, group, stretch, kind }));
                let blocks = if sweep > 0 { GROUP.min(self.panels - group * GROUP) } else { 0 };
                (0..blocks).for_each(|block| add(begun[group], block, Kind::Inverts));
                let (own, first) = (self.own(group), self.first(group));
                // Who leads needs two thirds of the time that the panels do.
                let way = group * GROUP - first * self.cutting.width;
                let begins = (group * GROUP - 2 * way / 3)
                    .saturating_sub(self.cutting.width)
                    .max(first * self.cutting.width);
                leads = leads.max(begins + shift).max(begun[group]);
                add(leads, first, Kind::Leads);
                for stretch in 0..=own {
                    let time = (stretch + 1) * self.cutting.width + shift;
                    if stretch < first {
                        add(time, stretch, Kind::Carries);
                    } else {
                        add(time.max(leads), stretch, Kind::Follows);
                    }
                }
                begun[group] = leads.max((own + 1) * self.cutting.width + shift);
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

    /// What a task waits for, as task.cuh, critical_path.cuh and update_task.cuh have it.
    fn awaited(task: Task, of: Schedule) -> Vec<Task> {
        let Task { sweep, group, stretch, kind } = task;
        let follower = |sweep: usize, stretch: usize| {
            let kind = if stretch < of.first(group) { Kind::Carries } else { Kind::Follows };
            Task { sweep, group, stretch, kind }
        };
        let leader = |group: usize| Task { sweep, group, stretch: of.first(group), kind: Kind::Leads };
        let before = sweep.checked_sub(1);
        let mut awaited = Vec::new();
        if kind == Kind::Inverts {
            awaited.extend(before.map(|before| follower(before, of.own(group))));
            return awaited;
        }
        // V.
        if stretch > of.first(group) {
            awaited.push(leader(group));
        } else if stretch > 0 {
            awaited.push(follower(sweep, stretch - 1));
        }
        // L of the sweep before.
        if let Some(before) = before {
            let last = if kind == Kind::Leads { of.own(group) } else { stretch };
            awaited.extend((stretch..=last).map(|stretch| follower(before, stretch)));
        }
        // The panels, and who reads the L that is to be written.
        let panels = stretch * of.cutting.width / GROUP..(stretch + 1) * of.cutting.width / GROUP;
        match kind {
            Kind::Leads => {
                awaited.extend((panels.start..group).map(leader));
                let blocks = before.map_or(0, |_| GROUP.min(of.panels - group * GROUP));
                let inverter = |block| Task { sweep, group, stretch: block, kind: Kind::Inverts };
                awaited.extend((0..blocks).map(inverter));
            }
            Kind::Follows => awaited.extend(panels.filter(|&other| other < group).chain([group]).map(leader)),
            _ => awaited.extend(panels.map(leader)),
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
    fn each_task_is_there_once_and_behind_what_it_waits_for() {
        for panels in [1, 2, 7, 8, 17, 33, 64, 65, 150, 300] {
            for multiprocessors in [1, 4, 20, 108, 132] {
                for sweeps in [1, 2, 16] {
                    let cutting = Cutting::new(panels, sweeps > 1, multiprocessors);
                    is_in_order(Schedule::new(panels, sweeps, cutting));
                    // V that begins late.
                    is_in_order(Schedule::new(panels.div_ceil(2), sweeps, cutting));
                }
            }
        }
        for (panels, sweeps, width) in [(1, 8, 8), (7, 1, 2), (40, 3, 4), (65, 8, 24), (33, 2, 16)] {
            for (sixteenths, reach) in [(16, 1000), (11, 1000), (8, 2), (16, 1)] {
                is_in_order(Schedule::new(panels, sweeps, Cutting { width, sixteenths, reach }));
            }
        }
    }
}
