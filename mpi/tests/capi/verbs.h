/* Every function on a factor, in one precision: REAL, TYPE, and NAME2(verb) for the names of the functions. */

/* A <- A + sum of w_r v_r v_r^T. */
static void NAME(add)(double *a, int64_t n, int64_t k, const double *w) {
    int64_t i, j, r;
    for (j = 0; j < n; j++)
        for (i = 0; i < n; i++)
            for (r = 0; r < k; r++) a[i + j * n] += w[r] * NAME(v_entry)(i, r) * NAME(v_entry)(j, r);
}

static void NAME(modifications)(TYPE *factor, int64_t n, const cholupdate_mpi_options *options, double *a) {
    const int64_t k = 3, local = NAME(rows)(n, options), ld = local + 2;
    const double plus[3] = {1, 1, 1}, minus[3] = {-1, -1, -1}, mixed[3] = {2, -0.5, 1};
    const REAL weights[3] = {2, -0.5, 1};
    double *all = malloc((size_t)(n * k + 1) * sizeof *all);
    REAL *whole = malloc((size_t)(n * k + 1) * sizeof *whole), *v, *before, *after, log_det, changed;
    cholupdate_mpi_report report = {-1, -1};
    int64_t i, j;
    int32_t can = -1;
    for (j = 0; j < k; j++)
        for (i = 0; i < n; i++) whole[i + j * n] = (REAL)(all[i + j * n] = NAME(v_entry)(i, j));
    v = NAME(mine)(all, n, k, options, ld);

    CHECK(NAME2(log_det)(factor, &log_det) == CHOLUPDATE_MPI_OK);
    CHECK(NAME2(update)(factor, k, v, ld, CHOLUPDATE_MPI_ROWS_MINE, &report) == CHOLUPDATE_MPI_OK);
    CHECK(report.min_pivot_ratio >= 1 && report.log_det_change > 0);
    CHECK(NAME2(log_det)(factor, &changed) == CHOLUPDATE_MPI_OK);
    NAME(near)(changed - log_det, report.log_det_change);
    NAME(add)(a, n, k, plus);
    NAME(is)(factor, n, options, a);
    CHECK(NAME2(can_downdate)(factor, k, whole, n, CHOLUPDATE_MPI_ROWS_ALL, &can) == CHOLUPDATE_MPI_OK && can == 1);
    CHECK(NAME2(downdate)(factor, k, whole, n, CHOLUPDATE_MPI_ROWS_ALL, NULL) == CHOLUPDATE_MPI_OK);
    NAME(add)(a, n, k, minus);
    NAME(is)(factor, n, options, a);
    CHECK(NAME2(modify)(factor, k, v, ld, 0, weights, &report) == CHOLUPDATE_MPI_OK);
    NAME(add)(a, n, k, mixed);
    NAME(is)(factor, n, options, a);
    /* NULL weights are those of an update. */
    CHECK(NAME2(modify)(factor, k, v, ld, 0, NULL, NULL) == CHOLUPDATE_MPI_OK);
    NAME(add)(a, n, k, plus);
    NAME(is)(factor, n, options, a);

    /* An impossible change returns a status, and nothing changes. */
    before = malloc((size_t)(local * n + 1) * sizeof *before);
    after = malloc((size_t)(local * n + 1) * sizeof *after);
    CHECK(NAME2(to_rows)(factor, before, local) == CHOLUPDATE_MPI_OK);
    for (i = 0; i < n; i++) whole[i] = 0;
    whole[n / 2] = 40;
    report.min_pivot_ratio = -1;
    CHECK(NAME2(downdate)(factor, 1, whole, n, CHOLUPDATE_MPI_ROWS_ALL, &report) == CHOLUPDATE_MPI_NOT_POSITIVE_DEFINITE);
    CHECK(cholupdate_mpi_last_error_column() == n / 2 && report.min_pivot_ratio == -1);
    CHECK(NAME2(to_rows)(factor, after, local) == CHOLUPDATE_MPI_OK);
    CHECK(memcmp(before, after, (size_t)(local * n) * sizeof *before) == 0);
    CHECK(NAME2(can_downdate)(factor, 1, whole, n, 1, &can) == CHOLUPDATE_MPI_OK && can == 0);
    CHECK(NAME2(update)(factor, 0, NULL, local, 0, NULL) == CHOLUPDATE_MPI_OK);
    free(all);
    free(whole);
    free(v);
    free(before);
    free(after);
}

