/* Processes forked by a process that has used the library, as in prefork servers. */
#define _POSIX_C_SOURCE 200809L
#include "cholupdate.h"
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 900, RANK = 16 };

/* L of a new factor, or of an existing one, after some calls that use several threads if available. */
static void work(cholupdate_d *factor, int64_t n, int64_t threads, double *l) {
    static double a[MOST * MOST], v[MOST * RANK], b[MOST * RANK];
    cholupdate_options options;
    cholupdate_d *own = NULL;
    int64_t i;
    for (i = 0; i < n * n; i++) a[i] = i % (n + 1) == 0 ? (double)n : 1.0 / (double)(1 + i % 7);
    for (i = 0; i < n * RANK; i++) b[i] = v[i] = (double)(i * 7 % 11) / 11.0 - 0.4;
    CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
    options.threads = threads;
    if (factor == NULL) {
        CHECK(cholupdate_d_new(n, a, n, 'L', &options, &own) == CHOLUPDATE_OK);
        factor = own;
    }
    CHECK(cholupdate_d_update(factor, RANK, v, n, NULL) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_downdate(factor, 1, v, n, NULL) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_solve(factor, RANK, b, n) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_modify_array('L', n, a, n, 1, v, n, NULL, NULL, NULL) == CHOLUPDATE_OK);
    CHECK(cholupdate_d_to_factor(factor, 'L', l, n) == CHOLUPDATE_OK);
    cholupdate_d_free(own);
}

static double wanted[MOST * MOST], found[MOST * MOST];

/* A child that takes a minute hangs. */
static void in_child(cholupdate_d *factor, int64_t n, int64_t threads) {
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        memset(found, 0, sizeof found);
        work(factor, n, threads, found);
        _exit(memcmp(found, wanted, sizeof found) == 0 ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
    const int64_t orders[2] = {100, MOST}, threads[3] = {0, 1, 4};
    int i, j;
    for (i = 0; i < 2; i++) {
        const int64_t n = orders[i];
        cholupdate_d *factor = NULL;
        memset(wanted, 0, sizeof wanted);
        work(NULL, n, 0, wanted);
        for (j = 0; j < 3; j++) in_child(NULL, n, threads[j]);
        /* A factor from before the fork. */
        CHECK(cholupdate_d_from_factor(n, wanted, n, 'L', NULL, &factor) == CHOLUPDATE_OK);
        {
            cholupdate_d *same = NULL;
            CHECK(cholupdate_d_clone(factor, &same) == CHOLUPDATE_OK);
            work(same, n, 0, wanted);
            cholupdate_d_free(same);
        }
        in_child(factor, n, 0);
        /* Of threads that the parent keeps awake. */
        CHECK(cholupdate_keep_awake(4) == CHOLUPDATE_OK);
        for (j = 0; j < 3; j++) in_child(factor, n, threads[j]);
        CHECK(cholupdate_let_sleep() == CHOLUPDATE_OK);
        cholupdate_d_free(factor);
    }
    puts("fork: ok");
    return 0;
}
