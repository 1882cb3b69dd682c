// Copies to shared memory that go on after the call: what a kernel calls in the place of `cp.async`.
//
// Protocol. A copy happens at once or when it is waited for, by turns of thread and copy: a kernel that reads too
// early finds what was there before, and one that reuses the source or the place too early is found as well. What is
// never waited for never happens.
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

/// Until no more than `pending` of the thread's groups are in flight.
inline void copy_async_wait(unsigned pending) {
    auto& copies = thread->copies;
    const auto is_late = [=](const AsyncCopy& copy) { return copy.group + pending >= thread->committed; };
    const auto late = std::stable_partition(copies.begin(), copies.end(), is_late);
    for (auto copy = late; copy != copies.end(); ++copy) copy->happen();
    copies.erase(late, copies.end());
}

} // namespace fake
