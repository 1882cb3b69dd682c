// A row and column less of many matrices of order 8 or less: a thread has a matrix, with L in registers.
//
// Shapes: batch.cuh, remove.cuh, with Factors::group = 32. Launch: blocks of THREADS threads, a thread for each matrix.
#include "batch/remove.cuh"

constexpr int THREADS = 128;
constexpr int GROUP = 32;  // matrices side by side

template <class T, int N>
__device__ __forceinline__ void remove(const Removal<T>& all) {
    const long long b = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (b >= all.factors.count) return;
    const int n = all.factors.n, order = all.factors.orders[b], f = all.indices[b];
    int result;
    if (!all.takes(b, order, f, result)) return all.unchanged(b, result, order);
    T* const at = all.factors.of(b);
    // With a row and column of the identity.
    T l[(N + 1) * (N + 2) / 2], v[N], gone = T(1);
#pragma unroll
    for (int j = 0; j <= N; ++j)
#pragma unroll
        for (int i = j; i <= N; ++i)
            l[j * (2 * N - j + 3) / 2 + i - j] = i < n ? at[place(n, i, j) * GROUP] : T(i == j);
    int singular = NOWHERE;
#pragma unroll
    for (int j = N - 1; j >= 0; --j) {
        const T pivot = l[j * (2 * N - j + 3) / 2];
        if (pivot == T(0)) singular = j;
        if (j == f) gone = pivot;
    }
    if (singular != NOWHERE) return all.unchanged(b, SINGULAR, singular);
#pragma unroll
    for (int i = 0; i < N; ++i) {
        v[i] = T(0);
#pragma unroll
        for (int j = 0; j <= i; ++j)
            if (j == f) v[i] = l[j * (2 * N - j + 3) / 2 + i + 1 - j];
    }
    Ratios<T> ratios;
#pragma unroll
    for (int j = 0; j < N; ++j) {
        const int here = j * (2 * N - j + 3) / 2 - j, next = (j + 1) * (2 * N - j + 2) / 2 - j;
        const T was = f <= j ? l[next + j] : l[here + j];
        const Interchanged<T> reflect = interchanged(was, v[j]);
        l[here + j] = reflect.pivot;
        if (f <= j) ratios.add(was, reflect.pivot);
#pragma unroll
        for (int i = j + 1; i < N; ++i) {
            const T old = f <= j ? l[next + i] : f <= i ? l[here + i + 1] : l[here + i];
            // Without negative zeros.
            l[here + i] = reflect.apply(old, v[i]) + T(0);
        }
    }
#pragma unroll
    for (int j = 0; j < N; ++j)
#pragma unroll
        for (int i = j; i < N; ++i)
            if (i < n) at[place(n, i, j) * GROUP] = l[j * (2 * N - j + 3) / 2 + i - j];
    all.removed(b, order, gone, ratios);
}

#define REMOVE(T, NAME, N)                                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        batch_remove_thread_##N##_##NAME(const Removal<T> all) {                                             \
        remove<T, N>(all);                                                                                   \
    }

REMOVE(float, f32, 4)
REMOVE(float, f32, 8)
REMOVE(double, f64, 4)
REMOVE(double, f64, 8)

EXPORT_LAYOUT(batch_remove_thread, THREADS, GROUP, REMOVAL)
