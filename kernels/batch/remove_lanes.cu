// A row and column less of many matrices of order 9 to 256 that fit into shared memory: some neighbouring lanes of a warp have a matrix.
//
// Lane g of its LANES lanes has the rows g, g + LANES, .. of the new L, ROWS of them at most. L passes through shared memory, V is
// in registers. All lanes of a matrix compute the same reflection for a column, and then change their own rows.
//
// Shapes: batch.cuh, remove.cuh, with Factors::group = 1. Launch: blocks of any number of warps, 32 / LANES matrices for each warp,
// with shared memory for as many triangles of `shared_stride` scalars each (triangles.cuh). A kernel serves orders up to LANES * ROWS.
#include "batch/remove.cuh"
#include "batch/triangles.cuh"

constexpr int MOST_THREADS = 128;

template <class T, int LANES, int ROWS>
__device__ __forceinline__ void remove(const Removal<T>& all, int shared_stride) {
    DYNAMIC_SHARED(T, shared);
    const int n = all.factors.n, member = threadIdx.x % LANES, number = threadIdx.x / LANES;
    const int stride = (int)all.factors.group_stride;
    const long long b = (long long)blockIdx.x * (blockDim.x / LANES) + number;
    const bool is_there = b < all.factors.count;
    const int order = is_there ? all.factors.orders[b] : NO_FACTOR, f = is_there ? all.indices[b] : 0;
    int result = 0;
    bool takes = is_there && all.takes(b, order, f, result);
    if (is_there && !takes && member == 0) all.unchanged(b, result, order);
    if (!__any_sync(ALL_LANES, takes)) return;
    T* const l = shared + number * shared_stride;
    T* const at = all.factors.of(is_there ? b : 0);
    if (takes) fetch<LANES>(l, at, stride, member);
    arrived();
    int singular = NOWHERE;
    T v[ROWS], was[ROWS], pivot[ROWS];
#pragma unroll
    for (int part = ROWS - 1; part >= 0; --part) {
        const int i = part * LANES + member;
        if (takes && i < n && l[place(n, i, i)] == T(0)) singular = i;
        v[part] = takes && f <= i && i + 1 < n ? l[place(n, i + 1, f)] : T(0);
        was[part] = pivot[part] = T(1);
    }
#pragma unroll
    for (int lanes = LANES / 2; lanes > 0; lanes /= 2)
        singular = min(singular, __shfl_xor_sync(ALL_LANES, singular, lanes, LANES));
    if (takes && singular != NOWHERE) {
        if (member == 0) all.unchanged(b, SINGULAR, singular);
        takes = false;
    }
    if (!__any_sync(ALL_LANES, takes)) return;
    const T gone = takes ? l[place(n, f, f)] : T(1);
    // All have read the pivot and the column that go.
    __syncwarp();
#pragma unroll
    for (int block = 0; block < ROWS; ++block) {
        const int end = min(n - LANES * block, LANES);
#pragma unroll 1
        for (int at_lane = 0; at_lane < end; ++at_lane) {
            const int j = LANES * block + at_lane;
            const bool moves = f <= j;
            // The columns from which the rows that move and those that do not come; entry i at column + i.
            const T* const here = l + place(n, j, j) - j;
            const T* const next = here + (n - j - 1);
            const T* const from = moves ? next : here;
            T old[ROWS];
#pragma unroll
            for (int part = block; part < ROWS; ++part) {
                const int i = part * LANES + member, source = f <= i ? i + 1 : i;
                old[part] = takes && i > j && source < n ? from[source] : T(0);
            }
            const T before = takes && j + moves < n ? from[j + moves] : T(1);
            const T own = __shfl_sync(ALL_LANES, v[block], at_lane, LANES);
            const Interchanged<T> reflect = interchanged(before, own);
            // The column that is written has been read by all.
            __syncwarp();
            if (member == at_lane) {
                was[block] = before, pivot[block] = reflect.pivot;
                if (takes) l[place(n, j, j)] = reflect.pivot;
            }
#pragma unroll
            for (int part = block; part < ROWS; ++part) {
                const int i = part * LANES + member;
                if (takes && i > j && i < n) l[place(n, j, j) + i - j] = reflect.apply(old[part], v[part]) + T(0);
            }
        }
    }
    Ratios<T> ratios;
#pragma unroll
    for (int part = 0; part < ROWS; ++part)
        if (takes && f <= part * LANES + member) ratios.add(was[part], pivot[part]);
    ratios.template gather<LANES>();
    // The triangle is complete.
    __syncwarp();
    if (!takes) return;
    give<LANES>(at, l, stride, member);
    if (member == 0) all.removed(b, order, gone, ratios);
}

#define REMOVE(T, NAME, LANES, ROWS)                                                                         \
    extern "C" __global__ void __launch_bounds__(MOST_THREADS)                                               \
        batch_remove_lanes_##LANES##_##ROWS##_##NAME(const Removal<T> all, int shared_stride) {              \
        remove<T, LANES, ROWS>(all, shared_stride);                                                          \
    }
#define REMOVE_IN(T, NAME)   \
    REMOVE(T, NAME, 4, 4)    \
    REMOVE(T, NAME, 8, 4)    \
    REMOVE(T, NAME, 16, 4)   \
    REMOVE(T, NAME, 32, 4)   \
    REMOVE(T, NAME, 32, 8)

REMOVE_IN(float, f32)
REMOVE_IN(double, f64)

EXPORT_LAYOUT(batch_remove_lanes, MOST_THREADS, REMOVAL)
