// Decides the matrices of a batch for which the reflections in working precision do not serve: the same reflections in twice
// the precision of double, column by column, as src/wide/recurrence.rs makes them.
//
// The first pass finds whether every new squared pivot is positive, and writes nothing; the second writes L. The last block
// that ends leaves the list of matrices empty.
//
// Shapes: batch.cuh. `room` has 2 * n * k doubles for each block of the grid.
//
// Launch: any number of blocks of THREADS threads.
#include "batch/batch.cuh"
#include "batch/wide.cuh"

constexpr int THREADS = 128;

template <class T>
struct Matrix {
    T* l;
    int n, order, group;

    __device__ __forceinline__ T& at(int i, int j) const { return l[(long long)place(n, i, j) * group]; }
};

// The columns of V diag(sqrt|w|), in memory of the block.
struct WideRows {
    double* room;
    long long n, rank;

    __device__ __forceinline__ Wide get(int i, int r) const {
        return {room[r * n + i], room[(rank + r) * n + i]};
    }
    __device__ __forceinline__ void set(int i, int r, Wide x) const {
        room[r * n + i] = x.hi, room[(rank + r) * n + i] = x.lo;
    }
};

// Why a modification of matrix b cannot be computed at all, or 0; and the place of what is wrong.
template <class T>
__device__ __forceinline__ int refused(const Given<T>& given, long long b, const Matrix<T>& l, int* place_of) {
    __shared__ int first_weight, first_entry, first_zero, too_large, minus;
    if (threadIdx.x == 0) first_weight = first_entry = first_zero = NOWHERE, too_large = minus = 0;
    __syncthreads();
    const double largest = (double)Limits<T>::largest(), limit = 0.9 * largest;
    double most = 0.0;  // the largest entry of columns with a plus sign
    for (int r = 0; r < given.rank; ++r) {
        const T w = given.weight(b, r);
        if (w == T(0)) continue;
        if (threadIdx.x == 0 && !(fabs(w) <= Limits<T>::largest())) atomicMin(&first_weight, r);
        if (w < T(0)) minus = 1;
        for (int i = threadIdx.x; i < l.order; i += THREADS) {
            const double x = (double)*given.at(b, i, r), scaled = fabs(x) * sqrt(fabs((double)w));
            if (!(fabs(x) <= largest)) atomicMin(&first_entry, r * l.n + i);
            if (!(scaled * scaled <= limit / given.rank)) too_large = 1;
            if (w > T(0) && scaled > most) most = scaled;
        }
    }
    for (int i = threadIdx.x; i < l.order; i += THREADS) {
        double squares = 0.0;
        for (int j = 0; j <= i; ++j) squares += (double)l.at(i, j) * (double)l.at(i, j);
        if (!(squares + given.rank * (most * most) <= limit)) too_large = 1;
        if (l.at(i, i) == T(0)) atomicMin(&first_zero, i);
    }
    __syncthreads();
    int found = 0, place = 0;
    if (first_weight != NOWHERE) found = WEIGHT_NOT_FINITE, place = first_weight;
    else if (first_entry != NOWHERE) found = NOT_FINITE, place = first_entry;
    else if (too_large) found = TOO_LARGE;
    else if (minus && first_zero != NOWHERE) found = SINGULAR, place = first_zero;
    if (threadIdx.x == 0) *place_of = place;
    __syncthreads();
    return found;
}

// The reflection that eliminates the columns of V of one sign from row j.
struct WideReflector {
    bool none = true;  // the row is zero
    Wide of_v, of_column, inverse;
};

// Changes the pivot of column j. Returns false if its new square is not positive.
template <class T>
__device__ __forceinline__ bool reflector(const Given<T>& given, long long b, const WideRows& v, int j, bool minus,
                                          Wide& pivot, WideReflector& reflect) {
    Wide sum = {0.0, 0.0};
    for (int r = 0; r < given.rank; ++r)
        if (given.scale(given.weight(b, r), minus) != T(0)) sum = sum + v.get(j, r) * v.get(j, r);
    reflect.none = sum.hi == 0.0;
    if (reflect.none) return true;
    const Wide sign = {minus ? -1.0 : 1.0, 0.0}, square = pivot * pivot + sign * sum;
    if (!(square.hi > 0.0)) return false;
    const Wide fresh = root(square);
    reflect.inverse = Wide{1.0, 0.0} / (pivot + fresh);
    reflect.of_v = sign / fresh;
    reflect.of_column = -(reflect.of_v * sum * reflect.inverse);
    pivot = fresh;
    return true;
}

