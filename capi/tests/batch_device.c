/* Batches in GPU memory: every function in both precisions, and what is refused, through the driver that is loaded as libcuda.so.1. */
#include "cholupdate.h"
#include "driver.h"
#include <math.h>

#define REAL double
#define TYPE cholupdate_d_batch
#define NAME(verb) cholupdate_d_batch_##verb
#include "batch_device.h"
#undef REAL
#undef TYPE
#undef NAME
#define REAL float
#define TYPE cholupdate_s_batch
#define NAME(verb) cholupdate_s_batch_##verb
#include "batch_device.h"

#define NULLS CHOLUPDATE_NULL_POINTER
#define INVALID CHOLUPDATE_INVALID_ARGUMENT

static const double a[8] = {4, 2, 2, 5, 9, 3, 3, 2}, v[4] = {1, 2, 0, 1.5};

static void made(void) {
    const int64_t back[3] = {4, -1, 2}, far[3] = {INT64_MAX, 1, 2}, high[2] = {2, 3};
    const uint64_t there = on_device(a, sizeof a);
    cholupdate_d_batch *batch = NULL;
    cholupdate_options options;
    CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
    options.engine = CHOLUPDATE_OPENCL;
    REFUSED(cholupdate_d_batch_new(2, 2, a, NULL, NULL, &options, &batch), INVALID, "`options.engine` is 3, but must be 0 (CPU) or 2 (CUDA)");
    options.engine = CHOLUPDATE_CUDA;
    options.device = 99;
    REFUSED(cholupdate_d_batch_new(2, 2, a, NULL, NULL, &options, &batch), CHOLUPDATE_UNAVAILABLE, "");
    options.device = -1;
    REFUSED(cholupdate_d_batch_new(2, 2, a, NULL, NULL, &options, &batch), INVALID, "`options.device` is -1");
    options.device = 0;
    REFUSED(cholupdate_d_batch_new(2, 2, NULL, NULL, NULL, &options, &batch), NULLS, "`a`");
    REFUSED(cholupdate_d_batch_new(2, 2, a, NULL, high, &options, &batch), INVALID, "`orders`[1] is 3");
    REFUSED(cholupdate_d_batch_from_factors(2, 2, a, back, &options, &batch), INVALID, "`l_strides[1]` is -1");
    REFUSED(cholupdate_d_batch_new_on_device(2, 2, 0, NULL, NULL, 0, NULL, &batch), NULLS, "`a`");
    REFUSED(cholupdate_d_batch_new_on_device(2, 2, there, NULL, NULL, 0, NULL, NULL), NULLS, "`made`");
    REFUSED(cholupdate_d_batch_new_on_device(-1, 2, there, NULL, NULL, 0, NULL, &batch), INVALID, "`count` is -1");
    REFUSED(cholupdate_d_batch_new_on_device(2, -2, there, NULL, NULL, 0, NULL, &batch), INVALID, "`n` is -2");
    REFUSED(cholupdate_d_batch_new_on_device(2, 2, there, back, NULL, 0, NULL, &batch), INVALID, "`a_strides[1]` is -1, but must be 0 or more");
    REFUSED(cholupdate_d_batch_new_on_device(2, 2, there, far, NULL, 0, NULL, &batch), INVALID, "`a`");
    REFUSED(cholupdate_d_batch_new_on_device(2, 2, there + 1, NULL, NULL, 0, NULL, &batch), INVALID, "`a`");
    REFUSED(cholupdate_d_batch_new_on_device(2, 2, there, NULL, high, 0, NULL, &batch), INVALID, "`orders`[1] is 3");
    REFUSED(cholupdate_d_batch_new_on_device(1, 5000, there, NULL, NULL, 0, NULL, &batch), INVALID, "`a` must be of an order of at most 4096");
    REFUSED(cholupdate_d_batch_new_on_device(2, 2, there, NULL, NULL, -1, NULL, &batch), INVALID, "`device` is -1");
    REFUSED(cholupdate_d_batch_new_on_device(2, 2, there, NULL, NULL, 99, NULL, &batch), CHOLUPDATE_UNAVAILABLE, "");
    REFUSED(cholupdate_d_batch_from_factors_on_device(2, 2, 0, NULL, 0, NULL, &batch), NULLS, "`l`");
    REFUSED(cholupdate_d_batch_from_factors_on_device(2, 2, there, NULL, 0, NULL, NULL), NULLS, "`made`");
    CHECK(batch == NULL);
}

