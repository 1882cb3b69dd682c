// Forward mode of a modification: the tangent of L' from those of L, V and w. (docs/gradient.md)
//
// A matrix of order PANEL_COLS or less has one launch, of `small_push`. Others have, for each stage, that is the columns of V of one sign,
// `begin_along`, and then for each panel `push_diagonal` and `push_below`; and one launch of `clear_above_tangent`. If columns may have
// both signs, the first stage computes the factor in between and its tangent, which the second stage reads. Of a matrix whose columns have
// one sign all is done by the first stage.
//
// Launch: x of the grid counts matrices; y of begin_along and clear_above_tangent is any number, of push_below counts blocks of PANEL_COLS
// rows. Threads as in reverse.cu, with small_push as small_pull.
#include "gradient/push.cuh"
#include "gradient/stage.cuh"

constexpr int THREADS = 256;

template <class T>
struct Forward {
    Modification<T> of;
    Matrices<T> tangent;     // n x n, of L; read in the lower triangle
    AlongV<T> along;
    Matrices<T> to;          // n x n, of L'; written, with zeros above the diagonal
    Matrices<T> between, of_between;  // n x n; the factor between the stages, and its tangent
    // Of all but `small_push`. V and its tangent, between launches (stage.cuh); the steps of a panel, PANEL_COLS for each matrix;
    // ROWS_OF_STEP times RANK numbers of each.
    T* v;
    T* dv;
    Step<T>* steps;
    T* rows;
    long long start;         // the first column of the panel
    int launch;              // ONLY, FIRST or SECOND
};

// What a launch does for matrix b: L, L' and the columns of V, and the tangents of L and L'. By all threads.
template <class T>
struct Part {
    Stage<T> of;
    Matrices<T> tangent, to;
    bool has_work, computes;

    __device__ __forceinline__ Part(const Forward<T>& all, long long b)
        : of(all.of), tangent(all.tangent), to(all.to), has_work(takes_part(of, b, all.launch)), computes(of.takes == PLUS) {
        if (of.takes == PLUS) {
            of.l_new = all.between;
            to = all.of_between;
        } else if (of.takes == MINUS) {
            of.l = all.between;
            tangent = all.of_between;
        }
    }
};

template <class T>
__device__ __forceinline__ void begin(const Forward<T>& all) {
    const long long b = blockIdx.x;
    if (!all.of.is_there(b)) return;
    const Part<T> part(all, b);
    if (!part.has_work) return;
    for (int r = 0; r < all.of.k; ++r) {
        const Column<T> column(part.of, b, r);
        for (long long i = (long long)blockIdx.y * THREADS + threadIdx.x; i < all.of.n; i += (long long)gridDim.y * THREADS) {
            kept_column(all.v, all.of, b, r)[i] = staged(all.of, column, b, i, r);
            kept_column(all.dv, all.of, b, r)[i] = all.along.staged(all.of, column, b, i, r);
        }
    }
}

template <class T>
__device__ __forceinline__ void clear_above(const Forward<T>& all) {
    clear(all.to, blockIdx.x, all.of.n, !all.of.is_there(blockIdx.x), blockIdx.y, gridDim.y);
}

// The signs of the columns and their tangents, to shared memory.
template <class T, int RANK>
__device__ __forceinline__ void take_signs(SharedTangents<T, RANK>& shared, const Stage<T>& of, const AlongV<T>& along, long long b) {
    take_signs(shared.signs, RANK, of, b);
    for (int r = threadIdx.x; r < RANK; r += blockDim.x) shared.sign_tangents[r] = along.of_sign(Column<T>(of, b, r), b, r);
    __syncthreads();
}

template <class T, int COLUMNS, int LANES>
__device__ __forceinline__ void push_diagonal(const Forward<T>& all) {
    constexpr int RANK = COLUMNS * LANES;
    __shared__ SharedTangents<T, RANK> shared;
    const Place<T, COLUMNS, LANES> own;
    const Panel panel = panel_of(all.of, own, all.start, 0);
    if (!all.of.is_there(panel.b)) return;
    const Part<T> part(all, panel.b);
    if (!part.has_work) return;
    take_signs(shared, part.of, all.along, panel.b);
    T v[COLUMNS], dv[COLUMNS];
    fetch(v, all.v, all.of, own, panel.b, panel.row, panel.has_row);
    fetch(dv, all.dv, all.of, own, panel.b, panel.row, panel.has_row);
    const Push<T> push{part.of.l, part.of.l_new, part.tangent, part.to, part.computes};
    const long long first = panel.b * PANEL_COLS;
    push.diagonal(shared, own, panel, v, dv, all.steps + first, all.rows + first * ROWS_OF_STEP * RANK);
}

