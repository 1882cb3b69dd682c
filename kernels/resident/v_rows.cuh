// Sixteen rows of V (16 x RANK_BLOCK) in the registers of a warp, and the matrix fragments by which they are
// multiplied.
#pragma once
#include "common/gemm.cuh"
#include "resident/record.cuh"

// A thread's entries: v[t][0] and v[t][1] are columns 8 t + 2 q and 8 t + 2 q + 1 of its first row, v[t][2] and
// v[t][3] those of its second row. This is the layout of a product's result, which is the first operand of the next
// product without a conversion: step s of that product sums over column s % 2 of each thread's two of the eight s / 2.
typedef double VRows[V_EIGHTS][4];

// The first of a thread's two rows among the warp's sixteen of L and V. They are neighbours, so that one access takes
// both: row `at.row` of a product is the first, row `at.row` + 8 the second.
__device__ __forceinline__ int first_row(const MmaLane& at) { return 2 * at.row; }

// The thread's entries of step s of a sum over V's columns.
__device__ __forceinline__ void v_operand(const VRows& v, int s, double (&a)[2]) {
    a[0] = v[s / 2][s % 2];
    a[1] = v[s / 2][2 + s % 2];
}

// Stores V to shared memory, row-major, the warp's first row at `to`.
__device__ __forceinline__ void store_v(const MmaLane& at, double* to, const VRows& v) {
#pragma unroll
    for (int t = 0; t < V_EIGHTS; ++t)
#pragma unroll
        for (int e = 0; e < 4; ++e) to[(first_row(at) + e / 2) * V_STRIDE + at.column(t, e % 2)] = v[t][e];
}

// Loads what store_v has stored.
__device__ __forceinline__ void load_v(const MmaLane& at, const double* from, VRows& v) {
#pragma unroll
    for (int t = 0; t < V_EIGHTS; ++t)
#pragma unroll
        for (int e = 0; e < 4; ++e) v[t][e] = from[(first_row(at) + e / 2) * V_STRIDE + at.column(t, e % 2)];
}

// Loads the lane's entries of a fragment, or of its first eight rows (COUNT = 2).
template <int COUNT>
__device__ __forceinline__ void load_fragment(const MmaLane& at, const double* fragment, double (&y)[COUNT]) {
#pragma unroll
    for (int s = 0; s < COUNT; s += 2) {
        const Word<double> two = ((const Word<double>*)fragment)[16 * s + at.lane];
        y[s] = two.scalar[0];
        y[s + 1] = two.scalar[1];
    }
}

// C <- C + A B; B is a fragment.
__device__ __forceinline__ void gemm_fragment(const MmaLane& at, double (&c)[4], const double (*a)[2],
                                              const double* b) {
    double y[4];
    load_fragment(at, b, y);
    mma_m16n8k16_f64(c, *(const double (*)[4][2])a, y);
}

// The same with only the first eight rows of B.
__device__ __forceinline__ void gemm_half_fragment(const MmaLane& at, double (&c)[4], const double (*a)[2],
                                                   const double* b) {
    double y[2];
    load_fragment(at, b, y);
    mma_m16n8k8_f64(c, *(const double (*)[2][2])a, y);
}

// V <- V R^-1. `basis`: R^-1 (RANK_BLOCK x RANK_BLOCK) in fragments.
__device__ __forceinline__ void rebase(const MmaLane& at, const double* basis, VRows& v) {
    double x[4 * V_SIXTEENS][2];
#pragma unroll
    for (int s = 0; s < 4 * V_SIXTEENS; ++s) v_operand(v, s, x[s]);
#pragma unroll
    for (int t = 0; t < V_EIGHTS; ++t) {
        double product[4] = {};
#pragma unroll
        for (int s = 0; s < V_SIXTEENS; ++s)
            gemm_fragment(at, product, x + 4 * s, basis + (V_SIXTEENS * t + s) * FRAGMENT);
#pragma unroll
        for (int e = 0; e < 4; ++e) v[t][e] = product[e];
    }
}
