// Factors in memory of the caller's that become those of a batch, and the modified ones back: what surrounds modify_*.cu and again.cu
// where the host does not wait.
//
// take: L of each matrix. A matrix has no factor (its order, which is n before, becomes NO_FACTOR) if a diagonal entry is not
// positive, or if the square of an entry could overflow or is NaN.
//
// give: L' of each matrix, zeros above its diagonal, and whether it exists; if it does not, L or NaN in its place.
//
// A warp has the matrices of a group if they lie side by side (Factors::group), and otherwise a tile of LANES x LANES entries of one.
// They pass through its shared memory, so that in both memories neighbouring lanes have neighbouring entries.
//
// Launch: any number of blocks of THREADS threads.
#include "batch/batch.cuh"
#include "batch/triangles.cuh"

constexpr int THREADS = 128;
constexpr int WARPS = THREADS / 32;
constexpr int GROUP = 32;  // matrices side by side

// Entry (i, j) of matrix b lies at j * n + i from the beginning of the matrix, or if it is by rows at i * n + j.
template <class T>
struct Exchange {
    Factors<T> factors;
    const T* l;  // matrix b at l + b * l_matrix; its lower triangle is read
    long long l_matrix;
    T* to;              // matrix b at to + b * n * n; written by give
    const int* status;  // 0 for a matrix that has been modified; read by give
    unsigned char* ok;  // whether L' exists; written by give
    int l_by_rows, to_by_rows;
    int nan;  // whether NaN is written in place of an L' that does not exist, and not L

    __device__ __forceinline__ T entry(long long b, int i, int j) const {
        return l[b * l_matrix + (l_by_rows ? i * factors.n + j : j * factors.n + i)];
    }
    __device__ __forceinline__ void write(long long b, int i, int j, T x) const {
        const int n = factors.n;
        to[b * n * n + (to_by_rows ? i * n + j : j * n + i)] = x;
    }
    // What stands at a place of L' if there is none.
    __device__ __forceinline__ T in_place(long long b, int i, int j) const {
        const T zero = T(0);
        return nan ? zero / zero : entry(b, i, j);
    }
    __device__ __forceinline__ bool is_refused(T x, int i, int j) const {
        const double limit = 0.9 * (double)Limits<T>::largest();
        return !((double)x * (double)x <= limit) || (i == j && !(x > T(0)));
    }
};

// Moves an entry for each row and column of `matrices` squares of order LANES: `write` gets it from `read`, and both get the number of the
// square, the row and the column. The lanes of the warp that are neighbours have neighbouring entries of a column, or of a row. No read
// waits for another.
template <class T, int LANES, class R, class W>
__device__ __forceinline__ void move(int matrices, bool by_rows, const R& read, const W& write) {
    constexpr int STEP = 32 / LANES, TOGETHER = 8;
    const int inner = threadIdx.x % LANES, outer = threadIdx.x % 32 / LANES;
    for (int first = outer; first < matrices * LANES; first += TOGETHER * STEP) {
        T x[TOGETHER];
#pragma unroll
        for (int step = 0; step < TOGETHER; ++step) {
            const int line = first + step * STEP, across = line % LANES;
            x[step] = read(line / LANES, by_rows ? across : inner, by_rows ? inner : across);
        }
#pragma unroll
        for (int step = 0; step < TOGETHER; ++step) {
            const int line = first + step * STEP, across = line % LANES;
            write(line / LANES, by_rows ? across : inner, by_rows ? inner : across, x[step]);
        }
    }
}

// The tiles of a warp, one after the other.
template <class T, int LANES>
struct Tiles {
    static constexpr int SCALARS = LANES * (LANES + 1);
    T* memory;
    int n, across;
    long long task, tasks;
    long long b;
    int row, column;  // of its first entry

