// D^-1 of the diagonal blocks of L, for triangular systems.
//
// Shapes, column-major: the blocks (64 x 64, the last perhaps less) lie along the diagonal of L, entry (i, j),
// i >= j, of the first at l + j * l_stride + i, with n rows from there on. inverse (panels x 64 x 64) and
// refine (panels) as invert.cuh says.
//
// Launch: a block for each panel, of 256 threads.
#include "common/invert.cuh"

#define INVERT(T, NAME)                                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        invert_##NAME(const T* l, long long l_stride, double* inverse, int* refine, long long n) {           \
        __shared__ Inverting shared;                                                                         \
        const long long first = (long long)blockIdx.x * ROWS;                                                \
        invert(shared, l + first * (l_stride + 1), l_stride, inverse + first * ROWS, refine + blockIdx.x,    \
               n - first);                                                                                   \
    }

INVERT(float, f32)
INVERT(double, f64)
