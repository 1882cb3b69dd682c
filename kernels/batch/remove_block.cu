// A row and column less of many matrices of any order: a thread block has a matrix, and changes L where it is.
//
// A thread has every t'th row, where t is the size of the block; V is in shared memory.
//
// Shapes: batch.cuh, remove.cuh, with Factors::group = 1. Launch: any number of blocks of a multiple of 32 threads up to MOST_THREADS,
// with shared memory for n scalars.
#include "batch/remove.cuh"
#include "common/memory.cuh"

constexpr int MOST_THREADS = 256;

// The ratios of all threads, in every thread.
template <class T>
__device__ __forceinline__ Ratios<T> ratios_of_block(Ratios<T> ratios) {
    __shared__ double sums[MOST_THREADS / 32];
    ratios.template gather<32>();
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = ratios.sum;
    __syncthreads();
    ratios.sum = sums[0];
    for (int warp = 1; warp < (int)blockDim.x / 32; ++warp) ratios.sum += sums[warp];
    // All have read the sums.
    __syncthreads();
    return ratios;
}

// Columns before f: rows after f move up, a warp a column.
template <class T>
__device__ __forceinline__ void move_up(T* l, int n, int order, int f) {
    const int lane = threadIdx.x % 32;
    for (int j = threadIdx.x / 32; j < f; j += blockDim.x / 32) {
        T* const column = l + place(n, j, j) - j;
        for (int begin = f; begin < order; begin += 32) {
            const int i = begin + lane;
            const T entry = i + 1 < n && i < order ? column[i + 1] : T(0);
            // A row is written that another lane has read.
            __syncwarp();
            if (i < order) column[i] = entry;
        }
    }
}

// Columns from f on. The thread that has row j + 1 computes the reflection of column j + 1 as soon as its row has been changed
// by that of column j, and writes the pivot, whose old value the reflection of column j has been made of.
template <class T>
__device__ __forceinline__ Ratios<T> update(T* l, int n, int order, int f, T* v, Interchanged<T> (&published)[2]) {
    Ratios<T> ratios;
    const auto publish = [&](int j) {
        T* const pivot = l + place(n, j, j);
        const T was = j + 1 < n ? l[place(n, j + 1, j + 1)] : T(1);
        published[j % 2] = interchanged(was, v[j]);
        *pivot = published[j % 2].pivot;
        ratios.add(was, *pivot);
    };
    if (f % (int)blockDim.x == (int)threadIdx.x) publish(f);
    __syncthreads();
    int first = threadIdx.x;  // the thread's first row below the diagonal
    for (int j = f; j < order; ++j) {
        while (first <= j) first += blockDim.x;
        T* const column = l + place(n, j, j) - j;
        const T* const next = column + (n - j - 1);
        const Interchanged<T> reflect = published[j % 2];
        for (int i = first; i < order; i += blockDim.x) {
            column[i] = reflect.apply(i + 1 < n ? next[i + 1] : T(0), v[i]) + T(0);
            if (i == j + 1) publish(i);
        }
        __syncthreads();
    }
    return ratios_of_block(ratios);
}

template <class T>
__device__ __forceinline__ void remove(const Removal<T>& all) {
    DYNAMIC_SHARED(T, v);
    __shared__ Interchanged<T> published[2];
    __shared__ int singular;
    const int n = all.factors.n, thread = threadIdx.x, threads = blockDim.x;
    for (long long b = blockIdx.x; b < all.factors.count; b += gridDim.x) {
        const int order = all.factors.orders[b], f = all.indices[b];
        int result;
        if (!all.takes(b, order, f, result)) {
            if (thread == 0) all.unchanged(b, result, order);
            continue;
        }
        T* const l = all.factors.of(b);
        if (thread == 0) singular = NOWHERE;
        __syncthreads();
        for (int i = thread; i < order; i += threads) {
            if (l[place(n, i, i)] == T(0)) atomicMin(&singular, i);
            v[i] = f <= i && i + 1 < n ? l[place(n, i + 1, f)] : T(0);
        }
        const T gone = l[place(n, f, f)];
        __syncthreads();
        if (singular != NOWHERE) {
            if (thread == 0) all.unchanged(b, SINGULAR, singular);
        } else {
            move_up(l, n, order, f);
            const Ratios<T> ratios = update(l, n, order, f, v, published);
            if (thread == 0) all.removed(b, order, gone, ratios);
        }
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS) batch_remove_block_f32(const Removal<float> all) { remove(all); }
extern "C" __global__ void __launch_bounds__(MOST_THREADS) batch_remove_block_f64(const Removal<double> all) { remove(all); }

EXPORT_LAYOUT(batch_remove_block, MOST_THREADS, REMOVAL)
