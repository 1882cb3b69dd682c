// What the lanes of a matrix have of it, where LANES neighbouring lanes of a warp have a matrix of at most LANES * ROWS rows: lane g the
// rows g, g + LANES, .., with the pivots of L and with V in registers.
#pragma once
#include "batch/batch.cuh"
#include "batch/reflector.cuh"
#include "batch/triangles.cuh"

template <class T, int LANES, int ROWS, int COLUMNS>
struct Matrix {
    const Modification<T>& all;
    long long b;
    int n, order, member;
    T v[ROWS][COLUMNS];
    T pivot[ROWS];
    T was[ROWS];  // the pivots before the modification
    bool is_there, is_wanted, takes, good = true;

    __device__ __forceinline__ Matrix(const Modification<T>& modification) : all(modification) {
        b = (long long)blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES;
        n = all.factors.n, member = threadIdx.x % LANES;
        is_there = b < all.factors.count;
        if (!is_there) b = 0;
        is_wanted = is_there && all.given.is_wanted(b);
    }

    __device__ __forceinline__ int row(int part) const { return part * LANES + member; }
    // Whether the lane has a row in this part below the diagonal of column j of a block of LANES columns, of which there are `end`.
    __device__ __forceinline__ bool has(int block, int part, int j, int end) const {
        return part == block ? member > j && member < end : row(part) < n;
    }

    // Whether a matrix of the warp is modified. Otherwise the outcome is known.
    __device__ __forceinline__ bool any_wanted() const {
        const bool any = __any_sync(ALL_LANES, is_wanted);
        if (!any && is_there && member == 0) all.outcome.unchanged(b, 0);
        return any;
    }

    // Takes the order and the pivots.
    __device__ __forceinline__ void begin(const T* l) {
        order = all.factors.orders[b];
#pragma unroll
        for (int part = 0; part < ROWS; ++part)
            pivot[part] = was[part] = row(part) < n ? l[place(n, row(part), row(part))] : T(1);
        takes = is_wanted && order != NO_FACTOR;
    }

    // Takes the columns of V of one sign from number `begin` on. Returns whether a matrix of the warp has entries other than zero:
    // columns of zeros change nothing, so that other matrices decide only whether they are computed.
    template <bool MINUS>
    __device__ __forceinline__ bool take(int begin) {
        const Given<T>& given = all.given;
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
        bool any = false, weighted = false;
#pragma unroll
        for (int part = 0; part < ROWS; ++part)
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) {
                v[part][c] = takes && row(part) < order && scales[c] != T(0) ? v[part][c] * scales[c] : T(0);
                any |= v[part][c] != T(0);
            }
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            weighted |= scales[c] != T(0);
            good = good && scales[c] == scales[c];
        }
        // A singular matrix has no downdate.
        if (MINUS && takes && weighted)
#pragma unroll
            for (int part = 0; part < ROWS; ++part) good = good && !(row(part) < order && was[part] == T(0));
        return __any_sync(ALL_LANES, any);
    }

    // The reflection that eliminates row j of a block of LANES rows of V, with the old pivot of its column of L; that row; and its
    // products with the lane's rows. The reflection is the same in all lanes of the matrix.
    template <bool MINUS>
    __device__ __forceinline__ Reflector<T> reflection(int block, int j, T before, T (&a)[COLUMNS], T (&dot)[ROWS]) {
        Squares<T, MINUS> squares;
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) squares.add(a[c] = __shfl_sync(ALL_LANES, v[block][c], j, LANES));
#pragma unroll
        for (int part = block; part < ROWS; ++part) {
            dot[part] = v[part][0] * a[0];
#pragma unroll
            for (int c = 1; c < COLUMNS; ++c) dot[part] = fma(v[part][c], a[c], dot[part]);
        }
        const Reflector<T> reflect = reflector<T, MINUS>(before, squares, good);
        if (member == j) pivot[block] = reflect.pivot;
        return reflect;
    }
    // Takes it off a row of V below, with `both`, the sum of the old and the new entry of L times Reflector::inverse.
    __device__ __forceinline__ void take_off(T both, const T (&a)[COLUMNS], int part) {
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) v[part][c] = fma(-both, a[c], v[part][c]);
    }

    // Whether the reflections serve, in all lanes of the matrix.
    __device__ __forceinline__ bool is_good() const {
        const unsigned bad = __ballot_sync(ALL_LANES, !good) >> threadIdx.x % 32 / LANES * LANES;
        return (bad & (ALL_LANES >> (32 - LANES))) == 0;
    }

    // Writes the outcome, by all lanes of the warp.
    __device__ __forceinline__ void end(bool is_good) const {
        Ratios<T> ratios;
#pragma unroll
        for (int part = 0; part < ROWS; ++part)
            if (takes && row(part) < order) ratios.add(was[part], pivot[part]);
        ratios.template gather<LANES>();
        if (!is_there || member > 0) return;
        if (!takes)
            all.outcome.unchanged(b, is_wanted ? NONE : 0);
        else if (!is_good)
            all.outcome.defer(b);
        else
            all.outcome.changed(b, ratios);
    }
};
