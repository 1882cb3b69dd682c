// Transforms the trailing rows on the double-precision tensor cores: as trailing.cu, but eight columns of L at a time.
//
// A warp transforms eight rows; four neighbouring threads share a row, and each keeps E of the 4 E columns of V of a
// rank block in registers. With the eight rows b_j of B, sigma the sign of the rank block, s_j = sigma / T_jj, x_j = 1
// / T_jj - 2 and tau_ij = T_ij / T_jj, where T_ij = sigma <b_i, b_j>, a group of eight columns P of the panel is
//
//     U T = P + sigma V B^T        P <- P + (U - 2 P)        V <- V - U B
//
// These are two matrix products (gemm), with a triangular solve from the right (trsm) between them: with W = V B^T and
// u_j = 2 p_j + d_j, the solve is d_j = x_j p_j + s_j w_j - sum_{i < j} tau_ij u_i.
//
// A matrix product may sum over k in any order, and its rows and columns may come in any order. The order here, k or n
// = 2 q + s for column q + 4 s of a group, makes the result of one product the operand of the other, register by
// register: thread q of a row holds its columns q and q + 4 of L and of V throughout.
//
// Shapes: panel and v as in trailing.cu. reflectors: for each rank block and group of 8 columns of L, contiguous and
// 16-byte aligned, 32 E + 80 scalars:
//     b_j of column c of V at 8 c + (j ^ (c & 6)), an order in which threads meet no bank conflicts
//     tau_ij at 32 E + 8 i + j, 0 for i >= j
//     s_j at 32 E + 64 + j, x_j at 32 E + 72 + j
//
// Launch: as trailing.cu with row_threads = 4: thread t of the grid is thread t % 4 of row first + t / 4.
//
// Limits: blockDim.x <= 4096 / E, a multiple of 32; cols a multiple of 8; dynamic shared memory for the reflectors of
// two groups.
#include "common/async_copy.cuh"
#include "common/layout.cuh"
#include "common/memory.cuh"
#include "common/mma.cuh"
#include "common/panel.cuh"

constexpr int COLUMN_GROUP = 8;  // columns of L that are processed together
constexpr int ROW_THREADS = 4;   // threads that share a row

// Independent chains of matrix products: a single chain would wait for its own latency.
constexpr int CHAINS = 4;

// A block has at most MAX_THREADS_ELEMENTS / E threads.
constexpr int MAX_THREADS_ELEMENTS = 4096;

// Column groups of L that are loaded from memory ahead of the current one: a group takes less time than a load.
constexpr int GROUPS_AHEAD = 3;

template <int E>
__device__ constexpr int group_scalars() {
    return ROW_THREADS * E * COLUMN_GROUP + COLUMN_GROUP * COLUMN_GROUP + 2 * COLUMN_GROUP;
}

// Begins to copy a group's reflectors to shared memory.
template <int E>
__device__ __forceinline__ void stage_reflectors(double* shared, const double* reflectors) {
    for (int at = 2 * threadIdx.x; at < group_scalars<E>(); at += 2 * blockDim.x)
        copy_async_16(shared + at, reflectors + at);
    copy_async_commit();
}

// A thread's position in its warp's matrix products.
struct GroupLane {
    int q;   // its column of an operand's four
    int at;  // its row of a second operand, as a column of the group: q + 4 s for 2 q + s
    __device__ GroupLane() : q(threadIdx.x % ROW_THREADS), at(0) {
        const int n = threadIdx.x % 32 / ROW_THREADS;
        at = n / 2 + n % 2 * 4;
    }
};

// W <- V B^T. (8 rows, the thread's two columns)
template <int E>
__device__ __forceinline__ void gemm_v_bt(const double* b, const GroupLane& lane, const double (&v)[E],
                                          double (&w)[2]) {
    double sum[CHAINS][2] = {};
#pragma unroll
    for (int g = 0; g < E / 2; ++g)
#pragma unroll
        for (int s = 0; s < 2; ++s) {
            const int column = lane.q + 4 * s;  // of the group of eight
            double (&c)[2] = sum[(2 * g + s) % CHAINS];
            mma_m8n8k4_f64(c[0], c[1], v[2 * g + s],
                           b[(8 * g + column) * COLUMN_GROUP + (lane.at ^ (column & 6))]);
        }
#pragma unroll
    for (int s = 0; s < 2; ++s) w[s] = (sum[0][s] + sum[1][s]) + (sum[2][s] + sum[3][s]);
}

// Computes D from W, in place, and the old entries of L: the triangular solve, column by column.
__device__ __forceinline__ void trsm(const double* tau, const GroupLane& lane, const double (&old)[2],
                                     double (&d)[2]) {
    const double *const scale = tau + COLUMN_GROUP * COLUMN_GROUP, *const excess = scale + COLUMN_GROUP;
#pragma unroll
    for (int s = 0; s < 2; ++s) d[s] = fma(scale[lane.q + 4 * s], d[s], excess[lane.q + 4 * s] * old[s]);
#pragma unroll
    for (int i = 0; i < COLUMN_GROUP - 1; ++i) {
        const double u = __shfl_sync(ALL_LANES, fma(2.0, old[i / 4], d[i / 4]), i % 4, ROW_THREADS);
        if (i < 3) d[0] = fma(-tau[COLUMN_GROUP * i + lane.q], u, d[0]);
        d[1] = fma(-tau[COLUMN_GROUP * i + lane.q + 4], u, d[1]);
    }
}

