// Device memory, which is host memory with checks for mistakes, and page-locked host memory.
//
// Protocol. Fresh memory is NaN in both precisions, in words that differ from each other and from
// allocation to allocation. No word is a likely integer, and none has all bits set, because a program may
// fill polled memory with such words. Released memory is 0xDD. Each allocation lies between two guards of
// NaN that every launch checks afterwards. An allocation has two lives: the program may name it from the
// call that allocates to the call that releases; operations may use it from when the stream has run the one
// to when it has run the other. Released memory stays mapped for a while, so that a late access hits 0xDD
// and not another allocation.
#include "driver.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace fake {

namespace {

constexpr int RELEASED = 0xDD;
constexpr size_t GUARD = 256, QUARANTINE_BYTES = size_t(64) << 20;

struct Allocation {
    Context* context;
    size_t bytes;
    uint32_t salt; // of its initial contents
    bool named, live;
};

struct Quarantined {
    char* at;
    size_t bytes;
};

std::map<char*, Allocation> allocations;
struct Pinned {
    size_t bytes;
    bool registered; // otherwise allocated here
};

std::map<char*, Pinned> pinned;
std::deque<Quarantined> quarantine;
size_t quarantined_bytes = 0;

/// The entry of `ranges` that starts at or before `at`.
template <class Map> typename Map::iterator range_before(Map& ranges, const void* at) {
    auto after = ranges.upper_bound(static_cast<char*>(const_cast<void*>(at)));
    return after == ranges.begin() ? ranges.end() : std::prev(after);
}

const Allocation* allocation_of(const void* at, size_t bytes) {
    const auto found = range_before(allocations, at);
    if (found == allocations.end()) return nullptr;
    const size_t offset = static_cast<size_t>(static_cast<const char*>(at) - found->first);
    const size_t size = found->second.bytes;
    return offset <= size && bytes <= size - offset ? &found->second : nullptr;
}

/// The contents of fresh memory, in whole words: 0x7FF0.... to 0x7FF7...., so that a word is a NaN of
/// single precision, two words are a signalling NaN of double precision, and neither is an address.
void make_fresh(char* at, size_t bytes, uint32_t salt) {
    for (uint32_t index = 0; index < (bytes + 3) / 4; ++index) {
        const uint32_t word = 0x7FF00000u | ((salt + index) * 2654435761u >> 13);
        std::memcpy(at + size_t(index) * 4, &word, 4);
    }
}

/// GUARD bytes of a guard.
const char* guard() {
    static const std::vector<char> whole = [] {
        std::vector<char> bytes(GUARD);
        make_fresh(bytes.data(), GUARD, 0);
        return bytes;
    }();
    return whole.data();
}

/// `bytes`, at most GUARD, that end where a guard does.
void guard_end(char* at, size_t bytes) { std::memcpy(at, guard() + GUARD - bytes, bytes); }
bool is_guard_end(const char* at, size_t bytes) {
    return std::memcmp(at, guard() + GUARD - bytes, bytes) == 0;
}

uint32_t next_salt() {
    static uint32_t last = 0;
    return last += 0x10001;
}

Result allocate(DevicePointer* out, size_t bytes, bool live) {
    Context* context = current_context();
    if (!context) return INVALID_CONTEXT;
    if (context->sticky != SUCCESS) return context->sticky;
    if (bytes == 0) return INVALID_VALUE;
    const size_t limit = driver.memory_bytes();
    if (bytes > limit) return OUT_OF_MEMORY;
    if (driver.stats.live_bytes + bytes > limit) {
        // Releases may be queued, and the driver's pool would reuse their memory.
        if (const Result failed = synchronize_context(*context)) return failed;
        if (driver.stats.live_bytes + bytes > limit) return OUT_OF_MEMORY;
    }
    const size_t padded = (bytes + GUARD - 1) / GUARD * GUARD;
    char* block = static_cast<char*>(std::aligned_alloc(GUARD, padded + 2 * GUARD));
    if (!block) return OUT_OF_MEMORY;
    const uint32_t salt = next_salt();
    make_fresh(block + GUARD, bytes, salt);
    guard_end(block, GUARD);
    guard_end(block + GUARD + bytes, padded - bytes);
    guard_end(block + GUARD + padded, GUARD);
    allocations[block + GUARD] = {context, bytes, salt, true, live};
    driver.stats.live_bytes += bytes;
    driver.stats.peak_bytes = std::max(driver.stats.peak_bytes, driver.stats.live_bytes);
    ++driver.stats.live_allocations;
    *out = reinterpret_cast<DevicePointer>(block + GUARD);
    return SUCCESS;
}

void release(char* at) {
    const auto found = allocations.find(at);
    if (found == allocations.end()) return; // its context was destroyed meanwhile
    const size_t bytes = found->second.bytes;
    allocations.erase(found);
    std::memset(at, RELEASED, bytes);
    driver.stats.live_bytes -= bytes;
    --driver.stats.live_allocations;
    quarantine.push_back({at, bytes});
    for (quarantined_bytes += bytes; quarantined_bytes > QUARANTINE_BYTES; quarantine.pop_front()) {
        const Quarantined oldest = quarantine.front();
        const auto written = [](char byte) { return byte != char(RELEASED); };
        if (std::any_of(oldest.at, oldest.at + oldest.bytes, written)) {
            complain("device memory was written after its release");
        }
        quarantined_bytes -= oldest.bytes;
        std::free(oldest.at - GUARD);
    }
}

/// Ends the program's use of an allocation.
Result forget(DevicePointer pointer, char** at) {
    *at = reinterpret_cast<char*>(pointer);
    const auto found = allocations.find(*at);
    if (found == allocations.end() || !found->second.named) {
        complain("release of device memory that is not allocated");
        return INVALID_VALUE;
    }
    found->second.named = false;
    return SUCCESS;
}

} // namespace

