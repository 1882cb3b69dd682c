//! Arrays and views of ndarray, as V, A, L and right-hand sides.

use crate::support::contract::assert_solved;
use crate::support::problem::{Kind, Problem};
use crate::support::real::bits;
use cholupdate::faer::{Mat, c64};
use cholupdate::{Cholesky, Cpu, Error, Ldlt, Operand, OperandMut};
use ndarray::{Array1, Array2, ArrayRef2, ArrayView2, CowArray, ShapeBuilder, s};

fn modified<'a>(problem: &Problem<f64>, v: impl Into<Operand<'a, f64>>) -> Vec<u64> {
    let mut factor = Cholesky::from_factor(&problem.l).unwrap();
    factor.modify(v, &problem.weights).unwrap();
    bits(factor.l())
}

fn array(of: &Mat<f64>) -> Array2<f64> {
    Array2::from_shape_fn(of.shape(), |at| of[at])
}

#[test]
#[expect(clippy::needless_borrows_for_generic_args, reason = "references to views are arguments as well")]
fn every_layout_of_v_gives_the_same_bits() {
    let problem = Problem::<f64>::feasible(6, 2, Kind::Mixed, 0.3, 10);
    let expected = bits(problem.modified(&Cpu::default()).unwrap().0.as_ref());
    let by_rows = array(&problem.v);
    let by_columns = Array2::from_shape_fn((6, 2).f(), |at| by_rows[at]);
    let transposed = by_rows.t().as_standard_layout().into_owned();
    // Every second row and third column of a larger array, and backwards.
    let mut around = Array2::from_elem((12, 6), f64::NAN);
    around.slice_mut(s![..;2, ..;3]).assign(&by_rows);
    let mut backwards = Array2::from_elem((12, 6), f64::NAN);
    backwards.slice_mut(s![..;-2, ..;-3]).assign(&by_rows);
    let by_reference: &ArrayRef2<f64> = &by_rows;

    let results = [
        modified(&problem, &by_rows),
        modified(&problem, &by_columns),
        modified(&problem, by_rows.view()),
        modified(&problem, &by_rows.view()),
        modified(&problem, by_reference),
        modified(&problem, transposed.t()),
        modified(&problem, around.slice(s![..;2, ..;3])),
        modified(&problem, &around.slice(s![..;2, ..;3])),
        modified(&problem, backwards.slice(s![..;-2, ..;-3])),
        modified(&problem, &by_rows.to_shared()),
        modified(&problem, &CowArray::from(by_rows.view())),
        modified(&problem, &by_rows.clone().view_mut()),
    ];
    for (i, result) in results.iter().enumerate() {
        assert_eq!(*result, expected, "argument {i}");
    }
}

#[test]
fn vectors_are_matrices_of_one_column() {
    let problem = Problem::<f64>::feasible(5, 1, Kind::Up, 0.5, 11);
    let expected = bits(problem.modified(&Cpu::default()).unwrap().0.as_ref());
    let v = Array1::from_shape_fn(5, |i| problem.v[(i, 0)]);
    let mut around = Array2::from_elem((5, 3), f64::NAN);
    around.column_mut(1).assign(&v);
    let reversed = Array1::from_shape_fn(5, |i| v[4 - i]);
    let same = Array1::from_elem(1, 0.5);
    let results = [
        modified(&problem, &v),
        modified(&problem, v.view()),
        modified(&problem, around.column(1)),
        modified(&problem, around.slice(s![.., 1..2])),
        modified(&problem, reversed.slice(s![..;-1])),
    ];
    for (i, result) in results.iter().enumerate() {
        assert_eq!(*result, expected, "argument {i}");
    }
    // Entries that share memory can be read.
    let broadcast = same.broadcast(5).unwrap();
    assert_eq!(modified(&problem, broadcast), modified(&problem, &[0.5; 5]));
}

#[test]
fn right_hand_sides_are_overwritten_where_they_lie() {
    let problem = Problem::<f64>::feasible(6, 2, Kind::Up, 0.3, 12);
    let l = array(&problem.l);
    let a = l.dot(&l.t());
    let factor = Cholesky::new(&a).unwrap();
    assert_eq!(bits(factor.l()), bits(Cholesky::new(a.t()).unwrap().l()), "A by rows, or by columns");
    let b = array(&problem.v);
    let expected = factor.solve(&b).unwrap();
    assert_solved(&Mat::from_fn(6, 6, |i, j| a[(i, j)]), &expected, &problem.v);
    // A result as an array.
    let expected = Array2::from_shape_fn(expected.shape(), |at| expected[at]);

    let mut x = b.clone();
    factor.solve_in_place(&mut x).unwrap();
    assert_eq!(x, expected);
    let mut x = b.clone();
    factor.solve_in_place(x.view_mut()).unwrap();
    assert_eq!(x, expected);
    let mut x = b.clone();
    let by_reference: &mut ArrayRef2<f64> = &mut x;
    factor.solve_in_place(by_reference).unwrap();
    assert_eq!(x, expected);
    let mut x = b.t().as_standard_layout().into_owned();
    factor.solve_in_place(x.view_mut().reversed_axes()).unwrap();
    assert_eq!(x, expected.t());
    // One column has steps of its own.
    let mut vector = b.column(0).to_owned();
    factor.solve_in_place(&mut vector).unwrap();
    let alone = factor.solve(problem.v.col(0)).unwrap();
    assert_eq!(vector, Array1::from_shape_fn(6, |i| alone[(i, 0)]));

    // An array that shares its memory gets memory of its own.
    let mut shared = b.to_shared();
    let other = shared.clone();
    factor.solve_in_place(&mut shared).unwrap();
    assert_eq!((shared, other), (expected.to_shared(), b.to_shared()));

    // Only the entries are written.
    let mut around = Array2::from_elem((12, 6), -1.0);
    around.slice_mut(s![..;-2, 1..;3]).assign(&b);
    let mut written = around.clone();
    written.slice_mut(s![..;-2, 1..;3]).assign(&expected);
    factor.solve_in_place(around.slice_mut(s![..;-2, 1..;3])).unwrap();
    assert_eq!(around, written);
}

