//! What one process does wrong is an error on all, and changes nothing.

use crate::common::{expect, factor, matrix, mine, settings, start};
use cholupdate_mpi::cholupdate::faer::MatRef;
use cholupdate_mpi::scalapack::Grid;
use cholupdate_mpi::{Distributed, Error, Rows, Safeguard, Settings, Weights};
use mpi::ffi;
use mpi::raw::AsRaw;
use mpi::topology::{Color, Communicator, InterCommunicator, SimpleCommunicator};

pub fn of_one_process(world: &SimpleCommunicator) {
    let n = 130;
    let (l, v) = (factor::<f64>(n), matrix::<f64>(n, 2, 0.01));
    let mut ours = start(world, settings(16, 1), &l);
    let last = world.size() as usize - 1;
    let (cyclic, is_last) = (ours.cyclic(), world.rank() as usize == last);
    let of_last = cyclic.of(last);

    let short = mine(&cyclic, &v).subrows(0, cyclic.rows() - usize::from(is_last)).to_owned();
    let (expected, found) = (of_last.rows(), of_last.rows() - 1);
    let shape = |argument| Error::Shape { argument, extent: "rows", expected, found };
    assert_eq!(ours.update(Rows::Mine(short.as_ref())), Err(shape("v")));
    let mut rhs = short.clone();
    assert_eq!(ours.solve_in_place(rhs.as_mut()), Err(shape("rhs")));
    assert!(rhs == short);

    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut rows = mine(&cyclic, &v);
        if is_last {
            rows[(5, 1)] = bad;
        }
        let place = |argument| Error::NonFinite { argument, row: of_last.row(5), column: 1 };
        assert_eq!(ours.modify(Rows::Mine(rows.as_ref()), Weights::Minus), Err(place("v")));
        assert_eq!(ours.can_downdate(Rows::Mine(rows.as_ref())), Err(place("v")));
        let mut rhs = mine(&cyclic, &v);
        if is_last {
            rhs[(5, 1)] = bad;
        }
        assert_eq!(ours.solve_l_in_place(rhs.as_mut()), Err(place("rhs")));
        let corner = matrix::<f64>(2, 2, 1.0);
        assert_eq!(ours.append(Rows::Mine(rows.as_ref()), corner.as_ref()), Err(place("cross")));
    }

    let mut rows = mine(&cyclic, &v);
    if is_last {
        rows[(0, 0)] = 1e200;
    }
    assert_eq!(ours.update(Rows::Mine(rows.as_ref())), Err(Error::Overflow { argument: "v" }));
    assert_eq!(ours.modify(Rows::All(v.as_ref()), &[1.0]), Err(weights(2, 1)));
    let nan = Error::NonFinite { argument: "weights", row: 1, column: 0 };
    assert_eq!(ours.modify(Rows::All(v.as_ref()), &[1.0, f64::NAN]), Err(nan));
    let too_many = ours.remove_last(n + 1).unwrap_err();
    assert_eq!(too_many.argument(), Some("count"));
    let root = Error::Index { argument: "root", entry: 0, found: 99, limit: last + 1 };
    assert_eq!(ours.gather(99).unwrap_err(), root);
    expect(&ours, &l, "after errors");

    let mut wrong = mine(&cyclic, &l);
    if is_last {
        wrong[(3, 0)] = f64::NAN;
    }
    let refused = Distributed::from_factor(world, settings(16, 1), n, wrong.as_ref()).unwrap_err();
    assert_eq!(refused, Error::NonFinite { argument: "l", row: of_last.row(3), column: 0 });
    let refused = Distributed::<f64>::new(world, settings(10, 1), n, wrong.as_ref()).unwrap_err();
    assert_eq!(refused.argument(), Some("block"));
}

fn weights(expected: usize, found: usize) -> Error {
    Error::Shape { argument: "weights", extent: "entries", expected, found }
}

