// How thread blocks of one launch wait for each other: flags and published payloads in global memory.
//
// A block writes its data, and then publishes it with a release store to a flag. A block that reads the flag with an
// acquire load sees that data. A payload is data that shows by itself whether it has been written: it is read and
// written with relaxed accesses and without a flag (resident/payload.cuh).
#pragma once

#ifdef FAKE_CUDA
inline int load_acquire(const int* at) { return *(const volatile int*)at; }
inline void store_release(int* at, int x) { *(volatile int*)at = x; }
inline void add_release(int* at, int x) { *(volatile int*)at += x; }
inline void store_relaxed(double* at, double x) { *(volatile double*)at = x; }
inline double load_relaxed(const double* at) { return *(const volatile double*)at; }
inline void load_relaxed(const double* at, double& x, double& y) {
    x = load_relaxed(at);
    y = load_relaxed(at + 1);
}
inline int barrier_count(bool x) { return __syncthreads_count(x); }
inline void spin_pause() { __nanosleep(0); }
#else
// Reads a flag. All that its writer wrote before the release store that this load reads is visible afterwards.
__device__ __forceinline__ int load_acquire(const int* at) {
    int x;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(x) : "l"(at) : "memory");
    return x;
}
__device__ __forceinline__ void store_release(int* at, int x) {
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(at), "r"(x) : "memory");
}
// Adds to a counting flag: a reader that finds the complete sum sees what every adder wrote before its addition.
__device__ __forceinline__ void add_release(int* at, int x) {
    asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(at), "r"(x) : "memory");
}

// Payload words, one or two neighbours. They do not order other writes of the same thread.
__device__ __forceinline__ void store_relaxed(double* at, double x) {
    asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(at), "d"(x) : "memory");
}
__device__ __forceinline__ double load_relaxed(const double* at) {
    double x;
    asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(x) : "l"(at) : "memory");
    return x;
}
__device__ __forceinline__ void load_relaxed(const double* at, double& x, double& y) {
    asm volatile("ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%2];" : "=d"(x), "=d"(y) : "l"(at) : "memory");
}

// A barrier of the block that its warps may reach at different places in the code. Returns the number of threads for
// which x is true.
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
#endif

// Polls a flag until it is at least `least`; returns its value.
__device__ __forceinline__ int poll_flag(const int* flag, int least) {
    for (;;) {
        const int found = load_acquire(flag);
        if (found >= least) return found;
        spin_pause();
    }
}
