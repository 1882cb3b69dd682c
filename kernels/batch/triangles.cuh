// A packed triangle between global and shared memory, in words of 16 bytes, by some neighbouring threads.
//
// The triangles of a warp lie in shared memory at a stride that is the number of lanes of a matrix modulo 128 bytes (in scalars), so
// that the lanes of all matrices access different banks.
#pragma once
#include "common/async_copy.cuh"
#include "common/memory.cuh"

constexpr unsigned ALL_LANES = 0xffffffffu;  // of a warp

// Begins to copy `scalars`, a multiple of a word, to shared memory.
template <int MEMBERS, class T>
__device__ __forceinline__ void fetch(T* to, const T* from, int scalars, int member) {
    for (int at = member * Word<T>::SCALARS; at < scalars; at += MEMBERS * Word<T>::SCALARS)
        copy_async_16(to + at, from + at);
    copy_async_commit();
}

// Waits until what the threads of the warp have begun to copy is there.
__device__ __forceinline__ void arrived() {
    copy_async_wait_all();
    __syncwarp();
}

// Copies `scalars`, a multiple of a word, to global memory.
template <int MEMBERS, class T>
__device__ __forceinline__ void give(T* to, const T* from, int scalars, int member) {
    for (int at = member * Word<T>::SCALARS; at < scalars; at += MEMBERS * Word<T>::SCALARS)
        *(Word<T>*)(to + at) = *(const Word<T>*)(from + at);
}
