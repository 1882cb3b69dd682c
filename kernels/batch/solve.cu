// Solutions with the factors of a batch, in place: L Y = B, or L^T X = Y, or both.
//
// Entry (i, c) of the right-hand sides of matrix b at x + b * x_matrix + i * x_row + c * x_column; rows from the order of the
// matrix on are not accessed. A matrix that has no factor or a pivot of zero, or with a right-hand side that is not finite,
// keeps its right-hand sides, and `status` and `place_of` (batch.cuh) say why.
//
// solve_thread: orders up to 8, side by side, a thread for each matrix. solve_lanes: orders up to 64, some lanes of a warp for each, with
// L in shared memory. solve_stream: orders up to 256, a warp for each, through whose shared memory the columns of L pass. solve_block: any
// order, a block for each, which reads L where it is.
//
// Launch: solve_thread blocks of THREADS threads; solve_lanes of any number of warps up to THREADS, with shared memory for a triangle of
// `shared_stride` scalars for each matrix; solve_stream of any number of warps up to THREADS, with shared memory for a window
// (window.cuh) for each; solve_block any number of blocks of a multiple of 32 threads up to MOST_THREADS, with shared memory for n
// scalars.
#include "batch/batch.cuh"
#include "batch/window.cuh"

constexpr int THREADS = 128;
constexpr int GROUP = 32;  // matrices side by side
constexpr int MOST_THREADS = 256;
constexpr int NOWHERE = 0x7fffffff;

template <class T>
struct Systems {
    T* x;
    long long x_matrix, x_row, x_column;
    int count;  // right-hand sides
    int lower;  // whether to solve with L
    int upper;  // whether to solve with its transpose
    int shared_stride;
    int* status;
    int* place_of;

    __device__ __forceinline__ T* at(long long b, int i, int c) const {
        return x + b * x_matrix + i * x_row + c * x_column;
    }
    __device__ __forceinline__ void result(long long b, int status_of, int place) const {
        status[b] = status_of;
        place_of[b] = place;
    }
    // By the places of the first right-hand side that is not finite and of the first pivot that is zero.
    __device__ __forceinline__ void decide(long long b, int bad, int singular) const {
        if (bad != NOWHERE) return result(b, NOT_FINITE, bad);
        if (singular != NOWHERE) return result(b, SINGULAR, singular);
        result(b, 0, 0);
    }
};

template <class T>
__device__ __forceinline__ bool is_finite(T x) {
    return fabs(x) <= Limits<T>::largest();
}

// Whether the reciprocal of a pivot overflows or nearly so. It is then divided by, in solve_alone.
template <class T>
__device__ __forceinline__ bool is_tiny(T pivot) {
    return fabs(pivot) < T(4) / Limits<T>::largest();
}

// The solutions of one matrix, by one thread.
template <class T>
__device__ void solve_alone(const Factors<T>& factors, const Systems<T>& systems, long long b) {
    const int n = factors.n, order = factors.orders[b], group = factors.group;
    const T* const l = factors.of(b);
    for (int c = 0; c < systems.count; ++c) {
        for (int i = 0; systems.lower && i < order; ++i) {
            T x = *systems.at(b, i, c);
            for (int j = 0; j < i; ++j) x = fma(-l[(long long)place(n, i, j) * group], *systems.at(b, j, c), x);
            *systems.at(b, i, c) = x / l[(long long)place(n, i, i) * group];
        }
        for (int j = order - 1; systems.upper && j >= 0; --j) {
            T x = *systems.at(b, j, c);
            for (int i = j + 1; i < order; ++i) x = fma(-l[(long long)place(n, i, j) * group], *systems.at(b, i, c), x);
            *systems.at(b, j, c) = x / l[(long long)place(n, j, j) * group];
        }
    }
}

