//! Single and double precision, under their names in Python and Rust.

use cholupdate::{RealScalar, Workspace};
use core::cell::RefCell;
use numpy::Element;

/// `float32` or `float64`.
pub trait Real: RealScalar + Element {
    /// The NumPy name.
    const NAME: &'static str;
    /// The number of bits, for DLPack.
    const BITS: u8;

    /// Calls `call` with the working memory of this thread, for factors in memory that the caller owns.
    fn with_workspace<R>(call: impl FnOnce(&mut Workspace<Self>) -> R) -> R;

    /// Converts to double precision, exactly.
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
                // A pool thread that waits for other threads may start another call, which finds the memory borrowed.
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
