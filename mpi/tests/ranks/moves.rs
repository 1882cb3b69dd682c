//! Beginnings, solves, and rows at the end.

use crate::common::{expect, factor, matrix, mine, settings, start};
use cholupdate_mpi::cholupdate::faer::{Mat, MatRef};
use cholupdate_mpi::cholupdate::{Cholesky, Cpu};
use cholupdate_mpi::{Distributed, Error, Rows};
use mpi::topology::{Communicator, SimpleCommunicator};

pub fn solves(world: &SimpleCommunicator) {
    for (n, m) in [(0, 1), (1, 2), (100, 1), (513, 3), (1100, 1), (700, 70)] {
        let (l, b) = (factor::<f64>(n), matrix::<f64>(n, m, 1.0));
        let cpu = Cholesky::<f64>::from_factor_in(&l, Cpu::sequential()).unwrap();
        let x = cpu.solve(&b).unwrap();
        for (block, threads) in [(16, 1), (80, 2), (256, 1), (256, 2)] {
            let ours = start(world, settings(block, threads), &l);
            let mut found = mine(&ours.cyclic(), &b);
            ours.solve_in_place(found.as_mut()).unwrap();
            let expected = mine(&ours.cyclic(), &x);
            let off = (&found - &expected).norm_max();
            assert!(off <= 1e-12 * x.norm_max(), "n {n}, m {m}, blocks of {block}: off by {off:e}");
            if block == 256 {
                assert!(found == expected, "n {n}, m {m}, blocks of {block}: off by {off:e}");
            }
            let mut halves = mine(&ours.cyclic(), &b);
            ours.solve_l_in_place(halves.as_mut()).unwrap();
            ours.solve_lt_in_place(halves.as_mut()).unwrap();
            assert!(halves == found);
        }
    }
}

pub fn beginnings(world: &SimpleCommunicator) {
    for n in [1, 16, 63, 250, 321] {
        let l = factor::<f64>(n);
        let mut a = &l * l.transpose();
        // The upper triangle is not read.
        for j in 0..n {
            (0..j).for_each(|i| a[(i, j)] = f64::NAN);
        }
        for block in [16, 48, 256] {
            let settings = settings(block, 1);
            let rows = mine(&cholupdate_mpi::rows_of(world, n, settings), &a);
            let ours = Distributed::new(world, settings, n, rows.as_ref()).unwrap();
            let off = (ours.to_rows().unwrap() - mine(&ours.cyclic(), &l)).norm_max();
            assert!(off < 1e-12, "n {n}, blocks of {block}: off by {off:e}");
            let root = n % world.size() as usize;
            let has = world.rank() as usize == root;
            let given = if has { a.as_ref() } else { MatRef::from_column_major_slice(&[], 0, 0) };
            let other = Distributed::scatter(world, settings, n, (root, given)).unwrap();
            assert!(other.to_rows().unwrap() == ours.to_rows().unwrap());
            let whole = ours.gather(root).unwrap();
            assert_eq!(whole.is_some(), has);
            let empty = Mat::new();
            let given = whole.as_ref().unwrap_or(&empty).as_ref();
            let again = Distributed::scatter_factor(world, settings, n, (root, given)).unwrap();
            assert!(again.to_rows().unwrap() == ours.to_rows().unwrap());
            assert_eq!(again.log_det(), ours.log_det());
        }
    }
}

pub fn rows_at_the_end(world: &SimpleCommunicator) {
    let (n, more) = (300, 90);
    let all = factor::<f64>(n + more);
    let a = &all * all.transpose();
    let l = all.submatrix(0, 0, n, n).to_owned();
    let mut cpu = Cholesky::<f64>::from_factor_in(&l, Cpu::sequential()).unwrap();
    let mut ours = start(world, settings(256, 1), &l);
    let mut at = n;
    for count in [1, 0, 7, 82] {
        let (b, k) = (a.submatrix(0, at, at, count), a.submatrix(at, at, count, count));
        if count > 0 {
            let mut indefinite = k.to_owned();
            indefinite[(count / 2, count / 2)] = -1.0;
            let refused = Err(Error::NotPositiveDefinite { column: at + count / 2 });
            assert_eq!(ours.append(Rows::All(b), indefinite.as_ref()), refused);
        }
        let rows = mine(&ours.cyclic(), &b.to_owned());
        let report = ours.append(Rows::Mine(rows.as_ref()), k).unwrap();
        assert_eq!(report, cpu.append(b, k).unwrap());
        at += count;
        expect(&ours, &cpu.to_factor().unwrap(), "after rows have come");
    }
    let v = matrix::<f64>(n + more, 3, 1e-3);
    assert_eq!(ours.downdate(Rows::All(v.as_ref())).unwrap(), cpu.downdate(&v).unwrap());
    expect(&ours, &cpu.to_factor().unwrap(), "after a downdate");
    for count in [1, 0, 89, 200, 100] {
        let order = ours.order();
        ours.remove_last(count).unwrap();
        let rows: Vec<_> = (order - count..order).collect();
        cpu.remove(&rows).unwrap();
        expect(&ours, &cpu.to_factor().unwrap(), "after rows have gone");
    }
    assert_eq!(ours.order(), 0);
}
