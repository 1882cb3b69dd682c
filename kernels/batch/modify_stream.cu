// A + V diag(w) V^T for many factors of order 33 to 256: some neighbouring lanes of a warp have a matrix, whose columns pass
// through shared memory.
//
// V is in registers (lanes.cuh). All lanes of a matrix compute the same reflection for a column, and then change their own rows. The
// new factor is written beside the old one (Factors::sides). A matrix for which these do not serve keeps the old one, and is listed for
// again.cu.
//
// Shapes: batch.cuh, with Factors::group = 1. Launch: blocks of any number of warps, 32 / LANES matrices for each warp, with
// shared memory for as many windows (window.cuh). A kernel serves orders up to LANES * ROWS.
#include "batch/lanes.cuh"
#include "batch/window.cuh"

constexpr int MOST_THREADS = 128;
constexpr int WINDOW = 8;  // columns that arrive and are used

template <class T, int LANES, int ROWS, int COLUMNS>
struct Share : Matrix<T, LANES, ROWS, COLUMNS> {
    using Matrix<T, LANES, ROWS, COLUMNS>::n;
    using Matrix<T, LANES, ROWS, COLUMNS>::member;
    Window<T, LANES, ROWS, WINDOW / 4, 4> window;
    T* to;
    bool changes = false;

    __device__ __forceinline__ Share(const Modification<T>& all) : Matrix<T, LANES, ROWS, COLUMNS>(all) {}

    // Eliminates columns of V of one sign, with the columns of L from `from`.
    template <bool MINUS>
    __device__ __forceinline__ void eliminate(const T* from) {
        window.open(from, entries(n), this->takes);
        int diagonal = 0;
#pragma unroll
        for (int block = 0; block < ROWS; ++block) {
            const int end = min(n - LANES * block, LANES);
            for (int j = 0; j < end; ++j) {
                window.move_to(diagonal);
                // What does not wait for the reflection.
                const T* const column = window.column(diagonal);
                const T before = *column;
                T old[ROWS];
#pragma unroll
                for (int part = block; part < ROWS; ++part)
                    old[part] = column[this->has(block, part, j, end) ? LANES * (part - block) + member - j : 0];
                T a[COLUMNS], dot[ROWS];
                const Reflector<T> reflect = this->template reflection<MINUS>(block, j, before, a, dot);
#pragma unroll
                for (int part = block; part < ROWS; ++part) {
                    const T fresh = reflect.column(old[part], dot[part]);
                    const T both = (old[part] + fresh) * reflect.inverse;
                    const bool is_pivot = part == block && member == j, is_below = this->has(block, part, j, end);
                    if (is_below) this->take_off(both, a, part);
                    if (this->takes && (is_below || is_pivot))
                        to[diagonal + LANES * (part - block) + member - j] = is_pivot ? reflect.pivot : fresh;
                }
                diagonal += n - LANES * block - j;
            }
        }
        window.close();
    }

    // The columns of V of one sign, COLUMNS at a time. A downdate takes them from the last one on.
    template <bool MINUS>
    __device__ __forceinline__ void sweep(const T* l) {
        const Given<T>& given = this->all.given;
        if (!given.has(MINUS)) return;
        for (int begin = 0; begin < given.rank; begin += COLUMNS) {
            if (!this->template take<MINUS>(begin)) continue;
            eliminate<MINUS>(changes ? to : l);
            changes = true;
        }
    }
};

template <class T, int LANES, int ROWS, int COLUMNS>
__device__ __forceinline__ void modify(const Modification<T>& all) {
    DYNAMIC_SHARED(T, shared);
    Share<T, LANES, ROWS, COLUMNS> own(all);
    if (!own.any_wanted()) return;
    const T* const l = all.factors.of(own.b);
    own.to = all.factors.beside(own.b);
    own.window.memory = shared + threadIdx.x / LANES * own.window.SCALARS;
    own.window.member = own.member;
    own.begin(l);
    own.template sweep<false>(l);
    own.template sweep<true>(l);
    const bool good = own.is_good();
    own.end(good);
    if (own.takes && good && own.changes && own.member == 0) all.factors.sides[own.b] ^= 1;
}

#define MODIFY(T, NAME, LANES, ROWS, COLUMNS)                                                                \
    extern "C" __global__ void __launch_bounds__(MOST_THREADS)                                               \
        batch_modify_stream_##LANES##_##ROWS##_##COLUMNS##_##NAME(const Modification<T> all) {               \
        modify<T, LANES, ROWS, COLUMNS>(all);                                                                \
    }
#define MODIFY_IN(T, NAME)     \
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

EXPORT_LAYOUT(batch_modify_stream, MOST_THREADS, WINDOW)
