//! The kernels of triangular systems, with the one function that launches them.

use super::sizes::PANEL_COLS;
use super::sweep_launch::MAX_PEERS;
use crate::cuda::device::Device;
use crate::cuda::launch::{Function, Launch, argument};
use crate::cuda::memory::DeviceSlice;
use crate::cuda::ptx::{SOLVE, SOLVE_DISTRIBUTED};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::real::Real;
use crate::storage::Side;
use core::ffi::{c_int, c_longlong};
use core::marker::PhantomData;

/// Threads of a block.
const THREADS: usize = 256;
/// Right-hand sides of a thread block, by kernel.
const RHS_OF_BLOCK: [usize; 3] = [8, 16, 32];

/// `solve.cu` for one scalar type: a kernel for each of [`RHS_OF_BLOCK`].
pub(in crate::cuda) struct SolveKernels<T> {
    forward: [Function; 3],
    backward: [Function; 3],
    room: [Room; 3],
    scalar: PhantomData<T>,
}

/// Shared memory of a thread block.
#[derive(Clone, Copy)]
struct Room {
    bytes: usize,
    /// For blocks of L.
    slots: usize,
}

/// A system with L (n × n), with the inverses of its diagonal blocks.
pub(in crate::cuda) struct System<'a, T> {
    pub l: DeviceSlice<'a, T>,
    pub l_stride: usize,
    pub n: usize,
    pub inverse: DeviceSlice<'a, f64>,
    pub refine: DeviceSlice<'a, i32>,
    /// B (n × count).
    pub from: DeviceSlice<'a, T>,
    /// The solution (n × count).
    pub to: DeviceSlice<'a, T>,
    pub count: usize,
    /// Working memory, [`working_len`] doubles, all bits one.
    pub solved: DeviceSlice<'a, f64>,
    /// A counter, zero.
    pub taken: DeviceSlice<'a, i32>,
    /// In launches on several devices, which have kernels of their own; then `l` has the device's rows.
    pub own: Option<OwnPart>,
}

/// The other devices of a solve on several: `resident/peers.cuh`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(in crate::cuda) struct SolvePeers {
    pub count: c_int,
    pub devices: c_int,
    /// Addresses: of the counter, of the word in host memory that ends the launch, of the list of the device's panels, and of
    /// its tasks backward.
    pub taken: u64,
    pub stop: u64,
    pub own: u64,
    pub backward: u64,
    /// Panels that a device has at a time.
    pub together: c_longlong,
    /// Addresses of sums on their way, and of how far they are; and for each device the distances to those there, in bytes.
    pub sums: u64,
    pub summed: u64,
    pub sums_there: [c_longlong; MAX_PEERS + 1],
    pub summed_there: [c_longlong; MAX_PEERS + 1],
    /// For each of the other devices, the distance in bytes from the solutions here to those there.
    pub solved: [c_longlong; MAX_PEERS],
}

/// The part of a system that a device solves in launches on several.
#[derive(Clone, Copy)]
pub(in crate::cuda) struct OwnPart {
    pub peers: SolvePeers,
    /// Address of the table of row blocks.
    pub row_blocks: u64,
    /// Panels, or backward tasks.
    pub tasks: usize,
}

/// The kernel for this number of right-hand sides.
fn kernel(count: usize) -> usize {
    RHS_OF_BLOCK.iter().position(|&rhs| count <= rhs).unwrap_or(RHS_OF_BLOCK.len() - 1)
}

/// Doubles of working memory for a system of order n with this number of right-hand sides.
pub(in crate::cuda) fn working_len(n: usize, count: usize) -> usize {
    n.next_multiple_of(PANEL_COLS) * count.next_multiple_of(RHS_OF_BLOCK[kernel(count)])
}

