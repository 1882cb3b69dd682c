//! Snapshots of `CholeskyBatch`.

use super::{again, entry, is_refused_with, lower, refused, text};
use cholupdate::faer::{c32, c64};
use cholupdate::{BatchRef, BatchSnapshot, CholeskyBatch, Cpu, Error, Scalar};
use serde_json::{Value, json};

/// A matrix of NaN, one that is not positive definite, one that is too large, and factors of orders up to n.
fn some<T: Scalar>(n: usize, of: fn(f64, f64) -> T) -> CholeskyBatch<T> {
    const COUNT: usize = 37;
    let orders: Vec<usize> = (0..COUNT).map(|b| n - b % (n.min(3) + 1)).collect();
    let mut l: Vec<T> = Vec::new();
    for b in 0..COUNT {
        let own = lower(n, of);
        l.extend((0..n * n).map(|at| own[(at / n, at % n)]));
        let first = b * n * n;
        match b {
            4 => l[first] = of(f64::NAN, 0.0),
            8 => l[first] = of(f64::INFINITY, 0.0),
            12 => l[first] = of(0.0, 0.0),
            _ => {}
        }
    }
    let l = BatchRef::by_rows(&l, [COUNT, n, n]).unwrap();
    let mut batch = CholeskyBatch::from_factors_with_orders(l, &orders, Cpu::default()).unwrap();
    let v: Vec<T> = (0..COUNT * n * 2).map(|at| entry(of)(at / 2, at % 2)).collect();
    batch.update(BatchRef::by_rows(&v, [COUNT, n, 2]).unwrap()).unwrap();
    batch
}

fn a_batch_goes_on_where_it_was_written<T: Scalar>(of: fn(f64, f64) -> T) {
    for n in [1, 4, 19] {
        let batch = some(n, of);
        let v: Vec<T> = (0..batch.count() * n).map(|at| entry(of)(at, 1)).collect();
        let v = BatchRef::by_rows(&v, [batch.count(), n, 1]).unwrap();
        for mut read in again(&batch) {
            assert_eq!(text(&read), text(&batch), "n = {n}");
            assert_eq!((read.order(), read.missing()), (n, batch.missing()));
            for b in 0..batch.count() {
                assert_eq!(read.status(b), batch.status(b), "matrix {b}");
                assert_eq!(read.order_of(b), batch.order_of(b), "matrix {b}");
                assert_eq!(read.factor(b), batch.factor(b), "matrix {b}");
            }
            let mut original = batch.clone();
            for batch in [&mut read, &mut original] {
                batch.update(v).unwrap();
            }
            assert_eq!(text(&read), text(&original), "n = {n}");
        }
        let [snapshot, ..] = again(&batch.snapshot());
        assert_eq!(snapshot, batch.snapshot());
        assert_eq!((snapshot.count(), snapshot.order()), (batch.count(), n));
        let on_one_thread = CholeskyBatch::from_snapshot_in(&snapshot, Cpu::sequential()).unwrap();
        assert_eq!(on_one_thread.snapshot(), snapshot);
    }
}

#[test]
fn batches_of_every_scalar_go_on_where_they_were_written() {
    a_batch_goes_on_where_it_was_written::<f64>(|re, _| re);
    a_batch_goes_on_where_it_was_written::<f32>(|re, _| re as f32);
    a_batch_goes_on_where_it_was_written::<c64>(c64::new);
    a_batch_goes_on_where_it_was_written::<c32>(|re, im| c32::new(re as f32, im as f32));
}

#[test]
fn why_a_matrix_has_no_factor_is_kept() {
    let mut a = [1.0; 4 * 4];
    (a[0], a[5], a[10]) = (f64::NAN, -1.0, 1e200);
    let batch = CholeskyBatch::new(BatchRef::by_rows(&a, [4, 2, 2]).unwrap()).unwrap();
    assert_eq!(batch.status(0), Err(Error::NonFinite { argument: "a", row: 0, column: 0 }));
    for read in again(&batch) {
        for b in 0..4 {
            assert_eq!(read.status(b), batch.status(b), "matrix {b}");
        }
    }
    let l = [1e200, 0.0, 0.0, 1.0, f64::NAN, 0.0, 0.0, 1.0];
    let batch = CholeskyBatch::from_factors(BatchRef::by_rows(&l, [2, 2, 2]).unwrap()).unwrap();
    assert_eq!(batch.status(0), Err(Error::Overflow { argument: "l" }));
    for read in again(&batch) {
        assert_eq!([read.status(0), read.status(1)], [batch.status(0), batch.status(1)]);
    }
}

