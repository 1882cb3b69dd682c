//! The factors of a batch, in tiles.
//!
//! A tile has as many groups as fit into a part of a second-level cache, or one. A modification writes the new factors of a tile to a
//! shadow one, which then takes its place: so the old factors are there if the new ones are of no use, and memory is read and written
//! once.

use crate::error::Error;
use crate::host::share::{at_most_the_pool, on_threads};
use crate::host::threads::Threads;
use crate::report::Modification;
use cholupdate_kernels::batch::given::Groups;
use cholupdate_kernels::batch::lanes;
use cholupdate_kernels::batch::packed::{entries, place};
use cholupdate_kernels::buffer::Buffer;
use cholupdate_kernels::number::{Float, Number};
use core::sync::atomic::{AtomicUsize, Ordering};
use faer::Mat;
use std::sync::{Mutex, PoisonError};

/// Bytes of the factors of a tile, unless two groups take more, or one.
const TILE_BYTES: usize = 128 << 10;

/// A tile has two groups, which are modified at a time, if they take no more bytes than this.
const TWO_GROUPS: usize = 384 << 10;

/// Bytes of factors and V for which a further thread pays.
const WORTH_A_THREAD: usize = 64 << 10;

/// Factors, and what the last call has found for each.
#[derive(Clone)]
pub(crate) struct Tile<T: Number> {
    pub l: Buffer<T::Part>,
    /// The order of each matrix, and zero in lanes without one.
    pub orders: Vec<u32>,
    /// Matrices that have no factor, and why.
    pub missing: Vec<(usize, Error)>,
    /// Matrices for which the last modification has failed.
    pub failures: Vec<(usize, Error)>,
    /// Reports of modifications that have not been made in lanes.
    pub reports: Vec<(usize, Modification)>,
    /// The largest ratios of old pivots to new ones, their products, and the logarithms of what these lack.
    pub largest: Buffer<T::Part>,
    pub product: Buffer<T::Part>,
    pub log: Vec<f64>,
}

/// Memory for work on a tile.
pub(crate) struct Work<T: Number> {
    /// The place of new factors.
    pub shadow: Buffer<T::Part>,
    /// V or right-hand sides in lanes.
    pub v: Buffer<T::Part>,
    pub good: Buffer<T::Part>,
    /// The row of each matrix that comes or goes.
    pub rows: Vec<u32>,
}

impl<T: Number> Default for Work<T> {
    fn default() -> Self {
        Self { shadow: Buffer::default(), v: Buffer::default(), good: Buffer::default(), rows: Vec::new() }
    }
}

/// All tiles.
pub(crate) struct Tiles<T: Number> {
    pub tiles: Vec<Tile<T>>,
    pub extent: Extent,
    works: Mutex<Vec<Work<T>>>,
}

/// The extents of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// Matrices.
    pub count: usize,
    /// The largest order for which there is room.
    pub capacity: usize,
    pub lanes: usize,
    /// The real numbers of a register.
    pub step: usize,
    /// Groups of a tile.
    groups: usize,
    pub threads: Threads,
}

impl Extent {
    pub fn new<T: Number>(count: usize, capacity: usize, threads: Threads) -> Self {
        let lanes = lanes::<T>();
        let group = entries(capacity).saturating_mul(lanes * size_of::<T>()).max(1);
        let most = count.div_ceil(lanes).max(1);
        let least = if group <= TWO_GROUPS / 2 { 2 } else { 1 };
        let groups = (TILE_BYTES / group / 2 * 2).max(least).min(most.min(TILE_BYTES));
        Self { count, capacity, lanes, step: T::PARTS * lanes, groups, threads }
    }

    /// Matrices of a tile.
    pub fn of_tile(self) -> usize {
        self.groups * self.lanes
    }

    pub fn tiles(self) -> usize {
        self.count.div_ceil(self.of_tile())
    }

    /// The real numbers of the factors of a tile.
    pub fn of_factors(self) -> usize {
        entries(self.capacity) * self.groups * self.step
    }

