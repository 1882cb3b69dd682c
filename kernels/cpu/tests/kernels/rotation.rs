//! Plane rotations of complex columns.

use cholupdate_kernels::number::Number;
use cholupdate_kernels::rotation::Rotation;
use faer::c64;

#[test]
fn a_rotation_of_complex_columns_is_unitary_and_makes_a_zero() {
    let entry = |i: usize| c64::new((3 * i % 7) as f64 - 3.0, (5 * i % 11) as f64 - 5.0);
    for (z, norm) in
        [(entry(1), 2.0), (c64::new(0.0, -1e-9), 1.0), (c64::new(4.0, 0.0), 1e-6), (c64::ZERO, 1.5)]
    {
        let (rotation, root) = Rotation::eliminating(z, norm);
        assert!((root - (z.square_to_f64() + norm * norm).sqrt()).abs() <= 1e-15 * root);
        for len in [1, 3, 8, 37] {
            let mut old: Vec<c64> = (0..len).map(entry).collect();
            let mut b: Vec<c64> = (0..len).map(|i| entry(i + 4)).collect();
            (old[0], b[0]) = (z, c64::of_real(norm));
            let (mut new, before) = (vec![c64::ZERO; len], b.clone());
            rotation.apply_to(&old, &mut new, &mut b);
            assert!(new[0].abs() <= 1e-15 * root && (b[0] - c64::of_real(root)).abs() <= 1e-15 * root);
            for i in 0..len {
                // Products of rows with the first one are kept.
                let was = old[i] * old[0].conj() + before[i] * before[0].conj();
                let is = new[i] * new[0].conj() + b[i] * b[0].conj();
                let size = (old[i].abs() + before[i].abs()) * root;
                assert!((was - is).abs() <= 4e-15 * size, "z {z}, entry {i}");
            }
        }
    }
}
