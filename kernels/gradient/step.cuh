// The step that eliminates row j of V by column j of L. With the row a of V,
//
//     alpha = sqrt(l^2 + a S a^T)      beta_i = (l_i + l'_i) / (l + alpha)      V_i <- V_i - beta_i a
//
// A column of V with a plus sign is interchanged with that of L where its entry outweighs l: otherwise what is left of V is the
// difference of numbers far larger than itself. A column of L whose pivot is negative is taken with the other sign.
#pragma once
#include "gradient/rows.cuh"

template <class T>
struct Step {
    T flip;     // the sign of the pivot of L, with which its column is multiplied
    T l;        // the pivot of L, or the entry of V that it is interchanged with
    T inverse;  // 1 / alpha
    T scale;    // 1 / (l + alpha)
    T ratio;    // l / alpha
    T sign;     // that makes the interchanged entry positive
    T l_tangent, alpha_tangent;
    int interchanged;  // the column of V that is interchanged with that of L, or -1

    // Without an interchange, of a pivot of L, and of L' if that is given.
    __device__ __forceinline__ Step(T pivot, T alpha)
        : flip(pivot < T(0) ? T(-1) : T(1)), l(flip * pivot), sign(1), l_tangent(0), alpha_tangent(0), interchanged(-1) {
        divide(alpha);
    }

    __device__ __forceinline__ void divide(T alpha) {
        inverse = T(1) / alpha;
        scale = T(1) / (l + alpha);
        ratio = l / alpha;
    }

    // Completes the step by the row of V of its pivot, which becomes that after the interchange. By the lanes of the row. `alpha` is the
    // pivot of L', or is computed.
    template <int COLUMNS, int LANES>
    __device__ __forceinline__ void complete(const Place<T, COLUMNS, LANES>& own, T& alpha, bool computes, T (&a)[COLUMNS],
                                             const T* signs) {
        T largest = T(2) * l;
        int found = -1;
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c)
            if (fabs(a[c]) > largest && signs[own.column(c)] > T(0)) {
                largest = fabs(a[c]);
                found = own.column(c);
            }
#pragma unroll
        for (int step = 1; step < LANES; step *= 2) {
            const T other = __shfl_xor_sync(own.mates, largest, step);
            const int at = __shfl_xor_sync(own.mates, found, step);
            if (at >= 0 && (found < 0 || other > largest || (other == largest && at < found))) {
                largest = other;
                found = at;
            }
        }
        if (found >= 0) {
            const T x = own.of_column(own.mates, own.replace(a, found, l), found);
            interchanged = found;
            sign = x < T(0) ? T(-1) : T(1);
            l = fabs(x);
        }
        if (computes) {
            T square = T(0);
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) square = fma(signs[own.column(c)] * a[c], a[c], square);
            alpha = sqrt(fma(l, l, own.own_sum(square)));
        }
        // Most steps have been divided before, not in the chain from step to step.
        if (computes || found >= 0) divide(alpha);
    }
    Step() = default;
};
