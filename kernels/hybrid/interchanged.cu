// Transforms the trailing rows by a panel in which columns of L are interchanged with columns of V. About k columns
// are interchanged in an update that outweighs the factor, and in the downdate that reverses it; none in other
// modifications (src/cpu/kernels/interchange.rs). V stays in memory, because the number of the column of V is known at
// run time only.
//
// A rank block is `width` columns of V, all of one sign. With column j of a rank block's reflectors (b_j, x_j) and its
// interchange t, each row i of the panel (l) and of V (v) is transformed by the columns j = 0 .. cols - 1 in order.
// Where t is 0:
//
//     d = x_j l_ij + sign (2 + x_j) <v, b_j>        u = 2 l_ij + d        l_ij <- l_ij + d        v <- v - u b_j
//
// Otherwise p = |t| - 1, o = sign(t) v_p, with sums as if in twice the precision:
//
//     plus:     l'_ij = o + (x_j o + (2 + x_j) <v, b_j>), with v_p <- l_ij before
//     minus:    l'_ij = (l_ij - o - x_j o - (2 + x_j) <v, b_j>, but for p) / ((2 + x_j) b_jp), v_p <- l'_ij
//     both:     v <- v - u b_j, u = o + l'_ij for a plus and o + l_ij for a minus; l_ij <- l'_ij
//
// Shapes, column-major, strides in scalars:
//     panel       rows first .. end of column j < cols at panel + j * panel_stride; read and written
//     v           rows first .. end of each column at v + column * v_stride; read and written
//     reflectors  rank_blocks of them, block_stride apart: of each column width entries of b, x and t; read
// The first `plus` rank blocks have a plus sign, the others a minus.
//
// Launch: a grid and blocks of x only. Thread t of the grid has row first + t, and none from `end` on; a launch covers
// at most gridDim.x * blockDim.x rows. Rows are independent and each has one owner.
//
// Limits: width a multiple of 4. Offsets are 64 bits wide. Every rounding is explicit, as in trailing.cu.
#include "common/compensated.cuh"

constexpr int SUMS = 4;  // partial sums of a dot product, which shorten its chain of dependent operations

// One column of L, which is interchanged with column p of V: returns u, and changes l and v_p.
template <class T>
__device__ __forceinline__ T change_places(T* v, long long v_stride, const T* b, int width, T x, T t, bool minus,
                                           T& l) {
    const long long p = (long long)(t < T(0) ? -t : t) - 1;
    T& place = v[p * v_stride];
    const T other = t < T(0) ? -place : place, old = l, s = T(2) + x;
    Sum sum, entry;
    for (int c = 0; c < width; ++c)
        if (c != p) sum.add_product(v[c * v_stride], b[c]);
    if (minus) {
        entry.add(l);
        entry.add(-other);
        entry.add_product(-x, other);
        entry.add_times(-s, sum);
        l = (T)(entry.rounded() / ((double)s * b[p]));
        place = l;
        return other + old;
    }
    sum.add_product(l, b[p]);
    entry.add(other);
    entry.add_product(x, other);
    entry.add_times(s, sum);
    l = (T)entry.rounded();
    place = old;
    return other + l;
}

template <class T>
__device__ __forceinline__ void interchanged(T* panel, long long panel_stride, T* v, long long v_stride,
                                             const T* reflectors, long long block_stride, int width, int cols,
                                             int rank_blocks, int plus, long long first, long long end) {
    const long long i = first + (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= end) return;
    for (int p = 0; p < rank_blocks; ++p) {
        T* const own = v + (long long)p * width * v_stride + i;
        const T* row = reflectors + p * block_stride;
        const T sign = p < plus ? T(1) : T(-1);
        for (int j = 0; j < cols; ++j, row += width + 2) {
            T& entry = panel[j * panel_stride + i];
            T l = entry, u;
            const T x = row[width], t = row[width + 1];
            if (t != T(0)) {
                u = change_places(own, v_stride, row, width, x, t, p >= plus, l);
                entry = l;
            } else {
                T sum[SUMS] = {};
                for (int c = 0; c < width; c += SUMS)
#pragma unroll
                    for (int s = 0; s < SUMS; ++s) sum[s] = fma(own[(c + s) * v_stride], row[c + s], sum[s]);
                const T dot = (sum[0] + sum[1]) + (sum[2] + sum[3]);
                const T d = fma(sign * (T(2) + x), dot, x * l);
                u = fma(T(2), l, d);
                entry = l + d;
            }
#pragma unroll 4
            for (int c = 0; c < width; ++c) own[c * v_stride] = fma(-u, row[c], own[c * v_stride]);
        }
    }
}

#define INTERCHANGED(NAME, T)                                                                                \
    extern "C" __global__ void NAME(T* panel, long long panel_stride, T* v, long long v_stride,              \
                                    const T* reflectors, long long block_stride, int width, int cols,        \
                                    int rank_blocks, int plus, long long first, long long end) {             \
        interchanged<T>(panel, panel_stride, v, v_stride, reflectors, block_stride, width, cols,             \
                        rank_blocks, plus, first, end);                                                      \
    }

INTERCHANGED(interchanged_f64, double)
INTERCHANGED(interchanged_f32, float)
