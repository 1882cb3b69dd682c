//! Every accepted layout and matrix type gives the same bits.

#[cfg(feature = "ndarray")]
mod ndarray;

use crate::support::contract::assert_solved;
use crate::support::layout::{Laid, Layout};
use crate::support::problem::{Kind, Problem};
use crate::support::real::{Real, bits};
use cholupdate::faer::{Col, Mat, MatRef, Row};
use cholupdate::{Cholesky, Cpu, Engine, Operand, RealScalar};

on_every_engine!(
    layouts_of_v_do_not_matter,
    a_sum_is_what_weights_of_one_make_it,
    layouts_of_a_and_l_do_not_matter,
    layouts_of_the_right_hand_side_do_not_matter,
    the_upper_triangle_is_not_read,
);

fn layouts_of_v_do_not_matter<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for (n, k) in [(1, 1), (1, 4), (5, 1), (9, 3), (33, 2), (70, 17), (70, 1)] {
        let problem = Problem::<T>::feasible(n, k, Kind::Mixed, 0.3, 3);
        let expected = bits(problem.modified(engine).unwrap().0.as_ref());
        for layout in Layout::ALL {
            let v = Laid::new(problem.v.as_ref(), layout);
            let before = v.bits();
            let mut factor = problem.factor(engine);
            factor.modify(v.as_ref(), &problem.weights).unwrap();
            assert!(bits(factor.to_factor().unwrap().as_ref()) == expected, "{layout:?}, {n} × {k}");
            assert!(v.bits() == before, "{layout:?}: V was written to");
        }
    }
}

/// `update` and `downdate` by any layout, and `modify` with weights of ±1: column-major V of one sign may take a separate path.
fn a_sum_is_what_weights_of_one_make_it<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for (n, k) in [(1, 1), (1, 9), (7, 2), (9, 4), (33, 5), (50, 16), (70, 1)] {
        let problem = Problem::<T>::feasible(n, k, Kind::Up, 0.3, 3);
        let grown = problem.modified(engine).unwrap().0;
        let shrunk = || {
            let mut factor = Cholesky::from_factor_in(&grown, engine.clone()).unwrap();
            factor.modify(&problem.v, &vec![-T::ONE; k]).unwrap();
            bits(factor.to_factor().unwrap().as_ref())
        };
        let expected = [bits(grown.as_ref()), shrunk()];
        for layout in Layout::ALL {
            let v = Laid::new(problem.v.as_ref(), layout);
            let mut factor = problem.factor(engine);
            factor.update(v.as_ref()).unwrap();
            assert!(bits(factor.to_factor().unwrap().as_ref()) == expected[0], "{layout:?}, {n} × {k}");
            let mut factor = Cholesky::from_factor_in(&grown, engine.clone()).unwrap();
            factor.downdate(v.as_ref()).unwrap();
            assert!(bits(factor.to_factor().unwrap().as_ref()) == expected[1], "{layout:?}, {n} × {k}");
        }
    }
}

fn layouts_of_a_and_l_do_not_matter<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in [1, 2, 9, 40, 65] {
        let problem = Problem::<T>::feasible(n, 1, Kind::Up, 0.5, 4);
        let a = problem.factor(engine).reconstruct().unwrap();
        let factor_of = |a: MatRef<'_, T>| {
            bits(Cholesky::new_in(a, engine.clone()).unwrap().to_factor().unwrap().as_ref())
        };
        let taken = |l: MatRef<'_, T>| {
            bits(Cholesky::from_factor_in(l, engine.clone()).unwrap().to_factor().unwrap().as_ref())
        };
        let expected = factor_of(a.as_ref());
        assert!(taken(problem.l.as_ref()) == bits(problem.l.as_ref()));
        for layout in Layout::ALL {
            let laid = Laid::new(a.as_ref(), layout);
            assert!(factor_of(laid.as_ref()) == expected, "{layout:?}, n = {n}");
            let laid = Laid::new(problem.l.as_ref(), layout);
            assert!(taken(laid.as_ref()) == bits(problem.l.as_ref()), "{layout:?}, n = {n}");
        }
    }
}

