/* Copies of batches in GPU memory, and rows that come and go, in one precision, as batch_device.h. */

/* Each call against the same one in host memory, and without waiting. */
static void NAME(rows)(void) {
    /* (4 2 2; 2 5 1; 2 1 6), and (9 3 3; 3 2 1; 3 1 1), which is not positive definite. */
    const REAL a[8] = {4, 2, 77, 5, 9, 3, 77, 2}, column[6] = {2, 1, 6, 3, 1, 1}, small[1] = {16}, indefinite[4] = {1, 77, 2, 1};
    const int64_t chosen[3] = {1, 0, 1}, going[2] = {1, 0}, beyond[2] = {0, 2}, outside[2] = {-5, 0};
    const uint8_t first[2] = {1, 0}, second[2] = {0, 1};
    const uint64_t column_there = NAME(up)(column, 6);
    cholupdate_options options;
    TYPE *batch[2] = {NULL, NULL}, *other = NULL;
    double numbers[2][4][2];
    REAL l[2][18], three[12] = {0}, one[4] = {0};
    int64_t info[2], orders[2], count = 0, n = 0;
    uint64_t there = 0;
    int32_t status[2];
    int which, at;
    CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
    memset(l, 0, sizeof l);
    for (which = 0; which < 2; which++) {
        TYPE *own = NULL;
        double(*of)[2] = numbers[which];
        options.engine = which ? CHOLUPDATE_CUDA : CHOLUPDATE_CPU;
        CHECK(NAME(new)(2, 2, a, NULL, NULL, &options, &own) == CHOLUPDATE_OK);
        REFUSED(NAME(append)(own, column, NULL, NULL, info, NULL, NULL), CHOLUPDATE_SOME_FAILED, "matrix 0: `a`: the number of rows is 2, expected 3");
        CHECK(info[0] == -CHOLUPDATE_INVALID_ARGUMENT && info[1] == -CHOLUPDATE_INVALID_ARGUMENT);
        CHECK(NAME(reserve)(own, 3) == CHOLUPDATE_OK && NAME(extents)(own, &count, &n) == CHOLUPDATE_OK && count == 2 && n == 3);
        REFUSED(NAME(append)(own, column, NULL, NULL, info, of[0], of[1]), CHOLUPDATE_SOME_FAILED, "matrix 1: not positive definite");
        CHECK(info[0] == 0 && info[1] == 3 && isnan(of[0][1]) && isnan(of[1][1]));
        CHECK(NAME(orders)(own, orders) == CHOLUPDATE_OK && orders[0] == 3 && orders[1] == 2);
        CHECK(NAME(append)(own, column, NULL, second, info, NULL, NULL) == CHOLUPDATE_SOME_FAILED && info[0] == 0 && info[1] == 3);
        CHECK(NAME(to_factors)(own, l[which], NULL) == CHOLUPDATE_OK);
        CHECK(NAME(remove)(own, going, NULL, info, of[2], of[3]) == CHOLUPDATE_OK && info[0] == 0);
        CHECK(NAME(to_factor)(own, 0, 'L', one, 2) == CHOLUPDATE_OK && fabs((double)one[3] - sqrt(5.0)) < 1e-6);
        REFUSED(NAME(remove)(own, beyond, NULL, info, NULL, NULL), CHOLUPDATE_SOME_FAILED, "matrix 1: `indices`[1] is 2");
        CHECK(info[0] == 0 && info[1] == -CHOLUPDATE_INVALID_ARGUMENT);
        REFUSED(NAME(remove)(own, outside, NULL, NULL, NULL, NULL), CHOLUPDATE_INVALID_ARGUMENT, "`indices[0]` is -5");
        CHECK(NAME(remove)(own, beyond, first, NULL, NULL, NULL) == CHOLUPDATE_OK);
        CHECK(NAME(orders)(own, orders) == CHOLUPDATE_OK && orders[0] == 0 && orders[1] == 1);
        batch[which] = own;
    }
    NAME(near)(l[1], l[0], 18);
    for (at = 0; at < 4; at++) CHECK(fabs(numbers[0][at][0] - numbers[1][at][0]) < 1e-5);
    NAME(free)(batch[0]);
    NAME(free)(batch[1]);

    /* On the device, without waiting. */
    CHECK(NAME(new)(2, 2, a, NULL, NULL, &options, &batch[1]) == CHOLUPDATE_OK && NAME(reserve)(batch[1], 3) == CHOLUPDATE_OK);
    CHECK(NAME(append_on_device)(batch[1], column_there, NULL, NULL, 0, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(outcome_addresses)(batch[1], &there, NULL, NULL) == CHOLUPDATE_OK);
    to_host(status, there, sizeof status);
    CHECK(status[0] == 0 && status[1] == 3);
    REFUSED(NAME(outcome)(batch[1], info, NULL, NULL), CHOLUPDATE_SOME_FAILED, "matrix 1: not positive definite");
    CHECK(info[0] == 0 && info[1] == 3);
    CHECK(NAME(append_on_device)(batch[1], column_there, NULL, first, 0, NULL) == CHOLUPDATE_OK);
    REFUSED(NAME(outcome)(batch[1], info, NULL, NULL), CHOLUPDATE_SOME_FAILED, "matrix 0: `a`: the number of rows is 3, expected 4");
    CHECK(NAME(outcome_addresses)(batch[1], &there, NULL, NULL) == CHOLUPDATE_OK);
    to_host(status, there, sizeof status);
    CHECK(status[0] == -7 && status[1] == 0);
    memset(l, 0, sizeof l);
    CHECK(NAME(clone)(batch[1], &other) == CHOLUPDATE_OK);
    CHECK(NAME(to_factors)(batch[1], l[0], NULL) == CHOLUPDATE_OK && NAME(to_factors)(other, l[1], NULL) == CHOLUPDATE_OK);
    CHECK(memcmp(l[0], l[1], sizeof l[0]) == 0 && l[1][8] != 0);
    NAME(free)(other);
    NAME(free)(batch[1]);

    CHECK(NAME(new)(2, 2, a, NULL, NULL, &options, &batch[1]) == CHOLUPDATE_OK);
    CHECK(NAME(select)(batch[1], 3, chosen, &other) == CHOLUPDATE_OK && NAME(to_factors)(other, three, NULL) == CHOLUPDATE_OK);
    CHECK(three[0] == 3 && three[4] == 2 && three[5] == 1 && memcmp(three, three + 8, 4 * sizeof(REAL)) == 0);
    REFUSED(NAME(replace)(other, 0, 2, indefinite, 2, 'U'), CHOLUPDATE_NOT_POSITIVE_DEFINITE, "column 1");
    CHECK(NAME(to_factor)(other, 0, 'L', one, 2) == CHOLUPDATE_OK && one[0] == 3);
    CHECK(NAME(replace)(other, 0, 1, small, 1, 'L') == CHOLUPDATE_OK);
    CHECK(NAME(to_factor)(other, 0, 'L', one, 1) == CHOLUPDATE_OK && one[0] == 4);
    NAME(free)(other);
    NAME(free)(batch[1]);
}
