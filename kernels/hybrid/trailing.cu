// The trailing step: a panel's reflectors over the rows below its diagonal block, pass after pass.
//
// A pass takes E * lanes columns of V, all of one sign: a row is worked on by `lanes` neighbouring threads with E columns
// each. With row j of a pass's reflectors (b_j, s_j and x_j, which know the sign), each row i of the panel (l) and of V
// (v) goes through the columns j = 0 .. cols - 1 in order:
//
//     d = x_j l_ij + s_j <v, b_j>        u = 2 l_ij + d        l_ij <- l_ij + d        v <- v - u b_j
//
// Shapes, column-major, strides in scalars:
//     panel       rows `first .. end` of column j < cols at panel + j * panel_stride; read and written
//     v           rows `first .. end` of each column at v + column * v_stride; read and written
//     reflectors  passes x cols x lanes x ROW, ROW = E + 16 / sizeof(T): of row j of a pass, E entries of b for
//                 each lane, with s_j, x_j and padding behind them; contiguous, 16-byte aligned; read
//
// Launch: a grid of x only, blocks of x only. Thread t of the grid is lane t % lanes of row first + t /
// lanes; a launch covers at most gridDim.x * blockDim.x / lanes rows, and rows from `end` on belong to
// nobody. Rows never mix and each has one owner, so the result does not depend on grid or block, bit for bit.
//
// Limits: blockDim.x <= max_threads(E), a multiple of 32; lanes 1, 2, 4 or 8; cols a multiple of AHEAD;
// dynamic shared memory of AHEAD * lanes * ROW * sizeof(T) bytes. Offsets are 64 bits wide.
//
// Every rounding is written down (fused where it says fma; contraction is off), so that any compiler gives
// these bits.
#include "common/common.cuh"

// Columns of L on their way from memory while one is worked on, and columns whose reflectors are staged.
constexpr int AHEAD = 8;

// Words of the next stage's reflectors that a thread has on their way meanwhile.
constexpr int CARRIED = 5;

// Partial sums of a dot product: its chain of dependent operations is as much shorter.
constexpr int SUMS = 4;

// Leaves a thread 16 registers for each element, of which double precision takes four: the element and its
// counterpart in b. What is on its way, addresses and counters take some 50 more.
__device__ constexpr int max_threads(int elements) { return 4096 / elements; }

// b, s and x of one column, from shared memory: every thread reads the same words.
template <class T, int E>
struct Row {
    static constexpr int SCALARS = E + Word<T>::LANES;
    static constexpr int WORDS = SCALARS / Word<T>::LANES;
    Word<T> word[WORDS];

    __device__ __forceinline__ T b(int r) const { return word[r / Word<T>::LANES].lane[r % Word<T>::LANES]; }
    __device__ __forceinline__ T s() const { return word[WORDS - 1].lane[0]; }
    __device__ __forceinline__ T x() const { return word[WORDS - 1].lane[1]; }
};

// One column on one lane of a row: returns the new entry of L, changes v.
template <class T, int E>
__device__ __forceinline__ T apply(const Row<T, E>& row, int lanes, T l, T (&v)[E]) {
    T sum[SUMS];
#pragma unroll
    for (int r = 0; r < E; ++r) sum[r % SUMS] = r < SUMS ? v[r] * row.b(r) : fma(v[r], row.b(r), sum[r % SUMS]);
    T dot = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    for (int other = 1; other < lanes; other *= 2) dot += __shfl_xor_sync(0xffffffffu, dot, other);
    const T d = fma(row.s(), dot, row.x() * l);
    const T u = fma(T(2), l, d);
#pragma unroll
    for (int r = 0; r < E; ++r) v[r] = fma(-u, row.b(r), v[r]);
    return l + d;
}

// Where a lane of a row is on its way through the columns of the panel. The pointers move along: one sum for
// each column takes fewer registers than multiples of the stride.
template <class T>
struct Walk {
    T* entry;       // of L, in column `at`
    const T* later; // of L, in column `at` + AHEAD
    long long stride;
    int at;
    int cols;
    bool mine;   // whether there is a row
    bool writes; // whether this lane stores its entries of L
    int lanes;
};

