//! The order in which the blocks of threads of a launch take up their tasks: `kernels/task.cuh`.

use core::ops::Range;

/// Panels of a group of rows.
pub(super) const GROUP: usize = 2;

/// A sweep is this many phases behind the one before over the same L.
const BEHIND: usize = 2;

/// What a block of threads does: the rows of a group through the panels of a stretch; or who leads the group goes on from
/// there up to the diagonal and through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Task {
    sweep: usize,
    group: usize,
    stretch: usize,
    leads: bool,
}

impl Task {
    /// As the kernel takes it.
    fn word(self) -> i32 {
        debug_assert!(self.sweep < 8 && self.group < 1 << 16 && self.stretch < 1 << 12);
        let word = self.group | self.stretch << 16 | self.sweep << 28 | usize::from(self.leads) << 31;
        (word as u32).cast_signed()
    }
}

/// Tasks of one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    panels: usize,
    sweeps: usize,
    /// Panels of a stretch.
    width: usize,
}

impl Schedule {
    pub fn new(panels: usize, sweeps: usize) -> Self {
        let width = std::env::var("CHOLUPDATE_WIDTH").map_or(8, |w| w.parse().unwrap());
        Self { panels, sweeps, width }
    }

    /// How many tasks.
    pub fn len(self) -> usize {
        let of_sweep = |group: usize| group * GROUP / self.width + 2;
        self.sweeps * (0..self.groups()).map(of_sweep).sum::<usize>()
    }

    pub fn width(self) -> usize {
        self.width
    }

    /// The tasks as the kernel takes them, in an order in which each is behind all that it waits for.
    pub fn words(self) -> impl Iterator<Item = i32> {
        self.tasks().into_iter().map(Task::word)
    }

    fn groups(self) -> usize {
        self.panels.div_ceil(GROUP)
    }

    /// The groups whose own panels are in a stretch.
    fn own(self, stretch: usize) -> Range<usize> {
        let per_stretch = self.width / GROUP;
        (stretch * per_stretch).min(self.groups())..((stretch + 1) * per_stretch).min(self.groups())
    }

    fn tasks(self) -> Vec<Task> {
        let stretches = self.panels.div_ceil(self.width);
        let mut tasks = Vec::new();
        for time in 0..=stretches + BEHIND * (self.sweeps - 1) {
            for sweep in 0..self.sweeps {
                match time.checked_sub(BEHIND * sweep) {
                    Some(phase) if phase <= stretches => self.phase(sweep, phase, &mut tasks),
                    _ => {}
                }
            }
        }
        tasks
    }

    /// The rows through the stretch before, and who leads those of the stretch behind: they wait for the stretch of the
    /// phase, whose leaders have begun. What they themselves wait for comes first.
    fn phase(self, sweep: usize, phase: usize, tasks: &mut Vec<Task>) {
        let lead = |stretch: usize, tasks: &mut Vec<Task>| {
            let first = stretch.saturating_sub(1);
            tasks.extend(self.own(stretch).map(|group| Task { sweep, group, stretch: first, leads: true }));
        };
        let Some(before) = phase.checked_sub(1) else {
            lead(0, tasks);
            lead(1, tasks);
            return;
        };
        let follow = |group| Task { sweep, group, stretch: before, leads: false };
        let next = self.own(phase + 1);
        tasks.extend(next.clone().map(follow));
        lead(phase + 1, tasks);
        tasks.extend((self.own(before).start..next.start).chain(next.end..self.groups()).map(follow));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a task waits for, as task.cuh and flow.cuh have it.
    fn awaited(task: Task, of: Schedule) -> Vec<Task> {
        let Task { sweep, group, stretch, leads } = task;
        let own = group * GROUP / of.width;
        let follower = |sweep, stretch| Task { sweep, group, stretch, leads: false };
        let leader = |group: usize| {
            let first = (group * GROUP / of.width).saturating_sub(1);
            Task { sweep, group, stretch: first, leads: true }
        };
        let mut awaited = Vec::new();
        // V, and L of the sweep before.
        awaited.extend(stretch.checked_sub(1).map(|before| follower(sweep, before)));
        awaited
            .extend(sweep.checked_sub(1).map(|before| follower(before, if leads { own } else { stretch })));
        // The panels, and who reads the L that is to be written.
        if leads {
            awaited.extend((stretch * of.width / GROUP..group).map(leader));
        } else {
            awaited.extend(of.own(stretch).filter(|&other| other <= group).map(leader));
            awaited.extend((stretch + 1 >= own).then(|| leader(group)));
        }
        awaited
    }

    #[test]
    fn each_task_is_there_once_and_behind_what_it_waits_for() {
        for (panels, sweeps, width) in [(1, 1, 2), (1, 8, 8), (7, 1, 2), (40, 3, 4), (65, 8, 8), (33, 2, 16)]
        {
            let of = Schedule { panels, sweeps, width };
            let tasks = of.tasks();
            assert_eq!(tasks.len(), of.len(), "{of:?}");
            let place = |task: Task| tasks.iter().position(|&other| other == task);
            for (at, &task) in tasks.iter().enumerate() {
                assert_eq!(place(task), Some(at), "{task:?} twice in {of:?}");
                for before in awaited(task, of) {
                    assert!(place(before).is_some_and(|before| before < at), "{before:?}, {task:?}, {of:?}");
                }
            }
        }
    }
}
