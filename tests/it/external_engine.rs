//! An engine, and a kind of device memory, in a crate of their own: by the feature `unstable`, and without anything else of this
//! crate. The engine is LINPACK's: a rotation for each entry.

use cholupdate::faer::reborrow::ReborrowMut;
use cholupdate::faer::{Mat, MatMut, MatRef, Par};
use cholupdate::unstable::*;
use cholupdate::{
    Cholesky, Cpu, Engine, Error, Modification, Operand, OperandMut, RemoteView, RemoteViewMut, Safeguard,
    Weights,
};
use std::ops::Range;
use std::sync::{Arc, Mutex};

struct Rotations;

struct RotationsFactor {
    l: Mat<f64>,
    shadow: Mat<f64>,
    /// V diag(√|w|) as it was staged, and the signs.
    v: Mat<f64>,
    signs: Vec<f64>,
    report: Option<Modification>,
}

impl Sealed for Rotations {}

impl Engine<f64> for Rotations {
    type Factor = RotationsFactor;

    fn adopt(&self, l: Mat<f64>) -> Result<RotationsFactor, Error> {
        Ok(RotationsFactor { l, shadow: Mat::new(), v: Mat::new(), signs: Vec::new(), report: None })
    }

    fn par(&self) -> Par {
        Par::Seq
    }
}

impl RotationsFactor {
    fn stage_host(&mut self, v: MatRef<'_, f64>, weights: &[f64]) -> Result<Outline, Error> {
        for (column, entries) in v.col_iter().enumerate() {
            if let Some(row) = entries.iter().position(|x| !x.is_finite()) {
                return Err(Error::NonFinite { argument: "v", row, column });
            }
        }
        self.v = Mat::from_fn(v.nrows(), v.ncols(), |i, r| v[(i, r)] * weights[r].abs().sqrt());
        self.signs = weights.iter().map(|weight| weight.signum()).collect();
        let row_norm = |i: usize| (0..v.ncols()).map(|r| self.v[(i, r)].powi(2)).sum::<f64>().sqrt();
        let minus = weights.iter().filter(|weight| **weight < 0.0).count();
        let first_row = (0..v.nrows()).find(|&i| row_norm(i) > 0.0).unwrap_or(v.nrows());
        let largest = (0..v.nrows()).map(row_norm).fold(0.0, f64::max);
        Ok(Outline { plus: weights.len() - minus, minus, first_row, row_norm: largest, scale: 1.0 })
    }

    fn solve(&self, side: Side, columns: usize, mut b: MatMut<'_, f64>) {
        for c in 0..b.ncols() {
            for step in 0..columns {
                let j = if side == Side::L { step } else { columns - 1 - step };
                b[(j, c)] /= self.l[(j, j)];
                let rest = if side == Side::L { j + 1..b.nrows() } else { 0..j };
                for i in rest {
                    let l = if side == Side::L { self.l[(i, j)] } else { self.l[(j, i)] };
                    b[(i, c)] -= l * b[(j, c)];
                }
            }
        }
    }
}

/// The factor of A. (n × n)
fn factor_of(mut a: Mat<f64>) -> Mat<f64> {
    for j in 0..a.ncols() {
        a[(j, j)] = a[(j, j)].sqrt();
        for i in j + 1..a.nrows() {
            a[(i, j)] /= a[(j, j)];
        }
        for k in j + 1..a.ncols() {
            for i in k..a.nrows() {
                a[(i, k)] -= a[(i, j)] * a[(k, j)];
            }
        }
    }
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| if i < j { 0.0 } else { a[(i, j)] })
}

impl Swept<f64> for RotationsFactor {
    fn traits(&self) -> Traits {
        let safeguard = Safeguard::ShadowBuffer;
        let [asynchronous, tall, scales, carries, prefers_shadow] = [false; 5];
        Traits { asynchronous, tall, memory: None, scales, carries, prefers_shadow, safeguard }
    }

    fn order(&self) -> usize {
        self.l.nrows()
    }

    fn pivot(&self, column: usize) -> f64 {
        self.l[(column, column)]
    }