    /// The matrices of tile `t`.
    pub fn matrices(self, t: usize) -> core::ops::Range<usize> {
        let first = t * self.of_tile();
        first..self.count.min(first + self.of_tile())
    }

    /// The groups of tile `t`, with these orders.
    pub fn groups(self, t: usize, rows: &[u32]) -> Groups<'_> {
        let matrices = self.matrices(t);
        Groups { first: matrices.start, count: matrices.len(), rows, lanes: self.lanes }
    }

    /// The index of entry (i, j) of a matrix of a tile, of a complex one that of its real part. The imaginary part follows at a distance of
    /// one register.
    fn place(self, matrix: usize, (i, j): (usize, usize)) -> usize {
        let group = matrix / self.lanes * entries(self.capacity);
        (group + place(self.capacity, i, j)) * self.step + matrix % self.lanes
    }

    /// Entry (i, j) of a matrix of the tile with this memory.
    pub fn entry<T: Number>(self, tile: &[T::Part], matrix: usize, at: (usize, usize)) -> T {
        let re = self.place(matrix, at);
        T::of_parts([tile[re], tile[re + (T::PARTS - 1) * self.lanes]])
    }

    /// Pivot j of a matrix of the tile with this memory.
    pub fn pivot<R: Float>(self, tile: &[R], matrix: usize, j: usize) -> R {
        tile[self.place(matrix, (j, j))]
    }

    /// Writes entry (i, j) of a matrix to the memory of its tile.
    pub fn set_entry<T: Number>(self, tile: &mut [T::Part], matrix: usize, at: (usize, usize), x: T) {
        let re = self.place(matrix, at);
        for (part, &x) in T::parts(&[x]).iter().enumerate() {
            tile[re + part * self.lanes] = x;
        }
    }
}

impl<T: Number> Tile<T> {
    /// Matrices of order 0.
    fn new(extent: Extent) -> Self {
        let mut l = Buffer::default();
        l.reserve(extent.of_factors());
        let mut tile = Self {
            l,
            orders: vec![0; extent.of_tile()],
            missing: Vec::new(),
            failures: Vec::new(),
            reports: Vec::new(),
            largest: Buffer::default(),
            product: Buffer::default(),
            log: Vec::new(),
        };
        tile.largest.reserve(extent.of_tile());
        tile.product.reserve(extent.of_tile());
        for matrix in 0..extent.of_tile() {
            for j in 0..extent.capacity {
                extent.set_entry(tile.l.as_mut_slice(), matrix, (j, j), T::ONE);
            }
        }
        tile
    }

    /// The factor of a matrix, zero above the diagonal.
    pub fn factor(&self, extent: Extent, matrix: usize) -> Mat<T> {
        let (order, l) = (self.orders[matrix] as usize, self.l.as_slice());
        let entry = |i: usize, j: usize| if i < j { T::ZERO } else { extent.entry(l, matrix, (i, j)) };
        Mat::from_fn(order, order, entry)
    }

    /// Writes the factor of a matrix. The remaining rows and columns, up to the capacity, become those of the identity.
    pub fn write(&mut self, extent: Extent, matrix: usize, l: &Mat<T>) {
        self.orders[matrix] = u32::try_from(l.nrows()).unwrap_or(u32::MAX);
        write::<T>(self.l.as_mut_slice(), extent, matrix, l);
    }

    /// Sets the results of a call that changes no factor.
    pub fn unchanged(&mut self, extent: Extent) {
        self.failures.clear();
        self.reports.clear();
        self.log.clear();
        for results in [&mut self.largest, &mut self.product] {
            results.as_mut_slice()[..extent.of_tile()].fill(T::Part::ONE);
        }
    }

    /// The reason why a matrix has no factor, if it has none.
    pub fn missing(&self, matrix: usize) -> Option<&Error> {
        find(&self.missing, matrix)
    }
}