fn layouts_of_the_right_hand_side_do_not_matter<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for (n, m) in [(1, 1), (7, 1), (33, 4), (64, 1)] {
        let problem = Problem::<T>::feasible(n, m, Kind::Up, 0.5, 5);
        let factor = problem.factor(engine);
        let a = factor.reconstruct().unwrap();
        let x = factor.solve(&problem.v).unwrap();
        assert_solved(&a, &x, &problem.v);
        for layout in Layout::ALL {
            let mut laid = Laid::new(problem.v.as_ref(), layout);
            let mut around = laid.clone();
            factor.solve_in_place(laid.as_mut()).unwrap();
            assert_solved(&a, &laid.as_ref().to_owned(), &problem.v);
            // Only the entries were written.
            around.as_mut().copy_from(laid.as_ref());
            assert!(around.bits() == laid.bits(), "{layout:?}: padding was written to");
        }
    }
}

fn the_upper_triangle_is_not_read<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in [2, 9, 40, 100] {
        let problem = Problem::<T>::feasible(n, 2, Kind::Up, 0.5, 6);
        let a = problem.factor(engine).reconstruct().unwrap();
        let expected = Cholesky::new_in(&a, engine.clone()).unwrap().to_factor().unwrap();
        for layout in Layout::ALL {
            let [mut a, mut l] = [&a, &problem.l].map(|m| Laid::new(m.as_ref(), layout));
            a.spoil_upper_triangle();
            l.spoil_upper_triangle();
            let from_a = Cholesky::new_in(a.as_ref(), engine.clone()).unwrap();
            assert_eq!(bits(from_a.to_factor().unwrap().as_ref()), bits(expected.as_ref()));
            let from_l = Cholesky::from_factor_in(l.as_ref(), engine.clone()).unwrap();
            assert_eq!(bits(from_l.to_factor().unwrap().as_ref()), bits(problem.l.as_ref()));
        }
    }
}

/// All types that are a matrix of one column.
#[test]
fn all_kinds_of_columns_are_accepted() {
    fn check<T: Real>()
    where
        Cpu: Engine<T>,
    {
        let problem = Problem::<T>::feasible(4, 1, Kind::Up, 0.5, 9);
        let expected = bits(problem.modified(&Cpu::default()).unwrap().0.as_ref());
        let array: [T; 4] = std::array::from_fn(|i| problem.v[(i, 0)]);
        let mut column = Col::from_fn(4, |i| array[i]);
        let mut matrix = problem.v.clone();
        let row = Row::from_fn(4, |i| array[i]);

        fn updated<'a, T: RealScalar>(l: &Mat<T>, v: impl Into<Operand<'a, T>>) -> Mat<T> {
            let mut factor = Cholesky::from_factor(l).unwrap();
            factor.update(v).unwrap();
            factor.into_parts().0
        }
        let l = &problem.l;
        let results = [
            updated(l, &array),
            updated(l, &array[..]),
            updated(l, &array.to_vec()),
            updated(l, matrix.as_ref()),
            updated(l, &column),
            updated(l, column.as_ref()),
            updated(l, &column.as_mut()),
            updated(l, &matrix),
            updated(l, matrix.as_ref()),
            updated(l, &matrix.as_mut()),
            updated(l, row.transpose()),
            updated(l, row.as_ref().transpose().as_mat()),
        ];
        for (i, result) in results.iter().enumerate() {
            assert_eq!(bits(result.as_ref()), expected, "argument {i}");
        }
        // A row is a matrix of one row.
        let mut factor = Cholesky::from_factor(&[T::ONE]).unwrap();
        factor.update(&row).unwrap();
        factor.update(row.as_ref()).unwrap();
    }
    check::<f64>();
    check::<f32>();
}

/// All types that can be solved in place, with A = 4.
#[test]
fn all_kinds_of_right_hand_sides_are_solved() {
    let factor = Cholesky::new(&[4.0]).unwrap();
    let (mut array, mut vector, mut column, mut matrix) =
        ([8.0], vec![8.0], Col::from_fn(1, |_| 8.0), Mat::from_fn(1, 1, |_, _| 8.0));
    factor.solve_in_place(&mut array).unwrap();
    factor.solve_in_place(&mut array[..]).unwrap();
    factor.solve_in_place(&mut vector).unwrap();
    factor.solve_in_place(&mut column).unwrap();
    factor.solve_in_place(column.as_mut()).unwrap();
    factor.solve_in_place(&mut matrix).unwrap();
    factor.solve_in_place(matrix.as_mut()).unwrap();
    factor.solve_in_place(matrix.as_mut()).unwrap();
    assert_eq!((array[0], vector[0], column[0], matrix[(0, 0)]), (0.5, 2.0, 0.5, 0.125));
}

