// The short chain: what a panel does to the rows of V below it, without waiting for its reflectors.
//
// With D the diagonal block of a panel, V_D its rows of V, S = 1 or -1 the sign of all 16 columns of V:
//
//     P = D^-1 V_D      1 + S P^T P = R^T R, R upper triangular      V <- (V - L P) R^-1     (rows below)
//
// Reflectors would leave V times an orthogonal matrix instead, which reflect.cu and turn take account of.
//
// D^-1 is known beforehand: of the panel's 64 columns, what one after the other would wait for are three small
// products and a 16 x 16 factor. That the same P makes the panel's reflectors (reflect.cu) keeps L and V
// consistent, however ill-conditioned D is. It is as accurate as reflectors made from [D V] while P is small; where
// it is not, or R would be ill-conditioned, the block is eliminated column by column here too.
//
// Shapes, column-major, strides in scalars: entry (i, j) of the panel at l + j * l_stride + i, its 64 columns from
// the first diagonal entry on, with `below` rows under the block; read. inverse (64 x 64): D^-1, zero above the
// diagonal; read. v: row i of V, counted as l's, at v + column * v_stride + i; the rows below the block written.
// p (64 x 16, row-major), turn (16 x 16, row-major) and small (1): P, R, and whether P is small; written by the
// first block.
//
// Launch: blocks of 256 threads, each for 64 rows below and for those a grid of such further on.
// Products on tensor cores as in trailing_tensor.cu; all of it but the column by column in double precision.
#include "householder.cuh"

constexpr int E = 4;
constexpr int COLUMNS = LANES * E; // of V
constexpr int LD = COLUMNS + 4;    // of a 64 x 16 matrix in shared memory, row-major: no bank conflicts
constexpr int STEPS = ROWS / 4;    // products in a sum over 64

// For the short chain: |P|^2 at most, since P is as good as |D| |P| is not much more than a row of D; the pivots^2
// of R at least; and at least this share of the entry that each was left of, so that the columns of P point into
// different directions, however unlike their lengths.
constexpr double SMALL_P = 256.0;
constexpr double LARGE_PIVOT = 0.25;
constexpr double LARGE_SHARE = 1.0 / 64.0;

// Where a thread stands in its warp's products: row `row` of a tile of 8, columns q of an operand's four.
struct Lane {
    int warp, row, q;
    __device__ Lane() : warp(threadIdx.x / 32), row(threadIdx.x % 32 / 4), q(threadIdx.x % 4) {}
};

// A warp's 8 rows (8 x 64) times b (64 x 16), added to or taken from c. `steps`: the sum's, four columns each.
template <bool TAKE>
__device__ __forceinline__ void multiply(const Lane& at, const double (&a)[STEPS], const double* b, int steps,
                                         double (&c)[2][2]) {
    double odd[2][2] = {}; // a second chain
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
        if (s >= steps) break;
        const double x = TAKE ? -a[s] : a[s];
#pragma unroll
        for (int tile = 0; tile < 2; ++tile) {
            double(&sum)[2] = s % 2 ? odd[tile] : c[tile];
            mma_m8n8k4_f64(sum[0], sum[1], x, b[(4 * s + at.q) * LD + 8 * tile + at.row]);
        }
    }
#pragma unroll
    for (int tile = 0; tile < 2; ++tile)
#pragma unroll
        for (int e = 0; e < 2; ++e) c[tile][e] += odd[tile][e];
}

// A warp's 8 x 16 to and from shared memory.
__device__ __forceinline__ void put(const Lane& at, double* to, const double (&c)[2][2]) {
#pragma unroll
    for (int tile = 0; tile < 2; ++tile)
#pragma unroll
        for (int e = 0; e < 2; ++e) to[(8 * at.warp + at.row) * LD + 8 * tile + 2 * at.q + e] = c[tile][e];
}

__device__ __forceinline__ void get(const Lane& at, const double* from, double (&c)[2][2]) {
#pragma unroll
    for (int tile = 0; tile < 2; ++tile)
#pragma unroll
        for (int e = 0; e < 2; ++e) c[tile][e] = from[(8 * at.warp + at.row) * LD + 8 * tile + 2 * at.q + e];
}

// One of the four 8 x 8 tiles of P^T P, by a warp.
__device__ __forceinline__ void gram(const Lane& at, const double* p, double* g) {
    double sum[2][2] = {};
    const int i = at.warp / 2 * 8, j = at.warp % 2 * 8;
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
        const double* const row = p + (4 * s + at.q) * LD;
        mma_m8n8k4_f64(sum[s % 2][0], sum[s % 2][1], row[i + at.row], row[j + at.row]);
    }
#pragma unroll
    for (int e = 0; e < 2; ++e) g[(i + at.row) * LD + j + 2 * at.q + e] = sum[0][e] + sum[1][e];
}

