// A sweep of the resident engine over L, with sixteen columns of V.
//
// With D the diagonal block of a panel, V_D its rows of V, S = 1 or -1 the sign of all columns of V:
//
//     P = D^-1 V_D      V <- V - L P  (rows below)      G <- G + P^T P
//
// V stays in the frame in which it began, so that all of it is matrix products: what reflectors would leave is
// V R^-1, up to an orthogonal matrix, with 1 + S G = R^T R. Before G would become large, or 1 - G small, V goes into
// a new frame: V <- V R^-1, G <- 0. The new L (weigh.cuh) comes from the same P: that keeps L and V
// consistent, however ill-conditioned D is. Where P of one panel alone is too large, or 1 + S P^T P badly
// conditioned, the panel is eliminated column by column (householder.cuh).
//
// A block of threads has 128 rows of L from the first column to the diagonal, and their V in registers: as in a dense
// triangular solve (Hogg, SIAM J. Sci. Comput. 35, 2013), it waits for the panels one after the other, and others wait
// for those of its own two diagonal blocks. It makes the new L of a panel when it comes by, but of the last panels
// before its own, where it is what others wait for, only later: then V goes through them twice. Where there are more
// multiprocessors than that, `shares` blocks have the same rows: one for V up to the diagonal, and one or two for L.
// Blocks take their rows in the order in which they begin, so that whoever waits waits for blocks that have begun.
//
// Sweep, panel.cuh: from and v are read; to, records, state, pivots, status and marks written; inverse and refine read
// by `sweep`, as invert.cuh leaves them, and written by `sweeps`.
// Launch: `sweep` for one sweep, with 1 to 3 `shares` blocks for each 128 rows (with more than one, `to` is not `from`, since
// one writes what another has yet to read, and `late` is as many panels as there are), or `sweeps` for any number, with one for each 128
// rows of each; 256 threads. `late`: panels before a block's own of which the new L is left for later. Dynamic shared
// memory: 64 columns of L for 128 rows, or what is needed in their place when they are not (`larger`), and behind it
// 1 to 3 `slots` for a record (STAGED) or a tile (TILE).
#include "flow.cuh"
#include "group.cuh"
#include "invert.cuh"

__device__ constexpr size_t larger(size_t a, size_t b) { return a > b ? a : b; }

// The inverses of a group's diagonal blocks.
template <class T>
__device__ __noinline__ void invert_group(Inverting& shared, const T* l, long long l_stride, double* inverse,
                                          int* refine, int height) {
#pragma unroll 1
    for (int j = 0; j * ROWS < height; ++j) {
        invert(shared, l + j * ROWS * (l_stride + 1), l_stride, inverse + j * ROWS * ROWS, refine + j,
               height - j * ROWS);
        __syncthreads();
    }
}

template <bool MANY, class T>
__device__ __forceinline__ void sweep_rows(const Sweeps<T>& sweeps, int slots, int shares, int late_panels) {
    constexpr size_t BYTES = larger(HEIGHT * ROWS * sizeof(T), larger(sizeof(Inverting), sizeof(Shared)));
    constexpr int FRONT = BYTES / sizeof(double);
    static_assert(TILE <= STAGED, "a tile lies where a record does");
    DYNAMIC_SHARED(double, memory);
    __shared__ int ticket;
    double* const staged = memory + FRONT;
    if (threadIdx.x == 0) ticket = atomicAdd(sweeps.first.marks, 1);
    __syncthreads();
    const Task<T> own = task<MANY>(sweeps, ticket, shares);
    const Sweep<T>& sweep = own.sweep;
    const int first = own.group * GROUP, late = max(0, first - late_panels);
    const long long begin = (long long)first * ROWS;
    const int height = (int)min(sweep.n - begin, (long long)HEIGHT), panels = (height + ROWS - 1) / ROWS;
    const Lane at;
    const Place<T> place{sweep, begin + WARP_ROWS * at.warp + at.row,
                         (T*)memory + WARP_ROWS * at.warp * ROWS};
    Rows rows;
#pragma unroll
    for (int e = 0; e < 8; ++e) {
        const long long i = place.row + e % 4 / 2 * 8;
        rows.v[e / 4][e % 4] =
            i < sweep.n ? (double)sweep.v[at.column(e / 4, e % 2) * sweep.v_stride + i] : 0.0;
    }
    if (own.leads) {
        const T* const l = sweep.from + begin * (sweep.l_stride + 1);
        double* const inverse = sweep.inverse + begin * ROWS;
        const auto invert_own = [&] {
            invert_group(*(Inverting*)memory, l, sweep.l_stride, inverse, sweep.refine + first, height);
        };
        if (MANY && !sweep.before) invert_own();
        through(at, place, own, staged, slots, true, 0, late, rows);
        if (MANY && sweep.before) {
            if (threadIdx.x == 0) own.await_before(first + panels);
            __syncthreads();
            invert_own();
        }
        Tile v;
#pragma unroll
        for (int e = 0; e < 8; ++e) v[e / 4][e % 4] = rows.v[e / 4][e % 4];
        const Tiles<T> tiles{staged, slots == 3, panels, height, l, sweep.l_stride, inverse};
        tiles.start();
        const int refined[GROUP] = {sweep.refine[first], panels > 1 ? sweep.refine[first + 1] : 0};
        State state;
        ahead(at, place, late, first, rows, state);
        Shared& shared = *(Shared*)memory;
        put(at, shared.v + WARP_ROWS * at.warp * LD, rows.v);
        solve(shared, tiles, sweep, first, state, refined);
        weigh_all(shared, (Weights*)staged, sweep, first, panels);
#pragma unroll
        for (int e = 0; e < 8; ++e) rows.v[e / 4][e % 4] = v[e / 4][e % 4];
    }
    if (own.follows) {
        const bool active = shares < 3 || at.warp / 4 + 1 == ticket % shares;
        through(at, place, own, staged, slots, active, late, first + panels, rows);
    }
}

#define SWEEP(T, NAME)                                                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                 \
        sweep_##NAME(const Sweeps<T> sweeps, int slots, int shares, int late) {                              \
        sweep_rows<false>(sweeps, slots, shares, late);                                                      \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                 \
        sweeps_##NAME(const Sweeps<T> sweeps, int slots, int shares, int late) {                             \
        sweep_rows<true>(sweeps, slots, shares, late);                                                       \
    }

SWEEP(float, f32)
SWEEP(double, f64)
