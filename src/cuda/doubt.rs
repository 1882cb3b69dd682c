//! What is known of work that a failed wait was for.

use core::sync::atomic::{AtomicUsize, Ordering};

/// Waits of a device that failed: behind one, what was waited for may still read and write memory, none of which is used before
/// the device is known to be idle.
#[derive(Default)]
pub(super) struct Doubt {
    /// How many failed, and the latest of them behind which the device was idle. Both only grow, so that no thread takes away the
    /// doubt that another has raised meanwhile.
    raised: AtomicUsize,
    cleared: AtomicUsize,
}

impl Doubt {
    /// A wait has failed.
    pub fn raise(&self) {
        self.raised.fetch_add(1, Ordering::AcqRel);
    }

    /// Whether one has, and the device has not been idle since.
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Acquire) != self.cleared.load(Ordering::Acquire)
    }

    /// Has `wait` wait for the whole device, if there is any doubt.
    ///
    /// # Errors
    /// That of `wait`; the doubt stays.
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
        // Another thread's, raised while the device was waited for.
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
