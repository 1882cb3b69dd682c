// The reflectors of several panels at once, a block of threads for each.
//
// What a panel's reflectors are made from depends on what chain.cu has found there: from [I P] where P = D^-1 V_D
// is small, which gives the same reflectors as [D V_D] and is what chain.cu has gone on with; or from [D V_D].
//
// Behind a panel the reflectors leave (V - L P) Z, where chain.cu has left (V - L P) R^-1. q = (R Z)^T, which is
// orthogonal, takes the one to the other, and the product Q of the q of all panels before is between the V of the
// chain and the V that goes through the reflectors: they are made for the one, as b, and turned into b Q^T for the
// other, by `turn`.
//
// Shapes, column-major: the panels' diagonal blocks of 64 columns, the last of what `rows` leaves, entry (i, j),
// i >= j, of the first at l + j * l_stride + i; the chain's V of `rows` rows, row i at v + column * v_stride + i;
// read. Of each panel, as chain.cu has left them: p (64 x 16, row-major) and small, read; turn (16 x 16,
// row-major): R, and then q; reflectors, of 64 columns as trailing_tensor.cu takes them (f64) or as trailing.cu
// with 4 lanes does (f32), written.
//
// `last`: the last of the panels has no rows below. Its reflectors are made from [D V_D] and nobody's, and its new
// block goes to `target`, shaped as l. pivots (rows): the new diagonal; written. status: the least number,
// counted from 1 and `first` on, of a column whose pivot^2 is not positive; atomic.
//
// Launch: a block for each panel, of 320 threads, for `turn` of 256. S = 1 or -1 is the sign of all 16 columns
// of V.
#include "householder.cuh"

constexpr int E = 4;
constexpr int COLUMNS = LANES * E; // of V

template <class T>
__device__ __forceinline__ void reflect(const T* l, long long l_stride, const T* v, long long v_stride,
                                        const double* p, double* turn, const int* small, T* reflectors, T* target,
                                        T* pivots, int rows, int last, T sign, long long first,
                                        int* status) {
    typedef Order<T, E> Place;
    __shared__ T d[ROWS][ROWS + 1]; // by columns
    __shared__ T staged[2][COLUMNS], z[COLUMNS][COLUMNS + 1];
    const int i = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const long long at = (long long)blockIdx.x * ROWS;
    const int cols = min(ROWS, rows - (int)at);
    const bool stores = last && blockIdx.x == gridDim.x - 1;
    const bool from_p = !stores && small[blockIdx.x];
    turn += blockIdx.x * COLUMNS * COLUMNS;

    // Behind the block the rows of Z: those of the identity.
    T x[E];
    const T old = from_p && i < cols ? l[(at + i) * (l_stride + 1)] : T(1);
    load_row<T, E>(x, v + at, v_stride, i < cols);
    if (i < ROWS) load_block(d, l + at * (l_stride + 1), l_stride, cols);
    if (i < ROWS && from_p) {
        const double* const row = p + (at + i) * COLUMNS;
#pragma unroll
        for (int r = 0; r < E; ++r) x[r] = (T)row[Place::column(lane, r)];
        for (int j = lane; j < ROWS; j += LANES) d[j][i] = i == j ? T(1) : T(0);
    }
#pragma unroll
    for (int r = 0; r < E; ++r)
        if (i >= ROWS) x[r] = Place::column(lane, r) == i - ROWS ? T(1) : T(0);
    __syncthreads();

    T rho = 0;
    T* const group = reflectors + (at + i) / GROUP * Place::SCALARS;
    const bool keeps = i < ROWS && !stores;
    const int done = eliminate<T, E>(d, staged, x, sign, cols, rho,
                                     Place::TAU && keeps ? group + Place::tau(i % GROUP, 0) : (T*)0);
    // What comes before a breakdown is good, and a later sweep may find an earlier one: from it on, identities.
    if (done < cols && threadIdx.x == 0) atomicMin(status, (int)(first + at + done) + 1);
    if (keeps) {
        if (i >= done) rho = 2;
#pragma unroll
        for (int r = 0; r < E; ++r)
            if (i >= done) x[r] = 0;
        for (int j = max(done, i / GROUP * GROUP); Place::TAU && lane == 0 && j < (i / GROUP + 1) * GROUP; ++j)
            group[Place::tau(i % GROUP, j % GROUP)] = T(0);
#pragma unroll
        for (int r = 0; r < E; ++r) group[Place::b(i % GROUP, lane, r)] = x[r];
        if (!Place::TAU || lane == 0) Place::rho(group, i % GROUP, lane, rho);
    }
#pragma unroll
    for (int r = 0; r < E; ++r)
        if (i >= ROWS) z[i - ROWS][Place::column(lane, r)] = x[r];
    __syncthreads();
    if (i < cols && lane == 0) pivots[at + i] = old * d[i][i];
    if (stores) {
        for (int j = lane; j < cols; j += LANES)
            if (i < cols && j <= i) target[(at + j) * l_stride + at + i] = d[j][i];
    }
    double q = 0;
    const int row = threadIdx.x / COLUMNS, column = threadIdx.x % COLUMNS;
    if (row < COLUMNS) {
        q = row == column ? 1.0 : 0.0;
        if (from_p) {
            q = 0;
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) q = fma((double)z[c][row], turn[column * COLUMNS + c], q);
        }
    }
    __syncthreads(); // R has been read
    if (row < COLUMNS) turn[row * COLUMNS + column] = q;
}

