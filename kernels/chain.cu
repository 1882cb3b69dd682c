// The chain through the diagonal blocks of the resident engine's sweep.
//
// With D the diagonal block of a panel, V_D its rows of V, S = 1 or -1 the sign of all 16 columns of V:
//
//     P = D^-1 V_D      V <- V - L P  (rows below)      G <- G + P^T P
//
// V stays in the frame in which it began, so that all of it is matrix products: what reflectors would leave is
// V R^-1, up to an orthogonal matrix, with 1 + S G = R^T R. Before G would become large, or 1 - G small, V goes into
// a new frame: V <- V R^-1, G <- 0. The new L (weigh.cuh) comes from the same P: that keeps L and V
// consistent, however ill-conditioned D is. Where P of one panel alone is too large, or 1 + S P^T P badly
// conditioned, the panel is eliminated column by column (householder.cuh).
//
// A launch solves a group of four panels. Its first blocks, two for each sixteen rows of the group, take V as the bulk
// has left it through the panels since (`window` on); the last of them to be done goes through the group's panels.
// The other blocks make the products of the panels of the group before, which are known.
//
// Sweep, panel.cuh: L, v and the inverses are read, records, state, pivots and status written.
// Launch: `heads` blocks for the rows of the panels from `solved` on, none if there are no such panels, and four for
// each panel from `weighed` on; 256 threads. Dynamic shared memory of `ring` tiles, 1 or 3, behind Shared (group.cuh).
#include "group.cuh"

constexpr int HEAD_ROWS = 16;
constexpr int WARPS = THREADS / 32;

// V <- V - L P for a warp's rows, which begin at l, and a panel; rows before `height`, counted from there.
template <class T>
__device__ __forceinline__ void through_products(const Lane& at, const T* l, long long l_stride,
                                                 long long height, const double* record, Tile& v) {
    double a[STEPS][2];
    l += at.q * l_stride + at.row;
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
#pragma unroll
        for (int which = 0; which < 2; ++which)
            a[s][which] = at.row + 8 * which < height ? (double)l[8 * which] : 0.0;
        l += 4 * l_stride;
    }
#pragma unroll
    for (int step = 0; step < STEPS / 4; ++step)
#pragma unroll
        for (int t = 0; t < 2; ++t) {
            double b[4];
#pragma unroll
            for (int s = 0; s < 4; ++s) b[s] = record[P_AT + (2 * (4 * step + s) + t) * FRAGMENT + at.lane];
            mma_m16n8k16_f64(v[t], *(double(*)[4][2])a[4 * step], b);
        }
}

// Rows of the group that is solved next, through the panels from `window` on, to `state`: sixteen rows for each two
// blocks, whose warps share the panels, and whose sum it is. Only the very first warp begins with V; where a panel is
// careful, it does all.
template <class T>
__device__ __forceinline__ void head(double (*parts)[HEAD_ROWS * COLUMNS], const Sweep<T>& sweep, int window,
                                     int solved) {
    const Lane at;
    const int own = (int)blockIdx.x % 2 * WARPS + at.warp; // which of the window's panels
    const long long row = HEAD_ROWS * (blockIdx.x / 2), first = (long long)solved * ROWS + row;
    const long long height = sweep.n - first;
    const T* const from = (window / 8 % 2 ? sweep.v[1] : sweep.v[0]) + first;
    int how = 0;
    if (window + at.lane < solved) how = (int)sweep.records[(long long)(window + at.lane) * RECORD + HOW_AT];
    Tile v;
#pragma unroll
    for (int e = 0; e < 8; ++e) {
        const int row = at.row + e % 4 / 2 * 8;
        v[e / 4][e % 4] =
            own == 0 && row < height ? (double)from[at.column(e / 4, e % 2) * sweep.v_stride + row] : 0.0;
    }
    const unsigned renewed = __ballot_sync(ALL, how & RENEWED), careful = __ballot_sync(ALL, how & CAREFUL);
#pragma unroll 1
    for (int place = 0; place < solved - window; ++place) {
        const int panel = window + place;
        const double* const record = sweep.records + (long long)panel * RECORD;
        const T* const l = sweep.from + panel * ROWS * sweep.l_stride + first;
        if (renewed >> place & 1) renew(at, record + FRAME_AT, v);
        if ((careful ? 0 : place) != own) continue;
        if (careful >> place & 1)
            through(at, l, sweep.l_stride, height, record + P_AT, record + N_AT, sweep.sign, v);
        else
            through_products(at, l, sweep.l_stride, height, record, v);
    }
#pragma unroll
    for (int e = 0; e < 8; ++e)
        parts[at.warp][(at.row + e % 4 / 2 * 8) * COLUMNS + at.column(e / 4, e % 2)] = v[e / 4][e % 4];
    __syncthreads();
    double sum = 0;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) sum += parts[w][threadIdx.x];
    sweep.state[blockIdx.x % 2 * HEIGHT * COLUMNS + row * COLUMNS + threadIdx.x] = sum;
}

template <class T>
__device__ __forceinline__ void chain(const Sweep<T>& sweep, int window, int weighed, int solved, int heads,
                                      int ring) {
    DYNAMIC_SHARED(double, memory);
    __shared__ int arrived;
    const int block = blockIdx.x;
    if (block >= heads) {
        const int index = block - heads;
        weigh(*(Weights*)memory, sweep, weighed + index / BLOCKS_A_PANEL, index % BLOCKS_A_PANEL);
        return;
    }
    // Whoever is the last to be done begins at once.
    const Group<T> group(memory, sweep, solved, ring);
    head((double(*)[HEAD_ROWS * COLUMNS]) memory, sweep, window, solved);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) arrived = atomicAdd(sweep.arrived, 1);
    __syncthreads();
    if (arrived + 1 < heads) {
        copy_async_wait_all();
        return;
    }
    __threadfence();
    if (threadIdx.x == 0) *sweep.arrived = 0;
    solve(memory, sweep, solved, group);
}

#define CHAIN(T, NAME)                                                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS, 2)                                                 \
        chain_##NAME(const Sweep<T> sweep, int window, int weighed, int solved, int heads, int ring) {       \
        chain<T>(sweep, window, weighed, solved, heads, ring);                                               \
    }

CHAIN(float, f32)
CHAIN(double, f64)
