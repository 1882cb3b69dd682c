// Transforms the trailing rows by a panel in which columns of L are interchanged with columns of V:
// kernels/hybrid/interchanged.cu, which has the formulas, with one work-item for each row. Sums are as if in twice the
// precision of `real`, by the compensated dot product of Ogita, Rump and Oishi, "Accurate sum and dot product", SIAM J. Sci.
// Comput. 26 (2005).
//
// Compiled with DOUBLE (1: double precision).
//
// Shapes, column-major, strides and offsets in scalars:
//     panel       rows first .. end of column j < cols at panel + j * panel_stride; read and written
//     v           rows first .. end of each column at v + v_first + column * v_stride; read and written
//     reflectors  from reflectors_first on, rank_blocks of them, block_stride apart: of each column width entries of b, x_j
//                 and the interchange t_j; read
// The first `plus` rank blocks have a plus sign, the others a minus. Work-item t has row first + t, and none from `end` on.
// width is a multiple of 4.

#if DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
#else
typedef float real;
#endif
#pragma OPENCL FP_CONTRACT OFF

// Partial sums of a dot product, which shorten its chain of dependent operations.
#define SUMS 4

// A sum: its value in working precision, and its rounding error.
typedef struct {
    real whole, rest;
} Sum;

void add(Sum* sum, real x) {
    const real whole = sum->whole + x, part = whole - sum->whole;
    sum->rest += (sum->whole - (whole - part)) + (x - part);
    sum->whole = whole;
}

void add_product(Sum* sum, real a, real b) {
    const real product = a * b;
    add(sum, product);
    sum->rest += fma(a, b, -product);
}

// Adds a times another sum.
void add_times(Sum* sum, real a, const Sum* other) {
    add_product(sum, a, other->whole);
    sum->rest = fma(a, other->rest, sum->rest);
}

// One column of L, which is interchanged with column p of V: returns u, and changes l and v_p.
real change_places(__global real* v, ulong v_stride, const __global real* b, uint width, real x, real t, int minus,
                   real* l) {
    const uint p = (uint)fabs(t) - 1;
    __global real* const place = v + p * v_stride;
    const real other = t < 0 ? -*place : *place, old = *l, s = 2 + x;
    Sum sum = {0, 0}, entry = {0, 0};
    for (uint c = 0; c < width; ++c)
        if (c != p) add_product(&sum, v[c * v_stride], b[c]);
    if (minus) {
        add(&entry, old);
        add(&entry, -other);
        add_product(&entry, -x, other);
        add_times(&entry, -s, &sum);
        *l = (entry.whole + entry.rest) / (s * b[p]);
        *place = *l;
        return other + old;
    }
    add_product(&sum, old, b[p]);
    add(&entry, other);
    add_product(&entry, x, other);
    add_times(&entry, s, &sum);
    *l = entry.whole + entry.rest;
    *place = old;
    return other + *l;
}

__kernel void interchanged(__global real* panel, ulong panel_stride, __global real* v, ulong v_first, ulong v_stride,
                           const __global real* reflectors, ulong reflectors_first, uint cols, uint rank_blocks,
                           ulong first, ulong end, ulong block_stride, uint width, uint plus) {
    const ulong i = first + get_global_id(0);
    if (i >= end) return;
    panel += i;
    v += v_first + i;
    reflectors += reflectors_first;
    for (uint p = 0; p < rank_blocks; ++p, v += width * v_stride, reflectors += block_stride) {
        const __global real* row = reflectors;
        const real sign = p < plus ? 1 : -1;
        for (uint j = 0; j < cols; ++j, row += width + 2) {
            const real x = row[width], t = row[width + 1];
            real l = panel[j * panel_stride], u;
            if (t != 0) {
                u = change_places(v, v_stride, row, width, x, t, p >= plus, &l);
            } else {
                real sums[SUMS] = {0};
                for (uint c = 0; c < width; c += SUMS)
#pragma unroll
                    for (int s = 0; s < SUMS; ++s) sums[s] = fma(v[(c + s) * v_stride], row[c + s], sums[s]);
                const real dot = (sums[0] + sums[1]) + (sums[2] + sums[3]);
                const real d = fma(sign * (2 + x), dot, x * l);
                u = fma((real)2, l, d);
                l += d;
            }
            panel[j * panel_stride] = l;
            for (uint c = 0; c < width; ++c) v[c * v_stride] = fma(-u, row[c], v[c * v_stride]);
        }
    }
}
