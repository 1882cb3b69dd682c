// Solutions with the factors of a batch of order 129 to 256, in place (systems.cuh): a warp has a matrix, through whose shared memory the
// columns of L pass, from the first to the last one and then back.
//
// Launch: blocks of any number of warps up to MOST_THREADS, with shared memory for a window (window.cuh) for each.
#include "batch/systems.cuh"
#include "batch/window.cuh"

constexpr int MOST_THREADS = 128;

// Columns of L that are taken together, and those in shared memory.
constexpr int STRIP = 2;
constexpr int WINDOW = 8;

// A warp has a matrix.
template <class T, int ROWS>
struct Streamed : System<T, 32, ROWS> {
    using System<T, 32, ROWS>::n;
    using System<T, 32, ROWS>::member;
    using System<T, 32, ROWS>::x;
    using System<T, 32, ROWS>::inverse;
    Window<T, 32, ROWS, STRIP, WINDOW / STRIP> window;

    __device__ __forceinline__ Streamed(const Factors<T>& factors, const Systems<T>& systems)
        : System<T, 32, ROWS>(factors, systems) {}

    // Begins with the first column, or with the last one if that is where the solution begins.
    __device__ __forceinline__ void open(const T* l) {
        if (this->systems.lower)
            window.open(l, entries(n), true);
        else
            window.open_backwards(l, entries(n), false);
    }

    __device__ __forceinline__ void lower() {
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
                    // Beyond the last row are other places of the window.
                    const T* const column = window.column(diagonal);
                    entry[w][block] = column[max(member - j, 0)];
#pragma unroll
                    for (int part = block + 1; part < ROWS; ++part) entry[w][part] = column[32 * (part - block) + member - j];
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

    __device__ __forceinline__ void upper() {
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
                    const T one = column[max(32 * block + member - j, 0)];
                    dot[w] = member >= strip + STRIP && member < end ? one * x[block] : T(0);
#pragma unroll
                    for (int part = block + 1; part < ROWS; ++part)
                        if (this->row(part) < n) dot[w] = fma(column[this->row(part) - j], x[part], dot[w]);
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
    own.open(l);
    own.begin();
    T pivot[ROWS];
#pragma unroll
    for (int part = 0; part < ROWS; ++part) pivot[part] = own.row(part) < own.n ? l[place(own.n, own.row(part), own.row(part))] : T(1);
    const bool goes_on = own.check(pivot);
    for (int c = 0; goes_on && c < systems.count; ++c) {
        if (c > 0) own.open(l), own.take(c);
        if (systems.lower) own.lower();
        if (systems.lower && systems.upper) own.window.open_backwards(l, entries(own.n), true);
        if (systems.upper) own.upper();
        own.give(c);
    }
    own.window.close();
}

#define SOLVE(T, NAME, ROWS)                                                                                 \
    extern "C" __global__ void __launch_bounds__(MOST_THREADS)                                               \
        batch_solve_stream_##ROWS##_##NAME(const Factors<T> factors, const Systems<T> systems) {             \
        solve_stream<T, ROWS>(factors, systems);                                                             \
    }

SOLVE(float, f32, 8)
SOLVE(double, f64, 8)

EXPORT_LAYOUT(batch_solve_stream, MOST_THREADS, WINDOW)