/* What is refused leaves the batch as it was. */
static void refusals(void) {
    const int64_t back[3] = {2, -1, 2}, onto[3] = {0, 1, 2}, outside[1] = {2};
    const double w[1] = {NAN}, b[4] = {1, 2, 3, 4};
    const uint64_t v_there = on_device(v, sizeof v), b_there = on_device(b, sizeof b);
    double l[8] = {0}, again[8] = {0}, x[4] = {1, 2, 3, 4};
    cholupdate_d_batch *batch = NULL, *host = NULL, *other = NULL;
    cholupdate_options options;
    int64_t info[2] = {7, 7};
    uint64_t there = 7;
    CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_batch_new(2, 2, a, NULL, NULL, &options, &host) == CHOLUPDATE_OK);
    options.engine = CHOLUPDATE_CUDA;
    CHECK(cholupdate_d_batch_new(2, 2, a, NULL, NULL, &options, &batch) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_batch_to_factors(batch, l, NULL) == CHOLUPDATE_OK);

    REFUSED(cholupdate_d_batch_update(batch, 1, NULL, NULL, info, NULL, NULL), NULLS, "`v`");
    REFUSED(cholupdate_d_batch_modify(batch, 1, v, NULL, w, 0, NULL, info, NULL, NULL), CHOLUPDATE_NOT_FINITE, "`weights`");
    REFUSED(cholupdate_d_batch_solve(batch, 1, NULL, NULL, info), NULLS, "`b`");
    REFUSED(cholupdate_d_batch_solve(batch, 1, x, onto, info), INVALID, "`b_strides` is [0, 1, 2]");
    REFUSED(cholupdate_d_batch_to_factor(batch, 2, 'L', l, 2), INVALID, "`matrix` is 2");
    REFUSED(cholupdate_d_batch_log_det(batch, NULL, info), NULLS, "`log_det`");

    REFUSED(cholupdate_d_batch_clone(batch, NULL), NULLS, "`copy`");
    REFUSED(cholupdate_d_batch_select(batch, 1, outside, &other), INVALID, "`indices`[0] is 2");
    REFUSED(cholupdate_d_batch_replace(batch, 2, 2, a, 2, 'L'), INVALID, "`matrix` is 2");
    REFUSED(cholupdate_d_batch_replace(batch, 1, 3, a, 3, 'L'), INVALID, "`m` is 3");
    REFUSED(cholupdate_d_batch_replace(batch, 1, 1, w, 1, 'L'), CHOLUPDATE_NOT_FINITE, "`a`");
    REFUSED(cholupdate_d_batch_reserve(batch, 5000), INVALID, "`n` must be at most 4096");
    REFUSED(cholupdate_d_batch_append(batch, v, back, NULL, info, NULL, NULL), INVALID, "`a_strides[1]` is -1");
    REFUSED(cholupdate_d_batch_remove(batch, back + 1, NULL, info, NULL, NULL), INVALID, "`indices[0]` is -1");
    REFUSED(cholupdate_d_batch_append_on_device(NULL, v_there, NULL, NULL, 0, NULL), NULLS, "`batch`");
    REFUSED(cholupdate_d_batch_append_on_device(batch, 0, NULL, NULL, 0, NULL), NULLS, "`a`");
    REFUSED(cholupdate_d_batch_append_on_device(batch, v_there, back, NULL, 0, NULL), INVALID, "`a_strides[1]` is -1");
    REFUSED(cholupdate_d_batch_update_on_device(NULL, 1, v_there, NULL, 0, NULL), NULLS, "`batch`");
    REFUSED(cholupdate_d_batch_update_on_device(batch, 1, 0, NULL, 0, NULL), NULLS, "`v`");
    REFUSED(cholupdate_d_batch_update_on_device(batch, -1, v_there, NULL, 0, NULL), INVALID, "`k` is -1");
    REFUSED(cholupdate_d_batch_update_on_device(batch, 1, v_there + 4, NULL, 0, NULL), INVALID, "`v`");
    REFUSED(cholupdate_d_batch_downdate_on_device(batch, 1, v_there, back, 0, NULL), INVALID, "`v_strides[1]` is -1");
    REFUSED(cholupdate_d_batch_downdate_on_device(batch, INT64_MAX, v_there, NULL, 0, NULL), INVALID, "`v`");
    REFUSED(cholupdate_d_batch_downdate_on_device(batch, 1, v_there, NULL, -1, NULL), INVALID, "`device` is -1");
    REFUSED(cholupdate_d_batch_downdate_on_device(batch, 1, v_there, NULL, 99, NULL), CHOLUPDATE_UNAVAILABLE, "");
    REFUSED(cholupdate_d_batch_modify_on_device(NULL, 1, v_there, NULL, NULL, 0, NULL, 0, NULL), NULLS, "`batch`");
    REFUSED(cholupdate_d_batch_modify_on_device(batch, 1, v_there, NULL, w, 0, NULL, 0, NULL), CHOLUPDATE_NOT_FINITE, "`weights`");
    REFUSED(cholupdate_d_batch_modify_on_device(batch, 2, v_there, NULL, v, 1, NULL, 0, NULL), INVALID, "`weights_stride` is 1");
    REFUSED(cholupdate_d_batch_modify_by_weights_on_device(NULL, 1, v_there, NULL, b_there, 0, 0, NULL), NULLS, "`batch`");
    REFUSED(cholupdate_d_batch_modify_by_weights_on_device(batch, 1, v_there, NULL, 0, 0, 0, NULL), NULLS, "`weights`");
    REFUSED(cholupdate_d_batch_modify_by_weights_on_device(batch, 2, v_there, NULL, b_there, 1, 0, NULL), INVALID, "`weights_stride` is 1");
    REFUSED(cholupdate_d_batch_modify_by_weights_on_device(batch, 1, v_there, NULL, b_there, -1, 0, NULL), INVALID, "`weights_stride` is -1");
    REFUSED(cholupdate_d_batch_modify_by_weights_on_device(batch, 1, v_there, NULL, b_there + 4, 0, 0, NULL), INVALID, "`weights`");
    REFUSED(cholupdate_d_batch_modify_by_weights_on_device(batch, 1, 0, NULL, b_there, 0, 0, NULL), NULLS, "`v`");
    REFUSED(cholupdate_d_batch_solve_on_device(NULL, 1, b_there, NULL, 0, NULL), NULLS, "`batch`");
    REFUSED(cholupdate_d_batch_solve_on_device(batch, 1, 0, NULL, 0, NULL), NULLS, "`b`");
    REFUSED(cholupdate_d_batch_solve_l_on_device(batch, -1, b_there, NULL, 0, NULL), INVALID, "`nrhs` is -1");
    REFUSED(cholupdate_d_batch_solve_lt_on_device(batch, 1, b_there, onto, 0, NULL), INVALID, "`b_strides` is [0, 1, 2]");
    REFUSED(cholupdate_d_batch_to_factors_on_device(batch, 0, NULL, 0, NULL), NULLS, "`l`");
    REFUSED(cholupdate_d_batch_to_factors_on_device(batch, b_there, onto, 0, NULL), INVALID, "`l_strides`");
    REFUSED(cholupdate_d_batch_outcome(NULL, info, NULL, NULL), NULLS, "`batch`");
    REFUSED(cholupdate_d_batch_outcome_addresses(NULL, &there, NULL, NULL), NULLS, "`batch`");
    REFUSED(cholupdate_d_batch_solve_outcome(NULL, info), NULLS, "`batch`");
    REFUSED(cholupdate_d_batch_solve_outcome_address(NULL, &there), NULLS, "`batch`");
    if (gpus() > 1) {
        REFUSED(cholupdate_d_batch_update_on_device(batch, 1, v_there, NULL, 1, NULL), CHOLUPDATE_DEVICE_ERROR, "`v` is on device 1, the batch on device 0");
        REFUSED(cholupdate_d_batch_solve_on_device(batch, 1, b_there, NULL, 1, NULL), CHOLUPDATE_DEVICE_ERROR, "is on device 1");
    }

    /* A batch in host memory takes no arrays on a device. */
    REFUSED(cholupdate_d_batch_update_on_device(host, 1, v_there, NULL, 0, NULL), INVALID, "`batch` is in host memory, but must be in that of a GPU");
    REFUSED(cholupdate_d_batch_modify_by_weights_on_device(host, 1, v_there, NULL, b_there, 0, 0, NULL), INVALID, "`batch` is in host memory");
    REFUSED(cholupdate_d_batch_solve_on_device(host, 1, b_there, NULL, 0, NULL), INVALID, "`batch` is in host memory");
    REFUSED(cholupdate_d_batch_to_factors_on_device(host, b_there, NULL, 0, NULL), INVALID, "`batch` is in host memory");
    REFUSED(cholupdate_d_batch_append_on_device(host, v_there, NULL, NULL, 0, NULL), INVALID, "`batch` is in host memory");
    REFUSED(cholupdate_d_batch_outcome(host, info, NULL, NULL), INVALID, "`batch` is in host memory");
    REFUSED(cholupdate_d_batch_outcome_addresses(host, &there, NULL, NULL), INVALID, "`batch` is in host memory");
    REFUSED(cholupdate_d_batch_solve_outcome(host, info), INVALID, "`batch` is in host memory");
    REFUSED(cholupdate_d_batch_solve_outcome_address(host, &there), INVALID, "`batch` is in host memory");
    CHECK(cholupdate_d_batch_to_factors(batch, again, NULL) == CHOLUPDATE_OK && memcmp(l, again, sizeof l) == 0);
    to_host(x, b_there, sizeof x);
    CHECK(memcmp(x, b, sizeof b) == 0 && info[0] == 7 && info[1] == 7 && there == 7 && other == NULL);
    cholupdate_d_batch_free(batch);
    cholupdate_d_batch_free(host);
}