    fn row_norm(&self) -> Result<f64, Error> {
        Ok(self.l.row_iter().map(|row| row.norm_l2()).fold(0.0, f64::max))
    }

    fn reserve(&mut self, _: Room) -> Result<(), Error> {
        Ok(())
    }

    fn stage(&mut self, v: &Staged<'_, f64>) -> Result<Outline, Error> {
        match *v {
            Staged::Given(Operand::Host(v), weights) => {
                let of = |r| match weights {
                    Weights::Plus => 1.0,
                    Weights::Minus => -1.0,
                    Weights::Each(each) => each[r],
                };
                let weights: Vec<f64> = (0..v.ncols()).map(of).collect();
                self.stage_host(*v, &weights)
            }
            Staged::Columns(v) => {
                let (first, minus) = v.minus;
                let mut all = Mat::zeros(v.order, v.columns.len() + minus.ncols());
                for run in v.rows {
                    for (new, old) in run.new_places().zip(run.old_places()) {
                        for (r, &column) in v.columns.iter().enumerate() {
                            all[(new, r)] = self.l[(old, column)];
                        }
                    }
                }
                all.as_mut()
                    .submatrix_mut(first, v.columns.len(), minus.nrows(), minus.ncols())
                    .copy_from(minus);
                let weights: Vec<f64> =
                    (0..all.ncols()).map(|r| if r < v.columns.len() { 1.0 } else { -1.0 }).collect();
                self.stage_host(all.as_ref(), &weights)
            }
            _ => unreachable!("the traits exclude it"),
        }
    }

    fn sweep(&mut self, _: &Outline, columns: Range<usize>, target: Target) -> Result<(), Stop> {
        let (mut l, mut v) = (self.l.clone(), self.v.clone());
        let (mut least, mut log_det) = (1.0_f64, 0.0);
        for j in columns {
            let before = l[(j, j)];
            for (r, sign) in self.signs.iter().enumerate().filter(|(_, sign)| **sign != 0.0) {
                let (p, x) = (l[(j, j)], v[(j, r)]);
                let square = (p - x) * (p + x);
                let new = if *sign > 0.0 {
                    p.hypot(x)
                } else if square > 0.0 {
                    square.sqrt()
                } else {
                    0.0
                };
                if !(new > 0.0) {
                    return Err(Stop::Breakdown { column: j });
                }
                let (c, s) = (p / new, x / new);
                for i in j..l.nrows() {
                    let (entry, other) = (l[(i, j)], v[(i, r)]);
                    l[(i, j)] = c * entry + sign * s * other;
                    v[(i, r)] = c * other - s * entry;
                }
            }
            least = least.min((l[(j, j)] / before).powi(2));
            log_det += 2.0 * (l[(j, j)] / before).ln();
        }
        match target {
            Target::InPlace => self.l = l,
            Target::Shadow => self.shadow = l,
            Target::Discard => {}
        }
        self.report = Some(Modification::new(least, log_det));
        Ok(())
    }

    fn wait(&mut self) -> Result<Modification, Stop> {
        Ok(self.report.take().unwrap_or_else(|| Modification::new(1.0, 0.0)))
    }

    fn commit(&mut self, _: usize) {
        std::mem::swap(&mut self.l, &mut self.shadow);
    }
}

impl Storage<f64> for RotationsFactor {
    fn capacity(&self) -> usize {
        self.l.nrows()
    }

    fn read(&self, mut to: MatMut<'_, f64>) -> Result<(), Error> {
        to.copy_from(&self.l);
        Ok(())
    }

    fn apply(&self, op: Op<'_>, rhs: OperandMut<'_, f64>) -> Result<(), Error> {
        let mut rhs = match rhs {
            OperandMut::Host(rhs) => rhs,
            OperandMut::Remote(mut far) => {
                let mut copy = far.to_host()?;
                self.apply(op, OperandMut::Host(copy.as_mut()))?;
                return far.write(copy.as_ref());
            }
            _ => unreachable!("there is no other memory"),
        };
        match op {
            Op::Solve(sides) => sides.iter().for_each(|&side| self.solve(side, self.order(), rhs.as_mut())),
            Op::Multiply(Side::L) => rhs.copy_from(&self.l * rhs.to_owned()),
            Op::Multiply(Side::Transpose) => rhs.copy_from(self.l.transpose() * rhs.to_owned()),
            Op::Eliminate(columns) => self.solve(Side::L, columns, rhs),
        }
        Ok(())
    }

