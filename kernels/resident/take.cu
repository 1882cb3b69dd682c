// Copies columns of a matrix in device memory to an engine's own memory, scaled, and finds out about them on the way.
//
// Shapes, column-major:
//     from    entry (i, j), i < rows, j < cols, at from + j * from_stride + i; read
//     to      scale[j] times that entry at to + target[j] * to_stride + i, unless target[j] is negative; written
//     facts   3 x cols, zeros before the launch; of column j: the bits of the magnitude of its largest entry, as a
//             double; ~i of the first row i that is not finite; ~i of the first row i that is not zero
//
// Launch: blocks of 256 threads; y of the grid counts columns, x is any.
#include "common/layout.cuh"
#include "common/panel.cuh"

typedef unsigned long long Fact;
constexpr int FACTS = 3;  // of a column

__device__ __forceinline__ Fact max_of_warp(Fact x) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        const Fact other = __shfl_xor_sync(ALL_LANES, x, step);
        x = other > x ? other : x;
    }
    return x;
}

template <class T>
__device__ __forceinline__ void take(const T* from, long long from_stride, T* to, long long to_stride,
                                     const T* scale, const int* target, Fact* facts, long long rows) {
    const int column = blockIdx.y, to_column = target[column];
    const T factor = scale[column];
    from += column * from_stride;
    // The first of each kind of row is the one whose complement is the largest.
    Fact largest = 0, not_finite = 0, not_zero = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < rows;
         i += (long long)gridDim.x * blockDim.x) {
        const T x = from[i];
        const double magnitude = fabs((double)x);
        Fact bits;
        memcpy(&bits, &magnitude, sizeof bits);
        if (bits > largest) largest = bits;
        if (!(magnitude <= 1.7976931348623157e308) && ~(Fact)i > not_finite) not_finite = ~(Fact)i;
        if (magnitude != 0.0 && ~(Fact)i > not_zero) not_zero = ~(Fact)i;
        if (to_column >= 0) to[to_column * to_stride + i] = factor * x;
    }
    const Fact found[FACTS] = {max_of_warp(largest), max_of_warp(not_finite), max_of_warp(not_zero)};
    if (threadIdx.x % 32 == 0)
        for (int f = 0; f < FACTS; ++f) atomicMax(&facts[FACTS * column + f], found[f]);
}

#define TAKE(T, NAME)                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        take_##NAME(const T* from, long long from_stride, T* to, long long to_stride, const T* scale,        \
                    const int* target, Fact* facts, long long rows) {                                        \
        take(from, from_stride, to, to_stride, scale, target, facts, rows);                                  \
    }

TAKE(float, f32)
TAKE(double, f64)

EXPORT_LAYOUT(take, THREADS, FACTS)
