/* Every function on a batch in GPU memory, in one precision: REAL, TYPE, and NAME(verb) for the names of the functions. */

#define COUNT 3
#define N 12
#define K 2

/* Matrices and what goes with them, in host memory. */
static REAL NAME(a)[COUNT * N * N], NAME(v)[COUNT * N * K], NAME(b)[COUNT * N];

static uint64_t NAME(up)(const REAL *from, size_t numbers) { return on_device(from, numbers * sizeof *from); }

static void NAME(near)(const REAL *found, const REAL *expected, size_t numbers) {
    const double most = sizeof(REAL) == 4 ? 1e-5 : 1e-13;
    size_t at;
    for (at = 0; at < numbers; at++) CHECK(fabs((double)found[at] - (double)expected[at]) <= most * (1 + fabs((double)expected[at])));
}

/* Checks that the factors of two batches are the same: of the same bits, or but for roundings. */
static void NAME(same)(const TYPE *batch, const TYPE *other, int bits) {
    static REAL l[2][COUNT * N * N];
    memset(l, 0, sizeof l);
    CHECK(NAME(to_factors)(batch, l[0], NULL) == CHOLUPDATE_OK && NAME(to_factors)(other, l[1], NULL) == CHOLUPDATE_OK);
    if (bits) CHECK(memcmp(l[0], l[1], sizeof l[0]) == 0);
    NAME(near)(l[0], l[1], COUNT * N * N);
}

