/* What one process does wrong is an error of all, in the same call, and nothing changes. */

#define NULLS CHOLUPDATE_MPI_NULL_POINTER
#define INVALID CHOLUPDATE_MPI_INVALID_ARGUMENT
#define DIFFERENT CHOLUPDATE_MPI_DIFFERENT_ARGUMENTS
/* An argument of the last process, and that of the others. */
#define LAST(wrong, right) (rank == ranks - 1 ? (wrong) : (right))

static void NAME(making)(int64_t n, const cholupdate_mpi_options *options) {
    const int64_t ld = NAME(rows)(n, options);
    double *a = NAME(whole)(n);
    REAL *rows = NAME(mine)(a, n, n, options, ld), *whole = malloc((size_t)(n * n) * sizeof *whole);
    TYPE *factor = NULL;
    REAL *const nowhere = NULL;
    /* Of a process outside the grid. */
    const int outside[9] = {1, -1, (int)n, (int)n, 16, 16, 0, 0, 1};
    int64_t i;
    for (i = 0; i < n * n; i++) whole[i] = (REAL)a[i];
    REFUSED_BY_LAST(NAME2(new)(MPI_COMM_WORLD, n, LAST(nowhere, rows), ld, options, &factor), NULLS, "`a` is NULL");
    REFUSED_BY_LAST(NAME2(new)(MPI_COMM_WORLD, n, rows, ld, options, LAST(NULL, &factor)), NULLS, "`factor` is NULL");
    REFUSED_BY_LAST(NAME2(new)(MPI_COMM_WORLD, LAST(-1, n), rows, ld, options, &factor), INVALID, "`n` is -1");
    REFUSED_BY_LAST(NAME2(new)(MPI_COMM_WORLD, LAST(INT64_MAX, n), rows, ld, options, &factor), INVALID, "`n` is");
    REFUSED_BY_LAST(NAME2(new)(MPI_COMM_WORLD, n, rows, LAST(1, ld), options, &factor), INVALID, "`lda` is 1");
    REFUSED_BY_LAST(NAME2(from_factor)(MPI_COMM_WORLD, n, LAST(nowhere, rows), ld, options, &factor), NULLS, "`l` is NULL");
    REFUSED_BY_LAST(NAME2(scatter)(MPI_COMM_WORLD, LAST(-1, 0), n, whole, n, options, &factor), INVALID, "`root` is -1");
    REFUSED_BY_LAST(NAME2(scatter)(MPI_COMM_WORLD, ranks - 1, n, LAST(nowhere, whole), n, options, &factor), NULLS, "`a` is NULL");
    REFUSED(NAME2(scatter)(MPI_COMM_WORLD, ranks, n, whole, n, options, &factor), INVALID, "`root`");
    REFUSED_BY_LAST(NAME2(scatter_factor)(MPI_COMM_WORLD, ranks - 1, n, whole, LAST(0, n), options, &factor), INVALID, "`ldl` is 0");
    REFUSED_BY_LAST(NAME2(from_scalapack)(MPI_COMM_WORLD, n, outside, NULL, options, LAST(NULL, &factor)), NULLS, "`factor` is NULL");
    REFUSED_BY_LAST(NAME2(from_scalapack)(MPI_COMM_WORLD, n, LAST(NULL, outside), NULL, options, &factor), NULLS, "`descriptor` is NULL");
    if (rank == ranks - 1) rows[0] = NAN;
    REFUSED(NAME2(new)(MPI_COMM_WORLD, n, rows, ld, options, &factor), CHOLUPDATE_MPI_NOT_FINITE, "`a`");
    if (ranks > 1) {
        REFUSED(NAME2(new)(MPI_COMM_WORLD, LAST(n - 1, n), rows, ld, options, &factor), DIFFERENT, "the order");
        REFUSED(NAME2(scatter)(MPI_COMM_WORLD, LAST(1, 0), n, whole, n, options, &factor), DIFFERENT, "root");
        REFUSED(rank == 0 ? NAME2(new)(MPI_COMM_WORLD, n, rows, ld, options, &factor)
                          : NAME2(from_factor)(MPI_COMM_WORLD, n, rows, ld, options, &factor), DIFFERENT, "the call");
        REFUSED(rank == 0 ? NAME2(new)(MPI_COMM_WORLD, n, rows, ld, options, &factor)
                          : cholupdate_mpi_refuse(MPI_COMM_WORLD, "no array"), INVALID, "no array (process 1)");
    }
    REFUSED(cholupdate_mpi_refuse(MPI_COMM_WORLD, "no array"), INVALID, "no array");
    CHECK(factor == NULL);
    free(a);
    free(rows);
    free(whole);
}

