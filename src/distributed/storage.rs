//! The factor as a process stores it, and a sweep over it.

use super::broadcasts::{Broadcasts, Messages};
use super::network::Network;
use super::plan::LocalPlan;
use super::rows::{LocalRows, entries};
use super::sweep::{Distributed, Layout};
use super::v::{Rows, look};
use crate::cpu::tuning;
use crate::cpu::workers::{Chunk, Workers, cut};
use crate::error::Error;
use crate::host::squares::largest_of;
use crate::host::threads::Threads;
use crate::real::Real;
use crate::report::Modification;
use crate::storage::{Room, Safeguard, Staged, Swept, Target, Traits};
use crate::sweep::cyclic::Cyclic;
use crate::sweep::outline::Outline;
use crate::sweep::plan::{Panels, Plan};
use crate::sweep::signed::Signed;
use crate::sweep::stop::Stop;
use crate::sweep::weights::Weights;
use cholupdate_kernels::isa::Isa;
use cholupdate_kernels::sweep::job::Job;
use cholupdate_kernels::sweep::packed::Packed;
use cholupdate_kernels::sweep::shape::{MAX_LANES, by_column, shape, together};
use core::ops::Range;
use faer::{Mat, MatRef};

/// The rows of L that a process has, and all of its pivots.
pub(crate) struct LocalStorage<T, N> {
    pub net: N,
    pub threads: Threads,
    pub safeguard: Safeguard,
    pub l: LocalRows<T>,
    /// (n)
    pub pivots: Vec<T>,
    shadow: Option<LocalRows<T>>,
    /// The pivots from `start` on that the last sweep has computed.
    new_pivots: Vec<T>,
    signed: Signed<T>,
    v: Packed<T>,
    pub messages: Messages,
    chunks: Vec<Chunk>,
    report: Option<Modification>,
}

impl<T: Real, N: Network> LocalStorage<T, N> {
    pub fn new(net: N, (threads, safeguard): (Threads, Safeguard), l: LocalRows<T>, pivots: Vec<T>) -> Self {
        Self {
            net,
            threads,
            safeguard,
            l,
            pivots,
            shadow: None,
            new_pivots: Vec::new(),
            signed: Signed::default(),
            v: Packed::default(),
            messages: Messages::default(),
            chunks: Vec::new(),
            report: None,
        }
    }

    pub fn cyclic(&self) -> Cyclic {
        self.l.cyclic
    }

    /// Replaces the factor by one of another order.
    pub fn replace(&mut self, l: LocalRows<T>, pivots: Vec<T>) {
        (self.l, self.pivots, self.shadow) = (l, pivots, None);
    }

    /// Makes room for a factor of another order. New entries are zero.
    pub fn resize(&mut self, order: usize) {
        self.l.resize(order);
        if let Some(shadow) = &mut self.shadow {
            shadow.resize(order);
        }
    }

    /// Stages V, of which each process gives its rows. (local rows × k)
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `v`, the same on all processes.
    pub fn stage_rows(&mut self, v: MatRef<'_, T>, weights: Weights<'_, T>) -> Result<Outline, Error> {
        let cyclic = self.cyclic();
        let outline = look((&self.net, &cyclic), &mut self.signed, (v, weights), self.threads.par())?;
        if outline.first_column::<T>(cyclic.order).is_some() {
            let rank = outline.rank();
            let tile = match by_column(rank, cyclic.order) {
                true => v.nrows().max(1).next_multiple_of(MAX_LANES),
                false => shape::<T>(Isa::detect(), rank).tile,
            };
            self.v.pack(self.signed.columns(v), rank, v.nrows(), 0, tile);
        }
        Ok(outline)
    }

    /// The plan of a sweep on one process over as much of L as this one has, by which threads and stores are chosen.
    fn own_part(&self, columns: &Range<usize>, panel_cols: usize) -> Plan {
        let (rows, ranks) = (columns.len() as f64, self.cyclic().ranks as f64);
        let rows = (rows / ranks.sqrt()).ceil() as usize;
        Plan { rows, cols: rows, start: 0, panel_cols }
    }
}

impl<T: Real, N: Network> Swept<T> for LocalStorage<T, N> {
    fn traits(&self) -> Traits {
        Traits::new(self.safeguard)
    }

    fn order(&self) -> usize {
        self.cyclic().order
    }

