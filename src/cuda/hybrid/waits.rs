//! The waits of the pipeline, each by a name, so that a test can show what it is for.

/// A wait of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// A slot is not filled before its last panel has left it.
    SlotLeft,
    /// A panel is not worked on before it has arrived.
    Arrived,
    /// The rows that are needed next are not worked on before the reflectors and the panel are there.
    Ready,
    /// A panel does not leave before it has been worked on.
    Worked,
    /// Nor before those rows have.
    WorkedAhead,
    /// The CPU does not read rows of V before they have come.
    Exported,
    /// A sweep does not end before everything enqueued is done.
    Finished,
}

/// Whether to wait: always, but for the tests that show what each wait is for.
#[cfg(not(test))]
pub(super) fn waits(_: Wait) -> bool {
    true
}

#[cfg(test)]
pub(super) use super::tests::waits;
