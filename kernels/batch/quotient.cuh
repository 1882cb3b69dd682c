// Quotients by hardware approximations of the reciprocal.
#pragma once
#include "batch/limits.cuh"
#include "common/arithmetic.cuh"

template <class T>
__device__ __forceinline__ bool is_finite(T x) {
    return fabs(x) <= Limits<T>::largest();
}

// x / divisor, from the reciprocal of the divisor or an approximation of it, rounded as a division is or nearly so.
template <class T>
__device__ __forceinline__ T quotient(T x, T divisor, T inverse) {
    const T near = x * inverse;
    // The reciprocal of a tiny divisor overflows.
    return is_finite(near) ? fma(fma(-near, divisor, x), inverse, near) : x / divisor;
}
