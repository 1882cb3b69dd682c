// The first factors of a batch: of matrices A, or known ones.
//
// A: entry (i, j), i >= j, of matrix b at a + b * a_matrix + i * a_row + j * a_column; read. With `factors` it is L: columns with a
// negative diagonal entry are negated, and the diagonal may have zeros. Otherwise L is computed row by row from the columns
// before (left-looking), in the memory of the batch.
//
// A matrix for which this is not possible has no factor: its order is NO_FACTOR, its memory that of the identity, and `why`
// and `place_of` say what is wrong (batch.cuh).
//
// Launch: any number of blocks of THREADS threads.
#include "batch/batch.cuh"

constexpr int THREADS = 64;

template <class T>
struct Source {
    const T* a;
    long long a_matrix, a_row, a_column;
    const int* orders;  // of each matrix; null if all are n
    int* why;
    int* place_of;
    int factors;

    __device__ __forceinline__ T at(long long b, int i, int j) const {
        return a[b * a_matrix + i * a_row + j * a_column];
    }
};

template <class T>
__device__ __forceinline__ void begin(const Factors<T>& to, const Source<T>& from) {
    __shared__ int first_bad, too_large, broken;
    const int n = to.n, group = to.group;
    for (long long b = blockIdx.x; b < to.count; b += gridDim.x) {
        T* const l = to.of(b);
        const int order = from.orders ? from.orders[b] : n;
        if (threadIdx.x == 0) first_bad = broken = 0x7fffffff, too_large = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += THREADS) {
            double squares = 0.0;
            for (int j = 0; j <= i; ++j) {
                const T entry = i < order ? from.at(b, i, j) : T(i == j);
                if (!(fabs(entry) <= Limits<T>::largest())) atomicMin(&first_bad, i + j * n);
                squares += (double)entry * (double)entry;
                // Without negative zeros.
                l[(long long)place(n, i, j) * group] = entry + T(0);
            }
            const double limit = 0.9 * (double)Limits<T>::largest();
            const T diagonal = i < order ? from.at(b, i, i) : T(1);
            if (from.factors ? !(squares <= limit) : !((double)diagonal <= limit)) too_large = 1;
        }
        __syncthreads();
        int result = first_bad < 0x7fffffff ? NOT_FINITE : too_large ? TOO_LARGE : 0;
        if (!result && from.factors) {
            for (int i = threadIdx.x; i < order; i += THREADS)
                for (int j = 0; j <= i; ++j)
                    if (from.at(b, j, j) < T(0)) l[(long long)place(n, i, j) * group] = -from.at(b, i, j) + T(0);
        } else if (!result) {
            for (int j = 0; j < order; ++j) {
                for (int i = j + threadIdx.x; i < order; i += THREADS) {
                    T sum = l[(long long)place(n, i, j) * group];
                    for (int p = 0; p < j; ++p)
                        sum = fma(-l[(long long)place(n, i, p) * group], l[(long long)place(n, j, p) * group], sum);
                    if (i == j) {
                        if (!(sum > T(0))) broken = j;
                        sum = sqrt(sum);
                    }
                    l[(long long)place(n, i, j) * group] = sum;
                }
                __syncthreads();
                if (broken != 0x7fffffff) break;
                const T pivot = l[(long long)place(n, j, j) * group];
                for (int i = j + 1 + threadIdx.x; i < order; i += THREADS) l[(long long)place(n, i, j) * group] /= pivot;
                __syncthreads();
            }
            if (broken != 0x7fffffff) result = 1 + broken;
        }
        if (threadIdx.x == 0) {
            to.orders[b] = result ? NO_FACTOR : order;
            from.why[b] = result;
            from.place_of[b] = first_bad;
        }
        if (result)
            for (int i = threadIdx.x; i < n; i += THREADS)
                for (int j = 0; j <= i; ++j) l[(long long)place(n, i, j) * group] = T(i == j);
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) batch_begin_f32(const Factors<float> to, const Source<float> from) {
    begin(to, from);
}
extern "C" __global__ void __launch_bounds__(THREADS) batch_begin_f64(const Factors<double> to, const Source<double> from) {
    begin(to, from);
}

constexpr int SOURCE = sizeof(Source<double>);

EXPORT_LAYOUT(batch_begin, THREADS, SOURCE)
