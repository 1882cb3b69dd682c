// What surrounds the sweeps of a modification in memory of the caller's, whose host does not wait: what sweep.cu reads is
// prepared before it, and what it leaves is made the result.
//
// `prepare`, before each launch of sweep.cu, in thread blocks of three kinds:
//   - `panels` of them invert the diagonal blocks of L, and find those of its pivots that are not positive or not finite;
//   - `row_parts` of them write 256 rows of V diag(sqrt|w|) to rank blocks, with zeros in place of what is not finite;
//   - the others write what records, flags and status are before a launch, zeros above the diagonal of L', and, where the
//     columns of the caller's L do not begin at multiples of 16 bytes, a copy of its triangle.
//
// `finish`, after the last launch: whether L' exists, and what is written in its place if it does not.
//
// Shapes: in the structures below; column-major. Launch: blocks of 256 threads; `prepare` at least one block of the third
// kind, the others any number.
#include "common/inverse.cuh"
#include "common/layout.cuh"

constexpr int WHOLE = 2147483647;  // the status of a sweep in which no column has broken down

template <class T>
struct Preparation {
    const T* l;  // n x n, entry (i, j), i >= j, at l + j * l_stride + i; read
    long long l_stride;
    T* copy;  // null, or the same with another stride; written
    long long copy_stride;
    T* cleared;  // null, or n x n, packed: zeros above the diagonal are written
    const T* v;  // n x k, entry (i, r) at v + i * v_row + r * v_column; read
    long long v_row, v_column;
    const T* weights;  // k, or null if all are 1 or all are -1; read
    T* staged;  // n x (width * blocks); written
    long long staged_stride;
    double* inverse;  // of each diagonal block, as common/inverse.cuh says; written
    int* refine;
    double* records;  // as sweep_args.cuh says; written
    long long record_words;
    int* flags;
    long long flag_words;
    int* status;   // null in launches but the first, which leave it, V and `refused` as they are
    int* refused;  // row_parts + panels: whether there is something that no sweep accepts; written
    long long n;
    int k;
    int width, plus_blocks, blocks;  // columns of a rank block; rank blocks with a plus sign, and all
    int panels, row_parts;
};

template <class T>
__device__ __forceinline__ bool is_finite(T x) {
    return x - x == T(0);
}

// The column of V at a place in the rank blocks, which is k or more for a column of zeros: blocks with a minus sign are in
// reverse order (src/sweep/rank_blocks.rs).
template <class T>
__device__ __forceinline__ int column_at(const Preparation<T>& all, int block, int place) {
    const int own = block < all.plus_blocks ? block : all.blocks - 1 - block;
    return own * all.width + place;
}

// Writes THREADS rows of V in rank blocks. A column of which the weight is zero, or has the other sign than its block, becomes
// zeros and is not read.
template <class T>
__device__ __forceinline__ void stage(const Preparation<T>& all, int part) {
    const long long i = (long long)part * THREADS + threadIdx.x;
    bool is_bad = false;
    for (int block = 0; block < all.blocks && i < all.n; ++block) {
        const bool minus = block >= all.plus_blocks;
#pragma unroll 4
        for (int place = 0; place < all.width; ++place) {
            const int column = column_at(all, block, place);
            T x = T(0);
            if (column < all.k) {
                T scale = T(1);
                if (all.weights) {
                    const T w = all.weights[column];
                    scale = (minus ? w > T(0) : w < T(0)) ? T(0) : sqrt(fabs(w));
                }
                if (scale != T(0)) x = scale * all.v[i * all.v_row + column * all.v_column];
                if (!is_finite(x)) {
                    is_bad = true;
                    x = T(0);
                }
            }
            all.staged[(long long)(block * all.width + place) * all.staged_stride + i] = x;
        }
    }
    const int any = __syncthreads_or(is_bad);
    if (threadIdx.x == 0) all.refused[part] = any;
}

