// Crout's factorization, column by column, one work-item for each entry: Ruschel 2016, section 4.4.
//
// Compiled with DOUBLE (1: double precision) and BY_ROWS (1: row after row, as in the thesis; 0: column after column).
//
// Shapes: a, the matrix to factor, and l, its factor (n x n); they may be the same buffer except for crout_single. Only
// lower triangles are used. info: one number, 0 before the first kernel.
//
// A kernel computes column j of l from the columns before it and column j of a. If a pivot^2 is not positive, it stores
// the column's number, counted from 1, in info, and every later kernel does nothing. (In the kernel that stores it, other
// work-items may see it or not: what they write is not read.)
//
// crout_single: a work-item for each of the rows j .. n, each of which computes the pivot itself. crout_diagonal: one
// work-item. crout_below, after it: a work-item for each of the rows j + 1 .. n. Work-items without a row do nothing, so
// that a work-group may be of any size. Offsets are 64 bits wide.

#if DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double8 real8;
#else
typedef float real;
typedef float8 real8;
#endif
#pragma OPENCL FP_CONTRACT OFF

#if BY_ROWS
#define AT(i, j) ((i) * n + (j))
#else
#define AT(i, j) ((j) * n + (i))
#endif

// sum over p < j of l_ip l_jp, in several independent chains: a single chain would wait for every load and addition.
real dot_of_rows(const __global real* l, ulong n, ulong i, ulong j) {
    ulong p = 0;
#if BY_ROWS
    const __global real *x = l + i * n, *y = l + j * n;
    real8 s = (real8)(0), t = (real8)(0);
    for (; p + 16 <= j; p += 16) {
        s = fma(vload8(0, x + p), vload8(0, y + p), s);
        t = fma(vload8(1, x + p), vload8(1, y + p), t);
    }
    s += t;
    real sum = ((s.s0 + s.s4) + (s.s2 + s.s6)) + ((s.s1 + s.s5) + (s.s3 + s.s7));
    for (; p < j; ++p) sum = fma(x[p], y[p], sum);
    return sum;
#else
    real s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (; p + 4 <= j; p += 4) {
        s0 = fma(l[AT(i, p)], l[AT(j, p)], s0);
        s1 = fma(l[AT(i, p + 1)], l[AT(j, p + 1)], s1);
        s2 = fma(l[AT(i, p + 2)], l[AT(j, p + 2)], s2);
        s3 = fma(l[AT(i, p + 3)], l[AT(j, p + 3)], s3);
    }
    for (; p < j; ++p) s0 = fma(l[AT(i, p)], l[AT(j, p)], s0);
    return (s0 + s1) + (s2 + s3);
#endif
}

__kernel void crout_single(const __global real* a, __global real* l, ulong n, ulong j, __global int* info) {
    const ulong i = j + get_global_id(0);
    if (*info || i >= n) return;
    const real square = a[AT(j, j)] - dot_of_rows(l, n, j, j);
    if (i > j) {
        l[AT(i, j)] = (a[AT(i, j)] - dot_of_rows(l, n, i, j)) / sqrt(square);
    } else if (square > 0) {
        l[AT(j, j)] = sqrt(square);
    } else {
        *info = (int)j + 1;
    }
}

__kernel void crout_diagonal(const __global real* a, __global real* l, ulong n, ulong j, __global int* info) {
    if (*info || get_global_id(0) > 0) return;
    const real square = a[AT(j, j)] - dot_of_rows(l, n, j, j);
    if (square > 0)
        l[AT(j, j)] = sqrt(square);
    else
        *info = (int)j + 1;
}

__kernel void crout_below(const __global real* a, __global real* l, ulong n, ulong j, __global int* info) {
    const ulong i = j + 1 + get_global_id(0);
    if (*info || i >= n) return;
    l[AT(i, j)] = (a[AT(i, j)] - dot_of_rows(l, n, i, j)) / l[AT(j, j)];
}