// R^-1 (16 x 16, row-major) in place of P^T P, and R at `turn` if that is not null, by all threads, one for each
// entry; whether P and R allow the short chain. With 1 + S P^T P = U^T D U, U with a unit diagonal, row j of U and
// the square d_j are what goes round at step j; U^-T grows beside.
__device__ __forceinline__ bool root(double* g, double (*rows)[2][COLUMNS], double sign, double* turn) {
    const int r = threadIdx.x / COLUMNS, c = threadIdx.x % COLUMNS;
    double trace = 0;
#pragma unroll
    for (int i = 0; i < COLUMNS; ++i) trace += g[i * LD + i];
    double a = fma(sign, g[r * LD + c], r == c ? 1.0 : 0.0), e = r == c ? 1.0 : 0.0;
    bool allowed = trace <= SMALL_P;
#pragma unroll 1
    for (int j = 0; j < COLUMNS; ++j) {
        if (r == j) {
            rows[j][0][c] = a;
            rows[j][1][c] = e;
        }
        const double entry = fma(sign, g[j * LD + j], 1.0);
        __syncthreads();
        const double square = rows[j][0][j];
        allowed = allowed && square >= LARGE_PIVOT && square >= LARGE_SHARE * entry;
        const double inverse = reciprocal(allowed ? square : 1.0);
        const double taken = r > j ? rows[j][0][r] * inverse : 0.0;
        a = fma(-taken, rows[j][0][c], a);
        e = fma(-taken, rows[j][1][c], e);
    }
    // (r, c) of R is entry c of row r over the root of its square; of R^-1, entry r of the other row c.
    const double y = reciprocal_root(allowed ? rows[r][0][r] : 1.0);
    const double z = reciprocal_root(allowed ? rows[c][0][c] : 1.0);
    if (turn) turn[r * COLUMNS + c] = c >= r ? rows[r][0][c] * y : 0.0;
    g[r * LD + c] = c >= r ? rows[c][1][r] * z : 0.0;
    return allowed;
}

// c R^-1, in the order of columns that makes the product the next operand (see trailing_tensor.cu).
__device__ __forceinline__ void scale(const Lane& at, const double* inverse, double (&c)[2][2]) {
    double product[2][2] = {};
#pragma unroll
    for (int s = 0; s < 4; ++s)
#pragma unroll
        for (int tile = 0; tile < 2; ++tile)
            mma_m8n8k4_f64(product[tile][0], product[tile][1], c[s / 2][s % 2],
                           inverse[(s / 2 * 8 + 2 * at.q + s % 2) * LD + 8 * tile + at.row]);
#pragma unroll
    for (int tile = 0; tile < 2; ++tile)
#pragma unroll
        for (int e = 0; e < 2; ++e) c[tile][e] = product[tile][e];
}

// A warp's 8 rows below: of L (8 x 64) as products take it, of V (8 x 16) as they leave it.
struct Tile {
    double l[STEPS], v[2][2];

    template <class T>
    __device__ __forceinline__ void load(const Lane& at, const T* from, long long l_stride, const T* of_v,
                                         long long v_stride, long long own, long long end) {
        const bool mine = own < end;
        from += at.q * l_stride + own;
#pragma unroll
        for (int s = 0; s < STEPS; ++s) {
            l[s] = mine ? (double)*from : 0.0;
            from += 4 * l_stride;
        }
#pragma unroll
        for (int tile = 0; tile < 2; ++tile)
#pragma unroll
            for (int e = 0; e < 2; ++e)
                v[tile][e] = mine ? (double)of_v[(8 * tile + 2 * at.q + e) * v_stride + own] : 0.0;
    }

    template <class T>
    __device__ __forceinline__ void store(const Lane& at, T* of_v, long long v_stride, long long own,
                                          long long end) const {
#pragma unroll
        for (int tile = 0; tile < 2; ++tile)
#pragma unroll
            for (int e = 0; e < 2; ++e)
                if (own < end) of_v[(8 * tile + 2 * at.q + e) * v_stride + own] = (T)v[tile][e];
    }
};

// Shared memory of the two ways, of which a block goes one.
template <class T>
union Shared {
    struct {
        double v[ROWS * LD], p[ROWS * LD], g[COLUMNS * LD], rows[COLUMNS][2][COLUMNS];
    } fast;
    struct {
        T d[ROWS][ROWS + 1], staged[2][COLUMNS], b[ROWS][COLUMNS], rho[ROWS];
    } careful;
};

// Column by column: the block's reflectors, and then the rows below from `own` on, four threads to each.
template <class T>
__device__ __forceinline__ void column_by_column(Shared<T>& shared, const T* l, long long l_stride, T* v,
                                                 long long v_stride, long long own, long long end, T sign) {
    auto& careful = shared.careful;
    const int i = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    T x[E], rho = 0;
    load_row<T, E>(x, v, v_stride, true);
    load_block(careful.d, l, l_stride, ROWS);
    __syncthreads();
    eliminate<T, E>(careful.d, careful.staged, x, sign, ROWS, rho, (T*)0);
#pragma unroll
    for (int r = 0; r < E; ++r) careful.b[i][lane * E + r] = x[r];
    careful.rho[i] = rho; // the same from all four
    __syncthreads();
    for (; own - i < end; own += (long long)gridDim.x * ROWS) {
        const bool mine = own < end;
        const T* entry = l + own;
        load_row<T, E>(x, v + own - i, v_stride, mine);
#pragma unroll 8
        for (int j = 0; j < ROWS; ++j) {
            T dot = 0, b[E];
#pragma unroll
            for (int r = 0; r < E; ++r) {
                b[r] = careful.b[j][lane * E + r];
                dot = fma(b[r], x[r], dot);
            }
            const T u = careful.rho[j] * fma(sign, row_sum(dot), mine ? *entry : T(0));
            entry += l_stride;
#pragma unroll
            for (int r = 0; r < E; ++r) x[r] = fma(-u, b[r], x[r]);
        }
#pragma unroll
        for (int r = 0; r < E; ++r)
            if (mine) v[Order<T, E>::column(lane, r) * v_stride + own] = x[r];
    }
}

