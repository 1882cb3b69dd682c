// Devices, contexts and errors: the calls that a program makes before it uses a device.
//
// Protocol. A device has one context, its primary one. The last release destroys it: the work in its
// streams is run, its memory is freed, its error is cleared; the next retain creates a new one.
#include "driver.h"
#include <cstring>
#include <pthread.h>

namespace fake {

namespace {

// Not `thread_local`: that is the shared memory of the kernels (shim/grid.cpp).
pthread_key_t current_key() {
    static const pthread_key_t key = [] {
        pthread_key_t created;
        pthread_key_create(&created, nullptr);
        return created;
    }();
    return key;
}

bool is_device(int device) { return device >= 0 && device < driver.devices; }

const char* name_of(Result result) {
    switch (result) {
    case SUCCESS: return "CUDA_SUCCESS";
    case INVALID_VALUE: return "CUDA_ERROR_INVALID_VALUE";
    case OUT_OF_MEMORY: return "CUDA_ERROR_OUT_OF_MEMORY";
    case NO_DEVICE: return "CUDA_ERROR_NO_DEVICE";
    case INVALID_DEVICE: return "CUDA_ERROR_INVALID_DEVICE";
    case INVALID_CONTEXT: return "CUDA_ERROR_INVALID_CONTEXT";
    case PEER_ACCESS_UNSUPPORTED: return "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED";
    case INVALID_HANDLE: return "CUDA_ERROR_INVALID_HANDLE";
    case NOT_FOUND: return "CUDA_ERROR_NOT_FOUND";
    case NOT_READY: return "CUDA_ERROR_NOT_READY";
    case ILLEGAL_ADDRESS: return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case PEER_ACCESS_ALREADY_ENABLED: return "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED";
    case HOST_MEMORY_ALREADY_REGISTERED: return "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED";
    case HOST_MEMORY_NOT_REGISTERED: return "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED";
    case LAUNCH_FAILED: return "CUDA_ERROR_LAUNCH_FAILED";
    case COOPERATIVE_LAUNCH_TOO_LARGE: return "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE";
    case NOT_SUPPORTED: return "CUDA_ERROR_NOT_SUPPORTED";
    default: return nullptr;
    }
}

/// By the numbers of CUdevice_attribute.
int attribute(int number) {
    switch (number) {
    case 1: return MAX_THREADS_PER_BLOCK;
    case 2: case 3: return 1024; // threads of a block along x, y
    case 4: return 64;           // along z
    case 5: return 0x7fffffff;   // blocks of a grid along x
    case 6: case 7: return 65535;
    case 8: return SHARED_BYTES;
    case 10: return 32; // threads of a warp
    case 12: case 82: return 65536; // registers of a block, of a multiprocessor
    case 13: case 36: return 1000000; // clock rates in kHz
    case 16: return MULTIPROCESSORS;
    case 19: case 31: case 41: return 1; // maps host memory, concurrent kernels, one address space
    case 37: return 1024;                // bits of the memory bus
    case 38: return 4 << 20;             // bytes of L2
    case 39: return BLOCKS_PER_MULTIPROCESSOR * MAX_THREADS_PER_BLOCK;
    case 40: return 2; // copy engines
    case 75: return 9; // compute capability 9.0
    case 81: return driver.shared_bytes() + 1024;
    case 95: case 99: return 1; // cooperative launches, host registration
    case 97: return driver.shared_bytes();
    case 106: return BLOCKS_PER_MULTIPROCESSOR;
    case 111: return 1024; // reserved shared bytes a block
    case 115: return 1;    // memory pools
    default: return 0;
    }
}

} // namespace

Context* current_context() { return static_cast<Context*>(pthread_getspecific(current_key())); }

} // namespace fake

using namespace fake;

API cuInit(unsigned) {
    Lock lock(driver.lock);
    return driver.devices ? SUCCESS : NO_DEVICE;
}

API cuDriverGetVersion(int* version) {
    Lock lock(driver.lock);
    *version = driver.version;
    return SUCCESS;
}

API cuGetErrorName(Result result, const char** name) {
    *name = name_of(result);
    return *name ? SUCCESS : INVALID_VALUE;
}

