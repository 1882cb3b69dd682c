//! A CUDA driver that runs on the CPU, for tests: the host code and the kernels of this crate, unchanged, on
//! a machine without a GPU.
//!
//! It is a `libcuda.so.1` whose kernels are the `.cu` files of the project compiled by g++ (`shim/`), whose device
//! memory is host memory, and whose streams run in a seeded random order that only events constrain (`driver/`). A
//! missing wait, a buffer reused too early, and memory read before it is written or past its end give wrong numbers or
//! errors. It does not show speed, occupancy, or the ordering of memory accesses between threads.
//!
//! Protocol. Tests use it if the environment variable `CHOLUPDATE_FAKE_CUDA` is not empty, and NVIDIA's driver otherwise.
//! (Tests in other languages load the libraries from the folder that the variable names.) There is one fake per process,
//! which must be loaded before the first call of `cudarc`. Every test that uses a device takes a guard first: [`shared`] if it only
//! uses the driver, [`exclusive`] if it changes the driver's behaviour or reads its counts. The guard of a test outlives
//! its devices, and a test takes only one.
#![allow(dead_code, reason = "each test binary uses its part")]

mod compile;

use std::ffi::{CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The driver's counts since [`Exclusive::reset_stats`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Device memory now, and its peak.
    pub live_bytes: u64,
    pub peak_bytes: u64,
    pub live_allocations: u64,
    pub launches: u64,
    /// Copies of any kind, of one or two dimensions.
    pub copies: u64,
    /// Host to device.
    pub bytes_up: u64,
    /// Device to host.
    pub bytes_down: u64,
    pub memsets: u64,
    /// `cuCtxSynchronize`, and calls that imply it: the release of device memory (not in stream order) and of pinned
    /// memory.
    pub device_synchronizations: u64,
    pub stream_synchronizations: u64,
    pub event_synchronizations: u64,
    /// Host memory allocated page-locked, or registered.
    pub pinned_bytes: u64,
    /// Calls of the driver, and of cuSOLVER, that [`Exclusive::fail_calls`] counts.
    pub calls: u64,
}

/// The control functions of driver/control.cpp.
struct Controls {
    seed: unsafe extern "C" fn(u32),
    memory_cap: unsafe extern "C" fn(usize),
    shared_cap: unsafe extern "C" fn(c_int),
    fail_at: unsafe extern "C" fn(u64),
    fail_calls: unsafe extern "C" fn(u64, u64, c_int),
    inexact: unsafe extern "C" fn(u32, u32, u32),
    devices: unsafe extern "C" fn(c_int),
    peers: unsafe extern "C" fn(c_int),
    driver_version: unsafe extern "C" fn(c_int),
    stats: unsafe extern "C" fn(*mut Stats),
    reset_stats: unsafe extern "C" fn(),
    reset: unsafe extern "C" fn(),
}

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

const RTLD_NOW: c_int = 2;
const RTLD_GLOBAL: c_int = 0x100;

static LOADED: OnceLock<Controls> = OnceLock::new();
static TESTS: RwLock<()> = RwLock::new(());

/// Whether tests are to use the fake driver.
pub fn wanted() -> bool {
    std::env::var_os("CHOLUPDATE_FAKE_CUDA").is_some_and(|value| !value.is_empty())
}

/// Loads the fake driver, after compiling it if necessary. `cudarc` asks the loader for `libcuda.so`, then for
/// `libcuda.so.1`, and for `libcusolver.so`: the loader finds these names among the loaded libraries, and does not
/// search further.
pub fn install() {
    controls();
}

/// The folder of the libraries: `libcuda.so.1`, to be loaded first, and its aliases `libcuda.so` and `libcusolver.so`.
pub fn directory() -> PathBuf {
    let [mut library, ..] = compile::libraries();
    library.pop();
    library
}

fn controls() -> &'static Controls {
    LOADED.get_or_init(|| {
        eprintln!("CHOLUPDATE_FAKE_CUDA is set: the devices are those of the fake driver");
        let [library, ..] = compile::libraries().map(|path| {
            let name = CString::new(path.as_os_str().as_bytes()).expect("a path without NUL");
            // SAFETY: `name` is a C string; the initializers are this project's code and register the kernels.
            let handle = unsafe { dlopen(name.as_ptr(), RTLD_NOW | RTLD_GLOBAL) };
            assert!(!handle.is_null(), "the loader refuses {}", path.display());
            handle
        });
        // SAFETY: driver/control.cpp defines these functions with the signatures of the fields.
        unsafe {
            Controls {
                seed: find(library, "seed"),
                memory_cap: find(library, "memory_cap"),
                shared_cap: find(library, "shared_cap"),
                fail_at: find(library, "fail_at"),
                fail_calls: find(library, "fail_calls"),
                inexact: find(library, "inexact"),
                devices: find(library, "devices"),
                peers: find(library, "peers"),
                driver_version: find(library, "driver_version"),
                stats: find(library, "stats"),
                reset_stats: find(library, "reset_stats"),
                reset: find(library, "reset"),
            }
        }
    })
}

/// The control function `fake_cuda_<name>`.
///
/// # Safety
/// `library` is a handle of `dlopen` that is never closed, and the function is an `F`.
unsafe fn find<F: Copy>(library: *mut c_void, name: &str) -> F {
    assert_eq!(size_of::<F>(), size_of::<*mut c_void>());
    let symbol = CString::new(format!("fake_cuda_{name}")).expect("a name without NUL");
    // SAFETY: the handle is live, by contract, and `symbol` is a C string.
    let function = unsafe { dlsym(library, symbol.as_ptr()) };
    assert!(!function.is_null(), "{symbol:?} is missing");
    // SAFETY: of the size of F, and an F by contract.
    unsafe { std::mem::transmute_copy(&function) }
}

