// Fibers: run one CUDA block on one host thread.
//
// Protocol. Every CUDA thread is a function call. It has a stack of its own only once it blocks: the
// scheduler starts threads one after another on one stack. As soon as one of them has to wait (a barrier, a
// warp collective, a nap), it keeps that stack and the next thread starts on a new one. A kernel that never
// blocks thus costs one function call a thread.
//
// Threads start and resume in a seeded random order, one at a time, so nothing here is atomic and a seed
// reproduces a run. Blocks run one after another in random order. A block in which threads nap
// (`__nanosleep`), and the others reach at most the next warp collective, is suspended with its shared
// memory, and the other blocks run. Some blocks are also suspended at random in the middle of their work.
// Blocks that wait for each other through global memory therefore make progress, provided that their spin
// loops nap, and a missing wait is detected.
//
// A barrier or collective that can never complete is an error of the launch, not a hang.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

namespace fake {

enum class State : unsigned char { Unstarted, Ready, AtBarrier, AtWarp, Done };

struct Thread;
struct Stack;

/// Computes every lane's result; `lanes[l]` is null if lane l takes no part.
using Combine = void (*)(Thread* const* lanes);

/// A requested copy to shared memory.
struct AsyncCopy {
    void* to;
    const void* from;
    unsigned size, bytes; // in total, and of them copied bytes
    unsigned group;

    void happen() const {
        std::memset(to, 0, size);
        std::memcpy(to, from, bytes);
    }
};

/// One CUDA thread.
struct Thread {
    uint3 index;
    unsigned linear;
    State state;
    bool napping;
    Stack* stack; // null before the start

    // The warp collective at which it waits, with its operand and its result.
    int kind;
    unsigned mask;
    Combine combine;
    int source;
    uint64_t in[2], out[2];

    std::vector<AsyncCopy> copies;  // requested, not yet done
    unsigned committed, asked; // groups of copies, copies
};

/// The lanes of a warp, one bit each; those beyond the last thread of the block are done.
struct Warp {
    unsigned waiting, done; // at a collective, and returned
};

/// One CUDA block.
struct Block {
    uint3 index;
    dim3 size, grid;
    Thread* threads;
    Warp* warps;
    unsigned count, alive, unstarted; // threads in total, not done, not yet started
    unsigned at_barrier, tally, tally_at_release; // threads at the barrier, and their true predicates
    unsigned at_warp;                             // threads at warp collectives
    unsigned char* dynamic_shared;
    const char* error; // why the launch fails
};

/// The running block and thread.
extern Block* block;
extern Thread* thread;

/// Waits for all threads of the block that have not returned. Returns the number of true predicates.
unsigned barrier(bool predicate);

/// Waits for the lanes of `mask` that have not returned; the last one to arrive calls `combine` for all of
/// them.
void collective(int kind, unsigned mask, Combine combine);

/// Lets the other threads and blocks run.
void nap();

struct Bytes {
    unsigned char* begin;
    size_t count;
};

struct Launch {
    void (*call)(void* arguments);
    void* arguments;
    Bytes (*shared)(); // the calling thread's static shared memory of this kernel and of others
    dim3 grid, block;
    size_t dynamic_shared;
    unsigned seed;
};

/// A grid in progress. It is run in parts, because its blocks may wait for those of a launch on another device.
struct Grid;
enum class Progress { Waiting, Finished, Failed };

/// The launch and its arguments exist as long as the grid.
std::shared_ptr<Grid> begin_grid(const Launch& launch);

/// Runs blocks until all have finished, one has failed, or those that are left have waited for a while. `error` becomes the
/// reason of a failure.
Progress run_grid(Grid& grid, const char** error);

} // namespace fake
