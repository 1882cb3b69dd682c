/* The functions for loops, in one precision: REAL, TYPE, PENDING, EXTENSION, and NAME(verb) for the names of the functions. */

static void NAME(forgetting)(void) {
    const REAL a[4] = {4, 2, 2, 5}, v[2] = {1, 0}, half[1] = {2};
    TYPE *factor = NULL;
    cholupdate_report report;
    CHECK(NAME(new)(2, a, 2, 'L', NULL, &factor) == CHOLUPDATE_OK);
    CHECK(NAME(modify_scaled)(factor, 0.5, 1, v, 2, half, &report) == CHOLUPDATE_OK);
    { const double b[4] = {4, 1, 1, 2.5}; NAME(is)(factor, 2, b); }
    NAME(near)((REAL)report.log_det_change, -0.5753641449035618); /* log(9 / 16) */
    CHECK(NAME(modify_scaled)(factor, 1, 1, v, 2, NULL, NULL) == CHOLUPDATE_OK);
    { const double b[4] = {5, 1, 1, 2.5}; NAME(is)(factor, 2, b); }
    NAME(free)(factor);
}

/* A line through (0, 1), (1, 3) and (2, 5), and -2 times it. */
static void NAME(least_squares)(void) {
    const REAL a[4] = {2, 1, 1, 1}, v[2] = {1, 2}, plus[1] = {1}, minus[1] = {-1}, y[2] = {5, -10};
    REAL z[6] = {4, 3, 77, -8, -6, 77}, squares[2] = {10, 40}, x[4];
    REAL unknown_z[2] = {4, 3}, unknown[1] = {1};
    TYPE *factor = NULL;
    int side;
    CHECK(NAME(new)(2, a, 2, 'L', NULL, &factor) == CHOLUPDATE_OK);
    CHECK(NAME(carry)(factor, 2, z, 3, squares) == CHOLUPDATE_OK);
    NAME(near)(squares[0], 0); NAME(near)(squares[1], 0);
    CHECK(z[2] == 77 && z[5] == 77);
    /* Adds an observation off the line, removes it, and adds the right one. */
    { const REAL beside[2] = {6, -12}; CHECK(NAME(modify_carrying)(factor, 1, 1, v, 2, NULL, 2, beside, 1, z, 3, squares, NULL) == CHOLUPDATE_OK);
      NAME(near)(squares[0], 1.0 / 6); NAME(near)(squares[1], 4.0 / 6);
      CHECK(NAME(modify_carrying)(factor, 1, 1, v, 2, minus, 2, beside, 1, z, 3, squares, NULL) == CHOLUPDATE_OK); }
    CHECK(NAME(modify_carrying)(factor, 1, 1, v, 2, plus, 2, y, 1, z, 3, squares, NULL) == CHOLUPDATE_OK);
    { const double b[4] = {3, 3, 3, 5}; NAME(is)(factor, 2, b); }
    for (side = 0; side < 2; side++) {
        x[2 * side] = z[3 * side]; x[2 * side + 1] = z[3 * side + 1];
        CHECK(squares[side] == -1 || (squares[side] >= 0 && squares[side] < (sizeof(REAL) == 4 ? 1e-4 : 1e-13)));
    }
    CHECK(NAME(solve_lt)(factor, 2, x, 2) == CHOLUPDATE_OK);
    NAME(near)(x[0], 1); NAME(near)(x[1], 2); NAME(near)(x[2], -2); NAME(near)(x[3], -4);
    NAME(free)(factor);

    /* A sum of squares below the explained part is unknown. */
    CHECK(NAME(new)(2, a, 2, 'L', NULL, &factor) == CHOLUPDATE_OK);
    CHECK(NAME(carry)(factor, 1, unknown_z, 2, unknown) == CHOLUPDATE_OK && unknown[0] == -1);
    /* A breakdown leaves the carried values and the factor as they were. */
    { const REAL far[2] = {9, 0};
      memcpy(x, unknown_z, 2 * sizeof *x);
      REFUSED(NAME(modify_carrying)(factor, 1, 1, far, 2, minus, 1, y, 1, unknown_z, 2, unknown, NULL), CHOLUPDATE_NOT_POSITIVE_DEFINITE, "column 0");
      CHECK(memcmp(x, unknown_z, 2 * sizeof *x) == 0 && unknown[0] == -1);
      { const double b[4] = {2, 1, 1, 1}; NAME(is)(factor, 2, b); } }
    NAME(free)(factor);
}

