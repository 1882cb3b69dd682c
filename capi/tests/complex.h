/* Every function on a complex factor, in one precision: REAL, NUMBER, TYPE, PENDING, EXTENSION, and NAME(verb) for the names. */

/* Checks a number to a few units in the last place of `scale`. */
static void NAME(close)(number found, number expected, double scale) {
    if (!(cabs(found - expected) <= (sizeof(REAL) == 4 ? 5e-6 : 1e-14) * scale)) {
        fprintf(stderr, "%.17g + %.17g i, not %.17g + %.17g i\n", creal(found), cimag(found), creal(expected), cimag(expected));
        exit(1);
    }
}

static void NAME(all_close)(int64_t count, const NUMBER *found, const number *expected, double scale) {
    int64_t i;
    for (i = 0; i < count; i++) NAME(close)((number)found[i], expected[i], scale);
}

static void NAME(rounded)(int64_t count, const number *from, NUMBER *to) {
    int64_t i;
    for (i = 0; i < count; i++) to[i] = (NUMBER)from[i];
}

/* A triangle of `a`. The other one and the imaginary part of the diagonal are NaN. */
static void NAME(triangle)(int64_t n, const number *a, char uplo, NUMBER *to) {
    int64_t i, j;
    for (j = 0; j < n; j++)
        for (i = 0; i < n; i++) {
            REAL *parts = (REAL *)&to[i + j * n];
            to[i + j * n] = (NUMBER)a[i + j * n];
            if (i == j) parts[1] = (REAL)NAN;
            if (uplo == 'L' ? i < j : i > j) parts[0] = parts[1] = (REAL)NAN;
        }
}

/* Checks that A is the matrix of the factor, and copies L. */
static void NAME(is)(const TYPE *factor, int64_t n, const number *a, number *l) {
    NUMBER lower[MOST * MOST], upper[MOST * MOST];
    number adjoint[MOST * MOST], product[MOST * MOST];
    int64_t i, j, order = -1;
    double scale = 1;
    CHECK(NAME(order)(factor, &order) == CHOLUPDATE_OK && order == n);
    for (i = 0; i < n * n; i++) lower[i] = upper[i] = 77;
    CHECK(NAME(to_factor)(factor, 'L', lower, n) == CHOLUPDATE_OK);
    CHECK(NAME(to_factor)(factor, 'U', upper, n) == CHOLUPDATE_OK);
    for (j = 0; j < n; j++)
        for (i = 0; i < n; i++) {
            const number entry = (number)lower[i + j * n];
            l[i + j * n] = i < j ? 0 : entry;
            CHECK(i >= j ? (number)upper[j + i * n] == conj(entry) : (number)upper[j + i * n] == 77 && entry == 77);
            CHECK(i != j || (creal(entry) > 0 && cimag(entry) == 0));
            if (cabs(a[i + j * n]) > scale) scale = cabs(a[i + j * n]);
        }
    reference_adjoint(n, l, adjoint);
    reference_multiply(n, n, n, l, adjoint, product);
    for (i = 0; i < n * n; i++) NAME(close)(product[i], a[i], scale);
}

static TYPE *NAME(made)(int64_t n, const number *a, char uplo) {
    NUMBER given[MOST * MOST];
    TYPE *factor = NULL;
    NAME(triangle)(n, a, uplo, given);
    CHECK(NAME(new)(n, given, n, uplo, NULL, &factor) == CHOLUPDATE_OK);
    return factor;
}

/* Both triangles, known factors with any phases, other settings. */
static void NAME(makes)(int64_t n) {
    const number phases[4] = {-1, I, 0.6 - 0.8 * I, 1};
    number a[MOST * MOST], l[MOST * MOST], adjoint[MOST * MOST];
    NUMBER given[MOST * MOST];
    TYPE *factor, *other = NULL;
    cholupdate_options options;
    int64_t i, j;
    any_matrix(n, a);
    factor = NAME(made)(n, a, 'U');
    NAME(is)(factor, n, a, l);
    NAME(free)(factor);
    factor = NAME(made)(n, a, 'L');
    NAME(is)(factor, n, a, l);
    CHECK(NAME(clone)(factor, &other) == CHOLUPDATE_OK);
    NAME(is)(other, n, a, l);
    NAME(free)(other);
    CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
    options.threads = 1;
    options.safeguard = CHOLUPDATE_SAFEGUARD_DRY_RUN;
    CHECK(NAME(to_engine)(factor, &options, &other) == CHOLUPDATE_OK);
    NAME(is)(other, n, a, l);
    NAME(free)(other);
    NAME(free)(factor);
    for (j = 0; j < n; j++)
        for (i = 0; i < n; i++) l[i + j * n] *= phases[j % 4];
    NAME(rounded)(n * n, l, given);
    CHECK(NAME(from_factor)(n, given, n, 'L', NULL, &factor) == CHOLUPDATE_OK);
    NAME(is)(factor, n, a, adjoint);
    NAME(free)(factor);
    reference_adjoint(n, l, adjoint);
    NAME(rounded)(n * n, adjoint, given);
    CHECK(NAME(from_factor)(n, given, n, 'U', NULL, &factor) == CHOLUPDATE_OK);
    NAME(is)(factor, n, a, l);
    NAME(free)(factor);
}

