// Words that a thread moves at once, and shared memory whose size the launch decides. Kernels include no CUDA
// header: NVRTC supplies the built-in names of CUDA C++.
#pragma once

// Declares `T* name`, the one array of shared memory whose length the launch decides, 16-byte aligned. The guard lets
// a compiler without shared memory supply its own definition.
#ifndef DYNAMIC_SHARED
#define DYNAMIC_SHARED(T, name)                                                                              \
    extern __shared__ __align__(16) char name##_raw[];                                                       \
    T* name = (T*)name##_raw
#endif

// The most bytes that one load or store instruction moves.
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