    fn edit(&mut self, edit: Edit<'_, f64>) -> Result<(), Stop> {
        match edit {
            Edit::Scale { columns, by } => self
                .l
                .as_mut()
                .subcols_mut(0, columns)
                .col_iter_mut()
                .for_each(|c| c.iter_mut().for_each(|x| *x *= by)),
            Edit::Rearrange(new) => {
                let old = |runs: &[Run]| {
                    let mut old = vec![None; new.order];
                    let places = runs.iter().flat_map(|run| run.new_places().zip(run.old_places()));
                    places.for_each(|(new, before)| old[new] = Some(before));
                    old
                };
                let (rows, columns) = (old(&new.rows), old(&new.columns));
                let entry = |i: usize, j: usize| Some(self.l[(rows[i]?, columns[j]?)]);
                self.l = Mat::from_fn(new.order, new.order, |i, j| entry(i, j).unwrap_or(0.0));
            }
            Edit::MoveUp { from, to } => {
                let a = &self.l * self.l.transpose();
                let mut rows: Vec<_> = (0..self.order()).collect();
                let row = rows.remove(from);
                rows.insert(to, row);
                self.l = factor_of(Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(rows[i], rows[j])]));
            }
            Edit::Write { at, border } => {
                let rank = border.corner.nrows();
                let mut l = self.l.as_mut();
                l.rb_mut().submatrix_mut(at, 0, rank, at).copy_from(border.left.transpose());
                l.rb_mut().submatrix_mut(at, at, rank, rank).copy_from(border.corner);
                let below = l.nrows() - border.below.nrows();
                l.rb_mut().submatrix_mut(below, at, border.below.nrows(), rank).copy_from(border.below);
            }
            Edit::Close { .. } | Edit::WriteThere { .. } => unreachable!("the traits exclude it"),
        }
        Ok(())
    }
}

impl Verbs<f64> for RotationsFactor {}

/// Host memory that is handed out as that of a device.
struct Far {
    memory: Arc<Mutex<Mat<f64>>>,
    rows: Range<usize>,
}

impl Far {
    fn new(a: &Mat<f64>) -> Self {
        Self { memory: Arc::new(Mutex::new(a.clone())), rows: 0..a.nrows() }
    }
}

impl RemoteMatrix<f64> for Far {
    fn memory(&self) -> &'static str {
        "far"
    }

    fn shape(&self) -> (usize, usize) {
        (self.rows.len(), self.memory.lock().unwrap().ncols())
    }

    fn rows(&self, range: Range<usize>) -> Box<dyn RemoteMatrix<f64>> {
        let first = self.rows.start;
        Box::new(Self { memory: self.memory.clone(), rows: first + range.start..first + range.end })
    }

    fn to_host(&self) -> Result<Mat<f64>, Error> {
        Ok(self.memory.lock().unwrap().subrows(self.rows.start, self.rows.len()).to_owned())
    }

    unsafe fn write(&mut self, a: MatRef<'_, f64>) -> Result<(), Error> {
        self.memory.lock().unwrap().as_mut().subrows_mut(self.rows.start, self.rows.len()).copy_from(a);
        Ok(())
    }
}

const ORDER: usize = 37;

fn matrix(order: usize) -> Mat<f64> {
    let x = Mat::from_fn(order, order, |i, j| ((i * 7 + j * 13 + i * j) % 29) as f64 / 29.0 - 0.5);
    &x * x.transpose() + Mat::<f64>::identity(order, order)
}

fn columns(rank: usize) -> Mat<f64> {
    Mat::from_fn(ORDER, rank, |i, r| ((i * 5 + r * 11) % 17) as f64 / 17.0 - 0.4)
}