impl<T: Real> SolveKernels<T> {
    /// For one device, or for several.
    pub fn load(device: &Device, distributed: bool) -> Result<Self, Error> {
        let (name, ptx) =
            if distributed { ("solve_distributed", &SOLVE_DISTRIBUTED) } else { ("solve", &SOLVE) };
        let module = device.module(ptx.on(device.compute_capability()))?;
        module.layout(name)?.check(&[
            ("PANEL_COLS", PANEL_COLS),
            ("THREADS", THREADS),
            ("SOLVE_PEERS_BYTES", size_of::<SolvePeers>()),
        ])?;
        let layout = module.layout(name)?;
        let tile = layout.size(&format!("TILE_BYTES_{}", T::TYPE_NAME.to_uppercase()))?;
        let (most, available) = (layout.size("MAX_TILES")?, device.shared_bytes()?);
        let room = |rhs: usize| -> Result<Room, Error> {
            let front = layout.size(&format!("FRONT_BYTES_{rhs}"))?;
            let slots = (available.saturating_sub(front) / tile).clamp(1, most);
            Ok(Room { bytes: front + slots * tile, slots })
        };
        let [few, some, many] = RHS_OF_BLOCK;
        let room = [room(few)?, room(some)?, room(many)?];
        let kernels = |way: &str| -> Result<[Function; 3], Error> {
            let load = |kernel: usize| {
                let rhs = RHS_OF_BLOCK[kernel];
                Function::load(&module, &format!("{name}_{way}_{rhs}_{}", T::TYPE_NAME))?
                    .with_shared(room[kernel].bytes)
            };
            Ok([load(0)?, load(1)?, load(2)?])
        };
        Ok(Self { forward: kernels("forward")?, backward: kernels("backward")?, room, scalar: PhantomData })
    }

    /// Enqueues the solution of a system. With L it may be that of its first `end` columns: later rows become the rest of B.
    ///
    /// # Safety
    /// The slices have the shapes that `solve.cu` requires and exist until it is done. Except L and the inverses, only this
    /// stream uses them.
    pub unsafe fn solve(
        &self,
        stream: &Stream,
        system: &System<'_, T>,
        side: Side,
        end: usize,
    ) -> Result<(), Error> {
        let &System { n, count, .. } = system;
        debug_assert!(end == n || (side == Side::L && end <= n));
        debug_assert!(system.own.is_some() || (n - 1) * system.l_stride + n <= system.l.len());
        let bytes = system.l.address() | (system.l_stride * size_of::<T>()) as u64;
        debug_assert!(bytes.is_multiple_of(16), "columns of L begin anywhere");
        let panels = n.div_ceil(PANEL_COLS);
        debug_assert!(system.inverse.len() >= panels * PANEL_COLS.pow(2) && system.refine.len() >= panels);
        debug_assert!(n * count <= system.from.len().min(system.to.len()));
        debug_assert!(working_len(n, count) <= system.solved.len() && system.taken.len() > 0);
        let kernel = kernel(count);
        let function = match side {
            Side::L => &self.forward[kernel],
            Side::Transpose => &self.backward[kernel],
        };
        let Room { bytes: shared_bytes, slots } = self.room[kernel];
        let mut own = system.own;
        let panels = own.map_or(n.div_ceil(PANEL_COLS), |own| own.tasks);
        let blocks = panels * count.div_ceil(RHS_OF_BLOCK[kernel]);
        if blocks == 0 {
            return Ok(());
        }
        let (mut l, mut inverse) = (system.l.address(), system.inverse.address());
        let mut refine = system.refine.address();
        let (mut from, mut to) = (system.from.address(), system.to.address());
        let (mut solved, mut taken) = (system.solved.address(), system.taken.address());
        let (mut l_stride, mut x_stride) = (system.l_stride as c_longlong, n as c_longlong);
        let (mut n, mut end, mut count) = (n as c_longlong, end as c_longlong, count as c_int);
        let mut slots = slots as c_int;
        let mut arguments = vec![
            argument(&mut l),
            argument(&mut l_stride),
            argument(&mut inverse),
            argument(&mut refine),
            argument(&mut from),
            argument(&mut to),
            argument(&mut x_stride),
            argument(&mut solved),
            argument(&mut taken),
            argument(&mut n),
            argument(&mut end),
            argument(&mut count),
            argument(&mut slots),
        ];
        if let Some(OwnPart { peers, row_blocks, .. }) = &mut own {
            arguments.extend([argument(peers), argument(row_blocks)]);
        }
        let shape = Launch { blocks: (blocks, 1), threads: THREADS, shared_bytes };
        // SAFETY: thirteen arguments of the types of the kernel's, or fifteen; the caller guarantees the memory to which they
        // point.
        unsafe { function.launch(stream, shape, &mut arguments) }
    }
}
