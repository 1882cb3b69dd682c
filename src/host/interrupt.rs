//! Interruption of long calls.

use core::cell::RefCell;
use std::sync::Arc;

/// A function that returns whether to stop.
type Question = Arc<dyn Fn() -> bool + Send + Sync>;

thread_local! {
    /// The function that sweeps started on this thread call.
    static QUESTION: RefCell<Option<Question>> = const { RefCell::new(None) };
}

/// Runs `call`. Within it, modifications on the engine [`Cpu`](crate::Cpu) call `stop` between panels, on this thread. If it
/// returns true, the modification returns [`Error::Interrupted`](crate::Error::Interrupted), and the factor is as it was.
///
/// Modifications with a minus sign that write to a shadow buffer, and dry runs, can be stopped. Updates, work in place, work on
/// other engines, and moves of rows and columns are not stopped.
///
/// # Cost
/// One call of `stop` in each panel. A `stop` of some microseconds makes no noticeable difference.
///
/// ```
/// use cholupdate::{Cholesky, Error, faer::mat, interruptible};
///
/// # fn main() -> Result<(), Error> {
/// let mut factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
/// let before = factor.l().to_owned();
/// let stopped = interruptible(|| true, || factor.downdate(&[1.0, 1.0]));
/// assert_eq!(stopped, Err(Error::Interrupted));
/// assert_eq!(factor.l(), before);
/// factor.downdate(&[1.0, 1.0])?;
/// # Ok(())
/// # }
/// ```
pub fn interruptible<R>(stop: impl Fn() -> bool + Send + Sync + 'static, call: impl FnOnce() -> R) -> R {
    let _outer = Instead(QUESTION.replace(Some(Arc::new(stop))));
    call()
}

/// Restores the previous function, also after a panic.
struct Instead(Option<Question>);

impl Drop for Instead {
    fn drop(&mut self) {
        QUESTION.set(self.0.take());
    }
}

/// Whether a sweep that starts on this thread has a function to call.
#[inline]
pub(crate) fn is_interruptible() -> bool {
    QUESTION.with_borrow(Option::is_some)
}

/// The function that the current sweep calls. While this thread waits for the end of the sweep, rayon may run other sweeps on
/// it. These belong to other calls, and do not call the function.
pub(crate) struct Asks(Instead);

impl Asks {
    #[inline]
    pub fn claim() -> Option<Self> {
        let question = QUESTION.take()?;
        Some(Self(Instead(Some(question))))
    }

    pub fn stop(&self) -> bool {
        self.0.0.as_ref().is_some_and(|question| question())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_is_what_the_innermost_call_says() {
        let asked = || Asks::claim().map(|asks| (asks.stop(), Asks::claim().is_some()));
        assert_eq!(asked(), None);
        assert!(!is_interruptible());
        interruptible(
            || true,
            || {
                assert!(is_interruptible());
                assert_eq!(asked(), Some((true, false)), "a sweep has it alone");
                interruptible(|| false, || assert_eq!(asked(), Some((false, false))));
                let _ = std::panic::catch_unwind(|| interruptible(|| false, || panic!("of the test")));
                assert_eq!(asked(), Some((true, false)));
            },
        );
        assert_eq!(asked(), None);
    }
}