#[test]
fn nothing_is_copied() {
    let mut a = Array2::<f64>::zeros((4, 3));
    let first: *const f64 = &raw const a[(3, 0)];
    let Operand::Host(view) = Operand::from(a.slice(s![..;-3, ..;2])) else { unreachable!() };
    assert_eq!((view.as_ptr(), view.shape()), (first, (2, 2)));
    assert_eq!((view.row_stride(), view.col_stride()), (-9, 2));
    let OperandMut::Host(view) = OperandMut::from(a.slice_mut(s![..;-3, 0])) else { unreachable!() };
    assert_eq!((view.as_ptr(), view.shape()), (first, (2, 1)));
    assert_eq!(view.row_stride(), -9);
}

#[test]
fn empty_arrays_are_empty_matrices() {
    let empty = Array2::<f64>::zeros((0, 0));
    let mut factor = Cholesky::new(&empty).unwrap();
    factor.update(&Array2::zeros((0, 3))).unwrap();
    factor.update(&Array1::zeros(0)).unwrap();
    assert_eq!(factor.solve(&Array2::zeros((0, 2))).unwrap().shape(), (0, 2));

    let mut factor = Cholesky::new(&Array2::eye(3)).unwrap();
    let before = bits(factor.l());
    factor.update(&Array2::zeros((3, 0))).unwrap();
    let around = Array2::from_elem((3, 4), f64::NAN);
    factor.downdate(around.slice(s![..;-1, 4..])).unwrap();
    factor.solve_in_place(&mut Array2::zeros((3, 0))).unwrap();
    assert_eq!(bits(factor.l()), before);
}

#[test]
fn refusals_name_the_argument() {
    let shape = |argument, extent, expected, found| Error::Shape { argument, extent, expected, found };
    let refused = Cholesky::new(&Array2::<f64>::zeros((3, 4))).unwrap_err();
    assert_eq!(refused, shape("a", "columns", 3, 4));
    let refused = Cholesky::from_factor(Array2::<f64>::zeros((3, 4)).t()).unwrap_err();
    assert_eq!(refused, shape("l", "columns", 4, 3));

    let mut factor = Cholesky::new(&Array2::eye(3)).unwrap();
    let wide = Array2::from_elem((2, 3), 0.5);
    assert_eq!(factor.update(&wide).unwrap_err(), shape("v", "rows", 3, 2));
    factor.update(wide.t()).unwrap();
    assert_eq!(factor.update(&Array1::zeros(4)).unwrap_err(), shape("v", "rows", 3, 4));
    assert_eq!(factor.solve(&wide).unwrap_err(), shape("rhs", "rows", 3, 2));
    let mut b = Array1::zeros(2);
    assert_eq!(factor.solve_in_place(&mut b).unwrap_err(), shape("rhs", "rows", 3, 2));

    // Where the entry is, in the view that was given.
    let mut v = Array2::zeros((3, 2));
    v[(0, 1)] = f64::NAN;
    let refused = factor.update(v.slice(s![..;-1, ..;-1])).unwrap_err();
    assert_eq!(refused, Error::NonFinite { argument: "v", row: 2, column: 0 });
}

#[test]
fn complex_arrays_are_operands() {
    let entry =
        |(i, j): (usize, usize)| c64::new((i + 2 * j) as f64 / 8.0, (i as f64 - 3.0 * j as f64) / 16.0);
    let conjugate = |a: ArrayView2<'_, c64>| a.t().mapv(|x| x.conj());
    let g = Array2::from_shape_fn((5, 5), entry);
    let a = g.dot(&conjugate(g.view())) + Array2::<c64>::eye(5) * c64::new(2.0, 0.0);
    let v = g.slice(s![.., 1..2]);
    let mut factor = Cholesky::<c64>::new(&a).unwrap();
    factor.update(v).unwrap();
    factor.modify(v, &[-0.25]).unwrap();
    let mut x = v.to_owned();
    factor.solve_in_place(&mut x).unwrap();
    let changed = &a + v.dot(&conjugate(v)) * c64::new(0.75, 0.0);
    let residual = changed.dot(&x) - v;
    assert!(residual.iter().all(|r| r.norm() < 1e-14));
    let mut indefinite = Ldlt::<c64>::new(&-&a).unwrap();
    assert_eq!(indefinite.update(v).unwrap().inertia, (0, 5));
}