// Has the next panel's entries of L brought near, in the rows that a block works on; `first`: of those.
template <class T>
__device__ __forceinline__ void fetch_next(const T* l, long long l_stride, long long first, long long end) {
    constexpr int LINE = 128 / (int)sizeof(T), LINES = ROWS / LINE;
    const long long row = first + threadIdx.x % LINES * LINE, column = ROWS + threadIdx.x / LINES;
    if (column < 2 * ROWS && column < end && row < end) prefetch(l + column * l_stride + row);
}

template <class T>
__device__ __forceinline__ void chain(const T* l, long long l_stride, const double* inverse, T* v,
                                      long long v_stride, double* p, double* turn, int* small, long long below,
                                      double sign) {
    __shared__ Shared<T> shared;
    auto& fast = shared.fast;
    const Lane at;
    const int row = 8 * at.warp + at.row;
    const long long end = ROWS + below, stride = (long long)gridDim.x * ROWS;
    long long own = (long long)(blockIdx.x + 1) * ROWS + row;

    // All that comes from device memory is asked for at once.
    double solve[STEPS], block[STEPS];
    Tile tile;
    const double* of_inverse = inverse + at.q * ROWS + row;
    const T* of_block = l + at.q * l_stride + row;
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
        solve[s] = of_inverse[4 * s * ROWS];
        if (sizeof(T) == 8) {
            block[s] = 4 * s + at.q <= row ? (double)*of_block : 0.0;
            of_block += 4 * l_stride;
        }
    }
    tile.load(at, l, l_stride, v, v_stride, own, end);
#pragma unroll
    for (int part = 0; part < ROWS * COLUMNS / 256; ++part) {
        const int column = threadIdx.x / ROWS + part * (256 / ROWS), i = threadIdx.x % ROWS;
        fast.v[i * LD + column] = (double)v[column * v_stride + i];
    }
    fetch_next(l, l_stride, own - row, end);
    __syncthreads();

    double own_p[2][2] = {};
    const int steps = 2 * (at.warp + 1); // as far as the triangle goes
    multiply<false>(at, solve, fast.v, steps, own_p);
    put(at, fast.p, own_p);
    __syncthreads();
    if (sizeof(T) == 8) {
        // What an inverse loses more than a substitution does, when D is ill-conditioned.
        double rest[2][2];
        get(at, fast.v, rest);
        multiply<true>(at, block, fast.p, steps, rest);
        put(at, fast.v, rest);
        __syncthreads();
        multiply<false>(at, solve, fast.v, steps, own_p);
        put(at, fast.p, own_p);
        __syncthreads();
    }

    if (at.warp < 4) gram(at, fast.p, fast.g);
    multiply<true>(at, tile.l, fast.p, STEPS, tile.v);
    if (blockIdx.x == 0)
        for (int e = threadIdx.x; e < ROWS * COLUMNS; e += 256) p[e] = fast.p[e / COLUMNS * LD + e % COLUMNS];
    __syncthreads();
    const bool short_chain = root(fast.g, fast.rows, sign, blockIdx.x == 0 ? turn : (double*)0);
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0) *small = short_chain;
    if (!short_chain) {
        own = (long long)(blockIdx.x + 1) * ROWS + threadIdx.x / LANES;
        column_by_column(shared, l, l_stride, v, v_stride, own, end, (T)sign);
        return;
    }
    while (true) {
        scale(at, fast.g, tile.v);
        tile.store(at, v, v_stride, own, end);
        own += stride;
        if (own - row >= end) return; // all of the block's threads alike
        tile.load(at, l, l_stride, v, v_stride, own, end);
        fetch_next(l, l_stride, own - row, end);
        multiply<true>(at, tile.l, fast.p, STEPS, tile.v);
    }
}

#define CHAIN(T, NAME)                                                                                       \
    extern "C" __global__ void __launch_bounds__(256, 2)                                                     \
        chain_##NAME(const T* l, long long l_stride, const double* inverse, T* v, long long v_stride,        \
                     double* p, double* turn, int* small, long long below, double sign) {                    \
        chain<T>(l, l_stride, inverse, v, v_stride, p, turn, small, below, sign);                            \
    }

CHAIN(float, f32)
CHAIN(double, f64)
