/* Every function on a batch of complex factors, in one precision, as in complex.h: BATCH, and NAME(batch_verb) for the names. */

/* Checks that A (n x n each) are the matrices of the factors. */
static void NAME(batch_are)(const BATCH *batch, int64_t n, number (*a)[MOST * MOST]) {
    static NUMBER all[COUNT * MOST * MOST];
    int64_t b, i, j, count = -1, order = -1;
    CHECK(NAME(batch_extents)(batch, &count, &order) == CHOLUPDATE_OK && count == COUNT && order >= n);
    for (i = 0; i < COUNT * order * order; i++) all[i] = 77;
    CHECK(NAME(batch_to_factors)(batch, all, NULL) == CHOLUPDATE_OK);
    for (b = 0; b < COUNT; b++) {
        number l[MOST * MOST], adjoint[MOST * MOST], product[MOST * MOST];
        NUMBER upper[MOST * MOST];
        CHECK(NAME(batch_to_factor)(batch, b, 'U', upper, n) == CHOLUPDATE_OK);
        for (j = 0; j < n; j++)
            for (i = 0; i < n; i++) {
                const number entry = (number)all[(b * order + j) * order + i];
                l[i + j * n] = i < j ? 0 : entry;
                CHECK(i < j ? entry == 77 : (number)upper[j + i * n] == conj(entry));
                CHECK(i != j || (creal(entry) > 0 && cimag(entry) == 0));
            }
        reference_adjoint(n, l, adjoint);
        reference_multiply(n, n, n, l, adjoint, product);
        for (i = 0; i < n * n; i++) NAME(close)(product[i], a[b][i], 20 * n);
    }
}

/* The triangles of all A. */
static void NAME(batch_triangles)(int64_t n, number (*a)[MOST * MOST], NUMBER *to) {
    int64_t b;
    for (b = 0; b < COUNT; b++) NAME(triangle)(n, a[b], 'L', to + b * n * n);
}