template <class T>
__device__ __forceinline__ void invert_panel(InverseShared& shared, const Preparation<T>& all, int panel) {
    const long long first = (long long)panel * PANEL_COLS, diagonal = first * (all.l_stride + 1);
    invert(shared, all.l + diagonal, all.l_stride, all.inverse + first * PANEL_COLS, all.refine + panel, all.n - first);
    bool is_bad = false;
    if (threadIdx.x < PANEL_COLS && first + threadIdx.x < all.n) {
        const T pivot = all.l[diagonal + threadIdx.x * (all.l_stride + 1)];
        is_bad = !(pivot > T(0) && is_finite(pivot));
    }
    const int any = __syncthreads_or(is_bad);
    if (all.status && threadIdx.x == 0) all.refused[all.row_parts + panel] = any;
}

// By `count` blocks, of which this is number `block`.
template <class T>
__device__ __forceinline__ void reset(const Preparation<T>& all, int block, int count) {
    const long long first = (long long)block * THREADS + threadIdx.x, step = (long long)count * THREADS;
    for (long long at = first; at < all.record_words; at += step) ((long long*)all.records)[at] = -1;
    for (long long at = first; at < all.flag_words; at += step) all.flags[at] = 0;
    if (all.status && first == 0) *all.status = WHOLE;
    for (long long j = block; j < all.n; j += count) {
        if (all.cleared)
            for (long long i = threadIdx.x; i < j; i += THREADS) all.cleared[j * all.n + i] = T(0);
        if (all.copy)
            for (long long i = j + threadIdx.x; i < all.n; i += THREADS)
                all.copy[j * all.copy_stride + i] = all.l[j * all.l_stride + i];
    }
}

template <class T>
__device__ __forceinline__ void prepare(const Preparation<T>& all) {
    __shared__ InverseShared shared;
    const int block = (int)blockIdx.x, parts = all.panels + all.row_parts;
    if (block < all.panels)
        invert_panel(shared, all, block);
    else if (block < parts)
        stage(all, block - all.panels);
    else
        reset(all, block - parts, (int)gridDim.x - parts);
}

template <class T>
struct Completion {
    const T* l;    // n x n, packed, the lower triangle; read if L' does not exist
    const T* from;  // n x n, entry (i, j), i >= j, at from + j * from_stride + i: the L' that the sweeps have left; read
    long long from_stride;
    T* to;  // n x n, packed; its lower triangle is written if L' is not there
    unsigned char* ok;  // whether L' exists; written
    const int* status;
    const int* refused;
    long long n;
    int words;  // of `refused`
    int nan;    // whether NaN is written in place of an L' that does not exist, and not L
};

template <class T>
__device__ __forceinline__ void finish(const Completion<T>& all) {
    bool is_bad = *all.status != WHOLE;
    for (int at = threadIdx.x; at < all.words; at += THREADS) is_bad = is_bad || all.refused[at] != 0;
    const bool broken = __syncthreads_or(is_bad);
    if (blockIdx.x == 0 && threadIdx.x == 0) *all.ok = !broken;
    if (!broken && all.from == all.to) return;
    const T* const from = broken ? all.l : all.from;
    const long long stride = broken ? all.n : all.from_stride;
    const bool is_nan = broken && all.nan;
    const T zero = T(0);
    for (long long j = blockIdx.x; j < all.n; j += gridDim.x)
        for (long long i = j + threadIdx.x; i < all.n; i += THREADS)
            all.to[j * all.n + i] = is_nan ? zero / zero : from[j * stride + i];
}

#define ON_STREAM(T, NAME)                                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS) prepare_##NAME(const Preparation<T> all) {         \
        prepare(all);                                                                                        \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS) finish_##NAME(const Completion<T> all) { finish(all); }

ON_STREAM(float, f32)
ON_STREAM(double, f64)

constexpr int PREPARATION_BYTES = sizeof(Preparation<double>), COMPLETION_BYTES = sizeof(Completion<double>);

EXPORT_LAYOUT(on_stream, PANEL_COLS, THREADS, WHOLE, PREPARATION_BYTES, COMPLETION_BYTES)