    fn pivot(&self, column: usize) -> T {
        self.pivots[column]
    }

    fn row_norm(&self) -> Result<f64, Error> {
        let mut word = [!largest_of(&self.l.squares()).to_bits()];
        self.net.least(&mut word);
        Ok(f64::from_bits(!word[0]).sqrt())
    }

    fn reserve(&mut self, room: Room) -> Result<(), Error> {
        if room == Room::Shadow && self.shadow.is_none() {
            self.shadow = Some(LocalRows::zeros(self.cyclic()));
        }
        Ok(())
    }

    fn stage(&mut self, v: &Staged<'_, T>) -> Result<Outline, Error> {
        match *v {
            Staged::Given(v, weights) => {
                let v = v.on_host()?;
                let mut memory = Mat::new();
                let mine = Rows::All(v.as_ref()).mine_in(&self.cyclic(), &mut memory);
                self.stage_rows(mine, weights)
            }
            _ => Err(Error::OutOfRange { argument: "v", rule: "given by the caller" }),
        }
    }

    fn sweep(&mut self, outline: &Outline, columns: Range<usize>, target: Target) -> Result<(), Stop> {
        let (cyclic, isa, rank) = (self.cyclic(), Isa::detect(), outline.rank());
        let panel_cols = tuning::panel_cols(rank, cyclic.order);
        let plan = LocalPlan { cyclic, start: columns.start, end: columns.end, panel_cols };
        let (&Outline { plus, minus, .. }, shape) = (outline, shape::<T>(isa, rank));
        let (by_column, together) = (by_column(rank, cyclic.order), together(rank, cyclic.order));
        let reflector = match by_column {
            true => Job::<T>::coefficients_len(rank, together),
            false => Job::<T>::reflector_len(panel_cols, &shape, plus, minus),
        };
        let layout = Layout::new::<T>(panel_cols, reflector);
        self.messages.make_room(plan.panels(), layout.words);
        let own_part = self.own_part(&columns, panel_cols);
        let src = self.l.origins();
        let dst = match target {
            Target::InPlace => Some(src.clone()),
            Target::Shadow => {
                let shadow = self.shadow.get_or_insert_with(|| LocalRows::zeros(cyclic));
                Some(shadow.origins())
            }
            Target::Discard => None,
        };
        let of_a_block =
            src.last().map(|&src| entries(src, dst.as_ref().and_then(|dst| dst.last().copied())));
        let Some(l) = of_a_block else { return Ok(()) };
        let job = Job {
            isa,
            l,
            v: self.v.view(),
            stream: tuning::stream::<T>(isa, &l, &own_part, rank),
            large: tuning::large::<T>(&own_part),
            reflectors: core::ptr::null_mut(),
            reflector_sets: 1,
            panel_cols,
            block: shape.block,
            lanes: shape.lanes,
            by_column,
            together,
            at_once: true,
            plus,
            minus,
            scale: T::ONE,
            carried: None,
        };
        let threads = tuning::threads(self.threads, &own_part, rank);
        let each = plan.all_rows().len() / (4 * threads);
        let chunk_rows = each.max(1).next_multiple_of(cyclic.block);
        cut(&plan, chunk_rows, &mut self.chunks);
        // SAFETY: the messages are borrowed exclusively. There is one for each panel.
        let broadcasts = unsafe { Broadcasts::new(&self.net, &plan, &mut self.messages) };
        // SAFETY: L, the shadow buffer and V are borrowed exclusively; the messages have this layout.
        let steps = unsafe { Distributed::new(broadcasts, layout, job, (src, dst)) };
        // SAFETY: as above.
        let health = unsafe { Workers::new(&steps, &plan, chunk_rows, &mut self.chunks) }.run(threads)?;
        self.new_pivots = steps.end();
        if target == Target::InPlace {
            self.pivots[columns].copy_from_slice(&self.new_pivots);
        }
        self.report = Some(Modification::of_sweep(&health, plan.start));
        Ok(())
    }

    fn wait(&mut self) -> Result<Modification, Stop> {
        Ok(self.report.take().unwrap_or_else(Modification::identity))
    }

    fn commit(&mut self, start: usize) {
        if let Some(shadow) = &mut self.shadow {
            self.l.exchange(shadow, start);
            self.pivots[start..].copy_from_slice(&self.new_pivots);
        }
    }
}