    __device__ __forceinline__ Tiles(T (&all)[WARPS][SCALARS], const Factors<T>& factors) {
        memory = all[threadIdx.x / 32];
        n = factors.n, across = (n + LANES - 1) / LANES;
        task = (long long)blockIdx.x * WARPS + threadIdx.x / 32, tasks = factors.count * across * across;
    }
    __device__ __forceinline__ bool next() {
        if (task >= tasks) return false;
        const int own = (int)(task % (across * across));
        b = task / (across * across), row = own % across * LANES, column = own / across * LANES;
        task += (long long)gridDim.x * WARPS;
        return true;
    }
    __device__ __forceinline__ T& at(int i, int j) const { return memory[j * (LANES + 1) + i]; }
    __device__ __forceinline__ bool has(int i, int j) const { return row + i < n && column + j < n; }
    // Whether there is an entry of the lower triangle.
    __device__ __forceinline__ bool has_lower(int i, int j) const { return row + i < n && row + i >= column + j; }
};

template <class T, int LANES>
__device__ __forceinline__ void take_tiles(const Exchange<T>& all) {
    __shared__ T memory[WARPS][Tiles<T, LANES>::SCALARS];
    Tiles<T, LANES> tile(memory, all.factors);
    while (tile.next()) {
        const int row = tile.row, column = tile.column;
        if (row < column) continue;
        bool refused = false;
        const auto entry = [&](int, int i, int j) {
            return tile.has_lower(i, j) ? all.entry(tile.b, row + i, column + j) : T(1);
        };
        move<T, LANES>(1, all.l_by_rows, entry, [&](int, int i, int j, T x) {
            refused = refused || all.is_refused(x, row + i, column + j);
            tile.at(i, j) = x;
        });
        __syncwarp();
        refused = __any_sync(ALL_LANES, refused);
        if (refused && threadIdx.x % 32 == 0) all.factors.orders[tile.b] = NO_FACTOR;
        T* const l = all.factors.of(tile.b);
        move<T, LANES>(1, false, [&](int, int i, int j) { return tile.at(i, j); }, [&](int, int i, int j, T x) {
            // Without negative zeros.
            if (tile.has_lower(i, j)) l[place(tile.n, row + i, column + j)] = x + T(0);
        });
        __syncwarp();
    }
}

template <class T, int LANES>
__device__ __forceinline__ void give_tiles(const Exchange<T>& all) {
    __shared__ T memory[WARPS][Tiles<T, LANES>::SCALARS];
    Tiles<T, LANES> tile(memory, all.factors);
    while (tile.next()) {
        const int row = tile.row, column = tile.column;
        const bool broken = all.status[tile.b] != 0;
        const T* const l = all.factors.of(tile.b);
        const auto entry = [&](int, int i, int j) {
            return tile.has_lower(i, j) && !broken ? l[place(tile.n, row + i, column + j)] : T(0);
        };
        move<T, LANES>(1, false, entry, [&](int, int i, int j, T x) { tile.at(i, j) = x; });
        __syncwarp();
        move<T, LANES>(1, all.to_by_rows, [&](int, int i, int j) {
            return broken && tile.has_lower(i, j) ? all.in_place(tile.b, row + i, column + j) : tile.at(i, j);
        }, [&](int, int i, int j, T x) {
            if (tile.has(i, j)) all.write(tile.b, row + i, column + j, x);
        });
        if (row == 0 && column == 0 && threadIdx.x % 32 == 0) all.ok[tile.b] = !broken;
        __syncwarp();
    }
}

// Room for the triangles of a group of matrices of order LANES or less, entry e of matrix m at e * STRIDE + m.
template <int LANES>
struct Group {
    static constexpr int STRIDE = GROUP + 1, SCALARS = LANES * (LANES + 1) / 2 * STRIDE;
};

