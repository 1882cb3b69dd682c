// Decides the new rows for which working precision does not serve (append.cu): the same solve in twice the precision of double.
//
// The matrices are those of the list, which the last block that ends leaves empty. L gets its row if delta is positive, and
// is not written otherwise.
//
// Shapes: batch.cuh, append.cuh. Launch: any number of blocks of THREADS threads, with shared memory for 2 n doubles.
#include "batch/append.cuh"
#include "batch/wide.cuh"
#include "common/memory.cuh"

constexpr int THREADS = 128;

// Why matrix b cannot get a row at all, or 0; and the place of what is wrong.
template <class T>
__device__ __forceinline__ int refused(const Appending<T>& all, long long b, int order, int* place_of) {
    __shared__ int first_zero, first_bad;
    const Factors<T>& factors = all.factors;
    const T* const l = factors.of(b);
    if (threadIdx.x == 0) first_zero = first_bad = NOWHERE;
    __syncthreads();
    for (int i = threadIdx.x; i <= order; i += THREADS) {
        if (i < order && l[(long long)place(factors.n, i, i) * factors.group] == T(0)) atomicMin(&first_zero, i);
        if (!(fabs(all.columns.at(b, i)) <= Limits<T>::largest())) atomicMin(&first_bad, i);
    }
    __syncthreads();
    const double d = (double)all.columns.at(b, order);
    int found = 0, place = 0;
    if (first_zero != NOWHERE) found = SINGULAR, place = first_zero;
    else if (first_bad != NOWHERE) found = NOT_FINITE, place = first_bad;
    else if (d > 0.9 * (double)Limits<T>::largest()) found = TOO_LARGE;
    if (threadIdx.x == 0) *place_of = place;
    __syncthreads();
    return found;
}

// s of matrix b, in shared memory, and delta.
template <class T>
__device__ __forceinline__ Wide solve(const Appending<T>& all, long long b, int order, double* high, double* low) {
    const Factors<T>& factors = all.factors;
    const T* const l = factors.of(b);
    for (int i = threadIdx.x; i < order; i += THREADS) high[i] = (double)all.columns.at(b, i), low[i] = 0.0;
    __syncthreads();
    Wide square = {(double)all.columns.at(b, order), 0.0};
    for (int j = 0; j < order; ++j) {
        const T* const column = l + (long long)place(factors.n, j, j) * factors.group;
        const Wide solved = Wide{high[j], low[j]} / Wide{(double)column[0], 0.0};
        for (int i = j + 1 + threadIdx.x; i < order; i += THREADS) {
            const Wide entry = {(double)column[(long long)(i - j) * factors.group], 0.0};
            const Wide rest = Wide{high[i], low[i]} - entry * solved;
            high[i] = rest.hi, low[i] = rest.lo;
        }
        square = square - solved * solved;
        // All have read entry j.
        __syncthreads();
        if (threadIdx.x == 0) high[j] = solved.hi;
    }
    __syncthreads();
    return square;
}

template <class T>
__device__ __forceinline__ void again(const Appending<T>& all) {
    DYNAMIC_SHARED(double, shared);
    const Factors<T>& factors = all.factors;
    const int n = factors.n;
    double *const high = shared, *const low = shared + n;
    // Written by the launch before this one.
    const int pending = all.outcome.pending[0];
    for (int number = blockIdx.x; number < pending; number += gridDim.x) {
        const long long b = all.outcome.pending[2 + number];
        const int order = factors.orders[b];
        T* const l = factors.of(b);
        int result = refused(all, b, order, all.outcome.place + b);
        if (!result) {
            const Wide square = solve(all, b, order, high, low);
            // NaN if a number has overflowed, which no row below the root of d does.
            const T pivot = square.hi > 0.0 ? (T)root(square).hi : T(0);
            if (pivot > T(0)) {
                for (int i = threadIdx.x; i < order; i += THREADS)
                    l[(long long)place(n, order, i) * factors.group] = (T)high[i] + T(0);
                if (threadIdx.x == 0) {
                    l[(long long)place(n, order, order) * factors.group] = pivot;
                    all.appended(b, order, pivot, all.columns.at(b, order));
                }
            } else {
                result = 1 + order;
            }
        }
        if (threadIdx.x == 0 && result) all.outcome.unchanged(b, result);
        __syncthreads();
    }
    if (threadIdx.x == 0 && atomicAdd(all.outcome.pending + 1, 1) == (int)gridDim.x - 1)
        all.outcome.pending[0] = all.outcome.pending[1] = 0;
}

extern "C" __global__ void __launch_bounds__(THREADS) batch_append_again_f32(const Appending<float> all) { again(all); }
extern "C" __global__ void __launch_bounds__(THREADS) batch_append_again_f64(const Appending<double> all) { again(all); }

constexpr int APPENDING = sizeof(Appending<double>);

EXPORT_LAYOUT(batch_append_again, THREADS, APPENDING)
