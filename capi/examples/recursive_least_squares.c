/* Recursive least squares with forgetting, for a changing line. Each observation is a rank-1 update that also updates X^T y and the
 * residual, and needs_refactor says when to factor again. */
#include <cholupdate.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program where a call did not do what it was asked. */
static void must(cholupdate_status status) {
    if (status != CHOLUPDATE_OK) {
        char message[256];
        cholupdate_last_error(message, sizeof message);
        fprintf(stderr, "%s: %s\n", cholupdate_status_string(status), message);
        exit(EXIT_FAILURE);
    }
}

int main(void) {
    const double prior[4] = {1e-6, 0, 0, 1e-6}, decay = 0.95;
    double z[2] = {0, 0}, squares[1] = {0}, line[2] = {0, 0}, slope = 0;
    cholupdate_d *factor = NULL;
    int32_t stale = 0;
    int step;

    must(cholupdate_d_new(2, prior, 2, 'L', NULL, &factor));
    must(cholupdate_d_carry(factor, 1, z, 2, squares));
    for (step = 0; step < 400; step++) {
        const double x = sin(0.7 * step), noise = 0.01 * sin(37.0 * step * step);
        const double row[2] = {1, x};
        double y;
        slope = step < 200 ? 2 : -3; /* it changes halfway */
        y = 1 + slope * x + noise;
        must(cholupdate_d_modify_carrying(factor, decay, 1, row, 2, NULL, 1, &y, 1, z, 2, squares, NULL));
        line[0] = z[0];
        line[1] = z[1];
        must(cholupdate_d_solve_lt(factor, 1, line, 2));
        if (step % 50 == 49)
            printf("step %3d: y = %+.3f %+.3f x, residual %.2g\n", step + 1, line[0], line[1], sqrt(squares[0]));
    }
    must(cholupdate_d_needs_refactor(factor, 0, INT64_MAX, &stale));
    cholupdate_d_free(factor);
    return fabs(line[0] - 1) < 0.01 && fabs(line[1] - slope) < 0.01 && !stale ? EXIT_SUCCESS : EXIT_FAILURE;
}
