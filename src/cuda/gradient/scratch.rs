//! How working memory is divided.

/// Parts of working memory, one after the other.
pub(super) struct Parts {
    next: u64,
}

impl Parts {
    pub fn from(start: u64) -> Self {
        Self { next: start }
    }

    /// Room for this many of a type.
    pub fn take<X>(&mut self, count: usize) -> u64 {
        let start = self.next;
        self.next += (count * size_of::<X>()).next_multiple_of(256) as u64;
        start
    }

    /// Where the next part would be.
    pub fn end(&self) -> u64 {
        self.next
    }
}
