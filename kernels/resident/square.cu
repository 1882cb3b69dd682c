// A = L L^T, both triangles.
//
//     l       n x n, entry (i, j), i >= j, at l + j * stride + i; entries above are not read; read
//     to      n x n, packed, column-major; written
//
// Products are summed in double precision, in the order of the columns of L.
//
// Launch: a block of 256 threads for each 64 x 64 tile (r, c), c <= r, of the lower triangle: c at x, r at y of the
// grid; the other blocks do nothing. At most 65535 rows of tiles.
#include "common/layout.cuh"
#include "common/panel.cuh"

constexpr int TILE = 64;
constexpr int DEPTH = 16;  // columns of L in shared memory at a time
constexpr int SIDE = 16;   // threads along a side of a tile
constexpr int EACH = TILE / SIDE;

template <class T>
__device__ __forceinline__ void load(const T* l, long long stride, long long top, long long first, long long n,
                                     double (&rows)[DEPTH][TILE]) {
    for (int at = threadIdx.x; at < DEPTH * TILE; at += THREADS) {
        const int p = at / TILE, row = at % TILE;
        const long long i = top + row, j = first + p;
        rows[p][row] = i < n && j <= i ? (double)l[j * stride + i] : 0.0;
    }
}

template <class T>
__device__ __forceinline__ void square(const T* l, long long stride, T* to, long long n) {
    __shared__ double a[DEPTH][TILE], b[DEPTH][TILE];
    const long long top = (long long)blockIdx.y * TILE, left = (long long)blockIdx.x * TILE;
    if (left > top) return;
    const int down = threadIdx.x % SIDE, across = threadIdx.x / SIDE;
    double sum[EACH][EACH] = {};
    // L is zero to the right of the diagonal of the upper of both row blocks.
    for (long long first = 0; first < left + TILE && first < n; first += DEPTH) {
        load(l, stride, top, first, n, a);
        load(l, stride, left, first, n, b);
        __syncthreads();
#pragma unroll
        for (int p = 0; p < DEPTH; ++p) {
            double x[EACH], y[EACH];
#pragma unroll
            for (int e = 0; e < EACH; ++e) x[e] = a[p][down + SIDE * e], y[e] = b[p][across + SIDE * e];
#pragma unroll
            for (int e = 0; e < EACH; ++e)
#pragma unroll
                for (int f = 0; f < EACH; ++f) sum[e][f] = fma(x[e], y[f], sum[e][f]);
        }
        __syncthreads();
    }
    for (int e = 0; e < EACH; ++e)
        for (int f = 0; f < EACH; ++f) {
            const long long i = top + down + SIDE * e, j = left + across + SIDE * f;
            if (i >= n || j > i) continue;
            to[j * n + i] = (T)sum[e][f];
            to[i * n + j] = (T)sum[e][f];
        }
}

#define SQUARE(T, NAME)                                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
        square_##NAME(const T* l, long long stride, T* to, long long n) {                                    \
        square(l, stride, to, n);                                                                            \
    }

SQUARE(float, f32)
SQUARE(double, f64)

EXPORT_LAYOUT(square, THREADS, TILE)
