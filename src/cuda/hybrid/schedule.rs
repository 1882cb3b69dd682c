//! The hybrid backend of the sweep: who does what of a panel, and who waits for whom.
//!
//! The CPU makes the diagonal block of a panel and transforms its head, the rows that meet the next diagonal
//! block; neither crosses the link. The rows below go through a slot of the device. Of V, the device sends
//! home only the rows that the CPU needs for the head of the panel after next, and it works on those first.
//! So while the CPU is at panel p + 1 the device is at the tail of panel p, the tail of panel p + 1 is on its
//! way up, and that of panel p − 1 on its way down.
//!
//! The work of the CPU on one panel is one round of its crew: threads that stand by take the diagonal block,
//! the head and the calls of the driver side by side.

use super::enqueue::Calls;
use super::host_part::{Out, Tops};
use super::panels::{Panels, tail_rows};
use super::pipe::Pipe;
use crate::cpu::kernels::job::Columns;
use crate::cuda::hybrid::passes::Passes;
use crate::cuda::hybrid::tuning::Tuning;
use crate::error::Error;
use crate::host::buffer::Buffer;
use crate::host::pool::{Leader, wait_until};
use crate::report::Health;
use crate::scalar::Scalar;
use crate::sweep::plan::{Panel, Plan};
use crate::sweep::{Backend, Breakdown};
use core::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

impl From<Breakdown> for Error {
    fn from(Breakdown { column }: Breakdown) -> Self {
        Self::NotPositiveDefinite { column }
    }
}

/// Where the new columns of L go.
pub(super) enum Sink<'a, T> {
    InPlace,
    Other(&'a mut Panels<T>),
    /// Nowhere; the top of the panel at work is written here.
    Nowhere(&'a mut Buffer<T>),
}

/// A wait of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// A slot is not filled before its last panel has left it.
    SlotLeft,
    /// A panel is not worked on before it has arrived.
    Arrived,
    /// The rows that are needed next are not worked on before the reflectors and the panel are there.
    Ready,
    /// A panel does not leave before it has been worked on.
    Worked,
    /// Nor before those rows have.
    WorkedAhead,
    /// The CPU does not read rows of V before they have come.
    Exported,
    /// A sweep does not end before everything asked for is done.
    Finished,
}

/// One sweep of one factor.
pub(super) struct Streaming<'a, T: Scalar> {
    pub pipe: &'a mut Pipe<T>,
    pub tops: &'a mut Tops<T>,
    pub l: &'a mut Panels<T>,
    pub sink: Sink<'a, T>,
    pub crew: Leader<'a>,
    pub passes: Passes,
    pub tuning: &'a Tuning,
    pub plan: &'a Plan,
    pub health: Health<T>,
    /// The panel that was asked for last.
    pub coming: Option<Panel>,
    /// Something of the new L may be in its place.
    pub written: bool,
}

impl<T: Scalar> Streaming<'_, T> {
    fn calls(&self) -> Calls<'_, T> {
        let Self { pipe, l, sink, passes, tuning, plan, .. } = self;
        Calls { pipe, l, sink, passes: *passes, tuning, plan }
    }

    /// Sends V up and takes its first rows, from `v_host`.
    pub fn start(&mut self) -> Result<(), Error> {
        let Self { pipe, tops, plan, .. } = self;
        let len = pipe.v_stride * self.passes.columns();
        let first = Panel { index: 0, first: plan.start, cols: plan.panel_cols };
        if !tail_rows(first, plan.rows).is_empty() {
            // SAFETY: nothing is under way yet; `v_host` is not written before the first rows come back, which
            // is behind `ready` and with that behind this.
            unsafe { pipe.work.upload(&pipe.v_host, 0..len, pipe.v.slice(0..len))? };
        }
        if let Some(first) = plan.panel(0) {
            // SAFETY: as above.
            unsafe { tops.load(&pipe.v_host, pipe.v_stride, first.block()) };
        }
        Ok(())
    }

    /// The top of `panel` for the steps of the CPU.
    fn top(&mut self, panel: Panel) -> Columns<T> {
        let to = match &mut self.sink {
            Sink::InPlace => self.l.top(panel),
            Sink::Other(other) => other.top(panel),
            Sink::Nowhere(scratch) => {
                let (_, stride) = self.l.top(panel);
                let first = panel.first as isize;
                (scratch.as_mut_ptr().wrapping_offset(-first * stride - first), stride)
            }
        };
        let (src, src_stride) = self.l.top(panel);
        Columns { src: src.cast_const(), src_stride, dst: to.0, dst_stride: to.1 }
    }
}

