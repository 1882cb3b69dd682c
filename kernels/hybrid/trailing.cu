// Transforms the trailing rows, the rows below a panel's diagonal block, by the panel's reflectors, one rank block
// after the other.
//
// A rank block is `row_threads` * E columns of V, all of one sign; row_threads neighbouring threads, with E columns
// each, share a row. With row j of a rank block's reflectors (b_j, s_j and x_j, which include the sign), each row i of
// the panel (l) and of V (v) is transformed by the columns j = 0 .. cols - 1 in order:
//
//     d = x_j l_ij + s_j <v, b_j>        u = 2 l_ij + d        l_ij <- l_ij + d        v <- v - u b_j
//
// Shapes, column-major, strides in scalars:
//     panel       rows first .. end of column j < cols at panel + j * panel_stride; read and written
//     v           rows first .. end of each column at v + column * v_stride; read and written
//     reflectors  rank_blocks x cols x row_threads x STRIDE, STRIDE = E + 16 / sizeof(T): of row j of a rank block, E
//                 entries of b for each thread of a row, then s_j, x_j and padding; contiguous, 16-byte aligned; read
//
// Launch: a grid and blocks of x only. Thread t of the grid is thread t % row_threads of row first + t / row_threads;
// a launch covers at most gridDim.x * blockDim.x / row_threads rows, and threads of rows from `end` on have no row.
// Rows are independent and each has one owner, so the result does not depend on grid or block, bit for bit.
//
// Limits: blockDim.x <= max_threads(E), a multiple of 32; row_threads 1, 2, 4 or 8; cols a multiple of COLUMN_GROUP;
// dynamic shared memory of COLUMN_GROUP * row_threads * STRIDE * sizeof(T) bytes. Offsets are 64 bits wide.
//
// Every rounding is explicit (fused where the code has fma; contraction is off), so that any compiler gives the same
// bits.
#include "common/layout.cuh"
#include "common/memory.cuh"

// Columns of L that are loaded from memory ahead of the current one, and columns whose reflectors are staged together.
constexpr int COLUMN_GROUP = 8;

// Words of the next column group's reflectors that a thread loads ahead.
constexpr int WORDS_AHEAD = 5;

// Partial sums of a dot product, which shorten its chain of dependent operations.
constexpr int SUMS = 4;

// The largest number of threads of a block. It leaves a thread 16 registers for each element, of which double
// precision takes four: the element and its counterpart in b. Loads in flight, addresses and counters take about 50
// more.
__device__ constexpr int max_threads(int elements) { return 4096 / elements; }

// b, s and x of one column in shared memory; all threads with the same place in their rows read the same words.
template <class T, int E>
struct ReflectorRow {
    static constexpr int SCALARS = E + Word<T>::SCALARS;
    static constexpr int WORDS = SCALARS / Word<T>::SCALARS;
    Word<T> word[WORDS];

    __device__ __forceinline__ T b(int r) const {
        return word[r / Word<T>::SCALARS].scalar[r % Word<T>::SCALARS];
    }
    __device__ __forceinline__ T s() const { return word[WORDS - 1].scalar[0]; }
    __device__ __forceinline__ T x() const { return word[WORDS - 1].scalar[1]; }
};

// Transforms one column by one thread of a row: returns the new entry of L and changes v.
template <class T, int E>
__device__ __forceinline__ T apply(const ReflectorRow<T, E>& row, int row_threads, T l, T (&v)[E]) {
    T sum[SUMS];
#pragma unroll
    for (int r = 0; r < E; ++r)
        sum[r % SUMS] = r < SUMS ? v[r] * row.b(r) : fma(v[r], row.b(r), sum[r % SUMS]);
    T dot = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    for (int other = 1; other < row_threads; other *= 2) dot += __shfl_xor_sync(0xffffffffu, dot, other);
    const T d = fma(row.s(), dot, row.x() * l);
    const T u = fma(T(2), l, d);
#pragma unroll
    for (int r = 0; r < E; ++r) v[r] = fma(-u, row.b(r), v[r]);
    return l + d;
}

// A thread's position in the columns of the panel. The pointers advance: one addition a column takes fewer registers
// than multiples of the stride.
template <class T>
struct RowWalk {
    T* entry;        // of L, in column `at`
    const T* later;  // of L, in column `at` + COLUMN_GROUP
    long long stride;
    int at;
    int cols;
    bool has_row;
    bool writes;  // whether this thread stores the entries of L
    int row_threads;
};

// Transforms the next COLUMN_GROUP columns. `ahead` holds their entries of L, and afterwards those of the columns that
// follow.
template <class T, int E>
__device__ __forceinline__ void apply_group(const ReflectorRow<T, E>* staged, RowWalk<T>& walk,
                                            T (&ahead)[COLUMN_GROUP], T (&v)[E]) {
#pragma unroll
    for (int c = 0; c < COLUMN_GROUP; ++c) {
        const T l = ahead[c];
        if (walk.has_row && walk.at + COLUMN_GROUP < walk.cols) ahead[c] = *walk.later;
        const T fresh = apply<T, E>(staged[c * walk.row_threads], walk.row_threads, l, v);
        if (walk.writes) *walk.entry = fresh;
        walk.entry += walk.stride;
        walk.later += walk.stride;
        ++walk.at;
    }
}

