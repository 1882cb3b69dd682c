/* Matrices and checks in one precision: REAL, TYPE, and NAME(verb) for the names of the functions. */

/* Entry (i, j) of a positive definite matrix A that every process can make. */
static double NAME(entry)(int64_t i, int64_t j) {
    const int64_t apart = i < j ? j - i : i - j;
    return i == j ? 9 : 1.0 / (double)(1 + apart);
}

static double NAME(v_entry)(int64_t i, int64_t j) { return (double)((i * 7 + j * 5) % 11 - 5) / 20; }

/* A (n x n). */
static double *NAME(whole)(int64_t n) {
    double *a = malloc((size_t)(n * n + 1) * sizeof *a);
    int64_t i, j;
    for (j = 0; j < n; j++)
        for (i = 0; i < n; i++) a[i + j * n] = NAME(entry)(i, j);
    return a;
}

static int64_t NAME(rows)(int64_t n, const cholupdate_mpi_options *options) {
    int64_t rows = -1;
    CHECK(cholupdate_mpi_rows_of(MPI_COMM_WORLD, n, options, &rows) == CHOLUPDATE_MPI_OK);
    return rows;
}

static int64_t NAME(row)(int64_t n, const cholupdate_mpi_options *options, int64_t local) {
    int64_t row = -1;
    CHECK(cholupdate_mpi_row_of(MPI_COMM_WORLD, n, options, local, &row) == CHOLUPDATE_MPI_OK);
    return row;
}

/* The local rows of a matrix that has all n rows, with a leading dimension of `ld`. */
static REAL *NAME(mine)(const double *of, int64_t n, int64_t cols, const cholupdate_mpi_options *options, int64_t ld) {
    const int64_t rows = NAME(rows)(n, options);
    REAL *mine = malloc((size_t)(ld * cols + 1) * sizeof *mine);
    int64_t i, j;
    for (i = 0; i < ld * cols; i++) mine[i] = 77;
    for (j = 0; j < cols; j++)
        for (i = 0; i < rows; i++) mine[i + j * ld] = (REAL)of[NAME(row)(n, options, i) + j * n];
    return mine;
}

static void NAME(near)(double found, double expected) {
    const double off = found - expected;
    const double most = (sizeof(REAL) == 4 ? 2e-5 : 1e-12) * (1 + (expected < 0 ? -expected : expected));
    if (!(off <= most && off >= -most)) {
        fprintf(stderr, "%.17g, not %.17g\n", found, expected);
        CHECK(!"near");
    }
}

/* Checks that A, with both triangles, is the matrix of the factor, by L at the last process and the rows of every process. */
static void NAME(is)(const TYPE *factor, int64_t n, const cholupdate_mpi_options *options, const double *a) {
    const int64_t root = ranks - 1, ld = n + 1;
    REAL *l = malloc((size_t)(ld * n + 1) * sizeof *l), *rows, *pivots;
    int64_t i, j, k, found = -1, local = -1;
    CHECK(NAME2(order)(factor, &found) == CHOLUPDATE_MPI_OK && found == n);
    CHECK(NAME2(local_rows)(factor, &local) == CHOLUPDATE_MPI_OK && local == NAME(rows)(n, options));
    CHECK(NAME2(gather)(factor, root, rank == root ? l : NULL, ld) == CHOLUPDATE_MPI_OK);
    if (rank == root)
        for (i = 0; i < n; i++)
            for (j = 0; j < n; j++) {
                double sum = 0;
                CHECK(j <= i || l[i + j * ld] == 0);
                for (k = 0; k < n; k++) sum += (double)l[i + k * ld] * (double)l[j + k * ld];
                NAME(near)(sum, a[i + j * n]);
            }
    MPI_Bcast(l, (int)(ld * n * (int64_t)sizeof *l), MPI_BYTE, (int)root, MPI_COMM_WORLD);
    rows = malloc((size_t)(local * n + 1) * sizeof *rows);
    CHECK(NAME2(to_rows)(factor, rows, local) == CHOLUPDATE_MPI_OK);
    for (i = 0; i < local; i++)
        for (j = 0; j < n; j++) CHECK(rows[i + j * local] == l[NAME(row)(n, options, i) + j * ld]);
    pivots = malloc((size_t)(n + 1) * sizeof *pivots);
    CHECK(NAME2(pivots)(factor, pivots) == CHOLUPDATE_MPI_OK);
    for (j = 0; j < n; j++) CHECK(pivots[j] == l[j + j * ld]);
    free(l);
    free(rows);
    free(pivots);
}
