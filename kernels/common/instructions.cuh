// Instructions that CUDA C++ has no name for, as inline PTX; FAKE_CUDA supplies products and copies, and the others
// are plain arithmetic, loads and stores there.
#pragma once

#ifdef FAKE_CUDA
using fake::mma_m16n8k16_f64;
using fake::mma_m8n8k4_f64;

inline void mma_m16n8k8_f64(double (&c)[4], const double (&a)[2][2], const double (&b)[2]) {
    for (int s = 0; s < 2; ++s) {
        mma_m8n8k4_f64(c[0], c[1], a[s][0], b[s]);
        mma_m8n8k4_f64(c[2], c[3], a[s][1], b[s]);
    }
}

template <int BYTES>
void copy_async(void* shared, const void* global, int bytes) {
    fake::copy_async(shared, global, BYTES, bytes);
}
inline void copy_async_16(void* shared, const void* global) { fake::copy_async(shared, global, 16, 16); }
inline void copy_async_commit() { fake::copy_async_commit(); }
inline void copy_async_wait_all() { fake::copy_async_wait(0); }
inline void copy_async_wait_but_one() { fake::copy_async_wait(1); }
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
inline void pause() { __nanosleep(0); }
inline void prefetch_l2(const void*) {}
inline void forget(long long&) {}
inline double reciprocal_root(double x) { return 1 / std::sqrt(x); }
inline double reciprocal(double x) { return 1 / x; }
#else
// C (8 x 8) += A (8 x 4) B (4 x 8) by a full warp: lane l has a of row l / 4, column l % 4, b of row l % 4,
// column l / 4, and c0, c1 of row l / 4, columns 2 (l % 4) and 2 (l % 4) + 1.
__device__ __forceinline__ void mma_m8n8k4_f64(double& c0, double& c1, double a, double b) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c0), "+d"(c1)
        : "d"(a), "d"(b));
}

// The same for two tiles of A and C, rows l / 4 and l / 4 + 8, and four of the sum, columns l % 4 + 4 s of A: from
// compute capability 9.0 on one instruction, in half the time.
__device__ __forceinline__ void mma_m16n8k16_f64(double (&c)[4], const double (&a)[4][2],
                                                 const double (&b)[4]) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, "
        "%11}, "
        "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0][0]), "d"(a[0][1]), "d"(a[1][0]), "d"(a[1][1]), "d"(a[2][0]), "d"(a[2][1]), "d"(a[3][0]),
          "d"(a[3][1]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
#pragma unroll
    for (int s = 0; s < 4; ++s) {
        mma_m8n8k4_f64(c[0], c[1], a[s][0], b[s]);
        mma_m8n8k4_f64(c[2], c[3], a[s][1], b[s]);
    }
#endif
}

// The same for two of the sum's fours.
__device__ __forceinline__ void mma_m16n8k8_f64(double (&c)[4], const double (&a)[2][2],
                                                const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0][0]), "d"(a[0][1]), "d"(a[1][0]), "d"(a[1][1]), "d"(b[0]), "d"(b[1]));
#else
#pragma unroll
    for (int s = 0; s < 2; ++s) {
        mma_m8n8k4_f64(c[0], c[1], a[s][0], b[s]);
        mma_m8n8k4_f64(c[2], c[3], a[s][1], b[s]);
    }
#endif
}

// Copies BYTES (4, 8 or 16, and so aligned) to shared memory, those behind the first `bytes` as zeros, some time
// before the copies committed so far have been waited for.
template <int BYTES>
__device__ __forceinline__ void copy_async(void* shared, const void* global, int bytes) {
    const unsigned to = (unsigned)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global), "n"(BYTES),
                 "r"(bytes)
                 : "memory");
}
// Copies 16 bytes to shared memory, some time before the copies committed so far have been waited for.
__device__ __forceinline__ void copy_async_16(void* shared, const void* global) {
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(shared)),
        "l"(global)
        : "memory");
}
__device__ __forceinline__ void copy_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ __forceinline__ void copy_async_wait_all() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }
__device__ __forceinline__ void copy_async_wait_but_one() {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
}

// A word that blocks tell each other by: what was written before it was stored is there once it has been found.
__device__ __forceinline__ int load_acquire(const int* at) {
    int x;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(x) : "l"(at) : "memory");
    return x;
}
__device__ __forceinline__ void store_release(int* at, int x) {
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(at), "r"(x) : "memory");
}
// The same for the sum of what is added.
__device__ __forceinline__ void add_release(int* at, int x) {
    asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(at), "r"(x) : "memory");
}
// A word, or two neighbours, that are all there is to tell: nothing is said of what else was written.
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
// A barrier of the block, which warps may meet at different places of the code; how many threads bring a true x.
__device__ __forceinline__ int barrier_count(bool x) {
    int count;
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %1, 0;\n\tbar.red.popc.u32 %0, 0, p;\n\t}"
                 : "=r"(count)
                 : "r"((int)x)
                 : "memory");
    return count;
}
// While waiting; the fake driver has another block go on.
__device__ __forceinline__ void pause() {}

// Has a line of global memory brought to the second cache.
__device__ __forceinline__ void prefetch_l2(const void* at) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}

// The compiler keeps nothing that it has made of x.
__device__ __forceinline__ void forget(long long& x) { asm volatile("" : "+l"(x)); }

// 1 / sqrt(x) and 1 / x to an ulp or two, for x that are normal and whose results are: without the branches that
// others need.
__device__ __forceinline__ double reciprocal_root(double x) {
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    const double e = fma(-x * y, y, 1.0);
    return fma(fma(e, 0.375, 0.5), e * y, y);
}
__device__ __forceinline__ double reciprocal(double x) {
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    const double e = fma(-x, y, 1.0);
    return fma(fma(e, e, e), y, y);
}
#endif
