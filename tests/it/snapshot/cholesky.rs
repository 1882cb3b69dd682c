//! Snapshots of `Cholesky`.

use super::{again, entry, is_refused_with, lower, refused, text};
use cholupdate::faer::{Mat, c32, c64, mat};
use cholupdate::{AnyEngine, Cholesky, Cpu, EngineSpec, Error, Ldlt, Safeguard, Scalar, Snapshot};
use serde_json::{Value, json};

fn modified<T: Scalar>(n: usize, of: fn(f64, f64) -> T) -> Cholesky<T> {
    let mut factor = Cholesky::from_factor(&lower(n, of)).unwrap();
    let v = Mat::from_fn(n, 3, entry(of));
    factor.update(&v).unwrap();
    factor.downdate(v.col(0)).unwrap();
    factor
}

fn a_factor_goes_on_where_it_was_written<T: Scalar>(of: fn(f64, f64) -> T) {
    for n in [0, 1, 2, 9, 70] {
        let mut factor = modified(n, of);
        for mut read in again(&factor) {
            assert_eq!(text(&read), text(&factor), "n = {n}");
            assert_eq!((read.l(), read.error_estimate()), (factor.l(), factor.error_estimate()));
            let v = Mat::from_fn(n, 1, entry(of));
            let mut original = factor.clone();
            for factor in [&mut read, &mut original] {
                factor.update(&v).unwrap();
                if n > 0 {
                    factor.shift(0, n - 1).unwrap();
                }
            }
            assert_eq!(text(&read), text(&original), "n = {n}");
        }
        factor.update(&Mat::from_fn(n, 2, entry(of))).unwrap();
        let [snapshot, ..] = again(&factor.snapshot().unwrap());
        assert_eq!(snapshot, factor.snapshot().unwrap());
        assert_eq!(snapshot.order(), n);
    }
}

#[test]
fn factors_of_every_scalar_go_on_where_they_were_written() {
    a_factor_goes_on_where_it_was_written::<f64>(|re, _| re);
    a_factor_goes_on_where_it_was_written::<f32>(|re, _| re as f32);
    a_factor_goes_on_where_it_was_written::<c64>(c64::new);
    a_factor_goes_on_where_it_was_written::<c32>(|re, im| c32::new(re as f32, im as f32));
}

#[test]
fn every_bit_is_kept() {
    let l = mat![[f64::MIN_POSITIVE, 0.0, 0.0], [-0.0, 0.1 + 0.2, 0.0], [5e-324, -1e150 / 3.0, 1e150 / 7.0]];
    let factor = Cholesky::from_factor(&l).unwrap();
    for read in again(&factor) {
        for (i, j) in [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)] {
            assert_eq!(read.l()[(i, j)].to_bits(), l[(i, j)].to_bits(), "({i}, {j})");
        }
    }
}

#[test]
fn the_engine_is_not_in_the_data() {
    let factor = modified(5, |re, _| re);
    let snapshot = factor.snapshot().unwrap();
    let engine = Cpu::sequential().with_safeguard(Safeguard::DryRun);
    let read = Cholesky::from_snapshot_in(&snapshot, engine).unwrap();
    assert_eq!(read.snapshot().unwrap(), snapshot);
    let any = AnyEngine::new(&EngineSpec::default()).unwrap();
    let mut read = Cholesky::from_snapshot_in(&snapshot, any).unwrap();
    assert_eq!(text(&read), text(&factor));
    let expected = factor.error_estimate();
    assert_eq!(read.error_estimate(), expected);
    read.update(&[0.0, 1.0, 2.0, 3.0, 4.0]).unwrap();
    assert!(read.error_estimate() > expected);
}

