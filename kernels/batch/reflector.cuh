// The reflection that eliminates a row of V by a pivot of L: docs/accuracy.md, "The method".
#pragma once
#include "batch/limits.cuh"
#include "common/arithmetic.cuh"

// The sum of the squares of a row of V. With a minus sign, also what has been rounded off it (Ogita, Rump and Oishi 2005,
// Dot2), since l^2 minus the sum may cancel.
template <class T, bool MINUS>
struct Squares {
    T sum = T(0), rest = T(0);

    __device__ __forceinline__ void add(T x) {
        if (!MINUS) {
            sum = fma(x, x, sum);
            return;
        }
        const T square = x * x, both = sum + square, part = both - sum;
        rest += fma(x, x, -square) + ((sum - (both - part)) + (square - part));
        sum = both;
    }
};

// With a = row j of V and the pivot l: l_i <- l_i + g (V_i a^T - q l_i), V_i <- V_i - (l_i + l_i') inverse a.
template <class T>
struct Reflector {
    T pivot;    // the new one
    T g;        // sign / alpha
    T q;        // a a^T / (l + alpha)
    T inverse;  // 1 / (l + alpha)

    // Without negative zeros, so that a row of V of zeros, which may be computed beside others, changes no bit.
    __device__ __forceinline__ T column(T l, T dot) const { return fma(g, fma(-q, l, dot), l) + T(0); }
};

// `good` becomes false if V outweighs L, or if the new squared pivot is not far from zero and from overflow.
template <class T, bool MINUS>
__device__ __forceinline__ Reflector<T> reflector(T l, const Squares<T, MINUS>& squares, bool& good) {
    const T sum = squares.sum, old = l * l;
    T square = MINUS ? (old - sum) + (fma(l, l, -old) - squares.rest) : old + sum;
    // A row of zeros changes nothing, whatever the pivot.
    if (sum == T(0)) square = T(1);
    // The comparisons are false for NaN.
    good = good && square > Limits<T>::small_square() && square < Limits<T>::large_square() &&
           (MINUS ? old <= T(1.0 + OUTWEIGHS) * square || sum == T(0) : sum <= T(OUTWEIGHS) * old);
    const T inverse_root = reciprocal_root(square);
    const T once = square * inverse_root;
    const T alpha = fma(T(0.5) * inverse_root, fma(-once, once, square), once);
    const T inverse = reciprocal(l + alpha);
    const T q = sum * inverse;
    // Where the change of the pivot is small, it is more accurate than the new pivot.
    const T pivot = q <= T(0.25) * l ? (MINUS ? l - q : l + q) : alpha;
    return {pivot, MINUS ? -inverse_root : inverse_root, q, inverse};
}
