// Which numbers the fast kernels of a batch may be used for.
#pragma once

// If the squares of a row of V exceed this multiple of the squared pivot of the L without V, the matrix is left to
// again.cu: docs/accuracy.md, "Where V outweighs a column of L".
constexpr double OUTWEIGHS = 4.0 / 1.01;

template <class T>
struct Limits;

template <>
struct Limits<double> {
    // Squared pivots between these are far from underflow and overflow.
    static __device__ __forceinline__ double small_square() { return 1e-276; }
    static __device__ __forceinline__ double large_square() { return 1e292; }
    static __device__ __forceinline__ double largest() { return 1.7976931348623157e308; }
};

template <>
struct Limits<float> {
    static __device__ __forceinline__ float small_square() { return 1e-24f; }
    static __device__ __forceinline__ float large_square() { return 1e31f; }
    static __device__ __forceinline__ float largest() { return 3.402823466e38f; }
};

template <class T>
__device__ __forceinline__ bool is_finite(T x) {
    return fabs(x) <= Limits<T>::largest();
}
