/* LINPACK's contract: the effects of dchud, dchdd and dchex, and of the routines for the other numbers, on R, Z, Y, RHO, C and S; in
 * double precision also R, C and S against the original loops. */
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The original loops, under other names. */
#define dchud_ reference_dchud_
#define dchdd_ reference_dchdd_
#define dchex_ reference_dchex_
#define zchud_ reference_zchud_
#define zchdd_ reference_zchdd_
#define zchex_ reference_zchex_
#include "../benches/linpack.c"
#undef dchud_
#undef dchdd_
#undef dchex_
#undef zchud_
#undef zchdd_
#undef zchex_
#undef R
#undef NUMBER
#undef NAME
#undef CONJ
#undef ABS

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
#define REFERENCE(what) reference_d##what
#include "linpack.h"
#undef REFERENCE
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
#define REFERENCE(what) reference_z##what
#include "linpack.h"
#undef REFERENCE
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