static void NAME(solves)(TYPE *factor, int64_t n, const cholupdate_mpi_options *options, const double *a) {
    const int64_t m = 2, local = NAME(rows)(n, options), ld = local + 1;
    double *b = calloc((size_t)(n * m + 1), sizeof *b);
    REAL *x, *y;
    int64_t i, j, k;
    /* X = V. */
    for (j = 0; j < m; j++)
        for (i = 0; i < n; i++)
            for (k = 0; k < n; k++) b[i + j * n] += a[i + k * n] * NAME(v_entry)(k, j);
    x = NAME(mine)(b, n, m, options, ld);
    y = NAME(mine)(b, n, m, options, ld);
    CHECK(NAME2(solve)(factor, m, x, ld) == CHOLUPDATE_MPI_OK);
    CHECK(NAME2(solve_l)(factor, m, y, ld) == CHOLUPDATE_MPI_OK);
    CHECK(NAME2(solve_lt)(factor, m, y, ld) == CHOLUPDATE_MPI_OK);
    for (j = 0; j < m; j++) {
        for (i = 0; i < local; i++) {
            NAME(near)(x[i + j * ld], NAME(v_entry)(NAME(row)(n, options, i), j));
            CHECK(x[i + j * ld] == y[i + j * ld]);
        }
        CHECK(x[local + j * ld] == 77);
    }
    free(b);
    free(x);
    free(y);
}

/* The last rows go and come back. */
static void NAME(ends)(TYPE *factor, int64_t n, const cholupdate_mpi_options *options, const double *a) {
    const int64_t r = 5, fewer = n - r;
    double *leading = malloc((size_t)(fewer * fewer) * sizeof *leading), *cross = malloc((size_t)(fewer * r) * sizeof *cross);
    REAL corner[25], *mine;
    cholupdate_mpi_report report = {-1, -1};
    int64_t i, j;
    for (j = 0; j < fewer; j++)
        for (i = 0; i < fewer; i++) leading[i + j * fewer] = a[i + j * n];
    for (j = 0; j < r; j++) {
        for (i = 0; i < fewer; i++) cross[i + j * fewer] = a[i + (fewer + j) * n];
        for (i = 0; i < r; i++) corner[i + j * r] = i < j ? 77 : (REAL)a[fewer + i + (fewer + j) * n];
    }
    CHECK(NAME2(remove_last)(factor, r, &report) == CHOLUPDATE_MPI_OK && report.log_det_change < 0);
    NAME(is)(factor, fewer, options, leading);
    mine = NAME(mine)(cross, fewer, r, options, NAME(rows)(fewer, options));
    corner[0] = -corner[0];
    CHECK(NAME2(append)(factor, r, mine, NAME(rows)(fewer, options), 0, corner, r, NULL) == CHOLUPDATE_MPI_NOT_POSITIVE_DEFINITE);
    CHECK(cholupdate_mpi_last_error_column() == fewer);
    corner[0] = -corner[0];
    CHECK(NAME2(append)(factor, r, mine, NAME(rows)(fewer, options), 0, corner, r, &report) == CHOLUPDATE_MPI_OK);
    NAME(is)(factor, n, options, a);
    free(leading);
    free(cross);
    free(mine);
}

static void NAME(verbs)(int64_t n, const cholupdate_mpi_options *options) {
    const int64_t local = NAME(rows)(n, options), root = ranks / 2;
    double *a = NAME(whole)(n), *copy = NAME(whole)(n);
    REAL *rows = NAME(mine)(a, n, n, options, local + 3), *whole = malloc((size_t)(n * n + 1) * sizeof *whole);
    TYPE *factor = NULL, *other = NULL;
    int64_t i;
    CHECK(NAME2(new)(MPI_COMM_WORLD, n, rows, local + 3, options, &factor) == CHOLUPDATE_MPI_OK);
    NAME(is)(factor, n, options, copy);
    /* Known factors, by rows and from one process. */
    CHECK(NAME2(to_rows)(factor, rows, local + 3) == CHOLUPDATE_MPI_OK);
    CHECK(NAME2(from_factor)(MPI_COMM_WORLD, n, rows, local + 3, options, &other) == CHOLUPDATE_MPI_OK);
    NAME(is)(other, n, options, copy);
    NAME2(free)(other);
    CHECK(NAME2(gather)(factor, root, whole, n) == CHOLUPDATE_MPI_OK);
    CHECK(NAME2(scatter_factor)(MPI_COMM_WORLD, root, n, rank == root ? whole : NULL, n, options, &other) == CHOLUPDATE_MPI_OK);
    NAME(is)(other, n, options, copy);
    NAME2(free)(other);
    for (i = 0; i < n * n; i++) whole[i] = (REAL)a[i];
    CHECK(NAME2(scatter)(MPI_COMM_WORLD, root, n, rank == root ? whole : NULL, n, options, &other) == CHOLUPDATE_MPI_OK);
    NAME(is)(other, n, options, copy);
    NAME2(free)(other);

    NAME(modifications)(factor, n, options, a);
    NAME(solves)(factor, n, options, a);
    NAME(ends)(factor, n, options, a);
    CHECK(NAME2(remove_last)(factor, n, NULL) == CHOLUPDATE_MPI_OK);
    CHECK(NAME2(order)(factor, &i) == CHOLUPDATE_MPI_OK && i == 0);
    NAME2(free)(factor);
    NAME2(free)(NULL);
    free(a);
    free(copy);
    free(rows);
    free(whole);
}
