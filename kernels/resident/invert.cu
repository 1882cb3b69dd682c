// Inverts diagonal blocks of L, for the first sweep of a modification and for triangular solves.
//
// Shapes, column-major: the blocks (64 x 64, the last one perhaps smaller) lie along the diagonal of L; entry (i, j),
// i >= j, of the first is at l + j * l_stride + i, and L has n rows from there on. inverse (panels x 64 x 64) and
// refine (panels) are as common/inverse.cuh says.
//
// Of an L whose rows are on several devices, `own` lists the panels to invert, and row blocks of two panels lie where
// `row_blocks` says (resident/peers.cuh). Both are null if L is on one device.
//
// Afterwards the memory of a modification is as the next one expects it (sweep.cu): all bits of `ones` (ones_len words) are
// ones, and `zeros` (zeros_len) are zeros; both are written.
//
// Launch: blocks of 256 threads, one for each of `panels`, and any number of others, which write ones and zeros. With ones or
// zeros to write there is at least one other.
#include "common/inverse.cuh"
#include "common/layout.cuh"

// By the blocks after the first `before`.
__device__ __forceinline__ void fill(int before, long long* ones, long long ones_len, int* zeros, long long zeros_len) {
    const long long first = (long long)(blockIdx.x - before) * THREADS + threadIdx.x;
    const long long step = (long long)(gridDim.x - before) * THREADS;
    for (long long i = first; i < ones_len; i += step) ones[i] = -1;
    for (long long i = first; i < zeros_len; i += step) zeros[i] = 0;
}

#define INVERT(T, NAME)                                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        invert_##NAME(const T* l, long long l_stride, double* inverse, int* refine, long long n,             \
                      const int* own, const long long* row_blocks, int panels, long long* ones,              \
                      long long ones_len, int* zeros, long long zeros_len) {                                 \
        __shared__ InverseShared shared;                                                                     \
        if (blockIdx.x >= panels) return fill(panels, ones, ones_len, zeros, zeros_len);                     \
        const int panel = own ? own[blockIdx.x] : (int)blockIdx.x;                                           \
        const long long first = (long long)panel * PANEL_COLS;                                               \
        if (row_blocks) l += row_blocks[panel / 2];                                                          \
        invert(shared, l + first * (l_stride + 1), l_stride, inverse + first * PANEL_COLS, refine + panel,   \
               n - first);                                                                                   \
    }

INVERT(float, f32)
INVERT(double, f64)

EXPORT_LAYOUT(invert, PANEL_COLS, THREADS)
