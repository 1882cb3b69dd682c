/* Factors of complex matrices, in both precisions, against C's own complex arithmetic. */
#include "cholupdate.h"
#include "check.h"
#include <complex.h>
#include <math.h>

/* The largest order here, the matrices of a batch, and a number in the arithmetic of the reference. */
enum { MOST = 44, COUNT = 5 };
typedef double _Complex number;

/* A number whose parts are multiples of 1/64 between -1 and 1: sums of products are exact in single precision. */
static number any_number(void) {
    static unsigned state = 1;
    double parts[2];
    int part;
    for (part = 0; part < 2; part++) {
        state = state * 1664525u + 1013904223u;
        parts[part] = ((int)(state >> 16) % 129 - 64) / 64.0;
    }
    return parts[0] + parts[1] * I;
}

static void any_numbers(int64_t count, number *to) {
    while (count-- > 0) *to++ = any_number();
}

/* A <- A + V diag(w) V^H. */
static void reference_modify(int64_t n, number *a, int64_t k, const number *v, const double *w) {
    int64_t i, j, r;
    for (j = 0; j < n; j++)
        for (i = 0; i < n; i++)
            for (r = 0; r < k; r++) a[i + j * n] += w[r] * v[i + r * n] * conj(v[j + r * n]);
}

/* A positive definite A. */
static void any_matrix(int64_t n, number *a) {
    number g[MOST * MOST];
    double ones[MOST];
    int64_t i;
    for (i = 0; i < n; i++) ones[i] = 1;
    for (i = 0; i < n * n; i++) a[i] = i % (n + 1) == 0 ? (double)n : 0;
    any_numbers(n * n, g);
    reference_modify(n, a, n, g, ones);
}

/* C <- A B with A (n x m), and B (m x k). */
static void reference_multiply(int64_t n, int64_t m, int64_t k, const number *a, const number *b, number *c) {
    int64_t i, j, l;
    for (j = 0; j < k; j++)
        for (i = 0; i < n; i++) {
            c[i + j * n] = 0;
            for (l = 0; l < m; l++) c[i + j * n] += a[i + l * n] * b[l + j * m];
        }
}

static void reference_adjoint(int64_t n, const number *a, number *b) {
    int64_t i, j;
    for (j = 0; j < n; j++)
        for (i = 0; i < n; i++) b[j + i * n] = conj(a[i + j * n]);
}

#define NULLS CHOLUPDATE_NULL_POINTER
#define INVALID CHOLUPDATE_INVALID_ARGUMENT

#define REAL double
#define NUMBER cholupdate_c64
#define TYPE cholupdate_z
#define PENDING cholupdate_z_pending
#define EXTENSION cholupdate_z_extension
#define BATCH cholupdate_z_batch
#define NAME(verb) cholupdate_z_##verb
#define LDLT cholupdate_z_ldlt
#define BORDERED cholupdate_z_ldlt_extension
#define OF(verb) cholupdate_z_ldlt_##verb
#include "complex.h"
#include "complex_refusals.h"
#include "complex_batch.h"
#include "complex_ldlt.h"
#undef REAL
#undef NUMBER
#undef TYPE
#undef PENDING
#undef EXTENSION
#undef BATCH
#undef NAME
#undef LDLT
#undef BORDERED
#undef OF
#define REAL float
#define NUMBER cholupdate_c32
#define TYPE cholupdate_c
#define PENDING cholupdate_c_pending
#define EXTENSION cholupdate_c_extension
#define BATCH cholupdate_c_batch
#define NAME(verb) cholupdate_c_##verb
#define LDLT cholupdate_c_ldlt
#define BORDERED cholupdate_c_ldlt_extension
#define OF(verb) cholupdate_c_ldlt_##verb
#include "complex.h"
#include "complex_refusals.h"
#include "complex_batch.h"
#include "complex_ldlt.h"

int main(void) {
    cholupdate_z_all();
    cholupdate_c_all();
    cholupdate_z_refuses();
    cholupdate_c_refuses();
    cholupdate_z_batch_all();
    cholupdate_c_batch_all();
    cholupdate_z_ldlt_all();
    cholupdate_c_ldlt_all();
    puts("complex: ok");
    return 0;
}
