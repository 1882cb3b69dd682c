/* Factors of indefinite matrices, in both precisions, and what is refused by name. */
#include "cholupdate.h"
#include "check.h"
#include <math.h>

#define REAL double
#define TYPE cholupdate_d_ldlt
#define BORDERED cholupdate_d_ldlt_extension
#define NAME(verb) cholupdate_d_ldlt_##verb
#include "ldlt.h"
#undef REAL
#undef TYPE
#undef BORDERED
#undef NAME
#define REAL float
#define TYPE cholupdate_s_ldlt
#define BORDERED cholupdate_s_ldlt_extension
#define NAME(verb) cholupdate_s_ldlt_##verb
#include "ldlt.h"

#define NULLS CHOLUPDATE_NULL_POINTER
#define INVALID CHOLUPDATE_INVALID_ARGUMENT

static void making(void) {
    const double a[4] = {1, 2, 2, 1}, nan_entry[4] = {4, NAN, 2, 5}, zero_first[4] = {0, 1, 1, 0}, huge[4] = {1e200, 0, 0, 1.7e308};
    const double d[2] = {1, -1}, nan_d[2] = {1, NAN};
    cholupdate_d_ldlt *factor = NULL;
    cholupdate_options options;
    REFUSED(cholupdate_d_ldlt_new(2, NULL, 2, 'L', NULL, &factor), NULLS, "`a`");
    REFUSED(cholupdate_d_ldlt_new(2, a, 2, 'L', NULL, NULL), NULLS, "`factor`");
    REFUSED(cholupdate_d_ldlt_new(-1, a, 2, 'L', NULL, &factor), INVALID, "`n` is -1");
    REFUSED(cholupdate_d_ldlt_new(2, a, 1, 'L', NULL, &factor), INVALID, "`lda` is 1");
    REFUSED(cholupdate_d_ldlt_new(2, a, 2, 'X', NULL, &factor), INVALID, "`uplo` is 'X'");
    REFUSED(cholupdate_d_ldlt_new(2, nan_entry, 2, 'L', NULL, &factor), CHOLUPDATE_NOT_FINITE, "`a`");
    REFUSED(cholupdate_d_ldlt_new(2, huge, 2, 'L', NULL, &factor), CHOLUPDATE_OVERFLOW, "`a`");
    REFUSED(cholupdate_d_ldlt_new(2, zero_first, 2, 'L', NULL, &factor), CHOLUPDATE_SINGULAR, "column 0");
    CHECK(cholupdate_last_error_column() == 0);
    REFUSED(cholupdate_d_ldlt_from_factor(2, NULL, 2, 'L', d, NULL, &factor), NULLS, "`l`");
    REFUSED(cholupdate_d_ldlt_from_factor(2, a, 2, 'L', NULL, NULL, &factor), NULLS, "`d`");
    REFUSED(cholupdate_d_ldlt_from_factor(2, a, 2, 'L', nan_d, NULL, &factor), CHOLUPDATE_NOT_FINITE, "`d`");
    REFUSED(cholupdate_d_ldlt_from_factor(2, huge, 2, 'L', d, NULL, &factor), CHOLUPDATE_OVERFLOW, "`l`");
    CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
    options.engine = CHOLUPDATE_CUDA;
    REFUSED(cholupdate_d_ldlt_new(2, a, 2, 'L', &options, &factor), INVALID, "is 2, but must be 0 (CPU) for a factor L S L^T");
    REFUSED(cholupdate_d_ldlt_from_factor(2, a, 2, 'L', d, &options, &factor), INVALID, "`options.engine` is 2");
    CHECK(factor == NULL);
    options.engine = CHOLUPDATE_CPU;
    options.threads = 1;
    CHECK(cholupdate_d_ldlt_new(2, a, 2, 'L', &options, &factor) == CHOLUPDATE_OK);
    cholupdate_d_ldlt_free(factor);
    cholupdate_d_ldlt_free(NULL);
}

