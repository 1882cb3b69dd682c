/* Every function on a batch, in one precision: REAL, TYPE, and NAME(verb) for the names of the functions. */

static void NAME(near)(double found, double expected) {
    double off = found - expected, most = (sizeof(REAL) == 4 ? 1e-5 : 1e-13) * (1 + fabs(expected));
    if (!(off <= most && off >= -most)) {
        fprintf(stderr, "%.17g, not %.17g\n", found, expected);
        exit(1);
    }
}

/* Checks that A (2 x 2 each, three entries) are the matrices of the factors. */
static void NAME(are)(const TYPE *batch, int64_t count, const double *a) {
    REAL l[16];
    int64_t b, found = -1, n = -1;
    for (b = 0; b < 16; b++) l[b] = 77;
    CHECK(NAME(extents)(batch, &found, &n) == CHOLUPDATE_OK && found == count && n == 2);
    CHECK(NAME(to_factors)(batch, l, NULL) == CHOLUPDATE_OK);
    for (b = 0; b < count; b++) {
        double l00 = (double)l[4 * b], l10 = (double)l[4 * b + 1], l11 = (double)l[4 * b + 3];
        NAME(near)(l00 * l00, a[3 * b]);
        NAME(near)(l10 * l00, a[3 * b + 1]);
        NAME(near)(l10 * l10 + l11 * l11, a[3 * b + 2]);
        CHECK(l[4 * b + 2] == 77);
    }
}

