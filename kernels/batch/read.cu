// The factors of a batch as lower triangles elsewhere, and their determinants.
//
// copy: entry (i, j), i >= j, i less than the order, of each matrix that has a factor to
// `to + b * to_matrix + i * to_row + j * to_column`; other entries are not written.
//
// log_det: of each matrix that has a factor; -infinity if a pivot is zero, NaN if it has no factor.
//
// Launch: copy any number of blocks, log_det a thread for each matrix; blocks of THREADS threads.
#include "batch/batch.cuh"

constexpr int THREADS = 128;

template <class T>
struct Target {
    T* to;
    long long to_matrix, to_row, to_column;
};

template <class T>
__device__ __forceinline__ void copy(const Factors<T>& from, const Target<T>& target) {
    const int n = from.n;
    for (long long b = blockIdx.x; b < from.count; b += gridDim.x) {
        const int order = from.orders[b];
        if (order == NO_FACTOR) continue;
        const T* const l = from.of(b);
        T* const to = target.to + b * target.to_matrix;
        // Neighbouring threads have neighbouring rows.
        for (int at = threadIdx.x; at < order * order; at += THREADS) {
            const int i = at % order, j = at / order;
            if (i >= j) to[i * target.to_row + j * target.to_column] = l[(long long)place(n, i, j) * from.group];
        }
    }
}

template <class T>
__device__ __forceinline__ void log_det(const Factors<T>& from, double* to) {
    const long long b = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (b >= from.count) return;
    const int order = from.orders[b];
    double sum = order == NO_FACTOR ? log(-1.0) : 0.0;
    for (int j = 0; j < order; ++j) sum += log((double)from.of(b)[(long long)place(from.n, j, j) * from.group]);
    to[b] = 2.0 * sum;
}

#define READ(T, NAME)                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        batch_copy_##NAME(const Factors<T> from, const Target<T> target) {                                         \
        copy(from, target);                                                                                  \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS) batch_log_det_##NAME(const Factors<T> from, double* to) { \
        log_det(from, to);                                                                                   \
    }

READ(float, f32)
READ(double, f64)

constexpr int TARGET = sizeof(Target<double>);

EXPORT_LAYOUT(batch_read, THREADS, TARGET)
