//! The waits of the pipeline, each with a name, so that a test can show its purpose.

/// A wait of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// A slot is not filled before its previous panel has been copied out.
    SlotLeft,
    /// A panel is not transformed before it has been copied in.
    Arrived,
    /// The rows that are needed next are not transformed before the reflectors and the panel are on the device.
    Ready,
    /// A panel is not copied out before its rows have been transformed.
    Worked,
    /// A panel is not copied out before the rows that are needed next have been transformed.
    WorkedAhead,
    /// The CPU does not read rows of V before they have been copied.
    Exported,
    /// A sweep does not end before everything enqueued is done.
    Finished,
}

/// Whether to wait: always, except in the tests that show the purpose of each wait.
#[cfg(not(test))]
pub(super) fn waits(_: Wait) -> bool {
    true
}

#[cfg(test)]
pub(super) use self::omitted::waits;

/// The wait that a test omits.
#[cfg(test)]
pub(crate) mod omitted {
    use super::Wait;
    use std::sync::{Mutex, PoisonError};

    static OMITTED: Mutex<Option<Wait>> = Mutex::new(None);

    /// Held for writing by a test that omits waits, and for reading by tests on other devices, which need all of them.
    #[cfg(any(all(feature = "cuda", target_os = "linux"), feature = "opencl"))]
    pub static GATE: std::sync::RwLock<()> = std::sync::RwLock::new(());

    pub fn waits(wait: Wait) -> bool {
        *OMITTED.lock().unwrap_or_else(PoisonError::into_inner) != Some(wait)
    }

    #[cfg(all(feature = "cuda", target_os = "linux"))]
    pub fn without(wait: Option<Wait>) {
        *OMITTED.lock().unwrap_or_else(PoisonError::into_inner) = wait;
    }
}
