/* Checks the matrix of a factor, in one precision: REAL, TYPE, and NAME(verb) for the names of the functions. */

#include "near.h"

/* Checks that A, with both triangles, is the matrix of the factor. */
static void NAME(is)(const TYPE *factor, int64_t n, const double *a) {
    REAL l[25] = {0};
    int64_t i, j, k, order = -1;
    CHECK(NAME(order)(factor, &order) == CHOLUPDATE_OK && order == n);
    CHECK(NAME(to_factor)(factor, 'L', l, n) == CHOLUPDATE_OK);
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) {
            double sum = 0;
            for (k = 0; k < n; k++) sum += (double)l[i + k * n] * (double)l[j + k * n];
            NAME(near)((REAL)sum, a[i + j * n]);
        }
}
