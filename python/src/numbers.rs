//! The two kinds of numbers, as both languages know them.

use cholupdate::{Scalar, Workspace};
use core::cell::RefCell;
use numpy::Element;

/// `float32` or `float64`.
pub trait Real: Scalar + Element {
    /// As NumPy calls it.
    const NAME: &'static str;
    /// As DLPack counts it.
    const BITS: u8;

    /// Lends the calling thread's working memory for factors that somebody else owns.
    fn with_workspace<R>(call: impl FnOnce(&mut Workspace<Self>) -> R) -> R;

    /// Exact.
    fn double(self) -> f64;
}

macro_rules! real {
    ($type:ty, $name:literal) => {
        impl Real for $type {
            const NAME: &'static str = $name;
            const BITS: u8 = 8 * size_of::<$type>() as u8;

            fn with_workspace<R>(call: impl FnOnce(&mut Workspace<Self>) -> R) -> R {
                thread_local! {
                    static WORKSPACE: RefCell<Workspace<$type>> = RefCell::default();
                }
                // A thread of a pool that waits for others may be given another call meanwhile.
                WORKSPACE.with(|workspace| match workspace.try_borrow_mut() {
                    Ok(mut workspace) => call(&mut workspace),
                    Err(_) => call(&mut Workspace::new()),
                })
            }

            fn double(self) -> f64 {
                self.into()
            }
        }
    };
}

real!(f32, "float32");
real!(f64, "float64");
