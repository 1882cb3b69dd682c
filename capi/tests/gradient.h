/* Every derivative, in one precision: REAL, and NAME(verb) for the names of the functions. Reverse mode is compared with forward mode or
 * with differences, and forward mode with differences. */
#include "near.h"

/* Entry (i, j) of 3 x 3 matrices with a leading dimension of 4, of which the lower triangle is (i, j) or, with `upper`, (j, i). */
#define AT(upper, i, j) ((upper) ? (j) + 4 * (i) : (i) + 4 * (j))

/* Writes a triangle, and what must not be read to the rest. */
static void NAME(lay)(int upper, const REAL *lower, REAL *to) {
    int i, j;
    for (i = 0; i < 12; i++) to[i] = (REAL)NAN;
    for (j = 0; j < 3; j++)
        for (i = j; i < 3; i++) to[AT(upper, i, j)] = lower[i + 3 * j];
}

/* Sum of the products of the entries of two triangles. */
static double NAME(product)(int upper, const REAL *x, const REAL *y) {
    double sum = 0;
    int i, j;
    for (j = 0; j < 3; j++)
        for (i = j; i < 3; i++) sum += (double)x[AT(upper, i, j)] * (double)y[AT(upper, i, j)];
    return sum;
}

/* A number whose error is that of differences. */
static void NAME(close)(double found, double expected) {
    double most = sizeof(REAL) == 4 ? 2e-2 : 1e-7;
    if (!(fabs(found - expected) <= most)) {
        fprintf(stderr, "%.17g, not %.17g\n", found, expected);
        exit(1);
    }
}

static const REAL NAME(l)[9] = {2, 1, (REAL)-0.5, 0, (REAL)1.5, (REAL)0.25, 0, 0, 1};
static const REAL NAME(dl)[9] = {(REAL)0.5, -1, (REAL)0.25, 0, (REAL)0.75, 2, 0, 0, (REAL)-0.5};
static const REAL NAME(bar)[9] = {1, (REAL)0.5, -2, 0, (REAL)-0.75, (REAL)0.5, 0, 0, 3};
static const REAL NAME(v)[8] = {1, (REAL)0.5, -1, 77, (REAL)0.25, (REAL)-0.5, (REAL)0.125, 77};
static const REAL NAME(dv)[8] = {(REAL)0.5, 1, (REAL)0.25, 77, -1, (REAL)0.5, 2, 77};

/* L' at L + t dL, and so on. */
static void NAME(moved)(int upper, double t, const REAL *w, const REAL *dw, REAL *l) {
    REAL v[8], weights[2], lower[9];
    int i;
    for (i = 0; i < 9; i++) lower[i] = (REAL)(NAME(l)[i] + t * NAME(dl)[i]);
    for (i = 0; i < 8; i++) v[i] = (REAL)(NAME(v)[i] + t * NAME(dv)[i]);
    for (i = 0; i < 2; i++) weights[i] = (REAL)((w ? w[i] : 1) + t * (dw ? dw[i] : 0));
    NAME(lay)(upper, lower, l);
    CHECK(NAME(modify_array)(upper ? 'U' : 'L', 3, l, 4, 2, v, 4, weights, NULL, NULL) == CHOLUPDATE_OK);
}

