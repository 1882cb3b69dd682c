/* qrupdate's own tests of its Cholesky routines (Hajek, 2009: tch1up, tch1dn, tchinx, tchdex, tchshx), with their matrices and their
 * tolerance: random numbers of LAPACK's slaruv and dlaruv from the seed 1, 1, 1, 1, order 50, max |R'R - A| < 200 eps. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define N 50
#define LD (N + 1)

/* x <- 33952834046453 x mod 2^48 (Fishman, Math. Comp. 54 (1990) 331-344). */
static uint64_t laruv;

static uint64_t next(void) {
    const uint64_t mask = ((uint64_t)1 << 48) - 1;
    laruv = laruv * 33952834046453u & mask;
    return laruv;
}

static void seed(void) {
    laruv = (uint64_t)1 << 36 | (uint64_t)1 << 24 | (uint64_t)1 << 12 | 1;
}

#define REAL double
#define EPS DBL_EPSILON
#define NAME(what) d##what
#include "published.h"
#undef REAL
#undef EPS
#undef NAME
#define REAL float
#define EPS FLT_EPSILON
#define NAME(what) s##what
#include "published.h"

int main(void) {
    stests();
    dtests();
    puts("published: ok");
    return 0;
}
