// Copies in one and two dimensions, and fills.
//
// Protocol. Both sides are checked: device bytes must lie in one allocation that the program may name when it
// calls (else CUDA_ERROR_INVALID_VALUE) and that is live when the copy runs (else a sticky
// CUDA_ERROR_ILLEGAL_ADDRESS). A copy from or to page-locked memory touches it when its stream runs. Pageable
// memory is read before the call returns, and is written before the call returns.
#include "driver.h"
#include <algorithm>
#include <cstring>
#include <vector>

namespace fake {

namespace {

/// One side of a copy: `height` rows of `width` bytes, `pitch` bytes apart.
struct Side {
    char* at;
    size_t pitch;
    bool on_device;
};

struct Copy {
    Side to, from;
    size_t width, height;
};

size_t span(const Side& side, const Copy& copy) { return (copy.height - 1) * side.pitch + copy.width; }

void move_rows(const Copy& copy) {
    for (size_t row = 0; row < copy.height; ++row) {
        std::memmove(copy.to.at + row * copy.to.pitch, copy.from.at + row * copy.from.pitch, copy.width);
    }
}

bool usable(const Side& side, const Copy& copy, bool (*check)(const void*, size_t)) {
    return !side.on_device || check(side.at, span(side, copy));
}

void run_copy(Context* context, const Copy& copy) {
    if (usable(copy.to, copy, is_live) && usable(copy.from, copy, is_live)) return move_rows(copy);
    complain("a copy ran before its device memory was allocated, or after it was released");
    context->sticky = ILLEGAL_ADDRESS;
}

Result enqueue(const Copy& copy, void* handle) {
    Lock lock(driver.lock);
    Stream* stream = find_stream(handle);
    if (!stream) return current_context() ? INVALID_HANDLE : INVALID_CONTEXT;
    if (copy.width == 0 || copy.height == 0) return stream->context->sticky;
    if (copy.to.pitch < copy.width || copy.from.pitch < copy.width) return INVALID_VALUE;
    if (!usable(copy.to, copy, is_named) || !usable(copy.from, copy, is_named)) {
        complain("a copy of %zu x %zu bytes leaves its device allocation", copy.height, copy.width);
        return INVALID_VALUE;
    }
    ++driver.stats.copies;
    if (!copy.from.on_device) driver.stats.bytes_up += copy.width * copy.height;
    if (!copy.to.on_device) driver.stats.bytes_down += copy.width * copy.height;

    Context* context = stream->context;
    if (!copy.from.on_device && !is_pinned(copy.from.at, span(copy.from, copy))) {
        auto staged = std::make_shared<std::vector<char>>(copy.width * copy.height);
        move_rows({{staged->data(), copy.width, false}, copy.from, copy.width, copy.height});
        const Side from{staged->data(), copy.width, false};
        const Copy rest{copy.to, from, copy.width, copy.height};
        return submit_counted(*stream, [=] {
            (void)staged; // kept alive until here
            run_copy(context, rest);
        });
    }
    const Result result = submit_counted(*stream, [=] { run_copy(context, copy); });
    const bool pageable = !copy.to.on_device && !is_pinned(copy.to.at, span(copy.to, copy));
    return result == SUCCESS && pageable ? synchronize_stream(*stream) : result;
}

Side on_host(const void* at, size_t pitch) {
    return {static_cast<char*>(const_cast<void*>(at)), pitch, false};
}

Side on_device(DevicePointer at, size_t pitch) { return {reinterpret_cast<char*>(at), pitch, true}; }

Result and_wait(Result result) {
    Lock lock(driver.lock);
    return result == SUCCESS ? synchronize_stream(*find_stream(nullptr)) : result;
}

/// CUDA_MEMCPY2D.
struct Descriptor {
    size_t from_x, from_y;
    int from_kind;
    const void* from_host;
    DevicePointer from_device;
    void* from_array;
    size_t from_pitch, to_x, to_y;
    int to_kind;
    void* to_host;
    DevicePointer to_device;
    void* to_array;
    size_t to_pitch, width, height;
};

enum { HOST = 1, DEVICE = 2 }; // CUmemorytype

Result enqueue_2d(const Descriptor& d, void* handle) {
    const auto known = [](int kind) { return kind == HOST || kind == DEVICE; };
    if (!known(d.from_kind) || !known(d.to_kind) || (d.from_kind == HOST && d.to_kind == HOST)) {
        complain("2-D copies are from or to linear device memory only");
        return NOT_SUPPORTED;
    }
    // A pitch of 0 means rows without gaps.
    const size_t from_pitch = d.from_pitch ? d.from_pitch : d.width;
    const size_t to_pitch = d.to_pitch ? d.to_pitch : d.width;
    Side from = d.from_kind == HOST ? on_host(d.from_host, from_pitch) : on_device(d.from_device, from_pitch);
    Side to = d.to_kind == HOST ? on_host(d.to_host, to_pitch) : on_device(d.to_device, to_pitch);
    if (d.from_x + d.width > from_pitch || d.to_x + d.width > to_pitch) return INVALID_VALUE;
    from.at += d.from_y * from_pitch + d.from_x;
    to.at += d.to_y * to_pitch + d.to_x;
    return enqueue({to, from, d.width, d.height}, handle);
}

} // namespace

} // namespace fake