/// Writes a factor, and the identity in the remaining rows and columns, to its place in a tile. Without negative zeros: where a column
/// of V is zero, L does not change.
pub(crate) fn write<T: Number>(to: &mut [T::Part], extent: Extent, matrix: usize, l: &Mat<T>) {
    for j in 0..extent.capacity {
        for i in j..extent.capacity {
            let identity = if i == j { T::ONE } else { T::ZERO };
            let entry = if i < l.nrows() { l[(i, j)] + T::ZERO } else { identity };
            extent.set_entry(to, matrix, (i, j), entry);
        }
    }
}

/// The item of this matrix in a list that is ordered by matrices.
pub(crate) fn find<I>(list: &[(usize, I)], matrix: usize) -> Option<&I> {
    list.binary_search_by_key(&matrix, |(matrix, _)| *matrix).ok().map(|at| &list[at].1)
}

impl<T: Number> Tiles<T> {
    /// Matrices of order 0, with room for orders up to the capacity.
    pub fn new(extent: Extent) -> Self {
        let tiles = (0..extent.tiles()).map(|_| Tile::new(extent)).collect();
        Self { tiles, extent, works: Mutex::default() }
    }

    /// The tile of a matrix, and its number there.
    pub fn of(&self, matrix: usize) -> (&Tile<T>, usize) {
        let of_tile = self.extent.of_tile();
        (&self.tiles[matrix / of_tile], matrix % of_tile)
    }

    /// Calls `work` for each tile and its number, on several threads. `scalars` of V or right-hand sides belong to each matrix.
    pub fn each(&mut self, scalars: usize, work: impl Fn(usize, &mut Tile<T>, &mut Work<T>) + Sync) {
        struct Items<N>(*mut N);
        // SAFETY: each tile is used by one thread.
        unsafe impl<N: Send> Sync for Items<N> {}
        let threads = self.extent.threads_for::<T>(scalars);
        let (tiles, works) = (Items(self.tiles.as_mut_ptr()), &self.works);
        let tiles = &tiles;
        over(threads, self.tiles.len(), works, &|t, own| {
            // SAFETY: `over` calls this once for each tile; they are borrowed exclusively until it returns.
            work(t, unsafe { &mut *tiles.0.add(t) }, own);
        });
    }

    /// The same for reading.
    pub fn each_read(&self, scalars: usize, work: impl Fn(usize, &Tile<T>, &mut Work<T>) + Sync) {
        let threads = self.extent.threads_for::<T>(scalars);
        over(threads, self.tiles.len(), &self.works, &|t, own| work(t, &self.tiles[t], own));
    }
}

impl<T: Number> Clone for Tiles<T> {
    fn clone(&self) -> Self {
        Self { tiles: self.tiles.clone(), extent: self.extent, works: Mutex::default() }
    }
}

impl Extent {
    /// The threads for a pass over all factors.
    fn threads_for<T>(self, scalars: usize) -> usize {
        let bytes = self
            .count
            .saturating_mul((entries(self.capacity).saturating_add(scalars)).saturating_mul(size_of::<T>()));
        if bytes < 2 * WORTH_A_THREAD {
            return 1;
        }
        at_most_the_pool(self.threads.count()).min(bytes / WORTH_A_THREAD).min(self.tiles())
    }
}

/// Calls `work` once for each of 0..`count`, on up to this many threads, each with memory of its own.
fn over<T: Number>(
    threads: usize,
    count: usize,
    works: &Mutex<Vec<Work<T>>>,
    work: &(dyn Fn(usize, &mut Work<T>) + Sync),
) {
    let list = || works.lock().unwrap_or_else(PoisonError::into_inner);
    let next = AtomicUsize::new(0);
    let task = |_| {
        let mut own = list().pop().unwrap_or_default();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                break;
            }
            work(at, &mut own);
        }
        list().push(own);
    };
    if threads <= 1 { task(0) } else { on_threads(threads, &task) }
}
