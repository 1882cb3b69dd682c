/* The factor of a small matrix through an update, a refused downdate and a solve. */
#include <cholupdate.h>
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
    const double a[9] = {4, 2, 0, 2, 5, 1, 0, 1, 3}; /* column-major; the lower triangle is read */
    const double v[3] = {1, 0, 2}, far[3] = {9, 0, 0};
    double x[3] = {1, 2, 3};
    cholupdate_d *factor = NULL;
    cholupdate_report report;
    cholupdate_status status;

    must(cholupdate_d_new(3, a, 3, 'L', NULL, &factor));
    must(cholupdate_d_update(factor, 1, v, 3, &report)); /* A + v v^T */
    printf("log det A grew by %.6f\n", report.log_det_change);
    must(cholupdate_d_solve(factor, 1, x, 3));
    printf("x = (%.6f, %.6f, %.6f)\n", x[0], x[1], x[2]);

    /* What is impossible is a status, and the factor stays as it was. */
    status = cholupdate_d_downdate(factor, 1, far, 3, NULL);
    printf("%s: column %d\n", cholupdate_status_string(status), (int)cholupdate_last_error_column());

    cholupdate_d_free(factor);
    return status == CHOLUPDATE_NOT_POSITIVE_DEFINITE ? EXIT_SUCCESS : EXIT_FAILURE;
}
