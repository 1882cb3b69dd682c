// A + V diag(w) V^T for many factors of any order: a thread block has a matrix.
//
// The new factor is written beside the old one (Factors::sides). A thread has every t'th row, where t is the size of the block; V
// is in registers if it has one row, and in shared memory if it has several. The thread that has row j + 1 computes the
// reflection of column j + 1 as soon as its row has been changed by that of column j, so that a column takes one barrier. A
// matrix for which the reflections do not serve keeps the old factor, and is listed for again.cu.
//
// Shapes: batch.cuh, with Factors::group = 1.
//
// Launch: any number of blocks of a multiple of 32 threads, as many as rows or MOST_THREADS, with shared memory for COLUMNS x n
// scalars of V if n exceeds MOST_THREADS (modify_rows).
#include "batch/batch.cuh"
#include "batch/reflector.cuh"
#include "common/memory.cuh"

constexpr int MOST_THREADS = 256;

// The reflection of a column and the row of V that it eliminates, as one thread publishes them.
template <class T, int COLUMNS>
struct Published {
    Reflector<T> reflect;
    T a[COLUMNS];
};

// The rows of V of a thread.
template <class T, int COLUMNS, bool SEVERAL>
struct Rows {
    T v[COLUMNS];
    T* shared;  // row i of column c at shared + c * n + i
    int n;

    __device__ __forceinline__ T get(int c, int i) const { return SEVERAL ? shared[c * n + i] : v[c]; }
    __device__ __forceinline__ void set(int c, int i, T x) {
        if (SEVERAL)
            shared[c * n + i] = x;
        else
            v[c] = x;
    }
};

// Returns the new pivot.
template <class T, int COLUMNS, bool SEVERAL, bool MINUS>
__device__ __forceinline__ T publish(Published<T, COLUMNS>& to, T pivot, const Rows<T, COLUMNS, SEVERAL>& v, int i, bool& good) {
    Squares<T, MINUS> squares;
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) squares.add(to.a[c] = v.get(c, i));
    to.reflect = reflector<T, MINUS>(pivot, squares, good);
    return to.reflect.pivot;
}

// Eliminates columns of V of one sign, with L read from `from` and written to `to`, which may be the same. The thread that has a row,
// alone, reads and writes it.
template <class T, int COLUMNS, bool SEVERAL, bool MINUS>
__device__ __forceinline__ void eliminate(const T* from, T* to, int n, Rows<T, COLUMNS, SEVERAL>& v,
                                          Published<T, COLUMNS> (&published)[2], bool& good) {
    const int thread = threadIdx.x, threads = blockDim.x;
    int column = 0;  // entry (i, j) at column + i
    if (thread == 0) to[0] = publish<T, COLUMNS, SEVERAL, MINUS>(published[0], from[0], v, 0, good);
    __syncthreads();
    int first = thread;  // the thread's first row below the diagonal
    for (int j = 0; j < n; ++j) {
        if (first == j) first += threads;
        const int next = column + (n - j - 1);
        const Published<T, COLUMNS>& of = published[j % 2];
        const Reflector<T> reflect = of.reflect;
        for (int i = first; i < n; i += threads) {
            T dot = v.get(0, i) * of.a[0];
#pragma unroll
            for (int c = 1; c < COLUMNS; ++c) dot = fma(v.get(c, i), of.a[c], dot);
            const T old = from[column + i], fresh = reflect.column(old, dot);
            const T both = (old + fresh) * reflect.inverse;
            to[column + i] = fresh;
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) v.set(c, i, fma(-both, of.a[c], v.get(c, i)));
            if (i == j + 1) to[next + i] = publish<T, COLUMNS, SEVERAL, MINUS>(published[i % 2], from[next + i], v, i, good);
        }
        column = next;
        __syncthreads();
    }
}

