/* Batches of small factors: every function in both precisions, and what is refused. */
#include "cholupdate.h"
#include "check.h"
#include <math.h>

#define REAL double
#define TYPE cholupdate_d_batch
#define NAME(verb) cholupdate_d_batch_##verb
#include "batch.h"
#undef REAL
#undef TYPE
#undef NAME
#define REAL float
#define TYPE cholupdate_s_batch
#define NAME(verb) cholupdate_s_batch_##verb
#include "batch.h"

#define NULLS CHOLUPDATE_NULL_POINTER
#define INVALID CHOLUPDATE_INVALID_ARGUMENT

static void refusals(void) {
    const double a[8] = {4, 2, 2, 5, 9, 3, 3, 2}, v[4] = {1, 2, 0, 1.5}, w[1] = {NAN};
    const int64_t back[3] = {4, -1, 2}, far[3] = {INT64_MAX, 1, 2}, onto[3] = {0, 1, 2};
    const int64_t high[2] = {2, 3}, low[2] = {2, -1}, indices[1] = {2};
    const double *odd = (const double *)(const void *)((const char *)a + 1);
    double b[4] = {1, 2, 3, 4}, l[8] = {0}, log_det[2] = {7, 7};
    int64_t info[2] = {7, 7}, count = 7, n = 7;
    cholupdate_d_batch *batch = NULL, *other = NULL;
    cholupdate_options options;
    REFUSED(cholupdate_d_batch_new(2, 2, NULL, NULL, NULL, NULL, &batch), NULLS, "`a`");
    REFUSED(cholupdate_d_batch_new(2, 2, a, NULL, NULL, NULL, NULL), NULLS, "`made`");
    REFUSED(cholupdate_d_batch_new(-1, 2, a, NULL, NULL, NULL, &batch), INVALID, "`count` is -1");
    REFUSED(cholupdate_d_batch_new(2, -2, a, NULL, NULL, NULL, &batch), INVALID, "`n` is -2");
    REFUSED(cholupdate_d_batch_new(INT64_MAX, 2, a, NULL, NULL, NULL, &batch), INVALID, "`a`");
    REFUSED(cholupdate_d_batch_new(INT64_MAX, 2, a, onto, NULL, NULL, &batch), INVALID, "`a` must be small enough");
    REFUSED(cholupdate_d_batch_new(INT64_MAX, 0, NULL, NULL, NULL, NULL, &batch), INVALID, "`a` must be small enough");
    REFUSED(cholupdate_d_batch_new(2, INT64_MAX, a, NULL, NULL, NULL, &batch), INVALID, "`a`");
    REFUSED(cholupdate_d_batch_new(2, 2, odd, NULL, NULL, NULL, &batch), INVALID, "`a`");
    REFUSED(cholupdate_d_batch_new(2, 2, a, back, NULL, NULL, &batch), INVALID, "`a_strides[1]` is -1, but must be 0 or more");
    REFUSED(cholupdate_d_batch_new(2, 2, a, far, NULL, NULL, &batch), INVALID, "`a`");
    REFUSED(cholupdate_d_batch_new(2, 2, a, NULL, high, NULL, &batch), INVALID, "`orders`[1] is 3");
    REFUSED(cholupdate_d_batch_new(2, 2, a, NULL, low, NULL, &batch), INVALID, "`orders[1]` is -1");
    REFUSED(cholupdate_d_batch_from_factors(2, 2, NULL, NULL, NULL, &batch), NULLS, "`l`");
    CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
    options.engine = CHOLUPDATE_HYBRID;
    REFUSED(cholupdate_d_batch_new(2, 2, a, NULL, NULL, &options, &batch), INVALID, "`options.engine` is 1");
    options.engine = CHOLUPDATE_CPU;
    options.threads = 1;
    CHECK(batch == NULL);
    CHECK(cholupdate_d_batch_new(2, 2, a, NULL, NULL, &options, &batch) == CHOLUPDATE_OK);

    REFUSED(cholupdate_d_batch_update(NULL, 1, v, NULL, info, NULL, NULL), NULLS, "`batch`");
    REFUSED(cholupdate_d_batch_update(batch, 1, NULL, NULL, info, NULL, NULL), NULLS, "`v`");
    REFUSED(cholupdate_d_batch_update(batch, -1, v, NULL, info, NULL, NULL), INVALID, "`k` is -1");
    REFUSED(cholupdate_d_batch_downdate(batch, INT64_MAX, v, NULL, info, NULL, NULL), INVALID, "`v`");
    REFUSED(cholupdate_d_batch_modify(batch, 1, v, NULL, w, 0, NULL, info, NULL, NULL), CHOLUPDATE_NOT_FINITE, "`weights`");
    REFUSED(cholupdate_d_batch_modify(batch, 2, a, NULL, v, 1, NULL, info, NULL, NULL), INVALID, "`weights_stride` is 1");
    REFUSED(cholupdate_d_batch_modify(batch, 2, a, NULL, v, INT64_MAX, NULL, info, NULL, NULL), INVALID, "`weights`");
    REFUSED(cholupdate_d_batch_solve(NULL, 1, b, NULL, info), NULLS, "`batch`");
    REFUSED(cholupdate_d_batch_solve(batch, 1, NULL, NULL, info), NULLS, "`b`");
    REFUSED(cholupdate_d_batch_solve_l(batch, -1, b, NULL, info), INVALID, "`nrhs` is -1");
    REFUSED(cholupdate_d_batch_solve_lt(batch, 1, b, onto, info), INVALID, "`b_strides` is [0, 1, 2]");
    REFUSED(cholupdate_d_batch_log_det(batch, NULL, info), NULLS, "`log_det`");
    REFUSED(cholupdate_d_batch_replace(batch, 2, 2, a, 2, 'L'), INVALID, "`matrix` is 2");
    REFUSED(cholupdate_d_batch_replace(batch, -1, 2, a, 2, 'L'), INVALID, "`matrix` is -1");
    REFUSED(cholupdate_d_batch_replace(batch, 1, 3, a, 3, 'L'), INVALID, "`m` is 3");
    REFUSED(cholupdate_d_batch_replace(batch, 1, 1, w, 1, 'L'), CHOLUPDATE_NOT_FINITE, "`a`");
    REFUSED(cholupdate_d_batch_replace(batch, 1, 2, a, 1, 'L'), INVALID, "`lda` is 1");
    REFUSED(cholupdate_d_batch_to_factor(batch, 0, 'X', l, 2), INVALID, "`uplo`");
    REFUSED(cholupdate_d_batch_to_factor(batch, 2, 'L', l, 2), INVALID, "`matrix` is 2");
    REFUSED(cholupdate_d_batch_to_factors(batch, NULL, NULL), NULLS, "`l`");
    REFUSED(cholupdate_d_batch_to_factors(batch, l, onto), INVALID, "`l_strides`");
    REFUSED(cholupdate_d_batch_clone(batch, NULL), NULLS, "`copy`");
    REFUSED(cholupdate_d_batch_select(batch, 1, indices, &other), INVALID, "`indices`[0] is 2");
    REFUSED(cholupdate_d_batch_select(batch, 1, NULL, &other), NULLS, "`indices`");
    REFUSED(cholupdate_d_batch_extents(NULL, &count, &n), NULLS, "`batch`");
    REFUSED(cholupdate_d_batch_status(NULL, info), NULLS, "`batch`");
    REFUSED(cholupdate_d_batch_orders(NULL, info), NULLS, "`batch`");
    REFUSED(cholupdate_d_batch_orders(batch, NULL), NULLS, "`orders`");
    REFUSED(cholupdate_d_batch_reserve(NULL, 3), NULLS, "`batch`");
    REFUSED(cholupdate_d_batch_reserve(batch, -3), INVALID, "`n` is -3");
    REFUSED(cholupdate_d_batch_reserve(batch, INT64_MAX), INVALID, "`n` must be small enough");
    REFUSED(cholupdate_d_batch_append(NULL, v, NULL, NULL, info, NULL, NULL), NULLS, "`batch`");
    REFUSED(cholupdate_d_batch_append(batch, NULL, NULL, NULL, info, NULL, NULL), NULLS, "`a`");
    REFUSED(cholupdate_d_batch_append(batch, v, back, NULL, info, NULL, NULL), INVALID, "`a_strides[1]` is -1");
    REFUSED(cholupdate_d_batch_remove(NULL, low, NULL, info, NULL, NULL), NULLS, "`batch`");
    REFUSED(cholupdate_d_batch_remove(batch, NULL, NULL, info, NULL, NULL), NULLS, "`indices`");
    REFUSED(cholupdate_d_batch_remove(batch, low, NULL, info, NULL, NULL), INVALID, "`indices[1]` is -1");
    CHECK(info[0] == 7 && info[1] == 7 && log_det[0] == 7 && b[3] == 4 && l[0] == 0 && other == NULL);

    /* NULL may be freed, empty arrays may be NULL, and so may every result. */
    cholupdate_d_batch_free(NULL);
    CHECK(cholupdate_d_batch_update(batch, 0, NULL, NULL, NULL, NULL, NULL) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_batch_solve(batch, 0, NULL, NULL, NULL) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_batch_extents(batch, NULL, NULL) == CHOLUPDATE_OK);
    cholupdate_d_batch_free(batch);
    CHECK(cholupdate_d_batch_new(0, 3, NULL, NULL, NULL, NULL, &batch) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_batch_extents(batch, &count, &n) == CHOLUPDATE_OK && count == 0 && n == 3);
    cholupdate_d_batch_free(batch);
}

