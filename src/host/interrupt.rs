//! Calls of seconds that can be stopped.

use core::cell::RefCell;
use std::sync::Arc;

/// Whether to stop.
type Question = Arc<dyn Fn() -> bool + Send + Sync>;

thread_local! {
    /// What sweeps that begin on this thread ask.
    static QUESTION: RefCell<Option<Question>> = const { RefCell::new(None) };
}

/// Runs `call`, of which modifications on the engine [`Cpu`](crate::Cpu) ask `stop` between panels, on this thread, whether to stop. One that is
/// told to is [`Error::Interrupted`](crate::Error::Interrupted), and the factor is as it was.
///
/// Those that write to a shadow buffer ask, and so do dry runs. One that works in place does not, as updates do, and neither do other engines and
/// moves of rows and columns: they end first.
///
/// # Cost
/// A call of `stop` a panel, which may take some microseconds without being noticed.
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

/// Puts back what was asked before, also behind a panic.
struct Instead(Option<Question>);

impl Drop for Instead {
    fn drop(&mut self) {
        QUESTION.set(self.0.take());
    }
}

/// What the sweep that begins asks. Other sweeps that this thread may be given while it waits for the end of this one, as rayon does,
/// belong to other calls and do not ask.
pub(crate) struct Asks(Instead);

impl Asks {
    #[inline]
    pub fn take() -> Option<Self> {
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
        let asked = || Asks::take().map(|asks| (asks.stop(), Asks::take().is_some()));
        assert_eq!(asked(), None);
        interruptible(
            || true,
            || {
                assert_eq!(asked(), Some((true, false)), "a sweep has it alone");
                interruptible(|| false, || assert_eq!(asked(), Some((false, false))));
                let _ = std::panic::catch_unwind(|| interruptible(|| false, || panic!("of the test")));
                assert_eq!(asked(), Some((true, false)));
            },
        );
        assert_eq!(asked(), None);
    }
}