static void using(void) {
    const double a[4] = {1, 2, 2, 1}, v[2] = {1, INFINITY}, w[1] = {NAN}, x[3] = {1, 2, 9};
    const int64_t twice[2] = {1, 1}, negative[1] = {-1}, beyond[1] = {2};
    const double whole[4] = {1, 2, 2, 1};
    cholupdate_d_ldlt *factor = NULL, *other = NULL;
    double b[4] = {1, 2, 3, 4}, number = 7;
    int64_t n = 7;
    int32_t can = 7;
    CHECK(cholupdate_d_ldlt_new(2, a, 2, 'L', NULL, &factor) == CHOLUPDATE_OK);
    REFUSED(cholupdate_d_ldlt_update(NULL, 1, x, 2, NULL), NULLS, "`factor`");
    REFUSED(cholupdate_d_ldlt_update(factor, 1, NULL, 2, NULL), NULLS, "`v`");
    REFUSED(cholupdate_d_ldlt_update(factor, -1, x, 2, NULL), INVALID, "`k` is -1");
    REFUSED(cholupdate_d_ldlt_update(factor, 1, x, 1, NULL), INVALID, "`ldv` is 1");
    REFUSED(cholupdate_d_ldlt_downdate(factor, 1, v, 2, NULL), CHOLUPDATE_NOT_FINITE, "`v`");
    REFUSED(cholupdate_d_ldlt_modify(factor, 1, x, 2, w, NULL), CHOLUPDATE_NOT_FINITE, "`weights`");
    REFUSED(cholupdate_d_ldlt_modify_scaled(factor, 0, 1, x, 2, NULL, NULL), INVALID, "`decay` must be");
    REFUSED(cholupdate_d_ldlt_can_downdate(factor, 1, x, 2, NULL), NULLS, "`can`");
    REFUSED(cholupdate_d_ldlt_can_downdate(factor, 1, v, 2, &can), CHOLUPDATE_NOT_FINITE, "`v`");
    REFUSED(cholupdate_d_ldlt_append(factor, 1, NULL, 2, x, 1, 'L', NULL), NULLS, "`cross`");
    REFUSED(cholupdate_d_ldlt_append(factor, 1, x, 2, NULL, 1, 'L', NULL), NULLS, "`corner`");
    REFUSED(cholupdate_d_ldlt_append(factor, 1, x, 2, x, 1, 'Q', NULL), INVALID, "`uplo`");
    REFUSED(cholupdate_d_ldlt_insert(factor, 3, 1, x, 3, NULL), INVALID, "`at` is 3");
    REFUSED(cholupdate_d_ldlt_insert(factor, 0, 1, x, 2, NULL), INVALID, "`ldcolumns` is 2");
    REFUSED(cholupdate_d_ldlt_insert(factor, 0, INT64_MAX, x, INT64_MAX, NULL), INVALID, "columns`");
    REFUSED(cholupdate_d_ldlt_replace(factor, 2, 1, x, 2, NULL), INVALID, "`at`");
    REFUSED(cholupdate_d_ldlt_remove(factor, 2, twice, NULL), INVALID, "`indices`");
    REFUSED(cholupdate_d_ldlt_remove(factor, 1, negative, NULL), INVALID, "`indices[0]` is -1");
    REFUSED(cholupdate_d_ldlt_remove(factor, 1, beyond, NULL), INVALID, "`indices`");
    REFUSED(cholupdate_d_ldlt_remove(factor, 1, NULL, NULL), NULLS, "`indices`");
    REFUSED(cholupdate_d_ldlt_shift(factor, -1, 0, NULL), INVALID, "`from` is -1");
    REFUSED(cholupdate_d_ldlt_shift(factor, 0, 2, NULL), INVALID, "`to`");
    REFUSED(cholupdate_d_ldlt_permute(factor, twice, NULL), INVALID, "`order`");
    REFUSED(cholupdate_d_ldlt_permute(factor, NULL, NULL), NULLS, "`order`");
    REFUSED(cholupdate_d_ldlt_solve(factor, 1, NULL, 2), NULLS, "`b`");
    REFUSED(cholupdate_d_ldlt_solve(factor, -1, b, 2), INVALID, "`nrhs`");
    REFUSED(cholupdate_d_ldlt_solve_l(NULL, 1, b, 2), NULLS, "`factor`");
    REFUSED(cholupdate_d_ldlt_solve_lt(factor, 1, b, 1), INVALID, "`ldb`");
    REFUSED(cholupdate_d_ldlt_inertia(NULL, &n, &n), NULLS, "`factor`");
    REFUSED(cholupdate_d_ldlt_order(factor, NULL), NULLS, "`n`");
    REFUSED(cholupdate_d_ldlt_log_abs_det(factor, NULL), NULLS, "`log_abs_det`");
    REFUSED(cholupdate_d_ldlt_condition(factor, NULL), NULLS, "`condition`");
    REFUSED(cholupdate_d_ldlt_growth(factor, NULL), NULLS, "`growth`");
    REFUSED(cholupdate_d_ldlt_growth_limit(NULL, &number), NULLS, "`factor`");
    REFUSED(cholupdate_d_ldlt_set_growth_limit(factor, 0.5), INVALID, "`limit` must be at least 1");
    REFUSED(cholupdate_d_ldlt_set_growth_limit(factor, NAN), INVALID, "`limit` must be at least 1");
    REFUSED(cholupdate_d_ldlt_expect_inertia(factor, -1, 1), INVALID, "`positive` is -1");
    REFUSED(cholupdate_d_ldlt_expect_inertia(factor, 1, -2), INVALID, "`negative` is -2");
    REFUSED(cholupdate_d_ldlt_expect_signs(factor, NULL), NULLS, "`signs`");
    REFUSED(cholupdate_d_ldlt_expect_signs(factor, v), CHOLUPDATE_NOT_FINITE, "`signs`");
    REFUSED(cholupdate_d_ldlt_expect_any_inertia(NULL), NULLS, "`factor`");
    REFUSED(cholupdate_d_ldlt_to_factor(factor, 'L', b, 1), INVALID, "`ldl`");
    REFUSED(cholupdate_d_ldlt_to_factor(factor, 'l' + 1, b, 2), INVALID, "`uplo`");
    REFUSED(cholupdate_d_ldlt_signs(factor, NULL), NULLS, "`signs`");
    REFUSED(cholupdate_d_ldlt_reconstruct(factor, b, 1), INVALID, "`lda`");
    REFUSED(cholupdate_d_ldlt_clone(factor, NULL), NULLS, "`copy`");
    REFUSED(cholupdate_d_ldlt_clone(NULL, &other), NULLS, "`factor`");
    CHECK(can == 7 && n == 7 && number == 7 && other == NULL && b[0] == 1 && b[1] == 2 && b[2] == 3 && b[3] == 4);
    b[1] = NAN;
    REFUSED(cholupdate_d_ldlt_solve(factor, 1, b, 2), CHOLUPDATE_NOT_FINITE, "`b`");
    CHECK(b[0] == 1);

    /* Nothing has changed, nor is anything expected; empty arrays may be NULL, and so may each of two results. */
    cholupdate_d_ldlt_is(factor, 2, whole, 1, 1);
    CHECK(cholupdate_d_ldlt_update(factor, 0, NULL, 2, NULL) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_ldlt_solve(factor, 0, NULL, 2) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_ldlt_remove(factor, 0, NULL, NULL) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_ldlt_inertia(factor, NULL, NULL) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_ldlt_update(factor, 1, x, 2, NULL) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_ldlt_inertia(factor, &n, NULL) == CHOLUPDATE_OK && n == 1);
    cholupdate_d_ldlt_free(factor);
}