API cuGetErrorString(Result result, const char** text) { return cuGetErrorName(result, text); }

API cuDeviceGetCount(int* count) {
    Lock lock(driver.lock);
    *count = driver.devices;
    return SUCCESS;
}

API cuDeviceGet(int* device, int ordinal) {
    Lock lock(driver.lock);
    *device = ordinal;
    return is_device(ordinal) ? SUCCESS : INVALID_DEVICE;
}

API cuDeviceGetName(char* name, int length, int device) {
    std::snprintf(name, static_cast<size_t>(length), "fake CUDA device %d", device);
    return SUCCESS;
}

API cuDeviceGetUuid(char* uuid, int device) {
    std::memset(uuid, 0, 16);
    uuid[15] = static_cast<char>(device);
    return SUCCESS;
}

API cuDeviceGetUuid_v2(char* uuid, int device) { return cuDeviceGetUuid(uuid, device); }

API cuDeviceTotalMem_v2(size_t* bytes, int) {
    Lock lock(driver.lock);
    *bytes = driver.memory_bytes();
    return SUCCESS;
}

API cuDeviceGetAttribute(int* value, int number, int device) {
    MAY_FAIL;
    Lock lock(driver.lock);
    *value = attribute(number);
    return is_device(device) ? SUCCESS : INVALID_DEVICE;
}

API cuDevicePrimaryCtxRetain(void** out, int device) {
    Lock lock(driver.lock);
    if (!is_device(device)) return INVALID_DEVICE;
    Context& context = driver.contexts[device];
    context.device = device;
    ++context.references;
    *out = &context;
    return SUCCESS;
}

API cuDevicePrimaryCtxRelease_v2(int device) {
    Lock lock(driver.lock);
    if (device < 0 || device >= MAX_DEVICES) return INVALID_DEVICE;
    Context& context = driver.contexts[device];
    if (context.references == 0) return INVALID_CONTEXT;
    if (--context.references == 0) {
        synchronize_context(context);
        free_all(context);
        context.sticky = SUCCESS;
        for (bool& access : context.accesses) access = false;
    }
    return SUCCESS;
}

API cuDeviceCanAccessPeer(int* can, int device, int peer) {
    MAY_FAIL;
    Lock lock(driver.lock);
    *can = driver.peers && device != peer;
    return is_device(device) && is_device(peer) ? SUCCESS : INVALID_DEVICE;
}

API cuCtxEnablePeerAccess(Context* peer, unsigned) {
    MAY_FAIL;
    Lock lock(driver.lock);
    Context* context = current_context();
    if (!context || !peer || context == peer) return INVALID_CONTEXT;
    if (!driver.peers) return PEER_ACCESS_UNSUPPORTED;
    if (context->accesses[peer->device]) return PEER_ACCESS_ALREADY_ENABLED;
    context->accesses[peer->device] = true;
    return context->sticky;
}

API cuCtxGetCurrent(void** context) {
    MAY_FAIL;
    *context = current_context();
    return SUCCESS;
}

API cuCtxSetCurrent(void* context) {
    MAY_FAIL;
    pthread_setspecific(current_key(), context);
    return SUCCESS;
}

API cuCtxGetDevice(int* device) {
    const Context* context = current_context();
    if (!context) return INVALID_CONTEXT;
    *device = context->device;
    return SUCCESS;
}

API cuCtxSetFlags(unsigned) { return current_context() ? SUCCESS : INVALID_CONTEXT; }

API cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    MAY_FAIL;
    *least = *greatest = 0;
    return SUCCESS;
}

API cuCtxSynchronize() {
    MAY_FAIL;
    Lock lock(driver.lock);
    if (!current_context()) return INVALID_CONTEXT;
    ++driver.stats.device_synchronizations;
    return synchronize_context(*current_context());
}

API cuDeviceGetDefaultMemPool(void** pool, int device) {
    *pool = &driver.contexts[device];
    return SUCCESS;
}

API cuDeviceGetMemPool(void** pool, int device) { return cuDeviceGetDefaultMemPool(pool, device); }
API cuMemPoolSetAttribute(void*, int, void*) { return SUCCESS; }
API cuMemPoolTrimTo(void*, size_t) { return SUCCESS; }
