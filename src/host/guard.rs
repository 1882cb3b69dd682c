//! What becomes of the other threads when one of them panics.

/// Does something when it is dropped: in a panic, since whoever gets through calls [`defuse`](Self::defuse).
///
/// It does not ask whether the thread is unwinding. A caller may be, which modifies a factor in a destructor, and
/// nothing is wrong with that.
pub(crate) struct OnPanic<F: FnMut()>(pub F);

impl<F: FnMut()> OnPanic<F> {
    /// All went well.
    pub fn defuse(self) {
        core::mem::forget(self);
    }
}

impl<F: FnMut()> Drop for OnPanic<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
