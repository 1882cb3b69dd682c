// V and its tangent taken through the columns of a panel:
//
//     dl'_i = (dl l_i + l dl_i + dV_i S a^T + V_i (S da + dS a)^T - l'_i dalpha) / alpha
//     dbeta_i = (dl_i + dl'_i - beta_i (dl + dalpha)) / (l + alpha)
//     V_i <- V_i - beta_i a      dV_i <- dV_i - dbeta_i a - beta_i da
#pragma once
#include "common/async_copy.cuh"
#include "gradient/eliminate.cuh"

constexpr int ROWS_OF_STEP = 3;  // a, da, and S da + dS a, one after the other

// What the rows of a diagonal block share: the steps of two columns by turns.
template <class T, int RANK>
struct SharedTangents {
    T rows[2][ROWS_OF_STEP][RANK];
    Step<T> steps[2];
    T signs[RANK], sign_tangents[RANK];
};

// What rows below it share: the steps of AHEAD columns at a time, by turns those at work and those being copied.
template <class T, int RANK>
struct SharedSteps {
    static constexpr int WORDS = sizeof(Step<T>) / sizeof(T), NUMBERS = ROWS_OF_STEP * RANK;
    static_assert(WORDS * sizeof(T) == sizeof(Step<T>), "a step is copied by words");
    T rows[2][AHEAD][NUMBERS];
    Step<T> steps[2][AHEAD];
    T signs[RANK];

    // Begins to copy those of `count` columns.
    __device__ __forceinline__ void ask(int turn, const Step<T>* from, const T* from_rows, int count) {
        T* const to = rows[turn][0];
        for (int at = threadIdx.x; at < count * NUMBERS; at += blockDim.x) copy_async<sizeof(T)>(to + at, from_rows + at, sizeof(T));
        T* const words = (T*)steps[turn];
        const T* const from_words = (const T*)from;
        for (int at = threadIdx.x; at < count * WORDS; at += blockDim.x) copy_async<sizeof(T)>(words + at, from_words + at, sizeof(T));
        copy_async_commit();
    }
};

template <class T>
struct Push {
    Matrices<T> l, l_new, tangent, to;
    bool computes;  // L', and does not read it

    __device__ __forceinline__ void load(Ahead<T, 3>& ahead, const Panel& panel, int first) const {
        const Matrices<T>* const all[3] = {&l, &l_new, &tangent};
#pragma unroll
        for (int m = 0; m < 3; ++m)
#pragma unroll
            for (int u = 0; u < AHEAD; ++u) {
                const long long j = panel.start + first + u;
                const bool is_there = panel.has_row && first + u < panel.cols && panel.row >= j && !(m == 1 && computes);
                ahead.x[m][u] = is_there ? all[m]->at(panel.b, panel.row, j) : T(0);
            }
    }