/* No matrices, no rows, no columns: arrays and results may be NULL. */
static void nothing(void) {
    const int64_t counts[3] = {0, 2, 2}, orders[3] = {3, 0, 2};
    const uint64_t there = on_device(a, sizeof a);
    int at;
    for (at = 0; at < 3; at++) {
        const int64_t count = counts[at], n = orders[at], none = at < 2 ? 2 : 0;
        const uint64_t matrices = at < 2 ? 0 : there;
        cholupdate_d_batch *batch = NULL;
        double ratio[2] = {7, 7}, log_det[2];
        int64_t info[2] = {7, 7}, found[2] = {7, 7};
        CHECK(cholupdate_d_batch_new_on_device(count, n, matrices, NULL, NULL, 0, NULL, &batch) == CHOLUPDATE_OK);
        CHECK(cholupdate_d_batch_extents(batch, &found[0], &found[1]) == CHOLUPDATE_OK && found[0] == count && found[1] == n);
        CHECK(cholupdate_d_batch_update(batch, none, NULL, NULL, NULL, NULL, NULL) == CHOLUPDATE_OK);
        CHECK(cholupdate_d_batch_downdate_on_device(batch, none, 0, NULL, 0, NULL) == CHOLUPDATE_OK);
        CHECK(cholupdate_d_batch_outcome(batch, info, ratio, NULL) == CHOLUPDATE_OK);
        CHECK(ratio[0] == (count > 0 ? 1 : 7) && info[0] == (count > 0 ? 0 : 7));
        CHECK(cholupdate_d_batch_outcome_addresses(batch, NULL, NULL, NULL) == CHOLUPDATE_OK);
        CHECK(cholupdate_d_batch_solve(batch, none, NULL, NULL, NULL) == CHOLUPDATE_OK);
        CHECK(cholupdate_d_batch_solve_on_device(batch, none, 0, NULL, 0, NULL) == CHOLUPDATE_OK);
        CHECK(cholupdate_d_batch_solve_outcome(batch, NULL) == CHOLUPDATE_OK);
        CHECK(cholupdate_d_batch_log_det(batch, log_det, NULL) == CHOLUPDATE_OK && (at != 1 || log_det[1] == 0));
        CHECK(cholupdate_d_batch_status(batch, NULL) == CHOLUPDATE_OK);
        CHECK(at == 2 || cholupdate_d_batch_to_factors_on_device(batch, 0, NULL, 0, NULL) == CHOLUPDATE_OK);
        cholupdate_d_batch_free(batch);
    }
}

