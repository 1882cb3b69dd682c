// A + V diag(w) V^T for many factors of order 9 to 256: some neighbouring lanes of a warp have a matrix.
//
// Lane g of its LANES lanes has the rows g, g + LANES, .., ROWS of them at most. L passes through shared memory, V is in
// registers. All lanes of a matrix compute the same reflection for a column, and then change their own rows. A matrix for which
// these do not serve is not written, and is listed for again.cu.
//
// Shapes: batch.cuh, with Factors::group = 1. Launch: blocks of any number of warps, 32 / LANES matrices for each warp, with
// shared memory for as many triangles of `shared_stride` scalars each (triangles.cuh). A kernel serves orders up to LANES * ROWS.
#include "batch/batch.cuh"
#include "batch/reflector.cuh"
#include "batch/triangles.cuh"

constexpr int MOST_THREADS = 128;

template <class T, int LANES, int ROWS, int COLUMNS>
struct Share {
    const Modification<T>& all;
    T* triangle;
    long long b;
    int n, order, member;
    T v[ROWS][COLUMNS];
    T pivot[ROWS];  // of the lane's rows; those in shared memory are of before
    T was[ROWS];    // before the modification
    bool takes, changes = false, good = true;

    __device__ __forceinline__ int row(int part) const { return part * LANES + member; }

    // Eliminates columns of V of one sign.
    template <bool MINUS>
    __device__ __forceinline__ void eliminate() {
        T* diagonal = triangle;
#pragma unroll
        for (int block = 0; block < ROWS; ++block) {
            const int end = min(n - LANES * block, LANES);
            for (int j = 0; j < end; ++j) {
                // What does not wait for the reflection.
                T* const entries = diagonal + member - j;
                const T before = *diagonal;
                T old[ROWS];
#pragma unroll
                for (int part = block; part < ROWS; ++part)
                    if (has(block, part, j, end)) old[part] = entries[LANES * (part - block)];
                T a[COLUMNS];
                Squares<T, MINUS> squares;
#pragma unroll
                for (int c = 0; c < COLUMNS; ++c) squares.add(a[c] = __shfl_sync(ALL_LANES, v[block][c], j, LANES));
                T dot[ROWS];
#pragma unroll
                for (int part = block; part < ROWS; ++part) {
                    dot[part] = v[part][0] * a[0];
#pragma unroll
                    for (int c = 1; c < COLUMNS; ++c) dot[part] = fma(v[part][c], a[c], dot[part]);
                }
                const Reflector<T> reflect = reflector<T, MINUS>(before, squares, good);
                if (member == j) pivot[block] = reflect.pivot;
#pragma unroll
                for (int part = block; part < ROWS; ++part)
                    if (has(block, part, j, end)) {
                        const T fresh = reflect.column(old[part], dot[part]);
                        const T both = (old[part] + fresh) * reflect.inverse;
                        entries[LANES * (part - block)] = fresh;
#pragma unroll
                        for (int c = 0; c < COLUMNS; ++c) v[part][c] = fma(-both, a[c], v[part][c]);
                    }
                diagonal += n - LANES * block - j;
            }
        }
    }

    // Whether the lane has a row in this part below the diagonal of column j of a block.
    __device__ __forceinline__ bool has(int block, int part, int j, int end) const {
        return part == block ? member > j && member < end : row(part) < n;
    }

    // The columns of V of one sign, COLUMNS at a time. A downdate takes them from the last one on.
    template <bool MINUS>
    __device__ __forceinline__ void sweep() {
        const Given<T>& given = all.given;
        if (!given.has(MINUS)) return;
        for (int begin = 0; begin < given.rank; begin += COLUMNS) {
            T scales[COLUMNS];
            given.scales(scales, b, begin, MINUS);
            // All loads before the first use; where there is no entry, of another one.
#pragma unroll
            for (int part = 0; part < ROWS; ++part) {
                const long long own = row(part) < n ? given.offset(b, row(part)) : 0;
#pragma unroll
                for (int c = 0; c < COLUMNS; ++c)
                    v[part][c] = given.v[own + (begin + c < given.rank ? given.column(begin + c, MINUS) * given.v_column : 0)];
            }
            bool any = false;
#pragma unroll
            for (int part = 0; part < ROWS; ++part)
#pragma unroll
                for (int c = 0; c < COLUMNS; ++c) {
                    v[part][c] = takes && row(part) < order && scales[c] != T(0) ? v[part][c] * scales[c] : T(0);
                    any |= v[part][c] != T(0);
                }
            bool weighted = false;
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) {
                weighted |= scales[c] != T(0);
                good = good && scales[c] == scales[c];
            }
            // A singular matrix has no downdate.
            if (MINUS && takes && weighted)
#pragma unroll
                for (int part = 0; part < ROWS; ++part) good = good && !(row(part) < order && was[part] == T(0));
            // Columns of zeros change nothing, so that other matrices of the warp decide only whether they are computed.
            if (!__any_sync(ALL_LANES, any)) continue;
            if (!changes) arrived();
            changes = true;
            eliminate<MINUS>();
            __syncwarp();
#pragma unroll
            for (int part = 0; part < ROWS; ++part)
                if (row(part) < n) triangle[place(n, row(part), row(part))] = pivot[part];
            __syncwarp();
        }
    }
};