static void NAME(all)(void) {
    /* Two matrices, column-major; the upper triangles are not read. */
    const REAL a[8] = {4, 2, 77, 5, 9, 3, 77, 2}, v[4] = {1, 2, 0, 1.5};
    const double whole[6] = {4, 2, 5, 9, 3, 2};
    const REAL beside[8] = {4, 9, 2, 3, 77, 77, 5, 2};
    const int64_t side_by_side[3] = {1, 2, 4}, transposed[3] = {4, 2, 1}, same[3] = {0, 1, 2};
    int64_t info[3] = {-1, -1, -1};
    double ratio[3] = {0}, change[3] = {0}, log_det[3] = {0};
    TYPE *batch = NULL, *other = NULL;
    REAL l[8] = {0}, again[8] = {0}, b[4] = {8, 12, 15, 7};

    CHECK(NAME(new)(2, 2, a, NULL, NULL, NULL, &batch) == CHOLUPDATE_OK);
    NAME(are)(batch, 2, whole);
    CHECK(NAME(new)(2, 2, beside, side_by_side, NULL, NULL, &other) == CHOLUPDATE_OK);
    NAME(are)(other, 2, whole);
    NAME(free)(other);

    /* Known factors, in either triangle. */
    CHECK(NAME(to_factors)(batch, l, transposed) == CHOLUPDATE_OK && l[1] == 0 && l[2] != 0);
    CHECK(NAME(from_factors)(2, 2, l, transposed, NULL, &other) == CHOLUPDATE_OK);
    NAME(are)(other, 2, whole);
    NAME(free)(other);
    CHECK(NAME(to_factor)(batch, 1, 'U', again, 2) == CHOLUPDATE_OK);
    CHECK(again[0] == l[4] && again[1] == 0 && again[2] == l[6] && again[3] == l[7]);

    CHECK(NAME(update)(batch, 1, v, NULL, info, ratio, change) == CHOLUPDATE_OK);
    { const double c[6] = {5, 4, 9, 9, 3, 4.25}; NAME(are)(batch, 2, c); }
    CHECK(info[0] == 0 && info[1] == 0 && ratio[0] >= 1 && ratio[1] == 1 && change[0] > 0);
    NAME(near)(change[1], log(29.25 / 9));
    CHECK(NAME(clone)(batch, &other) == CHOLUPDATE_OK);
    CHECK(NAME(downdate)(batch, 1, v, NULL, NULL, NULL, NULL) == CHOLUPDATE_OK);
    NAME(are)(batch, 2, whole);
    { const double c[6] = {5, 4, 9, 9, 3, 4.25}; NAME(are)(other, 2, c); }
    NAME(free)(other);

    /* The second would not be positive definite: it stays as it was, and the first is downdated. */
    CHECK(NAME(to_factors)(batch, memset(l, 0, sizeof l), NULL) == CHOLUPDATE_OK);
    REFUSED(NAME(downdate)(batch, 1, v, NULL, info, ratio, change), CHOLUPDATE_SOME_FAILED, "matrix 1: not positive definite");
    CHECK(cholupdate_last_error_column() == 1 && info[0] == 0 && info[1] == 2);
    CHECK(ratio[0] < 1 && isnan(ratio[1]) && change[0] < 0 && isnan(change[1]));
    CHECK(NAME(to_factors)(batch, memset(again, 0, sizeof again), NULL) == CHOLUPDATE_OK);
    CHECK(memcmp(l + 4, again + 4, 4 * sizeof(REAL)) == 0 && l[3] != again[3]);
    CHECK(NAME(update)(batch, 1, v, NULL, NULL, NULL, NULL) == CHOLUPDATE_OK);
    /* One V for all. */
    CHECK(NAME(update)(batch, 1, v, same, NULL, NULL, NULL) == CHOLUPDATE_OK);
    { const double c[6] = {5, 4, 9, 10, 5, 8.25}; NAME(are)(batch, 2, c); }
    NAME(free)(batch);

    /* Weights of all and of each, a mask, and what is not finite. */
    {
        const REAL shared[1] = {2}, each[4] = {2, 77, -1, 77}, bad[4] = {1, 2, 0, NAN};
        const uint8_t first[2] = {1, 0};
        CHECK(NAME(new)(2, 2, a, NULL, NULL, NULL, &batch) == CHOLUPDATE_OK);
        CHECK(NAME(modify)(batch, 1, v, NULL, shared, 0, first, info, ratio, change) == CHOLUPDATE_OK);
        { const double c[6] = {6, 6, 13, 9, 3, 2}; NAME(are)(batch, 2, c); }
        CHECK(ratio[1] == 1 && change[1] == 0);
        CHECK(NAME(modify)(batch, 1, v, NULL, NULL, 0, NULL, NULL, NULL, NULL) == CHOLUPDATE_OK);
        { const double c[6] = {7, 8, 17, 9, 3, 4.25}; NAME(are)(batch, 2, c); }
        CHECK(NAME(modify)(batch, 1, v, NULL, each, 2, NULL, info, NULL, NULL) == CHOLUPDATE_OK);
        { const double c[6] = {9, 12, 25, 9, 3, 2}; NAME(are)(batch, 2, c); }
        REFUSED(NAME(update)(batch, 1, bad, NULL, info, NULL, NULL), CHOLUPDATE_SOME_FAILED, "matrix 1: `v` is not finite at (1, 0)");
        CHECK(info[0] == 0 && info[1] == -CHOLUPDATE_NOT_FINITE && cholupdate_last_error_column() == -1);
        { const double c[6] = {10, 14, 29, 9, 3, 2}; NAME(are)(batch, 2, c); }
        NAME(free)(batch);
    }

    /* Solves and determinants. */
    CHECK(NAME(new)(2, 2, a, NULL, NULL, NULL, &batch) == CHOLUPDATE_OK);
    CHECK(NAME(solve)(batch, 1, b, NULL, info) == CHOLUPDATE_OK);
    NAME(near)(b[0], 1); NAME(near)(b[1], 2); NAME(near)(b[2], 1); NAME(near)(b[3], 2);
    b[0] = 8; b[1] = 12; b[2] = 15; b[3] = 7;
    CHECK(NAME(solve_l)(batch, 1, b, NULL, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(solve_lt)(batch, 1, b, NULL, NULL) == CHOLUPDATE_OK);
    NAME(near)(b[0], 1); NAME(near)(b[1], 2); NAME(near)(b[2], 1); NAME(near)(b[3], 2);
    CHECK(NAME(log_det)(batch, log_det, info) == CHOLUPDATE_OK);
    NAME(near)(log_det[0], log(16.0)); NAME(near)(log_det[1], log(9.0));
    b[0] = NAN;
    REFUSED(NAME(solve)(batch, 1, b, NULL, info), CHOLUPDATE_SOME_FAILED, "matrix 0: `b` is not finite at (0, 0)");
    CHECK(info[0] == -CHOLUPDATE_NOT_FINITE && info[1] == 0 && b[1] == 2);

    /* Other matrices. */
    {
        const int64_t chosen[3] = {1, 0, 1};
        const REAL small[1] = {16}, indefinite[4] = {1, 77, 2, 1};
        const double c[9] = {9, 3, 2, 4, 2, 5, 9, 3, 2};
        CHECK(NAME(select)(batch, 3, chosen, &other) == CHOLUPDATE_OK);
        NAME(are)(other, 3, c);
        REFUSED(NAME(replace)(other, 0, 2, indefinite, 2, 'U'), CHOLUPDATE_NOT_POSITIVE_DEFINITE, "column 1");
        NAME(are)(other, 3, c);
        CHECK(NAME(replace)(other, 0, 1, small, 1, 'L') == CHOLUPDATE_OK);
        CHECK(NAME(to_factor)(other, 0, 'L', l, 1) == CHOLUPDATE_OK && l[0] == 4);
        NAME(free)(other);
    }
    NAME(free)(batch);

    /* Rows and columns that come and go. */
    {
        /* (4 2 2; 2 5 1; 2 1 6), and (9 3 3; 3 2 1; 3 1 1), which is not positive definite. */
        const REAL column[6] = {2, 1, 6, 3, 1, 1}, beside_each_other[6] = {2, 3, 1, 1, 6, 1}, far[6] = {2, 1, NAN, 0, 0, 1};
        const int64_t side[3] = {1, 2, 0}, going[2] = {1, 0}, outside[2] = {-5, 2}, beyond[2] = {0, 2};
        const uint8_t first[2] = {1, 0}, second[2] = {0, 1};
        int64_t orders[2] = {7, 7}, n = 0;
        REAL three[18] = {0};
        CHECK(NAME(new)(2, 2, a, NULL, NULL, NULL, &batch) == CHOLUPDATE_OK);
        CHECK(NAME(orders)(batch, orders) == CHOLUPDATE_OK && orders[0] == 2 && orders[1] == 2);
        REFUSED(NAME(append)(batch, column, NULL, NULL, info, NULL, NULL), CHOLUPDATE_SOME_FAILED, "matrix 0: `a`: the number of rows is 2, expected 3");
        CHECK(info[0] == -CHOLUPDATE_INVALID_ARGUMENT && info[1] == -CHOLUPDATE_INVALID_ARGUMENT);
        CHECK(NAME(reserve)(batch, 3) == CHOLUPDATE_OK && NAME(reserve)(batch, 1) == CHOLUPDATE_OK);
        CHECK(NAME(extents)(batch, NULL, &n) == CHOLUPDATE_OK && n == 3);
        REFUSED(NAME(append)(batch, column, NULL, NULL, info, ratio, change), CHOLUPDATE_SOME_FAILED, "matrix 1: not positive definite");
        CHECK(info[0] == 0 && info[1] == 3 && ratio[0] < 1 && isnan(ratio[1]) && isnan(change[1]));
        NAME(near)(change[0], log(5.0)); NAME(near)(ratio[0], 5.0 / 6);
        CHECK(NAME(orders)(batch, orders) == CHOLUPDATE_OK && orders[0] == 3 && orders[1] == 2);
        CHECK(NAME(to_factors)(batch, three, NULL) == CHOLUPDATE_OK);
        NAME(near)(three[2], 1); NAME(near)(three[5], 0); NAME(near)(three[8], sqrt(5.0)); NAME(near)(three[10], 1);
        CHECK(NAME(append)(batch, far, NULL, second, info, NULL, NULL) == CHOLUPDATE_OK);
        CHECK(info[0] == 0 && info[1] == 0);
        CHECK(NAME(remove)(batch, going, NULL, info, ratio, change) == CHOLUPDATE_OK);
        NAME(near)(change[0], log(20.0 / 80)); CHECK(ratio[0] == 1 && ratio[1] == 1);
        CHECK(NAME(orders)(batch, orders) == CHOLUPDATE_OK && orders[0] == 2 && orders[1] == 2);
        CHECK(NAME(to_factor)(batch, 0, 'L', l, 2) == CHOLUPDATE_OK);
        NAME(near)(l[0], 2); NAME(near)(l[1], 1); NAME(near)(l[3], sqrt(5.0));
        REFUSED(NAME(remove)(batch, beyond, NULL, info, NULL, NULL), CHOLUPDATE_SOME_FAILED, "matrix 1: `indices`[1] is 2");
        CHECK(info[0] == 0 && info[1] == -CHOLUPDATE_INVALID_ARGUMENT);
        REFUSED(NAME(remove)(batch, outside, NULL, NULL, NULL, NULL), CHOLUPDATE_INVALID_ARGUMENT, "`indices[0]` is -5");
        CHECK(NAME(remove)(batch, beyond, first, NULL, NULL, NULL) == CHOLUPDATE_OK);
        CHECK(NAME(append)(batch, beside_each_other, side, first, NULL, NULL, NULL) == CHOLUPDATE_OK);
        CHECK(NAME(orders)(batch, orders) == CHOLUPDATE_OK && orders[0] == 1 && orders[1] == 2);
        NAME(free)(batch);
    }

    /* Matrices without a factor, of other orders, and singular ones. */
    {
        const REAL some[12] = {4, 2, 77, 5, -1, 0, 77, 1, 9, NAN, NAN, NAN};
        const int64_t orders[3] = {2, 2, 1};
        const REAL zeros[4] = {0}, one[6] = {1, 2, 1, 2, 4, NAN};
        batch = NULL;
        REFUSED(NAME(new)(3, 2, some, NULL, orders, NULL, &batch), CHOLUPDATE_SOME_FAILED, "matrix 1: not positive definite");
        CHECK(batch != NULL && cholupdate_last_error_column() == 0);
        CHECK(NAME(status)(batch, info) == CHOLUPDATE_SOME_FAILED && info[0] == 0 && info[1] == 1 && info[2] == 0);
        CHECK(NAME(to_factor)(batch, 1, 'L', l, 2) == CHOLUPDATE_NOT_POSITIVE_DEFINITE);
        CHECK(NAME(to_factor)(batch, 2, 'L', l, 1) == CHOLUPDATE_OK && l[0] == 3);
        CHECK(NAME(update)(batch, 1, one, NULL, info, ratio, NULL) == CHOLUPDATE_SOME_FAILED);
        CHECK(info[0] == 0 && info[1] == 1 && info[2] == 0 && isnan(ratio[1]));
        CHECK(NAME(to_factor)(batch, 2, 'L', l, 1) == CHOLUPDATE_OK);
        NAME(near)(l[0], 5);
        CHECK(NAME(log_det)(batch, log_det, NULL) == CHOLUPDATE_SOME_FAILED && isnan(log_det[1]) && !isnan(log_det[2]));
        CHECK(NAME(replace)(batch, 1, 2, a, 2, 'L') == CHOLUPDATE_OK);
        CHECK(NAME(status)(batch, NULL) == CHOLUPDATE_OK);
        NAME(free)(batch);
        CHECK(NAME(from_factors)(1, 2, zeros, NULL, NULL, &batch) == CHOLUPDATE_OK);
        REFUSED(NAME(downdate)(batch, 1, one, NULL, info, NULL, NULL), CHOLUPDATE_SOME_FAILED, "matrix 0: singular");
        CHECK(info[0] == 1 && cholupdate_last_error_column() == 0);
        NAME(free)(batch);
    }
}
