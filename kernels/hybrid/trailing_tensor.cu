// The trailing step on the tensor cores of double precision: as trailing.cu, eight columns of L at a time.
//
// A warp works on eight rows; four neighbouring threads share a row, and of the 4 E columns of V in a pass
// each keeps E in registers. With the eight rows b_j of B, sigma the sign of the pass, s_j = sigma / T_jj,
// x_j = 1 / T_jj - 2 and tau_ij = T_ij / T_jj, where T_ij = sigma <b_i, b_j>, a group of eight columns of the panel (P) is
//
//     U T = P + sigma V B^T        P <- P + (U - 2 P)        V <- V - U B
//
// two matrix products, and between them the substitution d_j = x_j p_j + s_j w_j - sum_{i < j} tau_ij u_i with W = V B^T
// and u_j = 2 p_j + d_j.
//
// Matrix products are sums over k in any order, and their rows and columns may come in any order. The one
// used, k or n = 2 q + s for column q + 4 s of a group, makes the result of the one product the operand of
// the other, register by register: thread q of a row has its columns q and q + 4 of L and of V throughout.
//
// Shapes: panel and v as in trailing.cu. For each pass and group of 8 columns of L, contiguous, 16-byte
// aligned, GROUP = 32 E + 80 scalars of reflectors:
//     b_j of column c of V at 8 c + (j ^ (c & 6)), an order in which threads meet no bank conflicts
//     tau_ij at 32 E + 8 i + j, 0 for i >= j
//     s_j at 32 E + 64 + j, x_j at 32 E + 72 + j
//
// Launch: as trailing.cu with `lanes` = 4: thread t of the grid is thread t % 4 of row first + t / 4.
//
// Limits: blockDim.x <= 4096 / E, a multiple of 32; cols a multiple of 8; dynamic shared memory of 2 GROUP
// scalars.
#include "common/common.cuh"
#include "common/instructions.cuh"

constexpr int COLS = 8;    // of L in a group
constexpr int SHARING = 4; // threads of a row

// Independent chains of matrix products: one alone would wait for its own latency.
constexpr int CHAINS = 4;

// Groups of L that are on their way from memory while one is worked on: a group takes less time than memory does.
constexpr int DEPTH = 3;

template <int E>
__device__ constexpr int group_scalars() {
    return SHARING * E * COLS + COLS * COLS + 2 * COLS;
}

// Begins to copy a group's reflectors.
template <int E>
__device__ __forceinline__ void stage(double* shared, const double* reflectors) {
    for (int at = 2 * threadIdx.x; at < group_scalars<E>(); at += 2 * blockDim.x)
        copy_async_16(shared + at, reflectors + at);
    copy_async_commit();
}

// Where a thread stands in its warp's matrix products.
struct Lane {
    int q;  // its column of an operand's four
    int at; // its row of a second operand, as a column of the group: q + 4 s for 2 q + s
    __device__ Lane() : q(threadIdx.x % SHARING), at(0) {
        const int n = threadIdx.x % 32 / SHARING;
        at = n / 2 + n % 2 * 4;
    }
};

// w (8 rows, the thread's two columns) <- V B^T.
template <int E>
__device__ __forceinline__ void meet(const double* b, const Lane& lane, const double (&v)[E], double (&w)[2]) {
    double sum[CHAINS][2] = {};
#pragma unroll
    for (int g = 0; g < E / 2; ++g)
#pragma unroll
        for (int s = 0; s < 2; ++s) {
            const int column = lane.q + 4 * s; // of the group of eight
            double(&c)[2] = sum[(2 * g + s) % CHAINS];
            mma_m8n8k4_f64(c[0], c[1], v[2 * g + s], b[(8 * g + column) * COLS + (lane.at ^ (column & 6))]);
        }
#pragma unroll
    for (int s = 0; s < 2; ++s) w[s] = (sum[0][s] + sum[1][s]) + (sum[2][s] + sum[3][s]);
}

// D from W and the old entries of L, in place: a substitution forward over the columns.
__device__ __forceinline__ void substitute(const double* tau, const Lane& lane, const double (&old)[2],
                                           double (&d)[2]) {
    const double *const scale = tau + COLS * COLS, *const excess = scale + COLS;
#pragma unroll
    for (int s = 0; s < 2; ++s) d[s] = fma(scale[lane.q + 4 * s], d[s], excess[lane.q + 4 * s] * old[s]);
#pragma unroll
    for (int i = 0; i < COLS - 1; ++i) {
        const double u = __shfl_sync(0xffffffffu, fma(2.0, old[i / 4], d[i / 4]), i % 4, SHARING);
        if (i < 3) d[0] = fma(-tau[COLS * i + lane.q], u, d[0]);
        d[1] = fma(-tau[COLS * i + lane.q + 4], u, d[1]);
    }
}