// The next AHEAD columns. `ahead` holds their entries of L and is left with those of the columns that follow.
template <class T, int E>
__device__ __forceinline__ void group(const Row<T, E>* staged, Walk<T>& walk, T (&ahead)[AHEAD], T (&v)[E]) {
#pragma unroll
    for (int c = 0; c < AHEAD; ++c) {
        const T l = ahead[c];
        if (walk.mine && walk.at + AHEAD < walk.cols) ahead[c] = *walk.later;
        const T fresh = apply<T, E>(staged[c * walk.lanes], walk.lanes, l, v);
        if (walk.writes) *walk.entry = fresh;
        walk.entry += walk.stride;
        walk.later += walk.stride;
        ++walk.at;
    }
}

// One pass of a lane of a row. A thread without a row still stages, and meets the others.
template <class T, int E>
__device__ __forceinline__ void pass(Walk<T> walk, T* v, long long v_stride, const Word<T>* reflectors,
                                     Row<T, E>* staged, int lane) {
    T registers[E]; // the row's entries in the lane's columns of V
#pragma unroll
    for (int r = 0; r < E; ++r) registers[r] = walk.mine ? v[r * v_stride] : T(0);
    T ahead[AHEAD];
#pragma unroll
    for (int c = 0; c < AHEAD; ++c) ahead[c] = walk.mine ? walk.entry[c * walk.stride] : T(0);

    Word<T>* const target = (Word<T>*)staged;
    const int words = AHEAD * walk.lanes * Row<T, E>::WORDS; // of a stage
    Word<T> carried[CARRIED];
#pragma unroll
    for (int q = 0; q < CARRIED; ++q) {
        const int w = threadIdx.x + q * blockDim.x;
        if (w < words) carried[q] = reflectors[w];
    }
    while (walk.at < walk.cols) {
        __syncthreads(); // what was staged before has been read
#pragma unroll
        for (int q = 0; q < CARRIED; ++q) {
            const int w = threadIdx.x + q * blockDim.x;
            if (w < words) target[w] = carried[q];
        }
        for (int w = threadIdx.x + CARRIED * blockDim.x; w < words; w += blockDim.x) target[w] = reflectors[w];
        __syncthreads();
        reflectors += words;
#pragma unroll
        for (int q = 0; q < CARRIED; ++q) {
            const int w = threadIdx.x + q * blockDim.x;
            if (w < words && walk.at + AHEAD < walk.cols) carried[q] = reflectors[w];
        }
        group<T, E>(staged + lane, walk, ahead, registers);
    }

#pragma unroll
    for (int r = 0; r < E; ++r)
        if (walk.mine) v[r * v_stride] = registers[r];
}

template <class T, int E>
__device__ __forceinline__ void trailing(T* panel, long long panel_stride, T* v, long long v_stride,
                                         const T* reflectors, int cols, int passes, int lanes,
                                         long long first, long long end) {
    typedef Row<T, E> Reflector;
    DYNAMIC_SHARED(Reflector, staged); // (AHEAD, lanes)
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long i = first + thread / lanes;
    const int lane = (int)(thread % lanes);
    const bool mine = i < end;
    T* const entry = panel + i;
    for (int p = 0; p < passes; ++p) {
        const int column = (p * lanes + lane) * E; // of V, the lane's first
        const Walk<T> walk = {entry, entry + AHEAD * panel_stride, panel_stride, 0,
                              cols,  mine,                         mine && lane == 0, lanes};
        const Word<T>* const own = (const Word<T>*)reflectors + (long long)p * cols * lanes * Reflector::WORDS;
        pass<T, E>(walk, v + column * v_stride + i, v_stride, own, staged, lane);
        __syncwarp(); // the next pass reads the entries of L that lane 0 has written
    }
}

#define TRAILING(NAME, T, E)                                                                                 \
    extern "C" __global__ void __launch_bounds__(max_threads(E))                                             \
        NAME(T* panel, long long panel_stride, T* v, long long v_stride, const T* reflectors, int cols,      \
             int passes, int lanes, long long first, long long end) {                                        \
        trailing<T, E>(panel, panel_stride, v, v_stride, reflectors, cols, passes, lanes, first, end);       \
    }

// One module a scalar type: a factor of the one never waits for the other to be translated.
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
