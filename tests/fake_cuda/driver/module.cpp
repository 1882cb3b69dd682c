// Modules, functions and launches.
//
// Protocol. A module's image is not read: any module has all kernels and globals that were compiled into this
// library, by name. A launch is checked as the driver does, its arguments are copied, and it runs when its stream does,
// with a seed of its own for the order of its blocks and threads.
#include "../shim/kernel.h"
#include "../shim/fibers.h"
#include "driver.h"
#include <cstring>

namespace fake {

const Kernel* last_kernel = nullptr;
const Global* last_global = nullptr;

bool is_global(const void* at, size_t bytes) {
    for (const Global* global = last_global; global; global = global->next) {
        if (global->at == at && bytes <= global->bytes) return true;
    }
    return false;
}

namespace {

struct Function {
    const Kernel* kernel;
    int dynamic_shared_limit = SHARED_BYTES; // more must be requested
};

std::map<const Kernel*, Function> functions;

struct Module {};

struct Shape {
    dim3 grid, block;
    unsigned dynamic_shared;

    unsigned blocks() const { return grid.x * grid.y * grid.z; }
};

bool is_valid(const Function& function, const Shape& shape) {
    const dim3 g = shape.grid, b = shape.block;
    const bool grid = g.x > 0 && g.y > 0 && g.z > 0 && g.x <= 0x7fffffff && g.y <= 65535 && g.z <= 65535;
    const bool each = b.x > 0 && b.y > 0 && b.z > 0 && b.x <= 1024 && b.y <= 1024 && b.z <= 64;
    return grid && each && b.x * b.y * b.z <= unsigned(MAX_THREADS_PER_BLOCK) &&
           shape.dynamic_shared <= unsigned(function.dynamic_shared_limit);
}

Result enqueue_launch(Function* function, const Shape& shape, void* handle, void** parameters,
                      bool cooperative) {
    Lock lock(driver.lock);
    Stream* stream = find_stream(handle);
    if (!stream || !function) return current_context() ? INVALID_HANDLE : INVALID_CONTEXT;
    const Kernel* kernel = function->kernel;
    if (!is_valid(*function, shape)) {
        const dim3 g = shape.grid, b = shape.block;
        complain("kernel %s: invalid grid %u x %u x %u of %u x %u x %u threads, %u shared bytes", //
                 kernel->name, g.x, g.y, g.z, b.x, b.y, b.z, shape.dynamic_shared);
        return INVALID_VALUE;
    }
    if (cooperative && shape.blocks() > unsigned(MULTIPROCESSORS * BLOCKS_PER_MULTIPROCESSOR)) {
        return COOPERATIVE_LAUNCH_TOO_LARGE;
    }
    ++driver.stats.launches;
    Context* context = stream->context;
    const auto arguments = kernel->copy(parameters);
    const unsigned seed = static_cast<unsigned>(driver.random());
    const Launch launch{kernel->call, arguments.get(), kernel->shared, shape.grid, shape.block, shape.dynamic_shared,
                        seed};
    return submit_launch(*stream, [=, grid = std::shared_ptr<Grid>()]() mutable {
        (void)arguments; // kept alive until here
        if (!grid) grid = begin_grid(launch);
        const char* error = nullptr;
        const Progress progress = run_grid(*grid, &error);
        if (progress == Progress::Waiting) return false;
        if (progress == Progress::Failed) {
            complain("kernel %s: %s", kernel->name, error);
            context->sticky = LAUNCH_FAILED;
        } else if (!guards_are_whole(kernel->name)) {
            context->sticky = ILLEGAL_ADDRESS;
        }
        return true;
    });
}

/// By the numbers of CUfunction_attribute.
int attribute(const Function& function, int number) {
    switch (number) {
    case 0: return MAX_THREADS_PER_BLOCK;
    case 4: return 32;          // registers a thread
    case 5: case 6: return 90; // PTX and binary version
    case 8: return function.dynamic_shared_limit;
    default: return 0;
    }
}

} // namespace

} // namespace fake

using namespace fake;