template <class T, int LANES>
__device__ __forceinline__ void take_groups(const Exchange<T>& all) {
    constexpr int STRIDE = Group<LANES>::STRIDE;
    __shared__ T memory[WARPS][Group<LANES>::SCALARS];
    T* const own = memory[threadIdx.x / 32];
    const int n = all.factors.n, lane = threadIdx.x % 32;
    const long long step = (long long)gridDim.x * THREADS, count = all.factors.count;
    for (long long first = (long long)blockIdx.x * THREADS + threadIdx.x - lane; first < count; first += step) {
        const auto is_there = [&](int matrix, int i, int j) { return i >= j && i < n && first + matrix < count; };
        move<T, LANES>(GROUP, all.l_by_rows, [&](int matrix, int i, int j) {
            return is_there(matrix, i, j) ? all.entry(first + matrix, i, j) : T(0);
        }, [&](int matrix, int i, int j, T x) {
            if (is_there(matrix, i, j)) own[place(n, i, j) * STRIDE + matrix] = x;
        });
        __syncwarp();
        if (first + lane < count) {
            T* const l = all.factors.of(first + lane);
            bool refused = false;
            int at = 0;
            for (int j = 0; j < n; ++j)
                for (int i = j; i < n; ++i, ++at) {
                    const T x = own[at * STRIDE + lane];
                    refused = refused || all.is_refused(x, i, j);
                    l[at * GROUP] = x + T(0);
                }
            if (refused) all.factors.orders[first + lane] = NO_FACTOR;
        }
        __syncwarp();
    }
}

template <class T, int LANES>
__device__ __forceinline__ void give_groups(const Exchange<T>& all) {
    constexpr int STRIDE = Group<LANES>::STRIDE;
    __shared__ T memory[WARPS][Group<LANES>::SCALARS];
    T* const own = memory[threadIdx.x / 32];
    const int n = all.factors.n, lane = threadIdx.x % 32;
    const long long step = (long long)gridDim.x * THREADS, count = all.factors.count;
    for (long long first = (long long)blockIdx.x * THREADS + threadIdx.x - lane; first < count; first += step) {
        bool broken = false;
        if (first + lane < count) {
            const T* const l = all.factors.of(first + lane);
#pragma unroll 4
            for (int at = 0; at < entries(n); ++at) own[at * STRIDE + lane] = l[at * GROUP];
            broken = all.status[first + lane] != 0;
            all.ok[first + lane] = !broken;
        }
        // A vote orders no memory.
        __syncwarp();
        const unsigned all_broken = __ballot_sync(ALL_LANES, broken);
        const auto is_there = [&](int matrix, int i, int j) { return i < n && j < n && first + matrix < count; };
        move<T, LANES>(GROUP, all.to_by_rows, [&](int matrix, int i, int j) {
            if (i < j || !is_there(matrix, i, j)) return T(0);
            return all_broken >> matrix & 1u ? all.in_place(first + matrix, i, j) : own[place(n, i, j) * STRIDE + matrix];
        }, [&](int matrix, int i, int j, T x) {
            if (is_there(matrix, i, j)) all.write(first + matrix, i, j, x);
        });
        __syncwarp();
    }
}

#define EXCHANGE(T, NAME, KIND, LANES)                                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        batch_take_##KIND##_##LANES##_##NAME(const Exchange<T> all) {                                        \
        take_##KIND<T, LANES>(all);                                                                          \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        batch_give_##KIND##_##LANES##_##NAME(const Exchange<T> all) {                                        \
        give_##KIND<T, LANES>(all);                                                                          \
    }
#define EXCHANGE_OF(T, NAME)       \
    EXCHANGE(T, NAME, groups, 4)   \
    EXCHANGE(T, NAME, groups, 8)   \
    EXCHANGE(T, NAME, tiles, 16)   \
    EXCHANGE(T, NAME, tiles, 32)

EXCHANGE_OF(float, f32)
EXCHANGE_OF(double, f64)

constexpr int EXCHANGE_BYTES = sizeof(Exchange<double>);

EXPORT_LAYOUT(batch_exchange, THREADS, GROUP, EXCHANGE_BYTES)
