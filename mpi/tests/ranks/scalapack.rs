//! Matrices of ScaLAPACK, on process grids of several shapes.

use crate::common::{Number, expect, factor, mine, settings, start};
use cholupdate_mpi::cholupdate::faer::Mat;
use cholupdate_mpi::{Descriptor, Distributed, Error, ScalapackError, has_scalapack};
use core::ffi::{c_char, c_int};
use libloading::Library;
use mpi::ffi::MPI_Comm;
use mpi::raw::AsRaw;
use mpi::topology::{Communicator, SimpleCommunicator};

/// A process grid.
struct Grid {
    context: c_int,
    shape: (usize, usize),
    at: (usize, usize),
    library: Library,
}

impl Grid {
    fn new(world: &SimpleCommunicator, (rows, cols): (usize, usize)) -> Self {
        let names = ["libscalapack-openmpi.so", "libscalapack-openmpi.so.2.2", "libscalapack-mpich.so"];
        let named = std::env::var("CHOLUPDATE_SCALAPACK").ok();
        let all = named.iter().map(String::as_str).chain(names);
        // SAFETY: as in the library.
        let library = all.into_iter().find_map(|name| unsafe { Library::new(name) }.ok()).unwrap();
        // SAFETY: functions of the BLACS, with the types of its header, called by all processes.
        unsafe {
            let handle =
                library.get::<unsafe extern "C" fn(MPI_Comm) -> c_int>(b"Csys2blacs_handle").unwrap();
            let init = library
                .get::<unsafe extern "C" fn(*mut c_int, *const c_char, c_int, c_int)>(b"Cblacs_gridinit")
                .unwrap();
            let mut context = handle(world.as_raw());
            init(&mut context, c"Row".as_ptr(), rows as c_int, cols as c_int);
            let rank = world.rank() as usize;
            Self { context, shape: (rows, cols), at: (rank / cols, rank % cols), library }
        }
    }

    /// The descriptor of an n × n matrix in blocks of mb × nb, and the rows and columns of this process.
    fn own(&self, n: usize, (mb, nb): (usize, usize)) -> (Descriptor, Vec<usize>, Vec<usize>) {
        if self.at.0 >= self.shape.0 {
            let (n, mb, nb) = (n as c_int, mb as c_int, nb as c_int);
            return ([1, -1, n, n, mb, nb, 0, 0, 1], Vec::new(), Vec::new());
        }
        let own = |size, at, of| (0..n).filter(move |i| i / size % of == at).collect::<Vec<_>>();
        let (rows, cols) = (own(mb, self.at.0, self.shape.0), own(nb, self.at.1, self.shape.1));
        // Some space between columns.
        let lld = rows.len() as c_int + 3;
        ([1, self.context, n as c_int, n as c_int, mb as c_int, nb as c_int, 0, 0, lld], rows, cols)
    }
}

impl Drop for Grid {
    fn drop(&mut self) {
        if self.at.0 < self.shape.0 {
            // SAFETY: as above.
            unsafe {
                self.library.get::<unsafe extern "C" fn(c_int)>(b"Cblacs_gridexit").unwrap()(self.context)
            };
        }
    }
}

fn shapes(ranks: usize) -> Vec<(usize, usize)> {
    (1..=ranks).flat_map(|rows| (1..=ranks / rows).map(move |cols| (rows, cols))).collect()
}

fn is_there() -> bool {
    let there = has_scalapack();
    assert!(there || std::env::var_os("CHOLUPDATE_REQUIRE_SCALAPACK").is_none(), "ScaLAPACK is required");
    if !there {
        println!("    (no ScaLAPACK: left out)");
    }
    there
}

pub fn other_grids<T: Number>(world: &SimpleCommunicator) {
    if !is_there() {
        return;
    }
    for shape in shapes(world.size() as usize) {
        let grid = Grid::new(world, shape);
        for (n, blocks) in [(1, (4, 4)), (50, (8, 8)), (150, (16, 10)), (131, (64, 64))] {
            let l = factor::<T>(n);
            let a: Mat<T> = &l * l.transpose();
            let (descriptor, rows, cols) = grid.own(n, blocks);
            let lld = descriptor[8] as usize;
            let mut local = vec![T::of(7.0); lld * cols.len().max(1)];
            let put = |local: &mut [T], of: &Mat<T>| {
                for (j, &of_j) in cols.iter().enumerate() {
                    rows.iter().enumerate().for_each(|(i, &of_i)| local[j * lld + i] = of[(of_i, of_j)]);
                }
            };
            put(&mut local, &l);
            let settings = settings(16, 1);
            let ours = Distributed::from_scalapack(world, settings, (n, true), &descriptor, &local).unwrap();
            expect(&ours, &l, &format!("n {n}, a grid of {shape:?}, blocks of {blocks:?}"));
            put(&mut local, &a);
            let made = Distributed::from_scalapack(world, settings, (n, false), &descriptor, &local).unwrap();
            let own = mine(&made.cyclic(), &a);
            let other = Distributed::new(world, settings, n, own.as_ref()).unwrap();
            assert!(made.to_rows().unwrap() == other.to_rows().unwrap());
            let before = local.clone();
            local.fill(T::of(7.0));
            ours.to_scalapack(&descriptor, &mut local).unwrap();
            let mut expected = vec![T::of(7.0); before.len()];
            put(&mut expected, &l);
            assert!(local == expected, "n {n}, a grid of {shape:?}: what is written, and nothing else");
        }
    }
}

pub fn wrong_descriptors(world: &SimpleCommunicator) {
    if !is_there() {
        return;
    }
    let n = 40;
    let l = factor::<f64>(n);
    let ours = start(world, settings(16, 1), &l);
    let grid = Grid::new(world, (world.size() as usize, 1));
    let (right, rows, cols) = grid.own(n, (8, 8));
    let mut local = vec![0.0; right[8] as usize * cols.len()];
    let last = world.rank() == world.size() - 1;
    for (field, wrong) in [(0, 2), (2, 41), (3, 39), (4, 0), (5, -1), (6, 99), (8, rows.len() as c_int - 1)] {
        let mut descriptor = right;
        if last {
            descriptor[field] = wrong;
        }
        let refused = ours.to_scalapack(&descriptor, &mut local).unwrap_err();
        assert!(matches!(refused, ScalapackError::Descriptor(_)), "{field}: {refused}");
        let refused = Distributed::from_scalapack(world, settings(16, 1), (n, true), &descriptor, &local);
        assert!(matches!(refused.unwrap_err(), ScalapackError::Descriptor(_)), "{field}");
    }
    if world.size() > 1 {
        let differs = |argument| ScalapackError::Factor(Error::Differs { argument });
        let block = settings(if last { 32 } else { 16 }, 1);
        let refused = Distributed::from_scalapack(world, block, (n, true), &right, &local);
        assert_eq!(refused.unwrap_err(), differs("block"));
        let (mut descriptor, order) = (right, if last { n - 1 } else { n });
        (descriptor[2], descriptor[3]) = (order as c_int, order as c_int);
        let refused = Distributed::from_scalapack(world, settings(16, 1), (order, true), &descriptor, &local);
        assert_eq!(refused.unwrap_err(), differs("the order"));
    }
    let len = if last { rows.len() } else { local.len() };
    let refused = ours.to_scalapack(&right, &mut local[..len]).unwrap_err();
    assert!(matches!(refused, ScalapackError::Descriptor(_)), "{refused}");
    assert!(local.iter().all(|&x| x == 0.0));
}
