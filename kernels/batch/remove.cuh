// What the kernels take that remove a row and column of each matrix: remove_thread.cu, remove_lanes.cu and remove_block.cu.
//
// Without row f the rows after it move up, and column f of L below the diagonal is the V of an update of the columns after it,
// with the reflections of interchanged.cuh. A matrix without a factor or without such a row, and a singular one, keeps its L, and the
// outcome says why. No other one breaks down, so that L is changed in its place.
//
// Each matrix is treated as having n rows, since from its order on they are those of the identity, which move up as well; behind
// them comes another such row. Columns before f have a V of zero, which changes no bit of them.
#pragma once
#include "batch/batch.cuh"
#include "batch/interchanged.cuh"

constexpr int NO_SUCH_ROW = -8;  // a status: the order is at the place beside it

template <class T>
struct Removal {
    Factors<T> factors;
    const int* indices;         // the row that goes, of each matrix
    const unsigned char* mask;  // whether a matrix loses a row; null if all do
    Outcome<T> outcome;

    // Whether a matrix loses row f; `result` is the outcome if it does not.
    __device__ __forceinline__ bool takes(long long b, int order, int f, int& result) const {
        const bool is_wanted = !mask || mask[b];
        result = !is_wanted ? 0 : order == NO_FACTOR ? NONE : f >= order ? NO_SUCH_ROW : 0;
        return is_wanted && result == 0;
    }
    __device__ __forceinline__ void unchanged(long long b, int result, int place) const {
        outcome.place[b] = place;
        outcome.unchanged(b, result);
    }
    // The ratios are those of the pivots after row f, whose own pivot is `gone`.
    __device__ __forceinline__ void removed(long long b, int order, T gone, Ratios<T> ratios) const {
        factors.orders[b] = order - 1;
        ratios.add(gone, T(1));
        // The new A is a part of the old one.
        ratios.least = T(1);
        outcome.changed(b, ratios);
    }
};

constexpr int REMOVAL = sizeof(Removal<double>);
