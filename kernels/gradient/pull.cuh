// V and Q taken back through the columns of a panel, the last one first. With lbar', Q' behind the step and lbar, Q before it,
//
//     d_i = Q'_i S a^T      t_i = lbar'_i - d_i / (l + alpha)      m_i = t_i / alpha
//     lbar_i = m_i l - d_i / (l + alpha)      V_i <- V_i + beta_i a      Q_i <- Q'_i + m_i a
//
// and the sums over all rows i below j of m_i V_i - beta_i Q'_i, of m_i l_i + beta_i d_i / (l + alpha), and of beta_i d_i / (l + alpha) -
// m_i l'_i, from which the cotangents of row j follow (docs/gradient.md).
#pragma once
#include "gradient/eliminate.cuh"

template <class T>
struct Pull {
    Matrices<T> l, l_new, cotangent, to;

    __device__ __forceinline__ void load(Ahead<T, 3>& ahead, const Panel& panel, int last) const {
        const Matrices<T>* const all[3] = {&l, &l_new, &cotangent};
#pragma unroll
        for (int m = 0; m < 3; ++m)
#pragma unroll
            for (int u = 0; u < AHEAD; ++u) {
                const long long j = panel.start + last - u;
                const bool is_there = panel.has_row && last - u >= 0 && panel.row >= j;
                ahead.x[m][u] = is_there ? all[m]->at(panel.b, panel.row, j) : T(0);
            }
    }

    // The row of this thread in step j, if it is below its pivot, and the sums of each warp, to `slots`. By all threads.
    template <int COLUMNS, int LANES>
    __device__ __forceinline__ void column(const Place<T, COLUMNS, LANES>& own, const Step<T>& step, const T* a, const T* signs,
                                           const Ahead<T, 3>& now, int u, T (&v)[COLUMNS], T (&q)[COLUMNS], const Panel& panel, int j,
                                           bool is_below, T* slots) const {
        T old = step.flip * now.of(0, u);
        const T made = now.of(1, u);
        T d = T(0);
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) d = fma(signs[own.column(c)] * a[own.column(c)], q[c], d);
        d = own.sum(d);
        if (step.interchanged >= 0) {
            // l stands in V. The entry of V that it was interchanged with comes from what the step has made of them.
            T dot = T(0);
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) dot = fma(signs[own.column(c)] * a[own.column(c)], v[c], dot);
            old = fma(step.l, made, -own.sum(dot)) * step.inverse;
        }
        if (!is_below) old = d = T(0);
        const T beta = is_below ? (old + made) * step.scale : T(0);
        const T along = d * step.scale;
        const T left = is_below ? now.of(2, u) - along : T(0);
        const T m = left * step.inverse;
        T before = fma(step.ratio, left, -along);
        T sums[COLUMNS], more[MORE_SUMS] = {fma(beta, along, m * old), fma(beta, along, -m * made)};
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            const T entry = a[own.column(c)];
            v[c] = fma(beta, entry, v[c]);
            // A row that the step has not reached has no numbers yet.
            sums[c] = is_below ? fma(m, v[c], -beta * q[c]) : T(0);
            q[c] = fma(m, entry, q[c]);
        }
        if (step.interchanged >= 0) {
            const int p = step.interchanged;
            T was = T(0);
            if (is_below) {
                own.replace(v, p, step.sign * old);
                was = own.replace(q, p, step.sign * before);
            }
            before = own.of_column(ALL_LANES, was, p);
        }
        if (is_below && own.lane == 0) to.at(panel.b, panel.row, panel.start + j) = step.flip * before;
        sum_rows<COLUMNS, LANES>(sums, slots + own.lane * COLUMNS, true);
        sum_rows<MORE_SUMS, LANES>(more, slots + own.RANK, own.lane == 0);
    }

    // Rows below the diagonal block, and their sums: of step j RANK + MORE_SUMS numbers at partial + j * (RANK + MORE_SUMS).
    template <int COLUMNS, int LANES>
    __device__ __forceinline__ void below(Shared<T, COLUMNS, LANES>& shared, const Place<T, COLUMNS, LANES>& own, const Panel& panel,
                                          T (&v)[COLUMNS], T (&q)[COLUMNS], T* partial) const {
        constexpr int SUMS = Shared<T, COLUMNS, LANES>::SUMS;
        Ahead<T, 3> now, next;
        load(now, panel, (int)panel.cols - 1);
        for (int last = (int)panel.cols - 1; last >= 0; last -= AHEAD) {
            load(next, panel, last - AHEAD);
#pragma unroll 1
            for (int u = 0; u < AHEAD; ++u) {
                const int j = last - u;
                if (j < 0) break;
                auto& slots = shared.slots[u % 2];
                column(own, shared.steps[j], shared.a + j * own.RANK, shared.signs, now, u, v, q, panel, j, panel.has_row,
                       slots[own.warp]);
                __syncthreads();
                for (int at = threadIdx.x; at < SUMS; at += blockDim.x) partial[j * SUMS + at] = shared.total(T(0), slots, at);
            }
            now = next;
        }
    }

    // The rows of the diagonal block. `totals`: the sums over the rows below, or null if there are none.
    template <int COLUMNS, int LANES>
    __device__ __forceinline__ void diagonal(Shared<T, COLUMNS, LANES>& shared, const Place<T, COLUMNS, LANES>& own, const Panel& panel,
                                             T (&v)[COLUMNS], T (&q)[COLUMNS], const T* totals) const {
        constexpr int SUMS = Shared<T, COLUMNS, LANES>::SUMS;
        // The totals of the row's own step, read before the chain from step to step begins.
        T below[COLUMNS], more_below[MORE_SUMS];
        const T* const own_totals = totals && own.row < panel.cols ? totals + own.row * SUMS : nullptr;
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) below[c] = own_totals ? own_totals[own.column(c)] : T(0);
#pragma unroll
        for (int i = 0; i < MORE_SUMS; ++i) more_below[i] = own_totals ? own_totals[own.RANK + i] : T(0);
        Ahead<T, 3> now, next;
        load(now, panel, (int)panel.cols - 1);
        for (int last = (int)panel.cols - 1; last >= 0; last -= AHEAD) {
            load(next, panel, last - AHEAD);
#pragma unroll 1
            for (int u = 0; u < AHEAD; ++u) {
                const int j = last - u;
                if (j < 0) break;
                auto& slots = shared.slots[u % 2];
                const Step<T>& step = shared.steps[j];
                const T* const a = shared.a + j * own.RANK;
                column(own, step, a, shared.signs, now, u, v, q, panel, j, panel.has_row && own.row > j, slots[own.warp]);
                __syncthreads();
                if (own.row == j) {
                    const T of_alpha = (now.of(2, u) + shared.total(more_below[1], slots, own.RANK + 1)) * step.inverse;
                    T of_l = fma(of_alpha, step.l, shared.total(more_below[0], slots, own.RANK));
#pragma unroll
                    for (int c = 0; c < COLUMNS; ++c)
                        q[c] = fma(of_alpha, a[own.column(c)], shared.total(below[c], slots, own.column(c)));
                    if (step.interchanged >= 0) {
                        const T other = own.replace(q, step.interchanged, step.sign * of_l);
                        of_l = own.of_column(own.mates, other, step.interchanged);
                    }
                    if (own.lane == 0) to.at(panel.b, panel.row, panel.row) = step.flip * of_l;
                }
            }
            now = next;
        }
    }
};
