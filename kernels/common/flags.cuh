// How thread blocks of one launch wait for each other: flags and published payloads in global memory.
//
// A block writes its data, and then publishes it with a release store to a flag. A block that reads the flag with an
// acquire load sees that data. A payload is data that shows by itself whether it has been written: it is read and
// written with relaxed accesses and without a flag (resident/payload.cuh).
//
// Blocks of a launch over several devices (DISTRIBUTED) wait for blocks on other devices as well.
#pragma once

// Other threads that may have written what a thread reads, and may read what it writes without a flag.
#ifdef DISTRIBUTED
#define SCOPE "sys"
#else
#define SCOPE "gpu"
#endif

#ifdef FAKE_CUDA
inline int load_acquire(const int* at) { return *(const volatile int*)at; }
inline void store_release(int* at, int x) { *(volatile int*)at = x; }
inline void add_release(int* at, int x) { *(volatile int*)at += x; }
inline void store_relaxed(double* at, double x) { *(volatile double*)at = x; }
inline void store_relaxed(double* at, double x, double y) {
    store_relaxed(at, x);
    store_relaxed(at + 1, y);
}
inline void store_relaxed(int* at, int x) { *(volatile int*)at = x; }
inline double load_relaxed(const double* at) { return *(const volatile double*)at; }
inline void load_relaxed(const double* at, double& x, double& y) {
    x = load_relaxed(at);
    y = load_relaxed(at + 1);
}
inline int barrier_count(bool x) { return __syncthreads_count(x); }
inline void spin_pause() { __nanosleep(0); }
inline int load_system(const int* at) { return *(const volatile int*)at; }
constexpr unsigned POLLS_BETWEEN_STOPS = 16;
#else
// Reads a flag. All that its writer wrote before the release store that this load reads is visible afterwards.
__device__ __forceinline__ int load_acquire(const int* at) {
    int x;
    asm volatile("ld.acquire." SCOPE ".global.s32 %0, [%1];" : "=r"(x) : "l"(at) : "memory");
    return x;
}
__device__ __forceinline__ void store_release(int* at, int x) {
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(at), "r"(x) : "memory");
}
// Adds to a counting flag: a reader that finds the complete sum sees what every adder wrote before its addition.
__device__ __forceinline__ void add_release(int* at, int x) {
    asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(at), "r"(x) : "memory");
}

// Words that do not order other writes of the same thread: of a payload, one or two neighbours; or a flag behind a fence.
__device__ __forceinline__ void store_relaxed(double* at, double x) {
    asm volatile("st.relaxed." SCOPE ".global.f64 [%0], %1;" ::"l"(at), "d"(x) : "memory");
}
__device__ __forceinline__ void store_relaxed(double* at, double x, double y) {
    asm volatile("st.relaxed." SCOPE ".global.v2.f64 [%0], {%1, %2};" ::"l"(at), "d"(x), "d"(y) : "memory");
}
__device__ __forceinline__ void store_relaxed(int* at, int x) {
    asm volatile("st.relaxed." SCOPE ".global.s32 [%0], %1;" ::"l"(at), "r"(x) : "memory");
}
__device__ __forceinline__ double load_relaxed(const double* at) {
    double x;
    asm volatile("ld.relaxed." SCOPE ".global.f64 %0, [%1];" : "=d"(x) : "l"(at) : "memory");
    return x;
}
__device__ __forceinline__ void load_relaxed(const double* at, double& x, double& y) {
    asm volatile("ld.relaxed." SCOPE ".global.v2.f64 {%0, %1}, [%2];" : "=d"(x), "=d"(y) : "l"(at) : "memory");
}

// A barrier of the block that its warps may reach at different places in the code. Returns the number of threads for
// which x is true. compute-sanitizer's synccheck reports such warps as divergent threads of the block.
__device__ __forceinline__ int barrier_count(bool x) {
    int count;
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %1, 0;\n\tbar.red.popc.u32 %0, 0, p;\n\t}"
                 : "=r"(count)
                 : "r"((int)x)
                 : "memory");
    return count;
}
// Called in waiting loops; on the fake driver it lets another block run.
__device__ __forceinline__ void spin_pause() {}
// Reads a word of host memory.
__device__ __forceinline__ int load_system(const int* at) {
    int x;
    asm volatile("ld.relaxed.sys.s32 %0, [%1];" : "=r"(x) : "l"(at) : "memory");
    return x;
}
// Polls between two reads of a word of host memory, each of which takes longer than some polls.
constexpr unsigned POLLS_BETWEEN_STOPS = 1024;
#endif