static void *current(void) {
    int (*get)(void **);
    void *found = named("cuCtxGetCurrent"), *now = NULL;
    memcpy(&get, &found, sizeof found);
    CHECK(get(&now) == 0);
    return now;
}

/* Calls on the last GPU leave the context current that is so, or none. */
static void elsewhere(void) {
    void *const before[2] = {context, NULL};
    int which;
    for (which = 0; which < 2; which++) {
        cholupdate_d_batch *batch = NULL;
        cholupdate_d *factor = NULL;
        cholupdate_options options;
        CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
        options.engine = CHOLUPDATE_CUDA;
        options.device = gpus() - 1;
        turn_to(before[which]);
        CHECK(cholupdate_d_batch_new(2, 2, a, NULL, NULL, &options, &batch) == CHOLUPDATE_OK && current() == before[which]);
        CHECK(cholupdate_d_batch_update(batch, 1, v, NULL, NULL, NULL, NULL) == CHOLUPDATE_OK && current() == before[which]);
        cholupdate_d_batch_free(batch);
        CHECK(current() == before[which]);
        CHECK(cholupdate_d_new(2, a, 2, 'L', &options, &factor) == CHOLUPDATE_OK && current() == before[which]);
        CHECK(cholupdate_d_update(factor, 1, v, 2, NULL) == CHOLUPDATE_OK && current() == before[which]);
        cholupdate_d_free(factor);
        CHECK(current() == before[which]);
    }
}

/* A call that fails on the device makes no batch, whichever of its calls of the driver it is. Only the fake driver does so when told to. */
static void failing(void) {
    void (*fail)(uint64_t, uint64_t, int);
    void *found = dlsym(driver, "fake_cuda_fail_calls");
    cholupdate_options options;
    int refused = 0;
    uint64_t before;
    if (found == NULL) return;
    memcpy(&fail, &found, sizeof found);
    CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
    options.engine = CHOLUPDATE_CUDA;
    for (before = 0; before < 100; before++) {
        cholupdate_d_batch *batch = NULL;
        cholupdate_status status;
        fail(before, 1, 1);
        status = cholupdate_d_batch_new(2, 2, a, NULL, NULL, &options, &batch);
        fail(0, 0, 0);
        CHECK((status == CHOLUPDATE_OK) == (batch != NULL));
        refused += batch == NULL;
        cholupdate_d_batch_free(batch);
    }
    CHECK(refused > 0 && refused < 100);
}

int main(void) {
    load_driver();
    made();
    cholupdate_d_batch_all();
    cholupdate_s_batch_all();
    refusals();
    nothing();
    elsewhere();
    failing();
    puts("batch_device: ok");
    return 0;
}