#[test]
fn a_singular_factor_stays_singular_where_it_is() {
    let mut factor = Cholesky::<f64>::zeros(3).unwrap();
    factor.update(&[2.0, 1.0, 0.5]).unwrap();
    for mut read in again(&factor) {
        assert_eq!(read.log_det(), Err(Error::Singular { column: 1 }));
        assert_eq!((read.l(), read.error_estimate()), (factor.l(), factor.error_estimate()));
        read.update(&mat![[0.0, 0.0], [1.0, 0.5], [0.25, 1.0]]).unwrap();
        read.log_det().unwrap();
    }
    // Pivots after a zero may be zero or not, and columns below it may have entries.
    let factor = Cholesky::from_factor(&mat![[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [3.0, 4.0, 5.0]]).unwrap();
    for read in again(&factor) {
        assert_eq!((read.l(), read.log_det()), (factor.l(), Err(Error::Singular { column: 1 })));
    }
}

#[test]
fn a_lost_factor_is_not_written() {
    let engine = Cpu::sequential().with_safeguard(Safeguard::None);
    let mut factor = Cholesky::new_in(&mat![[4.0, 2.0], [2.0, 5.0]], engine).unwrap();
    factor.downdate(&[0.0, 3.0]).unwrap_err();
    assert_eq!(factor.snapshot(), Err(Error::Poisoned));
    let refused = serde_json::to_string(&factor).unwrap_err().to_string();
    assert!(refused.contains("the factor was lost in an earlier call"), "{refused}");
}

/// L is (2 0; 1 3).
fn small() -> Cholesky<f64> {
    let mut factor = Cholesky::from_factor(&mat![[2.0, 0.0], [1.0, 3.0]]).unwrap();
    factor.update(&[0.0, 0.0]).unwrap();
    factor
}

#[track_caller]
fn assert_refused(expected: &str, change: impl FnOnce(&mut Value)) {
    let refused = refused(&small(), change);
    assert!(refused.contains(expected), "{refused}");
}

#[test]
fn a_triangle_that_is_not_one_of_a_factor_is_refused() {
    let l = |l: Value| move |data: &mut Value| data["factor"]["l"] = l;
    assert_refused(
        "not a valid Cholesky factor: `l`: the number of entries is 2, expected 3",
        l(json!([2, 1])),
    );
    assert_refused("the number of entries is 4, expected 3", l(json!([2, 1, 3, 4])));
    assert_refused("the pivot of column 1 of `l` is 0, but must be positive", l(json!([2, 1, 0.0])));
    assert_refused("the pivot of column 0 of `l` is -2, but must be positive", l(json!([-2, 1, 3])));
    // NaN is written as `null`.
    assert_refused("entry 1 of `l`: invalid type: null, expected f64", l(json!([2, null, 3])));
    assert_refused("entry 0 of `l`: invalid type: sequence", l(json!([[2], [1, 3]])));
    assert_refused("the number of entries is 3, expected 6", |data| data["factor"]["order"] = json!(3));
    for (order, entries) in [(1 << 32, 9_223_372_039_002_259_456), (u64::MAX, u64::MAX)] {
        let expected = format!("the number of entries is 3, expected {entries}");
        assert_refused(&expected, |data| data["factor"]["order"] = json!(order));
    }
    assert_refused("invalid value: integer `-1`", |data| data["factor"]["order"] = json!(-1));
    assert_refused("`singular` is 1, but must be the first column", |data| {
        data["factor"]["singular"] = json!(1);
    });
    assert_refused("`singular` is 2, but must be", |data| data["factor"]["singular"] = json!(2));
    assert_refused("the pivot of column 0 of `l` is 0", |data| {
        data["factor"] = json!({"order": 2, "singular": 1, "l": [0, 1, 0]});
    });

    let factor = Cholesky::from_factor(&mat![[2.0, 0.0], [1.25, 3.0]]).unwrap();
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(is_refused_with(&factor, 1.25, wrong), "{wrong}");
    }
    assert!(!is_refused_with(&factor, 1.25, 1.5));
    let factor = Cholesky::<f32>::from_factor(&mat![[2.0, 0.0], [1.25, 3.0]]).unwrap();
    let refused = refused(&factor, |data| data["factor"]["l"][1] = json!(1e300));
    assert!(refused.contains("`l` is not finite at (1, 0)"), "{refused}");
}

#[test]
fn complex_triangles_have_a_real_diagonal_and_whole_entries() {
    let factor = modified(3, c64::new);
    let complex = refused(&factor, |data| data["factor"]["l"][7] = json!(0.5));
    assert!(complex.contains("the pivot of column 1 of `l` is not real"), "{complex}");
    let half = refused(&factor, |data| {
        data["factor"]["l"].as_array_mut().unwrap().pop();
    });
    assert!(half.contains("the last entry of `l` has no imaginary part"), "{half}");
}

#[test]
fn a_history_that_is_not_one_of_the_factor_is_refused() {
    for field in ["diagonal", "errors"] {
        let set = |with: Value| move |data: &mut Value| data["history"][field] = with;
        assert_refused(&format!("`{field}`: the number of entries is 1, expected 2"), set(json!([1.0])));
        assert_refused(&format!("`{field}` must be at least 0"), set(json!([1.0, -1.0])));
        assert_refused(&format!("entry 0 of `{field}`: invalid type: null"), set(json!([null, 1.0])));
        assert_refused(&format!("expected the entries of `{field}`"), set(json!(7)));
    }
    let factor = Cholesky::from_factor(&mat![[2.0, 0.0], [1.5, 3.0]]).unwrap();
    assert!(is_refused_with(&factor, 11.25, f64::NAN));
    assert_refused("missing field `history`", |data| {
        data.as_object_mut().unwrap().remove("history");
    });
}

#[test]
fn data_of_another_type_is_refused() {
    let file = text(&small());
    let refused = serde_json::from_str::<Cholesky<f32>>(&file).err().unwrap().to_string();
    assert!(refused.contains("the scalar type is `f64`, but `f32` is expected"), "{refused}");
    let refused = serde_json::from_str::<Cholesky<c64>>(&file).err().unwrap().to_string();
    assert!(refused.contains("the scalar type is `f64`, but `c64` is expected"), "{refused}");
    let refused = serde_json::from_str::<Ldlt<f64>>(&file).err().unwrap().to_string();
    assert!(refused.contains("the type of factor is `Cholesky`, but `Ldlt` is expected"), "{refused}");
    assert!(postcard::from_bytes::<Cholesky<f32>>(&postcard::to_stdvec(&small()).unwrap()).is_err());
    assert!(postcard::from_bytes::<Snapshot<f64>>(&[]).is_err());

    let format = |format: &'static str| move |data: &mut Value| data["format"] = json!(format);
    assert_refused(
        "the version of the data is `2`, but `1` is expected",
        format("cholupdate/Cholesky/f64/2"),
    );
    assert_refused(
        "the version of the data is `1/2`, but `1` is expected",
        format("cholupdate/Cholesky/f64/1/2"),
    );
    assert_refused("invalid value: string \"x\", expected \"cholupdate/Cholesky/f64/1\"", format("x"));
    assert_refused("unknown field `more`", |data| data["more"] = json!(1));
    assert_refused("invalid type: map, expected the entries of `l`", |data| data["factor"]["l"] = json!({}));
    assert_refused("invalid type: integer `7`, expected a lower triangle", |data| data["factor"] = json!(7));
}

#[test]
fn a_factor_too_large_to_square_is_refused() {
    let refused = refused(&small(), |data| data["factor"]["l"][1] = json!(1e200));
    assert_eq!(refused, format!("not a valid Cholesky factor: {}", Error::Overflow { argument: "l" }));
}