/* Modifications, with their reports, and what is known of the result. */
static void NAME(modifies)(int64_t n, int64_t k) {
    number a[MOST * MOST], l[MOST * MOST], v[MOST * MOST];
    NUMBER given[MOST * MOST];
    REAL w[MOST], log_det = 7, condition = 7;
    double weights[MOST], plus[MOST], minus[MOST], estimate = -1, sum = 0;
    cholupdate_report report = {-1, -1};
    int32_t flag = 7;
    TYPE *factor;
    int64_t r;
    any_matrix(n, a);
    any_numbers(n * k, v);
    NAME(rounded)(n * k, v, given);
    for (r = 0; r < k; r++) {
        plus[r] = 1;
        minus[r] = -1;
        weights[r] = r % 2 ? 2 : -0.125;
        w[r] = (REAL)weights[r];
    }
    factor = NAME(made)(n, a, 'L');
    CHECK(NAME(update)(factor, k, given, n, &report) == CHOLUPDATE_OK && report.min_pivot_ratio >= 1);
    reference_modify(n, a, k, v, plus);
    NAME(is)(factor, n, a, l);
    CHECK(NAME(can_downdate)(factor, k, given, n, &flag) == CHOLUPDATE_OK && flag == 1);
    CHECK(NAME(downdate)(factor, k, given, n, &report) == CHOLUPDATE_OK && report.log_det_change < 0);
    reference_modify(n, a, k, v, minus);
    NAME(is)(factor, n, a, l);
    CHECK(NAME(modify)(factor, k, given, n, w, NULL) == CHOLUPDATE_OK);
    reference_modify(n, a, k, v, weights);
    NAME(is)(factor, n, a, l);
    CHECK(NAME(modify)(factor, k, given, n, NULL, NULL) == CHOLUPDATE_OK);
    reference_modify(n, a, k, v, plus);
    NAME(is)(factor, n, a, l);
    for (r = 0; r < n * n; r++) a[r] *= 0.5;
    reference_modify(n, a, k, v, weights);
    CHECK(NAME(modify_scaled)(factor, (REAL)0.5, k, given, n, w, NULL) == CHOLUPDATE_OK);
    NAME(is)(factor, n, a, l);

    for (r = 0; r < n; r++) sum += 2 * log(creal(l[r + r * n]));
    CHECK(NAME(log_det)(factor, &log_det) == CHOLUPDATE_OK);
    NAME(close)(log_det, sum, 1 + fabs(sum));
    CHECK(NAME(condition)(factor, &condition) == CHOLUPDATE_OK && condition >= 1 && condition < 1000);
    CHECK(NAME(error_estimate)(factor, &estimate) == CHOLUPDATE_OK && estimate > 0);
    CHECK(NAME(needs_refactor)(factor, 0, 4, &flag) == CHOLUPDATE_OK && flag == 1);
    CHECK(NAME(needs_refactor)(factor, 0, 5, &flag) == CHOLUPDATE_OK && flag == 0);
    NAME(free)(factor);
}

/* Solves and products with A and its halves, and a modification in flight. */
static void NAME(solves)(int64_t n, int64_t m) {
    number a[MOST * MOST], l[MOST * MOST], adjoint[MOST * MOST], x[MOST * MOST], b[MOST * MOST];
    NUMBER to[MOST * MOST], v[MOST];
    const double one[1] = {1};
    TYPE *factor;
    PENDING *pending = NULL;
    cholupdate_report report = {-1, -1};
    cholupdate_status solved = CHOLUPDATE_INTERNAL;
    REAL log_det = 7;
    any_matrix(n, a);
    any_numbers(n * m, x);
    factor = NAME(made)(n, a, 'L');
    NAME(is)(factor, n, a, l);
    reference_adjoint(n, l, adjoint);
#define SOLVES(solve, multiply, matrix)                                   \
    reference_multiply(n, n, m, matrix, x, b);                            \
    NAME(rounded)(n * m, x, to);                                          \
    CHECK(NAME(multiply)(factor, m, to, n) == CHOLUPDATE_OK);             \
    NAME(all_close)(n * m, to, b, 4 * cabs(a[0]));                        \
    NAME(rounded)(n * m, b, to);                                          \
    CHECK(NAME(solve)(factor, m, to, n) == CHOLUPDATE_OK);                \
    NAME(all_close)(n * m, to, x, 16)
    SOLVES(solve, multiply, a);
    SOLVES(solve_l, multiply_l, l);
    SOLVES(solve_lt, multiply_lt, adjoint);

    /* x is the column that is added as well, so that A x is a part of what solving with the new A undoes. */
    NAME(rounded)(n, x, v);
    CHECK(NAME(submit)(factor, 1, v, n, NULL, &pending) == CHOLUPDATE_OK);
    REFUSED(NAME(log_det)(factor, &log_det), INVALID, "`factor` has a modification in flight");
    reference_modify(n, a, 1, x, one);
    reference_multiply(n, n, m, a, x, b);
    NAME(rounded)(n * m, b, to);
    CHECK(NAME(pending_solve)(pending, m, to, n, &report, &solved) == CHOLUPDATE_OK && solved == CHOLUPDATE_OK);
    CHECK(report.min_pivot_ratio >= 1 && report.log_det_change > 0);
    NAME(all_close)(n * m, to, x, 16);
    NAME(is)(factor, n, a, l);
    NAME(pending_free)(pending);
    CHECK(NAME(submit)(factor, 1, v, n, NULL, &pending) == CHOLUPDATE_OK);
    NAME(free)(factor);
    CHECK(NAME(pending_wait)(pending, NULL) == CHOLUPDATE_OK);
    NAME(pending_free)(pending);
}

#include "complex_rows.h"

static void NAME(all)(void) {
    int64_t n;
    for (n = 1; n <= MOST - 3; n += n < 9 ? 1 : 8) {
        NAME(makes)(n);
        NAME(modifies)(n, 1);
        NAME(modifies)(n, 5);
        NAME(solves)(n, 3);
        NAME(changes_rows)(n);
        NAME(extends)(n);
        NAME(carries)(n);
    }
}
