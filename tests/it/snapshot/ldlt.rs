//! Snapshots of `Ldlt`.

use super::{again, entry, is_refused_with, lower, refused, text};
use cholupdate::faer::{Mat, c32, c64, mat};
use cholupdate::{Cpu, Error, Ldlt, LdltSnapshot, Scalar};
use serde_json::{Value, json};

/// Every third pivot is negative; `part` makes a real number of the scalar.
fn some<T: Scalar>(n: usize, of: fn(f64, f64) -> T, part: fn(f64) -> T::Part) -> Ldlt<T> {
    let signs: Vec<T::Part> = (0..n).map(|j| part(if j % 3 == 1 { -1.0 } else { 1.0 })).collect();
    let mut factor = Ldlt::from_factor(&lower(n, of), &signs).unwrap();
    factor.update(&Mat::from_fn(n, 2, entry(of))).unwrap();
    factor
}

fn a_factor_goes_on_where_it_was_written<T: Scalar>(of: fn(f64, f64) -> T, part: fn(f64) -> T::Part) {
    for n in [0, 1, 2, 9, 70] {
        let factor = some(n, of, part);
        for mut read in again(&factor) {
            assert_eq!(text(&read), text(&factor), "n = {n}");
            assert_eq!((read.l(), read.signs()), (factor.l(), factor.signs()), "n = {n}");
            assert_eq!((read.inertia(), read.log_abs_det()), (factor.inertia(), factor.log_abs_det()));
            assert!((read.growth() / factor.growth() - 1.0).abs() < 1e-6, "n = {n}");
            let mut original = factor.clone();
            for factor in [&mut read, &mut original] {
                factor.update(&Mat::from_fn(n, 1, entry(of))).unwrap();
            }
            assert_eq!(text(&read), text(&original), "n = {n}");
        }
        let [snapshot, ..] = again(&factor.snapshot());
        assert_eq!((snapshot.order(), &snapshot), (n, &factor.snapshot()));
        let on_one_thread = Ldlt::from_snapshot_in(&snapshot, Cpu::sequential()).unwrap();
        assert_eq!(on_one_thread.snapshot(), snapshot);
    }
}

#[test]
fn factors_of_every_scalar_go_on_where_they_were_written() {
    a_factor_goes_on_where_it_was_written::<f64>(|re, _| re, |x| x);
    a_factor_goes_on_where_it_was_written::<f32>(|re, _| re as f32, |x| x as f32);
    a_factor_goes_on_where_it_was_written::<c64>(c64::new, |x| x);
    a_factor_goes_on_where_it_was_written::<c32>(|re, im| c32::new(re as f32, im as f32), |x| x as f32);
}

fn small() -> Ldlt<f64> {
    Ldlt::from_factor(&mat![[2.0, 0.0], [1.25, 3.0]], &[1.0, -1.0]).unwrap()
}

#[test]
fn the_growth_is_that_of_the_factor() {
    let a = mat![[0.01, 1.0, 0.5], [1.0, 2.0, 0.25], [0.5, 0.25, -1.0]];
    let factor = Ldlt::new(&a).unwrap();
    assert!(factor.growth() > 10.0);
    for read in again(&factor) {
        assert_eq!(read.growth(), factor.growth());
    }
}

#[test]
fn what_is_expected_is_kept() {
    let mut factor = small();
    for limit in [1.0, 100.5, f64::INFINITY] {
        factor.set_growth_limit(limit).unwrap();
        again(&factor).iter().for_each(|read| assert_eq!(read.growth_limit(), limit));
    }
    factor.expect_inertia(3, 4);
    again(&factor).iter().for_each(|read| assert_eq!(read.expected_inertia(), Some((3, 4))));
    factor.expect_signs(&[0.0, -1.0]).unwrap();
    for mut read in again(&factor) {
        assert_eq!(read.expected_signs(), Some(vec![0.0, -1.0]));
        assert_eq!(read.modify(&[0.0, 1.0], &[20.0]).unwrap_err(), Error::Sign { column: 1 });
    }
    factor.expect_any_inertia();
    for read in again(&factor) {
        assert_eq!((read.expected_inertia(), read.expected_signs()), (None, None));
    }
}

#[track_caller]
fn assert_refused(expected: &str, change: impl FnOnce(&mut Value)) {
    let refused = refused(&small(), change);
    assert!(refused.contains(expected), "{refused}");
}

#[test]
fn damaged_data_is_refused() {
    let l = |l: Value| move |data: &mut Value| data["factor"]["l"] = l;
    assert_refused("not a valid LDLᵀ factor: `l`: the number of entries is 2, expected 3", l(json!([2, 1])));
    assert_refused("the pivot of column 1 of `l` is 0, but must be positive", l(json!([2, 1, 0])));
    assert_refused("the pivot of column 0 of `l` is -2, but must be positive", l(json!([-2, 1, 3])));
    // It cannot be singular, even if the data says that it is.
    assert_refused("the pivot of column 1 of `l` is 0, but must be positive", |data| {
        data["factor"] = json!({"order": 2, "singular": 1, "l": [2, 1, 0]});
    });
    assert_refused("entry 1 of `l`: invalid type: null, expected f64", l(json!([2, null, 3])));
    for wrong in [f64::NAN, f64::INFINITY] {
        assert!(is_refused_with(&small(), 1.25, wrong), "{wrong}");
    }
    assert_refused("`negative`: the number of entries is 1, expected 2", |data| {
        data["negative"] = json!([true]);
    });
    assert_refused("entry 1 of `negative`: invalid type: null", |data| {
        data["negative"] = json!([true, null]);
    });
    assert_refused("`expected`: the number of entries is 3, expected 2", |data| {
        data["expected"] = json!({"Signs": [-1, 0, 1]});
    });
    assert_refused("entry 1 of `expected`: invalid type: null", |data| {
        data["expected"] = json!({"Signs": [-1, null]});
    });
    assert_refused("entry 0 of `expected`: invalid value: integer `2`, expected -1, 0 or 1", |data| {
        data["expected"] = json!({"Signs": [2, 0]});
    });
    assert_refused("`growth_limit` must be at least 1", |data| {
        data["growth_limit"] = json!({"AtMost": 0.5});
    });
    // Data without it is not data without a limit.
    assert_refused("missing field `growth_limit`", |data| {
        data.as_object_mut().unwrap().remove("growth_limit");
    });
    let mut factor = small();
    factor.set_growth_limit(77.5).unwrap();
    assert!(is_refused_with(&factor, 77.5, f64::NAN));
    let too_large = refused(&small(), |data| data["factor"]["l"][1] = json!(1e200));
    assert_eq!(too_large, format!("not a valid LDLᵀ factor: {}", Error::Overflow { argument: "l" }));
}

#[test]
fn data_of_another_type_is_refused() {
    let file = text(&small());
    let refused = serde_json::from_str::<Ldlt<f32>>(&file).err().unwrap().to_string();
    assert!(refused.contains("the scalar type is `f64`, but `f32` is expected"), "{refused}");
    let refused = serde_json::from_str::<LdltSnapshot<c64>>(&file).err().unwrap().to_string();
    assert!(refused.contains("the scalar type is `f64`, but `c64` is expected"), "{refused}");
    let refused = serde_json::from_str::<cholupdate::Cholesky<f64>>(&file).err().unwrap().to_string();
    assert!(refused.contains("the type of factor is `Ldlt`, but `Cholesky` is expected"), "{refused}");
}