static void NAME(in_flight)(void) {
    const REAL a[4] = {4, 2, 2, 5}, v[2] = {1, 1}, minus[1] = {-1}, far[2] = {9, 0};
    REAL b[2] = {5, 8}, number;
    TYPE *factor = NULL, *copy = NULL;
    PENDING *pending = NULL;
    cholupdate_report report;
    cholupdate_status solved = CHOLUPDATE_INTERNAL;
    int64_t n = -1;
    CHECK(NAME(new)(2, a, 2, 'L', NULL, &factor) == CHOLUPDATE_OK);
    CHECK(NAME(submit)(factor, 1, v, 2, minus, &pending) == CHOLUPDATE_OK);
    /* Until its outcome is returned it has exclusive use of the factor. */
    REFUSED(NAME(log_det)(factor, &number), CHOLUPDATE_INVALID_ARGUMENT, "`factor` has a modification in flight");
    REFUSED(NAME(update)(factor, 1, v, 2, NULL), CHOLUPDATE_INVALID_ARGUMENT, "`factor` has a modification in flight");
    REFUSED(NAME(clone)(factor, &copy), CHOLUPDATE_INVALID_ARGUMENT, "`factor` has a modification in flight");
    REFUSED(NAME(submit)(factor, 1, v, 2, minus, &pending), CHOLUPDATE_INVALID_ARGUMENT, "`factor` has a modification in flight");
    CHECK(NAME(order)(factor, &n) == CHOLUPDATE_OK && n == 2);
    CHECK(NAME(pending_wait)(pending, &report) == CHOLUPDATE_OK && report.min_pivot_ratio < 1);
    { const double c[4] = {3, 1, 1, 4}; NAME(is)(factor, 2, c); }
    REFUSED(NAME(pending_wait)(pending, NULL), CHOLUPDATE_INVALID_ARGUMENT, "`pending` has been had");
    NAME(pending_free)(pending);

    /* A breakdown is known at once here, and later on a GPU; no pending object is created here. */
    pending = NULL;
    REFUSED(NAME(submit)(factor, 1, far, 2, minus, &pending), CHOLUPDATE_NOT_POSITIVE_DEFINITE, "column 0");
    CHECK(pending == NULL);

    /* A modification and a solve in one step. */
    CHECK(NAME(submit)(factor, 1, v, 2, NULL, &pending) == CHOLUPDATE_OK);
    REFUSED(NAME(pending_solve)(pending, 1, b, 1, NULL, &solved), CHOLUPDATE_INVALID_ARGUMENT, "`ldb` is 1");
    REFUSED(NAME(pending_solve)(pending, 1, b, 2, NULL, NULL), CHOLUPDATE_NULL_POINTER, "`solved`");
    CHECK(solved == CHOLUPDATE_INTERNAL && b[0] == 5);
    b[0] = 6; b[1] = 7;
    CHECK(NAME(pending_solve)(pending, 1, b, 2, &report, &solved) == CHOLUPDATE_OK && solved == CHOLUPDATE_OK);
    CHECK(report.min_pivot_ratio > 1);
    NAME(near)(b[0], 1); NAME(near)(b[1], 1);
    REFUSED(NAME(pending_solve)(pending, 1, b, 2, NULL, &solved), CHOLUPDATE_INVALID_ARGUMENT, "`pending` has been had");
    NAME(pending_free)(pending);
    /* Neither outcome hides the other. */
    CHECK(NAME(submit)(factor, 1, v, 2, NULL, &pending) == CHOLUPDATE_OK);
    b[1] = (REAL)NAN;
    REFUSED((NAME(pending_solve)(pending, 1, b, 2, &report, &solved) == CHOLUPDATE_OK ? solved : CHOLUPDATE_INTERNAL), CHOLUPDATE_NOT_FINITE, "`b`");
    CHECK(report.min_pivot_ratio > 1);
    NAME(pending_free)(pending);

    /* A freed pending modification is completed, in any order of frees. */
    CHECK(NAME(submit)(factor, 1, v, 2, NULL, &pending) == CHOLUPDATE_OK);
    NAME(pending_free)(pending);
    { const double c[4] = {6, 4, 4, 7}; NAME(is)(factor, 2, c); }
    CHECK(NAME(submit)(factor, 1, v, 2, NULL, &pending) == CHOLUPDATE_OK);
    NAME(free)(factor);
    CHECK(NAME(pending_wait)(pending, NULL) == CHOLUPDATE_OK);
    NAME(pending_free)(pending);
    CHECK(NAME(new)(2, a, 2, 'L', NULL, &factor) == CHOLUPDATE_OK);
    CHECK(NAME(submit)(factor, 1, v, 2, NULL, &pending) == CHOLUPDATE_OK);
    NAME(free)(factor);
    NAME(pending_free)(pending);
    NAME(pending_free)(NULL);
}

