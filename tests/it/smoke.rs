use cholupdate::Cholesky;
use faer::Mat;

#[test]
fn update_then_downdate_returns_the_factor() {
    let a = Mat::from_fn(50, 50, |i, j| if i == j { 60.0 } else { 1.0 / (1.0 + (i + j) as f64) });
    let v = Mat::from_fn(50, 3, |i, j| ((i * 7 + j * 3) % 11) as f64 / 11.0);
    let mut factor = Cholesky::new(&a).unwrap();
    factor.update(&v).unwrap();
    assert!((factor.reconstruct().unwrap() - (&a + &v * v.transpose())).norm_max() < 1e-12);
    factor.downdate(&v).unwrap();
    assert!((factor.reconstruct().unwrap() - &a).norm_max() < 1e-12);
}
