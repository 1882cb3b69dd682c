/* NULL and invalid arguments are refused by name, and nothing changes. */
#include "cholupdate.h"
#include "check.h"
#include <math.h>

#define NULLS CHOLUPDATE_NULL_POINTER
#define INVALID CHOLUPDATE_INVALID_ARGUMENT

static void making(void) {
    const double a[4] = {4, 2, 2, 5}, nan_entry[4] = {4, NAN, 2, 5}, indefinite[4] = {1, 2, 2, 1}, huge[4] = {1e200, 0, 0, 1.7e308};
    cholupdate_d *factor = NULL;
    cholupdate_options options;
    REFUSED(cholupdate_d_new(2, NULL, 2, 'L', NULL, &factor), NULLS, "`a`");
    REFUSED(cholupdate_d_new(2, a, 2, 'L', NULL, NULL), NULLS, "`factor`");
    REFUSED(cholupdate_d_new(-1, a, 2, 'L', NULL, &factor), INVALID, "`n` is -1");
    REFUSED(cholupdate_d_new(2, a, 1, 'L', NULL, &factor), INVALID, "`lda` is 1");
    REFUSED(cholupdate_d_new(2, a, INT64_MIN, 'L', NULL, &factor), INVALID, "`lda`");
    REFUSED(cholupdate_d_new(INT64_MAX, a, INT64_MAX, 'L', NULL, &factor), INVALID, "`a`");
    REFUSED(cholupdate_d_new(2, a, 2, 'X', NULL, &factor), INVALID, "`uplo` is 'X'");
    REFUSED(cholupdate_d_new(2, (const double *)(const void *)((const char *)a + 1), 2, 'L', NULL, &factor), INVALID, "`a`");
    REFUSED(cholupdate_d_new(2, nan_entry, 2, 'L', NULL, &factor), CHOLUPDATE_NOT_FINITE, "`a`");
    REFUSED(cholupdate_d_new(2, indefinite, 2, 'L', NULL, &factor), CHOLUPDATE_NOT_POSITIVE_DEFINITE, "column 1");
    CHECK(cholupdate_last_error_column() == 1);
    REFUSED(cholupdate_d_from_factor(2, huge, 2, 'L', NULL, &factor), CHOLUPDATE_OVERFLOW, "`l`");
    CHECK(cholupdate_last_error_column() == -1);

    REFUSED(cholupdate_d_zeros(-1, NULL, &factor), INVALID, "`n` is -1");
    REFUSED(cholupdate_d_zeros((int64_t)1 << 28, NULL, &factor), INVALID, "`n` is 268435456");
    REFUSED(cholupdate_d_zeros(INT64_MAX, NULL, &factor), INVALID, "`n` is");
    REFUSED(cholupdate_d_zeros(2, NULL, NULL), NULLS, "`factor`");

    REFUSED(cholupdate_options_init(NULL), NULLS, "`options`");
    CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK && options.size == sizeof options);
    options.size = 3;
    REFUSED(cholupdate_d_new(2, a, 2, 'L', &options, &factor), INVALID, "`options.size`");
    options.size = sizeof options;
    options.engine = 9;
    REFUSED(cholupdate_d_new(2, a, 2, 'L', &options, &factor), INVALID, "`options.engine` is 9");
    options.engine = CHOLUPDATE_CPU;
    options.devices = 2;
    REFUSED(cholupdate_d_new(2, a, 2, 'L', &options, &factor), INVALID, "`options.devices` is 2");
    options.engine = CHOLUPDATE_DISTRIBUTED;
    options.devices = 0;
    REFUSED(cholupdate_d_new(2, a, 2, 'L', &options, &factor), INVALID, "`options.devices` is 0");
    options.devices = 1;
    options.safeguard = CHOLUPDATE_SAFEGUARD_DRY_RUN;
    REFUSED(cholupdate_d_new(2, a, 2, 'L', &options, &factor), INVALID, "`options.safeguard` is 1");
    options.safeguard = CHOLUPDATE_SAFEGUARD_SHADOW_BUFFER;
    options.engine = CHOLUPDATE_CPU;
    options.safeguard = -2;
    REFUSED(cholupdate_d_new(2, a, 2, 'L', &options, &factor), INVALID, "`options.safeguard`");
    options.safeguard = CHOLUPDATE_SAFEGUARD_DRY_RUN;
    options.threads = -1;
    REFUSED(cholupdate_d_new(2, a, 2, 'L', &options, &factor), INVALID, "`options.threads`");
    options.threads = 1;
    options.device = -1;
    REFUSED(cholupdate_d_new(2, a, 2, 'L', &options, &factor), INVALID, "`options.device`");
    CHECK(factor == NULL);
    options.device = 0;
    CHECK(cholupdate_d_new(2, a, 2, 'L', &options, &factor) == CHOLUPDATE_OK);
    cholupdate_d_free(factor);
    /* Without a GPU the GPU engines return an error that says so; with a GPU they work. */
    options.safeguard = CHOLUPDATE_SAFEGUARD_SHADOW_BUFFER;
    options.engine = CHOLUPDATE_CUDA;
    factor = NULL;
    if (cholupdate_d_new(2, a, 2, 'L', &options, &factor) != CHOLUPDATE_OK) {
        REFUSED(cholupdate_d_new(2, a, 2, 'L', &options, &factor), CHOLUPDATE_UNAVAILABLE, "");
        CHECK(factor == NULL);
    }
    cholupdate_d_free(factor);
}