using namespace fake;

API cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, size_t bytes, void* stream) {
    MAY_FAIL;
    return enqueue({on_device(to, bytes), on_host(from, bytes), bytes, 1}, stream);
}

API cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, size_t bytes, void* stream) {
    MAY_FAIL;
    return enqueue({on_host(to, bytes), on_device(from, bytes), bytes, 1}, stream);
}

API cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, size_t bytes, void* stream) {
    MAY_FAIL;
    return enqueue({on_device(to, bytes), on_device(from, bytes), bytes, 1}, stream);
}

API cuMemcpyPeerAsync(DevicePointer to, void*, DevicePointer from, void*, size_t bytes, void* stream) {
    return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}

API cuMemcpyHtoD_v2(DevicePointer to, const void* from, size_t bytes) {
    return and_wait(cuMemcpyHtoDAsync_v2(to, from, bytes, nullptr));
}

API cuMemcpyDtoH_v2(void* to, DevicePointer from, size_t bytes) {
    MAY_FAIL;
    // The exports of a module are read when it is loaded; this copy is not counted and never made to fail.
    if (is_global(reinterpret_cast<void*>(from), bytes)) {
        std::memcpy(to, reinterpret_cast<void*>(from), bytes);
        return current_context() ? current_context()->sticky : INVALID_CONTEXT;
    }
    return and_wait(cuMemcpyDtoHAsync_v2(to, from, bytes, nullptr));
}

API cuMemcpyDtoD_v2(DevicePointer to, DevicePointer from, size_t bytes) {
    return and_wait(cuMemcpyDtoDAsync_v2(to, from, bytes, nullptr));
}

API cuMemcpy2DAsync_v2(const Descriptor* copy, void* stream) {
    MAY_FAIL;
    return enqueue_2d(*copy, stream);
}
API cuMemcpy2D_v2(const Descriptor* copy) { return and_wait(enqueue_2d(*copy, nullptr)); }
API cuMemcpy2DUnaligned_v2(const Descriptor* copy) { return and_wait(enqueue_2d(*copy, nullptr)); }

// Writes `bytes` bytes: a value of `size` bytes over and over.
static Result enqueue_fill(DevicePointer to, unsigned value, size_t size, size_t bytes, void* handle) {
    MAY_FAIL;
    Lock lock(driver.lock);
    Stream* stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (bytes == 0) return stream->context->sticky;
    char* at = reinterpret_cast<char*>(to);
    if (!is_named(at, bytes)) {
        complain("a fill of %zu bytes leaves its device allocation", bytes);
        return INVALID_VALUE;
    }
    if (to % size != 0) return INVALID_VALUE;
    ++driver.stats.memsets;
    Context* context = stream->context;
    return submit_counted(*stream, [=] {
        if (is_live(at, bytes)) {
            if (size == 1)
                std::memset(at, static_cast<int>(value), bytes);
            else
                std::fill_n(reinterpret_cast<unsigned*>(at), bytes / size, value);
        } else {
            complain("a fill ran before its device memory was allocated, or after it was released");
            context->sticky = ILLEGAL_ADDRESS;
        }
    });
}

API cuMemsetD8Async(DevicePointer to, unsigned char value, size_t bytes, void* stream) {
    return enqueue_fill(to, value, 1, bytes, stream);
}
API cuMemsetD32Async(DevicePointer to, unsigned value, size_t words, void* stream) {
    return enqueue_fill(to, value, 4, 4 * words, stream);
}

API cuMemsetD8_v2(DevicePointer to, unsigned char value, size_t bytes) {
    return and_wait(cuMemsetD8Async(to, value, bytes, nullptr));
}