static void NAME(modifications)(int upper, const REAL *w, const REAL *dw, WORKSPACE *workspace) {
    const char uplo = upper ? 'U' : 'L';
    const double step = sizeof(REAL) == 4 ? 1e-2 : 1e-5;
    REAL l[12], dl[12], bar[12], before[12], after[12], l_new[12], dl_new[12], l_bar[12], v_bar[8], w_bar[2] = {0, 0};
    double along;
    int i, j;
    NAME(lay)(upper, NAME(l), l);
    NAME(lay)(upper, NAME(dl), dl);
    NAME(lay)(upper, NAME(bar), bar);
    NAME(moved)(upper, 0, w, NULL, l_new);
    CHECK(NAME(modify_jvp)(uplo, 3, l, 4, l_new, 4, 2, NAME(v), 4, w, dl, 4, NAME(dv), 4, dw, dl_new, 4, workspace) == CHOLUPDATE_OK);
    NAME(moved)(upper, step, w, dw, after);
    NAME(moved)(upper, -step, w, dw, before);
    for (j = 0; j < 3; j++)
        for (i = 0; i < 3; i++) {
            if (i < j) CHECK(dl_new[AT(upper, i, j)] == 0);
            else NAME(close)(dl_new[AT(upper, i, j)], ((double)after[AT(upper, i, j)] - before[AT(upper, i, j)]) / (2 * step));
        }
    memset(l_bar, 0x7f, sizeof l_bar);
    memset(v_bar, 0x7f, sizeof v_bar);
    before[0] = v_bar[3];
    CHECK(NAME(modify_vjp)(uplo, 3, l, 4, l_new, 4, 2, NAME(v), 4, w, bar, 4, l_bar, 4, v_bar, 4, w_bar, workspace) == CHOLUPDATE_OK);
    for (j = 0; j < 3; j++)
        for (i = 0; i < j; i++) CHECK(l_bar[AT(upper, i, j)] == 0);
    CHECK(v_bar[3] == before[0]);
    along = NAME(product)(upper, l_bar, dl);
    for (j = 0; j < 2; j++) {
        for (i = 0; i < 3; i++) along += (double)v_bar[i + 4 * j] * (double)NAME(dv)[i + 4 * j];
        if (dw) along += (double)w_bar[j] * (double)dw[j];
    }
    NAME(near)((REAL)along, NAME(product)(upper, bar, dl_new));
    /* Without what nobody asks for, the rest has the same bits. */
    memcpy(before, l_bar, sizeof l_bar);
    CHECK(NAME(modify_vjp)(uplo, 3, l, 4, l_new, 4, 2, NAME(v), 4, w, bar, 4, l_bar, 4, v_bar, 4, NULL, NULL) == CHOLUPDATE_OK);
    for (j = 0; j < 3; j++) CHECK(memcmp(before + 4 * j, l_bar + 4 * j, 3 * sizeof(REAL)) == 0);
}

/* X at L + t dL and B + t dB. */
static void NAME(solved)(double t, const REAL *b, const REAL *db, REAL *x) {
    REAL l[9];
    int i, j;
    for (i = 0; i < 9; i++) l[i] = (REAL)(NAME(l)[i] + t * NAME(dl)[i]);
    for (i = 0; i < 3; i++) x[i] = (REAL)(b[i] + t * db[i]);
    for (i = 0; i < 3; i++) {
        for (j = 0; j < i; j++) x[i] -= l[i + 3 * j] * x[j];
        x[i] /= l[4 * i];
    }
    for (i = 2; i >= 0; i--) {
        for (j = i + 1; j < 3; j++) x[i] -= l[j + 3 * i] * x[j];
        x[i] /= l[4 * i];
    }
}

static void NAME(solutions)(int upper) {
    const REAL b[3] = {1, -2, (REAL)0.5}, db[3] = {(REAL)0.25, 1, -1}, bar[3] = {2, (REAL)0.5, -1};
    const double step = sizeof(REAL) == 4 ? 1e-2 : 1e-5;
    REAL l[12], dl[12], l_bar[12], b_bar[3], x[3], before[3], after[3];
    double along, expected = 0;
    int i;
    NAME(lay)(upper, NAME(l), l);
    NAME(lay)(upper, NAME(dl), dl);
    NAME(solved)(0, b, db, x);
    NAME(solved)(step, b, db, after);
    NAME(solved)(-step, b, db, before);
    CHECK(NAME(solve_vjp)(upper ? 'U' : 'L', 3, l, 4, 1, x, 3, bar, 3, l_bar, 4, b_bar, 3) == CHOLUPDATE_OK);
    CHECK(l_bar[AT(upper, 0, 1)] == 0 && l_bar[AT(upper, 0, 2)] == 0 && l_bar[AT(upper, 1, 2)] == 0);
    along = NAME(product)(upper, l_bar, dl);
    for (i = 0; i < 3; i++) {
        along += (double)b_bar[i] * (double)db[i];
        expected += (double)bar[i] * ((double)after[i] - before[i]) / (2 * step);
    }
    NAME(close)(along / (1 + fabs(expected)), expected / (1 + fabs(expected)));
}

/* What is appended to a factor of order 1: its l' are s = b / l and d = sqrt(c - s^2). */
static void NAME(borders)(void) {
    const REAL l_new[4] = {2, (REAL)1.5, 77, 3}, bar[4] = {1, -2, 77, (REAL)0.5}, upper[4] = {2, 77, (REAL)1.5, 3};
    const REAL upper_bar[4] = {1, 77, -2, (REAL)0.5};
    REAL l_bar, cross_bar, corner_bar;
    CHECK(NAME(append_vjp)('L', 1, 1, l_new, 2, bar, 2, &l_bar, 1, &cross_bar, 1, &corner_bar, 1) == CHOLUPDATE_OK);
    NAME(near)(corner_bar, 0.5 / (2 * 3));
    NAME(near)(cross_bar, (-2 - 0.5 * 1.5 / 3) / 2);
    NAME(near)(l_bar, 1 - (-2 - 0.5 * 1.5 / 3) * 1.5 / 2);
    CHECK(NAME(append_vjp)('U', 1, 1, upper, 2, upper_bar, 2, &l_bar, 1, &cross_bar, 1, &corner_bar, 1) == CHOLUPDATE_OK);
    NAME(near)(l_bar, 1 - (-2 - 0.5 * 1.5 / 3) * 1.5 / 2);
}

