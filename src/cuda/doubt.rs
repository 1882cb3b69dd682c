//! Records whether the device may still be running work after a failed wait.

use core::sync::atomic::{AtomicUsize, Ordering};

/// Failed waits of a device. After one, the work that was waited for may still read and write memory, so that memory is not
/// used before the device is known to be idle.
#[derive(Default)]
pub(super) struct Doubt {
    /// The number of failed waits, and the latest of them after which the device has been idle. Both only grow, so that no
    /// thread clears a doubt that another has raised in the meantime.
    raised: AtomicUsize,
    cleared: AtomicUsize,
}

impl Doubt {
    /// Records that a wait has failed.
    pub fn raise(&self) {
        self.raised.fetch_add(1, Ordering::AcqRel);
    }

    /// Whether a wait has failed and the device has not been idle since.
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Acquire) != self.cleared.load(Ordering::Acquire)
    }

    /// Calls `wait`, which waits for the whole device, if there is any doubt.
    ///
    /// # Errors
    /// The error of `wait`; the doubt remains.
    pub fn clear_by<E>(&self, wait: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let raised = self.raised.load(Ordering::Acquire);
        if raised != self.cleared.load(Ordering::Acquire) {
            wait()?;
            self.cleared.fetch_max(raised, Ordering::AcqRel);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Doubt;

    #[test]
    fn a_wait_that_fails_takes_no_doubt_away_and_one_that_does_not_takes_that_which_was_there() {
        let doubt = Doubt::default();
        doubt.clear_by(|| Err("there is nothing to wait for")).unwrap();
        doubt.raise();
        assert_eq!(doubt.clear_by(|| Err("fails")), Err("fails"));
        assert!(doubt.is_raised());
        // Another thread has raised it during the wait for the device.
        let raised = || {
            doubt.raise();
            Ok::<_, ()>(())
        };
        doubt.clear_by(raised).unwrap();
        assert!(doubt.is_raised());
        doubt.clear_by(|| Ok::<_, ()>(())).unwrap();
        assert!(!doubt.is_raised());
    }
}