impl<T: Scalar> Backend for Streaming<'_, T> {
    type Stop = Error;

    /// The driver is asked together with the work on the panel before, the first panel apart.
    fn fetch(&mut self, panel: Panel) -> Result<(), Error> {
        self.coming = Some(panel);
        if panel.index > 0 { Ok(()) } else { self.calls().fetch(panel) }
    }

    fn work(&mut self, panel: Panel, head: Range<usize>, tail: Range<usize>) -> Result<(), Error> {
        self.written = true;
        let top = self.top(panel);
        // The device has its copy of what was there, the reflectors of two panels ago: it was asked for
        // before the rows of V that the last head waited for.
        let set = &self.pipe.reflectors[panel.index % 2].host;
        let out = Out(if tail.is_empty() { core::ptr::null_mut() } else { set.as_ptr() });
        // SAFETY: the top is borrowed exclusively.
        unsafe { self.tops.begin(panel, &head, top) };
        let coming = self.coming.filter(|coming| coming.index > panel.index);
        let failed = Mutex::new(None);
        let note = |outcome: Result<(), Error>| {
            if let Err(error) = outcome {
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                false
            } else {
                true
            }
        };
        let arrived = OnceLock::new();
        let (calls, tops) = (self.calls(), &*self.tops);
        let (passes, chunks) = (self.passes.count(), tops.chunks(&head));
        self.crew.share(Piece::count(passes, chunks), &|at| match Piece::at(at, passes) {
            Piece::Fetch => {
                note(coming.map_or(Ok(()), |coming| calls.fetch(coming)));
            }
            // SAFETY: each pass once, begun in order; the top is borrowed exclusively, and all earlier panels
            // have been applied to it. So are the reflectors, as above.
            Piece::Diagonal(pass) => unsafe { tops.diagonal(pass, panel, top, out) },
            Piece::Below => {
                if !tail.is_empty() && tops.made(panel) {
                    note(calls.below(panel, &tail));
                }
            }
            Piece::Await => {
                let _ = arrived.set(note(calls.await_rows(panel)));
            }
            Piece::Head(chunk) => {
                wait_until(|| arrived.get().is_some());
                if arrived.get() == Some(&true) {
                    let v = (&calls.pipe.v_host, calls.pipe.v_stride);
                    // SAFETY: as above; these rows of V have come, and others come to other rows.
                    unsafe { tops.head(chunk, panel, &head, top, v) };
                }
            }
        });
        if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        // SAFETY: as above, and all pieces are done.
        unsafe { self.tops.outcome(panel, top, &mut self.health) }
            .map_err(|column| Error::from(Breakdown { column }))
    }

    fn finish(&mut self) -> Result<(), Error> {
        if waits(Wait::Finished) { self.pipe.drain() } else { Ok(()) }
    }
}

/// What one thread does of a panel, in an order in which a piece waits only for pieces before it.
enum Piece {
    /// Asks for the next panel's tail.
    Fetch,
    /// A pass of the diagonal step.
    Diagonal(usize),
    /// Asks for the tail, behind all passes.
    Below,
    /// Waits for the rows of V that the head needs.
    Await,
    /// Some rows of the head, behind `Await`, and in each pass behind its diagonal step.
    Head(usize),
}

impl Piece {
    fn count(passes: usize, chunks: usize) -> usize {
        passes + chunks + 3
    }

    fn at(at: usize, passes: usize) -> Self {
        match at {
            0 => Self::Fetch,
            _ if at <= passes => Self::Diagonal(at - 1),
            _ => match at - passes - 1 {
                0 => Self::Below,
                1 => Self::Await,
                later => Self::Head(later - 2),
            },
        }
    }
}

impl<T: Scalar> Drop for Streaming<'_, T> {
    /// However a sweep ends, no copy goes on when the memory it is between is the caller's again.
    fn drop(&mut self) {
        if waits(Wait::Finished) {
            let _ = self.pipe.drain();
        }
    }
}

/// Whether to wait: always, but for the tests that show what each wait is for.
#[cfg(not(test))]
pub(super) fn waits(_: Wait) -> bool {
    true
}

#[cfg(test)]
pub(super) use super::tests::waits;
