/* Rows and columns of a complex factor, extensions and least squares, as in complex.h. */

/* Of A (all x all), the rows and columns `order` (n). */
static void NAME(part)(int64_t all, const number *a, int64_t n, const int64_t *order, number *to) {
    int64_t i, j;
    for (j = 0; j < n; j++)
        for (i = 0; i < n; i++) to[i + j * n] = a[order[i] + order[j] * all];
}

/* Every change of rows and columns is a choice of rows and columns of one large A. */
static void NAME(changes_rows)(int64_t n) {
    const int64_t all = n + 2, ends[2] = {0, all - 1};
    number a[MOST * MOST], part[MOST * MOST], l[MOST * MOST], corner[4];
    NUMBER given[MOST * MOST], given_corner[4];
    int64_t order[MOST], i, triangle;
    TYPE *factor;
    any_matrix(all, a);
    for (triangle = 0; triangle < 2; triangle++) {
        const char uplo = triangle ? 'U' : 'L';
        for (i = 0; i < all; i++) order[i] = i;
        NAME(part)(all, a, n, order, part);
        factor = NAME(made)(n, part, 'L');
        CHECK(NAME(reserve)(factor, 2) == CHOLUPDATE_OK);
        NAME(part)(all, a, 2, order + n, corner);
        NAME(triangle)(2, corner, uplo, given_corner);
        NAME(rounded)(all * 2, a + n * all, given);
        CHECK(NAME(append)(factor, 2, given, all, given_corner, 2, uplo, NULL) == CHOLUPDATE_OK);
        NAME(is)(factor, all, a, l);
        if (!triangle) NAME(free)(factor);
    }

    CHECK(NAME(remove)(factor, 2, ends, NULL) == CHOLUPDATE_OK);
    NAME(part)(all, a, n, order + 1, part);
    NAME(is)(factor, n, part, l);

    /* The last row and column of A in the middle. */
    for (i = 0; i <= n; i++) order[i] = i < n / 2 ? 1 + i : i > n / 2 ? i : all - 1;
    NAME(part)(all, a, n + 1, order, part);
    NAME(rounded)(n + 1, part + n / 2 * (n + 1), given);
    CHECK(NAME(insert)(factor, n / 2, 1, given, n + 1, NULL) == CHOLUPDATE_OK);
    NAME(is)(factor, n + 1, part, l);

    /* The first one in place of the last. */
    order[n] = 0;
    NAME(part)(all, a, n + 1, order, part);
    NAME(rounded)(n + 1, part + n * (n + 1), given);
    CHECK(NAME(replace)(factor, n, 1, given, n + 1, NULL) == CHOLUPDATE_OK);
    NAME(is)(factor, n + 1, part, l);

    CHECK(NAME(shift)(factor, n, 0, NULL) == CHOLUPDATE_OK);
    for (i = n; i > 0; i--) order[i] = order[i - 1];
    order[0] = 0;
    NAME(part)(all, a, n + 1, order, part);
    NAME(is)(factor, n + 1, part, l);
    {
        int64_t back[MOST], reversed[MOST];
        for (i = 0; i <= n; i++) {
            back[i] = n - i;
            reversed[i] = order[n - i];
        }
        CHECK(NAME(permute)(factor, back, NULL) == CHOLUPDATE_OK);
        NAME(part)(all, a, n + 1, reversed, part);
        NAME(is)(factor, n + 1, part, l);
    }
    NAME(free)(factor);
}