#[test]
fn empty_batches_are_kept() {
    for shape in [[0, 0, 0], [0, 3, 3], [2, 0, 0]] {
        let batch = CholeskyBatch::new(BatchRef::by_rows(&[0.0; 0], shape).unwrap()).unwrap();
        for read in again(&batch) {
            assert_eq!([read.count(), read.order()], shape[..2]);
        }
    }
}

/// L is (2 0; 1.25 3), twice.
fn two() -> CholeskyBatch<f64> {
    let l = [2.0, 0.0, 1.25, 3.0, 2.0, 0.0, 1.5, 3.0];
    CholeskyBatch::from_factors(BatchRef::by_rows(&l, [2, 2, 2]).unwrap()).unwrap()
}

#[track_caller]
fn assert_refused(expected: &str, change: impl FnOnce(&mut Value)) {
    let refused = refused(&two(), change);
    assert!(refused.contains(expected), "{refused}");
}

#[test]
fn what_is_wrong_with_a_matrix_names_it() {
    let l = |l: Value| move |data: &mut Value| data["matrices"][1]["Factor"]["l"] = l;
    let short =
        "not a valid batch of Cholesky factors: matrix 1: `l`: the number of entries is 2, expected 3";
    assert_refused(short, l(json!([2, 1])));
    assert_refused("matrix 1: the pivot of column 1 of `l` is 0, but must be positive", l(json!([2, 1, 0])));
    assert_refused("matrix 1: the pivot of column 0 of `l` is -2", l(json!([-2, 1, 3])));
    assert_refused("matrix 1: `singular` is 0", |data| data["matrices"][1]["Factor"]["singular"] = json!(0));
    assert_refused("matrix 0: its order is 2, but the largest order of the batch is 1", |data| {
        data["order"] = json!(1)
    });
    assert_refused("matrix 1: entry 1 of `l`: invalid type: null, expected f64", l(json!([2, null, 3])));
    assert_refused("matrix 1: ", |data| data["matrices"][1] = json!(7));
    assert_refused("expected the matrices of a batch", |data| data["matrices"] = json!({}));
    assert!(is_refused_with(&two(), 1.5, f64::NAN));
    assert!(is_refused_with(&two(), 1.25, f64::INFINITY));
    assert!(!is_refused_with(&two(), 1.25, 1.375));
    assert_refused("matrix 0: unknown variant `Other`", |data| data["matrices"][0] = json!({"Other": 1}));
    assert_refused("unknown variant `v`", |data| {
        data["matrices"][0] = json!({"Missing": {"Overflow": {"argument": "v"}}});
    });
}

#[test]
fn data_of_another_type_is_refused() {
    let file = text(&two());
    let refused = serde_json::from_str::<CholeskyBatch<f32>>(&file).err().unwrap().to_string();
    assert!(refused.contains("the scalar type is `f64`, but `f32` is expected"), "{refused}");
    let refused = serde_json::from_str::<cholupdate::Cholesky<f64>>(&file).err().unwrap().to_string();
    assert!(
        refused.contains("the type of factor is `CholeskyBatch`, but `Cholesky` is expected"),
        "{refused}"
    );
    assert!(postcard::from_bytes::<BatchSnapshot<f32>>(&postcard::to_stdvec(&two()).unwrap()).is_err());
}

#[test]
fn a_factor_too_large_to_square_is_refused() {
    assert_refused("`l`", |data| data["matrices"][0]["Factor"]["l"][1] = json!(1e200));
}

/// The order that data claims is checked against the memory that there is.
#[test]
fn an_order_beyond_all_memory_is_refused() {
    for order in [1_u64 << 30, 1 << 31, 1 << 40, u64::MAX] {
        assert_refused("`snapshot` must be small enough for the memory", |data| data["order"] = json!(order));
        let nothing = |data: &mut Value| (data["order"], data["matrices"]) = (json!(order), json!([]));
        if order > 1 << 30 {
            assert_refused("`snapshot` must be small enough for the memory", nothing);
        }
    }
}
