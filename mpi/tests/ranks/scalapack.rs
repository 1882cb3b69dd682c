//! Matrices of ScaLAPACK, on process grids of several shapes.

use crate::common::{Number, expect, factor, mine, settings};
use cholupdate_mpi::cholupdate::faer::Mat;
use cholupdate_mpi::scalapack::{Descriptor, Grid, PANEL_BYTES, has_scalapack};
use cholupdate_mpi::{Distributed, Error, ScalapackError};
use core::ffi::c_int;
use core::sync::atomic::Ordering;
use mpi::topology::{Communicator, SimpleCommunicator};

/// The part of an n × n matrix in blocks of mb × nb that this process has, with some space between the columns of its array.
pub fn own(
    (grid, rank): (&Grid, usize),
    (rows, cols): (usize, usize),
    (n, mb, nb): (usize, usize, usize),
) -> (Descriptor, Vec<usize>, Vec<usize>) {
    let (order, m, b) = (n as c_int, mb as c_int, nb as c_int);
    if rank >= rows * cols {
        return ([1, -1, order, order, m, b, 0, 0, 1], Vec::new(), Vec::new());
    }
    let of = |size, at, of| (0..n).filter(move |i| i / size % of == at).collect::<Vec<_>>();
    let (own_rows, own_cols) = (of(mb, rank / cols, rows), of(nb, rank % cols, cols));
    let lld = own_rows.len() as c_int + 3;
    ([1, grid.context(), order, order, m, b, 0, 0, lld], own_rows, own_cols)
}

fn shapes(ranks: usize) -> Vec<(usize, usize)> {
    (1..=ranks).flat_map(|rows| (1..=ranks / rows).map(move |cols| (rows, cols))).collect()
}

pub fn is_there() -> bool {
    let there = has_scalapack();
    assert!(there || std::env::var_os("CHOLUPDATE_REQUIRE_SCALAPACK").is_none(), "ScaLAPACK is required");
    if !there {
        println!("    (no ScaLAPACK: left out)");
    }
    there
}

/// The same with panels of several blocks, and of a part of a block.
pub fn panels(world: &SimpleCommunicator) {
    for bytes in [3000, 20_000] {
        let before = PANEL_BYTES.swap(bytes, Ordering::Relaxed);
        other_grids::<f64>(world);
        PANEL_BYTES.store(before, Ordering::Relaxed);
    }
}

pub fn other_grids<T: Number>(world: &SimpleCommunicator) {
    if !is_there() {
        return;
    }
    for shape in shapes(world.size() as usize) {
        let grid = Grid::new(world, shape).unwrap();
        for (n, mb, nb) in [(1, 4, 4), (50, 8, 8), (150, 16, 10), (131, 64, 64)] {
            let l = factor::<T>(n);
            let a: Mat<T> = &l * l.transpose();
            let (descriptor, rows, cols) = own((&grid, world.rank() as usize), shape, (n, mb, nb));
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
            expect(&ours, &l, &format!("n {n}, a grid of {shape:?}, blocks of {mb} × {nb}"));
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
            // ScaLAPACK's own factor of the same A.
            let part = grid.local(n, 16).unwrap();
            let entries = part.columns().iter().flat_map(|&j| part.rows().iter().map(move |&i| (i, j)));
            let mut peer: Vec<T> = entries.clone().map(|(i, j)| a[(i, j)]).collect();
            grid.factorize(&mut peer, &part).unwrap();
            for ((i, j), found) in entries.zip(peer).filter(|((i, j), _)| i >= j) {
                let off = found - l[(i, j)];
                assert!(off * off < T::of(1e-8), "({i}, {j})");
            }
            let mut short = vec![T::of(1.0); part.rows().len() * part.columns().len() + 1];
            let refused = grid.factorize(&mut short, &part);
            assert!(matches!(refused, Err(ScalapackError::Factor(Error::Shape { argument: "a", .. }))));
        }
    }
}