static void NAME(batch_modifies)(int64_t n, int64_t k) {
    static number a[COUNT][MOST * MOST], before[COUNT][MOST * MOST];
    static NUMBER given[COUNT * MOST * MOST], v[COUNT * MOST * 3], x[COUNT * MOST], y[COUNT * MOST];
    number wide[COUNT * MOST * 3], right[COUNT * MOST], product[MOST];
    REAL weights[COUNT * 3];
    double ones[3] = {1, 1, 1}, ratio[COUNT], change[COUNT], log_det[COUNT], after[COUNT];
    const uint8_t mask[COUNT] = {1, 0, 1, 1, 0};
    const int64_t chosen[COUNT] = {0, 1, 2, 3, 4};
    int64_t info[COUNT], b, r, i;
    BATCH *batch = NULL, *other = NULL;
    for (b = 0; b < COUNT; b++) any_matrix(n, a[b]);
    NAME(batch_triangles)(n, a, given);
    CHECK(NAME(batch_new)(COUNT, n, given, NULL, NULL, NULL, &batch) == CHOLUPDATE_OK);
    NAME(batch_are)(batch, n, a);
    memcpy(before, a, sizeof a);

    any_numbers(COUNT * n * k, wide);
    NAME(rounded)(COUNT * n * k, wide, v);
    for (b = 0; b < COUNT; b++) reference_modify(n, a[b], k, wide + b * n * k, ones);
    CHECK(NAME(batch_log_det)(batch, log_det, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(batch_update)(batch, k, v, NULL, info, ratio, change) == CHOLUPDATE_OK);
    NAME(batch_are)(batch, n, a);
    CHECK(NAME(batch_log_det)(batch, after, info) == CHOLUPDATE_OK);
    for (b = 0; b < COUNT; b++) {
        CHECK(info[b] == 0 && ratio[b] >= 1);
        NAME(close)(change[b], after[b] - log_det[b], 100 * n);
    }
    CHECK(NAME(batch_clone)(batch, &other) == CHOLUPDATE_OK);
    CHECK(NAME(batch_downdate)(batch, k, v, NULL, NULL, NULL, NULL) == CHOLUPDATE_OK);
    NAME(batch_are)(batch, n, before);
    NAME(batch_are)(other, n, a);
    NAME(batch_free)(other);

    /* Weights of each matrix, for some. */
    for (b = 0; b < COUNT; b++) {
        double w[3];
        for (r = 0; r < k; r++) weights[b * k + r] = (REAL)(w[r] = r == 1 ? -0.0625 : 0.5 * (double)(b + 1));
        if (mask[b]) reference_modify(n, before[b], k, wide + b * n * k, w);
    }
    CHECK(NAME(batch_modify)(batch, k, v, NULL, weights, k, mask, info, ratio, change) == CHOLUPDATE_OK);
    NAME(batch_are)(batch, n, before);
    CHECK(ratio[1] == 1 && change[4] == 0);
    CHECK(NAME(batch_select)(batch, COUNT, chosen, &other) == CHOLUPDATE_OK);
    NAME(batch_are)(other, n, before);
    NAME(batch_free)(other);

    /* A X = B, and both halves. */
    any_numbers(COUNT * n, right);
    NAME(rounded)(COUNT * n, right, x);
    NAME(rounded)(COUNT * n, right, y);
    CHECK(NAME(batch_solve)(batch, 1, x, NULL, info) == CHOLUPDATE_OK);
    CHECK(NAME(batch_solve_l)(batch, 1, y, NULL, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(batch_solve_lt)(batch, 1, y, NULL, NULL) == CHOLUPDATE_OK);
    for (b = 0; b < COUNT; b++) {
        number solved[MOST];
        for (i = 0; i < n; i++) solved[i] = (number)x[b * n + i];
        reference_multiply(n, n, 1, before[b], solved, product);
        for (i = 0; i < n; i++) NAME(close)(product[i], right[b * n + i], 100 * n);
    }
    CHECK(memcmp(x, y, COUNT * n * sizeof *x) == 0);
    ((REAL *)&x[2 * n])[1] = (REAL)NAN;
    REFUSED(NAME(batch_solve)(batch, 1, x, NULL, info), CHOLUPDATE_SOME_FAILED, "matrix 2: `b` is not finite at (0, 0)");
    CHECK(info[2] == -CHOLUPDATE_NOT_FINITE && info[3] == 0);
    NAME(batch_free)(batch);
}

/* Known factors with any phases, and rows that come and go. */
static void NAME(batch_rows)(int64_t n) {
    const number phases[4] = {-1, I, 0.6 - 0.8 * I, 1};
    static number a[COUNT][MOST * MOST], smaller[COUNT][MOST * MOST];
    static NUMBER given[COUNT * MOST * MOST], columns[COUNT * MOST];
    int64_t orders[COUNT], info[COUNT], going[COUNT], b, i, j;
    BATCH *batch = NULL, *other = NULL;
    for (b = 0; b < COUNT; b++) {
        any_matrix(n, a[b]);
        for (j = 0; j < n - 1; j++)
            for (i = 0; i < n - 1; i++) smaller[b][i + j * (n - 1)] = a[b][i + j * n];
    }
    NAME(batch_triangles)(n - 1, smaller, given);
    CHECK(NAME(batch_new)(COUNT, n - 1, given, NULL, NULL, NULL, &batch) == CHOLUPDATE_OK);
    CHECK(NAME(batch_to_factors)(batch, given, NULL) == CHOLUPDATE_OK);
    for (b = 0; b < COUNT; b++)
        for (j = 0; j < n - 1; j++)
            for (i = j; i < n - 1; i++) {
                NUMBER *entry = &given[(b * (n - 1) + j) * (n - 1) + i];
                *entry = (NUMBER)((number)*entry * phases[(j + b) % 4]);
            }
    CHECK(NAME(batch_from_factors)(COUNT, n - 1, given, NULL, NULL, &other) == CHOLUPDATE_OK);
    NAME(batch_are)(other, n - 1, smaller);
    NAME(batch_free)(other);

    CHECK(NAME(batch_reserve)(batch, n) == CHOLUPDATE_OK);
    for (b = 0; b < COUNT; b++) {
        for (i = 0; i < n; i++) columns[b * n + i] = (NUMBER)a[b][i + (n - 1) * n];
        ((REAL *)&columns[b * n + n - 1])[1] = (REAL)NAN;
        going[b] = n - 1;
    }
    CHECK(NAME(batch_append)(batch, columns, NULL, NULL, info, NULL, NULL) == CHOLUPDATE_OK);
    NAME(batch_are)(batch, n, a);
    CHECK(NAME(batch_orders)(batch, orders) == CHOLUPDATE_OK && orders[0] == n && orders[COUNT - 1] == n);
    CHECK(NAME(batch_remove)(batch, going, NULL, info, NULL, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(batch_append)(batch, columns, NULL, NULL, info, NULL, NULL) == CHOLUPDATE_OK);
    for (b = 0; b < COUNT; b++) {
        going[b] = 0;
        for (j = 0; j < n - 1; j++)
            for (i = 0; i < n - 1; i++) smaller[b][i + j * (n - 1)] = a[b][i + 1 + (j + 1) * n];
    }
    CHECK(NAME(batch_remove)(batch, going, NULL, info, NULL, NULL) == CHOLUPDATE_OK);
    NAME(batch_are)(batch, n - 1, smaller);
    NAME(batch_free)(batch);
}

static void NAME(batch_refuses)(void) {
    const NUMBER a[8] = {4, 1 + 2 * I, 77, 5, 1, 2 * I, 77, 1}, v[4] = {0, 3 * I, 1, 1};
    const NUMBER identity[4] = {1, 0, 77, 1};
    const cholupdate_engine engines[4] = {CHOLUPDATE_HYBRID, CHOLUPDATE_CUDA, CHOLUPDATE_OPENCL, CHOLUPDATE_DISTRIBUTED};
    NUMBER l[8] = {0}, again[8] = {0};
    int64_t info[2] = {7, 7};
    BATCH *batch = NULL;
    cholupdate_options options;
    int engine;
    CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
    for (engine = 0; engine < 4; engine++) {
        options.engine = engines[engine];
        REFUSED(NAME(batch_new)(2, 2, a, NULL, NULL, &options, &batch), INVALID, "0 (CPU) for complex numbers");
    }
    REFUSED(NAME(batch_new)(2, 2, NULL, NULL, NULL, NULL, &batch), NULLS, "`a`");
    REFUSED(NAME(batch_new)(2, -2, a, NULL, NULL, NULL, &batch), INVALID, "`n` is -2");
    CHECK(batch == NULL);
    REFUSED(NAME(batch_new)(2, 2, a, NULL, NULL, NULL, &batch), CHOLUPDATE_SOME_FAILED, "matrix 1: not positive definite");
    CHECK(NAME(batch_status)(batch, info) == CHOLUPDATE_SOME_FAILED && info[0] == 0 && info[1] == 2);
    REFUSED(NAME(batch_replace)(batch, 1, 2, a + 4, 2, 'L'), CHOLUPDATE_NOT_POSITIVE_DEFINITE, "column 1");
    CHECK(NAME(batch_replace)(batch, 1, 2, identity, 2, 'L') == CHOLUPDATE_OK);
    CHECK(NAME(batch_to_factors)(batch, l, NULL) == CHOLUPDATE_OK);
    REFUSED(NAME(batch_update)(batch, -1, v, NULL, NULL, NULL, NULL), INVALID, "`k` is -1");
    REFUSED(NAME(batch_downdate)(batch, 1, v, NULL, info, NULL, NULL), CHOLUPDATE_SOME_FAILED, "matrix 0: not positive definite");
    CHECK(info[0] == 2 && info[1] == 1);
    CHECK(NAME(batch_to_factors)(batch, again, NULL) == CHOLUPDATE_OK);
    CHECK(memcmp(l, again, sizeof l) == 0);
    NAME(batch_free)(batch);
    NAME(batch_free)(NULL);
}

static void NAME(batch_all)(void) {
    const int64_t orders[4] = {2, 3, 8, 17};
    int at;
    NAME(batch_modifies)(1, 1);
    for (at = 0; at < 4; at++) {
        NAME(batch_modifies)(orders[at], 1 + at % 3);
        NAME(batch_rows)(orders[at]);
    }
    NAME(batch_refuses)();
}