bool is_named(const void* at, size_t bytes) {
    const Allocation* allocation = allocation_of(at, bytes);
    return allocation && allocation->named;
}

bool is_live(const void* at, size_t bytes) {
    const Allocation* allocation = allocation_of(at, bytes);
    return allocation && allocation->live;
}

bool is_pinned(const void* at, size_t bytes) {
    const auto found = range_before(pinned, at);
    if (found == pinned.end()) return false;
    return static_cast<const char*>(at) + bytes <= found->first + found->second.bytes;
}

bool guards_are_whole(const char* kernel) {
    for (const auto& [at, allocation] : allocations) {
        const char* end = at + allocation.bytes;
        const char* rest = at + (allocation.bytes + GUARD - 1) / GUARD * GUARD;
        const size_t padding = static_cast<size_t>(rest - end);
        if (is_guard_end(at - GUARD, GUARD) && is_guard_end(end, padding) && is_guard_end(rest, GUARD)) continue;
        complain("kernel %s wrote outside of an allocation of %zu bytes", kernel, allocation.bytes);
        guard_end(at - GUARD, GUARD); // so that the next launch does not report it again
        guard_end(const_cast<char*>(end), padding);
        guard_end(const_cast<char*>(rest), GUARD);
        return false;
    }
    return true;
}

void free_all(Context& context) {
    std::vector<char*> left;
    for (const auto& [at, allocation] : allocations) {
        if (allocation.context == &context) left.push_back(at);
    }
    for (char* at : left) release(at);
}

} // namespace fake

using namespace fake;

API cuMemAlloc_v2(DevicePointer* out, size_t bytes) {
    MAY_FAIL;
    Lock lock(driver.lock);
    return allocate(out, bytes, true);
}

API cuMemAllocAsync(DevicePointer* out, size_t bytes, void* handle) {
    Lock lock(driver.lock);
    Stream* stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (const Result failed = allocate(out, bytes, false)) return failed;
    char* at = reinterpret_cast<char*>(*out);
    return submit(*stream, [=] {
        const auto found = allocations.find(at);
        if (found == allocations.end()) return complain("memory was released before its stream allocated it");
        Allocation& allocation = found->second;
        make_fresh(at, bytes, allocation.salt); // an early write by another stream is lost
        guard_end(at + bytes, (bytes + GUARD - 1) / GUARD * GUARD - bytes);
        allocation.live = true;
    });
}

API cuMemFree_v2(DevicePointer pointer) {
    MAY_FAIL;
    Lock lock(driver.lock);
    if (!pointer) return SUCCESS;
    if (!current_context()) return INVALID_CONTEXT;
    ++driver.stats.device_synchronizations;
    const Result result = synchronize_context(*current_context());
    char* at;
    if (const Result failed = forget(pointer, &at)) return failed;
    release(at);
    return result;
}

API cuMemFreeAsync(DevicePointer pointer, void* handle) {
    Lock lock(driver.lock);
    if (!pointer) return SUCCESS;
    Stream* stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    char* at;
    if (const Result failed = forget(pointer, &at)) return failed;
    return submit_release(*stream, [at] { release(at); });
}

API cuMemHostAlloc(void** out, size_t bytes, unsigned) {
    MAY_FAIL;
    Lock lock(driver.lock);
    if (!current_context()) return INVALID_CONTEXT;
    *out = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096 + 4096);
    if (!*out) return OUT_OF_MEMORY;
    make_fresh(static_cast<char*>(*out), bytes, next_salt());
    pinned[static_cast<char*>(*out)] = {bytes, false};
    driver.stats.pinned_bytes += bytes;
    return current_context()->sticky;
}

API cuMemHostRegister_v2(void* at, size_t bytes, unsigned) {
    Lock lock(driver.lock);
    if (!current_context()) return INVALID_CONTEXT;
    if (bytes == 0) return INVALID_VALUE;
    const auto before = range_before(pinned, static_cast<char*>(at) + bytes - 1);
    if (before != pinned.end() && before->first + before->second.bytes > at) {
        return HOST_MEMORY_ALREADY_REGISTERED;
    }
    pinned[static_cast<char*>(at)] = {bytes, true};
    driver.stats.pinned_bytes += bytes;
    return current_context()->sticky;
}

/// Waits for the device, then ends the page lock of the range that starts at `at`.
static Result unpin(void* at, bool registered) {
    if (!current_context()) return INVALID_CONTEXT;
    const auto found = pinned.find(static_cast<char*>(at));
    if (found == pinned.end() || found->second.registered != registered) {
        return registered ? HOST_MEMORY_NOT_REGISTERED : INVALID_VALUE;
    }
    ++driver.stats.device_synchronizations;
    const Result result = synchronize_context(*current_context());
    driver.stats.pinned_bytes -= found->second.bytes;
    pinned.erase(found);
    if (!registered) std::free(at);
    return result;
}

API cuMemHostUnregister(void* at) {
    Lock lock(driver.lock);
    return unpin(at, true);
}

API cuMemFreeHost(void* at) {
    MAY_FAIL;
    Lock lock(driver.lock);
    return unpin(at, false);
}

API cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
    MAY_FAIL;
    Lock lock(driver.lock);
    *total_bytes = driver.memory_bytes();
    *free_bytes = *total_bytes - std::min(*total_bytes, size_t(driver.stats.live_bytes));
    return current_context() ? current_context()->sticky : INVALID_CONTEXT;
}
