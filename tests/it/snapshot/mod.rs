//! Factors as plain data: what is read is what was written, and damaged data is refused with what is wrong with it.

mod batch;
mod cholesky;
mod ldlt;

use cholupdate::Scalar;
use cholupdate::faer::Mat;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Read from text, from a format that has no word for what is missing, and from a binary format that does not name fields.
fn again<D: Serialize + DeserializeOwned>(written: &D) -> [D; 3] {
    let toml = toml::to_string(written).unwrap();
    let binary = postcard::to_stdvec(written).unwrap();
    [
        serde_json::from_str(&text(written)).unwrap(),
        toml::from_str(&toml).unwrap(),
        postcard::from_bytes(&binary).unwrap(),
    ]
}

/// The data as text. Different numbers have different texts, also 0 and −0.
fn text(data: &impl Serialize) -> String {
    serde_json::to_string(data).unwrap()
}

/// Why the data is refused after a change.
#[track_caller]
fn refused<D: Serialize + DeserializeOwned>(data: &D, change: impl FnOnce(&mut Value)) -> String {
    let mut value = serde_json::to_value(data).unwrap();
    change(&mut value);
    serde_json::from_value::<D>(value).err().expect("it was read").to_string()
}

/// Whether the data is refused if this number in it, which occurs once, is another one, such as a text does not have.
fn is_refused_with<D: Serialize + DeserializeOwned>(data: &D, from: f64, to: f64) -> bool {
    let (from, to) = (from.to_le_bytes(), to.to_le_bytes());
    let mut binary = postcard::to_stdvec(data).unwrap();
    let mut places = binary.windows(8).enumerate().filter(|(_, bytes)| *bytes == from).map(|(at, _)| at);
    let (at, others) = (places.next().unwrap(), places.next());
    assert_eq!(others, None, "the number occurs twice");
    binary[at..at + 8].copy_from_slice(&to);
    postcard::from_bytes::<D>(&binary).is_err()
}

/// A lower triangle with a positive diagonal, of numbers that `of` makes of two real ones.
fn lower<T: Scalar>(n: usize, of: fn(f64, f64) -> T) -> Mat<T> {
    Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => of(0.0, 0.0),
        std::cmp::Ordering::Equal => of(2.0 + ((i * 3) % 7) as f64 / 7.0, 0.0),
        std::cmp::Ordering::Greater => entry(of)(i, j),
    })
}

/// Entries without a pattern.
fn entry<T>(of: fn(f64, f64) -> T) -> impl Fn(usize, usize) -> T {
    move |i, j| of(((i * 7 + j * 5) % 11) as f64 / 13.0 - 0.4, ((i * 3 + j * 4) % 7) as f64 / 9.0 - 0.3)
}
