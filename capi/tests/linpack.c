/* LINPACK's contract: the effects of dchud, dchdd and dchex (and of the single-precision routines) on R, Z, Y, RHO, C and S. */
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

static void fail(const char *what, int p, double found, double expected) {
    fprintf(stderr, "%s, p = %d: %.17g, not %.17g\n", what, p, found, expected);
    exit(1);
}

#define REAL double
#define NAME(what) d##what
#include "linpack.h"
#undef REAL
#undef NAME
#define REAL float
#define NAME(what) s##what
#include "linpack.h"

int main(void) {
    dtests();
    stests();
    puts("linpack: ok");
    return 0;
}
