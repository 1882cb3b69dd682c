/* dchud, dchdd and dchex of LINPACK (Dongarra, Bunch, Moler, Stewart, 1979, chapter 10) without right-hand sides, loop by loop, with
 * drotg of the BLAS, and the complex routines zchud, zchdd and zchex with zrotg: the originals for qrupdate.c. */
#include <complex.h>
#include <math.h>
#include <stddef.h>

#define R(i, j) r[(size_t)(i) + (size_t)(j) * (size_t)*ldr]

static void drotg(double *a, double *b, double *c, double *s) {
    const double roe = fabs(*a) > fabs(*b) ? *a : *b, scale = fabs(*a) + fabs(*b);
    double length, z = 1;
    if (scale == 0) {
        *c = 1, *s = 0, *a = 0, *b = 0;
        return;
    }
    length = copysign(scale * sqrt(*a / scale * (*a / scale) + *b / scale * (*b / scale)), roe);
    *c = *a / length;
    *s = *b / length;
    if (fabs(*a) > fabs(*b)) z = *s;
    else if (*c != 0) z = 1 / *c;
    *a = length;
    *b = z;
}

static void zrotg(double complex *a, double complex *b, double *c, double complex *s) {
    const double large = cabs(*a), scale = large + cabs(*b);
    double complex alpha;
    double norm;
    if (large == 0) {
        *c = 0, *s = 1, *a = *b;
        return;
    }
    norm = scale * hypot(cabs(*a / scale), cabs(*b / scale));
    alpha = *a / large;
    *c = large / norm;
    *s = alpha * conj(*b) / norm;
    *a = alpha * norm;
}

#define NUMBER double
#define NAME(what) d##what
#define CONJ(x) (x)
#define ABS(x) fabs(x)
#include "linpack.h"
#undef NUMBER
#undef NAME
#undef CONJ
#undef ABS
#define NUMBER double complex
#define NAME(what) z##what
#define CONJ(x) conj(x)
#define ABS(x) cabs(x)
#include "linpack.h"