/* A batch on the GPU against one in host memory, with arrays in host memory. */
static void NAME(from_host)(void) {
    const REAL weights[K] = {2, -0.25}, each[COUNT * K] = {1, 2, -0.5, 1, 0, 1};
    const uint8_t mask[COUNT] = {1, 0, 1};
    cholupdate_options options;
    TYPE *batch[2] = {NULL, NULL}, *of_factors = NULL;
    double numbers[2][3][COUNT];
    int64_t info[COUNT], orders[COUNT], count = 0, n = 0;
    REAL x[2][COUNT * N], l[COUNT * N * N] = {0}, one[2][N * N];
    int which, at;
    CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
    for (which = 0; which < 2; which++) {
        TYPE *own = NULL;
        double(*of)[COUNT] = numbers[which];
        options.engine = which ? CHOLUPDATE_CUDA : CHOLUPDATE_CPU;
        CHECK(NAME(new)(COUNT, N, NAME(a), NULL, NULL, &options, &own) == CHOLUPDATE_OK);
        CHECK(NAME(update)(own, K, NAME(v), NULL, info, of[0], NULL) == CHOLUPDATE_OK && info[2] == 0);
        CHECK(NAME(modify)(own, K, NAME(v), NULL, weights, 0, NULL, NULL, NULL, of[1]) == CHOLUPDATE_OK);
        CHECK(NAME(modify)(own, K, NAME(v), NULL, each, K, mask, info, of[2], NULL) == CHOLUPDATE_OK);
        CHECK(of[2][1] == 1 && info[1] == 0);
        CHECK(NAME(downdate)(own, K, NAME(v), NULL, NULL, NULL, NULL) == CHOLUPDATE_OK);
        memcpy(x[which], NAME(b), sizeof x[which]);
        CHECK(NAME(solve)(own, 1, x[which], NULL, info) == CHOLUPDATE_OK && info[0] == 0);
        CHECK(NAME(solve_l)(own, 1, x[which], NULL, NULL) == CHOLUPDATE_OK);
        CHECK(NAME(solve_lt)(own, 1, x[which], NULL, NULL) == CHOLUPDATE_OK);
        memset(one[which], 0, sizeof one[which]);
        CHECK(NAME(to_factor)(own, 1, 'U', one[which], N) == CHOLUPDATE_OK);
        batch[which] = own;
    }
    NAME(same)(batch[0], batch[1], 0);
    NAME(near)(x[1], x[0], COUNT * N);
    NAME(near)(one[1], one[0], N * N);
    for (at = 0; at < COUNT; at++)
        for (which = 0; which < 3; which++) CHECK(fabs(numbers[0][which][at] - numbers[1][which][at]) < (sizeof(REAL) == 4 ? 1e-5 : 1e-12));
    CHECK(NAME(log_det)(batch[0], numbers[0][0], NULL) == CHOLUPDATE_OK && NAME(log_det)(batch[1], numbers[1][0], info) == CHOLUPDATE_OK);
    for (at = 0; at < COUNT; at++) CHECK(fabs(numbers[0][0][at] - numbers[1][0][at]) < (sizeof(REAL) == 4 ? 1e-4 : 1e-12));
    CHECK(NAME(extents)(batch[1], &count, &n) == CHOLUPDATE_OK && count == COUNT && n == N);
    CHECK(NAME(orders)(batch[1], orders) == CHOLUPDATE_OK && orders[0] == N);
    CHECK(NAME(status)(batch[1], info) == CHOLUPDATE_OK && info[0] == 0);
    CHECK(NAME(to_factors)(batch[1], l, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(from_factors)(COUNT, N, l, NULL, &options, &of_factors) == CHOLUPDATE_OK);
    NAME(same)(batch[1], of_factors, 1);
    NAME(free)(of_factors);
    NAME(free)(batch[0]);
    NAME(free)(batch[1]);
}

/* The same calls with arrays on the device have the bits of those with arrays in host memory, and their outcome is there later. */
static void NAME(from_device)(void) {
    const int64_t by_rows[3] = {N * N, N, 1}, same[3] = {0, 1, N}, orders[COUNT] = {N, N, N - 1};
    const uint64_t a = NAME(up)(NAME(a), COUNT * N * N), v = NAME(up)(NAME(v), COUNT * N * K);
    const REAL weights[K] = {2, -0.25}, not_finite[COUNT] = {0, 0, NAN};
    /* Two for each matrix, and one that is not used. */
    const REAL each[COUNT * (K + 1)] = {1, 2, NAN, (REAL)-0.125, 1, NAN, 0, 1, NAN};
    const uint64_t w = NAME(up)(weights, K), each_there = NAME(up)(each, COUNT * (K + 1));
    const uint8_t mask[COUNT] = {1, 0, 1};
    cholupdate_options options;
    TYPE *batch = NULL, *other = NULL;
    double numbers[2][2][COUNT];
    int64_t info[2][COUNT];
    uint64_t there[3] = {0, 0, 0}, again[3] = {0, 0, 0}, b, l;
    int32_t status[COUNT];
    REAL ratio[COUNT], change[COUNT], x[2][COUNT * N], factors[2][COUNT * N * N] = {{0}};
    int at;
    CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
    options.engine = CHOLUPDATE_CUDA;
    CHECK(NAME(new)(COUNT, N, NAME(a), NULL, NULL, &options, &other) == CHOLUPDATE_OK);
    CHECK(NAME(new_on_device)(COUNT, N, a, NULL, NULL, 0, NULL, &batch) == CHOLUPDATE_OK);
    NAME(same)(batch, other, 1);

    REFUSED(NAME(outcome)(batch, NULL, NULL, NULL), CHOLUPDATE_INVALID_ARGUMENT, "`batch` has no outcome: it was not modified");
    REFUSED(NAME(outcome_addresses)(batch, there, there, there), CHOLUPDATE_INVALID_ARGUMENT, "`batch` has no outcome: it was not modified");
    REFUSED(NAME(solve_outcome)(batch, NULL), CHOLUPDATE_INVALID_ARGUMENT, "`batch` has no outcome: it was not solved with");
    REFUSED(NAME(solve_outcome_address)(batch, there), CHOLUPDATE_INVALID_ARGUMENT, "`batch` has no outcome: it was not solved with");
    CHECK(there[0] == 0);

    /* The copies are on the stream of the call. */
    CHECK(NAME(update_on_device)(batch, K, v, NULL, 0, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(outcome_addresses)(batch, &there[0], &there[1], &there[2]) == CHOLUPDATE_OK);
    to_host(status, there[0], sizeof status);
    to_host(ratio, there[1], sizeof ratio);
    to_host(change, there[2], sizeof change);
    CHECK(NAME(update)(other, K, NAME(v), NULL, info[0], numbers[0][0], numbers[0][1]) == CHOLUPDATE_OK);
    CHECK(NAME(outcome)(batch, info[1], numbers[1][0], numbers[1][1]) == CHOLUPDATE_OK);
    CHECK(memcmp(info[0], info[1], sizeof info[0]) == 0 && memcmp(numbers[0], numbers[1], sizeof numbers[0]) == 0);
    NAME(same)(batch, other, 1);
    for (at = 0; at < COUNT; at++) {
        CHECK(status[at] == 0 && numbers[1][1][at] == (double)change[at]);
        CHECK(numbers[1][0][at] == (double)ratio[at] * (double)ratio[at]);
    }
    CHECK(NAME(modify_on_device)(batch, K, v, same, weights, 0, mask, 0, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(modify)(other, K, NAME(v), same, weights, 0, mask, NULL, NULL, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(modify_on_device)(batch, K, v, NULL, NULL, 0, NULL, 0, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(modify)(other, K, NAME(v), NULL, NULL, 0, NULL, NULL, NULL, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(modify_by_weights_on_device)(batch, K, v, same, w, 0, 0, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(modify)(other, K, NAME(v), same, weights, 0, NULL, NULL, NULL, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(modify_by_weights_on_device)(batch, K, v, NULL, each_there, K + 1, 0, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(modify)(other, K, NAME(v), NULL, each, K + 1, NULL, NULL, NULL, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(modify_by_weights_on_device)(batch, 1, v, NULL, NAME(up)(not_finite, COUNT), 1, 0, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(outcome)(batch, info[1], NULL, NULL) == CHOLUPDATE_SOME_FAILED && info[1][0] == 0 && info[1][2] == -CHOLUPDATE_NOT_FINITE);
    CHECK(NAME(downdate_on_device)(batch, 1, v, NULL, 0, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(downdate)(other, 1, NAME(v), NULL, NULL, NULL, NULL) == CHOLUPDATE_OK);
    NAME(same)(batch, other, 1);
    CHECK(NAME(outcome_addresses)(batch, &again[0], NULL, &again[2]) == CHOLUPDATE_OK);
    CHECK(again[0] == there[0] && again[1] == 0 && again[2] == there[2]);

    b = NAME(up)(NAME(b), COUNT * N);
    memcpy(x[0], NAME(b), sizeof x[0]);
    CHECK(NAME(solve_on_device)(batch, 1, b, NULL, 0, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(solve)(other, 1, x[0], NULL, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(solve_outcome)(batch, info[0]) == CHOLUPDATE_OK && info[0][1] == 0);
    CHECK(NAME(solve_l_on_device)(batch, 1, b, NULL, 0, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(solve_l)(other, 1, x[0], NULL, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(solve_lt_on_device)(batch, 1, b, NULL, 0, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(solve_lt)(other, 1, x[0], NULL, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(solve_outcome_address)(batch, &there[0]) == CHOLUPDATE_OK);
    to_host(x[1], b, sizeof x[1]);
    to_host(status, there[0], sizeof status);
    CHECK(memcmp(x[0], x[1], sizeof x[0]) == 0 && status[2] == 0);

    l = NAME(up)(factors[0], COUNT * N * N);
    CHECK(NAME(to_factors_on_device)(batch, l, by_rows, 0, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(to_factors)(batch, factors[0], by_rows) == CHOLUPDATE_OK);
    to_host(factors[1], l, sizeof factors[1]);
    CHECK(memcmp(factors[0], factors[1], sizeof factors[0]) == 0 && factors[1][N] != 0 && factors[1][1] == 0);
    NAME(free)(other);
    CHECK(NAME(from_factors_on_device)(COUNT, N, l, by_rows, 0, NULL, &other) == CHOLUPDATE_OK);
    NAME(same)(batch, other, 1);
    NAME(free)(other);
    CHECK(NAME(new_on_device)(COUNT, N, a, NULL, orders, 0, NULL, &other) == CHOLUPDATE_OK);
    CHECK(NAME(orders)(other, info[0]) == CHOLUPDATE_OK && memcmp(info[0], orders, sizeof orders) == 0);
    NAME(free)(other);
    /* With work that nothing has waited for. */
    CHECK(NAME(update_on_device)(batch, K, v, NULL, 0, NULL) == CHOLUPDATE_OK);
    NAME(free)(batch);
}

/* Matrices that fail are as they were, and the others are modified. */
static void NAME(failures)(void) {
    /* (4 2; 2 5), one that is not positive definite, and (9 3; 3 2); zero, and one of order 1. */
    const REAL a[12] = {4, 2, 77, 5, -1, 0, 77, 1, 9, 3, 77, 2}, singular[8] = {0, 0, 77, 0, 4, NAN, NAN, NAN};
    const REAL v[6] = {1, 2, 0, 1, 0, 1.5}, bad[6] = {1, 0, 0, 0, 0, NAN}, b[6] = {8, 12, 1, 1, NAN, 7}, ones[4] = {1, 1, 1, 1};
    const int64_t orders[2] = {2, 1};
    const uint64_t v_there = NAME(up)(v, 6), bad_there = NAME(up)(bad, 6), b_there = NAME(up)(b, 6);
    cholupdate_options options;
    TYPE *batch = NULL;
    double ratio[3], change[3], log_det[3];
    int64_t info[3] = {7, 7, 7};
    uint64_t there = 0;
    int32_t status[3];
    REAL l[12] = {0}, again[12] = {0}, x[6];
    CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
    options.engine = CHOLUPDATE_CUDA;
    REFUSED(NAME(new)(3, 2, a, NULL, NULL, &options, &batch), CHOLUPDATE_SOME_FAILED, "matrix 1: not positive definite");
    CHECK(batch != NULL && cholupdate_last_error_column() == 0);
    CHECK(NAME(status)(batch, info) == CHOLUPDATE_SOME_FAILED && info[0] == 0 && info[1] == 1 && info[2] == 0);
    CHECK(NAME(to_factor)(batch, 1, 'L', l, 2) == CHOLUPDATE_NOT_POSITIVE_DEFINITE);
    CHECK(NAME(orders)(batch, info) == CHOLUPDATE_OK && info[0] == 2 && info[1] == 0);

    CHECK(NAME(update)(batch, 1, v, NULL, NULL, NULL, NULL) == CHOLUPDATE_SOME_FAILED);
    CHECK(NAME(downdate)(batch, 1, v, NULL, NULL, NULL, NULL) == CHOLUPDATE_SOME_FAILED);
    CHECK(NAME(to_factors)(batch, l, NULL) == CHOLUPDATE_OK);
    REFUSED(NAME(downdate)(batch, 1, v, NULL, info, ratio, change), CHOLUPDATE_SOME_FAILED, "matrix 1: not positive definite");
    CHECK(info[0] == 0 && info[1] == 1 && info[2] == 2);
    CHECK(ratio[0] < 1 && isnan(ratio[1]) && isnan(ratio[2]) && change[0] < 0 && isnan(change[1]) && isnan(change[2]));
    CHECK(NAME(to_factors)(batch, again, NULL) == CHOLUPDATE_OK);
    CHECK(memcmp(l + 8, again + 8, 4 * sizeof(REAL)) == 0 && l[3] != again[3]);
    CHECK(NAME(update)(batch, 1, v, NULL, NULL, NULL, NULL) == CHOLUPDATE_SOME_FAILED);

    /* Without waiting. */
    CHECK(NAME(to_factors)(batch, l, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(update_on_device)(batch, 1, bad_there, NULL, 0, NULL) == CHOLUPDATE_OK);
    REFUSED(NAME(outcome)(batch, NULL, NULL, NULL), CHOLUPDATE_SOME_FAILED, "matrix 1: not positive definite");
    CHECK(NAME(outcome)(batch, info, ratio, NULL) == CHOLUPDATE_SOME_FAILED);
    CHECK(info[0] == 0 && info[1] == 1 && info[2] == -CHOLUPDATE_NOT_FINITE && ratio[0] > 1 && isnan(ratio[2]));
    CHECK(NAME(outcome_addresses)(batch, &there, NULL, NULL) == CHOLUPDATE_OK);
    to_host(status, there, sizeof status);
    CHECK(status[0] == 0 && status[1] == -1 && status[2] == -2);
    CHECK(NAME(to_factors)(batch, again, NULL) == CHOLUPDATE_OK && memcmp(l + 8, again + 8, 4 * sizeof(REAL)) == 0);
    CHECK(NAME(downdate_on_device)(batch, 1, v_there, NULL, 0, NULL) == CHOLUPDATE_OK);
    /* A call that is refused has no outcome. */
    REFUSED(NAME(update_on_device)(batch, -1, v_there, NULL, 0, NULL), CHOLUPDATE_INVALID_ARGUMENT, "`k` is -1");
    CHECK(NAME(outcome)(batch, info, NULL, NULL) == CHOLUPDATE_SOME_FAILED && info[0] == 0 && info[1] == 1 && info[2] == 0);

    memcpy(x, b, sizeof x);
    REFUSED(NAME(solve)(batch, 1, x, NULL, info), CHOLUPDATE_SOME_FAILED, "matrix 1: not positive definite");
    CHECK(info[0] == 0 && info[1] == 1 && info[2] == -CHOLUPDATE_NOT_FINITE && x[0] != 8 && memcmp(x + 2, b + 2, 4 * sizeof(REAL)) == 0);
    CHECK(NAME(solve_on_device)(batch, 1, b_there, NULL, 0, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(solve_outcome)(batch, info) == CHOLUPDATE_SOME_FAILED && info[1] == 1 && info[2] == -CHOLUPDATE_NOT_FINITE);
    to_host(again, b_there, sizeof x);
    CHECK(memcmp(again, x, sizeof x) == 0);
    CHECK(NAME(log_det)(batch, log_det, info) == CHOLUPDATE_SOME_FAILED && isnan(log_det[1]) && info[1] == 1 && info[0] == 0);
    NAME(free)(batch);

    CHECK(NAME(from_factors)(1, 2, singular, NULL, &options, &batch) == CHOLUPDATE_OK);
    REFUSED(NAME(downdate)(batch, 1, v, NULL, info, NULL, NULL), CHOLUPDATE_SOME_FAILED, "matrix 0: singular");
    REFUSED(NAME(log_det)(batch, log_det, info), CHOLUPDATE_SOME_FAILED, "matrix 0: singular");
    CHECK(info[0] == 1 && isnan(log_det[0]) && cholupdate_last_error_column() == 0);
    NAME(free)(batch);
    CHECK(NAME(new)(2, 2, singular, NULL, orders, &options, &batch) == CHOLUPDATE_SOME_FAILED);
    CHECK(NAME(status)(batch, info) == CHOLUPDATE_SOME_FAILED && info[0] == 1 && info[1] == 0);
    CHECK(NAME(modify)(batch, 1, ones, NULL, NULL, 0, NULL, NULL, ratio, NULL) == CHOLUPDATE_SOME_FAILED && fabs(ratio[1] - 1.25) < 1e-6);
    NAME(free)(batch);
}

#include "batch_device_rows.h"

static void NAME(all)(void) {
    int at;
    for (at = 0; at < COUNT * N * N; at++) NAME(a)[at] = at % (N * N) % (N + 1) == 0 ? 20 : (REAL)1 / (REAL)(1 + at % 7);
    for (at = 0; at < COUNT * N * K; at++) NAME(v)[at] = (REAL)(at * 7 % 11) / 11 - (REAL)0.4;
    for (at = 0; at < COUNT * N; at++) NAME(b)[at] = (REAL)(at % 5) - (REAL)1.5;
    NAME(from_host)();
    NAME(from_device)();
    NAME(failures)();
    NAME(rows)();
}

#undef COUNT
#undef N
#undef K