template <class T, int N>
__device__ __forceinline__ void solve_thread(const Factors<T>& factors, const Systems<T>& systems) {
    const long long b = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (b >= factors.count) return;
    const int n = factors.n, order = factors.orders[b];
    if (order == NO_FACTOR) return systems.result(b, NONE, 0);
    const T* const at = factors.of(b);
    T l[N * (N + 1) / 2], inverse[N];
#pragma unroll
    for (int j = 0; j < N; ++j)
#pragma unroll
        for (int i = j; i < N; ++i)
            l[j * (2 * N - j + 1) / 2 + i - j] = i < n ? at[place(n, i, j) * GROUP] : T(i == j);
    int bad = NOWHERE, singular = NOWHERE;
    bool alone = false;
#pragma unroll
    for (int j = N - 1; j >= 0; --j) {
        const T pivot = l[j * (2 * N - j + 1) / 2];
        inverse[j] = T(1) / pivot;
        alone |= is_tiny(pivot);
        if (pivot == T(0)) singular = j;
    }
    for (int c = systems.count - 1; c >= 0; --c)
        for (int i = order - 1; i >= 0; --i)
            if (!is_finite(*systems.at(b, i, c))) bad = c * n + i;
    systems.decide(b, bad, singular);
    if (min(bad, singular) != NOWHERE) return;
    if (alone) return solve_alone(factors, systems, b);
    for (int c = 0; c < systems.count; ++c) {
        T x[N];
#pragma unroll
        for (int i = 0; i < N; ++i) x[i] = i < order ? *systems.at(b, i, c) : T(0);
        if (systems.lower) {
#pragma unroll
            for (int j = 0; j < N; ++j) {
                x[j] *= inverse[j];
#pragma unroll
                for (int i = j + 1; i < N; ++i) x[i] = fma(-l[j * (2 * N - j + 1) / 2 + i - j], x[j], x[i]);
            }
        }
        if (systems.upper) {
#pragma unroll
            for (int j = N - 1; j >= 0; --j) {
                x[j] *= inverse[j];
#pragma unroll
                for (int i = 0; i < j; ++i) x[i] = fma(-l[i * (2 * N - i + 1) / 2 + j - i], x[j], x[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < N; ++i)
            if (i < order) *systems.at(b, i, c) = x[i];
    }
}

// A matrix and its right-hand sides, of which LANES lanes have the rows: lane g the rows g, g + LANES, ..
template <class T, int LANES, int ROWS>
struct System {
    const Factors<T>& factors;
    const Systems<T>& systems;
    long long b;
    int n, order, member;
    T inverse[ROWS], x[ROWS];  // of the pivots; 1 from the order of the matrix on
    bool takes;

    __device__ __forceinline__ System(const Factors<T>& of, const Systems<T>& given) : factors(of), systems(given) {
        b = (long long)blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES;
        n = factors.n, member = threadIdx.x % LANES;
        const bool is_there = b < factors.count;
        if (!is_there) b = 0;
        order = is_there ? factors.orders[b] : NO_FACTOR;
        if (is_there && order == NO_FACTOR && member == 0) systems.result(b, NONE, 0);
        takes = order != NO_FACTOR;
    }

    __device__ __forceinline__ int row(int part) const { return part * LANES + member; }
    // Whether the lane has a row in this part below the diagonal of column j of a block of LANES columns.
    __device__ __forceinline__ bool has(int block, int part, int j) const {
        return row(part) < n && (part > block || member > j);
    }

    // Checks the pivots and the right-hand sides. Returns whether a matrix of the warp goes on.
    __device__ __forceinline__ bool begin(const T (&pivot)[ROWS]) {
        int bad = NOWHERE, singular = NOWHERE;
        for (int c = systems.count - 1; c >= 0; --c)
#pragma unroll
            for (int part = ROWS - 1; part >= 0; --part)
                if (row(part) < order && !is_finite(*systems.at(b, row(part), c))) bad = c * n + row(part);
        bool tiny = false;
#pragma unroll
        for (int part = ROWS - 1; part >= 0; --part) {
            inverse[part] = T(1) / pivot[part];
            tiny |= is_tiny(pivot[part]);
            if (pivot[part] == T(0)) singular = row(part);
        }
#pragma unroll
        for (int lanes = LANES / 2; lanes > 0; lanes /= 2) {
            bad = min(bad, __shfl_xor_sync(ALL_LANES, bad, lanes, LANES));
            singular = min(singular, __shfl_xor_sync(ALL_LANES, singular, lanes, LANES));
            tiny |= __shfl_xor_sync(ALL_LANES, (int)tiny, lanes, LANES) != 0;
        }
        if (takes && member == 0) systems.decide(b, bad, singular);
        takes = takes && min(bad, singular) == NOWHERE;
        if (takes && tiny && member == 0) solve_alone(factors, systems, b);
        takes = takes && !tiny;
        return __any_sync(ALL_LANES, takes);
    }

    __device__ __forceinline__ void take(int c) {
#pragma unroll
        for (int part = 0; part < ROWS; ++part) x[part] = takes && row(part) < order ? *systems.at(b, row(part), c) : T(0);
    }
    __device__ __forceinline__ void give(int c) const {
#pragma unroll
        for (int part = 0; part < ROWS; ++part)
            if (takes && row(part) < order) *systems.at(b, row(part), c) = x[part];
    }
};

template <class T, int LANES, int ROWS>
__device__ __forceinline__ void solve_lanes(const Factors<T>& factors, const Systems<T>& systems) {
    DYNAMIC_SHARED(T, shared);
    System<T, LANES, ROWS> own(factors, systems);
    if (!__any_sync(ALL_LANES, own.takes)) return;
    const int n = own.n, member = own.member;
    T* const l = shared + threadIdx.x / LANES * systems.shared_stride;
    if (own.takes) fetch<LANES>(l, factors.of(own.b), (int)factors.group_stride, member);
    arrived();
    T pivot[ROWS];
#pragma unroll
    for (int part = 0; part < ROWS; ++part) pivot[part] = own.takes && own.row(part) < n ? l[place(n, own.row(part), own.row(part))] : T(1);
    if (!own.begin(pivot)) return;
    T(&x)[ROWS] = own.x;
    for (int c = 0; c < systems.count; ++c) {
        own.take(c);
        if (systems.lower) {
            const T* column = l + member;
#pragma unroll
            for (int block = 0; block < ROWS; ++block) {
                const int end = min(n - LANES * block, LANES);
                for (int j = 0; j < end; ++j) {
                    T entry[ROWS];
#pragma unroll
                    for (int part = block; part < ROWS; ++part)
                        if (own.has(block, part, j)) entry[part] = column[LANES * (part - block) - j];
                    const T solved = __shfl_sync(ALL_LANES, x[block] * own.inverse[block], j, LANES);
                    if (member == j) x[block] = solved;
#pragma unroll
                    for (int part = block; part < ROWS; ++part)
                        if (own.has(block, part, j)) x[part] = fma(-entry[part], solved, x[part]);
                    column += n - LANES * block - j;
                }
            }
        }
        if (systems.upper) {
#pragma unroll
            for (int block = ROWS - 1; block >= 0; --block) {
                const int end = min(n - LANES * block, LANES);
                for (int j = end - 1; j >= 0; --j) {
                    T entry[ROWS];
#pragma unroll
                    for (int part = 0; part <= block; ++part)
                        if (part < block || member < j) entry[part] = l[place(n, LANES * block + j, own.row(part))];
                    const T solved = __shfl_sync(ALL_LANES, x[block] * own.inverse[block], j, LANES);
                    if (member == j) x[block] = solved;
#pragma unroll
                    for (int part = 0; part <= block; ++part)
                        if (part < block || member < j) x[part] = fma(-entry[part], solved, x[part]);
                }
            }
        }
        own.give(c);
    }
}

// Columns of L that are taken together.
constexpr int STRIP = 4;

// A warp has a matrix.
template <class T, int ROWS>
struct Streamed : System<T, 32, ROWS> {
    using System<T, 32, ROWS>::n;
    using System<T, 32, ROWS>::member;
    using System<T, 32, ROWS>::x;
    using System<T, 32, ROWS>::inverse;
    // 16 KB or more.
    Window<T, 32, ROWS, STRIP, sizeof(T) * ROWS == 16 ? 8 : 4> window;

    __device__ __forceinline__ Streamed(const Factors<T>& factors, const Systems<T>& systems)
        : System<T, 32, ROWS>(factors, systems) {}

    __device__ __forceinline__ void lower(const T* l) {
        window.open(l, entries(n), true);
        int diagonal = 0;
#pragma unroll
        for (int block = 0; block < ROWS; ++block) {
            const int end = min(n - 32 * block, 32);
            for (int strip = 0; strip < end; strip += STRIP) {
                window.move_to(diagonal);
                T entry[STRIP][ROWS];
#pragma unroll
                for (int w = 0; w < STRIP; ++w) {
                    const int j = strip + w;
                    const T* const column = window.column(diagonal);
#pragma unroll
                    for (int part = block; part < ROWS; ++part)
                        entry[w][part] = column[this->has(block, part, j) ? 32 * (part - block) + member - j : 0];
                    if (j < end) diagonal += n - 32 * block - j;
                }
#pragma unroll
                for (int w = 0; w < STRIP; ++w) {
                    const int j = strip + w;
                    const T solved = __shfl_sync(ALL_LANES, x[block] * inverse[block], j);
                    if (j < end && member == j) x[block] = solved;
#pragma unroll
                    for (int part = block; part < ROWS; ++part)
                        if (j < end && this->has(block, part, j)) x[part] = fma(-entry[w][part], solved, x[part]);
                }
            }
        }
        window.close();
    }

    __device__ __forceinline__ void upper(const T* l, bool has_passed) {
        window.open_backwards(l, entries(n), true, has_passed);
#pragma unroll
        for (int block = ROWS - 1; block >= 0; --block) {
            const int end = min(n - 32 * block, 32);
            for (int strip = (end - 1) / STRIP * STRIP; end > 0 && strip >= 0; strip -= STRIP) {
                const int first = 32 * block + strip, after = min(first + STRIP, n);
                window.move_to(place(n, after, after));
                // The products of each column with the rows below the strip.
                T dot[STRIP];
#pragma unroll
                for (int w = 0; w < STRIP; ++w) {
                    const int j = min(first + w, n - 1);
                    const T* const column = window.column(place(n, j, j));
                    const bool is_below = member >= strip + STRIP && member < end;
                    dot[w] = column[is_below ? 32 * block + member - j : 0] * (is_below ? x[block] : T(0));
#pragma unroll
                    for (int part = block + 1; part < ROWS; ++part) {
                        const bool has = this->row(part) < n;
                        dot[w] = fma(column[has ? this->row(part) - j : 0], has ? x[part] : T(0), dot[w]);
                    }
                }
                // Of the lane's own column, the rows of the strip below the diagonal.
                const bool is_of_strip = member >= strip && member < strip + STRIP && member < end;
                const int own = is_of_strip ? 32 * block + member : after - 1;
                const T* const column = window.column(place(n, own, own));
                T entry[STRIP];
                const auto has = [&](int w) { return is_of_strip && first + w > own && first + w < n; };
#pragma unroll
                for (int w = 0; w < STRIP; ++w) entry[w] = column[has(w) ? first + w - own : 0];
                gather(dot);
                if (is_of_strip) x[block] -= dot[0];
#pragma unroll
                for (int w = STRIP - 1; w >= 0; --w) {
                    const T solved = __shfl_sync(ALL_LANES, x[block] * inverse[block], strip + w);
                    if (first + w < n && member == strip + w) x[block] = solved;
                    if (has(w)) x[block] = fma(-entry[w], solved, x[block]);
                }
            }
        }
        window.close();
    }

    // The sums over all lanes, of number g % STRIP in lane g's first place.
    static __device__ __forceinline__ void gather(T (&sums)[STRIP]) {
#pragma unroll
        for (int half = STRIP / 2; half > 0; half /= 2) {
            const bool is_upper = threadIdx.x & half;
#pragma unroll
            for (int w = 0; w < STRIP / 2; ++w) {
                if (w >= half) continue;
                const T given = is_upper ? sums[w] : sums[w + half], kept = is_upper ? sums[w + half] : sums[w];
                sums[w] = kept + __shfl_xor_sync(ALL_LANES, given, half);
            }
        }
#pragma unroll
        for (int lanes = STRIP; lanes < 32; lanes *= 2) sums[0] += __shfl_xor_sync(ALL_LANES, sums[0], lanes);
    }
};

template <class T, int ROWS>
__device__ __forceinline__ void solve_stream(const Factors<T>& factors, const Systems<T>& systems) {
    DYNAMIC_SHARED(T, shared);
    Streamed<T, ROWS> own(factors, systems);
    if (!own.takes) return;
    const T* const l = factors.of(own.b);
    own.window.memory = shared + threadIdx.x / 32 * own.window.SCALARS;
    own.window.member = own.member;
    T pivot[ROWS];
#pragma unroll
    for (int part = 0; part < ROWS; ++part) pivot[part] = own.row(part) < own.n ? l[place(own.n, own.row(part), own.row(part))] : T(1);
    if (!own.begin(pivot)) return;
    for (int c = 0; c < systems.count; ++c) {
        own.take(c);
        if (systems.lower) own.lower(l);
        if (systems.upper) own.upper(l, systems.lower);
        own.give(c);
    }
}

template <class T>
__device__ __forceinline__ void solve_block(const Factors<T>& factors, const Systems<T>& systems) {
    DYNAMIC_SHARED(T, shared);
    __shared__ int bad, singular;
    const int n = factors.n, thread = threadIdx.x, threads = blockDim.x;
    T* const x = shared;
    for (long long b = blockIdx.x; b < factors.count; b += gridDim.x) {
        const int order = factors.orders[b];
        if (order == NO_FACTOR) {
            if (thread == 0) systems.result(b, NONE, 0);
            continue;
        }
        const T* const l = factors.of(b);
        if (thread == 0) bad = singular = NOWHERE;
        __syncthreads();
        for (int c = 0; c < systems.count; ++c)
            for (int i = thread; i < order; i += threads)
                if (!is_finite(*systems.at(b, i, c))) atomicMin(&bad, c * n + i);
        for (int i = thread; i < order; i += threads)
            if (l[place(n, i, i)] == T(0)) atomicMin(&singular, i);
        __syncthreads();
        const bool solves = min(bad, singular) == NOWHERE;
        if (thread == 0) systems.decide(b, bad, singular);
        for (int c = 0; solves && c < systems.count; ++c) {
            for (int i = thread; i < order; i += threads) x[i] = *systems.at(b, i, c);
            __syncthreads();
            for (int j = 0; systems.lower && j < order; ++j) {
                const T* const column = l + place(n, j, j) - j;
                const T solved = x[j] / column[j];
                for (int i = j + 1 + thread; i < order; i += threads) x[i] = fma(-column[i], solved, x[i]);
                // All have read x[j].
                __syncthreads();
                if (thread == 0) x[j] = solved;
            }
            __syncthreads();
            for (int j = order - 1; systems.upper && j >= 0; --j) {
                const T solved = x[j] / l[place(n, j, j)];
                for (int i = thread; i < j; i += threads) x[i] = fma(-l[place(n, j, i)], solved, x[i]);
                __syncthreads();
                if (thread == 0) x[j] = solved;
            }
            __syncthreads();
            for (int i = thread; i < order; i += threads) *systems.at(b, i, c) = x[i];
            __syncthreads();
        }
        __syncthreads();
    }
}

#define KERNEL(T, NAME, FUNCTION, THREADS)                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME(const Factors<T> factors, const Systems<T> systems) { \
        FUNCTION(factors, systems);                                                                          \
    }
#define SOLVE(T, NAME)                                                \
    KERNEL(T, batch_solve_thread_4_##NAME, (solve_thread<T, 4>), THREADS)     \
    KERNEL(T, batch_solve_thread_8_##NAME, (solve_thread<T, 8>), THREADS)     \
    KERNEL(T, batch_solve_lanes_4_4_##NAME, (solve_lanes<T, 4, 4>), THREADS)    \
    KERNEL(T, batch_solve_lanes_8_4_##NAME, (solve_lanes<T, 8, 4>), THREADS)    \
    KERNEL(T, batch_solve_lanes_16_4_##NAME, (solve_lanes<T, 16, 4>), THREADS)  \
    KERNEL(T, batch_solve_stream_4_##NAME, (solve_stream<T, 4>), THREADS)       \
    KERNEL(T, batch_solve_stream_8_##NAME, (solve_stream<T, 8>), THREADS)       \
    KERNEL(T, batch_solve_block_##NAME, solve_block, MOST_THREADS)

// The scalar types are compiled apart: the driver takes a while to translate each.
#ifndef ONLY_F64
SOLVE(float, f32)
#endif
#ifndef ONLY_F32
SOLVE(double, f64)
#endif

constexpr int SYSTEMS = sizeof(Systems<double>);

EXPORT_LAYOUT(batch_solve, THREADS, GROUP, MOST_THREADS, SYSTEMS, STRIP)
