/* LINPACK's contract: the effects of dchud, dchdd and dchex, and of the routines for the other numbers, on R, Z, Y, RHO, C and S. */
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 41
#define LD (ROWS + 2)
#define NZ 2

static double random_number(void) {
    static uint64_t state = 362436069362436069u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0 - 0.5;
}

static void fail(const char *what, int p, double complex found, double complex expected) {
    fprintf(stderr, "%s, p = %d: %.17g%+.17gi, not %.17g%+.17gi\n", what, p, creal(found), cimag(found), creal(expected), cimag(expected));
    exit(1);
}

#define COMPLEX 0
#define REAL double
#define NUMBER double
#define NAME(what) d##what
#include "linpack.h"
#undef REAL
#undef NUMBER
#undef NAME
#define REAL float
#define NUMBER float
#define NAME(what) s##what
#include "linpack.h"
#undef REAL
#undef NUMBER
#undef NAME
#undef COMPLEX
#define COMPLEX 1
#define REAL double
#define NUMBER double complex
#define NAME(what) z##what
#include "linpack.h"
#undef REAL
#undef NUMBER
#undef NAME
#define REAL float
#define NUMBER float complex
#define NAME(what) c##what
#include "linpack.h"

int main(void) {
    dtests();
    stests();
    ztests();
    ctests();
    puts("linpack: ok");
    return 0;
}
