// The trailing step: a panel's reflectors over the rows below its diagonal block, pass after pass.
//
// A pass takes E columns of V. Of the passes * E columns, the first `plus` have a plus sign and the others a
// minus (S is +1 and -1 on the diagonal). With row j of a pass's reflectors (b_j0 .. b_j(E-1), rho_j), each
// row i of the panel (l) and of V (v) goes through the columns j = 0 .. cols - 1 in order:
//
//     u = rho_j (l_ij + <v, S b_j>)        l_ij <- u - l_ij        v <- v - u b_j
//
// An instance is for one sign, whose plus is passes * E or 0, or for a mix of both.
//
// Shapes, column-major, strides in scalars:
//     panel       rows `first .. end` of column j < cols at panel + j * panel_stride; read and written
//     v           rows `first .. end` of column r < passes * E at v + r * v_stride; read and written
//     reflectors  passes x cols x ROW, ROW = E + 16 / sizeof(T): row j of a pass holds b_j, rho_j and padding
//                 that is never used; contiguous, 16-byte aligned; read
//
// Launch: a grid of x only, blocks of x only. Thread t of the grid owns row first + t; a launch covers at
// most gridDim.x * blockDim.x rows, and rows from `end` on belong to nobody. Rows never mix and each has one
// owner, so the result does not depend on grid, block or stage_cols, bit for bit.
//
// Limits: blockDim.x <= max_threads(E); cols a multiple of AHEAD; 0 <= plus <= passes * E; stage_cols > 0, a multiple of AHEAD; dynamic
// shared memory of stage_cols * ROW * sizeof(T) bytes. Offsets are 64 bits wide.
//
// Every rounding is written down (fused where it says fma; contraction is off), so that any compiler gives
// these bits.
#include "common.cuh"

// Columns of L on their way from memory while one is worked on.
constexpr int AHEAD = 8;

// Partial sums of a dot product: its chain of dependent operations is as much shorter.
constexpr int SUMS = 4;

// Leaves a thread 16 registers for each element, of which double precision takes four: the element and its
// counterpart in b. What is on its way, addresses and counters take some 50 more.
__device__ constexpr int max_threads(int elements) { return 4096 / elements; }

// b and rho of one column, from shared memory: every thread reads the same words.
template <class T, int E>
struct Row {
    static constexpr int SCALARS = E + Word<T>::LANES;
    static constexpr int WORDS = SCALARS / Word<T>::LANES;
    Word<T> word[WORDS];

    __device__ __forceinline__ T b(int r) const { return word[r / Word<T>::LANES].lane[r % Word<T>::LANES]; }
    __device__ __forceinline__ T rho() const { return word[WORDS - 1].lane[0]; }
};

// One column on one row: returns the new entry of L, changes v.
template <class T, int E, bool MIXED>
__device__ __forceinline__ T apply(const Row<T, E>& row, int plus, T l, T (&v)[E]) {
    T sum[SUMS];
#pragma unroll
    for (int r = 0; r < E; ++r) {
        const T b = !MIXED || r < plus ? row.b(r) : -row.b(r);
        sum[r % SUMS] = r < SUMS ? v[r] * b : fma(v[r], b, sum[r % SUMS]);
    }
    const T dot = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    const T sign = MIXED || plus > 0 ? T(1) : T(-1);
    const T u = row.rho() * fma(sign, dot, l);
#pragma unroll
    for (int r = 0; r < E; ++r) v[r] = fma(-u, row.b(r), v[r]);
    return u - l;
}

// Where a row is on its way through the columns of the panel. The pointers move along: one sum for each
// column takes fewer registers than multiples of the stride.
template <class T>
struct Walk {
    T* entry;       // of L, in column `at`
    const T* later; // of L, in column `at` + AHEAD
    long long stride;
    int at;
    int cols;
    bool mine; // whether there is a row
};

// The next AHEAD columns. `ahead` holds their entries of L and is left with those of the columns that follow.
template <class T, int E, bool MIXED>
__device__ __forceinline__ void group(const Row<T, E>* staged, int plus, Walk<T>& walk, T (&ahead)[AHEAD],
                                      T (&v)[E]) {
#pragma unroll
    for (int c = 0; c < AHEAD; ++c) {
        const T l = ahead[c];
        if (walk.mine && walk.at + AHEAD < walk.cols) ahead[c] = *walk.later;
        const T fresh = apply<T, E, MIXED>(staged[c], plus, l, v);
        if (walk.mine) *walk.entry = fresh;
        walk.entry += walk.stride;
        walk.later += walk.stride;
        ++walk.at;
    }
}

// One pass of row i, where `mine`; a thread without a row still stages, and meets the others at the barriers.
template <class T, int E, bool MIXED>
__device__ __forceinline__ void pass(T* panel, long long panel_stride, T* v, long long v_stride,
                                     const Word<T>* reflectors, Row<T, E>* staged, int cols, int plus,
                                     int stage_cols, long long i, bool mine) {
    T registers[E]; // row i of V
#pragma unroll
    for (int r = 0; r < E; ++r) registers[r] = mine ? v[r * v_stride + i] : T(0);
    T ahead[AHEAD];
#pragma unroll
    for (int c = 0; c < AHEAD; ++c) ahead[c] = mine ? panel[c * panel_stride + i] : T(0);

    Walk<T> walk = {panel + i, panel + AHEAD * panel_stride + i, panel_stride, 0, cols, mine};
    while (walk.at < cols) {
        const int count = stage_cols < cols - walk.at ? stage_cols : cols - walk.at;
        const Word<T>* const source = reflectors + (long long)walk.at * Row<T, E>::WORDS;
        Word<T>* const target = (Word<T>*)staged;
        __syncthreads(); // what was staged before has been read
        for (int w = threadIdx.x; w < count * Row<T, E>::WORDS; w += blockDim.x) target[w] = source[w];
        __syncthreads();

        for (int c = 0; c < count; c += AHEAD)
            group<T, E, MIXED>(staged + c, plus, walk, ahead, registers);
    }

#pragma unroll
    for (int r = 0; r < E; ++r)
        if (mine) v[r * v_stride + i] = registers[r];
}

template <class T, int E, bool MIXED>
__device__ __forceinline__ void trailing(T* panel, long long panel_stride, T* v, long long v_stride,
                                         const T* reflectors, int cols, int passes, int plus, int stage_cols,
                                         long long first, long long end) {
    typedef Row<T, E> Reflector;
    DYNAMIC_SHARED(Reflector, staged); // (stage_cols)
    const long long i = first + (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (int p = 0; p < passes; ++p) {
        const Word<T>* const own = (const Word<T>*)reflectors + (long long)p * cols * Reflector::WORDS;
        pass<T, E, MIXED>(panel, panel_stride, v + p * E * v_stride, v_stride, own, staged, cols,
                          plus - p * E, stage_cols, i, i < end);
    }
}

#define INSTANCE(NAME, T, E, MIXED)                                                                          \
    extern "C" __global__ void __launch_bounds__(max_threads(E))                                             \
        NAME(T* panel, long long panel_stride, T* v, long long v_stride, const T* reflectors, int cols,      \
             int passes, int plus, int stage_cols, long long first, long long end) {                         \
        trailing<T, E, MIXED>(panel, panel_stride, v, v_stride, reflectors, cols, passes, plus, stage_cols,  \
                              first, end);                                                                   \
    }
#define TRAILING(NAME, T, E)                                                                                 \
    INSTANCE(NAME, T, E, false)                                                                              \
    INSTANCE(NAME##_mixed, T, E, true)

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