/// Other tests use the driver meanwhile; none changes its behaviour.
pub struct Shared {
    _turn: RwLockReadGuard<'static, ()>,
}

/// No other test uses the driver meanwhile. All settings end with it.
pub struct Exclusive {
    controls: &'static Controls,
    _turn: RwLockWriteGuard<'static, ()>,
}

/// The driver with four devices, for a test that only uses it; `None` if it is not wanted.
pub fn shared() -> Option<Shared> {
    wanted().then(|| {
        install();
        // A test that failed while it held the lock has reset its settings while unwinding.
        Shared { _turn: TESTS.read().unwrap_or_else(|poisoned| poisoned.into_inner()) }
    })
}

/// The driver for one test alone, with default settings and new counts. If it is not wanted `None`, and a line that says
/// so, or a failure if it is required.
pub fn exclusive() -> Option<Exclusive> {
    if !wanted() {
        let required = std::env::var_os("CHOLUPDATE_REQUIRE_FAKE_CUDA").is_some_and(|value| value == "1");
        assert!(!required, "CHOLUPDATE_REQUIRE_FAKE_CUDA is set, but CHOLUPDATE_FAKE_CUDA is not");
        eprintln!("SKIPPED, for want of CHOLUPDATE_FAKE_CUDA");
        return None;
    }
    let controls = controls();
    let turn = TESTS.write().unwrap_or_else(|poisoned| poisoned.into_inner());
    let fake = Exclusive { controls, _turn: turn };
    fake.reset();
    fake.reset_stats();
    Some(fake)
}

impl Stats {
    /// The operations that [`Exclusive::fail_at`] counts.
    pub fn operations(&self) -> u64 {
        self.launches + self.copies + self.memsets
    }
}

impl Exclusive {
    /// The interleaving of streams, blocks and threads from here on.
    pub fn seed(&self, seed: u32) {
        // SAFETY: takes a number, under the driver's lock.
        unsafe { (self.controls.seed)(seed) }
    }

    /// Bytes of device memory: an allocation beyond is out of memory. 0 is the default of 8 GiB.
    pub fn memory_cap(&self, bytes: usize) {
        // SAFETY: takes a number, under the driver's lock.
        unsafe { (self.controls.memory_cap)(bytes) }
    }

    /// Bytes of shared memory that a block may ask for. 0 is the default of 227 KiB.
    pub fn shared_cap(&self, bytes: i32) {
        // SAFETY: takes a number, under the driver's lock.
        unsafe { (self.controls.shared_cap)(bytes) }
    }

    /// The n-th launch, copy or fill from now (counted from 1) fails when it runs, and its context with it.
    /// 0: none.
    pub fn fail_at(&self, n: u64) {
        // SAFETY: takes a number, under the driver's lock.
        unsafe { (self.controls.fail_at)(n) }
    }

    /// After `before` calls of the driver from now, `count` calls fail with this error (a `CUresult`). They do nothing
    /// and have no other effect: earlier work is still in flight.
    pub fn fail_calls(&self, before: u64, count: u64, error: i32) {
        // SAFETY: takes three numbers, under the driver's lock.
        unsafe { (self.controls.fail_calls)(before, count, error) }
    }

    /// The results of `reciprocal_root` and of `reciprocal` are wrong by these numbers of units in the last place, up
    /// or down by the seed. 0 is the default.
    pub fn inexact(&self, roots: u32, reciprocals: u32, seed: u32) {
        // SAFETY: takes three numbers, under the driver's lock.
        unsafe { (self.controls.inexact)(roots, reciprocals, seed) }
    }

    /// The number of devices, up to 16, instead of four; with 0 the driver exists and has none.
    pub fn devices(&self, count: i32) {
        // SAFETY: takes a number, under the driver's lock.
        unsafe { (self.controls.devices)(count) }
    }

    /// Whether a device can access the memory of another. It can by default.
    pub fn peers(&self, can: bool) {
        // SAFETY: takes a number, under the driver's lock.
        unsafe { (self.controls.peers)(i32::from(can)) }
    }

    /// In the driver's encoding: 12080 is 12.8.
    pub fn driver_version(&self, version: i32) {
        // SAFETY: takes a number, under the driver's lock.
        unsafe { (self.controls.driver_version)(version) }
    }

    /// The counts since the test began or [`reset_stats`](Self::reset_stats).
    pub fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        // SAFETY: writes one `Stats`, which has the layout of that in driver/driver.h.
        unsafe { (self.controls.stats)(&mut stats) }
        stats
    }

    /// Resets the counts; allocations stay, and are the new peak.
    pub fn reset_stats(&self) {
        // SAFETY: takes nothing, under the driver's lock.
        unsafe { (self.controls.reset_stats)() }
    }

    /// Resets the settings and failed contexts; drops queued work.
    pub fn reset(&self) {
        // SAFETY: takes nothing, under the driver's lock; drops queued work, which holds no memory of Rust's
        // own.
        unsafe { (self.controls.reset)() }
    }
}

impl Drop for Exclusive {
    fn drop(&mut self) {
        self.reset();
    }
}
