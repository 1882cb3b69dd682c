use cholupdate::cuda::{Device, Resident};
use cholupdate::{Cholesky, Scalar};
use cholupdate::faer::Mat;
use std::time::Instant;

fn median(mut t: Vec<f64>) -> f64 { t.sort_by(f64::total_cmp); t[t.len() / 2] }

fn run<T: Scalar>(device: &Device, n: usize, ks: &[usize], name: &str) {
    let one = |x: f64| T::from_f64(x);
    let l = Mat::<T>::from_fn(n, n, |i, j| if i == j { one(2.0) } else if i > j { one(((i * 7 + j * 13) % 17) as f64 / 17.0 / (n as f64).sqrt()) } else { one(0.0) });
    let mut f = Cholesky::from_factor_in(&l, Resident::new(device)).unwrap();
    for &k in ks {
        let v = Mat::<T>::from_fn(n, k, |i, r| one(((i * 31 + r * 17) % 23) as f64 / 23.0 - 0.5));
        let (mut up, mut down) = (vec![], vec![]);
        for rep in 0..8 {
            let t = Instant::now(); f.update(&v).unwrap(); let a = t.elapsed().as_secs_f64() * 1e3;
            let t = Instant::now(); f.downdate(&v).unwrap(); let b = t.elapsed().as_secs_f64() * 1e3;
            if rep > 0 { up.push(a); down.push(b); }
        }
        println!("{name} n {n} k {k}: up {:.3} ms down {:.3} ms", median(up), median(down));
    }
    if n <= 4096 {
        let m = f.to_factor().unwrap();
        let mut worst = 0.0f64;
        for j in 0..n { for i in j..n { worst = worst.max((m[(i, j)].to_f64() - l[(i, j)].to_f64()).abs()); } }
        println!("{name} n {n}: drift {worst:.2e}");
    }
    let b = Mat::<T>::from_fn(n, 1, |i, _| one((i % 5) as f64));
    let mut ts = vec![];
    for _ in 0..5 { let t = Instant::now(); f.solve(&b).unwrap(); ts.push(t.elapsed().as_secs_f64() * 1e3); }
    println!("{name} n {n}: solve {:.3} ms", median(ts));
}

fn main() {
    let device = Device::new(0).unwrap();
    let ns: Vec<usize> = std::env::args().nth(1).unwrap().split(',').map(|x| x.parse().unwrap()).collect();
    let ks: Vec<usize> = std::env::args().nth(2).unwrap().split(',').map(|x| x.parse().unwrap()).collect();
    for n in ns { run::<f64>(&device, n, &ks, "f64"); run::<f32>(&device, n, &ks, "f32"); }
}
