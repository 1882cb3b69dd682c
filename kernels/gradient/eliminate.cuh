// V taken through the columns of a panel: V_i <- V_i - beta_i a for each row i below the pivot. Row j is left as it is when its step
// comes.
#pragma once
#include "gradient/step.cuh"

constexpr int AHEAD = 4;  // columns that are loaded while as many are worked on

// Entries of a row in AHEAD columns of some matrices, in registers.
template <class T, int MATRICES>
struct Ahead {
    T x[MATRICES][AHEAD];

    // Without an index into registers, which there is not, or AHEAD copies of the code that works on a column.
    __device__ __forceinline__ T of(int m, int u) const { return u < 2 ? (u < 1 ? x[m][0] : x[m][1]) : u < 3 ? x[m][2] : x[m][3]; }
};
static_assert(AHEAD == 4, "the numbers in Ahead");

// Columns [start, start + cols) of L, and the rows of one block of threads.
struct Panel {
    long long b;           // the matrix
    long long start, cols;
    long long row;         // that of this thread, in L
    bool has_row;
};

template <class T>
struct Eliminate {
    Matrices<T> l, l_new;
    bool computes;  // L', and does not read it

    __device__ __forceinline__ void load(Ahead<T, 2>& to, const Panel& panel, int first) const {
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) {
            const long long j = panel.start + first + u;
            const bool is_there = panel.has_row && first + u < panel.cols && panel.row >= j;
            to.x[0][u] = is_there ? l.at(panel.b, panel.row, j) : T(0);
            to.x[1][u] = is_there && !computes ? l_new.at(panel.b, panel.row, j) : T(0);
        }
    }

    // The row of this thread in step j, if it is below its pivot.
    template <int COLUMNS, int LANES>
    __device__ __forceinline__ void column(const Place<T, COLUMNS, LANES>& own, const Step<T>& step, const T* a, const T* signs, T old,
                                           T made, T (&v)[COLUMNS], const Panel& panel, int j, bool is_below) const {
        old *= step.flip;
        if (step.interchanged >= 0) {
            const T other = own.of_column(ALL_LANES, is_below ? own.replace(v, step.interchanged, old) : T(0), step.interchanged);
            old = step.sign * other;
        }
        if (computes) {
            T dot = T(0);
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) dot = fma(signs[own.column(c)] * a[own.column(c)], v[c], dot);
            made = fma(step.l, old, own.sum(dot)) * step.inverse;
            if (is_below && own.lane == 0) l_new.at(panel.b, panel.row, panel.start + j) = made;
        }
        const T beta = is_below ? (old + made) * step.scale : T(0);
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) v[c] = fma(-beta, a[own.column(c)], v[c]);
    }

    // The rows of the diagonal block, which make the steps. All shared memory but the slots is written.
    template <int COLUMNS, int LANES>
    __device__ __forceinline__ void diagonal(Shared<T, COLUMNS, LANES>& shared, const Place<T, COLUMNS, LANES>& own, const Panel& panel,
                                             T (&v)[COLUMNS]) const {
        Ahead<T, 2> now, next;
        load(now, panel, 0);
        const bool has_step = own.row < panel.cols;
        const T pivot = has_step ? l.at(panel.b, panel.row, panel.row) : T(1);
        T alpha = has_step && !computes ? l_new.at(panel.b, panel.row, panel.row) : T(1);
        Step<T> step(pivot, alpha);
        for (int first = 0; first < panel.cols; first += AHEAD) {
            load(next, panel, first + AHEAD);
#pragma unroll 1
            for (int u = 0; u < AHEAD; ++u) {
                const int j = first + u;
                if (j >= panel.cols) break;
                T* const a = shared.a + j * own.RANK;
                if (own.row == j) {
                    T row[COLUMNS];
#pragma unroll
                    for (int c = 0; c < COLUMNS; ++c) row[c] = v[c];
                    step.complete(own, alpha, computes, row, shared.signs);
#pragma unroll
                    for (int c = 0; c < COLUMNS; ++c) a[own.column(c)] = row[c];
                    if (own.lane == 0) {
                        shared.steps[j] = step;
                        if (computes) l_new.at(panel.b, panel.row, panel.row) = alpha;
                    }
                }
                __syncthreads();
                column(own, shared.steps[j], a, shared.signs, now.of(0, u), now.of(1, u), v, panel, j, panel.has_row && own.row > j);
            }
            now = next;
        }
    }

    // Rows below the diagonal block, whose steps are in shared memory.
    template <int COLUMNS, int LANES>
    __device__ __forceinline__ void below(const Shared<T, COLUMNS, LANES>& shared, const Place<T, COLUMNS, LANES>& own,
                                          const Panel& panel, T (&v)[COLUMNS]) const {
        Ahead<T, 2> now, next;
        load(now, panel, 0);
        for (int first = 0; first < panel.cols; first += AHEAD) {
            load(next, panel, first + AHEAD);
#pragma unroll 1
            for (int u = 0; u < AHEAD; ++u) {
                const int j = first + u;
                if (j >= panel.cols) break;
                column(own, shared.steps[j], shared.a + j * own.RANK, shared.signs, now.of(0, u), now.of(1, u), v, panel, j, panel.has_row);
            }
            now = next;
        }
    }
};
