// Copies to shared memory that continue after the call: a kernel calls them instead of `cp.async`.
//
// Protocol. A copy is done at once or when it is waited for, alternating by thread and copy. A kernel that
// reads too early finds the old contents, and one that reuses the source or the destination too early is
// also detected. A copy that is never waited for is never done.
#pragma once
#include "fibers.h"
#include <algorithm>
#include <cstring>

namespace fake {

/// Copies `bytes` and zeros up to `size`.
inline void copy_async(void* to, const void* from, unsigned size, unsigned bytes) {
    const AsyncCopy copy{to, from, size, bytes, thread->committed};
    if ((thread->linear + ++thread->asked) % 3 == 0) {
        copy.happen();
    } else {
        thread->copies.push_back(copy);
    }
}

inline void copy_async_commit() { ++thread->committed; }

/// Waits until no more than `pending` of the thread's groups are in flight.
inline void copy_async_wait(unsigned pending) {
    auto& copies = thread->copies;
    const auto is_late = [=](const AsyncCopy& copy) { return copy.group + pending >= thread->committed; };
    const auto late = std::stable_partition(copies.begin(), copies.end(), is_late);
    for (auto copy = late; copy != copies.end(); ++copy) copy->happen();
    copies.erase(late, copies.end());
}

} // namespace fake
