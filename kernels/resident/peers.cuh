// The devices of a launch over several of them. Each has rows of L of its own, and the records and flags of all panels:
// what a panel publishes is stored in the memory of every device. All devices are in one address space.
//
// DISTRIBUTED is defined by kernels for several devices (sweep_distributed.cu). In the others nothing of this is left.
#pragma once
#include "common/flags.cuh"

constexpr int MAX_PEERS = 15;

// The argument of a kernel for several devices, as the host passes it.
struct Peers {
    int count;          // of the other devices
    int* taken;         // this device's counter of tasks
    const int* stop;    // in host memory; not zero if the launch is to end, because a device has failed
    // For each row block, the distance in scalars from an entry of L in a column-major matrix with the launch's stride,
    // to where it lies: row blocks lie one after the other, each with its columns up to its diagonal blocks.
    const long long* row_blocks;
    // For each of the other devices, the distances in bytes from a word here to the same word there, of records and of
    // flags.
    long long records[MAX_PEERS], flags[MAX_PEERS];
};

// The argument of solve_distributed.cu, likewise.
struct SolvePeers {
    int count, devices;
    int* taken;
    const int* stop;
    const int* own;  // forward: the panels of this device, ascending
    // Backward: this device's tasks in their order, each a panel and, from bit 16 on, a block of `together` panels that a
    // device has at a time. The tasks of a device go through the rows of its own blocks.
    const unsigned* backward;
    long long together;
    // Backward: of each panel, the sums that a task leaves for the next one, and how many panels they have gone through; and for
    // each device, the distance from these words to those there, in bytes.
    double* sums;
    int* summed;
    long long sums_there[MAX_PEERS + 1], summed_there[MAX_PEERS + 1];
    long long solved[MAX_PEERS];  // from a word of a solution here to the same word there, in bytes
};

// Bits of the counter of tasks once the launch is to end: no task has such a number.
constexpr int STOPPED = 1 << 30;

#ifdef DISTRIBUTED
constexpr bool IS_DISTRIBUTED = true;

template <class Word>
__device__ __forceinline__ Word* there(Word* at, long long distance) {
    return (Word*)((char*)at + distance);
}

// Stores a word of a record on the other devices. The thread, or another one after a barrier, publishes it by a flag.
__device__ __forceinline__ void store_there(const Peers* peers, double* at, double x) {
#pragma unroll 1
    for (int p = 0; p < peers->count; ++p) *there(at, peers->records[p]) = x;
}
// Stores words of a payload there.
__device__ __forceinline__ void publish_there(const Peers* peers, double* at, double x) {
#pragma unroll 1
    for (int p = 0; p < peers->count; ++p) store_relaxed(there(at, peers->records[p]), x);
}
__device__ __forceinline__ void publish_there(const Peers* peers, double* at, double x, double y) {
#pragma unroll 1
    for (int p = 0; p < peers->count; ++p) store_relaxed(there(at, peers->records[p]), x, y);
}
// By one thread: sets a flag there, as store_release does.
__device__ __forceinline__ void publish_flag_there(const Peers* peers, int* at, int x) {
    __threadfence_system();
#pragma unroll 1
    for (int p = 0; p < peers->count; ++p) store_relaxed(there(at, peers->flags[p]), x);
}

// Stores a word of a solution there.
__device__ __forceinline__ void publish_solution_there(const SolvePeers* peers, double* at, double x) {
#pragma unroll 1
    for (int p = 0; p < peers->count; ++p) store_relaxed(there(at, peers->solved[p]), x);
}

// Whether a thread that polls is to give up. Host memory is read rarely. A thread that finds the launch to end lets no
// more tasks begin; what tasks compute from then on is not used.
template <class P>
struct Waiting {
    static constexpr unsigned EACH = POLLS_BETWEEN_STOPS;
    const P* peers;
    unsigned polls = 0;

    __device__ __forceinline__ explicit Waiting(const P* peers) : peers(peers) {}
    __device__ __forceinline__ bool ends() {
        if (++polls % EACH != 0 || load_system(peers->stop) == 0) return false;
        atomicOr(peers->taken, STOPPED);
        return true;
    }
};
#else
constexpr bool IS_DISTRIBUTED = false;
__device__ __forceinline__ void store_there(const Peers*, double*, double) {}
__device__ __forceinline__ void publish_there(const Peers*, double*, double) {}
__device__ __forceinline__ void publish_there(const Peers*, double*, double, double) {}
__device__ __forceinline__ void publish_flag_there(const Peers*, int*, int) {}
__device__ __forceinline__ void publish_solution_there(const SolvePeers*, double*, double) {}
template <class P>
struct Waiting {
    __device__ __forceinline__ explicit Waiting(const P*) {}
    __device__ __forceinline__ bool ends() { return false; }
};
#endif

// Polls a flag until it is at least `least`, or the launch is to end; returns its value.
__device__ __forceinline__ int poll_flag(const Peers* peers, const int* flag, int least) {
    Waiting waiting(peers);
    for (;;) {
        const int found = load_acquire(flag);
        if (found >= least || waiting.ends()) return found;
        spin_pause();
    }
}
