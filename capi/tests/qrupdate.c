/* The drop-in against Debian's libqrupdate, over random problems with real and complex numbers: the same info codes, numbers within
 * bounds of qrupdate's, and the same errors for arguments. Arguments: the two libraries. */
#include <complex.h>
#include <ctype.h>
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 130
/* Rows of the arrays: more than R has, and the rest must not change. */
#define LD (MOST + 3)

static char complaint[16];
static int complaints;

/* Both libraries call it for a wrong argument. */
void xerbla_(const char *name, const int *info, size_t length) {
    snprintf(complaint, sizeof complaint, "%.*s %d", (int)length, name, *info);
    complaints++;
}

static double random_number(void) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0 - 0.5;
}

static void fail(const char *what, int n, double complex found, double complex expected) {
    fprintf(stderr, "%s, n = %d: %.17g%+.17gi, not %.17g%+.17gi\n", what, n, creal(found), cimag(found), creal(expected), cimag(expected));
    exit(1);
}

static void *symbol(void *library, char prefix, const char *name, const char *suffix) {
    char full[32];
    void *found;
    snprintf(full, sizeof full, "%c%s%s", prefix, name, suffix);
    found = dlsym(library, full);
    if (found == NULL) fail(full, 0, 0, 1);
    return found;
}

#define COMPLEX 0
#define REAL double
#define NUMBER double
#define PREFIX 'd'
#define NAME(what) d_##what
#include "qrupdate.h"
#undef REAL
#undef NUMBER
#undef PREFIX
#undef NAME
#define REAL float
#define NUMBER float
#define PREFIX 's'
#define NAME(what) s_##what
#include "qrupdate.h"
#undef COMPLEX
#undef REAL
#undef NUMBER
#undef PREFIX
#undef NAME
#define COMPLEX 1
#define REAL double
#define NUMBER double complex
#define PREFIX 'z'
#define NAME(what) z_##what
#include "qrupdate.h"
#undef REAL
#undef NUMBER
#undef PREFIX
#undef NAME
#define REAL float
#define NUMBER float complex
#define PREFIX 'c'
#define NAME(what) c_##what
#include "qrupdate.h"

int main(int count, char **arguments) {
    void *ours, *theirs;
    if (count != 3) return 2;
    /* Each library finds its own symbols first. */
    ours = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    theirs = dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL);
    if (ours == NULL || theirs == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    d_compare(ours, theirs);
    s_compare(ours, theirs);
    z_compare(ours, theirs);
    c_compare(ours, theirs);
    puts("qrupdate: ok");
    return 0;
}