/* The bits do not depend on the number of threads. */
static void threads(void) {
    enum { N = 400, K = 24 };
    double *a = malloc(sizeof(double) * N * N), *v = malloc(sizeof(double) * N * K), *l = calloc(2 * N * N, sizeof(double));
    int at, which;
    CHECK(a != NULL && v != NULL && l != NULL);
    /* Quasi-definite: the first half of the diagonal is positive, the other one negative. */
    for (at = 0; at < N * N; at++) a[at] = at % N != at / N ? 1.0 / (1 + at % 7) : at % N < N / 2 ? N : -N;
    for (at = 0; at < N * K; at++) v[at] = 0.1 * (at % 11);
    for (which = 0; which < 2; which++) {
        cholupdate_options options;
        cholupdate_d_ldlt *factor = NULL;
        CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
        options.threads = 1 + 2 * which;
        CHECK(cholupdate_d_ldlt_new(N, a, N, 'L', &options, &factor) == CHOLUPDATE_OK);
        CHECK(cholupdate_d_ldlt_update(factor, K, v, N, NULL) == CHOLUPDATE_OK);
        CHECK(cholupdate_d_ldlt_to_factor(factor, 'L', l + which * N * N, N) == CHOLUPDATE_OK);
        cholupdate_d_ldlt_free(factor);
    }
    CHECK(memcmp(l, l + N * N, sizeof(double) * N * N) == 0);
    free(a);
    free(v);
    free(l);
}

int main(void) {
    cholupdate_d_ldlt_all();
    cholupdate_s_ldlt_all();
    making();
    using();
    threads();
    puts("ldlt: ok");
    return 0;
}
