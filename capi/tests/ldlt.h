/* Every function on a factor of an indefinite matrix, in one precision: REAL, TYPE, and NAME(verb) for the names of the functions. */

#include "near.h"

/* Checks that A, with both triangles, is the matrix of the factor, and the inertia. */
static void NAME(is)(const TYPE *factor, int64_t n, const double *a, int64_t positive, int64_t negative) {
    REAL l[25] = {0}, whole[25], signs[5] = {0};
    int64_t i, j, k, order = -1, plus = -1, minus = -1;
    CHECK(NAME(order)(factor, &order) == CHOLUPDATE_OK && order == n);
    CHECK(NAME(inertia)(factor, &plus, &minus) == CHOLUPDATE_OK && plus == positive && minus == negative);
    CHECK(NAME(to_factor)(factor, 'L', l, n) == CHOLUPDATE_OK);
    CHECK(NAME(signs)(factor, signs) == CHOLUPDATE_OK);
    CHECK(NAME(reconstruct)(factor, whole, n) == CHOLUPDATE_OK);
    for (i = 0; i < n; i++) {
        CHECK(l[i + i * n] > 0 && signs[i] * signs[i] == 1);
        negative -= signs[i] < 0;
        for (j = 0; j < n; j++) {
            double sum = 0;
            for (k = 0; k < n; k++) sum += (double)l[i + k * n] * (double)signs[k] * (double)l[j + k * n];
            NAME(near)((REAL)sum, a[i + j * n]);
            NAME(near)(whole[i + j * n], a[i + j * n]);
        }
    }
    CHECK(negative == 0);
}

/* Making, copying and reading factors. */
static void NAME(makes)(void) {
    const REAL a[9] = {4, 0, 2, 77, 4, 2, 77, 77, -1}, upper[12] = {4, 77, 77, 77, 0, 4, 77, 77, 2, 2, -1, 77};
    const double whole[9] = {4, 0, 2, 0, 4, 2, 2, 2, -1}, known[4] = {4, 12, 12, 35};
    const REAL l[4] = {1, 3, 77, 1}, r[4] = {1, 77, 3, -1}, d[2] = {4, -1}, no_pivot[2] = {0, 1};
    TYPE *factor = NULL, *other = NULL;
    REAL number, x[9], signs[3];
    double growth = -1, limit = -1;
    int64_t n = -1;

    CHECK(NAME(new)(3, a, 3, 'L', NULL, &factor) == CHOLUPDATE_OK);
    NAME(is)(factor, 3, whole, 2, 1);
    CHECK(NAME(new)(3, upper, 4, 'U', NULL, &other) == CHOLUPDATE_OK);
    NAME(is)(other, 3, whole, 2, 1);
    NAME(free)(other);

    CHECK(NAME(from_factor)(2, l, 2, 'L', d, NULL, &other) == CHOLUPDATE_OK);
    NAME(is)(other, 2, known, 1, 1);
    NAME(free)(other);
    CHECK(NAME(from_factor)(2, r, 2, 'U', d, NULL, &other) == CHOLUPDATE_OK);
    NAME(is)(other, 2, known, 1, 1);
    NAME(free)(other);
    other = NULL;
    REFUSED(NAME(from_factor)(2, l, 2, 'L', no_pivot, NULL, &other), CHOLUPDATE_SINGULAR, "column 0");
    CHECK(other == NULL);

    /* Only the triangle that is asked for is written. */
    for (n = 0; n < 9; n++) x[n] = 77;
    CHECK(NAME(to_factor)(factor, 'U', x, 3) == CHOLUPDATE_OK);
    NAME(near)(x[0], 2); NAME(near)(x[4], 2); NAME(near)(x[6], 1); NAME(near)(x[8] * x[8], 3);
    CHECK(x[1] == 77 && x[2] == 77 && x[5] == 77);
    CHECK(NAME(signs)(factor, signs) == CHOLUPDATE_OK && signs[0] == 1 && signs[1] == 1 && signs[2] == -1);

    CHECK(NAME(log_abs_det)(factor, &number) == CHOLUPDATE_OK);
    NAME(near)(number, 3.871201010907891);
    CHECK(NAME(growth)(factor, &growth) == CHOLUPDATE_OK);
    NAME(near)((REAL)growth, 1.25);
    /* It is 4: the norms are 6 of A, and 2/3 of its inverse, (2 -1 2; -1 2 2; 2 2 -4) / 12. The estimate may be less. */
    CHECK(NAME(condition)(factor, &number) == CHOLUPDATE_OK && number > 2 && number < 4.001);
    CHECK(NAME(growth_limit)(factor, &limit) == CHOLUPDATE_OK && limit > 1e6);

    x[0] = 0; x[1] = 0; x[2] = 6; x[3] = 77; x[4] = 4; x[5] = 0; x[6] = 2;
    CHECK(NAME(solve)(factor, 2, x, 4) == CHOLUPDATE_OK && x[3] == 77);
    NAME(near)(x[0], 1); NAME(near)(x[1], 1); NAME(near)(x[2], -2);
    NAME(near)(x[4], 1); NAME(near)(x[5], 0); NAME(near)(x[6], 0);
    x[0] = 0; x[1] = 0; x[2] = 6;
    CHECK(NAME(solve_l)(factor, 1, x, 3) == CHOLUPDATE_OK);
    NAME(near)(x[2] * x[2], 12);
    x[2] = -x[2];
    CHECK(NAME(solve_lt)(factor, 1, x, 3) == CHOLUPDATE_OK);
    NAME(near)(x[0], 1); NAME(near)(x[1], 1); NAME(near)(x[2], -2);
    NAME(free)(factor);

    CHECK(NAME(new)(0, NULL, 0, 'L', NULL, &factor) == CHOLUPDATE_OK);
    NAME(is)(factor, 0, whole, 0, 0);
    CHECK(NAME(log_abs_det)(factor, &number) == CHOLUPDATE_OK && number == 0);
    CHECK(NAME(growth)(factor, &growth) == CHOLUPDATE_OK && growth == 1);
    NAME(free)(factor);
}