#[cfg(feature = "nalgebra")]
#[test]
fn nalgebra_matrices_are_read_and_written_where_they_lie() {
    use nalgebra::{DMatrix, DVector, SMatrix, SVector};
    let problem = Problem::<f64>::feasible(6, 2, Kind::Mixed, 0.3, 10);
    let expected = problem.modified(&Cpu::default()).unwrap().0;
    let l = DMatrix::from_fn(6, 6, |i, j| problem.l[(i, j)]);
    let v = DMatrix::from_fn(6, 2, |i, r| problem.v[(i, r)]);
    let fixed = SMatrix::<f64, 6, 2>::from_fn(|i, r| problem.v[(i, r)]);
    // Every second row and column of a larger matrix.
    let larger =
        DMatrix::from_fn(12, 4, |i, r| if i % 2 == 0 && r % 2 == 0 { v[(i / 2, r / 2)] } else { f64::NAN });
    let strided = larger.view_with_steps((0, 0), (6, 2), (1, 1));

    let modified = |v: &dyn Fn(&mut Cholesky<f64>)| {
        let mut factor = Cholesky::from_factor(&l).unwrap();
        v(&mut factor);
        bits(factor.l())
    };
    let weights = &problem.weights[..];
    let results = [
        modified(&|factor| {
            factor.modify(&v, weights).unwrap();
        }),
        modified(&|factor| {
            factor.modify(&fixed, weights).unwrap();
        }),
        modified(&|factor| {
            factor.modify(&strided, weights).unwrap();
        }),
        modified(&|factor| {
            factor.modify(&v.view((0, 0), (6, 2)), weights).unwrap();
        }),
    ];
    for result in results {
        assert_eq!(result, bits(expected.as_ref()));
    }

    let a = &l * l.transpose();
    let factor = Cholesky::new(&a).unwrap();
    let b = DVector::from_fn(6, |i, _| v[(i, 0)]);
    let expected = factor.solve(&b).unwrap();
    let (mut x, mut fixed_x) = (b.clone(), SVector::<f64, 6>::from_fn(|i, _| b[i]));
    factor.solve_in_place(&mut x).unwrap();
    factor.solve_in_place(&mut fixed_x).unwrap();
    let mut inside = DMatrix::from_element(3, 12, f64::NAN);
    inside.row_mut(1).columns_mut(0, 6).copy_from(&b.transpose());
    factor.solve_in_place(&mut inside.view_mut((1, 0), (1, 6)).transpose()).unwrap();
    for i in 0..6 {
        assert_eq!((x[i], fixed_x[i]), (expected[(i, 0)], expected[(i, 0)]));
    }
    let column = |x: &DVector<f64>| Mat::from_fn(6, 1, |i, _| x[i]);
    let a = Mat::from_fn(6, 6, |i, j| a[(i, j)]);
    assert_solved(&a, &column(&x), &column(&b));
}

#[cfg(feature = "nalgebra")]
#[test]
fn complex_matrices_of_nalgebra_are_operands() {
    use cholupdate::{Ldlt, faer::c64};
    use nalgebra::{Complex, DMatrix, DVector};
    let entry =
        |i: usize, j: usize| Complex::new((i + 2 * j) as f64 / 8.0, (i as f64 - 3.0 * j as f64) / 16.0);
    let g = DMatrix::from_fn(5, 5, entry);
    let a = &g * g.adjoint() + DMatrix::identity(5, 5) * Complex::new(2.0, 0.0);
    let v = DVector::from_fn(5, |i, _| entry(i, 1));
    let mut factor = Cholesky::<c64>::new(&a).unwrap();
    factor.update(&v).unwrap();
    factor.modify(&DMatrix::from_columns(&[v.clone(), v.clone()]), &[-0.5, 0.25]).unwrap();
    let mut x = v.clone();
    factor.solve_in_place(&mut x).unwrap();
    let changed = &a + &v * v.adjoint() * Complex::new(0.75, 0.0);
    assert!((changed * &x - &v).norm() < 1e-14);
    let mut indefinite = Ldlt::<c64>::new(&-&a).unwrap();
    assert_eq!(indefinite.update(&v).unwrap().inertia, (0, 5));
}
