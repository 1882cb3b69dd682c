/* What complex factors refuse, in one precision, as in complex.h: nothing changes. */

/* An array `bad`, with one part of its last entry NaN or infinite. */
#define EACH_PART(count, from, call, words)                                        \
    do {                                                                           \
        int which;                                                                 \
        for (which = 0; which < 4; which++) {                                      \
            NUMBER bad[4] = {0};                                                   \
            memcpy(bad, from, (count) * sizeof *bad);                              \
            ((REAL *)&bad[(count) - 1])[which % 2] = (REAL)(which < 2 ? NAN : INFINITY); \
            REFUSED(call, CHOLUPDATE_NOT_FINITE, words);                           \
        }                                                                          \
    } while (0)

static void NAME(refuses_making)(const NUMBER *a) {
    const NUMBER indefinite[4] = {1, 2 * I, 77, 1}, huge[4] = {(REAL)1e38 * (REAL)(sizeof(REAL) == 4 ? 1 : 1e200), 0, 0, 1};
    const cholupdate_engine engines[4] = {CHOLUPDATE_HYBRID, CHOLUPDATE_CUDA, CHOLUPDATE_OPENCL, CHOLUPDATE_DISTRIBUTED};
    TYPE *factor = NULL, *copy = NULL;
    cholupdate_options options;
    int engine;
    REFUSED(NAME(new)(2, NULL, 2, 'L', NULL, &factor), NULLS, "`a`");
    REFUSED(NAME(new)(2, a, 2, 'L', NULL, NULL), NULLS, "`factor`");
    REFUSED(NAME(new)(-1, a, 2, 'L', NULL, &factor), INVALID, "`n` is -1");
    REFUSED(NAME(new)(2, a, 1, 'U', NULL, &factor), INVALID, "`lda` is 1");
    REFUSED(NAME(new)(2, a, 2, 'X', NULL, &factor), INVALID, "`uplo` is 'X'");
    REFUSED(NAME(new)(INT64_MAX, a, INT64_MAX, 'U', NULL, &factor), INVALID, "`a`");
    REFUSED(NAME(new)(2, indefinite, 2, 'L', NULL, &factor), CHOLUPDATE_NOT_POSITIVE_DEFINITE, "column 1");
    REFUSED(NAME(from_factor)(2, huge, 2, 'L', NULL, &factor), CHOLUPDATE_OVERFLOW, "`l`");
    EACH_PART(2, a, NAME(new)(2, bad, 2, 'L', NULL, &factor), "`a`");
    EACH_PART(3, a, NAME(new)(2, bad, 2, 'U', NULL, &factor), "`a`");
    EACH_PART(2, a, NAME(from_factor)(2, bad, 2, 'L', NULL, &factor), "`l`");
    EACH_PART(4, a, NAME(from_factor)(2, bad, 2, 'U', NULL, &factor), "`l`");
    REFUSED(NAME(zeros)((int64_t)1 << 28, NULL, &factor), INVALID, "`n` is 268435456");
    CHECK(factor == NULL);

    /* Complex numbers are for the CPU, whether there is a GPU or not. */
    CHECK(NAME(new)(2, a, 2, 'L', NULL, &factor) == CHOLUPDATE_OK);
    for (engine = 0; engine < 4; engine++) {
        CHECK(cholupdate_options_init(&options) == CHOLUPDATE_OK);
        options.engine = (int32_t)engines[engine];
        REFUSED(NAME(new)(2, a, 2, 'L', &options, &copy), INVALID, "must be 0 (CPU) for complex numbers");
        REFUSED(NAME(from_factor)(2, a, 2, 'L', &options, &copy), INVALID, "must be 0 (CPU) for complex numbers");
        REFUSED(NAME(zeros)(2, &options, &copy), INVALID, "must be 0 (CPU) for complex numbers");
        REFUSED(NAME(to_engine)(factor, &options, &copy), INVALID, "must be 0 (CPU) for complex numbers");
    }
    CHECK(copy == NULL);
    NAME(free)(factor);
    NAME(free)(NULL);
}