/* The bits of many matrices do not depend on the number of threads. */
static void threads(void) {
    enum { COUNT = 4000, N = 8 };
    double *a = malloc(sizeof(double) * COUNT * N * N), *v = malloc(sizeof(double) * COUNT * N);
    double *l = calloc(2 * COUNT * N * N, sizeof(double));
    int at, which;
    CHECK(a != NULL && v != NULL && l != NULL);
    for (at = 0; at < COUNT * N * N; at++) a[at] = at % N == at / N % N ? 9 + at % 5 : 1.0 / (1 + at % 7);
    for (at = 0; at < COUNT * N; at++) v[at] = 0.1 * (at % 11);
    for (which = 0; which < 2; which++) {
        cholupdate_options options;
        cholupdate_d_batch *batch = NULL;
        CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
        options.threads = 1 + 2 * which;
        CHECK(cholupdate_d_batch_new(COUNT, N, a, NULL, NULL, &options, &batch) == CHOLUPDATE_OK);
        CHECK(cholupdate_d_batch_downdate(batch, 1, v, NULL, NULL, NULL, NULL) == CHOLUPDATE_OK);
        CHECK(cholupdate_d_batch_to_factors(batch, l + which * COUNT * N * N, NULL) == CHOLUPDATE_OK);
        cholupdate_d_batch_free(batch);
    }
    CHECK(memcmp(l, l + COUNT * N * N, sizeof(double) * COUNT * N * N) == 0);
    free(a);
    free(v);
    free(l);
}

int main(void) {
    cholupdate_d_batch_all();
    cholupdate_s_batch_all();
    refusals();
    threads();
    puts("batch: ok");
    return 0;
}