pub fn that_differ(world: &SimpleCommunicator) {
    if world.size() == 1 {
        return;
    }
    let n = 100;
    let (l, v) = (factor::<f64>(n), matrix::<f64>(n, 3, 0.01));
    let mut ours = start(world, settings(16, 1), &l);
    let odd = world.rank() % 2 == 1;
    let differs = |argument| Error::Differs { argument };
    let columns = v.subcols(0, if odd { 2 } else { 3 });
    assert_eq!(ours.update(Rows::All(columns)), Err(differs("v")));
    let w = [1.0, 0.5, if odd { 2.0 } else { 3.0 }];
    assert_eq!(ours.modify(Rows::All(v.as_ref()), &w), Err(differs("weights")));
    let called =
        if odd { ours.remove_last(3).map(|_| true) } else { ours.can_downdate(Rows::All(v.as_ref())) };
    assert_eq!(called, Err(differs("the call")));
    let called = if odd { ours.update(Rows::All(v.as_ref())) } else { ours.downdate(Rows::All(v.as_ref())) };
    assert_eq!(called, Err(differs("weights")));
    let mut rhs = mine(&ours.cyclic(), &v);
    let solved = if odd { ours.solve_l_in_place(rhs.as_mut()) } else { ours.solve_in_place(rhs.as_mut()) };
    assert_eq!(solved, Err(differs("the system")));
    assert!(rhs == mine(&ours.cyclic(), &v));
    assert_eq!(ours.remove_last(usize::from(odd)), Err(differs("count")));
    assert_eq!(ours.gather(usize::from(odd)).unwrap_err(), differs("root"));
    let corner = matrix::<f64>(3, 3, if odd { 1.0 } else { 2.0 });
    assert_eq!(ours.append(Rows::All(v.as_ref()), corner.as_ref()), Err(differs("the entries of corner")));
    expect(&ours, &l, "after errors");

    let begun = |order, settings: Settings| {
        let rows = mine(&cholupdate_mpi::rows_of(world, order, settings), &l);
        Distributed::from_factor(world, settings, order, rows.as_ref()).unwrap_err()
    };
    assert_eq!(begun(n, settings(if odd { 16 } else { 32 }, 1)), differs("block"));
    let safeguard = if odd { Safeguard::None } else { Safeguard::DryRun };
    assert_eq!(begun(n, Settings { safeguard, ..settings(16, 1) }), differs("safeguard"));
    assert_eq!(begun(if odd { n } else { n - 1 }, settings(16, 1)), differs("the order"));
    let empty = MatRef::from_column_major_slice(&[], 0, 0);
    let scattered = Distributed::<f64>::scatter(world, settings(16, 1), 0, (usize::from(odd), empty));
    assert_eq!(scattered.unwrap_err(), differs("root"));
}

pub fn between_two_groups(world: &SimpleCommunicator) {
    let is_odd = world.rank() % 2 == 1;
    let Some(group) = world.split_by_color(Color::with_value(i32::from(is_odd))) else { return };
    if world.size() == 1 {
        return;
    }
    let mut between = core::mem::MaybeUninit::uninit();
    // SAFETY: both communicators exist, and the first processes of the groups are 0 and 1.
    let between = unsafe {
        let other = i32::from(!is_odd);
        ffi::MPI_Intercomm_create(group.as_raw(), 0, world.as_raw(), other, 5, between.as_mut_ptr());
        InterCommunicator::try_from_raw(between.assume_init())
    };
    let between = between.unwrap();
    let l = factor::<f64>(0);
    let refused = Distributed::from_factor(&between, settings(16, 1), 0, l.as_ref()).unwrap_err();
    assert_eq!(refused.argument(), Some("comm"));
    let refused = Distributed::scatter(&between, settings(16, 1), 0, (0, l.as_ref())).unwrap_err();
    assert_eq!(refused.argument(), Some("comm"));
    let refused = Distributed::<f64>::from_scalapack(&between, settings(16, 1), (0, true), &[0; 9], &[]);
    assert!(refused.unwrap_err().to_string().contains("`comm`"));
    assert!(Grid::new(&between, (1, 1)).unwrap_err().to_string().contains("`comm`"));
}
