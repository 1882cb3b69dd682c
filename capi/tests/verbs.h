/* Every function on a factor, in one precision: REAL, and NAME(verb) for the names of the functions. */

static void NAME(verbs)(void) {
    const REAL a[9] = {4, 2, 1, 77, 5, 2, 77, 77, 6};
    const REAL upper[9] = {4, 77, 77, 2, 5, 77, 1, 2, 6};
    const double whole[9] = {4, 2, 1, 2, 5, 2, 1, 2, 6};
    const REAL v[8] = {1, 0, 2, 77, 0, 1, 1, 77};
    const REAL one[2] = {1, 1}, mixed[2] = {2, -1};
    const REAL large[3] = {9, 0, 0};
    TYPE *factor = NULL, *other = NULL;
    WORKSPACE *workspace = NULL;
    cholupdate_report report = {-1, -1};
    REAL number, x[6], before[9], l[9];
    int32_t can = -1;

    CHECK(NAME(new)(3, a, 3, 'L', NULL, &factor) == CHOLUPDATE_OK);
    NAME(is)(factor, 3, whole);
    CHECK(NAME(new)(3, upper, 3, 'U', NULL, &other) == CHOLUPDATE_OK);
    NAME(is)(other, 3, whole);
    NAME(free)(other);

    /* A known factor, in either triangle; the other is neither read nor written. */
    memset(l, 0, sizeof l);
    CHECK(NAME(to_factor)(factor, 'U', l, 3) == CHOLUPDATE_OK && l[1] == 0 && l[3] != 0);
    CHECK(NAME(from_factor)(3, l, 3, 'U', NULL, &other) == CHOLUPDATE_OK);
    NAME(is)(other, 3, whole);
    NAME(free)(other);

    CHECK(NAME(update)(factor, 2, v, 4, &report) == CHOLUPDATE_OK);
    CHECK(report.min_pivot_ratio >= 1 && report.log_det_change > 0);
    { const double b[9] = {5, 2, 3, 2, 6, 3, 3, 3, 11}; NAME(is)(factor, 3, b); }
    CHECK(NAME(clone)(factor, &other) == CHOLUPDATE_OK);
    CHECK(NAME(can_downdate)(factor, 2, v, 4, &can) == CHOLUPDATE_OK && can == 1);
    CHECK(NAME(downdate)(factor, 2, v, 4, NULL) == CHOLUPDATE_OK);
    NAME(is)(factor, 3, whole);
    { const double b[9] = {5, 2, 3, 2, 6, 3, 3, 3, 11}; NAME(is)(other, 3, b); }
    NAME(free)(other);
    CHECK(NAME(modify)(factor, 2, v, 4, mixed, NULL) == CHOLUPDATE_OK);
    { const double b[9] = {6, 2, 5, 2, 4, 1, 5, 1, 13}; NAME(is)(factor, 3, b); }
    NAME(free)(factor);

    /* NULL weights are those of an update. */
    CHECK(NAME(new)(3, a, 3, 'L', NULL, &factor) == CHOLUPDATE_OK);
    CHECK(NAME(modify)(factor, 2, v, 4, NULL, NULL) == CHOLUPDATE_OK);
    { const double b[9] = {5, 2, 3, 2, 6, 3, 3, 3, 11}; NAME(is)(factor, 3, b); }
    NAME(free)(factor);

    /* An impossible change returns a status, and nothing changes. */
    CHECK(NAME(new)(3, a, 3, 'L', NULL, &factor) == CHOLUPDATE_OK);
    CHECK(NAME(to_factor)(factor, 'L', memset(before, 0, sizeof before), 3) == CHOLUPDATE_OK);
    report.min_pivot_ratio = -1;
    REFUSED(NAME(downdate)(factor, 1, large, 3, &report), CHOLUPDATE_NOT_POSITIVE_DEFINITE, "column 0");
    CHECK(cholupdate_last_error_column() == 0 && report.min_pivot_ratio == -1);
    CHECK(NAME(to_factor)(factor, 'L', memset(l, 0, sizeof l), 3) == CHOLUPDATE_OK);
    CHECK(memcmp(l, before, sizeof l) == 0);
    CHECK(NAME(can_downdate)(factor, 1, large, 3, &can) == CHOLUPDATE_OK && can == 0);

    /* Rows and columns. */
    {
        const REAL cross[3] = {1, 0, 1}, corner[1] = {7};
        const double b[16] = {4, 2, 1, 1, 2, 5, 2, 0, 1, 2, 6, 1, 1, 0, 1, 7};
        const int64_t last[1] = {3};
        const REAL columns[4] = {1, 7, 0, 1}, other_columns[3] = {2, 8, 2};
        const double c[16] = {4, 1, 2, 1, 1, 7, 0, 1, 2, 0, 5, 2, 1, 1, 2, 6};
        const double d[9] = {4, 2, 1, 2, 8, 2, 1, 2, 6};
        const int64_t one_row[1] = {1}, order[3] = {1, 2, 0};
        const double e[9] = {8, 2, 2, 2, 6, 1, 2, 1, 4};
        CHECK(NAME(reserve)(factor, 2) == CHOLUPDATE_OK);
        CHECK(NAME(append)(factor, 1, cross, 3, corner, 1, 'L', NULL) == CHOLUPDATE_OK);
        NAME(is)(factor, 4, b);
        CHECK(NAME(remove)(factor, 1, last, &report) == CHOLUPDATE_OK);
        NAME(is)(factor, 3, whole);
        CHECK(NAME(insert)(factor, 1, 1, columns, 4, NULL) == CHOLUPDATE_OK);
        NAME(is)(factor, 4, c);
        CHECK(NAME(remove)(factor, 1, one_row, NULL) == CHOLUPDATE_OK);
        CHECK(NAME(replace)(factor, 1, 1, other_columns, 3, NULL) == CHOLUPDATE_OK);
        NAME(is)(factor, 3, d);
        CHECK(NAME(permute)(factor, order, NULL) == CHOLUPDATE_OK);
        NAME(is)(factor, 3, e);
        CHECK(NAME(shift)(factor, 2, 0, NULL) == CHOLUPDATE_OK);
        NAME(is)(factor, 3, d);
    }
    NAME(free)(factor);

    /* Solves, and properties of A. */
    CHECK(NAME(new)(3, a, 3, 'L', NULL, &factor) == CHOLUPDATE_OK);
    x[0] = 7; x[1] = 9; x[2] = 9; x[3] = 4; x[4] = 2; x[5] = 1;
    CHECK(NAME(solve)(factor, 2, x, 3) == CHOLUPDATE_OK);
    NAME(near)(x[0], 1); NAME(near)(x[1], 1); NAME(near)(x[2], 1);
    NAME(near)(x[3], 1); NAME(near)(x[4], 0); NAME(near)(x[5], 0);
    x[0] = 7; x[1] = 9; x[2] = 9;
    CHECK(NAME(solve_l)(factor, 1, x, 3) == CHOLUPDATE_OK);
    CHECK(NAME(solve_lt)(factor, 1, x, 3) == CHOLUPDATE_OK);
    NAME(near)(x[0], 1); NAME(near)(x[1], 1); NAME(near)(x[2], 1);
    CHECK(NAME(multiply)(factor, 1, x, 3) == CHOLUPDATE_OK);
    NAME(near)(x[0], 7); NAME(near)(x[1], 9); NAME(near)(x[2], 9);
    CHECK(NAME(solve_l)(factor, 1, x, 3) == CHOLUPDATE_OK);
    CHECK(NAME(multiply_l)(factor, 1, x, 3) == CHOLUPDATE_OK);
    NAME(near)(x[0], 7); NAME(near)(x[1], 9); NAME(near)(x[2], 9);
    CHECK(NAME(solve_lt)(factor, 1, x, 3) == CHOLUPDATE_OK);
    CHECK(NAME(multiply_lt)(factor, 1, x, 3) == CHOLUPDATE_OK);
    NAME(near)(x[0], 7); NAME(near)(x[1], 9); NAME(near)(x[2], 9);
    CHECK(NAME(log_det)(factor, &number) == CHOLUPDATE_OK);
    NAME(near)(number, 4.418840607796598);
    CHECK(NAME(condition)(factor, &number) == CHOLUPDATE_OK && number >= 1 && number < 100);

    /* Arrays of the caller. */
    CHECK(NAME(workspace_new)(NULL, &workspace) == CHOLUPDATE_OK);
    memset(l, 0, sizeof l);
    CHECK(NAME(to_factor)(factor, 'L', l, 3) == CHOLUPDATE_OK);
    CHECK(NAME(modify_array)('L', 3, l, 3, 2, v, 4, mixed, workspace, &report) == CHOLUPDATE_OK);
    CHECK(NAME(from_factor)(3, l, 3, 'L', NULL, &other) == CHOLUPDATE_OK);
    { const double b[9] = {6, 2, 5, 2, 4, 1, 5, 1, 13}; NAME(is)(other, 3, b); }
    NAME(free)(other);
    memset(l, 0, sizeof l);
    CHECK(NAME(to_factor)(factor, 'U', l, 3) == CHOLUPDATE_OK);
    memcpy(before, l, sizeof l);
    REFUSED(NAME(modify_array)('U', 3, l, 3, 1, large, 3, mixed + 1, NULL, NULL), CHOLUPDATE_NOT_POSITIVE_DEFINITE, "column 0");
    CHECK(memcmp(l, before, sizeof l) == 0);
    CHECK(NAME(modify_array)('U', 3, l, 3, 2, v, 4, one, NULL, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(modify_array)('U', 3, before, 3, 2, v, 4, NULL, workspace, NULL) == CHOLUPDATE_OK);
    CHECK(memcmp(l, before, sizeof l) == 0);
    CHECK(NAME(from_factor)(3, l, 3, 'U', NULL, &other) == CHOLUPDATE_OK);
    { const double b[9] = {5, 2, 3, 2, 6, 3, 3, 3, 11}; NAME(is)(other, 3, b); }
    NAME(free)(other);
    NAME(workspace_free)(workspace);
    NAME(free)(factor);
}
