// A + V diag(w) V^T for many factors of order 9 to 32: some neighbouring lanes of a warp have a matrix.
//
// L passes through shared memory, V is in registers (lanes.cuh). All lanes of a matrix compute the same reflection for a column, and
// then change their own rows. A matrix for which these do not serve is not written, and is listed for again.cu.
//
// Shapes: batch.cuh, with Factors::group = 1. Launch: blocks of any number of warps, 32 / LANES matrices for each warp, with
// shared memory for as many triangles of `shared_stride` scalars each (triangles.cuh). A kernel serves orders up to LANES * ROWS.
#include "batch/lanes.cuh"

constexpr int MOST_THREADS = 128;

template <class T, int LANES, int ROWS, int COLUMNS>
struct Share : Matrix<T, LANES, ROWS, COLUMNS> {
    using Matrix<T, LANES, ROWS, COLUMNS>::n;
    using Matrix<T, LANES, ROWS, COLUMNS>::member;
    using Matrix<T, LANES, ROWS, COLUMNS>::pivot;
    T* triangle;  // its pivots are those before the columns of V that are eliminated
    bool changes = false;

    __device__ __forceinline__ Share(const Modification<T>& all) : Matrix<T, LANES, ROWS, COLUMNS>(all) {}

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
                    if (this->has(block, part, j, end)) old[part] = entries[LANES * (part - block)];
                T a[COLUMNS], dot[ROWS];
                const Reflector<T> reflect = this->template reflection<MINUS>(block, j, before, a, dot);
#pragma unroll
                for (int part = block; part < ROWS; ++part)
                    if (this->has(block, part, j, end)) {
                        const T fresh = reflect.column(old[part], dot[part]);
                        const T both = (old[part] + fresh) * reflect.inverse;
                        entries[LANES * (part - block)] = fresh;
                        this->take_off(both, a, part);
                    }
                diagonal += n - LANES * block - j;
            }
        }
    }

    // The columns of V of one sign, COLUMNS at a time. A downdate takes them from the last one on.
    template <bool MINUS>
    __device__ __forceinline__ void sweep() {
        const Given<T>& given = this->all.given;
        if (!given.has(MINUS)) return;
        for (int begin = 0; begin < given.rank; begin += COLUMNS) {
            if (!this->template take<MINUS>(begin)) continue;
            if (!changes) arrived();
            changes = true;
            eliminate<MINUS>();
            __syncwarp();
#pragma unroll
            for (int part = 0; part < ROWS; ++part)
                if (this->row(part) < n) triangle[place(n, this->row(part), this->row(part))] = pivot[part];
            __syncwarp();
        }
    }
};

template <class T, int LANES, int ROWS, int COLUMNS>
__device__ __forceinline__ void modify(const Modification<T>& all, int shared_stride) {
    DYNAMIC_SHARED(T, shared);
    Share<T, LANES, ROWS, COLUMNS> own(all);
    if (!own.any_wanted()) return;
    const int stride = (int)all.factors.group_stride;
    T* const l = all.factors.of(own.b);
    own.triangle = shared + threadIdx.x / LANES * shared_stride;
    if (own.is_wanted) fetch<LANES>(own.triangle, l, stride, own.member);
    // While the rest of L arrives.
    own.begin(l);
    own.template sweep<false>();
    own.template sweep<true>();
    if (!own.changes) arrived();
    const bool good = own.is_good();
    own.end(good);
    if (own.takes && good && own.changes) give<LANES>(l, own.triangle, stride, own.member);
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
    MODIFY(T, NAME, 8, 4, 4)

// The scalar types are compiled apart: the driver takes a while to translate each.
#ifndef ONLY_F64
MODIFY_IN(float, f32)
#endif
#ifndef ONLY_F32
MODIFY_IN(double, f64)
#endif

EXPORT_LAYOUT(batch_modify_lanes, MOST_THREADS)
