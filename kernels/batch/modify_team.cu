// A + V diag(w) V^T for many factors of order 9 to 256: a team of neighbouring lanes of a warp has a matrix.
//
// Lane g of a team of LANES has the rows g, g + LANES, .., ROWS of them at most. L passes through shared memory, V is in
// registers. All lanes of a team compute the same reflection for a column, and then change their own rows. A matrix for which
// these do not serve is not written, and is listed for again.cu.
//
// Shapes: batch.cuh, with Factors::group = 1. Launch: blocks of any number of warps, 32 / LANES matrices for each warp, with
// shared memory for as many triangles of `shared_stride` scalars each (team.cuh). A kernel serves orders up to LANES * ROWS.
#include "batch/batch.cuh"
#include "batch/reflector.cuh"
#include "batch/team.cuh"

constexpr int MOST_THREADS = 128;

template <class T, int LANES, int ROWS, int COLUMNS>
struct Team {
    const Modification<T>& all;
    T* triangle;
    long long b;
    int n, order, member;
    T v[ROWS][COLUMNS];
    T pivot[ROWS];  // of the lane's rows; those in shared memory are of before
    bool takes, changes = false, good = true;

    __device__ __forceinline__ int row(int part) const { return part * LANES + member; }

    // Eliminates columns of V of one sign.
    template <bool MINUS>
    __device__ __forceinline__ void eliminate() {
        T* diagonal = triangle;
#pragma unroll
        for (int block = 0; block < ROWS; ++block) {
            const int end = min(n - LANES * block, LANES);
#pragma unroll 1
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
    Team<T, LANES, ROWS, COLUMNS> team = {all, shared + number * shared_stride};
    team.b = (long long)blockIdx.x * (blockDim.x / LANES) + number;
    team.n = all.factors.n, team.member = threadIdx.x % LANES;
    const bool is_there = team.b < all.factors.count;
    if (!is_there) team.b = 0;
    const bool is_wanted = is_there && all.given.is_wanted(team.b);
    if (!__any_sync(ALL_LANES, is_wanted)) {
        if (is_there && team.member == 0) all.outcome.unchanged(team.b, 0);
        return;
    }
    T* const l = all.factors.of(team.b);
    if (is_wanted) fetch<LANES>(team.triangle, l, stride, team.member);
    // The order and the old pivots, while the rest of L arrives.
    team.order = all.factors.orders[team.b];
    T old[ROWS];
#pragma unroll
    for (int part = 0; part < ROWS; ++part)
        old[part] = team.row(part) < team.n ? l[place(team.n, team.row(part), team.row(part))] : T(1);
    team.takes = is_wanted && team.order != NO_FACTOR;
    team.template sweep<false>();
    team.template sweep<true>();
    if (!team.changes) arrived();
    if (!team.changes || !team.takes) {
        if (is_there && team.member == 0) all.outcome.unchanged(team.b, team.takes || !is_wanted ? 0 : NONE);
        if (!team.changes) return;
    }
    Ratios<T> ratios;
#pragma unroll
    for (int part = 0; part < ROWS; ++part) {
        const int i = team.row(part);
        if (team.takes && i < team.order) ratios.add(old[part], team.triangle[place(team.n, i, i)]);
    }
    ratios.template gather<LANES>();
    if (!team.takes) return;
    if (team.good) {
        give<LANES>(l, team.triangle, stride, team.member);
        if (team.member == 0) all.outcome.changed(team.b, ratios);
    } else if (team.member == 0) {
        all.outcome.defer(team.b);
    }
}

#define MODIFY(T, NAME, LANES, ROWS, COLUMNS)                                                                \
    extern "C" __global__ void __launch_bounds__(MOST_THREADS)                                               \
        batch_modify_team_##LANES##_##ROWS##_##COLUMNS##_##NAME(const Modification<T> all, int shared_stride) {    \
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

EXPORT_LAYOUT(batch_modify_team, MOST_THREADS)