static void NAME(modifies)(void) {
    const REAL a[9] = {4, 0, 2, 77, 4, 2, 77, 77, -1};
    const REAL v[8] = {1, 0, 2, 77, 0, 1, 1, 77}, mixed[2] = {2, -1}, last[3] = {0, 0, 1}, five[1] = {5};
    const double whole[9] = {4, 0, 2, 0, 4, 2, 2, 2, -1}, more[9] = {5, 0, 4, 0, 5, 3, 4, 3, 4};
    TYPE *factor = NULL, *other = NULL;
    cholupdate_ldlt_report report;
    int32_t can = -1;

    CHECK(NAME(new)(3, a, 3, 'L', NULL, &factor) == CHOLUPDATE_OK);
    CHECK(NAME(update)(factor, 2, v, 4, &report) == CHOLUPDATE_OK);
    NAME(is)(factor, 3, more, 2, 1);
    NAME(near)((REAL)report.min_pivot_ratio, 1.0 / 3);
    NAME(near)((REAL)report.log_abs_det_change, -0.6523251860396904);
    NAME(near)((REAL)report.growth, 1.2);
    CHECK(report.positive_before == 2 && report.negative_before == 1 && report.positive == 2 && report.negative == 1);
    CHECK(NAME(clone)(factor, &other) == CHOLUPDATE_OK);
    CHECK(NAME(can_downdate)(factor, 2, v, 4, &can) == CHOLUPDATE_OK && can == 1);
    CHECK(NAME(downdate)(factor, 2, v, 4, NULL) == CHOLUPDATE_OK);
    NAME(is)(factor, 3, whole, 2, 1);
    NAME(is)(other, 3, more, 2, 1);
    NAME(free)(other);

    CHECK(NAME(clone)(factor, &other) == CHOLUPDATE_OK);
    CHECK(NAME(modify)(other, 2, v, 4, mixed, NULL) == CHOLUPDATE_OK);
    { const double b[9] = {6, 0, 6, 0, 3, 1, 6, 1, 6}; NAME(is)(other, 3, b, 2, 1); }
    NAME(free)(other);
    CHECK(NAME(clone)(factor, &other) == CHOLUPDATE_OK);
    CHECK(NAME(modify)(other, 2, v, 4, NULL, NULL) == CHOLUPDATE_OK);
    NAME(is)(other, 3, more, 2, 1);
    NAME(free)(other);
    CHECK(NAME(clone)(factor, &other) == CHOLUPDATE_OK);
    CHECK(NAME(modify_scaled)(other, (REAL)0.5, 2, v, 4, NULL, &report) == CHOLUPDATE_OK);
    { const double b[9] = {3, 0, 3, 0, 3, 2, 3, 2, 4.5}; NAME(is)(other, 3, b, 3, 0); }
    NAME(free)(other);

    /* A pivot changes its sign. */
    CHECK(NAME(modify)(factor, 1, last, 3, five, &report) == CHOLUPDATE_OK);
    { const double b[9] = {4, 0, 2, 0, 4, 2, 2, 2, 4}; NAME(is)(factor, 3, b, 3, 0); }
    NAME(near)((REAL)report.min_pivot_ratio, 2.0 / 3);
    NAME(near)((REAL)report.log_abs_det_change, -0.4054651081081644);
    CHECK(report.positive_before == 2 && report.negative_before == 1 && report.positive == 3 && report.negative == 0);
    NAME(free)(factor);
}

