/* Times of the symbols of qrupdate and of LINPACK in two libraries: the drop-in, and the original; for real and for complex numbers.
 * One thread, medians; changed arguments are restored outside the timed region. The residual is that of the new factor, against the
 * old one: a wrong result cannot pass as a fast one. Symbols that are not in both are left out.
 *
 *     gcc -O2 capi/benches/qrupdate.c -o bench -ldl -lm && ./bench OURS libqrupdate.so.1
 *     gcc -O3 -march=native -fcx-fortran-rules -shared -fPIC capi/benches/linpack.c -o linpack.so -lm && ./bench OURS ./linpack.so
 */
#include <complex.h>
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Numbers are real or complex; what is always real is a double. */
typedef void (*Up)(const int *, void *, const int *, void *, double *);
typedef void (*Down)(const int *, void *, const int *, void *, double *, int *);
typedef void (*Insert)(const int *, void *, const int *, const int *, void *, double *, int *);
typedef void (*Remove)(const int *, void *, const int *, const int *, double *);
typedef void (*Shift)(const int *, void *, const int *, const int *, const int *, double *);
typedef void (*ComplexShift)(const int *, void *, const int *, const int *, const int *, void *, double *);

typedef void (*Chud)(void *, const int *, const int *, const void *, void *, const int *, const int *, const void *, double *, double *,
                     void *);
typedef void (*Chdd)(void *, const int *, const int *, const void *, void *, const int *, const int *, const void *, double *, double *,
                     void *, int *);
typedef void (*Chex)(void *, const int *, const int *, const int *, const int *, void *, const int *, const int *, double *, void *,
                     const int *);

enum { UP, DOWN, INSERT, REMOVE, SHIFT_RIGHT, SHIFT_LEFT, CHUD, CHDD, CHEX_RIGHT, CHEX_LEFT, ROUTINES };
static const char *const names[ROUTINES] = {"ch1up", "ch1dn", "chinx", "chdex", "chshx right", "chshx left",
                                            "chud",  "chdd",  "chex right", "chex left"};

/* R (n x n) with room for one more row, and the other arguments. A number has one part or two. */
static double *start, *r, *u, *w;
static int ld, parts;

static double random_number(void) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0 - 0.5;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double complex get(const double *numbers, size_t i) {
    return parts == 1 ? numbers[i] : numbers[2 * i] + numbers[2 * i + 1] * I;
}

/* Entry i of the vector that modifies A. */
static double complex vector(int n, int i) {
    const double size = 0.3 / sqrt((double)n * parts);
    return size * (sin(1.0 + i) + (parts == 1 ? 0 : cos(3.0 * i) * I));
}

/* LINPACK's vectors are rows, which are conjugated. */
static void set(int n, int routine) {
    int i;
    memcpy(r, start, sizeof(double) * (size_t)parts * (size_t)ld * (size_t)ld);
    for (i = 0; i <= n; i++) {
        const double complex x = routine == INSERT && i == n / 4 ? 9 : vector(n, i);
        u[parts * i] = creal(x);
        if (parts == 2) u[parts * i + 1] = routine == CHUD || routine == CHDD ? -cimag(x) : cimag(x);
    }
}

/* One call; returns its time in seconds. */
static double once(void *function, int routine, int n) {
    const int quarter = n / 4 + 1, last = n - n / 4;
    const int none = 0, right = 1, left = 2;
    int info = 0;
    Up up;
    Down down;
    Insert insert;
    Remove remove;
    Shift shift;
    ComplexShift complex_shift;
    Chud chud;
    Chdd chdd;
    Chex chex;
    double before;
    set(n, routine);
    memcpy(&up, &function, sizeof up);
    memcpy(&down, &function, sizeof up);
    memcpy(&insert, &function, sizeof up);
    memcpy(&remove, &function, sizeof up);
    memcpy(&shift, &function, sizeof up);
    memcpy(&complex_shift, &function, sizeof up);
    memcpy(&chud, &function, sizeof up);
    memcpy(&chdd, &function, sizeof up);
    memcpy(&chex, &function, sizeof up);
    before = now();
    switch (routine) {
    case UP: up(&n, r, &ld, u, w); break;
    case DOWN: down(&n, r, &ld, u, w, &info); break;
    case INSERT: insert(&n, r, &ld, &quarter, u, w, &info); break;
    case REMOVE: remove(&n, r, &ld, &quarter, w); break;
    case SHIFT_RIGHT:
    case SHIFT_LEFT: {
        const int *from = routine == SHIFT_RIGHT ? &quarter : &last, *to = routine == SHIFT_RIGHT ? &last : &quarter;
        if (parts == 1) shift(&n, r, &ld, from, to, w);
        else complex_shift(&n, r, &ld, from, to, w + ld, w);
        break;
    }
    case CHUD: chud(r, &ld, &n, u, NULL, &ld, &none, NULL, NULL, w, w + ld); break;
    case CHDD: chdd(r, &ld, &n, u, NULL, &ld, &none, NULL, NULL, w, w + ld, &info); break;
    case CHEX_RIGHT: chex(r, &ld, &n, &quarter, &last, NULL, &ld, &none, w, w + ld, &right); break;
    default: chex(r, &ld, &n, &quarter, &last, NULL, &ld, &none, w, w + ld, &left);
    }
    before = now() - before;
    if (info != 0) exit(4);
    return before;
}

