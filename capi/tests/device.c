/* Factors on the GPU engines, and V and B in GPU memory, through the driver that is loaded as libcuda.so.1. */
#include "cholupdate.h"
#include "driver.h"

#define N 40
#define K 3

/* Of CHOLUPDATE_DISTRIBUTED. */
static int devices = 1;

static double apart(double a, double b) { return a > b ? a - b : b - a; }

/* A modification and a solve that may be in flight, and a modification that breaks down: the solve is then with the old A. */
static void in_flight(cholupdate_d *factor, cholupdate_d *host, uint64_t v_there, const double *b) {
    static double v[N * K], x[N], expected[N];
    const double far[K] = {-1e6, 0, 0};
    cholupdate_d_pending *pending = NULL;
    cholupdate_status status, solved = CHOLUPDATE_INTERNAL;
    uint64_t b_there = on_device(b, N * sizeof *b);
    int i;
    to_host(v, v_there, sizeof v);
    CHECK(cholupdate_d_submit_on_device(factor, K, v_there, N, NULL, 0, NULL, &pending) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_pending_solve_on_device(pending, 1, b_there, N, 0, NULL, NULL, &solved) == CHOLUPDATE_OK);
    CHECK(solved == CHOLUPDATE_OK);
    cholupdate_d_pending_free(pending);
    CHECK(cholupdate_d_update(host, K, v, N, NULL) == CHOLUPDATE_OK);
    memcpy(expected, b, sizeof expected);
    CHECK(cholupdate_d_solve(host, 1, expected, N) == CHOLUPDATE_OK);
    to_host(x, b_there, sizeof x);
    for (i = 0; i < N; i++) CHECK(apart(x[i], expected[i]) < 1e-13);

    pending = NULL;
    memcpy(x, b, sizeof x);
    status = cholupdate_d_submit(factor, K, v, N, far, &pending);
    if (status == CHOLUPDATE_OK) {
        status = cholupdate_d_pending_solve(pending, 1, x, N, NULL, &solved);
        CHECK(solved == CHOLUPDATE_OK);
        for (i = 0; i < N; i++) CHECK(apart(x[i], expected[i]) < 1e-13);
    }
    CHECK(status == CHOLUPDATE_NOT_POSITIVE_DEFINITE && cholupdate_last_error_column() >= 0);
    cholupdate_d_pending_free(pending);

    /* A freed pending modification is completed, in any order of frees. */
    CHECK(cholupdate_d_clone(host, &host) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_submit(factor, K, v, N, NULL, &pending) == CHOLUPDATE_OK);
    cholupdate_d_pending_free(pending);
    CHECK(cholupdate_d_update(host, K, v, N, NULL) == CHOLUPDATE_OK);
    memcpy(expected, b, sizeof expected);
    CHECK(cholupdate_d_solve(host, 1, expected, N) == CHOLUPDATE_OK);
    memcpy(x, b, sizeof x);
    CHECK(cholupdate_d_solve(factor, 1, x, N) == CHOLUPDATE_OK);
    for (i = 0; i < N; i++) CHECK(apart(x[i], expected[i]) < 1e-13);
    cholupdate_d_free(host);
    CHECK(cholupdate_d_clone(factor, &host) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_submit(host, K, v, N, NULL, &pending) == CHOLUPDATE_OK);
    cholupdate_d_free(host);
    CHECK(cholupdate_d_pending_wait(pending, NULL) == CHOLUPDATE_OK);
    cholupdate_d_pending_free(pending);
}

static void engine(int32_t name) {
    static double a[N * N], v[N * K], b[N], x[N], expected[N];
    const double weights[K] = {1, 2, -0.5};
    cholupdate_d *host = NULL, *factor = NULL;
    cholupdate_options options;
    cholupdate_report report[2];
    uint64_t v_there, b_there;
    int i;
    for (i = 0; i < N * N; i++) a[i] = i % (N + 1) == 0 ? 50 : 1.0 / (1 + i % 7);
    for (i = 0; i < N * K; i++) v[i] = (i * 7 % 11) / 11.0 - 0.4;
    for (i = 0; i < N; i++) b[i] = i % 5 - 1.5;
    CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
    options.engine = name;
    options.devices = name == CHOLUPDATE_DISTRIBUTED ? devices : 1;
    CHECK(cholupdate_d_new(N, a, N, 'L', NULL, &host) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_to_engine(host, &options, &factor) == CHOLUPDATE_OK);
    v_there = on_device(v, sizeof v);
    CHECK(cholupdate_d_modify(host, K, v, N, weights, &report[0]) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_modify_on_device(factor, K, v_there, N, weights, 0, NULL, &report[1]) == CHOLUPDATE_OK);
    CHECK(apart(report[0].log_det_change, report[1].log_det_change) < 1e-12);
    CHECK(cholupdate_d_modify(host, K, v, N, weights, NULL) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_modify(factor, K, v, N, weights, NULL) == CHOLUPDATE_OK);

    memcpy(expected, b, sizeof b);
    CHECK(cholupdate_d_solve(host, 1, expected, N) == CHOLUPDATE_OK);
    b_there = on_device(b, sizeof b);
    CHECK(cholupdate_d_solve_l_on_device(factor, 1, b_there, N, 0, NULL) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_solve_lt_on_device(factor, 1, b_there, N, 0, NULL) == CHOLUPDATE_OK);
    to_host(x, b_there, sizeof x);
    for (i = 0; i < N; i++) CHECK(apart(x[i], expected[i]) < 1e-13);
    b_there = on_device(b, sizeof b);
    CHECK(cholupdate_d_solve_on_device(factor, 1, b_there, N, 0, NULL) == CHOLUPDATE_OK);
    to_host(x, b_there, sizeof x);
    for (i = 0; i < N; i++) CHECK(apart(x[i], expected[i]) < 1e-13);
    in_flight(factor, host, v_there, b);
    REFUSED(cholupdate_d_modify_on_device(factor, K, v_there, N - 1, weights, 0, NULL, NULL), CHOLUPDATE_INVALID_ARGUMENT, "`ldv`");
    options.device = 99;
    REFUSED(cholupdate_d_to_engine(host, &options, &host), CHOLUPDATE_UNAVAILABLE, "");
    cholupdate_d_free(factor);
    cholupdate_d_free(host);
}

/* Whether there is an OpenCL device. */
static int opencl(void) {
    const char *required = getenv("CHOLUPDATE_REQUIRE_OPENCL");
    cholupdate_d *factor = NULL;
    cholupdate_options options;
    cholupdate_status status;
    CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
    options.engine = CHOLUPDATE_OPENCL;
    status = cholupdate_d_new(0, NULL, 0, 'L', &options, &factor);
    cholupdate_d_free(factor);
    CHECK(status == CHOLUPDATE_OK || status == CHOLUPDATE_UNAVAILABLE);
    CHECK(status == CHOLUPDATE_OK || required == NULL || strcmp(required, "1") != 0);
    return status == CHOLUPDATE_OK;
}

int main(void) {
    load_driver();
    engine(CHOLUPDATE_HYBRID);
    engine(CHOLUPDATE_CUDA);
    devices = gpus() > 2 ? 2 : gpus();
    engine(CHOLUPDATE_DISTRIBUTED);
    if (opencl()) engine(CHOLUPDATE_OPENCL);
    puts("device: ok");
    return 0;
}
