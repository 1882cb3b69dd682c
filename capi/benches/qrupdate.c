/* Times of the symbols of qrupdate and of LINPACK in two libraries: the drop-in, and the original. One thread, medians; changed
 * arguments are restored outside the timed region. The residual is that of the new factor, against the old one: a wrong result cannot
 * pass as a fast one. Symbols that are not in both are left out.
 *
 *     gcc -O2 capi/benches/qrupdate.c -o bench -ldl -lm && ./bench OURS libqrupdate.so.1
 *     gcc -O3 -march=native -shared -fPIC capi/benches/linpack.c -o linpack.so -lm && ./bench OURS ./linpack.so
 */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void (*Up)(const int *, double *, const int *, double *, double *);
typedef void (*Down)(const int *, double *, const int *, double *, double *, int *);
typedef void (*Insert)(const int *, double *, const int *, const int *, double *, double *, int *);
typedef void (*Remove)(const int *, double *, const int *, const int *, double *);
typedef void (*Shift)(const int *, double *, const int *, const int *, const int *, double *);

typedef void (*Chud)(double *, const int *, const int *, const double *, double *, const int *, const int *, const double *, double *,
                     double *, double *);
typedef void (*Chdd)(double *, const int *, const int *, const double *, double *, const int *, const int *, const double *, double *,
                     double *, double *, int *);
typedef void (*Chex)(double *, const int *, const int *, const int *, const int *, double *, const int *, const int *, double *,
                     double *, const int *);

enum { UP, DOWN, INSERT, REMOVE, SHIFT_RIGHT, SHIFT_LEFT, CHUD, CHDD, CHEX_RIGHT, CHEX_LEFT, ROUTINES };
static const char *const names[ROUTINES] = {"ch1up", "ch1dn", "chinx", "chdex", "chshx right", "chshx left",
                                            "chud",  "chdd",  "chex right", "chex left"};

/* R (n x n) with room for one more row, and the other arguments. */
static double *start, *r, *u, *w;
static int ld;

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

static void set(int n, int routine) {
    int i;
    memcpy(r, start, sizeof(double) * (size_t)ld * (size_t)ld);
    for (i = 0; i <= n; i++) u[i] = 0.3 * sin(1.0 + i) / sqrt((double)n);
    if (routine == INSERT) u[n / 4] = 9;
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
    memcpy(&chud, &function, sizeof up);
    memcpy(&chdd, &function, sizeof up);
    memcpy(&chex, &function, sizeof up);
    before = now();
    switch (routine) {
    case UP: up(&n, r, &ld, u, w); break;
    case DOWN: down(&n, r, &ld, u, w, &info); break;
    case INSERT: insert(&n, r, &ld, &quarter, u, w, &info); break;
    case REMOVE: remove(&n, r, &ld, &quarter, w); break;
    case SHIFT_RIGHT: shift(&n, r, &ld, &quarter, &last, w); break;
    case SHIFT_LEFT: shift(&n, r, &ld, &last, &quarter, w); break;
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
        double found = 0, expected = 0, scale[2] = {0, 0}, x[2];
        for (side = 0; side < 2; side++) q[side] = (int)((random_number() + 0.5) * order);
        for (k = 0; k <= (q[0] < q[1] ? q[0] : q[1]); k++) found += r[k + (size_t)ld * q[0]] * r[k + (size_t)ld * q[1]];
        for (side = 0; side < 2; side++)
            for (k = 0; k <= q[side]; k++) scale[side] += r[k + (size_t)ld * q[side]] * r[k + (size_t)ld * q[side]];
        for (side = 0; side < 2; side++) {
            x[side] = 0.3 * sin(1.0 + q[side]) / sqrt((double)n);
            if (routine == INSERT && q[side] == at) break;
            if (routine == INSERT && q[side] > at) q[side]--;
            if (routine == REMOVE && q[side] >= at) q[side]++;
            if (routine == SHIFT_RIGHT && q[side] >= at && q[side] <= far) q[side] = q[side] == far ? at : q[side] + 1;
            else if (routine == SHIFT_LEFT && q[side] >= at && q[side] <= far) q[side] = q[side] == at ? far : q[side] - 1;
        }
        if (side < 2) continue;
        for (k = 0; k <= (q[0] < q[1] ? q[0] : q[1]); k++) expected += start[k + (size_t)ld * q[0]] * start[k + (size_t)ld * q[1]];
        if (routine == UP) expected += x[0] * x[1];
        if (routine == DOWN) expected -= x[0] * x[1];
        found = fabs(found - expected) / sqrt(scale[0] * scale[1]);
        if (!(found <= worst)) worst = found;
    }
    return worst;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **arguments) {
    static const int orders[] = {16, 64, 256, 1024, 4096};
    static const char *const symbols[ROUTINES] = {"dch1up_", "dch1dn_", "dchinx_", "dchdex_", "dchshx_", "dchshx_",
                                                  "dchud_",  "dchdd_",  "dchex_",  "dchex_"};
    void *libraries[2];
    int o, routine, library;
    if (count != 3) return 2;
    for (library = 0; library < 2; library++) libraries[library] = dlopen(arguments[1 + library], RTLD_NOW | RTLD_LOCAL);
    if (libraries[0] == NULL || libraries[1] == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    printf("%-12s %5s %12s %12s %6s %9s %9s\n", "routine", "n", "ours", "theirs", "ratio", "residual", "theirs");
    for (o = 0; o < 5; o++) {
        const int n = orders[o], rounds = n > 2000 ? 11 : n > 500 ? 31 : 301;
        size_t size, i, j;
        ld = n + 1;
        size = (size_t)ld * (size_t)ld;
        start = calloc(size, sizeof(double));
        r = calloc(size, sizeof(double));
        u = calloc((size_t)ld, sizeof(double));
        w = calloc(2 * (size_t)ld, sizeof(double));
        for (j = 0; j < (size_t)n; j++)
            for (i = 0; i <= j; i++) start[i + (size_t)ld * j] = random_number() / sqrt(n) + (i == j ? 2 : 0);
        for (routine = 0; routine < ROUTINES; routine++) {
            static double times[2][301];
            double off[2];
            void *functions[2];
            int round;
            for (library = 0; library < 2; library++) functions[library] = dlsym(libraries[library], symbols[routine]);
            if (functions[0] == NULL || functions[1] == NULL) continue;
            /* Alternating, so that both have the same conditions. */
            for (round = -1; round < rounds; round++)
                for (library = 0; library < 2; library++) {
                    const double seconds = once(functions[library], routine, n);
                    if (round < 0) off[library] = residual(routine, n);
                    else times[library][round] = seconds;
                }
            for (library = 0; library < 2; library++) qsort(times[library], (size_t)rounds, sizeof(double), ascending);
            printf("%-12s %5d %10.2f us %10.2f us %6.2f %9.1e %9.1e\n", names[routine], n, 1e6 * times[0][rounds / 2],
                   1e6 * times[1][rounds / 2], times[1][rounds / 2] / times[0][rounds / 2], off[0], off[1]);
        }
        free(start);
        free(r);
        free(u);
        free(w);
    }
    return 0;
}