static void NAME(refused_gradients)(void) {
    REAL x[4] = {1, 1, 1, 1}, zero[1] = {0}, minus[1] = {-1}, infinite[1] = {(REAL)NAN}, out[4] = {7, 7, 7, 7}, of_v[1], of_w[1];
#define PULL(uplo, n, l, ldl, l_new, weights, to)                                                                     \
    NAME(modify_vjp)(uplo, n, l, ldl, l_new, 1, 1, x, 1, weights, x, 1, to, 1, of_v, 1, of_w, NULL)
    REFUSED(PULL('X', 1, x, 1, x, NULL, out), CHOLUPDATE_INVALID_ARGUMENT, "`uplo`");
    REFUSED(PULL('L', -1, x, 1, x, NULL, out), CHOLUPDATE_INVALID_ARGUMENT, "`n`");
    REFUSED(PULL('L', 1, NULL, 1, x, NULL, out), CHOLUPDATE_NULL_POINTER, "`l`");
    REFUSED(PULL('L', 1, x, 0, x, NULL, out), CHOLUPDATE_INVALID_ARGUMENT, "`ldl`");
    REFUSED(PULL('L', 1, minus, 1, x, NULL, out), CHOLUPDATE_INVALID_ARGUMENT, "`l`");
    REFUSED(PULL('L', 1, infinite, 1, x, NULL, out), CHOLUPDATE_NOT_FINITE, "`l`");
    REFUSED(PULL('L', 1, x, 1, NULL, NULL, out), CHOLUPDATE_NULL_POINTER, "`l_new`");
    REFUSED(PULL('L', 1, x, 1, zero, NULL, out), CHOLUPDATE_NOT_POSITIVE_DEFINITE, "column 0");
    REFUSED(PULL('L', 1, x, 1, x, infinite, out), CHOLUPDATE_NOT_FINITE, "`weights`");
    REFUSED(PULL('L', 1, x, 1, x, NULL, NULL), CHOLUPDATE_NULL_POINTER, "`l_cotangent`");
#undef PULL
    REFUSED(NAME(modify_jvp)('L', 1, x, 1, x, 1, 1, x, 1, NULL, NULL, 1, x, 1, NULL, out, 1, NULL), CHOLUPDATE_NULL_POINTER, "`l_tangent`");
    REFUSED(NAME(solve_vjp)('L', 1, zero, 1, 1, x, 1, x, 1, out, 1, of_v, 1), CHOLUPDATE_SINGULAR, "column 0");
    REFUSED(NAME(append_vjp)('L', 1, -1, x, 2, x, 2, out, 1, out, 1, out, 1), CHOLUPDATE_INVALID_ARGUMENT, "`r`");
    CHECK(out[0] == 7);
    /* Nothing to differentiate. */
    CHECK(NAME(modify_vjp)('L', 0, NULL, 1, NULL, 1, 0, NULL, 1, NULL, NULL, 1, NULL, 1, NULL, 1, NULL, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(modify_vjp)('L', 1, x, 1, x, 1, 0, NULL, 1, NULL, x, 1, out, 1, NULL, 1, NULL, NULL) == CHOLUPDATE_OK && out[0] == 1);
}

static void NAME(gradients)(void) {
    const REAL weights[2] = {(REAL)0.5, 2}, mixed[2] = {2, (REAL)-0.25}, one_zero[2] = {0, 1}, dw[2] = {(REAL)0.5, -1};
    WORKSPACE *workspace = NULL;
    int upper;
    CHECK(NAME(workspace_new)(NULL, &workspace) == CHOLUPDATE_OK);
    for (upper = 0; upper < 2; upper++) {
        NAME(modifications)(upper, NULL, NULL, workspace);
        NAME(modifications)(upper, weights, dw, workspace);
        NAME(modifications)(upper, mixed, dw, workspace);
        NAME(modifications)(upper, one_zero, dw, workspace);
        NAME(solutions)(upper);
    }
    NAME(workspace_free)(workspace);
    NAME(borders)();
    NAME(refused_gradients)();
}
