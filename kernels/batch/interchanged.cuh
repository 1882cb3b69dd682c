// The reflection of a column of L for one column of V with a plus sign, in which the two are interchanged where V is larger
// (docs/accuracy.md, "Where V outweighs a column of L").
//
// With the pivot l of the column and the entry v of V, and their entries l_i and v_i in a row below, both of V times the sign of v:
//
//     (o, e) = (l, |v|), or (|v|, l) if that is larger     t = e / o, r = sqrt(1 + t^2)
//     l' = o + e b,  b = t / (1 + r)                       l'_i = o_i + (c e_i - d o_i),  c = t / r,  d = t b / r
//     v'_i = e_i - (o_i + l'_i) b
//
// The coefficients are at most 1 and there are no squares of L or V, so that nothing underflows or overflows.
#pragma once
#include "batch/quotient.cuh"

template <class T>
struct Interchanged {
    bool swaps;
    T sign;
    T pivot;  // the new one
    T b, c, d;

    // The new entry of L; v becomes that of V.
    __device__ __forceinline__ T apply(T l, T& v) const {
        const T x = sign * v, o = swaps ? x : l, e = swaps ? l : x;
        const T fresh = o + fma(c, e, -(d * o));
        v = fma(-b, o + fresh, e);
        return fresh;
    }
};

// l is positive. V of zero changes no bit.
template <class T>
__device__ __forceinline__ Interchanged<T> interchanged(T l, T v) {
    Interchanged<T> reflect;
    const T size = fabs(v);
    reflect.sign = v < T(0) ? T(-1) : T(1);
    reflect.swaps = size > l;
    const T o = reflect.swaps ? size : l, e = reflect.swaps ? l : size;
    const T t = quotient(e, o, reciprocal(o)), square = fma(t, t, T(1));
    const T inverse_root = reciprocal_root(square), root = square * inverse_root;
    reflect.b = t * reciprocal(T(1) + root);
    reflect.c = t * inverse_root;
    reflect.d = reflect.c * reflect.b;
    reflect.pivot = fma(e, reflect.b, o);
    return reflect;
}
