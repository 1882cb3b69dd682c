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
// Rows go in groups of 128, a block of threads each, their V in registers, through a stretch of panels, L and V. Who
// leads a group takes it through the last stretches before the diagonal, and through its own two diagonal blocks, with V
// alone, which takes less than half the time, as in a dense triangular solve (Hogg, SIAM J. Sci. Comput. 35, 2013): it
// waits for the panels one after the other, and others wait for its own. The new L of those stretches is made behind it,
// by as many blocks as there is room for, from V as the leader has kept it at the beginning of each.
//
// Blocks wait for each other by marks in device memory, and right before the diagonal by the words of records as they are
// written (flow.cuh). Each takes the next of a list of tasks when it begins, in which a task stands behind all that it
// waits for: whoever waits, waits for blocks that have begun.
//
// Sweep, panel.cuh: from, v and, for the first sweep, inverse and refine (as invert.cuh leaves them) are read; to, kept,
// records, pivots, status, marks, and inverse and refine of later sweeps, written. At first all bits of records are ones,
// and marks zeros. Pivots and status may be in host memory.
// Launch: a block for each task of task.cuh, of 256 threads; at most sixteen sweeps, 2^14 groups and 2^12 stretches.
// Tasks: for each sweep and group, one that leads, from a stretch before the group's own (from that only where it is the
// first); one for each stretch up to the group's own, which carries before the leader's first and follows from there on;
// and for each sweep but the first and each diagonal block, one that inverts.
// `places` is more than the stretches that a leader goes through. Dynamic shared memory: 64 columns of L for 128 rows, or
// what is needed in their place when they are not (`larger`), and behind it 1 to 3 `slots` for a record (STAGED) or a
// tile (TILE).
#include "resident/flow.cuh"
#include "resident/group.cuh"
#include "common/invert.cuh"
#include "resident/task.cuh"

__device__ constexpr size_t larger(size_t a, size_t b) { return a > b ? a : b; }

template <class T>
__device__ __noinline__ void invert_apart(Inverting& shared, const T* l, long long l_stride, double* inverse,
                                          int* refine, long long height) {
    invert(shared, l, l_stride, inverse, refine, height);
}

// The inverse of one of a group's diagonal blocks.
template <class T>
__device__ __forceinline__ void invert_block(const Task<T>& task, Inverting& shared) {
    const Sweep<T>& sweep = task.sweep;
    const int panel = task.group * GROUP + task.stretch;
    const long long first = (long long)panel * ROWS;
    if (threadIdx.x == 0) task.await_l(task.own());
    __syncthreads();
    invert_apart(shared, sweep.from + first * (sweep.l_stride + 1), sweep.l_stride,
                 sweep.inverse + first * ROWS, sweep.refine + panel, sweep.n - first);
    task.finish();
}

// A group's rows to their diagonal blocks, and those.
template <class T>
__device__ __forceinline__ void lead(const Lane& at, const Task<T>& task, const Place<T>& place, int slots,
                                     double* memory, double* staged) {
    const Sweep<T>& sweep = task.sweep;
    const int first = task.end, panels = task.own_end() - first;
    const long long begin = (long long)first * ROWS;
    const int height = (int)min(sweep.n - begin, (long long)HEIGHT);
    const T* const l = sweep.from + begin * (sweep.l_stride + 1);
    double* const inverse = sweep.inverse + begin * ROWS;
    Rows rows;
    task.load(at, place.row, rows.v);
    const Tiles<T> tiles{staged, slots == 3, panels, height, l, sweep.l_stride, inverse};
    int refined[GROUP] = {};
    const auto start = [&] {
        tiles.start();
        for (int j = 0; j < panels; ++j) refined[j] = sweep.refine[first + j];
    };
    if (!sweep.before) start();
    State state;
    ahead(at, place, task, rows, state);
    if (sweep.before) {
        task.await_inverses();
        start();
    }
    Shared& shared = *(Shared*)memory;
    put(at, shared.v + WARP_ROWS * at.warp * LD, rows.v);
    solve(shared, tiles, sweep, first, state, refined);
    if (first > task.begin && first % task.width == 0) task.announce(at, task.own());
    weigh_all(shared, (Weights*)staged, sweep, first, panels);
}

// A group's rows through a stretch of panels.
template <class T>
__device__ __forceinline__ void follow(const Lane& at, const Task<T>& task, const Place<T>& place, int slots,
                                       double* staged) {
    Rows rows;
    if (threadIdx.x == 0) task.await_l(task.stretch);
    __syncthreads();
    place.fetch(at, (long long)task.begin * ROWS);
    task.load(at, place.row, rows.v);
    through(at, place, staged, slots, task.begin, task.end, rows);
    if (task.kind == CARRIES) {
        task.keep(at, task.stretch + 1, rows.v);
        task.announce(at, task.stretch + 1);
    }
    task.finish();
}

template <class T>
__device__ __forceinline__ void work(const Sweeps<T>& sweeps, int slots) {
    constexpr size_t BYTES = larger(HEIGHT * ROWS * sizeof(T), larger(sizeof(Inverting), sizeof(Shared)));
    constexpr int FRONT = BYTES / sizeof(double);
    static_assert(TILE <= STAGED, "a tile lies where a record does");
    DYNAMIC_SHARED(double, memory);
    __shared__ unsigned word;
    if (threadIdx.x == 0) word = sweeps.tasks[atomicAdd(sweeps.first.marks, 1)];
    __syncthreads();
    const Task<T> task(sweeps, word);
    const Lane at;
    const Place<T> place{task.sweep, (long long)task.group * HEIGHT + WARP_ROWS * at.warp + at.row,
                         (T*)memory + WARP_ROWS * at.warp * ROWS};
    if (task.kind == LEADS)
        lead(at, task, place, slots, memory, memory + FRONT);
    else if (task.kind == INVERTS)
        invert_block(task, *(Inverting*)memory);
    else
        follow(at, task, place, slots, memory + FRONT);
}

#define SWEEP(T, NAME)                                                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                 \
        sweep_##NAME(const Sweeps<T> sweeps, int slots) {                                                    \
        work(sweeps, slots);                                                                                 \
    }

SWEEP(float, f32)
SWEEP(double, f64)
