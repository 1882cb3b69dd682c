// Reciprocals and reciprocal roots from the hardware's approximations, as inline PTX.
#pragma once

#ifdef FAKE_CUDA
using fake::reciprocal;
using fake::reciprocal_root;
inline void make_opaque(long long&) {}
#else
// 1 / sqrt(x) and 1 / x to an ulp or two where x and the result are normal numbers. The library functions are valid
// for all x and take branches for it.
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
__device__ __forceinline__ float reciprocal_root(float x) {
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return fmaf(fmaf(-x * y, y, 1.0f), 0.5f * y, y);
}
__device__ __forceinline__ float reciprocal(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return fmaf(fmaf(-x, y, 1.0f), y, y);
}

// Makes x opaque to the compiler, which then recomputes values that it would otherwise keep in registers.
__device__ __forceinline__ void make_opaque(long long& x) { asm volatile("" : "+l"(x)); }
#endif
