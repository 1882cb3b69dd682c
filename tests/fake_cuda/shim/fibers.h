// Fibers: how one CUDA block runs on one host thread.
//
// Protocol. Every CUDA thread is a function call. It runs on a stack of its own only from the moment that it
// blocks: the scheduler starts threads one after another on one stack, and as soon as one of them has to wait
// (a barrier, a warp collective, a nap), that stack is left to it and the next thread starts on a fresh one.
// A kernel that never blocks thus costs one function call a thread.
//
// Threads start and resume in a seeded random order, one at a time, so nothing here is atomic and a seed
// replays a run. Blocks run one after another in random order; a block in which threads nap (`__nanosleep`),
// and the others come no further than to the next warp collective, is put aside with its shared memory, and so
// are some, at random, in the middle of their work; and the others run: blocks that wait for each other through
// global memory therefore make progress, provided that their spin loops nap, and one that does not wait is
// found out.
//
// A barrier or collective that can never complete is an error of the launch, not a hang.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
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

/// Gives every lane its result; `lanes[l]` is null where lane l takes no part.
using Combine = void (*)(Thread* const* lanes);

/// A copy to shared memory that has been asked for.
struct AsyncCopy {
    void* to;
    const void* from;
    unsigned size, bytes; // in all, and of them not zeros
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

    // The warp collective it waits at, with what it brings and what it takes away.
    int kind;
    unsigned mask;
    Combine combine;
    int source;
    uint64_t in[2], out[2];

    std::vector<AsyncCopy> copies;  // asked for, not yet done
    unsigned committed, asked; // groups of copies, copies
};

/// One CUDA block.
struct Block {
    uint3 index;
    dim3 size, grid;
    Thread* threads;
    unsigned count, alive, unstarted; // threads in all, not done, not yet started
    unsigned at_barrier, tally, tally_at_release; // threads at the barrier, and the predicates they brought
    unsigned at_warp;                             // threads at warp collectives
    unsigned char* dynamic_shared;
    const char* error; // why the launch fails
};

/// What runs now.
extern Block* block;
extern Thread* thread;

/// Waits for all threads of the block that have not returned; how many of them brought `predicate`.
unsigned barrier(bool predicate);

/// Waits for the lanes of `mask` that have not returned; the last one to arrive calls `combine` for all of
/// them.
void collective(int kind, unsigned mask, Combine combine);

/// Lets the other threads and blocks run.
void nap();

struct Launch {
    void (*call)(void* arguments);
    void* arguments;
    dim3 grid, block;
    size_t dynamic_shared;
    unsigned seed;
};

/// Runs a whole grid; null, or why it failed.
const char* run_grid(const Launch& launch);

} // namespace fake