// Applies it to row i, with the entry l of column j.
template <class T>
__device__ __forceinline__ Wide apply(const WideReflector& reflect, const Given<T>& given, long long b, const WideRows& v,
                                      int i, int j, bool minus, Wide l) {
    if (reflect.none) return l;
    Wide dot = {0.0, 0.0};
    for (int r = 0; r < given.rank; ++r)
        if (given.scale(given.weight(b, r), minus) != T(0)) dot = dot + v.get(i, r) * v.get(j, r);
    const Wide change = reflect.of_column * l + reflect.of_v * dot;
    const Wide both = (l + l + change) * reflect.inverse;
    for (int r = 0; r < given.rank; ++r)
        if (given.scale(given.weight(b, r), minus) != T(0)) v.set(i, r, v.get(i, r) - both * v.get(j, r));
    return l + change;
}

// What the recurrence has found: the column that breaks down, or the order of the matrix, and the ratios of the pivots.
template <class T>
struct Found {
    int column;
    Ratios<T> ratios;
};

template <class T>
__device__ __forceinline__ Found<T> recurrence(const Given<T>& given, long long b, const Matrix<T>& l, const WideRows& v,
                                               bool writes) {
    for (int r = 0; r < given.rank; ++r) {
        const T w = given.weight(b, r);
        const Wide scale = root(Wide{fabs((double)w), 0.0});
        for (int i = threadIdx.x; i < l.order; i += THREADS)
            v.set(i, r, w == T(0) ? Wide{0.0, 0.0} : Wide{(double)*given.at(b, i, r), 0.0} * scale);
    }
    Found<T> found;
    for (int j = 0; j < l.order; ++j) {
        const T old = l.at(j, j);
        Wide pivot = {(double)old, 0.0};
        WideReflector plus, minus;
        // The rows of V have been changed by the columns before.
        __syncthreads();
        const bool positive =
            reflector(given, b, v, j, false, pivot, plus) && reflector(given, b, v, j, true, pivot, minus);
        const T fresh = (T)pivot.hi;
        found.column = j;
        if (!positive || !(fresh > T(0) || (plus.none && minus.none))) return found;
        found.ratios.add(old, fresh);
        for (int i = j + 1 + threadIdx.x; i < l.order; i += THREADS) {
            Wide entry = {(double)l.at(i, j), 0.0};
            entry = apply(plus, given, b, v, i, j, false, entry);
            entry = apply(minus, given, b, v, i, j, true, entry);
            if (writes) l.at(i, j) = (T)entry.hi + T(0);
        }
        // All have read the old pivot.
        __syncthreads();
        if (writes && threadIdx.x == 0) l.at(j, j) = fresh;
    }
    found.column = l.order;
    __syncthreads();
    return found;
}

template <class T>
__device__ __forceinline__ void again(const Modification<T>& all, double* room) {
    const Outcome<T>& outcome = all.outcome;
    const int n = all.factors.n, rank = all.given.rank;
    const WideRows v = {room + 2LL * n * rank * blockIdx.x, n, rank};
    // Written by the launch before this one.
    const int pending = outcome.pending[0];
    for (int number = blockIdx.x; number < pending; number += gridDim.x) {
        const long long b = outcome.pending[2 + number];
        const Matrix<T> l = {all.factors.of(b), n, all.factors.orders[b], all.factors.group};
        int result = refused(all.given, b, l, outcome.place + b);
        if (!result) {
            Found<T> found = recurrence(all.given, b, l, v, false);
            if (found.column < l.order) {
                result = 1 + found.column;
            } else {
                __syncthreads();
                found = recurrence(all.given, b, l, v, true);
                if (threadIdx.x == 0) outcome.changed(b, found.ratios);
            }
        }
        if (threadIdx.x == 0 && result) outcome.unchanged(b, result);
        __syncthreads();
    }
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(outcome.pending + 1, 1) == (int)gridDim.x - 1)
        outcome.pending[0] = outcome.pending[1] = 0;
}

extern "C" __global__ void __launch_bounds__(THREADS) batch_again_f32(const Modification<float> all, double* room) {
    again(all, room);
}
extern "C" __global__ void __launch_bounds__(THREADS) batch_again_f64(const Modification<double> all, double* room) {
    again(all, room);
}

constexpr int MODIFICATION = sizeof(Modification<double>);

EXPORT_LAYOUT(batch_again, THREADS, MODIFICATION)
