// Inverts the diagonal blocks of L, for the first sweep of a modification and for triangular solves.
//
// Shapes, column-major: the blocks (64 x 64, the last one perhaps smaller) lie along the diagonal of L; entry (i, j),
// i >= j, of the first is at l + j * l_stride + i, and L has n rows from there on. inverse (panels x 64 x 64) and
// refine (panels) are as common/inverse.cuh says.
//
// Launch: a block for each panel, of 256 threads.
#include "common/inverse.cuh"
#include "common/layout.cuh"

#define INVERT(T, NAME)                                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        invert_##NAME(const T* l, long long l_stride, double* inverse, int* refine, long long n) {           \
        __shared__ InverseShared shared;                                                                     \
        const long long first = (long long)blockIdx.x * PANEL_COLS;                                          \
        invert(shared, l + first * (l_stride + 1), l_stride, inverse + first * PANEL_COLS,                   \
               refine + blockIdx.x, n - first);                                                              \
    }

INVERT(float, f32)
INVERT(double, f64)

EXPORT_LAYOUT(invert, PANEL_COLS, THREADS)
