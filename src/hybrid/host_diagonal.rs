//! The diagonal step of a panel on the CPU, one rank block after the other, and the reflectors that it computes.

use super::form::{COLUMN_GROUP, Form};
use super::host_part::{HostPart, Out, STEP};
use super::reflectors::Group;
use crate::host::pool::wait_until;
use crate::real::Real;
use cholupdate_kernels::health::Health;
use cholupdate_kernels::panel::Panel;
use cholupdate_kernels::steps::Breakdown;
use cholupdate_kernels::sweep::entries::Entries;
use core::sync::atomic::Ordering;

impl<T: Real> HostPart<T> {
    /// The diagonal step of one rank block, after that of the previous one. The reflectors are written to `out` in the device's
    /// layout, unless it is null.
    ///
    /// # Safety
    /// `host` describes the host part, readable at `src` and writable at `dst`. No other code uses it or `out`. Each rank block
    /// is done once after `begin`, and the ones before it have been started.
    pub unsafe fn diagonal(&self, at: usize, panel: Panel, host: Entries<T>, out: Out<T>) {
        let own = &self.each[at];
        let job = self.job(at, host, panel.index, STEP);
        let mut sound = panel.cols;
        for (index, first) in panel.block().step_by(STEP).enumerate() {
            let done = first - panel.first;
            if let Some(before) = at.checked_sub(1).map(|before| &self.each[before]) {
                wait_until(|| before.done.load(Ordering::Acquire) >= panel.cols.min(done + STEP));
                // After a breakdown only an earlier one counts, which this rank block may find.
                sound = sound.min(before.sound.load(Ordering::Relaxed));
            }
            let cols = STEP.min(sound.saturating_sub(done));
            if cols > 0 {
                let step = Panel { index, first, cols };
                // SAFETY: the caller guarantees the memory. Earlier rank blocks have been applied to all rows of these columns,
                // and this one's earlier steps to these rows of V.
                let outcome = unsafe { job.diagonal(step, &mut Health::default()) };
                if let Err(Breakdown { column }) = outcome {
                    sound = column - panel.first;
                } else if cols == STEP {
                    // SAFETY: as above.
                    unsafe { job.trailing(step, step.end()..panel.end()) };
                }
            }
            own.sound.store(sound, Ordering::Relaxed);
            own.done.store(panel.cols.min(done + STEP), Ordering::Release);
        }
        if sound == panel.cols && !out.0.is_null() {
            // SAFETY: the reflectors have been computed; the caller guarantees `out`, and this part of it belongs to this rank
            // block.
            unsafe { self.reflectors(at, panel, out) };
        }
        own.written.store(true, Ordering::Release);
    }

    /// Writes the reflectors of a rank block of `panel`, which is a full panel, in the device's layout.
    ///
    /// # Safety
    /// As `diagonal`, for the part of `out` that belongs to the rank block; the reflectors have been computed.
    unsafe fn reflectors(&self, at: usize, panel: Panel, out: Out<T>) {
        let nowhere =
            Entries::<T> { src: core::ptr::null(), src_stride: 0, dst: core::ptr::null_mut(), dst_stride: 0 };
        let job = self.job(at, nowhere, panel.index, self.panel_cols);
        let elements = self.blocking.elements();
        let scalars = self.blocking.form.group_scalars::<T>(elements);
        let groups = self.panel_cols / COLUMN_GROUP;
        let source = |group: usize| Group {
            job: &job,
            panel: Panel { index: 0, ..panel },
            first: group * COLUMN_GROUP,
        };
        let own = 0..panel.cols / COLUMN_GROUP;
        // SAFETY: the reflectors have been computed.
        let interchanged = own.clone().any(|group| unsafe { source(group).has_interchanges() });
        self.each[at].interchanged.store(interchanged, Ordering::Relaxed);
        // Groups follow each other, in less memory.
        let taken = if interchanged { COLUMN_GROUP * (self.blocking.blocks.width + 2) } else { scalars };
        for group in own {
            // SAFETY: this part of `out` belongs to this rank block, and has the length of the groups.
            unsafe {
                let first = out.0.add(at * groups * scalars + group * taken);
                let out = core::slice::from_raw_parts_mut(first, taken);
                match self.blocking.form {
                    _ if interchanged => source(group).interchanged(out),
                    Form::Columns { lanes } => source(group).by_column(out, lanes, elements),
                    Form::Tensor => source(group).for_tensor_cores(out),
                }
            }
        }
    }
}