static void NAME(health)(void) {
    const REAL a[4] = {1, 0, 0, 1};
    const int single = sizeof(REAL) == 4;
    REAL v[2] = {0.5, 0};
    TYPE *factor = NULL;
    double estimate[3] = {-1, -1, -1};
    int32_t needs = -1;
    CHECK(NAME(new)(2, a, 2, 'L', NULL, &factor) == CHOLUPDATE_OK);
    CHECK(NAME(error_estimate)(factor, &estimate[0]) == CHOLUPDATE_OK && estimate[0] >= 0);
    CHECK(NAME(downdate)(factor, 1, v, 2, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(error_estimate)(factor, &estimate[1]) == CHOLUPDATE_OK && estimate[1] > estimate[0]);
    CHECK(NAME(needs_refactor)(factor, 0, INT64_MAX, &needs) == CHOLUPDATE_OK && needs == 0);
    CHECK(NAME(needs_refactor)(factor, estimate[1] / 2, INT64_MAX, &needs) == CHOLUPDATE_OK && needs == 1);
    CHECK(NAME(needs_refactor)(factor, 0, 1, &needs) == CHOLUPDATE_OK && needs == 0);
    CHECK(NAME(needs_refactor)(factor, 0, 0, &needs) == CHOLUPDATE_OK && needs == 1);
    /* Hardly anything is left of a pivot. */
    v[0] = (REAL)sqrt(0.75 - (single ? 1e-5 : 1e-10));
    CHECK(NAME(downdate)(factor, 1, v, 2, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(error_estimate)(factor, &estimate[2]) == CHOLUPDATE_OK && estimate[2] > 1000 * estimate[1]);
    CHECK(NAME(needs_refactor)(factor, 0, INT64_MAX, &needs) == CHOLUPDATE_OK && needs == 1);
    NAME(free)(factor);
}

static void NAME(extended)(void) {
    const REAL a[4] = {4, 2, 2, 5}, cross[2] = {2, 1}, corner[1] = {6}, small[1] = {0.5}, v[2] = {1, 1}, far[2] = {9, 9};
    const REAL two_cross[4] = {2, 1, 0, 1}, two_corner[4] = {6, 1, 77, 7}, two_upper[4] = {6, 77, 1, 7};
    REAL b[8] = {8, 8, 9, 77, 4, 2, 2, 77}, c[4] = {77, 77, 77, 77}, d[4] = {77, 77, 77, 77}, number;
    TYPE *factor = NULL, *copy = NULL;
    EXTENSION *extension = NULL, *other = NULL;
    int64_t order = -1;
    CHECK(NAME(new)(2, a, 2, 'L', NULL, &factor) == CHOLUPDATE_OK);
    CHECK(NAME(extension_new)(factor, 1, cross, 2, corner, 1, 'L', &extension) == CHOLUPDATE_OK);
    CHECK(NAME(extension_order)(extension, &order) == CHOLUPDATE_OK && order == 3);
    CHECK(NAME(extension_solve)(factor, extension, 2, b, 4) == CHOLUPDATE_OK);
    NAME(near)(b[0], 1); NAME(near)(b[1], 1); NAME(near)(b[2], 1);
    NAME(near)(b[4], 1); NAME(near)(b[5], 0); NAME(near)(b[6], 0);
    CHECK(b[3] == 77 && b[7] == 77);
    CHECK(NAME(extension_log_det)(factor, extension, &number) == CHOLUPDATE_OK);
    NAME(near)(number, 4.382026634673881); /* log 80 */
    CHECK(NAME(extension_corner)(extension, 'L', c, 1) == CHOLUPDATE_OK && c[1] == 77);
    NAME(near)(c[0], 2.23606797749979);

    /* Two rows, from either triangle and to either. */
    CHECK(NAME(extension_new)(factor, 2, two_cross, 2, two_corner, 2, 'L', &other) == CHOLUPDATE_OK);
    CHECK(NAME(extension_corner)(other, 'L', c, 2) == CHOLUPDATE_OK && c[2] == 77);
    NAME(extension_free)(other);
    CHECK(NAME(extension_new)(factor, 2, two_cross, 2, two_upper, 2, 'U', &other) == CHOLUPDATE_OK);
    CHECK(NAME(extension_corner)(other, 'U', d, 2) == CHOLUPDATE_OK && d[1] == 77);
    NAME(near)(c[0] * c[0], 5); NAME(near)(c[0] * c[1], 1); NAME(near)(c[1] * c[1] + c[3] * c[3], 6.75);
    CHECK(c[0] == d[0] && c[1] == d[2] && c[3] == d[3]);
    NAME(extension_free)(other);

    /* The extension belongs to the factor as it was, which a refused modification does not change. */
    REFUSED(NAME(extension_new)(factor, 1, cross, 2, small, 1, 'L', &other), CHOLUPDATE_NOT_POSITIVE_DEFINITE, "column 2");
    REFUSED(NAME(downdate)(factor, 1, far, 2, NULL), CHOLUPDATE_NOT_POSITIVE_DEFINITE, "column 0");
    CHECK(NAME(extension_log_det)(factor, extension, &number) == CHOLUPDATE_OK);
    CHECK(NAME(clone)(factor, &copy) == CHOLUPDATE_OK);
    REFUSED(NAME(extension_log_det)(copy, extension, &number), CHOLUPDATE_INVALID_ARGUMENT, "`extension` is of another factor");
    CHECK(NAME(update)(factor, 1, v, 2, NULL) == CHOLUPDATE_OK);
    REFUSED(NAME(extension_solve)(factor, extension, 1, b, 4), CHOLUPDATE_INVALID_ARGUMENT, "`factor` has changed since");
    NAME(free)(copy);
    NAME(free)(factor);
    NAME(extension_free)(extension);
    NAME(extension_free)(NULL);
}

/* Row by row from zero: singular until there are enough rows. */
static void NAME(from_nothing)(void) {
    const REAL first[2] = {2, 1}, second[2] = {0, 2}, minus[1] = {-1}, rows[6] = {1, 0, 1, 1, 1, 2}, y[3] = {1, 3, 5};
    const REAL leading[4] = {2, 1, 77, 0};
    const double whole[4] = {4, 2, 2, 5};
    REAL l[4] = {0, 0, 77, 0}, z[2] = {0, 0}, squares[1] = {0}, number = 7, x[2] = {1, 1};
    TYPE *factor = NULL, *copy = NULL;
    int32_t can = 7;
    int row;
    CHECK(NAME(zeros)(2, NULL, &factor) == CHOLUPDATE_OK);
    { const double nothing[4] = {0, 0, 0, 0}; NAME(is)(factor, 2, nothing); }
    REFUSED(NAME(solve)(factor, 1, x, 2), CHOLUPDATE_SINGULAR, "column 0");
    CHECK(NAME(update)(factor, 1, first, 2, NULL) == CHOLUPDATE_OK);
    REFUSED(NAME(solve_lt)(factor, 1, x, 2), CHOLUPDATE_SINGULAR, "column 1");
    CHECK(cholupdate_last_error_column() == 1 && x[0] == 1 && x[1] == 1);
    REFUSED(NAME(log_det)(factor, &number), CHOLUPDATE_SINGULAR, "column 1");
    REFUSED(NAME(condition)(factor, &number), CHOLUPDATE_SINGULAR, "column 1");
    REFUSED(NAME(downdate)(factor, 1, first, 2, NULL), CHOLUPDATE_SINGULAR, "column 1");
    REFUSED(NAME(can_downdate)(factor, 1, first, 2, &can), CHOLUPDATE_SINGULAR, "column 1");
    REFUSED(NAME(shift)(factor, 0, 1, NULL), CHOLUPDATE_SINGULAR, "column 1");
    CHECK(number == 7 && can == 7);
    CHECK(NAME(clone)(factor, &copy) == CHOLUPDATE_OK);
    REFUSED(NAME(log_det)(copy, &number), CHOLUPDATE_SINGULAR, "column 1");
    NAME(free)(copy);
    CHECK(NAME(update)(factor, 1, second, 2, NULL) == CHOLUPDATE_OK);
    NAME(is)(factor, 2, whole);
    CHECK(NAME(log_det)(factor, &number) == CHOLUPDATE_OK);
    NAME(near)(number, 2.772588722239781); /* log 16 */
    NAME(free)(factor);

    CHECK(NAME(from_factor)(2, leading, 2, 'L', NULL, &factor) == CHOLUPDATE_OK);
    REFUSED(NAME(log_det)(factor, &number), CHOLUPDATE_SINGULAR, "column 1");
    CHECK(NAME(update)(factor, 1, second, 2, NULL) == CHOLUPDATE_OK);
    NAME(is)(factor, 2, whole);
    NAME(free)(factor);
    REFUSED(NAME(modify_array)('L', 2, l, 2, 1, first, 2, minus, NULL, NULL), CHOLUPDATE_SINGULAR, "column 0");
    CHECK(NAME(modify_array)('L', 2, l, 2, 1, first, 2, NULL, NULL, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(modify_array)('L', 2, l, 2, 1, second, 2, NULL, NULL, NULL) == CHOLUPDATE_OK);
    NAME(near)(l[0], 2); NAME(near)(l[1], 1); NAME(near)(l[3], 2);
    CHECK(l[2] == 77);

    /* Least squares, as with LINPACK's dchud: z and the residual begin with zeros as well. */
    CHECK(NAME(zeros)(2, NULL, &factor) == CHOLUPDATE_OK);
    for (row = 0; row < 3; row++)
        CHECK(NAME(modify_carrying)(factor, 1, 1, rows + 2 * row, 2, NULL, 1, y + row, 1, z, 2, squares, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(solve_lt)(factor, 1, z, 2) == CHOLUPDATE_OK);
    NAME(near)(z[0], 1); NAME(near)(z[1], 2); NAME(near)(squares[0], 0);
    NAME(free)(factor);
}

static void NAME(loops)(void) {
    NAME(from_nothing)();
    NAME(forgetting)();
    NAME(least_squares)();
    NAME(in_flight)();
    NAME(health)();
    NAME(extended)();
}
