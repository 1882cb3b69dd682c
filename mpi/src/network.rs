//! The processes of an MPI communicator.

use cholupdate::distributed::Network;
use core::ffi::{c_int, c_void};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use mpi::ffi;

/// A communicator of its own, so that messages of the caller cannot be taken for messages of the factor.
///
/// MPI calls come from the thread that calls the factor, which MPI must permit (`MPI_THREAD_FUNNELED` if that is the main thread).
/// An error of MPI ends the program, also where the caller's communicator has the error handler `MPI_ERRORS_RETURN`, as those of mpi4py
/// do: a process that continued would compute with data that it has not received.
#[derive(Debug)]
pub struct Processes {
    comm: ffi::MPI_Comm,
    ranks: usize,
    rank: usize,
    /// Neither `Send` nor `Sync`: MPI may permit calls of one thread only, and the type of a communicator does not say so where it is an
    /// integer, as in MPICH.
    of_one_thread: PhantomData<*mut ()>,
}

/// Bytes of one message at most: MPI counts by an `int`.
const MOST: usize = 1 << 30;

/// The tag of messages between two processes.
const TAG: c_int = 1;

impl Processes {
    /// A copy of a communicator. All of its processes make this call.
    ///
    /// # Safety
    /// MPI has been initialized, and not finalized; `comm` is a communicator of it, and not one between two groups.
    #[must_use]
    pub unsafe fn of(comm: ffi::MPI_Comm) -> Self {
        let (mut own, mut ranks, mut rank) = (MaybeUninit::uninit(), 0, 0);
        // SAFETY: the caller guarantees the communicator; the results are places of their types.
        unsafe {
            let error = ffi::MPI_Comm_dup(comm, own.as_mut_ptr());
            if error != 0 {
                ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, error);
                std::process::abort();
            }
            let own = own.assume_init();
            ffi::MPI_Comm_set_errhandler(own, ffi::RSMPI_ERRORS_ARE_FATAL);
            ffi::MPI_Comm_size(own, &mut ranks);
            ffi::MPI_Comm_rank(own, &mut rank);
            Self { comm: own, ranks: ranks as usize, rank: rank as usize, of_one_thread: PhantomData }
        }
    }

    /// The same processes with another communicator. All of them make this call.
    pub(crate) fn another(&self) -> Self {
        // SAFETY: the communicator exists, so MPI has been initialized and not finalized.
        unsafe { Self::of(self.comm) }
    }

    /// The communicator.
    #[must_use]
    pub fn comm(&self) -> ffi::MPI_Comm {
        self.comm
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        let mut finalized = 0;
        // SAFETY: may be called at any time. Nothing is in flight in the communicator, which is this one's own.
        unsafe {
            ffi::MPI_Finalized(&mut finalized);
            if finalized == 0 {
                ffi::MPI_Comm_free(&mut self.comm);
            }
        }
    }
}

/// A message in parts of at most [`MOST`] bytes.
fn parts(len: usize) -> impl Iterator<Item = (usize, c_int)> {
    (0..len.max(1)).step_by(MOST).map(move |first| (first, (len - first).min(MOST) as c_int))
}

/// The requests of the parts of a message.
#[derive(Debug)]
pub struct Requests {
    first: ffi::MPI_Request,
    /// Of messages with more than [`MOST`] bytes. Without any it takes no memory.
    further: Vec<ffi::MPI_Request>,
}

impl Requests {
    fn started(len: usize, start: impl Fn((usize, c_int)) -> ffi::MPI_Request) -> Self {
        let first = start((0, len.min(MOST) as c_int));
        Self { first, further: parts(len).skip(1).map(start).collect() }
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut ffi::MPI_Request> {
        core::iter::once(&mut self.first).chain(&mut self.further)
    }
}

impl Network for Processes {
    type Pending = Requests;

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn least(&self, words: &mut [u64]) {
        let mut mine = words.to_vec();
        // SAFETY: both arrays have so many words, and `MPI_IN_PLACE` is not needed: they are distinct.
        unsafe {
            ffi::MPI_Allreduce(
                mine.as_mut_ptr().cast::<c_void>(),
                words.as_mut_ptr().cast(),
                words.len() as c_int,
                ffi::RSMPI_UINT64_T,
                ffi::RSMPI_MIN,
                self.comm,
            );
        }
    }

    fn broadcast(&self, root: usize, data: &mut [u8]) {
        for (first, len) in parts(data.len()) {
            // SAFETY: the bytes are borrowed exclusively until the call returns.
            unsafe {
                let at = data.as_mut_ptr().add(first).cast();
                ffi::MPI_Bcast(at, len, ffi::RSMPI_UINT8_T, root as c_int, self.comm);
            }
        }
    }

    unsafe fn start_broadcast(&self, root: usize, data: *mut u8, len: usize) -> Requests {
        let start = |(first, len): (usize, c_int)| {
            let mut request = MaybeUninit::uninit();
            // SAFETY: the caller guarantees the memory until the message has been waited for.
            unsafe {
                let at = data.add(first).cast();
                let (kind, root) = (ffi::RSMPI_UINT8_T, root as c_int);
                ffi::MPI_Ibcast(at, len, kind, root, self.comm, request.as_mut_ptr());
                request.assume_init()
            }
        };
        Requests::started(len, start)
    }

    unsafe fn start_send(&self, to: usize, data: *const u8, len: usize) -> Requests {
        let start = |(first, len): (usize, c_int)| {
            let mut request = MaybeUninit::uninit();
            // SAFETY: the caller guarantees the memory until the message has been waited for.
            unsafe {
                let at = data.add(first).cast();
                let (kind, to) = (ffi::RSMPI_UINT8_T, to as c_int);
                ffi::MPI_Isend(at, len, kind, to, TAG, self.comm, request.as_mut_ptr());
                request.assume_init()
            }
        };
        Requests::started(len, start)
    }

    fn receive(&self, from: usize, data: &mut [u8]) {
        for (first, len) in parts(data.len()) {
            // SAFETY: the bytes are borrowed exclusively until the call returns.
            unsafe {
                let at = data.as_mut_ptr().add(first).cast();
                let (kind, from) = (ffi::RSMPI_UINT8_T, from as c_int);
                ffi::MPI_Recv(at, len, kind, from, TAG, self.comm, ffi::RSMPI_STATUS_IGNORE);
            }
        }
    }

    fn is_complete(&self, pending: &mut Requests) -> bool {
        pending.iter_mut().all(|request| {
            let mut done = 0;
            // SAFETY: a request of `start_broadcast` or `start_send`, or `MPI_REQUEST_NULL` if it has been found complete.
            unsafe { ffi::MPI_Test(request, &mut done, ffi::RSMPI_STATUS_IGNORE) };
            done != 0
        })
    }

    fn wait(&self, mut pending: Requests) {
        for request in pending.iter_mut() {
            // SAFETY: as in `is_complete`.
            unsafe { ffi::MPI_Wait(request, ffi::RSMPI_STATUS_IGNORE) };
        }
    }

    fn abort(&self) -> ! {
        // SAFETY: the communicator exists.
        unsafe { ffi::MPI_Abort(self.comm, 1) };
        std::process::abort()
    }
}
