//! `modify_into`: L' in other memory than L, in one pass.

use crate::support::layout::{Laid, Layout};
use crate::support::problem::{Kind, Problem, breaking};
use crate::support::real::{Real, bits};
use cholupdate::faer::{Mat, MatRef};
use cholupdate::{
    Cholesky, Cpu, Error, Modification, Safeguard, Workspace, modify_checked_in_place, modify_into,
};

/// L' in memory that was NaN, by `modify_into`.
fn into<T: Real>(
    l: MatRef<'_, T>,
    v: &Mat<T>,
    weights: &[T],
    cpu: &Cpu,
    workspace: &mut Workspace<T>,
) -> Result<(Mat<T>, Modification), Error> {
    let n = l.nrows();
    let mut to = Mat::from_fn(n, n, |_, _| T::of(f64::NAN));
    let report = modify_into(l, v, weights, to.as_mut(), cpu, workspace)?;
    for j in 0..n {
        for i in 0..j {
            assert!(!to[(i, j)].is_finite(), "({i}, {j}) of the upper triangle was written");
            to[(i, j)] = T::ZERO;
        }
    }
    Ok((to, report))
}

fn the_bits_are_those_of_the_class<T: Real>() {
    for (n, k) in [(1, 1), (9, 1), (65, 3), (130, 2), (200, 1), (333, 5), (1100, 1), (1100, 17)] {
        let kinds = if n < 1000 { &Kind::ALL[..] } else { &[Kind::Mixed] };
        for (&kind, start) in kinds.iter().zip([0, n / 3, n - 1]) {
            let mut problem = Problem::<T>::feasible(n, k, kind, 0.3, 3);
            problem.v.subrows_mut(0, start).fill(T::ZERO);
            let mut factor = Cholesky::from_factor_in(&problem.l, Cpu::sequential()).unwrap();
            let report = factor.modify(&problem.v, &problem.weights).unwrap();
            let expected = bits(factor.l());
            let mut workspace = Workspace::new();
            for layout in Layout::ALL {
                let l = Laid::new(problem.l.as_ref(), layout);
                let before = l.bits();
                for cpu in [Cpu::sequential(), Cpu::threads(3)] {
                    let (new, told) =
                        into(l.as_ref(), &problem.v, &problem.weights, &cpu, &mut workspace).unwrap();
                    assert!(bits(new.as_ref()) == expected, "{layout:?}, {n} × {k}, {kind:?}, {cpu:?}");
                    assert_eq!(told, report);
                }
                assert!(l.bits() == before, "{layout:?}: L was written to");
            }
            // Columns of L with a negative pivot are negated.
            let flipped =
                Mat::from_fn(n, n, |i, j| if j % 3 == 1 { -problem.l[(i, j)] } else { problem.l[(i, j)] });
            let (new, _) =
                into(flipped.as_ref(), &problem.v, &problem.weights, &Cpu::default(), &mut workspace)
                    .unwrap();
            assert!(bits(new.as_ref()) == expected, "negated columns, {n} × {k}, {kind:?}");
        }
    }
}

#[test]
fn the_bits_are_those_of_the_class_f64() {
    the_bits_are_those_of_the_class::<f64>();
}

#[test]
fn the_bits_are_those_of_the_class_f32() {
    the_bits_are_those_of_the_class::<f32>();
}

#[test]
fn without_a_change_it_is_a_copy() {
    let problem = Problem::<f64>::feasible(70, 2, Kind::Mixed, 0.3, 3);
    for v in [Mat::zeros(70, 2), Mat::zeros(70, 0)] {
        let weights = &problem.weights[..v.ncols()];
        for layout in [Layout::ColumnMajor, Layout::RowMajor] {
            let l = Laid::new(problem.l.as_ref(), layout);
            let (new, report) =
                into(l.as_ref(), &v, weights, &Cpu::default(), &mut Workspace::new()).unwrap();
            assert_eq!(bits(new.as_ref()), bits(problem.l.as_ref()));
            assert_eq!((report.min_pivot_ratio, report.log_det_change()), (1.0, 0.0));
        }
    }
    assert!(
        into(
            Mat::<f64>::new().as_ref(),
            &Mat::zeros(0, 2),
            &[1.0; 2],
            &Cpu::default(),
            &mut Workspace::new()
        )
        .is_ok()
    );
}

