// What every kernel needs, with no header but this one: NVRTC brings the built-in names of CUDA C++.
#pragma once

// The one array of shared memory whose length the launch decides, as `T* name`; 16-byte aligned. Guarded so
// that a compiler without shared memory can supply its own.
#ifndef DYNAMIC_SHARED
#define DYNAMIC_SHARED(T, name) extern __shared__ __align__(16) char name##_raw[]; T* name = (T*)name##_raw
#endif

// What one load or store instruction moves at most.
constexpr int WORD_BYTES = 16;

// WORD_BYTES of scalars as one load.
template <class T>
struct alignas(WORD_BYTES) Word {
    static constexpr int LANES = WORD_BYTES / (int)sizeof(T);
    T lane[LANES];
};
