// Transforms the trailing rows of a panel by its reflectors, one rank block after the other: kernels/hybrid/trailing.cu
// with one work-item for each row, and the same roundings, bit for bit.
//
// Compiled with DOUBLE (1: double precision), ELEMENTS (columns of V in a rank block, all of one sign: a multiple of 4),
// STRIDE (scalars from one row of the reflectors to the next) and COLUMN_GROUP (columns of L that are loaded ahead). With row j of a rank block's reflectors (b_j, s_j and x_j, which include the sign), each row i of the panel (l)
// and of V (v) is transformed by the columns j = 0 .. cols - 1 in order:
//
//     d = x_j l_ij + s_j <v, b_j>        u = 2 l_ij + d        l_ij <- l_ij + d        v <- v - u b_j
//
// Shapes, column-major, strides and offsets in scalars:
//     panel       rows first .. end of column j < cols at panel + j * panel_stride; read and written
//     v           rows first .. end of each column at v + v_first + column * v_stride; read and written
//     reflectors  from reflectors_first on, rank_blocks x cols x STRIDE: ELEMENTS entries of b, s_j, x_j and padding; read
//
// Work-item t has row first + t, and none from `end` on. Rows are independent and each has one owner, so the result does
// not depend on the sizes of launches and work-groups. cols is a multiple of COLUMN_GROUP.

#if DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double4 real4;
#else
typedef float real;
typedef float4 real4;
#endif
#pragma OPENCL FP_CONTRACT OFF

#define QUADS (ELEMENTS / 4)

__kernel void trailing(__global real* panel, ulong panel_stride, __global real* v, ulong v_first, ulong v_stride,
                       const __global real* reflectors, ulong reflectors_first, uint cols, uint rank_blocks,
                       ulong first, ulong end) {
    const ulong i = first + get_global_id(0);
    if (i >= end) return;
    panel += i;
    v += v_first + i;
    const __global real* row = reflectors + reflectors_first;
    for (uint p = 0; p < rank_blocks; ++p, v += ELEMENTS * v_stride) {
        real4 own[QUADS];  // the row's entries in the rank block
#pragma unroll
        for (int q = 0; q < QUADS; ++q)
            own[q] = (real4)(v[4 * q * v_stride], v[(4 * q + 1) * v_stride], v[(4 * q + 2) * v_stride],
                             v[(4 * q + 3) * v_stride]);
        real ahead[COLUMN_GROUP];
#pragma unroll
        for (int c = 0; c < COLUMN_GROUP; ++c) ahead[c] = panel[c * panel_stride];
        for (uint at = 0; at < cols; at += COLUMN_GROUP) {
#pragma unroll
            for (int c = 0; c < COLUMN_GROUP; ++c, row += STRIDE) {
                const real l = ahead[c];
                if (at + c + COLUMN_GROUP < cols) ahead[c] = panel[(at + c + COLUMN_GROUP) * panel_stride];
                real4 b[QUADS];
#pragma unroll
                for (int q = 0; q < QUADS; ++q) b[q] = vload4(q, row);
                real4 sums = own[0] * b[0];
#pragma unroll
                for (int q = 1; q < QUADS; ++q) sums = fma(own[q], b[q], sums);
                const real dot = (sums.x + sums.y) + (sums.z + sums.w);
                const real d = fma(row[ELEMENTS], dot, row[ELEMENTS + 1] * l);
                const real4 u = -fma((real)2, l, d);
#pragma unroll
                for (int q = 0; q < QUADS; ++q) own[q] = fma(u, b[q], own[q]);
                panel[(at + c) * panel_stride] = l + d;
            }
        }
#pragma unroll
        for (int q = 0; q < QUADS; ++q) {
            v[4 * q * v_stride] = own[q].x;
            v[(4 * q + 1) * v_stride] = own[q].y;
            v[(4 * q + 2) * v_stride] = own[q].z;
            v[(4 * q + 3) * v_stride] = own[q].w;
        }
    }
}