API cuModuleLoadData(void** module, const void* image) {
    MAY_FAIL;
    Lock lock(driver.lock);
    if (!current_context()) return INVALID_CONTEXT;
    if (!image) return INVALID_VALUE;
    *module = new Module;
    return current_context()->sticky;
}

API cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
    return cuModuleLoadData(module, image);
}

API cuModuleUnload(void* module) {
    delete static_cast<Module*>(module);
    return SUCCESS;
}

API cuModuleGetFunction(Function** out, void*, const char* name) {
    MAY_FAIL;
    Lock lock(driver.lock);
    for (const Kernel* kernel = last_kernel; kernel; kernel = kernel->next) {
        if (std::strcmp(kernel->name, name) != 0) continue;
        *out = &functions.try_emplace(kernel, Function{kernel}).first->second;
        return SUCCESS;
    }
    complain("no kernel is called %s", name);
    return NOT_FOUND;
}

API cuModuleGetGlobal_v2(DevicePointer* out, size_t* bytes, void*, const char* name) {
    MAY_FAIL;
    Lock lock(driver.lock);
    for (const Global* global = last_global; global; global = global->next) {
        if (std::strcmp(global->name, name) != 0) continue;
        if (out) *out = reinterpret_cast<DevicePointer>(global->at);
        if (bytes) *bytes = global->bytes;
        return SUCCESS;
    }
    return NOT_FOUND;
}

API cuFuncGetAttribute(int* value, int number, Function* function) {
    Lock lock(driver.lock);
    *value = attribute(*function, number);
    return SUCCESS;
}

API cuFuncSetAttribute(Function* function, int number, int value) {
    MAY_FAIL;
    Lock lock(driver.lock);
    if (number != 8) return SUCCESS; // a preference, as for the carve-out of shared memory
    if (value < 0 || value > driver.shared_bytes()) return INVALID_VALUE;
    function->dynamic_shared_limit = value;
    return SUCCESS;
}

API cuFuncSetCacheConfig(Function*, int) { return SUCCESS; }

API cuLaunchKernel(Function* function, unsigned gx, unsigned gy, unsigned gz, //
                   unsigned bx, unsigned by, unsigned bz, unsigned dynamic_shared, void* stream,
                   void** parameters, void** extra) {
    MAY_FAIL;
    if (extra) {
        complain("arguments of a launch are given as `kernelParams` only");
        return NOT_SUPPORTED;
    }
    return enqueue_launch(function, {{gx, gy, gz}, {bx, by, bz}, dynamic_shared}, stream, parameters, false);
}

API cuLaunchCooperativeKernel(Function* function, unsigned gx, unsigned gy, unsigned gz, //
                              unsigned bx, unsigned by, unsigned bz, unsigned dynamic_shared, void* stream,
                              void** parameters) {
    return enqueue_launch(function, {{gx, gy, gz}, {bx, by, bz}, dynamic_shared}, stream, parameters, true);
}

API cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function*, int, size_t) {
    *blocks = BLOCKS_PER_MULTIPROCESSOR;
    return SUCCESS;
}

API cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Function*, int, size_t, unsigned) {
    *blocks = BLOCKS_PER_MULTIPROCESSOR;
    return SUCCESS;
}

API cuOccupancyMaxPotentialBlockSize(int* blocks, int* threads, Function*, size_t (*)(int), size_t,
                                     int limit) {
    *blocks = MULTIPROCESSORS * BLOCKS_PER_MULTIPROCESSOR;
    *threads = limit > 0 && limit < 256 ? limit : 256;
    return SUCCESS;
}

API cuOccupancyMaxPotentialBlockSizeWithFlags(int* blocks, int* threads, Function* function,
                                              size_t (*shared)(int), size_t bytes, int limit, unsigned) {
    return cuOccupancyMaxPotentialBlockSize(blocks, threads, function, shared, bytes, limit);
}

API cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, Function*, int blocks, int) {
    *bytes = size_t(driver.shared_bytes() / (blocks > 0 ? blocks : 1));
    return SUCCESS;
}