/* `x` is a valid column or number, `v` and `w` are not finite. */
static void loops(cholupdate_d *factor, const double *x, const double *v, const double *w, double *b) {
    cholupdate_d_pending *pending = NULL;
    cholupdate_d_extension *extension = NULL;
    double estimate = 7, number = 7;
    int32_t needs = 7;
    REFUSED(cholupdate_d_modify_scaled(NULL, 1, 1, x, 2, x, NULL), NULLS, "`factor`");
    REFUSED(cholupdate_d_modify_scaled(factor, 0, 1, x, 2, x, NULL), INVALID, "`decay`");
    REFUSED(cholupdate_d_modify_scaled(factor, 1.5, 1, x, 2, x, NULL), INVALID, "`decay`");
    REFUSED(cholupdate_d_modify_scaled(factor, NAN, 1, x, 2, x, NULL), INVALID, "`decay`");
    REFUSED(cholupdate_d_modify_scaled(factor, 1, -1, x, 2, x, NULL), INVALID, "`k` is -1");
    REFUSED(cholupdate_d_modify_scaled(factor, 1, 1, v, 2, x, NULL), CHOLUPDATE_NOT_FINITE, "`v`");
    REFUSED(cholupdate_d_modify_scaled(factor, 1, 1, x, 2, w, NULL), CHOLUPDATE_NOT_FINITE, "`weights`");
    REFUSED(cholupdate_d_carry(NULL, 1, b, 2, b + 2), NULLS, "`factor`");
    REFUSED(cholupdate_d_carry(factor, -1, b, 2, b + 2), INVALID, "`m` is -1");
    REFUSED(cholupdate_d_carry(factor, 1, NULL, 2, b + 2), NULLS, "`b`");
    REFUSED(cholupdate_d_carry(factor, 1, b, 2, NULL), NULLS, "`sums`");
    /* Copies that exceed the memory. */
    REFUSED(cholupdate_d_carry(factor, (int64_t)1 << 40, b, 2, b + 2), INVALID, "`m` is");
    REFUSED(cholupdate_d_modify_carrying(factor, 1, 0, NULL, 2, NULL, INT64_MAX, NULL, 0, b, 2, b + 2, NULL), INVALID, "`m` is");
    REFUSED(cholupdate_d_modify_carrying(factor, 1, 1, x, 2, x, 1, NULL, 1, b, 2, b + 2, NULL), NULLS, "`y`");
    REFUSED(cholupdate_d_modify_carrying(factor, 1, 1, x, 2, x, 1, x, 0, b, 2, b + 2, NULL), INVALID, "`ldy` is 0");
    REFUSED(cholupdate_d_modify_carrying(factor, 1, 1, x, 2, x, 1, x, 1, NULL, 2, b + 2, NULL), NULLS, "`z`");
    REFUSED(cholupdate_d_modify_carrying(factor, 1, 1, x, 2, x, 1, x, 1, b, 2, NULL, NULL), NULLS, "`squares`");
    REFUSED(cholupdate_d_modify_carrying(factor, 1, 1, x, 2, x, -2, x, 1, b, 2, b + 2, NULL), INVALID, "`m` is -2");
    REFUSED(cholupdate_d_modify_carrying(factor, 1, 1, x, 2, x, 1, w, 1, b, 2, b + 2, NULL), CHOLUPDATE_NOT_FINITE, "`y`");
    REFUSED(cholupdate_d_submit(NULL, 1, x, 2, NULL, &pending), NULLS, "`factor`");
    REFUSED(cholupdate_d_submit(factor, 1, x, 2, NULL, NULL), NULLS, "`pending`");
    REFUSED(cholupdate_d_submit(factor, 1, v, 2, NULL, &pending), CHOLUPDATE_NOT_FINITE, "`v`");
    REFUSED(cholupdate_d_submit_on_device(factor, 1, 0, 2, NULL, 0, NULL, &pending), NULLS, "`v`");
    REFUSED(cholupdate_d_pending_wait(NULL, NULL), NULLS, "`pending`");
    REFUSED(cholupdate_d_pending_solve(NULL, 1, b, 2, NULL, NULL), NULLS, "`pending`");
    REFUSED(cholupdate_d_pending_solve_on_device(NULL, 1, 0, 2, 0, NULL, NULL, NULL), NULLS, "`pending`");
    REFUSED(cholupdate_d_error_estimate(NULL, &estimate), NULLS, "`factor`");
    REFUSED(cholupdate_d_error_estimate(factor, NULL), NULLS, "`estimate`");
    REFUSED(cholupdate_d_needs_refactor(factor, -1, 1, &needs), INVALID, "`max_error` is -1");
    REFUSED(cholupdate_d_needs_refactor(factor, NAN, 1, &needs), INVALID, "`max_error` is NaN");
    REFUSED(cholupdate_d_needs_refactor(factor, 0, -1, &needs), INVALID, "`max_modifications` is -1");
    REFUSED(cholupdate_d_needs_refactor(factor, 0, 1, NULL), NULLS, "`needs`");
    REFUSED(cholupdate_d_extension_new(factor, 1, NULL, 2, x, 1, 'L', &extension), NULLS, "`cross`");
    REFUSED(cholupdate_d_extension_new(factor, 1, x, 2, NULL, 1, 'L', &extension), NULLS, "`corner`");
    REFUSED(cholupdate_d_extension_new(factor, 1, x, 2, x, 1, 'L', NULL), NULLS, "`extension`");
    REFUSED(cholupdate_d_extension_new(factor, 1, x, 2, w, 1, 'L', &extension), CHOLUPDATE_NOT_FINITE, "`corner`");
    REFUSED(cholupdate_d_extension_solve(factor, NULL, 1, b, 3), NULLS, "`extension`");
    REFUSED(cholupdate_d_extension_order(NULL, NULL), NULLS, "`extension`");
    CHECK(cholupdate_d_extension_new(factor, 1, x, 2, x + 2, 1, 'L', &extension) == CHOLUPDATE_OK);
    REFUSED(cholupdate_d_extension_solve(factor, extension, 1, b, 2), INVALID, "`ldb` is 2");
    REFUSED(cholupdate_d_extension_solve(NULL, extension, 1, b, 3), NULLS, "`factor`");
    REFUSED(cholupdate_d_extension_log_det(factor, extension, NULL), NULLS, "`log_det`");
    REFUSED(cholupdate_d_extension_corner(extension, 'L', &number, 0), INVALID, "`ldcorner` is 0");
    REFUSED(cholupdate_d_extension_corner(extension, '?', &number, 1), INVALID, "`uplo`");
    cholupdate_d_extension_free(extension);
    CHECK(pending == NULL && estimate == 7 && number == 7 && needs == 7);
}