/// For any rank, signs and place: below a diagonal block, in it, on the diagonal, in columns where V is zero.
fn every_entry_that_is_not_finite_is_noticed<T: Real>() {
    let orders_and_ranks =
        [1, 2, 3, 4, 6, 20].map(|k| (150, k)).into_iter().chain([2, 3, 4].map(|k| (100, k)));
    for (n, k, kind, start) in orders_and_ranks
        .flat_map(|(n, k)| Kind::ALL.map(|kind| (n, k, kind)))
        .flat_map(|(n, k, kind)| [0, n - 50, n].map(|start| (n, k, kind, start)))
    {
        let mut problem = Problem::<T>::feasible(n, k, kind, 0.5, 3);
        problem.v.subrows_mut(0, start).fill(T::ZERO);
        let (v, weights) = (&problem.v, &problem.weights);
        let in_place = weights.iter().all(|&weight| weight > T::ZERO);
        let places = [
            (0, 0),
            (n - 1, 0),
            (n - 1, n - 1),
            (n - 2, n - 3),
            (70, 3),
            (97, 64),
            (96, 95),
            (3, 2),
            (n - 1, n - 49),
        ];
        for (row, column) in places {
            for bad in [f64::NAN, f64::INFINITY, -f64::INFINITY] {
                let mut l = problem.l.clone();
                l[(row, column)] = T::of(bad);
                let refused = Err(Error::NonFinite { argument: "l", row, column });
                for cpu in [Cpu::sequential(), Cpu::threads(2)] {
                    let mut workspace = Workspace::new();
                    for layout in [Layout::Padded, Layout::RowMajor] {
                        let l = Laid::new(l.as_ref(), layout);
                        let got = into(l.as_ref(), v, weights, &cpu, &mut workspace).map(drop);
                        assert_eq!(got, refused, "{layout:?}, {kind:?} of rank {k} from row {start} on");
                    }
                    for safeguard in [Safeguard::ShadowBuffer, Safeguard::DryRun] {
                        let (mut there, cpu) = (l.clone(), cpu.with_safeguard(safeguard));
                        let got = modify_checked_in_place(there.as_mut(), v, weights, &cpu, &mut workspace);
                        match got {
                            Err(Error::NonFinite { argument: "l", .. }) if in_place => {}
                            got => {
                                assert_eq!(got.map(drop), refused, "{kind:?} of rank {k} from row {start} on")
                            }
                        }
                        if !in_place || start == n {
                            assert!(bits(there.as_ref()) == bits(l.as_ref()), "{kind:?} of rank {k}");
                        }
                    }
                }
            }
        }
    }
}

/// Also below a zero pivot, and in a row with a zero pivot: nothing divides by them.
#[test]
fn so_it_is_below_zero_pivots() {
    let cpu = Cpu::sequential();
    for k in [1, 2, 4, 5] {
        let v = Mat::<f64>::from_fn(3, k, |i, _| if i < 2 { 1.0 } else { 0.0 });
        for bad in [f64::NAN, f64::INFINITY] {
            let l = Mat::from_fn(3, 3, |i, j| {
                if (i, j) == (1, 0) { bad } else { f64::from(u8::from(i == j && i == 0)) }
            });
            let refused = Err(Error::NonFinite { argument: "l", row: 1, column: 0 });
            let weights = vec![1.0; k];
            assert_eq!(into(l.as_ref(), &v, &weights, &cpu, &mut Workspace::new()).map(drop), refused, "{k}");
            let mut there = l.clone();
            let got = modify_checked_in_place(there.as_mut(), &v, &weights, &cpu, &mut Workspace::new());
            assert!(matches!(got, Err(Error::NonFinite { argument: "l", .. })), "{k}: {got:?}");
        }
    }
}

#[test]
fn every_entry_that_is_not_finite_is_noticed_f64() {
    every_entry_that_is_not_finite_is_noticed::<f64>();
}

#[test]
fn every_entry_that_is_not_finite_is_noticed_f32() {
    every_entry_that_is_not_finite_is_noticed::<f32>();
}

#[test]
fn what_is_wrong_is_refused() {
    let problem = Problem::<f64>::feasible(6, 2, Kind::Mixed, 0.5, 6);
    let mut to = Mat::<f64>::zeros(6, 6);
    let mut refused = |l: &Mat<f64>, v: &Mat<f64>, weights: &[f64], error: Error| {
        let got = modify_into(l.as_ref(), v, weights, to.as_mut(), &Cpu::default(), &mut Workspace::new());
        assert_eq!(got.map(drop), Err(error));
    };
    let shape = |argument, extent, expected, found| Error::Shape { argument, extent, expected, found };
    let Problem { l, v, weights } = &problem;
    refused(&Mat::zeros(6, 5), v, weights, shape("l", "columns", 6, 5));
    refused(&Mat::identity(5, 5), v, weights, shape("to", "rows", 5, 6));
    refused(l, &Mat::zeros(5, 2), weights, shape("v", "rows", 6, 5));
    refused(l, v, &[1.0], shape("weights", "entries", 2, 1));
    let mut other = v.clone();
    other[(3, 1)] = f64::NAN;
    refused(l, &other, weights, Error::NonFinite { argument: "v", row: 3, column: 1 });
    other[(3, 1)] = 1e200;
    refused(l, &other, weights, Error::Overflow { argument: "v" });
    let mut singular = l.clone();
    singular[(4, 4)] = 0.0;
    refused(&singular, v, weights, Error::Singular { column: 4 });

    let mut by_rows = Mat::<f64>::zeros(6, 6);
    let to = by_rows.as_mut().transpose_mut();
    let got = modify_into(l.as_ref(), v, weights, to, &Cpu::default(), &mut Workspace::new());
    assert_eq!(got.map(drop), Err(Error::OutOfRange { argument: "to", rule: "column-major" }));

    for column in [0, 40, 99] {
        let problem = breaking::<f64>(100, 3, column, Kind::Down, 5);
        let got =
            into(problem.l.as_ref(), &problem.v, &problem.weights, &Cpu::default(), &mut Workspace::new());
        assert_eq!(got.map(drop), Err(Error::NotPositiveDefinite { column }));
    }
}