    // The row of this thread in a step, if it is below its pivot. By all threads.
    template <int COLUMNS, int LANES>
    __device__ __forceinline__ void column(const Place<T, COLUMNS, LANES>& own, const Step<T>& step, const T* rows, const T* signs,
                                           const Ahead<T, 3>& now, int u, T (&v)[COLUMNS], T (&dv)[COLUMNS], const Panel& panel, int j,
                                           bool is_below) const {
        const T* const a = rows;
        const T* const da = rows + own.RANK;
        const T* const signed_da = rows + 2 * own.RANK;
        T old = step.flip * now.of(0, u), made = now.of(1, u), old_tangent = step.flip * now.of(2, u);
        if (step.interchanged >= 0) {
            const int p = step.interchanged;
            T was = T(0), was_tangent = T(0);
            if (is_below) {
                was = own.replace(v, p, old);
                was_tangent = own.replace(dv, p, old_tangent);
            }
            old = step.sign * own.of_column(ALL_LANES, was, p);
            old_tangent = step.sign * own.of_column(ALL_LANES, was_tangent, p);
        }
        T dot = T(0), sum = T(0);
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            const T entry = signs[own.column(c)] * a[own.column(c)];
            dot = fma(entry, v[c], dot);
            sum = fma(signed_da[own.column(c)], v[c], fma(entry, dv[c], sum));
        }
        sum = own.sum(sum);
        if (computes) {
            made = fma(step.l, old, own.sum(dot)) * step.inverse;
            if (is_below && own.lane == 0) l_new.at(panel.b, panel.row, panel.start + j) = made;
        }
        sum += fma(step.l_tangent, old, fma(step.l, old_tangent, -step.alpha_tangent * made));
        sum *= step.inverse;
        if (is_below && own.lane == 0) to.at(panel.b, panel.row, panel.start + j) = sum;
        T beta = (old + made) * step.scale;
        T beta_tangent = (old_tangent + sum - beta * (step.l_tangent + step.alpha_tangent)) * step.scale;
        if (!is_below) beta = beta_tangent = T(0);
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            const T entry = a[own.column(c)];
            v[c] = fma(-beta, entry, v[c]);
            dv[c] = fma(-beta, da[own.column(c)], fma(-beta_tangent, entry, dv[c]));
        }
    }

    // The step of row j and its tangents, by the lanes of that row, which write them to shared memory and, unless it is null, to `kept`.
    template <int COLUMNS, int LANES>
    __device__ __forceinline__ void make(Step<T>& step, T alpha, SharedTangents<T, COLUMNS * LANES>& shared,
                                         const Place<T, COLUMNS, LANES>& own, const Ahead<T, 3>& now, int u, const T (&v)[COLUMNS],
                                         const T (&dv)[COLUMNS], const Panel& panel, Step<T>* kept, T* kept_rows) const {
        T a[COLUMNS], da[COLUMNS], pivot_tangent = now.of(2, u);
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            a[c] = v[c];
            da[c] = dv[c];
        }
        step.complete(own, alpha, computes, a, shared.signs);
        pivot_tangent *= step.flip;
        if (step.interchanged >= 0) {
            const T other = own.replace(da, step.interchanged, pivot_tangent);
            pivot_tangent = step.sign * own.of_column(own.mates, other, step.interchanged);
        }
        T(*const rows)[COLUMNS * LANES] = shared.rows[u % 2];
        T sum = T(0);
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            const int r = own.column(c);
            const T sign = shared.signs[r], sign_tangent = shared.sign_tangents[r];
            sum = fma(fma(T(0.5) * sign_tangent, a[c], sign * da[c]), a[c], sum);
            rows[0][r] = a[c];
            rows[1][r] = da[c];
            rows[2][r] = fma(sign_tangent, a[c], sign * da[c]);
            if (kept)
                for (int m = 0; m < ROWS_OF_STEP; ++m) kept_rows[m * own.RANK + r] = rows[m][r];
        }
        step.l_tangent = pivot_tangent;
        step.alpha_tangent = fma(step.l, pivot_tangent, own.own_sum(sum)) * step.inverse;
        if (own.lane == 0) {
            shared.steps[u % 2] = step;
            if (kept) *kept = step;
            to.at(panel.b, panel.row, panel.row) = step.alpha_tangent;
            if (computes) l_new.at(panel.b, panel.row, panel.row) = alpha;
        }
    }

    // The rows of the diagonal block, which make the steps. These are kept at `kept` and `kept_rows` unless that is null.
    template <int COLUMNS, int LANES>
    __device__ __forceinline__ void diagonal(SharedTangents<T, COLUMNS * LANES>& shared, const Place<T, COLUMNS, LANES>& own,
                                             const Panel& panel, T (&v)[COLUMNS], T (&dv)[COLUMNS], Step<T>* kept, T* kept_rows) const {
        Ahead<T, 3> now, next;
        load(now, panel, 0);
        const bool has_step = own.row < panel.cols;
        const T pivot = has_step ? l.at(panel.b, panel.row, panel.row) : T(1);
        const T alpha = has_step && !computes ? l_new.at(panel.b, panel.row, panel.row) : T(1);
        Step<T> step(pivot, alpha);
        for (int first = 0; first < panel.cols; first += AHEAD) {
            load(next, panel, first + AHEAD);
#pragma unroll 1
            for (int u = 0; u < AHEAD; ++u) {
                const int j = first + u;
                if (j >= panel.cols) break;
                if (own.row == j)
                    make(step, alpha, shared, own, now, u, v, dv, panel, kept ? kept + j : nullptr,
                         kept ? kept_rows + (long long)j * ROWS_OF_STEP * own.RANK : nullptr);
                __syncthreads();
                column(own, shared.steps[u % 2], shared.rows[u % 2][0], shared.signs, now, u, v, dv, panel, j,
                       panel.has_row && own.row > j);
            }
            now = next;
        }
    }

    // Rows below the diagonal block, whose steps are at `steps` and `rows`.
    template <int COLUMNS, int LANES>
    __device__ __forceinline__ void below(SharedSteps<T, COLUMNS * LANES>& shared, const Place<T, COLUMNS, LANES>& own, const Panel& panel,
                                          T (&v)[COLUMNS], T (&dv)[COLUMNS], const Step<T>* steps, const T* rows) const {
        Ahead<T, 3> now, next;
        const auto ask = [&](int first) {
            const int count = min(AHEAD, (int)panel.cols - first);
            shared.ask(first / AHEAD % 2, steps + first, rows + (long long)first * shared.NUMBERS, count);
        };
        load(now, panel, 0);
        ask(0);
        for (int first = 0; first < panel.cols; first += AHEAD) {
            // The steps are there, and all threads have left the other turn's.
            copy_async_wait_all();
            __syncthreads();
            load(next, panel, first + AHEAD);
            if (first + AHEAD < panel.cols) ask(first + AHEAD);
            const int turn = first / AHEAD % 2;
#pragma unroll 1
            for (int u = 0; u < AHEAD; ++u) {
                const int j = first + u;
                if (j >= panel.cols) break;
                column(own, shared.steps[turn][u], shared.rows[turn][u], shared.signs, now, u, v, dv, panel, j, panel.has_row);
            }
            now = next;
        }
    }
};
