// The control functions of the fake for tests, and unsupported calls.
//
// Protocol. Each control function acts at once and on the whole process; mod.rs lets one test at a time call
// them.
#include "../shim/inexact.h"
#include "driver.h"

namespace fake {

Inexactness inexactness;

Result injected() {
    Lock lock(driver.lock);
    ++driver.stats.calls;
    if (driver.calls_failing == 0) return SUCCESS;
    if (driver.calls_before > 0) return --driver.calls_before, SUCCESS;
    --driver.calls_failing;
    return driver.failing;
}

} // namespace fake

using namespace fake;

#define CONTROL extern "C" __attribute__((visibility("default")))

/// The interleaving of streams, blocks and threads from here on.
CONTROL void fake_cuda_seed(unsigned seed) {
    Lock lock(driver.lock);
    driver.random.seed(seed);
}

/// Bytes of device memory; 0 for the default.
CONTROL void fake_cuda_memory_cap(size_t bytes) {
    Lock lock(driver.lock);
    driver.memory_cap = bytes;
}

/// Bytes of shared memory that a block may ask for; 0 for the default.
CONTROL void fake_cuda_shared_cap(int bytes) {
    Lock lock(driver.lock);
    driver.shared_cap = bytes;
}

/// The n-th launch, copy or fill from now fails when it runs, with CUDA_ERROR_LAUNCH_FAILED; 0 for none.
CONTROL void fake_cuda_fail_at(uint64_t n) {
    Lock lock(driver.lock);
    driver.fail_after = n;
}

/// After `before` calls from now, `count` calls fail with this error and do nothing; those of cuSOLVER with
/// its own status.
CONTROL void fake_cuda_fail_calls(uint64_t before, uint64_t count, int error) {
    Lock lock(driver.lock);
    driver.calls_before = before;
    driver.calls_failing = count;
    driver.failing = error;
}

/// The errors of reciprocal roots and of reciprocals, in units in the last place, and the seed of their
/// signs.
CONTROL void fake_cuda_inexact(unsigned roots, unsigned reciprocals, unsigned seed) {
    Lock lock(driver.lock);
    inexactness = {roots, reciprocals, seed};
}

CONTROL void fake_cuda_devices(int count) {
    Lock lock(driver.lock);
    driver.devices = count < 0 ? 0 : count > MAX_DEVICES ? MAX_DEVICES : count;
}

/// Whether a device can access the memory of another.
CONTROL void fake_cuda_peers(int can) {
    Lock lock(driver.lock);
    driver.peers = can != 0;
}

CONTROL void fake_cuda_driver_version(int version) {
    Lock lock(driver.lock);
    driver.version = version;
}

CONTROL void fake_cuda_stats(Stats* out) {
    Lock lock(driver.lock);
    *out = driver.stats;
}

/// Resets the counts; allocations stay, and are the new peak.
CONTROL void fake_cuda_reset_stats() {
    Lock lock(driver.lock);
    Stats& stats = driver.stats;
    const uint64_t live_bytes = stats.live_bytes, live_allocations = stats.live_allocations;
    const uint64_t pinned_bytes = stats.pinned_bytes;
    stats = {};
    stats.live_bytes = stats.peak_bytes = live_bytes;
    stats.live_allocations = live_allocations;
    stats.pinned_bytes = pinned_bytes;
}

/// Resets all settings and failed contexts; drops queued work, except releases of memory, which are run.
CONTROL void fake_cuda_reset() {
    Lock lock(driver.lock);
    for (Context& context : driver.contexts) {
        discard_queues(context);
        context.sticky = SUCCESS;
    }
    driver.random.seed(1);
    driver.devices = DEVICES;
    driver.version = 13000;
    driver.memory_cap = 0;
    driver.shared_cap = 0;
    driver.peers = true;
    driver.fail_after = 0;
    driver.calls_before = driver.calls_failing = 0;
    inexactness = {};
}

// Called by NVRTC, loaded beside this library, for the compiler's cache.
API cuGetExportTable(const void** table, const void*) {
    *table = nullptr;
    return NOT_FOUND;
}

#define UNSUPPORTED(function)                                                                                \
    API function() {                                                                                         \
        complain("%s is not supported", #function);                                                          \
        return NOT_SUPPORTED;                                                                                \
    }
UNSUPPORTED(cuCtxCreate_v3)
UNSUPPORTED(cuCtxCreate_v4)
UNSUPPORTED(cuCtxDestroy_v2)
UNSUPPORTED(cuCtxGetCacheConfig)
UNSUPPORTED(cuCtxSetCacheConfig)
UNSUPPORTED(cuCtxGetLimit)
UNSUPPORTED(cuCtxSetLimit)
UNSUPPORTED(cuDestroyExternalMemory)
UNSUPPORTED(cuDeviceSetMemPool)
UNSUPPORTED(cuExternalMemoryGetMappedBuffer)
UNSUPPORTED(cuGraphDestroy)
UNSUPPORTED(cuGraphExecDestroy)
UNSUPPORTED(cuGraphInstantiateWithFlags)
UNSUPPORTED(cuGraphLaunch)
UNSUPPORTED(cuGraphUpload)
UNSUPPORTED(cuImportExternalMemory)
UNSUPPORTED(cuLibraryLoadData)
UNSUPPORTED(cuMemAdvise_v2)
UNSUPPORTED(cuMemAllocFromPoolAsync)
UNSUPPORTED(cuMemAllocManaged)
UNSUPPORTED(cuMemPoolCreate)
UNSUPPORTED(cuMemPoolDestroy)
UNSUPPORTED(cuMemPoolGetAttribute)
UNSUPPORTED(cuMemPrefetchAsync_v2)
UNSUPPORTED(cuModuleLoad)
UNSUPPORTED(cuOccupancyMaxActiveClusters)
UNSUPPORTED(cuOccupancyMaxPotentialClusterSize)
UNSUPPORTED(cuPointerGetAttribute)
UNSUPPORTED(cuProfilerStart)
UNSUPPORTED(cuProfilerStop)
UNSUPPORTED(cuStreamAttachMemAsync)
UNSUPPORTED(cuStreamBeginCapture_v2)
UNSUPPORTED(cuStreamEndCapture)