static void using(void) {
    const double a[4] = {4, 2, 2, 5}, v[2] = {1, INFINITY}, w[1] = {NAN}, x[3] = {1, 2, 9};
    const int64_t twice[2] = {1, 1}, negative[1] = {-1}, beyond[1] = {2};
    cholupdate_d *factor = NULL;
    cholupdate_d_workspace *workspace = NULL;
    cholupdate_options options;
    double b[4] = {1, 2, 3, 4};
    int32_t can = 7;
    int64_t n = 7;
    CHECK(cholupdate_d_new(2, a, 2, 'L', NULL, &factor) == CHOLUPDATE_OK);
    REFUSED(cholupdate_d_update(NULL, 1, v, 2, NULL), NULLS, "`factor`");
    REFUSED(cholupdate_d_update(factor, 1, NULL, 2, NULL), NULLS, "`v`");
    REFUSED(cholupdate_d_update(factor, -1, v, 2, NULL), INVALID, "`k` is -1");
    REFUSED(cholupdate_d_update(factor, 1, v, 1, NULL), INVALID, "`ldv` is 1");
    REFUSED(cholupdate_d_update(factor, 1, v, 2, NULL), CHOLUPDATE_NOT_FINITE, "`v`");
    REFUSED(cholupdate_d_downdate(NULL, 1, v, 2, NULL), NULLS, "`factor`");
    REFUSED(cholupdate_d_modify(factor, 1, x, 2, w, NULL), CHOLUPDATE_NOT_FINITE, "`weights`");
    REFUSED(cholupdate_d_can_downdate(factor, 1, x, 2, NULL), NULLS, "`can`");
    REFUSED(cholupdate_d_can_downdate(factor, 1, v, 2, &can), CHOLUPDATE_NOT_FINITE, "`v`");
    REFUSED(cholupdate_d_append(factor, 1, NULL, 2, x, 1, 'L', NULL), NULLS, "`cross`");
    REFUSED(cholupdate_d_append(factor, 1, x, 2, NULL, 1, 'L', NULL), NULLS, "`corner`");
    REFUSED(cholupdate_d_append(factor, 1, x, 2, x, 1, 'Q', NULL), INVALID, "`uplo`");
    REFUSED(cholupdate_d_append(factor, 1, x + 1, 2, x, 1, 'L', NULL), CHOLUPDATE_NOT_POSITIVE_DEFINITE, "column 2");
    REFUSED(cholupdate_d_insert(factor, 3, 1, x, 3, NULL), INVALID, "`at` is 3");
    REFUSED(cholupdate_d_insert(factor, -3, 1, x, 3, NULL), INVALID, "`at` is -3");
    REFUSED(cholupdate_d_insert(factor, 0, 1, x, 2, NULL), INVALID, "`ldcolumns` is 2");
    REFUSED(cholupdate_d_insert(factor, 0, INT64_MAX, x, INT64_MAX, NULL), INVALID, "columns`");
    REFUSED(cholupdate_d_remove(factor, 2, twice, NULL), INVALID, "`indices`");
    REFUSED(cholupdate_d_remove(factor, 1, negative, NULL), INVALID, "`indices[0]` is -1");
    REFUSED(cholupdate_d_remove(factor, 1, beyond, NULL), INVALID, "`indices`");
    REFUSED(cholupdate_d_remove(factor, 1, NULL, NULL), NULLS, "`indices`");
    REFUSED(cholupdate_d_replace(factor, 2, 1, x, 2, NULL), INVALID, "`at`");
    REFUSED(cholupdate_d_shift(factor, 0, 2, NULL), INVALID, "`to`");
    REFUSED(cholupdate_d_permute(factor, twice, NULL), INVALID, "`order`");
    REFUSED(cholupdate_d_permute(factor, NULL, NULL), NULLS, "`order`");
    REFUSED(cholupdate_d_reserve(factor, INT64_MAX), INVALID, "`additional`");
    REFUSED(cholupdate_d_solve(factor, 1, NULL, 2), NULLS, "`b`");
    REFUSED(cholupdate_d_solve(factor, -1, b, 2), INVALID, "`nrhs`");
    REFUSED(cholupdate_d_solve_l(NULL, 1, b, 2), NULLS, "`factor`");
    REFUSED(cholupdate_d_solve_lt(factor, 1, b, 1), INVALID, "`ldb`");
    REFUSED(cholupdate_d_multiply(factor, 1, b, 1), INVALID, "`ldx`");
    REFUSED(cholupdate_d_multiply_l(NULL, 1, b, 2), NULLS, "`factor`");
    REFUSED(cholupdate_d_log_det(factor, NULL), NULLS, "`log_det`");
    REFUSED(cholupdate_d_condition(factor, NULL), NULLS, "`condition`");
    REFUSED(cholupdate_d_order(NULL, &n), NULLS, "`factor`");
    REFUSED(cholupdate_d_order(factor, NULL), NULLS, "`n`");
    REFUSED(cholupdate_d_to_factor(factor, 'L', b, 1), INVALID, "`ldl`");
    REFUSED(cholupdate_d_to_factor(factor, 'l' + 1, b, 2), INVALID, "`uplo`");
    REFUSED(cholupdate_d_clone(factor, NULL), NULLS, "`copy`");
    REFUSED(cholupdate_d_to_engine(NULL, NULL, &factor), NULLS, "`factor`");
    REFUSED(cholupdate_d_modify_on_device(factor, 1, 0, 2, NULL, -1, NULL, NULL), INVALID, "`device`");
    REFUSED(cholupdate_d_solve_on_device(factor, 1, 0, 1, 0, NULL), INVALID, "`ldb`");
    REFUSED(cholupdate_d_modify_on_device(factor, 1, 0, 2, NULL, 0, NULL, NULL), NULLS, "`v`");
    REFUSED(cholupdate_d_solve_on_device(factor, 1, 12, 2, 0, NULL), INVALID, "`b`");
    REFUSED(cholupdate_d_modify_array('L', 2, b, 2, 1, x, 2, w, NULL, NULL), CHOLUPDATE_NOT_FINITE, "`weights`");
    REFUSED(cholupdate_d_modify_array('L', 2, NULL, 2, 1, x, 2, x, NULL, NULL), NULLS, "`l`");
    loops(factor, x, v, w, b);
    CHECK(can == 7 && n == 7 && b[0] == 1 && b[1] == 2 && b[2] == 3 && b[3] == 4);

    CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
    options.engine = CHOLUPDATE_HYBRID;
    REFUSED(cholupdate_d_workspace_new(&options, &workspace), INVALID, "`options.engine`");
    options.engine = CHOLUPDATE_OPENCL;
    REFUSED(cholupdate_d_workspace_new(&options, &workspace), INVALID, "`options.engine`");
    options.engine = CHOLUPDATE_DISTRIBUTED;
    REFUSED(cholupdate_d_workspace_new(&options, &workspace), INVALID, "`options.engine`");
    options.engine = 5;
    REFUSED(cholupdate_d_workspace_new(&options, &workspace), INVALID, "`options.engine`");
    REFUSED(cholupdate_d_workspace_new(NULL, NULL), NULLS, "`workspace`");

    /* NULL may be freed, and empty arrays may be NULL. */
    cholupdate_d_free(NULL);
    cholupdate_d_workspace_free(NULL);
    CHECK(cholupdate_d_update(factor, 0, NULL, 2, NULL) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_solve(factor, 0, NULL, 2) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_remove(factor, 0, NULL, NULL) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_order(factor, &n) == CHOLUPDATE_OK && n == 2);
    cholupdate_d_free(factor);
    CHECK(cholupdate_d_new(0, NULL, 0, 'L', NULL, &factor) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_order(factor, &n) == CHOLUPDATE_OK && n == 0);
    cholupdate_d_free(factor);

    /* Without a safeguard a breakdown loses the factor. */
    CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
    options.safeguard = CHOLUPDATE_SAFEGUARD_NONE;
    CHECK(cholupdate_d_new(2, a, 2, 'L', &options, &factor) == CHOLUPDATE_OK);
    { const double far[2] = {0.5, 40}; REFUSED(cholupdate_d_downdate(factor, 1, far, 2, NULL), CHOLUPDATE_NOT_POSITIVE_DEFINITE, "column 1"); }
    REFUSED(cholupdate_d_update(factor, 1, x, 2, NULL), CHOLUPDATE_POISONED, "lost");
    cholupdate_d_free(factor);
}

