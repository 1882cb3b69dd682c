/* A and L from and to matrices of ScaLAPACK, on a grid of one row of processes. */

extern int Csys2blacs_handle(MPI_Comm comm);
extern void Cblacs_gridinit(int *context, const char *order, int rows, int cols);
extern void Cblacs_gridexit(int context);

static void NAME(scalapack)(int64_t n, const cholupdate_mpi_options *options) {
    const int block = 7, size = (int)n;
    int context = Csys2blacs_handle(MPI_COMM_WORLD);
    int descriptor[9] = {1, 0, 0, 0, 7, 7, 0, 0, 0};
    double *a = NAME(whole)(n);
    REAL *local = malloc((size_t)(n * n + 1) * sizeof *local), *l = malloc((size_t)(n * n + 1) * sizeof *l);
    TYPE *factor = NULL, *other = NULL;
    int64_t i, j, cols = 0;
    Cblacs_gridinit(&context, "Row", 1, ranks);
    descriptor[1] = context;
    descriptor[2] = descriptor[3] = descriptor[8] = size;
    for (j = 0; j < n; j++)
        if (j / block % ranks == rank) {
            for (i = 0; i < n; i++) local[i + cols * n] = (REAL)a[i + j * n];
            cols++;
        }
    CHECK(NAME2(from_scalapack)(MPI_COMM_WORLD, n, descriptor, local, options, &factor) == CHOLUPDATE_MPI_OK);
    NAME(is)(factor, n, options, a);
    CHECK(NAME2(to_scalapack)(factor, descriptor, local) == CHOLUPDATE_MPI_OK);
    CHECK(NAME2(gather)(factor, 0, l, n) == CHOLUPDATE_MPI_OK);
    MPI_Bcast(l, (int)(n * n * (int64_t)sizeof *l), MPI_BYTE, 0, MPI_COMM_WORLD);
    for (cols = j = 0; j < n; j++)
        if (j / block % ranks == rank) CHECK(memcmp(local + n * cols++, l + n * j, (size_t)n * sizeof *l) == 0);
    CHECK(NAME2(from_scalapack_factor)(MPI_COMM_WORLD, n, descriptor, local, options, &other) == CHOLUPDATE_MPI_OK);
    NAME(is)(other, n, options, a);

    if (rank == ranks - 1) descriptor[8] = size - 1;
    REFUSED(NAME2(to_scalapack)(factor, descriptor, local), CHOLUPDATE_MPI_INVALID_ARGUMENT, "`descriptor`");
    descriptor[8] = size;
    if (rank == ranks - 1) descriptor[4]++;
    if (ranks > 1) REFUSED(NAME2(to_scalapack)(factor, descriptor, local), CHOLUPDATE_MPI_INVALID_ARGUMENT, "MB differs");
    descriptor[4] = block;
    REFUSED_BY_LAST(NAME2(to_scalapack)(factor, rank == ranks - 1 ? NULL : descriptor, local), CHOLUPDATE_MPI_NULL_POINTER, "`descriptor`");
    /* NULL is right for a process without columns. */
    if (n > block * (ranks - 1))
        REFUSED_BY_LAST(NAME2(to_scalapack)(factor, descriptor, rank == ranks - 1 ? NULL : local), CHOLUPDATE_MPI_NULL_POINTER, "`l`");
    NAME2(free)(factor);
    NAME2(free)(other);
    Cblacs_gridexit(context);
    free(a);
    free(local);
    free(l);
}