// The columns of V of one sign, COLUMNS at a time. A downdate takes them from the last one on. `changes` becomes true if V has entries
// other than zero; then `to` has the new factor.
template <class T, int COLUMNS, bool SEVERAL, bool MINUS>
__device__ __forceinline__ void sweep(const Modification<T>& all, long long b, int order, const T* l, T* to,
                                      Rows<T, COLUMNS, SEVERAL>& v, Published<T, COLUMNS> (&published)[2],
                                      bool& changes, bool& good) {
    const Given<T>& given = all.given;
    if (!given.has(MINUS)) return;
    for (int begin = 0; begin < given.rank; begin += COLUMNS) {
        bool any = false, weighted = false;
        for (int c = 0; c < COLUMNS; ++c) {
            const int r = MINUS ? given.rank - 1 - begin - c : begin + c;
            const T scale = begin + c < given.rank ? given.scale(given.weight(b, r), MINUS) : T(0);
            weighted |= scale != T(0);
            good = good && scale == scale;
            for (int i = threadIdx.x; i < all.factors.n; i += blockDim.x) {
                const T entry = i < order && scale != T(0) ? *given.at(b, i, r) * scale : T(0);
                v.set(c, i, entry);
                any = any || entry != T(0);
            }
        }
        // A singular matrix has no downdate.
        for (int i = threadIdx.x; MINUS && weighted && i < order; i += blockDim.x)
            good = good && l[place(all.factors.n, i, i)] != T(0);
        if (!__syncthreads_or(any)) continue;
        eliminate<T, COLUMNS, SEVERAL, MINUS>(changes ? to : l, to, all.factors.n, v, published, good);
        changes = true;
    }
}

// The ratios of the pivots, in every thread.
template <class T>
__device__ __forceinline__ Ratios<T> compare(const T* old, const T* fresh, int n, int order) {
    __shared__ T leasts[MOST_THREADS / 32];
    __shared__ double sums[MOST_THREADS / 32];
    Ratios<T> ratios;
    for (int i = threadIdx.x; i < order; i += blockDim.x) ratios.add(old[place(n, i, i)], fresh[place(n, i, i)]);
    ratios.template gather<32>();
    if (threadIdx.x % 32 == 0) leasts[threadIdx.x / 32] = ratios.least, sums[threadIdx.x / 32] = ratios.sum;
    __syncthreads();
    ratios.least = leasts[0], ratios.sum = sums[0];
    for (int warp = 1; warp < (int)blockDim.x / 32; ++warp) {
        ratios.take(leasts[warp]);
        ratios.sum += sums[warp];
    }
    return ratios;
}

template <class T, int COLUMNS, bool SEVERAL>
__device__ __forceinline__ void modify(const Modification<T>& all) {
    DYNAMIC_SHARED(T, shared);
    __shared__ Published<T, COLUMNS> published[2];
    Rows<T, COLUMNS, SEVERAL> v;
    v.shared = shared, v.n = all.factors.n;
    for (long long b = blockIdx.x; b < all.factors.count; b += gridDim.x) {
        const int order = all.factors.orders[b];
        const bool is_wanted = all.given.is_wanted(b);
        if (!is_wanted || order == NO_FACTOR) {
            if (threadIdx.x == 0) all.outcome.unchanged(b, is_wanted ? NONE : 0);
            continue;
        }
        const T* const l = all.factors.of(b);
        T* const to = all.factors.beside(b);
        bool changes = false, good = true;
        sweep<T, COLUMNS, SEVERAL, false>(all, b, order, l, to, v, published, changes, good);
        sweep<T, COLUMNS, SEVERAL, true>(all, b, order, l, to, v, published, changes, good);
        good = __syncthreads_and(good);
        if (!good) {
            if (threadIdx.x == 0) all.outcome.defer(b);
        } else if (!changes) {
            if (threadIdx.x == 0) all.outcome.unchanged(b, 0);
        } else {
            const Ratios<T> ratios = compare(l, to, all.factors.n, order);
            if (threadIdx.x == 0) {
                all.outcome.changed(b, ratios);
                all.factors.sides[b] ^= 1;
            }
        }
        __syncthreads();
    }
}

#define MODIFY(T, NAME, COLUMNS)                                                                             \
    extern "C" __global__ void __launch_bounds__(MOST_THREADS)                                               \
        batch_modify_block_##COLUMNS##_##NAME(const Modification<T> all) {                                              \
        modify<T, COLUMNS, false>(all);                                                                      \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(MOST_THREADS)                                               \
        batch_modify_rows_##COLUMNS##_##NAME(const Modification<T> all) {                                               \
        modify<T, COLUMNS, true>(all);                                                                       \
    }
#define MODIFY_BY(COLUMNS)    \
    MODIFY(float, f32, COLUMNS) \
    MODIFY(double, f64, COLUMNS)

MODIFY_BY(1)
MODIFY_BY(4)

EXPORT_LAYOUT(batch_modify_block, MOST_THREADS)