/// New rows and columns from `at` on, so weakly coupled to the others that any matrix of this file stays positive definite.
fn border(at: usize, rank: usize) -> Mat<f64> {
    let coupling = |i: usize, r: usize| ((i * 3 + r * 5) % 7) as f64 / 70.0;
    Mat::from_fn(ORDER, rank, |i, r| match i.checked_sub(at) {
        Some(j) if j == r => 4.0,
        Some(j) if j < rank => coupling(j.max(r), j.min(r)),
        _ => coupling(i, r),
    })
}

/// The largest difference of L L ᵀ from the other engine's.
fn apart<E: Engine<f64>>(factor: &Cholesky<f64, E>, expected: &Cholesky<f64>) -> f64 {
    (factor.reconstruct().unwrap() - expected.reconstruct().unwrap()).norm_max()
}

#[test]
fn every_verb_works_on_an_engine_of_another_crate() {
    let a = matrix(ORDER);
    let mut factor = Cholesky::new_in(&a, Rotations).unwrap();
    let mut expected = Cholesky::new(&a).unwrap();
    macro_rules! both {
        ($verb:ident($($argument:expr),*)) => {{
            let reports = (factor.$verb($($argument),*).unwrap(), expected.$verb($($argument),*).unwrap());
            assert!((reports.0.log_det_change() - reports.1.log_det_change()).abs() < 1e-10, stringify!($verb));
            assert!(apart(&factor, &expected) < 1e-11, stringify!($verb));
        }};
    }
    both!(update(&columns(3)));
    both!(downdate(&columns(2)));
    both!(modify(&columns(3), &[0.5, -0.25, 0.0]));
    both!(modify_scaled(0.5, &columns(1), Weights::Plus));
    both!(remove(&[3, 4, 20]));
    both!(insert(3, &border(3, 3)));
    both!(replace(10, &border(10, 2)));
    both!(shift(2, 30));
    both!(shift(30, 2));
    let b = columns(2);
    let (x, y) = (factor.solve(&b).unwrap(), expected.solve(&b).unwrap());
    assert!((x - y).norm_max() < 1e-10);
    let (x, y) = (factor.multiply(&b).unwrap(), expected.multiply(&b).unwrap());
    assert!((x - y).norm_max() < 1e-10);
    assert!((factor.condition().unwrap() / expected.condition().unwrap() - 1.0).abs() < 1e-8);
}

#[test]
fn a_breakdown_leaves_the_factor_of_another_crate_bit_for_bit() {
    let mut factor = Cholesky::new_in(&matrix(ORDER), Rotations).unwrap();
    let before = factor.to_factor().unwrap();
    let huge = Mat::from_fn(ORDER, 1, |i, _| if i == 5 { 1e3 } else { 0.0 });
    assert_eq!(factor.downdate(&huge), Err(Error::NotPositiveDefinite { column: 5 }));
    assert!(!factor.can_downdate(&huge).unwrap());
    assert_eq!(factor.to_factor().unwrap(), before);
    let refused = factor.update(&Mat::from_fn(ORDER, 1, |i, _| if i == 2 { f64::NAN } else { 0.0 }));
    assert_eq!(refused, Err(Error::NonFinite { argument: "v", row: 2, column: 0 }));
}

#[test]
fn memory_of_another_kind_is_read_and_written_by_the_host() {
    fn on<E: Engine<f64>>(engine: E) {
        let v = columns(2);
        let mut expected = Cholesky::new(&matrix(ORDER)).unwrap();
        let mut factor = expected.to_engine(engine).unwrap();
        // SAFETY: the matrix is owned.
        let far = Operand::Remote(unsafe { RemoteView::new(Box::new(Far::new(&v))) });
        assert!(factor.can_downdate(&far).is_ok());
        factor.update(&far).unwrap();
        expected.update(&v).unwrap();
        assert!(apart(&factor, &expected) < 1e-11);
        // SAFETY: the matrix is owned, and not used elsewhere.
        let mut b = OperandMut::Remote(unsafe { RemoteViewMut::new(Box::new(Far::new(&v))) });
        factor.solve_in_place(&mut b).unwrap();
        let OperandMut::Remote(b) = b else { unreachable!() };
        assert!((b.to_host().unwrap() - expected.solve(&v).unwrap()).norm_max() < 1e-10);
    }
    on(Cpu::default());
    on(Rotations);
}
