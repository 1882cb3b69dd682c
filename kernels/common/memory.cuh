// Words that a thread moves at once, and shared memory whose size the launch sets. Kernels include no CUDA header:
// NVRTC supplies the built-in names of CUDA C++.
#pragma once

// Declares `T* name`, the one array of shared memory whose length the launch sets, 16-byte aligned. The guard lets a
// compiler without shared memory supply its own definition.
#ifndef DYNAMIC_SHARED
#define DYNAMIC_SHARED(T, name)                                                                              \
    extern __shared__ __align__(16) char name##_raw[];                                                       \
    T* name = (T*)name##_raw
#endif

// The largest number of bytes that one load or store instruction moves.
constexpr int WORD_BYTES = 16;

// As many scalars as one load moves.
template <class T>
struct alignas(WORD_BYTES) Word {
    static constexpr int SCALARS = WORD_BYTES / (int)sizeof(T);
    T scalar[SCALARS];
};

// Two neighbours that one load or store moves.
template <class T>
struct alignas(2 * sizeof(T)) Pair {
    T scalar[2];
};

// Stores two neighbours at once; `to` is aligned for both. A copy of a Pair becomes two stores, each of half the sectors
// that it touches.
#ifdef FAKE_CUDA
template <class T>
void store_pair(T* to, T first, T second) {
    *(Pair<T>*)to = {{first, second}};
}
#else
__device__ __forceinline__ void store_pair(double* to, double first, double second) {
    asm volatile("st.global.v2.f64 [%0], {%1, %2};" ::"l"(to), "d"(first), "d"(second) : "memory");
}
__device__ __forceinline__ void store_pair(float* to, float first, float second) {
    asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(first), "f"(second) : "memory");
}
#endif
