// What the kernels take that append a row and column to each matrix: append.cu and append_again.cu.
#pragma once
#include "batch/batch.cuh"

constexpr int FULL = -7;  // a status: there is no room for a further row

// If less than this many roundings of d are left in the squared pivot, they could decide whether it is positive.
constexpr double ROUNDINGS = 16384.0;

// The new columns of A. Of a matrix of order m the entries 0 .. m of the column are used; it has n.
template <class T>
struct Columns {
    const T* a;  // entry i of matrix b at a + b * a_matrix + i * a_row
    long long a_matrix, a_row;
    const unsigned char* mask;  // whether a matrix gets a row; null if all do

    __device__ __forceinline__ T at(long long b, int i) const { return a[b * a_matrix + i * a_row]; }
    __device__ __forceinline__ bool is_wanted(long long b) const { return !mask || mask[b]; }
};

template <class T>
struct Appending {
    Factors<T> factors;
    Columns<T> columns;
    Outcome<T> outcome;

    // Whether a matrix gets a row; `result` is the outcome if it does not.
    __device__ __forceinline__ bool takes(long long b, int order, int& result) const {
        result = !columns.is_wanted(b) ? 0 : order == NO_FACTOR ? NONE : order == factors.n ? FULL : 0;
        return result == 0 && columns.is_wanted(b);
    }
    // Notes the row with this pivot, below the diagonal entry d of A.
    __device__ __forceinline__ void appended(long long b, int order, T pivot, T d) const {
        factors.orders[b] = order + 1;
        outcome.status[b] = 0;
        const T ratio = pivot / sqrt(d);
        outcome.ratio[b] = ratio < T(1) ? ratio : T(1);
        outcome.log_det[b] = (T)(2.0 * log((double)pivot));
    }
};

// Whether the squared pivot is positive beyond doubt, and neither it nor d is near underflow or overflow. False for NaN.
template <class T>
__device__ __forceinline__ bool is_certain(T square, T d) {
    constexpr double UNIT = sizeof(T) == 8 ? 0x1p-53 : 0x1p-24;
    const T doubt = d * (T)(ROUNDINGS * UNIT);
    return square > doubt && square > Limits<T>::small_square() && d < Limits<T>::large_square();
}