/* A bordered by two rows and columns. */
static void NAME(extends)(int64_t n) {
    const int64_t all = n + 2;
    number a[MOST * MOST], part[MOST * MOST], l[MOST * MOST], whole[MOST * MOST], x[2 * MOST], b[2 * MOST], corner[4];
    NUMBER cross[2 * MOST], given[4], to[2 * MOST];
    REAL log_det = 7, expected = 8;
    int64_t order[MOST], i, found = -1;
    TYPE *factor, *larger;
    EXTENSION *extension = NULL;
    any_matrix(all, a);
    any_numbers(2 * all, x);
    for (i = 0; i < all; i++) order[i] = i;
    NAME(part)(all, a, n, order, part);
    factor = NAME(made)(n, part, 'L');
    larger = NAME(made)(all, a, 'L');
    NAME(part)(all, a, 2, order + n, corner);
    NAME(triangle)(2, corner, 'U', given);
    NAME(rounded)(all * 2, a + n * all, cross);
    CHECK(NAME(extension_new)(factor, 2, cross, all, given, 2, 'U', &extension) == CHOLUPDATE_OK);
    CHECK(NAME(extension_order)(extension, &found) == CHOLUPDATE_OK && found == all);
    reference_multiply(all, all, 2, a, x, b);
    NAME(rounded)(2 * all, b, to);
    CHECK(NAME(extension_solve)(factor, extension, 2, to, all) == CHOLUPDATE_OK);
    NAME(all_close)(2 * all, to, x, 16);
    CHECK(NAME(extension_log_det)(factor, extension, &log_det) == CHOLUPDATE_OK);
    CHECK(NAME(log_det)(larger, &expected) == CHOLUPDATE_OK);
    NAME(close)(log_det, expected, 1 + fabs(expected));

    /* The corner is that of L of the larger matrix, or its conjugate transpose. */
    NAME(is)(larger, all, a, whole);
    NAME(part)(all, whole, 2, order + n, corner);
    given[1] = given[2] = 77;
    CHECK(NAME(extension_corner)(extension, 'L', given, 2) == CHOLUPDATE_OK && (number)given[2] == 77);
    NAME(close)((number)given[1], corner[1], cabs(a[0]));
    CHECK(NAME(extension_corner)(extension, 'U', given, 2) == CHOLUPDATE_OK && (number)given[2] == conj((number)given[1]));
    NAME(close)((number)given[0], corner[0], cabs(a[0]));
    NAME(close)((number)given[3], corner[3], cabs(a[0]));

    NAME(is)(factor, n, part, l);
    CHECK(NAME(update)(factor, 1, cross, all, NULL) == CHOLUPDATE_OK);
    REFUSED(NAME(extension_log_det)(factor, extension, &log_det), INVALID, "`factor` has changed since");
    NAME(extension_free)(extension);
    NAME(free)(factor);
    NAME(free)(larger);
}

/* Observations of two values, row by row from zero. */
static void NAME(carries)(int64_t n) {
    number v[MOST], beta[2 * MOST], value[2], l[MOST * MOST], a[MOST * MOST];
    const double one[1] = {1};
    const REAL minus[1] = {-1};
    NUMBER given[MOST], y[2], z[2 * MOST], start[2 * MOST];
    REAL squares[2] = {0, 0}, sums[2];
    double all_squares[2] = {0, 0};
    TYPE *factor = NULL;
    int64_t i, row, side;
    CHECK(NAME(zeros)(n, NULL, &factor) == CHOLUPDATE_OK);
    any_numbers(2 * n, beta);
    for (i = 0; i < 2 * n; i++) z[i] = start[i] = 0;
    for (i = 0; i < n * n; i++) a[i] = 0;
    for (row = 0; row < 3 * n; row++) {
        any_numbers(n, v);
        for (side = 0; side < 2; side++) {
            /* The row of observations is v^H. */
            for (value[side] = 0, i = 0; i < n; i++) value[side] += conj(v[i]) * beta[i + side * n];
            all_squares[side] += creal(value[side] * conj(value[side]));
            for (i = 0; i < n; i++) start[i + side * n] += (NUMBER)(v[i] * value[side]);
        }
        reference_modify(n, a, 1, v, one);
        NAME(rounded)(n, v, given);
        NAME(rounded)(2, value, y);
        CHECK(NAME(modify_carrying)(factor, 1, 1, given, n, NULL, 2, y, 1, z, n, squares, NULL) == CHOLUPDATE_OK);
    }
    NAME(is)(factor, n, a, l);
    /* An observation off the line, and back. */
    y[0] += 1;
    CHECK(NAME(modify_carrying)(factor, 1, 1, given, n, NULL, 2, y, 1, z, n, squares, NULL) == CHOLUPDATE_OK);
    CHECK(squares[0] > 0.49 && squares[0] < 1);
    CHECK(NAME(modify_carrying)(factor, 1, 1, given, n, minus, 2, y, 1, z, n, squares, NULL) == CHOLUPDATE_OK);
    NAME(is)(factor, n, a, l);
    CHECK(NAME(solve_lt)(factor, 2, z, n) == CHOLUPDATE_OK);
    NAME(all_close)(2 * n, z, beta, 200);

    /* The same from the normal equations. */
    for (side = 0; side < 2; side++) sums[side] = (REAL)(all_squares[side] + (side ? 3 : 0));
    CHECK(NAME(carry)(factor, 2, start, n, sums) == CHOLUPDATE_OK);
    CHECK(sums[0] == -1 || (sums[0] >= 0 && sums[0] <= (sizeof(REAL) == 4 ? 1e-4 : 1e-12) * all_squares[0]));
    NAME(close)(sums[1], 3, 1 + all_squares[1]);
    CHECK(NAME(solve_lt)(factor, 2, start, n) == CHOLUPDATE_OK);
    NAME(all_close)(2 * n, start, beta, 200);
    NAME(free)(factor);
}