/* Of a sample of entries: |R1'R1 - A1| over sqrt(A1_ii A1_jj). */
static double residual(int function, int n) {
    /* What LINPACK's routines do has a name of qrupdate's; its shifts to the right are those to the left there. */
    const int routine = function == CHUD         ? UP
                        : function == CHDD       ? DOWN
                        : function == CHEX_RIGHT ? SHIFT_LEFT
                        : function == CHEX_LEFT  ? SHIFT_RIGHT
                                                 : function;
    const int at = n / 4, far = n - n / 4 - 1, order = routine == INSERT ? n + 1 : routine == REMOVE ? n - 1 : n;
    double worst = 0;
    int sample;
    for (sample = 0; sample < 400; sample++) {
        int q[2], k, side;
        double complex found = 0, expected = 0, x[2];
        double scale[2] = {0, 0}, off;
        for (side = 0; side < 2; side++) q[side] = (int)((random_number() + 0.5) * order);
        for (k = 0; k <= (q[0] < q[1] ? q[0] : q[1]); k++) found += conj(get(r, k + (size_t)ld * q[0])) * get(r, k + (size_t)ld * q[1]);
        for (side = 0; side < 2; side++)
            for (k = 0; k <= q[side]; k++) scale[side] += pow(cabs(get(r, k + (size_t)ld * q[side])), 2);
        for (side = 0; side < 2; side++) {
            x[side] = vector(n, q[side]);
            if (routine == INSERT && q[side] == at) break;
            if (routine == INSERT && q[side] > at) q[side]--;
            if (routine == REMOVE && q[side] >= at) q[side]++;
            if (routine == SHIFT_RIGHT && q[side] >= at && q[side] <= far) q[side] = q[side] == far ? at : q[side] + 1;
            else if (routine == SHIFT_LEFT && q[side] >= at && q[side] <= far) q[side] = q[side] == at ? far : q[side] - 1;
        }
        if (side < 2) continue;
        for (k = 0; k <= (q[0] < q[1] ? q[0] : q[1]); k++)
            expected += conj(get(start, k + (size_t)ld * q[0])) * get(start, k + (size_t)ld * q[1]);
        if (routine == UP) expected += x[0] * conj(x[1]);
        if (routine == DOWN) expected -= x[0] * conj(x[1]);
        off = cabs(found - expected) / sqrt(scale[0] * scale[1]);
        if (!(off <= worst)) worst = off;
    }
    return worst;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **arguments) {
    static const int orders[] = {16, 64, 256, 1024, 4096};
    static const char *const symbols[ROUTINES] = {"ch1up_", "ch1dn_", "chinx_", "chdex_", "chshx_", "chshx_",
                                                  "chud_",  "chdd_",  "chex_",  "chex_"};
    void *libraries[2];
    int run, routine, library;
    if (count != 3) return 2;
    for (library = 0; library < 2; library++) libraries[library] = dlopen(arguments[1 + library], RTLD_NOW | RTLD_LOCAL);
    if (libraries[0] == NULL || libraries[1] == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    printf("%-12s %5s %12s %12s %6s %9s %9s\n", "routine", "n", "ours", "theirs", "ratio", "residual", "theirs");
    for (run = 0; run < 10; run++) {
        const int n = orders[run % 5], rounds = n > 2000 ? 11 : n > 500 ? 31 : 301;
        size_t size, i, j;
        parts = run < 5 ? 1 : 2;
        ld = n + 1;
        size = (size_t)ld * (size_t)ld * (size_t)parts;
        start = calloc(size, sizeof(double));
        r = calloc(size, sizeof(double));
        u = calloc((size_t)ld * 2, sizeof(double));
        w = calloc((size_t)ld * 3, sizeof(double));
        for (j = 0; j < (size_t)n; j++)
            for (i = 0; i < (j + 1) * (size_t)parts; i++) {
                const int diagonal = i == j * (size_t)parts, imaginary = i == 2 * j + 1;
                start[i + (size_t)ld * j * (size_t)parts] = imaginary ? 0 : random_number() / sqrt(n * parts) + (diagonal ? 2 : 0);
            }
        for (routine = 0; routine < ROUTINES; routine++) {
            static double times[2][301];
            double off[2];
            char symbol[16], name[16];
            void *functions[2];
            int round;
            snprintf(symbol, sizeof symbol, "%c%s", parts == 1 ? 'd' : 'z', symbols[routine]);
            for (library = 0; library < 2; library++) functions[library] = dlsym(libraries[library], symbol);
            if (functions[0] == NULL || functions[1] == NULL) continue;
            /* Alternating, so that both have the same conditions. */
            for (round = -1; round < rounds; round++)
                for (library = 0; library < 2; library++) {
                    const double seconds = once(functions[library], routine, n);
                    if (round < 0) off[library] = residual(routine, n);
                    else times[library][round] = seconds;
                }
            for (library = 0; library < 2; library++) qsort(times[library], (size_t)rounds, sizeof(double), ascending);
            snprintf(name, sizeof name, "%c%s", symbol[0], names[routine]);
            printf("%-12s %5d %10.2f us %10.2f us %6.2f %9.1e %9.1e\n", name, n, 1e6 * times[0][rounds / 2],
                   1e6 * times[1][rounds / 2], times[1][rounds / 2] / times[0][rounds / 2], off[0], off[1]);
        }
        free(start);
        free(r);
        free(u);
        free(w);
    }
    return 0;
}
