// What the kernels of a batch share: many factors of order n or less in device memory, what is added to them, and what comes of it.
#pragma once
#include "batch/limits.cuh"
#include "common/layout.cuh"

// The entry (i, j), i >= j, of a lower triangle that is packed column by column.
__device__ __forceinline__ int place(int n, int i, int j) { return j * (2 * n - j + 1) / 2 + i - j; }
__device__ __forceinline__ int entries(int n) { return n * (n + 1) / 2; }

// Factors L, n x n each, packed lower triangles. Rows and columns of a matrix from its order on are those of the identity.
// Entry e of matrix b lies at l + b / group * group_stride + b % group + e * group: with group = 1 one matrix after the
// other, with group = 32 the matrices of a warp side by side. With `sides` a matrix has two places of that kind, and a modification
// writes the one that does not hold the factor.
template <class T>
struct Factors {
    T* l;
    long long group_stride;  // a multiple of 16 bytes
    long long count;
    int* orders;  // of each matrix; -1 if it has no factor
    int* sides;  // of each matrix: which of its two places holds it; null if it has one
    long long side_stride;
    int n;
    int group;

    __device__ __forceinline__ T* of(long long b) const {
        if (group != 1) return l + b / group * group_stride + b % group;
        return l + b * group_stride + (sides ? sides[b] * side_stride : 0);
    }
    // The other place of a matrix that has two.
    __device__ __forceinline__ T* beside(long long b) const {
        return l + b * group_stride + (sides[b] ? 0 : side_stride);
    }
};

// The order of a matrix that has no factor.
constexpr int NO_FACTOR = -1;

// What became of a matrix: 0, 1 + the column that breaks down, or one of these and of those in append.cuh (-7) and remove.cuh (-8).
constexpr int NONE = -1;                 // it has no factor
constexpr int NOT_FINITE = -2;           // of V or of A, at the place beside it
constexpr int WEIGHT_NOT_FINITE = -3;    // its column is at the place beside it
constexpr int TOO_LARGE = -4;            // squares could overflow
constexpr int SINGULAR = -5;             // of a solve or a downdate, with the column at the place beside it
constexpr int UNDECIDED = -6;            // for a moment: again.cu or append_again.cu decides

// The place of what is not there, after all places.
constexpr int NOWHERE = 0x7fffffff;

// V, and what multiplies its columns: A + V diag(w) V^T.
template <class T>
struct Given {
    const T* v;  // entry (i, r) of matrix b at v + b * v_matrix + i * v_row + r * v_column
    long long v_matrix, v_row, v_column;
    const T* weights;  // of column r of matrix b at weights + b * weights_matrix + r * weights_column; null if all are `sign`
    long long weights_matrix, weights_column;
    const unsigned char* mask;  // whether a matrix is modified; null if all are
    int rank;
    int sign;

    // The root of the magnitude of a weight, if it has this sign; zero if it has not, NaN if it is NaN.
    __device__ __forceinline__ T scale(T w, bool minus) const {
        return (minus ? w > T(0) : w < T(0)) ? T(0) : sqrt(fabs(w));
    }
    // The weight of column r of a matrix.
    __device__ __forceinline__ T weight(long long b, int r) const {
        return weights ? weights[b * weights_matrix + r * weights_column] : (T)sign;
    }
    // The scales of some columns, from number `begin` on, of those that are taken in this order: from the last one on if they
    // have a minus sign. The loads do not wait for each other.
    template <int COLUMNS>
    __device__ __forceinline__ void scales(T (&to)[COLUMNS], long long b, int begin, bool minus) const {
        if (weights) {
            const T* const own = weights + b * weights_matrix;
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) to[c] = own[begin + c < rank ? column(begin + c, minus) * weights_column : 0];
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) to[c] = scale(to[c], minus);
        } else {
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) to[c] = T(1);
        }
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c)
            if (begin + c >= rank) to[c] = T(0);
    }
    __device__ __forceinline__ int column(int number, bool minus) const {
        return minus ? rank - 1 - number : number;
    }
    __device__ __forceinline__ long long offset(long long b, int i) const { return b * v_matrix + i * v_row; }
    __device__ __forceinline__ const T* at(long long b, int i, int r) const {
        return v + offset(b, i) + r * v_column;
    }
    __device__ __forceinline__ bool is_wanted(long long b) const { return !mask || mask[b]; }
    __device__ __forceinline__ bool has(bool minus) const { return weights || (sign < 0) == minus; }
};

// The ratios of new pivots to old ones: the least of them, negative if there are none, and the logarithm of their product, as a sum
// and a factor. Pivots that were zero do not count.
template <class T>
struct Ratios {
    T least = T(-1);
    double sum = 0.0, product = 1.0;

    __device__ __forceinline__ void take(T other) {
        if (other >= T(0) && (least < T(0) || other < least)) least = other;
    }
    __device__ __forceinline__ void add(T old, T fresh) {
        if (old == T(0)) return;
        const T ratio = fresh == old ? T(1) : fresh / old;
        take(ratio);
        if (ratio > T(1e-15) && ratio < T(1e15)) {
            product *= (double)ratio;
            // The next product does not overflow.
            if (!(product > 1e-150 && product < 1e150)) sum += log(product), product = 1.0;
        } else {
            sum += log((double)fresh) - log((double)old);
        }
    }
    // Adds those of the other lanes of a matrix.
    template <int LANES>
    __device__ __forceinline__ void gather() {
        sum += log(product), product = 1.0;
#pragma unroll
        for (int lanes = LANES / 2; lanes > 0; lanes /= 2) {
            take(__shfl_xor_sync(0xffffffffu, least, lanes, LANES));
            sum += __shfl_xor_sync(0xffffffffu, sum, lanes, LANES);
        }
    }
};

// What a modification has done, for each matrix. The matrices that again.cu has to decide are listed.
template <class T>
struct Outcome {
    int* status;
    int* place;  // row + n * column, where `status` has one
    T* ratio;    // the least ratio of a new pivot to the old one
    T* log_det;  // by how much log det A has grown
    int* pending;  // their number, the blocks of again.cu that are done, and then the matrices

    __device__ __forceinline__ void unchanged(long long b, int result) const {
        status[b] = result;
        ratio[b] = T(1);
        log_det[b] = T(0);
    }
    __device__ __forceinline__ void defer(long long b) const {
        status[b] = UNDECIDED;
        pending[2 + atomicAdd(pending, 1)] = (int)b;
    }
    __device__ __forceinline__ void changed(long long b, const Ratios<T>& ratios) const {
        status[b] = 0;
        ratio[b] = ratios.least < T(0) ? T(1) : ratios.least;
        log_det[b] = (T)(2.0 * (ratios.sum + log(ratios.product)));
    }
};

template <class T>
struct Modification {
    Factors<T> factors;
    Given<T> given;
    Outcome<T> outcome;
};
