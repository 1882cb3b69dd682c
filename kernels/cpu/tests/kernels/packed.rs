//! The places of a packed triangle.

use cholupdate_kernels::batch::packed::{entries, place};

#[test]
fn the_columns_are_one_after_the_other() {
    for rows in 1..9 {
        let all = (0..rows).flat_map(|j| (j..rows).map(move |i| (i, j)));
        let places: Vec<_> = all.map(|(i, j)| place(rows, i, j)).collect();
        assert!(places.iter().copied().eq(0..entries(rows)), "{rows} rows: {places:?}");
    }
}
