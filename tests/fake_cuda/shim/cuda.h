// The CUDA language for g++: the definitions with which a `.cu` file compiles as C++17 and runs on fibers.
//
// Protocol. The build includes this header before each `.cu` file and the file itself inside an unnamed
// namespace, so that two files may define the same template or constant. Kernels see `FAKE_CUDA` and may
// ask for it where they use inline PTX. Shared memory is NaN at the start of a launch (save a variable that
// no line of the file writes: to the compiler it is 0). Additions to the language:
//   - `extern __shared__ T name[];` is written DYNAMIC_SHARED(T, name);
//   - an alignment of a shared variable is written `__align__(n)`;
//   - a loop that spins on global memory calls `__nanosleep`;
//   - products and sums are not contracted: a kernel that wants an fma says `fma`;
//   - `__device__` and `__constant__` variables keep their values; the driver finds those that the build registers
//     (kernel.h), for reading.
#pragma once
#define FAKE_CUDA 1
#include "async.h"
#include "fibers.h"
#include "inexact.h"
#include "kernel.h"
#include "warp.h"
#include <climits>
#include <cmath>
#include <ctime>

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ static thread_local // grid.cpp: the thread-local segment is the static shared memory
#define DYNAMIC_SHARED(type, name) type* const name = reinterpret_cast<type*>(fake::block->dynamic_shared)

#define threadIdx (fake::thread->index)
#define blockIdx (fake::block->index)
#define blockDim (fake::block->size)
#define gridDim (fake::block->grid)
constexpr int warpSize = 32;

// Vectors.

#define FAKE_VECTORS(type, name)                                                                             \
    struct __align__(2 * sizeof(type)) name##2 {                                                             \
        type x, y;                                                                                           \
    };                                                                                                       \
    struct __align__(sizeof(type) < 8 ? 4 * sizeof(type) : 16) name##4 {                                     \
        type x, y, z, w;                                                                                     \
    };                                                                                                       \
    inline name##2 make_##name##2(type x, type y) { return {x, y}; }                                         \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
FAKE_VECTORS(float, float)
FAKE_VECTORS(double, double)
FAKE_VECTORS(int, int)
FAKE_VECTORS(unsigned, uint)
#undef FAKE_VECTORS

// Barriers and fences. One thread runs at a time, so a fence has nothing to order.

inline void __syncthreads() { fake::barrier(false); }
inline int __syncthreads_count(int predicate) { return int(fake::barrier(predicate != 0)); }
inline int __syncthreads_or(int predicate) { return fake::barrier(predicate != 0) != 0; }
inline int __syncthreads_and(int predicate) { return fake::barrier(predicate == 0) == 0; }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned) { fake::nap(); }
inline long long clock64() { return std::clock(); }

// Loads and stores with a cache hint.

template <class T> T __ldg(const T* from) { return *from; }
template <class T> T __ldcg(const T* from) { return *from; }
template <class T> T __ldcs(const T* from) { return *from; }
template <class T> T __ldca(const T* from) { return *from; }
template <class T> void __stcg(T* to, T value) { *to = value; }
template <class T> void __stcs(T* to, T value) { *to = value; }
template <class T> void __stwt(T* to, T value) { *to = value; }

// Atomics, which are plain operations for the same reason. Each returns the old value.

template <class T, class Change> T fake_atomic(T* at, Change change) {
    const T was = *at;
    *at = change(was);
    return was;
}
template <class T> struct fake_same { // T is deduced from the pointer alone
    using type = T;
};
template <class T> using FakeSame = typename fake_same<T>::type;
template <class T> T atomicAdd(T* at, FakeSame<T> x) {
    return fake_atomic(at, [=](T was) { return T(was + x); });
}
template <class T> T atomicSub(T* at, FakeSame<T> x) {
    return fake_atomic(at, [=](T was) { return T(was - x); });
}
template <class T> T atomicExch(T* at, FakeSame<T> x) {
    return fake_atomic(at, [=](T) { return x; });
}
template <class T> T atomicOr(T* at, FakeSame<T> x) {
    return fake_atomic(at, [=](T was) { return T(was | x); });
}
template <class T> T atomicAnd(T* at, FakeSame<T> x) {
    return fake_atomic(at, [=](T was) { return T(was & x); });
}
template <class T> T atomicMax(T* at, FakeSame<T> x) {
    return fake_atomic(at, [=](T was) { return was < x ? x : was; });
}
template <class T> T atomicMin(T* at, FakeSame<T> x) {
    return fake_atomic(at, [=](T was) { return x < was ? x : was; });
}
template <class T> T atomicCAS(T* at, FakeSame<T> expected, FakeSame<T> x) {
    return fake_atomic(at, [=](T was) { return was == expected ? x : was; });
}

// Arithmetic.

using std::copysign;
using std::fabs;
using std::fma;
using std::fmax;
using std::fmin;
using std::hypot;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::sqrt;
template <class T> T max(T a, T b) { return a < b ? b : a; }
template <class T> T min(T a, T b) { return b < a ? b : a; }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __dmul_rn(double a, double b) { return a * b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline double __dsqrt_rn(double x) { return std::sqrt(x); }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
