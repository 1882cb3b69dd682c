// Sums of squares of rows.
#pragma once
#include "common/panel.cuh"

constexpr int ROWS_OF_SQUARES = 32;  // of a block: one for each lane; its warps divide the columns among them

struct RowSquares {
    double plus[WARPS][ROWS_OF_SQUARES], minus[WARPS][ROWS_OF_SQUARES];
};

// Of rows top to top + ROWS_OF_SQUARES of a matrix: entry (i, j), i < rows, j < cols, at from + j * stride + i. Column
// j is multiplied by scale[j], or by 1 if that is null, and adds to `plus` or to `minus` by the sign of its scale. With
// `lower`, entries above the diagonal are not read. Sums are in double precision, in the same order in every run.
//
//     plus, minus   sum i at plus + i and minus + i; `minus` may be null if no scale is negative; written, or added to
//                   with `add`
//
// All threads of the block call it.
template <class T>
__device__ __forceinline__ void row_squares(const T* from, long long stride, const T* scale, bool lower,
                                            long long top, long long rows, long long cols, double* plus,
                                            double* minus, bool add, RowSquares& shared) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const long long i = top + lane;
    const long long end = i >= rows ? 0 : lower && i < cols ? i + 1 : cols;
    double sums[2] = {0.0, 0.0};
#pragma unroll 4
    for (long long j = warp; j < end; j += WARPS) {
        const double by = scale ? (double)scale[j] : 1.0, x = by * (double)from[j * stride + i];
        const double square = x * x;
        sums[0] += by < 0.0 ? 0.0 : square;
        sums[1] += by < 0.0 ? square : 0.0;
    }
    __syncthreads();
    shared.plus[warp][lane] = sums[0], shared.minus[warp][lane] = sums[1];
    __syncthreads();
    double* const to = warp == 0 ? plus : warp == 1 ? minus : nullptr;
    if (!to || i >= rows) return;
    double sum = add ? to[i] : 0.0;
    for (int w = 0; w < WARPS; ++w) sum += warp == 0 ? shared.plus[w][lane] : shared.minus[w][lane];
    to[i] = sum;
}