static void NAME(refuses_modifying)(TYPE *factor, const NUMBER *x) {
    const NUMBER far[2] = {0.5, 40 * I};
    const REAL minus[1] = {-1}, nan_weight[1] = {(REAL)NAN};
    const int64_t twice[2] = {1, 1}, negative[1] = {-1};
    REAL squares[1] = {9};
    NUMBER z[2] = {1, I};
    PENDING *pending = NULL;
    int32_t can = 7;
    REFUSED(NAME(update)(NULL, 1, x, 2, NULL), NULLS, "`factor`");
    REFUSED(NAME(update)(factor, 1, NULL, 2, NULL), NULLS, "`v`");
    REFUSED(NAME(update)(factor, -1, x, 2, NULL), INVALID, "`k` is -1");
    REFUSED(NAME(update)(factor, 1, x, 1, NULL), INVALID, "`ldv` is 1");
    REFUSED(NAME(modify)(factor, 1, x, 2, nan_weight, NULL), CHOLUPDATE_NOT_FINITE, "`weights`");
    REFUSED(NAME(modify_scaled)(factor, 0, 1, x, 2, NULL, NULL), INVALID, "`decay`");
    REFUSED(NAME(can_downdate)(factor, 1, x, 2, NULL), NULLS, "`can`");
    EACH_PART(2, x, NAME(update)(factor, 1, bad, 2, NULL), "`v`");
    EACH_PART(2, x, NAME(downdate)(factor, 1, bad, 2, NULL), "`v`");
    EACH_PART(2, x, NAME(can_downdate)(factor, 1, bad, 2, &can), "`v`");
    EACH_PART(2, x, NAME(submit)(factor, 1, bad, 2, NULL, &pending), "`v`");
    REFUSED(NAME(downdate)(factor, 1, far, 2, NULL), CHOLUPDATE_NOT_POSITIVE_DEFINITE, "column 1");
    CHECK(cholupdate_last_error_column() == 1);
    REFUSED(NAME(modify)(factor, 1, far, 2, minus, NULL), CHOLUPDATE_NOT_POSITIVE_DEFINITE, "column 1");
    REFUSED(NAME(submit)(factor, 1, far, 2, minus, &pending), CHOLUPDATE_NOT_POSITIVE_DEFINITE, "column 1");
    CHECK(NAME(can_downdate)(factor, 1, far, 2, &can) == CHOLUPDATE_OK && can == 0 && pending == NULL);
    REFUSED(NAME(modify_carrying)(factor, 1, 1, far, 2, minus, 1, x, 1, z, 2, squares, NULL), CHOLUPDATE_NOT_POSITIVE_DEFINITE, "column 1");
    EACH_PART(1, x, NAME(modify_carrying)(factor, 1, 1, x, 2, NULL, 1, bad, 1, z, 2, squares, NULL), "`y`");
    EACH_PART(2, x, NAME(modify_carrying)(factor, 1, 1, x, 2, NULL, 1, x, 1, bad, 2, squares, NULL), "`z`");
    EACH_PART(2, x, NAME(carry)(factor, 1, bad, 2, squares), "`b`");
    CHECK(squares[0] == 9 && (number)z[0] == 1 && (number)z[1] == I);
    EACH_PART(2, x, NAME(append)(factor, 1, bad, 2, x, 1, 'L', NULL), "`cross`");
    EACH_PART(2, x, NAME(append)(factor, 2, x, 2, bad, 2, 'L', NULL), "`corner`");
    EACH_PART(3, x, NAME(insert)(factor, 0, 1, bad, 3, NULL), "`columns`");
    REFUSED(NAME(append)(factor, 1, x, 2, x, 1, 'Q', NULL), INVALID, "`uplo`");
    REFUSED(NAME(insert)(factor, 3, 1, x, 3, NULL), INVALID, "`at` is 3");
    REFUSED(NAME(replace)(factor, 2, 1, x, 2, NULL), INVALID, "`at`");
    REFUSED(NAME(remove)(factor, 1, negative, NULL), INVALID, "`indices[0]` is -1");
    REFUSED(NAME(permute)(factor, twice, NULL), INVALID, "`order`");
    REFUSED(NAME(shift)(factor, 0, 2, NULL), INVALID, "`to`");
    REFUSED(NAME(reserve)(factor, INT64_MAX), INVALID, "`additional`");
}

static void NAME(refuses_solving)(TYPE *factor, const NUMBER *x) {
    EXTENSION *extension = NULL;
    NUMBER b[2] = {1, I};
    EACH_PART(2, x, NAME(solve)(factor, 1, bad, 2), "`b`");
    EACH_PART(2, x, NAME(solve_lt)(factor, 1, bad, 2), "`b`");
    EACH_PART(2, x, NAME(multiply)(factor, 1, bad, 2), "`x`");
    EACH_PART(2, x, NAME(extension_new)(factor, 1, bad, 2, x, 1, 'L', &extension), "`cross`");
    EACH_PART(3, x, NAME(extension_new)(factor, 2, x, 2, bad, 2, 'U', &extension), "`corner`");
    REFUSED(NAME(solve)(factor, 1, NULL, 2), NULLS, "`b`");
    REFUSED(NAME(solve_l)(factor, 1, b, 1), INVALID, "`ldb` is 1");
    REFUSED(NAME(multiply_lt)(factor, -1, b, 2), INVALID, "`m` is -1");
    REFUSED(NAME(log_det)(factor, NULL), NULLS, "`log_det`");
    REFUSED(NAME(condition)(NULL, NULL), NULLS, "`factor`");
    REFUSED(NAME(to_factor)(factor, 'L', b, 1), INVALID, "`ldl` is 1");
    REFUSED(NAME(clone)(factor, NULL), NULLS, "`copy`");
    CHECK((number)b[0] == 1 && (number)b[1] == I && extension == NULL);
}

static void NAME(refuses)(void) {
    const NUMBER a[4] = {4, 1 + 2 * I, 1 - 2 * I, 5}, x[4] = {1 + I, 2, 0.5, 3};
    NUMBER before[4] = {0}, after[4] = {0};
    TYPE *factor = NULL;
    NAME(refuses_making)(a);
    CHECK(NAME(new)(2, a, 2, 'L', NULL, &factor) == CHOLUPDATE_OK);
    CHECK(NAME(to_factor)(factor, 'L', before, 2) == CHOLUPDATE_OK);
    NAME(refuses_modifying)(factor, x);
    NAME(refuses_solving)(factor, x);
    CHECK(NAME(to_factor)(factor, 'L', after, 2) == CHOLUPDATE_OK);
    CHECK(memcmp(before, after, sizeof before) == 0);
    /* Empty arrays may be NULL. */
    CHECK(NAME(update)(factor, 0, NULL, 2, NULL) == CHOLUPDATE_OK);
    CHECK(NAME(solve)(factor, 0, NULL, 2) == CHOLUPDATE_OK);
    NAME(free)(factor);
    CHECK(NAME(new)(0, NULL, 0, 'U', NULL, &factor) == CHOLUPDATE_OK);
    NAME(free)(factor);
}

#undef EACH_PART