// V <- V - U B.
template <int E>
__device__ __forceinline__ void gemm_v_minus_ub(const double* b, const GroupLane& lane, const double (&u)[2],
                                                double (&v)[E]) {
#pragma unroll
    for (int g = 0; g < E / 2; ++g)
#pragma unroll
        for (int s = 0; s < 2; ++s) {
            const double entry = b[(8 * g + lane.at) * COLUMN_GROUP + ((lane.q + 4 * s) ^ (lane.at & 6))];
            mma_m8n8k4_f64(v[2 * g], v[2 * g + 1], -u[s], entry);
        }
}

// Applies one rank block in all columns of the panel, to the thread's row at `l` and `v`. A thread without a row takes
// part with zeros.
template <int E>
__device__ __forceinline__ void apply_rank_block(double* l, long long panel_stride, double* v,
                                                 long long v_stride, const double* reflectors, int cols,
                                                 bool has_row, double* shared) {
    const GroupLane lane;
    double registers[E], coming[GROUPS_AHEAD][2];
#pragma unroll
    for (int r = 0; r < E; ++r)
        registers[r] = has_row ? v[(8 * (r / 2) + r % 2 * 4 + lane.q) * v_stride] : 0.0;
    l += lane.q * panel_stride;
#pragma unroll
    for (int g = 0; g < GROUPS_AHEAD; ++g)
#pragma unroll
        for (int s = 0; s < 2; ++s)
            coming[g][s] =
                has_row && g * COLUMN_GROUP < cols ? l[(g * COLUMN_GROUP + 4 * s) * panel_stride] : 0.0;

    __syncthreads();  // all threads have read the stage of an earlier rank block
    stage_reflectors<E>(shared, reflectors);
    constexpr int other = group_scalars<E>();
    for (int at = 0; at < cols; at += COLUMN_GROUP) {
        copy_async_wait_all();
        __syncthreads();  // this group's reflectors are staged, and all threads have read the previous group's
        const double* const b = shared + (at / COLUMN_GROUP % 2) * other;
        if (at + COLUMN_GROUP < cols) {
            reflectors += group_scalars<E>();
            stage_reflectors<E>(shared + ((at / COLUMN_GROUP + 1) % 2) * other, reflectors);
        }
        double old[2], d[2], u[2];
#pragma unroll
        for (int s = 0; s < 2; ++s) {
            old[s] = coming[0][s];
#pragma unroll
            for (int g = 0; g < GROUPS_AHEAD - 1; ++g) coming[g][s] = coming[g + 1][s];
            if (has_row && at + GROUPS_AHEAD * COLUMN_GROUP < cols)
                coming[GROUPS_AHEAD - 1][s] = l[(GROUPS_AHEAD * COLUMN_GROUP + 4 * s) * panel_stride];
        }
        gemm_v_bt<E>(b, lane, registers, d);
        trsm(b + ROW_THREADS * E * COLUMN_GROUP, lane, old, d);
#pragma unroll
        for (int s = 0; s < 2; ++s) {
            u[s] = fma(2.0, old[s], d[s]);
            if (has_row) l[4 * s * panel_stride] = old[s] + d[s];
        }
        l += COLUMN_GROUP * panel_stride;
        gemm_v_minus_ub<E>(b, lane, u, registers);
    }

#pragma unroll
    for (int r = 0; r < E; ++r)
        if (has_row) v[(8 * (r / 2) + r % 2 * 4 + lane.q) * v_stride] = registers[r];
}

template <int E>
__device__ __forceinline__ void trailing(double* panel, long long panel_stride, double* v, long long v_stride,
                                         const double* reflectors, int cols, int rank_blocks, long long first,
                                         long long end) {
    DYNAMIC_SHARED(double, shared);  // the reflectors of two groups
    const long long i = first + ((long long)blockIdx.x * blockDim.x + threadIdx.x) / ROW_THREADS;
    for (int p = 0; p < rank_blocks; ++p) {
        const int column = p * ROW_THREADS * E;  // of V, the rank block's first
        const double* const own = reflectors + (long long)p * (cols / COLUMN_GROUP) * group_scalars<E>();
        apply_rank_block<E>(panel + i, panel_stride, v + column * v_stride + i, v_stride, own, cols, i < end,
                            shared);
    }
}

#define TRAILING(NAME, E)                                                                                    \
    extern "C" __global__ void __launch_bounds__(MAX_THREADS_ELEMENTS / E)                                   \
        NAME(double* panel, long long panel_stride, double* v, long long v_stride, const double* reflectors, \
             int cols, int rank_blocks, int row_threads, long long first, long long end) {                   \
        trailing<E>(panel, panel_stride, v, v_stride, reflectors, cols, rank_blocks, first, end);            \
    }

TRAILING(tensor_f64_e4, 4)
TRAILING(tensor_f64_e8, 8)
TRAILING(tensor_f64_e16, 16)
TRAILING(tensor_f64_e32, 32)

// Host and kernels agree on these: a column group has GROUP_SCALARS_PER_ELEMENT * E + GROUP_SCALARS scalars of
// reflectors.
constexpr int GROUP_SCALARS = group_scalars<0>(),
              GROUP_SCALARS_PER_ELEMENT = group_scalars<1>() - GROUP_SCALARS;

EXPORT_LAYOUT(tensor_f64, COLUMN_GROUP, ROW_THREADS, GROUP_SCALARS, GROUP_SCALARS_PER_ELEMENT,
              MAX_THREADS_ELEMENTS)