template <class T, int LANES, int ROWS, int COLUMNS>
__device__ __forceinline__ void modify(const Modification<T>& all, int shared_stride) {
    DYNAMIC_SHARED(T, shared);
    const int number = threadIdx.x / LANES, stride = (int)all.factors.group_stride;
    Share<T, LANES, ROWS, COLUMNS> own = {all, shared + number * shared_stride};
    own.b = (long long)blockIdx.x * (blockDim.x / LANES) + number;
    own.n = all.factors.n, own.member = threadIdx.x % LANES;
    const bool is_there = own.b < all.factors.count;
    if (!is_there) own.b = 0;
    const bool is_wanted = is_there && all.given.is_wanted(own.b);
    if (!__any_sync(ALL_LANES, is_wanted)) {
        if (is_there && own.member == 0) all.outcome.unchanged(own.b, 0);
        return;
    }
    T* const l = all.factors.of(own.b);
    if (is_wanted) fetch<LANES>(own.triangle, l, stride, own.member);
    // The order and the pivots, while the rest of L arrives.
    own.order = all.factors.orders[own.b];
#pragma unroll
    for (int part = 0; part < ROWS; ++part)
        own.was[part] = own.row(part) < own.n ? l[place(own.n, own.row(part), own.row(part))] : T(1);
    own.takes = is_wanted && own.order != NO_FACTOR;
    own.template sweep<false>();
    own.template sweep<true>();
    if (!own.changes) arrived();
    const unsigned bad = __ballot_sync(ALL_LANES, !own.good) >> threadIdx.x % 32 / LANES * LANES;
    const bool good = (bad & (ALL_LANES >> (32 - LANES))) == 0;
    Ratios<T> ratios;
#pragma unroll
    for (int part = 0; part < ROWS; ++part) {
        const int i = own.row(part);
        if (own.takes && i < own.order) ratios.add(own.was[part], own.triangle[place(own.n, i, i)]);
    }
    ratios.template gather<LANES>();
    if (!is_there) return;
    const bool writes = own.takes && good && own.changes;
    if (writes) give<LANES>(l, own.triangle, stride, own.member);
    if (own.member > 0) return;
    if (!own.takes)
        all.outcome.unchanged(own.b, is_wanted ? NONE : 0);
    else if (!good)
        all.outcome.defer(own.b);
    else
        all.outcome.changed(own.b, ratios);
}

#define MODIFY(T, NAME, LANES, ROWS, COLUMNS)                                                                \
    extern "C" __global__ void __launch_bounds__(MOST_THREADS)                                               \
        batch_modify_lanes_##LANES##_##ROWS##_##COLUMNS##_##NAME(const Modification<T> all, int shared_stride) {    \
        modify<T, LANES, ROWS, COLUMNS>(all, shared_stride);                                                 \
    }
#define MODIFY_IN(T, NAME)     \
    MODIFY(T, NAME, 4, 4, 1)   \
    MODIFY(T, NAME, 4, 4, 4)   \
    MODIFY(T, NAME, 8, 4, 1)   \
    MODIFY(T, NAME, 8, 4, 4)   \
    MODIFY(T, NAME, 16, 4, 1)  \
    MODIFY(T, NAME, 16, 4, 4)  \
    MODIFY(T, NAME, 32, 4, 1)  \
    MODIFY(T, NAME, 32, 4, 4)  \
    MODIFY(T, NAME, 32, 8, 1)  \
    MODIFY(T, NAME, 32, 8, 4)

// The scalar types are compiled apart: the driver takes a while to translate each.
#ifndef ONLY_F64
MODIFY_IN(float, f32)
#endif
#ifndef ONLY_F32
MODIFY_IN(double, f64)
#endif

EXPORT_LAYOUT(batch_modify_lanes, MOST_THREADS)
