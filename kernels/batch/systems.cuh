// Systems with the factors of a batch.
//
// Entry (i, c) of the right-hand sides of matrix b at x + b * x_matrix + i * x_row + c * x_column; rows from the order of the
// matrix on are not accessed. A matrix that has no factor or a pivot of zero, or with a right-hand side that is not finite,
// keeps its right-hand sides, and `status` and `place_of` (batch.cuh) say why.
#pragma once
#include "batch/batch.cuh"
#include "batch/triangles.cuh"

template <class T>
struct Systems {
    T* x;
    long long x_matrix, x_row, x_column;
    int count;  // right-hand sides
    int lower;  // whether to solve with L
    int upper;  // whether to solve with its transpose
    int shared_stride;
    int* status;
    int* place_of;

    __device__ __forceinline__ T* at(long long b, int i, int c) const {
        return x + b * x_matrix + i * x_row + c * x_column;
    }
    __device__ __forceinline__ void result(long long b, int status_of, int place) const {
        status[b] = status_of;
        place_of[b] = place;
    }
    // By the places of the first right-hand side that is not finite and of the first pivot that is zero.
    __device__ __forceinline__ void decide(long long b, int bad, int singular) const {
        if (bad != NOWHERE) return result(b, NOT_FINITE, bad);
        if (singular != NOWHERE) return result(b, SINGULAR, singular);
        result(b, 0, 0);
    }
};

// Whether the reciprocal of a pivot overflows or nearly so. It is then divided by, in solve_alone.
template <class T>
__device__ __forceinline__ bool is_tiny(T pivot) {
    return fabs(pivot) < T(4) / Limits<T>::largest();
}

// The solutions of one matrix, by one thread.
template <class T>
__device__ void solve_alone(const Factors<T>& factors, const Systems<T>& systems, long long b) {
    const int n = factors.n, order = factors.orders[b], group = factors.group;
    const T* const l = factors.of(b);
    for (int c = 0; c < systems.count; ++c) {
        for (int i = 0; systems.lower && i < order; ++i) {
            T x = *systems.at(b, i, c);
            for (int j = 0; j < i; ++j) x = fma(-l[(long long)place(n, i, j) * group], *systems.at(b, j, c), x);
            *systems.at(b, i, c) = x / l[(long long)place(n, i, i) * group];
        }
        for (int j = order - 1; systems.upper && j >= 0; --j) {
            T x = *systems.at(b, j, c);
            for (int i = j + 1; i < order; ++i) x = fma(-l[(long long)place(n, i, j) * group], *systems.at(b, i, c), x);
            *systems.at(b, j, c) = x / l[(long long)place(n, j, j) * group];
        }
    }
}

// A matrix and its right-hand sides, of which LANES lanes have the rows: lane g the rows g, g + LANES, ..
template <class T, int LANES, int ROWS>
struct System {
    const Factors<T>& factors;
    const Systems<T>& systems;
    long long b;
    int n, order, member;
    T inverse[ROWS];  // of the pivots
    T x[ROWS];
    int bad;  // the place of a right-hand side that is not finite
    bool takes;

    __device__ __forceinline__ System(const Factors<T>& of, const Systems<T>& given) : factors(of), systems(given) {
        b = (long long)blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES;
        n = factors.n, member = threadIdx.x % LANES;
        const bool is_there = b < factors.count;
        if (!is_there) b = 0;
        order = is_there ? factors.orders[b] : NO_FACTOR;
        if (is_there && order == NO_FACTOR && member == 0) systems.result(b, NONE, 0);
        takes = order != NO_FACTOR;
    }

    __device__ __forceinline__ int row(int part) const { return part * LANES + member; }
    // Whether the lane has a row in this part below the diagonal of column j of a block of LANES columns.
    __device__ __forceinline__ bool has(int block, int part, int j) const {
        return row(part) < n && (part > block || member > j);
    }

    // Takes the first right-hand sides, and looks for one that is not finite. The loads do not wait for those of L.
    __device__ __forceinline__ void begin() {
        bad = NOWHERE;
        for (int c = systems.count - 1; c >= 0; --c) {
            take(c);
#pragma unroll
            for (int part = ROWS - 1; part >= 0; --part)
                if (!is_finite(x[part])) bad = c * n + row(part);
        }
    }

    // Checks right-hand sides and pivots. Returns whether a matrix of the warp goes on.
    __device__ __forceinline__ bool check(const T (&pivot)[ROWS]) {
        int singular = NOWHERE;
        bool tiny = false;
#pragma unroll
        for (int part = ROWS - 1; part >= 0; --part) {
            inverse[part] = T(1) / pivot[part];
            tiny |= is_tiny(pivot[part]);
            if (pivot[part] == T(0)) singular = row(part);
        }
#pragma unroll
        for (int lanes = LANES / 2; lanes > 0; lanes /= 2) {
            bad = min(bad, __shfl_xor_sync(ALL_LANES, bad, lanes, LANES));
            singular = min(singular, __shfl_xor_sync(ALL_LANES, singular, lanes, LANES));
        }
        if (takes && member == 0) systems.decide(b, bad, singular);
        takes = takes && min(bad, singular) == NOWHERE;
        const unsigned mine = ALL_LANES >> (32 - LANES) << threadIdx.x % 32 / LANES * LANES;
        const bool alone = (__ballot_sync(ALL_LANES, tiny) & mine) != 0;
        if (takes && alone && member == 0) solve_alone(factors, systems, b);
        takes = takes && !alone;
        return __any_sync(ALL_LANES, takes);
    }

    __device__ __forceinline__ void take(int c) {
#pragma unroll
        for (int part = 0; part < ROWS; ++part) x[part] = takes && row(part) < order ? *systems.at(b, row(part), c) : T(0);
    }
    __device__ __forceinline__ void give(int c) const {
#pragma unroll
        for (int part = 0; part < ROWS; ++part)
            if (takes && row(part) < order) *systems.at(b, row(part), c) = x[part];
    }
};