static void messages(void) {
    char said[6] = "xxxxx";
    REFUSED(cholupdate_d_update(NULL, 1, NULL, 2, NULL), NULLS, "NULL");
    cholupdate_last_error(said, 5);
    CHECK(strcmp(said, "`fac") == 0 && said[5] == 0);
    cholupdate_last_error(NULL, 5);
    cholupdate_last_error(said, 0);
    cholupdate_last_error(said, 1);
    CHECK(said[0] == 0);
}

static void awake(void) {
    REFUSED(cholupdate_let_sleep(), INVALID, "cholupdate_keep_awake() was not called on this thread");
    REFUSED(cholupdate_keep_awake(-1), INVALID, "`threads` is -1, but must be 0 or more");
    CHECK(cholupdate_keep_awake(0) == CHOLUPDATE_OK);
    CHECK(cholupdate_keep_awake(INT64_MAX) == CHOLUPDATE_OK);
    making();
    CHECK(cholupdate_let_sleep() == CHOLUPDATE_OK);
    CHECK(cholupdate_let_sleep() == CHOLUPDATE_OK);
    REFUSED(cholupdate_let_sleep(), INVALID, "cholupdate_keep_awake()");
}

int main(void) {
    making();
    using();
    awake();
    messages();
    puts("refusals: ok");
    return 0;
}