// b <- b Q^T. `carried` (16 x 16, row-major): Q behind the panel before the first, or nothing yet (`fresh`), and at
// another place, behind the last.
template <class T>
__device__ __forceinline__ void turned(const double* turn, const double* carried, double* carry, int fresh,
                                       T* reflectors) {
    typedef Order<T, E> Place;
    __shared__ double product[COLUMNS][COLUMNS + 1];
    const int row = threadIdx.x / COLUMNS, column = threadIdx.x % COLUMNS;
    const int i = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    product[row][column] = fresh ? (row == column ? 1.0 : 0.0) : carried[threadIdx.x];
    __syncthreads();

    const auto times = [&](const double* q) {
        double sum = 0;
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) sum = fma(product[row][c], q[c * COLUMNS + column], sum);
        __syncthreads();
        product[row][column] = sum;
        __syncthreads();
    };
    for (int panel = 0; panel < (int)blockIdx.x; ++panel) times(turn + panel * COLUMNS * COLUMNS);

    T* const group = reflectors + ((long long)blockIdx.x * ROWS + i) / GROUP * Place::SCALARS;
    double b[COLUMNS];
#pragma unroll
    for (int r = 0; r < COLUMNS; ++r) // those of all four, in the order of the columns
        b[r] = (double)group[Place::b(i % GROUP, r / E, r % E)];
    __syncwarp();
#pragma unroll
    for (int r = 0; r < E; ++r) {
        double sum = 0;
#pragma unroll
        for (int other = 0; other < COLUMNS; ++other)
            sum = fma(b[other], product[Place::column(lane, r)][Place::column(other / E, other % E)], sum);
        group[Place::b(i % GROUP, lane, r)] = (T)sum;
    }
    if (blockIdx.x + 1 == gridDim.x) {
        times(turn + blockIdx.x * COLUMNS * COLUMNS);
        carry[threadIdx.x] = product[row][column];
    }
}

// The new diagonal into L, entries `stride` apart; a thread for each. As the reflectors go over the block's own
// rows they give it too, but where L is small beside V perhaps with another sign.
template <class T>
__device__ __forceinline__ void settle(T* l, long long stride, const T* pivots, long long count) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) l[i * stride] = pivots[i];
}

#define REFLECT(T, NAME)                                                                                     \
    extern "C" __global__ void __launch_bounds__(320)                                                        \
        reflect_##NAME(const T* l, long long l_stride, const T* v, long long v_stride, const double* p,      \
                       double* turn, const int* small, T* reflectors, T* target, T* pivots, int rows,        \
                       int last, double sign, long long first, int* status) {                                \
        reflect<T>(l, l_stride, v, v_stride, p, turn, small, reflectors, target, pivots, rows, last,         \
                   (T)sign, first, status);                                                                  \
    }                                                                                                        \
    extern "C" __global__ void __launch_bounds__(256)                                                        \
        turn_##NAME(const double* turn, const double* carried, double* carry, int fresh, T* reflectors) {    \
        turned<T>(turn, carried, carry, fresh, reflectors);                                                  \
    }                                                                                                        \
    extern "C" __global__ void settle_##NAME(T* l, long long stride, const T* pivots, long long count) {     \
        settle<T>(l, stride, pivots, count);                                                                 \
    }

REFLECT(float, f32)
REFLECT(double, f64)