/* Refusals that depend on A: nothing changes. */
static void NAME(refuses)(void) {
    const REAL a[9] = {4, 0, 2, 77, 4, 2, 77, 77, -1};
    const REAL two[3] = {2, 0, 0}, near_two[3] = {(REAL)1.9375, 0, 0}, last[3] = {0, 0, 1}, five[1] = {5}, signs[3] = {1, 0, -1};
    const double whole[9] = {4, 0, 2, 0, 4, 2, 2, 2, -1};
    TYPE *factor = NULL, *other = NULL;
    cholupdate_ldlt_report report;
    REAL before[9], after[9];
    double growth = -1, limit = -1;
    int32_t can = -1;

    CHECK(NAME(new)(3, a, 3, 'L', NULL, &factor) == CHOLUPDATE_OK);
    CHECK(NAME(to_factor)(factor, 'L', memset(before, 0, sizeof before), 3) == CHOLUPDATE_OK);
    report.min_pivot_ratio = -1;
    REFUSED(NAME(downdate)(factor, 1, two, 3, &report), CHOLUPDATE_SINGULAR, "column 0");
    CHECK(cholupdate_last_error_column() == 0);
    CHECK(NAME(can_downdate)(factor, 1, two, 3, &can) == CHOLUPDATE_OK && can == 0);

    CHECK(NAME(set_growth_limit)(factor, 2) == CHOLUPDATE_OK);
    CHECK(NAME(growth_limit)(factor, &limit) == CHOLUPDATE_OK && limit == 2);
    REFUSED(NAME(downdate)(factor, 1, near_two, 3, &report), CHOLUPDATE_UNSTABLE, "unstable: the factor grows to 8.87");
    CHECK(cholupdate_last_error_column() == 0);

    CHECK(NAME(expect_inertia)(factor, 2, 1) == CHOLUPDATE_OK);
    REFUSED(NAME(modify)(factor, 1, last, 3, five, &report), CHOLUPDATE_UNEXPECTED_INERTIA, "3 positive and 0 negative, but 2 and 1");
    CHECK(cholupdate_last_error_column() == -1);
    CHECK(NAME(expect_signs)(factor, signs) == CHOLUPDATE_OK);
    REFUSED(NAME(modify)(factor, 1, last, 3, five, &report), CHOLUPDATE_UNEXPECTED_SIGN, "column 2");
    CHECK(cholupdate_last_error_column() == 2 && report.min_pivot_ratio == -1);
    CHECK(NAME(clone)(factor, &other) == CHOLUPDATE_OK);
    REFUSED(NAME(modify)(other, 1, last, 3, five, &report), CHOLUPDATE_UNEXPECTED_SIGN, "column 2");
    NAME(free)(other);

    CHECK(NAME(to_factor)(factor, 'L', memset(after, 0, sizeof after), 3) == CHOLUPDATE_OK);
    CHECK(memcmp(after, before, sizeof after) == 0);
    NAME(is)(factor, 3, whole, 2, 1);

    CHECK(NAME(set_growth_limit)(factor, 100) == CHOLUPDATE_OK);
    CHECK(NAME(downdate)(factor, 1, near_two, 3, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(growth)(factor, &growth) == CHOLUPDATE_OK && growth > 8.87 && growth < 8.88);
    CHECK(NAME(update)(factor, 1, near_two, 3, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(expect_any_inertia)(factor) == CHOLUPDATE_OK);
    CHECK(NAME(modify)(factor, 1, last, 3, five, NULL) == CHOLUPDATE_OK);
    { const double b[9] = {4, 0, 2, 0, 4, 2, 2, 2, 4}; NAME(is)(factor, 3, b, 3, 0); }
    NAME(free)(factor);
}

static void NAME(rearranges)(void) {
    const REAL a[9] = {4, 0, 2, 77, 4, 2, 77, 77, -1};
    const REAL cross[6] = {1, 0, 0, 0, 1, 0}, zero[1] = {0}, lower[4] = {-1, 0.5, 77, -2}, upper[4] = {-1, 77, 0.5, -2};
    const REAL columns[4] = {1, 5, 0, 2}, other_columns[4] = {2, 7, 1, 0};
    const double whole[9] = {4, 0, 2, 0, 4, 2, 2, 2, -1};
    const double two_more[25] = {4, 0, 2, 1, 0, 0, 4, 2, 0, 1, 2, 2, -1, 0, 0, 1, 0, 0, -1, 0.5, 0, 1, 0, 0.5, -2};
    const double one_more[16] = {4, 0, 2, 1, 0, 4, 2, 0, 2, 2, -1, 0, 1, 0, 0, 0}, without_third[9] = {4, 0, 1, 0, 4, 0, 1, 0, 0};
    const double inserted[16] = {4, 1, 0, 1, 1, 5, 0, 2, 0, 0, 4, 0, 1, 2, 0, 0};
    const double replaced[16] = {4, 2, 0, 1, 2, 7, 1, 0, 0, 1, 4, 0, 1, 0, 0, 0};
    const double permuted[16] = {4, 0, 1, 0, 0, 4, 2, 1, 1, 2, 7, 0, 0, 1, 0, 0};
    const int64_t added[2] = {4, 3}, first[1] = {0}, third[1] = {2}, order[4] = {2, 0, 1, 3}, back[4] = {3, 0, 1, 2};
    TYPE *factor = NULL, *other = NULL;
    cholupdate_ldlt_report report;
    cholupdate_status status;

    CHECK(NAME(new)(3, a, 3, 'L', NULL, &factor) == CHOLUPDATE_OK);
    CHECK(NAME(append)(factor, 2, cross, 3, lower, 2, 'L', NULL) == CHOLUPDATE_OK);
    NAME(is)(factor, 5, two_more, 2, 3);
    CHECK(NAME(remove)(factor, 2, added, &report) == CHOLUPDATE_OK);
    NAME(is)(factor, 3, whole, 2, 1);
    CHECK(report.positive_before == 2 && report.negative_before == 3 && report.positive == 2 && report.negative == 1);
    CHECK(NAME(clone)(factor, &other) == CHOLUPDATE_OK);
    CHECK(NAME(append)(other, 2, cross, 3, upper, 2, 'U', NULL) == CHOLUPDATE_OK);
    NAME(is)(other, 5, two_more, 2, 3);
    NAME(free)(other);

    CHECK(NAME(append)(factor, 1, cross, 3, zero, 1, 'L', &report) == CHOLUPDATE_OK);
    NAME(is)(factor, 4, one_more, 2, 2);
    NAME(near)((REAL)report.min_pivot_ratio, 1.0 / 3);
    /* What is left would have a row of zeros. */
    REFUSED(NAME(remove)(factor, 1, first, NULL), CHOLUPDATE_SINGULAR, "column 2");
    NAME(is)(factor, 4, one_more, 2, 2);
    CHECK(NAME(remove)(factor, 1, third, NULL) == CHOLUPDATE_OK);
    NAME(is)(factor, 3, without_third, 2, 1);
    CHECK(NAME(insert)(factor, 1, 1, columns, 4, NULL) == CHOLUPDATE_OK);
    NAME(is)(factor, 4, inserted, 3, 1);
    CHECK(NAME(replace)(factor, 1, 1, other_columns, 4, NULL) == CHOLUPDATE_OK);
    NAME(is)(factor, 4, replaced, 3, 1);
    CHECK(NAME(permute)(factor, order, NULL) == CHOLUPDATE_OK);
    NAME(is)(factor, 4, permuted, 3, 1);
    CHECK(NAME(shift)(factor, 0, 2, &report) == CHOLUPDATE_OK);
    NAME(is)(factor, 4, replaced, 3, 1);
    NAME(near)((REAL)report.log_abs_det_change, 0);
    /* The zero on the diagonal cannot come first. It is zero but for rounding errors. */
    status = NAME(shift)(factor, 3, 0, NULL);
    CHECK(status == CHOLUPDATE_SINGULAR || status == CHOLUPDATE_UNSTABLE);
    CHECK(cholupdate_last_error_column() >= 0);
    status = NAME(permute)(factor, back, NULL);
    CHECK(status == CHOLUPDATE_SINGULAR || status == CHOLUPDATE_UNSTABLE);
    NAME(is)(factor, 4, replaced, 3, 1);
    NAME(free)(factor);
}

/* A bordered without a change of the factor, and a right-hand side that stays current. */
static void NAME(borders)(void) {
    const REAL a[4] = {4, 0, 77, 4}, cross[2] = {2, 2}, corner[1] = {-1}, v[3] = {1, 0, 0}, y[1] = {2};
    const double more[9] = {5, 0, 2, 0, 4, 2, 2, 2, -1};
    TYPE *factor = NULL;
    BORDERED *extension = NULL;
    REAL x[3] = {0, 0, 6}, z[3] = {0, 0, 6}, c[1] = {0}, signs[3] = {0}, number = 0;
    cholupdate_ldlt_report report;
    int64_t order = -1, plus = -1, minus = -1;
    int i;

    CHECK(NAME(new)(2, a, 2, 'L', NULL, &factor) == CHOLUPDATE_OK);
    CHECK(NAME(extension_new)(factor, 1, cross, 2, corner, 1, 'L', &extension) == CHOLUPDATE_OK);
    CHECK(NAME(extension_order)(extension, &order) == CHOLUPDATE_OK && order == 3);
    CHECK(NAME(extension_inertia)(factor, extension, &plus, &minus) == CHOLUPDATE_OK && plus == 2 && minus == 1);
    CHECK(NAME(extension_inertia)(factor, extension, NULL, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(extension_log_abs_det)(factor, extension, &number) == CHOLUPDATE_OK);
    NAME(near)(number, 3.871201010907891);
    CHECK(NAME(extension_corner)(extension, 'L', c, 1, signs) == CHOLUPDATE_OK && signs[0] == -1);
    NAME(near)(c[0] * c[0], 3);
    CHECK(NAME(extension_solve)(factor, extension, 1, x, 3) == CHOLUPDATE_OK);
    NAME(near)(x[0], 1); NAME(near)(x[1], 1); NAME(near)(x[2], -2);
    REFUSED(NAME(extension_solve)(factor, extension, 1, x, 2), CHOLUPDATE_INVALID_ARGUMENT, "`ldb`");
    REFUSED(NAME(extension_solve)(factor, NULL, 1, x, 3), CHOLUPDATE_NULL_POINTER, "`extension`");
    NAME(extension_free)(extension);
    extension = NULL;
    c[0] = 2;
    REFUSED(NAME(extension_new)(factor, 1, cross, 2, c, 1, 'L', &extension), CHOLUPDATE_SINGULAR, "column 2");
    CHECK(extension == NULL);

    /* (4 0 2; 0 4 2; 2 2 -1) and (0, 0, 6) become (5 0 2; 0 4 2; 2 2 -1) and (2, 0, 6). */
    CHECK(NAME(extension_new)(factor, 1, cross, 2, corner, 1, 'L', &extension) == CHOLUPDATE_OK);
    CHECK(NAME(append)(factor, 1, cross, 2, corner, 1, 'L', NULL) == CHOLUPDATE_OK);
    REFUSED(NAME(extension_log_abs_det)(factor, extension, &number), CHOLUPDATE_INVALID_ARGUMENT, "has changed since");
    NAME(extension_free)(extension);
    NAME(extension_free)(NULL);
    CHECK(NAME(solve_l)(factor, 1, z, 3) == CHOLUPDATE_OK);
    CHECK(NAME(modify_carrying)(factor, 1, 1, v, 3, NULL, 1, y, 1, z, 3, &report) == CHOLUPDATE_OK);
    NAME(is)(factor, 3, more, 2, 1);
    CHECK(report.positive == 2 && report.negative == 1);
    CHECK(NAME(signs)(factor, signs) == CHOLUPDATE_OK);
    for (i = 0; i < 3; i++) z[i] *= signs[i];
    CHECK(NAME(solve_lt)(factor, 1, z, 3) == CHOLUPDATE_OK);
    x[0] = 2; x[1] = 0; x[2] = 6;
    CHECK(NAME(solve)(factor, 1, x, 3) == CHOLUPDATE_OK);
    for (i = 0; i < 3; i++) NAME(near)(z[i], (double)x[i]);
    z[0] = 7;
    REFUSED(NAME(modify_carrying)(factor, 2, 1, v, 3, NULL, 1, y, 1, z, 3, NULL), CHOLUPDATE_INVALID_ARGUMENT, "`decay`");
    REFUSED(NAME(modify_carrying)(factor, 1, 1, v, 3, NULL, 1, y, 1, NULL, 3, NULL), CHOLUPDATE_NULL_POINTER, "`z`");
    CHECK(z[0] == 7);
    NAME(is)(factor, 3, more, 2, 1);
    NAME(free)(factor);
}

static void NAME(all)(void) {
    NAME(makes)();
    NAME(modifies)();
    NAME(refuses)();
    NAME(rearranges)();
    NAME(borders)();
}
