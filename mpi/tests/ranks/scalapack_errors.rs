//! What is wrong with matrices and grids of ScaLAPACK is the same error on all processes.

use crate::common::{expect, factor, mine, settings, start};
use crate::scalapack::{is_there, own};
use cholupdate_mpi::scalapack::Grid;
use cholupdate_mpi::{Distributed, Error, ScalapackError};
use core::ffi::c_int;
use mpi::topology::{Communicator, SimpleCommunicator};

fn differs(argument: &'static str) -> ScalapackError {
    ScalapackError::Factor(Error::Differs { argument })
}

pub fn wrong_descriptors(world: &SimpleCommunicator) {
    if !is_there() {
        return;
    }
    let n = 40;
    let l = factor::<f64>(n);
    let ours = start(world, settings(16, 1), &l);
    let ranks = world.size() as usize;
    let grid = Grid::new(world, (ranks, 1)).unwrap();
    let (right, rows, cols) = own((&grid, world.rank() as usize), (ranks, 1), (n, 8, 8));
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

/// The numbers of a process outside the grid, which the last one is of the smaller ones, are compared too.
pub fn that_differ(world: &SimpleCommunicator) {
    let ranks = world.size() as usize;
    if !is_there() || ranks == 1 {
        return;
    }
    let n = 40;
    let ours = start(world, settings(16, 1), &factor::<f64>(n));
    let is_last = world.rank() + 1 == world.size();
    for shape in [(ranks, 1), (1, ranks), (ranks - 1, 1), (1, ranks - 1)] {
        let grid = Grid::new(world, shape).unwrap();
        let (right, ..) = own((&grid, world.rank() as usize), shape, (n, 8, 8));
        for (field, name) in [(4, "MB"), (5, "NB"), (6, "RSRC"), (7, "CSRC")] {
            let (mut descriptor, mut local) = (right, vec![0.0; 43 * 40]);
            descriptor[field] += c_int::from(is_last);
            let expected = format!("`descriptor`: {name} differs between the processes");
            let refused = ours.to_scalapack(&descriptor, &mut local).unwrap_err();
            assert_eq!(refused.to_string(), expected, "{shape:?}");
            let made = Distributed::from_scalapack(world, settings(16, 1), (n, true), &descriptor, &local);
            assert_eq!(made.unwrap_err().to_string(), expected, "{shape:?}");
        }
    }
    // Grids of other shapes, whose blocks are the same.
    let (tall, wide) = (Grid::new(world, (ranks, 1)).unwrap(), Grid::new(world, (1, ranks)).unwrap());
    let (grid, shape) = if is_last { (&tall, (ranks, 1)) } else { (&wide, (1, ranks)) };
    let (descriptor, ..) = own((grid, world.rank() as usize), shape, (n, 8, 8));
    let refused = ours.to_scalapack(&descriptor, &mut vec![0.0; 43 * 40]).unwrap_err();
    assert!(matches!(refused, ScalapackError::Descriptor(_)), "{refused}");
}

pub fn calls_that_differ(world: &SimpleCommunicator) {
    if !is_there() || world.size() == 1 {
        return;
    }
    let n = 40;
    let l = factor::<f64>(n);
    let mut ours = start(world, settings(16, 1), &l);
    let ranks = world.size() as usize;
    let grid = Grid::new(world, (ranks, 1)).unwrap();
    let (descriptor, ..) = own((&grid, world.rank() as usize), (ranks, 1), (n, 8, 8));
    let mut local = vec![0.0; 43 * 40];
    for odd in [0, 1] {
        let with = world.rank() % 2 == odd;
        if with {
            assert_eq!(ours.to_scalapack(&descriptor, &mut local), Err(differs("the call")));
        } else {
            assert_eq!(ours.gather(0).unwrap_err(), Error::Differs { argument: "the call" });
        }
        if with {
            assert_eq!(ours.to_scalapack(&descriptor, &mut local), Err(differs("the call")));
        } else {
            assert_eq!(ours.remove_last(99).unwrap_err(), Error::Differs { argument: "the call" });
        }
        let rows = mine(&ours.cyclic(), &l);
        let begun = match with {
            true => Distributed::from_scalapack(world, settings(16, 1), (n, true), &descriptor, &local),
            false => Distributed::from_factor(world, settings(16, 1), n, rows.as_ref()).map_err(Into::into),
        };
        assert_eq!(begun.unwrap_err(), differs("the call"));
        let begun = Distributed::from_scalapack(world, settings(16, 1), (n, with), &descriptor, &local);
        assert_eq!(begun.unwrap_err(), differs("the call"));
        let error = match with {
            true => Distributed::from_scalapack(world, settings(16, 1), (n, true), &descriptor, &local).err(),
            false => {
                let single = vec![0f32; local.len()];
                Distributed::from_scalapack(world, settings(16, 1), (n, true), &descriptor, &single).err()
            }
        };
        assert_eq!(error, Some(differs("the call")));
        let error = match with {
            true => Grid::new(world, (ranks, 1)).err(),
            false => Distributed::from_factor(world, settings(16, 1), n, rows.as_ref()).err().map(Into::into),
        };
        assert_eq!(error, Some(differs("the call")));
    }
    expect(&ours, &l, "after errors");
}

pub fn wrong_grids(world: &SimpleCommunicator) {
    if !is_there() {
        return;
    }
    let (ranks, is_last) = (world.size() as usize, world.rank() + 1 == world.size());
    for shape in [(ranks, 2), (0, 1), (1, 0), (usize::MAX, 2), (1 << 63, 2), (1 << 32, 1 << 32)] {
        let refused = Grid::new(world, shape).unwrap_err();
        assert!(matches!(refused, ScalapackError::Descriptor(_)), "{shape:?}: {refused}");
    }
    if ranks > 1 {
        for shape in [(1, ranks), (ranks, 2), (0, 0)] {
            let refused = Grid::new(world, if is_last { shape } else { (ranks, 1) }).unwrap_err();
            assert_eq!(refused, differs("the shape"));
        }
    }
    let grid = Grid::new(world, (ranks, 1)).unwrap();
    for (order, block) in [(1 << 31, 16), (10, 1 << 31), (10, 0)] {
        let refused = grid.local(order, block).unwrap_err();
        assert!(matches!(refused, ScalapackError::Factor(Error::OutOfRange { .. })), "{refused}");
    }
    let n = 40;
    let (descriptor, ..) = own((&grid, world.rank() as usize), (ranks, 1), (n, 8, 8));
    for (order, block, argument) in [(n, 1 << 31, "block"), (1 << 31, 16, "the order")] {
        let local = vec![0.0; 43 * 40];
        let begun =
            Distributed::from_scalapack(world, settings(block, 1), (order, true), &descriptor, &local);
        let refused = begun.unwrap_err();
        let is_it = matches!(&refused, ScalapackError::Factor(Error::OutOfRange { argument: a, .. }) if *a == argument);
        assert!(is_it, "{refused}");
    }
}

pub fn parts_of_other_grids(world: &SimpleCommunicator) {
    if !is_there() {
        return;
    }
    let (ranks, is_last) = (world.size() as usize, world.rank() + 1 == world.size());
    let (grid, other) = (Grid::new(world, (ranks, 1)).unwrap(), Grid::new(world, (1, ranks)).unwrap());
    let (right, wrong) = (grid.local(50, 8).unwrap(), other.local(50, 8).unwrap());
    let part = if is_last { &wrong } else { &right };
    let mut a = vec![1.0; part.rows().len() * part.columns().len()];
    let refused = grid.factorize(&mut a, part).unwrap_err();
    assert!(matches!(refused, ScalapackError::Descriptor(_)), "{refused}");
    let len = right.rows().len() * right.columns().len();
    let mut a = vec![1.0; len + usize::from(is_last)];
    // The error is that of the last process, on all of them.
    let last = right.columns().len() * (0..50).filter(|i| i / 8 % ranks == ranks - 1).count();
    let expected = Error::Shape { argument: "a", extent: "entries", expected: last, found: last + 1 };
    assert_eq!(grid.factorize(&mut a, &right), Err(expected.into()));
    if ranks > 1 {
        let part = grid.local(if is_last { 40 } else { 50 }, 8).unwrap();
        let mut a = vec![1.0; part.rows().len() * part.columns().len()];
        assert_eq!(grid.factorize(&mut a, &part), Err(differs("the order")));
    }
    assert!(a.iter().all(|&x| x == 1.0));
}