// Applies one rank block by one thread of a row. A thread without a row copies reflectors and takes part in barriers.
template <class T, int E>
__device__ __forceinline__ void apply_rank_block(RowWalk<T> walk, T* v, long long v_stride,
                                                 const Word<T>* reflectors, ReflectorRow<T, E>* staged,
                                                 int row_thread) {
    T registers[E];  // the row's entries in the thread's columns of V
#pragma unroll
    for (int r = 0; r < E; ++r) registers[r] = walk.has_row ? v[r * v_stride] : T(0);
    T ahead[COLUMN_GROUP];
#pragma unroll
    for (int c = 0; c < COLUMN_GROUP; ++c) ahead[c] = walk.has_row ? walk.entry[c * walk.stride] : T(0);

    Word<T>* const target = (Word<T>*)staged;
    const int words = COLUMN_GROUP * walk.row_threads * ReflectorRow<T, E>::WORDS;  // of a column group
    Word<T> words_ahead[WORDS_AHEAD];
#pragma unroll
    for (int q = 0; q < WORDS_AHEAD; ++q) {
        const int w = threadIdx.x + q * blockDim.x;
        if (w < words) words_ahead[q] = reflectors[w];
    }
    while (walk.at < walk.cols) {
        __syncthreads();  // all threads have read the previous stage
#pragma unroll
        for (int q = 0; q < WORDS_AHEAD; ++q) {
            const int w = threadIdx.x + q * blockDim.x;
            if (w < words) target[w] = words_ahead[q];
        }
        for (int w = threadIdx.x + WORDS_AHEAD * blockDim.x; w < words; w += blockDim.x)
            target[w] = reflectors[w];
        __syncthreads();
        reflectors += words;
#pragma unroll
        for (int q = 0; q < WORDS_AHEAD; ++q) {
            const int w = threadIdx.x + q * blockDim.x;
            if (w < words && walk.at + COLUMN_GROUP < walk.cols) words_ahead[q] = reflectors[w];
        }
        apply_group<T, E>(staged + row_thread, walk, ahead, registers);
    }

#pragma unroll
    for (int r = 0; r < E; ++r)
        if (walk.has_row) v[r * v_stride] = registers[r];
}

template <class T, int E>
__device__ __forceinline__ void trailing(T* panel, long long panel_stride, T* v, long long v_stride,
                                         const T* reflectors, int cols, int rank_blocks, int row_threads,
                                         long long first, long long end) {
    typedef ReflectorRow<T, E> Reflector;
    DYNAMIC_SHARED(Reflector, staged);  // (COLUMN_GROUP, row_threads)
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long i = first + thread / row_threads;
    const int row_thread = (int)(thread % row_threads);
    const bool has_row = i < end;
    T* const entry = panel + i;
    for (int p = 0; p < rank_blocks; ++p) {
        const int column = (p * row_threads + row_thread) * E;  // of V, the thread's first
        const RowWalk<T> walk = {entry,   entry + COLUMN_GROUP * panel_stride, panel_stride, 0, cols,
                                 has_row, has_row && row_thread == 0,          row_threads};
        const Word<T>* const own =
            (const Word<T>*)reflectors + (long long)p * cols * row_threads * Reflector::WORDS;
        apply_rank_block<T, E>(walk, v + column * v_stride + i, v_stride, own, staged, row_thread);
        __syncwarp();  // the next rank block reads the entries of L that thread 0 of the row has written
    }
}

#define TRAILING(NAME, T, E)                                                                                 \
    extern "C" __global__ void __launch_bounds__(max_threads(E))                                             \
        NAME(T* panel, long long panel_stride, T* v, long long v_stride, const T* reflectors, int cols,      \
             int rank_blocks, int row_threads, long long first, long long end) {                             \
        trailing<T, E>(panel, panel_stride, v, v_stride, reflectors, cols, rank_blocks, row_threads, first,  \
                       end);                                                                                 \
    }

// One module for each scalar type, so that the driver translates only the module that a factor needs.
#ifndef ONLY_F32
TRAILING(trailing_f64_e4, double, 4)
TRAILING(trailing_f64_e8, double, 8)
TRAILING(trailing_f64_e16, double, 16)
TRAILING(trailing_f64_e32, double, 32)
#endif
#ifndef ONLY_F64
TRAILING(trailing_f32_e4, float, 4)
TRAILING(trailing_f32_e8, float, 8)
TRAILING(trailing_f32_e16, float, 16)
TRAILING(trailing_f32_e32, float, 32)
#endif

// Host and kernels agree on these: a block has at most MAX_THREADS_ELEMENTS / E threads, and the reflectors of a row
// end in REFLECTOR_PADDING_BYTES for s, x and padding.
constexpr int MAX_THREADS_ELEMENTS = max_threads(1), REFLECTOR_PADDING_BYTES = WORD_BYTES;

#ifndef ONLY_F32
EXPORT_LAYOUT(trailing_f64, COLUMN_GROUP, MAX_THREADS_ELEMENTS, REFLECTOR_PADDING_BYTES)
#endif
#ifndef ONLY_F64
EXPORT_LAYOUT(trailing_f32, COLUMN_GROUP, MAX_THREADS_ELEMENTS, REFLECTOR_PADDING_BYTES)
#endif
