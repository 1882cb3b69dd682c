// Columns of a matrix in device memory on their way into an engine's own memory, and what they are.
//
// Shapes, column-major: entry (i, j), i < rows, j < cols, at from + j * from_stride + i; what is taken of it goes to
// to + place[j] * to_stride + i, times scale[j], unless place[j] is negative. facts (3 x cols), zeros at first: of column
// j, the bits of the magnitude of its largest entry, as a double; ~i of the first row that is not finite; ~i of the first
// row that is not zero.
//
// Launch: blocks of 256 threads; y of the grid for each column, x any.
#include "common/common.cuh"

typedef unsigned long long Fact;

__device__ __forceinline__ Fact most_of_warp(Fact x) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        const Fact other = __shfl_xor_sync(0xffffffffu, x, step);
        x = other > x ? other : x;
    }
    return x;
}

template <class T>
__device__ __forceinline__ void take(const T* from, long long from_stride, T* to, long long to_stride,
                                     const T* scale, const int* place, Fact* facts, long long rows) {
    const int column = blockIdx.y, target = place[column];
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
        if (target >= 0) to[target * to_stride + i] = factor * x;
    }
    const Fact found[3] = {most_of_warp(largest), most_of_warp(not_finite), most_of_warp(not_zero)};
    if (threadIdx.x % 32 == 0)
        for (int f = 0; f < 3; ++f) atomicMax(&facts[3 * column + f], found[f]);
}

#define TAKE(T, NAME)                                                                                        \
    extern "C" __global__ void __launch_bounds__(256)                                                        \
        take_##NAME(const T* from, long long from_stride, T* to, long long to_stride, const T* scale,        \
                    const int* place, Fact* facts, long long rows) {                                         \
        take(from, from_stride, to, to_stride, scale, place, facts, rows);                                   \
    }

TAKE(float, f32)
TAKE(double, f64)