static void NAME(refusals)(const cholupdate_mpi_options *options) {
    const int64_t n = 70, local = NAME(rows)(n, options), ld = local + 1;
    double *a = NAME(whole)(n), all[140];
    REAL *whole = malloc((size_t)(n * n) * sizeof *whole), *v, *l = malloc((size_t)(n * n) * sizeof *l), *const nowhere = NULL;
    REAL corner[4] = {9, 1, 1, 9}, weights[2] = {1, 1};
    TYPE *factor = NULL;
    int32_t can = 7;
    int64_t i;
    NAME(making)(n, options);
    for (i = 0; i < n * n; i++) whole[i] = (REAL)a[i];
    for (i = 0; i < 2 * n; i++) all[i] = NAME(v_entry)(i % n, i / n);
    v = NAME(mine)(all, n, 2, options, ld);
    CHECK(NAME2(scatter)(MPI_COMM_WORLD, 0, n, whole, n, options, &factor) == CHOLUPDATE_MPI_OK);

    REFUSED(NAME2(update)(NULL, 1, v, ld, 0, NULL), NULLS, "`factor` is NULL");
    REFUSED_BY_LAST(NAME2(update)(factor, 2, LAST(nowhere, v), ld, 0, NULL), NULLS, "`v` is NULL");
    REFUSED_BY_LAST(NAME2(update)(factor, LAST(-1, 2), v, ld, 0, NULL), INVALID, "`k` is -1");
    REFUSED_BY_LAST(NAME2(update)(factor, LAST(INT64_MAX, 2), v, ld, 0, NULL), INVALID, "`k` is");
    REFUSED_BY_LAST(NAME2(update)(factor, 2, v, LAST(1, ld), 0, NULL), INVALID, "`ldv` is 1");
    REFUSED_BY_LAST(NAME2(update)(factor, 2, v, ld, LAST(2, 0), NULL), INVALID, "`rows` is 2");
    REFUSED_BY_LAST(NAME2(update)(factor, 2, (const REAL *)(const void *)((const char *)v + LAST(1, 0)), ld, 0, NULL), INVALID, "`v`");
    REFUSED_BY_LAST(NAME2(downdate)(factor, 2, LAST(nowhere, v), ld, 0, NULL), NULLS, "`v` is NULL");
    REFUSED_BY_LAST(NAME2(modify)(factor, 2, LAST(nowhere, v), ld, 0, weights, NULL), NULLS, "`v` is NULL");
    REFUSED_BY_LAST(NAME2(can_downdate)(factor, 2, v, ld, 0, LAST(NULL, &can)), NULLS, "`can` is NULL");
    REFUSED_BY_LAST(NAME2(append)(factor, 2, LAST(nowhere, v), ld, 0, corner, 2, NULL), NULLS, "`cross` is NULL");
    REFUSED_BY_LAST(NAME2(append)(factor, 2, v, ld, 0, LAST(nowhere, corner), 2, NULL), NULLS, "`corner` is NULL");
    REFUSED_BY_LAST(NAME2(append)(factor, 2, v, ld, 0, corner, LAST(1, 2), NULL), INVALID, "`ldcorner` is 1");
    REFUSED_BY_LAST(NAME2(append)(factor, LAST(-2, 2), v, ld, 0, corner, 2, NULL), INVALID, "`r` is -2");
    REFUSED_BY_LAST(NAME2(remove_last)(factor, LAST(-1, 1), NULL), INVALID, "`count` is -1");
    REFUSED(NAME2(remove_last)(factor, n + 1, NULL), INVALID, "`count`");
    REFUSED_BY_LAST(NAME2(solve)(factor, 2, LAST(nowhere, v), ld), NULLS, "`b` is NULL");
    REFUSED_BY_LAST(NAME2(solve_l)(factor, LAST(-1, 2), v, ld), INVALID, "`nrhs` is -1");
    REFUSED_BY_LAST(NAME2(solve_lt)(factor, 2, v, LAST(0, ld)), INVALID, "`ldb` is 0");
    REFUSED_BY_LAST(NAME2(gather)(factor, LAST(-1, 0), l, n), INVALID, "`root` is -1");
    REFUSED_BY_LAST(NAME2(gather)(factor, ranks - 1, LAST(nowhere, l), n), NULLS, "`l` is NULL");
    REFUSED_BY_LAST(NAME2(gather)(factor, ranks - 1, l, LAST(1, n)), INVALID, "`ldl` is 1");
    REFUSED(NAME2(gather)(factor, ranks, l, n), INVALID, "`root`");

    /* Errors that the library finds, by its own agreement. */
    if (rank == ranks - 1) v[0] = NAN;
    REFUSED(NAME2(update)(factor, 2, v, ld, 0, NULL), CHOLUPDATE_MPI_NOT_FINITE, "`v`");
    REFUSED(NAME2(solve)(factor, 2, v, ld), CHOLUPDATE_MPI_NOT_FINITE, "`b`");
    if (rank == ranks - 1) v[0] = (REAL)1e30 * (REAL)(sizeof(REAL) == 4 ? 1 : 1e200);
    REFUSED(NAME2(update)(factor, 2, v, ld, 0, NULL), CHOLUPDATE_MPI_OVERFLOW, "`v`");
    if (rank == ranks - 1 && local > 0) v[0] = (REAL)all[NAME(row)(n, options, 0)];
    if (ranks > 1) {
        REFUSED(NAME2(update)(factor, LAST(1, 2), v, ld, 0, NULL), DIFFERENT, "v differs");
        weights[0] = LAST(1, 2);
        REFUSED(NAME2(modify)(factor, 2, v, ld, 0, weights, NULL), DIFFERENT, "weights differs");
        REFUSED(NAME2(modify)(factor, 2, v, ld, 0, LAST(nowhere, weights), NULL), DIFFERENT, "weights differs");
        REFUSED(rank == 0 ? NAME2(update)(factor, 2, v, ld, 0, NULL) : NAME2(solve)(factor, 2, v, ld), DIFFERENT, "the call");
        REFUSED(rank == 0 ? NAME2(gather)(factor, 0, l, n) : NAME2(refuse)(factor, "a list"), INVALID, "a list (process 1)");
        REFUSED(NAME2(remove_last)(factor, LAST(1, 2), NULL), DIFFERENT, "count differs");
    }
    REFUSED(NAME2(refuse)(factor, "a list"), INVALID, "a list");

    /* Of this process alone. */
    if (rank == 0) {
        REFUSED(NAME2(log_det)(factor, NULL), NULLS, "`log_det`");
        REFUSED(NAME2(order)(factor, NULL), NULLS, "`n`");
        REFUSED(NAME2(local_rows)(NULL, &i), NULLS, "`factor`");
        REFUSED(NAME2(pivots)(factor, NULL), NULLS, "`pivots`");
        REFUSED(NAME2(to_rows)(factor, l, 1), INVALID, "`ldl` is 1");
    }
    CHECK(can == 7);
    NAME(is)(factor, n, options, a);
    NAME2(free)(factor);
    free(a);
    free(whole);
    free(v);
    free(l);
}

#undef NULLS
#undef INVALID
#undef DIFFERENT
#undef LAST