// V <- V - U B.
template <int E>
__device__ __forceinline__ void leave(const double* b, const Lane& lane, const double (&u)[2], double (&v)[E]) {
#pragma unroll
    for (int g = 0; g < E / 2; ++g)
#pragma unroll
        for (int s = 0; s < 2; ++s) {
            const double entry = b[(8 * g + lane.at) * COLS + ((lane.q + 4 * s) ^ (lane.at & 6))];
            mma_m8n8k4_f64(v[2 * g], v[2 * g + 1], -u[s], entry);
        }
}

// One pass over all columns of the panel, for the thread's row at `l` and `v`. A thread without a row (`mine`
// false) takes part with zeros.
template <int E>
__device__ __forceinline__ void pass(double* l, long long panel_stride, double* v,
                                     long long v_stride, const double* reflectors, int cols, bool mine,
                                     double* shared) {
    const Lane lane;
    double registers[E], coming[DEPTH][2];
#pragma unroll
    for (int r = 0; r < E; ++r)
        registers[r] = mine ? v[(8 * (r / 2) + r % 2 * 4 + lane.q) * v_stride] : 0.0;
    l += lane.q * panel_stride;
#pragma unroll
    for (int g = 0; g < DEPTH; ++g)
#pragma unroll
        for (int s = 0; s < 2; ++s)
            coming[g][s] = mine && g * COLS < cols ? l[(g * COLS + 4 * s) * panel_stride] : 0.0;

    __syncthreads(); // what an earlier pass has staged has been read
    stage<E>(shared, reflectors);
    constexpr int other = group_scalars<E>();
    for (int at = 0; at < cols; at += COLS) {
        copy_async_wait_all();
        __syncthreads(); // this group's reflectors are there for all, and the last group's have been read
        const double* const b = shared + (at / COLS % 2) * other;
        if (at + COLS < cols) {
            reflectors += group_scalars<E>();
            stage<E>(shared + ((at / COLS + 1) % 2) * other, reflectors);
        }
        double old[2], d[2], u[2];
#pragma unroll
        for (int s = 0; s < 2; ++s) {
            old[s] = coming[0][s];
#pragma unroll
            for (int g = 0; g < DEPTH - 1; ++g) coming[g][s] = coming[g + 1][s];
            if (mine && at + DEPTH * COLS < cols)
                coming[DEPTH - 1][s] = l[(DEPTH * COLS + 4 * s) * panel_stride];
        }
        meet<E>(b, lane, registers, d);
        substitute(b + SHARING * E * COLS, lane, old, d);
#pragma unroll
        for (int s = 0; s < 2; ++s) {
            u[s] = fma(2.0, old[s], d[s]);
            if (mine) l[4 * s * panel_stride] = old[s] + d[s];
        }
        l += COLS * panel_stride;
        leave<E>(b, lane, u, registers);
    }

#pragma unroll
    for (int r = 0; r < E; ++r)
        if (mine) v[(8 * (r / 2) + r % 2 * 4 + lane.q) * v_stride] = registers[r];
}

template <int E>
__device__ __forceinline__ void trailing(double* panel, long long panel_stride, double* v,
                                         long long v_stride, const double* reflectors, int cols, int passes,
                                         long long first, long long end) {
    DYNAMIC_SHARED(double, shared); // (GROUP, 2)
    const long long i = first + ((long long)blockIdx.x * blockDim.x + threadIdx.x) / SHARING;
    for (int p = 0; p < passes; ++p) {
        const int column = p * SHARING * E; // of V, the pass's first
        const double* const own = reflectors + (long long)p * (cols / COLS) * group_scalars<E>();
        pass<E>(panel + i, panel_stride, v + column * v_stride + i, v_stride, own, cols, i < end, shared);
    }
}

#define TRAILING(NAME, E)                                                                                    \
    extern "C" __global__ void __launch_bounds__(4096 / E)                                                   \
        NAME(double* panel, long long panel_stride, double* v, long long v_stride,                           \
             const double* reflectors, int cols, int passes, int lanes, long long first, long long end) {    \
        trailing<E>(panel, panel_stride, v, v_stride, reflectors, cols, passes, first, end);                 \
    }

TRAILING(tensor_f64_e4, 4)
TRAILING(tensor_f64_e8, 8)
TRAILING(tensor_f64_e16, 16)
TRAILING(tensor_f64_e32, 32)
