// A + V diag(w) V^T for many factors of order 8 or less: a thread has a matrix, with L in registers.
//
// The factors are read and written once, side by side (Factors::group = 32), also if V has more columns than a thread
// takes at a time. A matrix for which these reflections do not serve is not written, and is listed for again.cu.
//
// Shapes: batch.cuh. Launch: blocks of THREADS threads, a thread for each matrix.
#include "batch/batch.cuh"
#include "batch/reflector.cuh"
#include "common/memory.cuh"

constexpr int THREADS = 128;
constexpr int GROUP = 32;  // matrices side by side

// Eliminates columns of V of one sign. L is the packed triangle of order N.
template <class T, int N, int COLUMNS, bool MINUS>
__device__ __forceinline__ void eliminate(T (&l)[N * (N + 1) / 2], T (&v)[COLUMNS][N], bool& good) {
#pragma unroll
    for (int j = 0; j < N; ++j) {
        const int diagonal = j * (2 * N - j + 1) / 2;
        Squares<T, MINUS> squares;
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) squares.add(v[c][j]);
        const Reflector<T> reflect = reflector<T, MINUS>(l[diagonal], squares, good);
        l[diagonal] = reflect.pivot;
#pragma unroll
        for (int i = j + 1; i < N; ++i) {
            T dot = v[0][i] * v[0][j];
#pragma unroll
            for (int c = 1; c < COLUMNS; ++c) dot = fma(v[c][i], v[c][j], dot);
            T& entry = l[diagonal + i - j];
            const T fresh = reflect.column(entry, dot);
            const T both = (entry + fresh) * reflect.inverse;
            entry = fresh;
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) v[c][i] = fma(-both, v[c][j], v[c][i]);
        }
    }
}

// Takes columns of V from number `begin` on; where there is no entry, another one. No load waits for another.
template <class T, int N, int COLUMNS, bool MINUS>
__device__ __forceinline__ void take(T (&v)[COLUMNS][N], const Given<T>& given, long long b, int n, int begin) {
    constexpr int SCALARS = Word<T>::SCALARS;
    const auto in_words = [](long long stride) { return stride % SCALARS == 0; };
    const bool aligned = (unsigned long long)given.v % WORD_BYTES == 0 && in_words(given.v_matrix);
    const auto column = [&](int c) { return begin + c < given.rank ? given.column(begin + c, MINUS) : 0; };
    const int first = MINUS ? given.rank - begin - COLUMNS : begin;  // of the columns, if there are as many
    if (aligned && given.v_row == 1 && in_words(n) && in_words(given.v_column)) {
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
            for (int i = 0; i < N; i += SCALARS) {
                const Word<T> word = *(const Word<T>*)given.at(b, i < n ? i : 0, column(c));
#pragma unroll
                for (int e = 0; e < SCALARS; ++e) v[c][i + e] = word.scalar[e];
            }
    } else if (COLUMNS % SCALARS == 0 && aligned && given.v_column == 1 && in_words(given.v_row) && in_words(first) &&
               begin + COLUMNS <= given.rank) {
#pragma unroll
        for (int i = 0; i < N; ++i)
#pragma unroll
            for (int c = 0; c < COLUMNS; c += SCALARS) {
                const Word<T> word = *(const Word<T>*)given.at(b, i < n ? i : 0, first + c);
#pragma unroll
                for (int e = 0; e < SCALARS; ++e) v[MINUS ? COLUMNS - 1 - c - e : c + e][i] = word.scalar[e];
            }
    } else {
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
            for (int i = 0; i < N; ++i) v[c][i] = *given.at(b, i < n ? i : 0, column(c));
    }
}

// The columns of V of one sign, COLUMNS at a time. A downdate takes them from the last one on.
template <class T, int N, int COLUMNS, bool MINUS>
__device__ __forceinline__ void sweep(const Given<T>& given, long long b, int n, int order,
                                      T (&l)[N * (N + 1) / 2], const T (&was)[N], bool& good) {
    if (!given.has(MINUS)) return;
    for (int begin = 0; begin < given.rank; begin += COLUMNS) {
        T v[COLUMNS][N], scales[COLUMNS];
        given.scales(scales, b, begin, MINUS);
        take<T, N, COLUMNS, MINUS>(v, given, b, n, begin);
        bool none = true;
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            none &= scales[c] == T(0);
            good &= scales[c] == scales[c];
#pragma unroll
            for (int i = 0; i < N; ++i) v[c][i] = i < order && scales[c] != T(0) ? v[c][i] * scales[c] : T(0);
        }
        // A singular matrix has no downdate.
        if (MINUS && !none)
#pragma unroll
            for (int j = 0; j < N; ++j) good &= !(j < order && was[j] == T(0));
        if (!none) eliminate<T, N, COLUMNS, MINUS>(l, v, good);
    }
}

template <class T, int N, int COLUMNS>
__device__ __forceinline__ void modify(const Modification<T>& all) {
    const long long b = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (b >= all.factors.count) return;
    if (!all.given.is_wanted(b)) return all.outcome.unchanged(b, 0);
    const int n = all.factors.n, order = all.factors.orders[b];
    T* const at = all.factors.of(b);
    T l[N * (N + 1) / 2], old[N];
#pragma unroll
    for (int j = 0; j < N; ++j) {
#pragma unroll
        for (int i = j; i < N; ++i)
            l[j * (2 * N - j + 1) / 2 + i - j] = i < n ? at[place(n, i, j) * GROUP] : T(i == j);
        old[j] = l[j * (2 * N - j + 1) / 2];
    }
    bool good = true;
    sweep<T, N, COLUMNS, false>(all.given, b, n, order, l, old, good);
    sweep<T, N, COLUMNS, true>(all.given, b, n, order, l, old, good);
    if (order == NO_FACTOR) return all.outcome.unchanged(b, NONE);
    if (!good) return all.outcome.defer(b);
    Ratios<T> ratios;
#pragma unroll
    for (int j = 0; j < N; ++j) {
        if (j < order) ratios.add(old[j], l[j * (2 * N - j + 1) / 2]);
#pragma unroll
        for (int i = j; i < N; ++i)
            if (i < n) at[place(n, i, j) * GROUP] = l[j * (2 * N - j + 1) / 2 + i - j];
    }
    all.outcome.changed(b, ratios);
}

#define MODIFY(T, NAME, N, COLUMNS)                                                                          \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        batch_modify_thread_##N##_##COLUMNS##_##NAME(const Modification<T> all) {                                  \
        modify<T, N, COLUMNS>(all);                                                                          \
    }

MODIFY(float, f32, 4, 1)
MODIFY(float, f32, 4, 4)
MODIFY(float, f32, 8, 1)
MODIFY(float, f32, 8, 4)
MODIFY(double, f64, 4, 1)
MODIFY(double, f64, 4, 4)
MODIFY(double, f64, 8, 1)
MODIFY(double, f64, 8, 4)

constexpr int MODIFICATION = sizeof(Modification<double>);

EXPORT_LAYOUT(batch_modify_thread, THREADS, GROUP, MODIFICATION)