template <class T, int COLUMNS, int LANES>
__device__ __forceinline__ void push_below(const Forward<T>& all) {
    constexpr int RANK = COLUMNS * LANES;
    __shared__ SharedSteps<T, RANK> shared;
    const Place<T, COLUMNS, LANES> own;
    const Panel panel = panel_of(all.of, own, all.start, 1 + blockIdx.y);
    if (!all.of.is_there(panel.b)) return;
    const Part<T> part(all, panel.b);
    if (!part.has_work) return;
    take_signs(shared.signs, RANK, part.of, panel.b);
    __syncthreads();
    T v[COLUMNS], dv[COLUMNS];
    fetch(v, all.v, all.of, own, panel.b, panel.row, panel.has_row);
    fetch(dv, all.dv, all.of, own, panel.b, panel.row, panel.has_row);
    const Push<T> push{part.of.l, part.of.l_new, part.tangent, part.to, part.computes};
    const long long first = panel.b * PANEL_COLS;
    push.below(shared, own, panel, v, dv, all.steps + first, all.rows + first * ROWS_OF_STEP * RANK);
    keep(v, all.v, all.of, own, panel.b, panel.row, panel.has_row);
    keep(dv, all.dv, all.of, own, panel.b, panel.row, panel.has_row);
}

// Everything, for the rows of one block of threads.
template <class T, int COLUMNS, int LANES>
__device__ __forceinline__ void small_push(const Forward<T>& all) {
    constexpr int RANK = COLUMNS * LANES;
    __shared__ SharedTangents<T, RANK> shared;
    const Place<T, COLUMNS, LANES> own;
    Stage<T> of(all.of);
    const Panel panel = panel_of(of, own, 0, 0);
    const long long b = panel.b;
    clear(all.to, b, of.n, !of.is_there(b), 0, 1);
    if (!of.is_there(b)) return;
    const bool mixed = is_mixed(of, b);
    for (int stage = mixed ? 0 : 1; stage < 2; ++stage) {
        of.takes = !mixed ? BOTH : stage == 1 ? MINUS : PLUS;
        of.l = mixed && stage == 1 ? all.between : all.of.l;
        of.l_new = stage == 0 ? all.between : all.of.l_new;
        __syncthreads();
        take_signs(shared, of, all.along, b);
        T v[COLUMNS], dv[COLUMNS];
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            const int r = own.column(c);
            const Column<T> column(of, b, r);
            v[c] = panel.has_row ? staged(of, column, b, panel.row, r) : T(0);
            dv[c] = panel.has_row ? all.along.staged(of, column, b, panel.row, r) : T(0);
        }
        const Matrices<T> tangent = mixed && stage == 1 ? all.of_between : all.tangent;
        const Push<T> push{of.l, of.l_new, tangent, stage == 0 ? all.of_between : all.to, stage == 0};
        push.diagonal(shared, own, panel, v, dv, (Step<T>*)nullptr, (T*)nullptr);
    }
}

#define ROWS_KERNEL(T, NAME, FUNCTION, COLUMNS, LANES)                                                        \
    extern "C" __global__ void __launch_bounds__(PANEL_COLS * LANES)                                         \
        gradient_##FUNCTION##_##COLUMNS##_##LANES##_##NAME(const Forward<T> all) {                           \
        FUNCTION<T, COLUMNS, LANES>(all);                                                                    \
    }
#define SHAPE(T, NAME, COLUMNS, LANES)                    \
    ROWS_KERNEL(T, NAME, push_diagonal, COLUMNS, LANES)   \
    ROWS_KERNEL(T, NAME, push_below, COLUMNS, LANES)      \
    ROWS_KERNEL(T, NAME, small_push, COLUMNS, LANES)
#define FORWARD(T, NAME)                                                                                             \
    extern "C" __global__ void __launch_bounds__(THREADS) gradient_begin_along_##NAME(const Forward<T> all) { begin(all); } \
    extern "C" __global__ void __launch_bounds__(THREADS) gradient_clear_above_tangent_##NAME(const Forward<T> all) {       \
        clear_above(all);                                                                                            \
    }                                                                                                                \
    SHAPE(T, NAME, 1, 1)                                                                                             \
    SHAPE(T, NAME, 4, 1)                                                                                             \
    SHAPE(T, NAME, 8, 2)                                                                                             \
    SHAPE(T, NAME, 16, 4)

#ifndef ONLY_F64
FORWARD(float, f32)
#endif
#ifndef ONLY_F32
FORWARD(double, f64)
#endif

constexpr int FORWARD_BYTES = sizeof(Forward<double>), FORWARD_BYTES_F32 = sizeof(Forward<float>);
constexpr int STEP_BYTES = sizeof(Step<double>), STEP_BYTES_F32 = sizeof(Step<float>);

EXPORT_LAYOUT(gradient_forward, PANEL_COLS, MOST_COLUMNS, ROWS_OF_STEP, THREADS, FORWARD_BYTES, FORWARD_BYTES_F32, STEP_BYTES,
              STEP_BYTES_F32)
