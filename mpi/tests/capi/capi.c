/* Every function does what the header says, in both precisions, and what one process does wrong is an error of all. */
#include "cholupdate_mpi.h"
#include "check.h"
#include <math.h>

#define REAL double
#define TYPE cholupdate_mpi_d
#define NAME(verb) test_d_##verb
#define NAME2(verb) cholupdate_mpi_d_##verb
#include "matrix.h"
#include "verbs.h"
#ifdef HAS_SCALAPACK
#include "scalapack.h"
#endif
#include "refusals.h"
#undef REAL
#undef TYPE
#undef NAME
#undef NAME2
#define REAL float
#define TYPE cholupdate_mpi_s
#define NAME(verb) test_s_##verb
#define NAME2(verb) cholupdate_mpi_s_##verb
#include "matrix.h"
#include "verbs.h"
#ifdef HAS_SCALAPACK
#include "scalapack.h"
#endif
#include "refusals.h"

static void settings(void) {
    cholupdate_mpi_options options;
    cholupdate_mpi_d *factor = NULL;
    const double a[1] = {4};
    const int last = rank == ranks - 1;
    int64_t rows = 7;
    CHECK(cholupdate_mpi_options_init(&options) == CHOLUPDATE_MPI_OK);
    CHECK(options.size == sizeof options && options.threads == 0 && options.safeguard == 0 && options.block == 256);
    REFUSED(cholupdate_mpi_options_init(NULL), CHOLUPDATE_MPI_NULL_POINTER, "`options`");
    REFUSED(cholupdate_mpi_rows_of(MPI_COMM_WORLD, -1, NULL, &rows), CHOLUPDATE_MPI_INVALID_ARGUMENT, "`n` is -1");
    REFUSED(cholupdate_mpi_rows_of(MPI_COMM_WORLD, 1, NULL, NULL), CHOLUPDATE_MPI_NULL_POINTER, "`rows`");
    REFUSED(cholupdate_mpi_rows_of(MPI_COMM_NULL, 1, NULL, &rows), CHOLUPDATE_MPI_INVALID_ARGUMENT, "`comm`");
    REFUSED(cholupdate_mpi_row_of(MPI_COMM_WORLD, 1, NULL, 1, &rows), CHOLUPDATE_MPI_INVALID_ARGUMENT, "`local` is 1");
    REFUSED(cholupdate_mpi_d_new(MPI_COMM_NULL, 1, a, 1, NULL, &factor), CHOLUPDATE_MPI_INVALID_ARGUMENT, "`comm`");
    if (last) options.size = 1;
    REFUSED_BY_LAST(cholupdate_mpi_d_scatter(MPI_COMM_WORLD, 0, 1, a, 1, &options, &factor), CHOLUPDATE_MPI_INVALID_ARGUMENT, "`options.size` is 1");
    options.size = sizeof options;
    if (last) options.block = 24;
    REFUSED_BY_LAST(cholupdate_mpi_d_scatter(MPI_COMM_WORLD, 0, 1, a, 1, &options, &factor), CHOLUPDATE_MPI_INVALID_ARGUMENT, "`options.block` is 24");
    options.block = 256;
    if (last) options.threads = -1;
    REFUSED_BY_LAST(cholupdate_mpi_d_scatter(MPI_COMM_WORLD, 0, 1, a, 1, &options, &factor), CHOLUPDATE_MPI_INVALID_ARGUMENT, "`options.threads` is -1");
    options.threads = 0;
    if (last) options.safeguard = 3;
    REFUSED_BY_LAST(cholupdate_mpi_d_scatter(MPI_COMM_WORLD, 0, 1, a, 1, &options, &factor), CHOLUPDATE_MPI_INVALID_ARGUMENT, "`options.safeguard` is 3");
    CHECK(rows == 7 && factor == NULL);

    /* Without a safeguard a breakdown loses the factor, on all processes. */
    options.safeguard = CHOLUPDATE_MPI_SAFEGUARD_NONE;
    CHECK(cholupdate_mpi_d_scatter(MPI_COMM_WORLD, 0, 1, a, 1, &options, &factor) == CHOLUPDATE_MPI_OK);
    REFUSED(cholupdate_mpi_d_downdate(factor, 1, a, 1, CHOLUPDATE_MPI_ROWS_ALL, NULL), CHOLUPDATE_MPI_NOT_POSITIVE_DEFINITE, "column 0");
    REFUSED(cholupdate_mpi_d_update(factor, 1, a, 1, CHOLUPDATE_MPI_ROWS_ALL, NULL), CHOLUPDATE_MPI_POISONED, "lost");
    cholupdate_mpi_d_free(factor);
    { const double zero[1] = {0}; CHECK(cholupdate_mpi_d_scatter_factor(MPI_COMM_WORLD, 0, 1, zero, 1, NULL, &factor) == CHOLUPDATE_MPI_OK); }
    REFUSED(cholupdate_mpi_d_downdate(factor, 1, a, 1, CHOLUPDATE_MPI_ROWS_ALL, NULL), CHOLUPDATE_MPI_SINGULAR, "column 0");
    CHECK(cholupdate_mpi_last_error_column() == 0);
    cholupdate_mpi_d_free(factor);
}

int main(int argc, char **argv) {
    char said[8] = "before";
    cholupdate_mpi_options options;
    cholupdate_mpi_d *factor = NULL;
    const int64_t orders[3] = {6, 70, 133};
    int status, provided, at;
    cholupdate_mpi_last_error(said, sizeof said);
    CHECK(said[0] == 0 && cholupdate_mpi_last_error_column() == -1);
    CHECK(strncmp(cholupdate_mpi_version(), "0.", 2) == 0);
    for (status = -1; status <= 15; status++) CHECK(strlen(cholupdate_mpi_status_string(status)) > 1);
    CHECK(cholupdate_mpi_d_new(MPI_COMM_WORLD, 0, NULL, 0, NULL, &factor) == CHOLUPDATE_MPI_INVALID_ARGUMENT);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    CHECK(cholupdate_mpi_options_init(&options) == CHOLUPDATE_MPI_OK);
    options.threads = 1;
    options.block = 16;
    for (at = 0; at < 3; at++) {
        test_d_verbs(orders[at], &options);
        test_s_verbs(orders[at], &options);
#ifdef HAS_SCALAPACK
        CHECK(cholupdate_mpi_has_scalapack() == 1);
        test_d_scalapack(orders[at], &options);
        test_s_scalapack(orders[at], &options);
#endif
    }
    settings();
    test_d_refusals(&options);
    test_s_refusals(&options);

    CHECK(cholupdate_mpi_d_new(MPI_COMM_WORLD, 0, NULL, 0, NULL, &factor) == CHOLUPDATE_MPI_OK);
    if (rank == 0) printf("capi on %d: ok\n", ranks);
    MPI_Finalize();
    /* A factor may be freed after MPI is finalized, but not used. */
    cholupdate_mpi_d_free(factor);
    factor = NULL;
    CHECK(cholupdate_mpi_d_new(MPI_COMM_WORLD, 0, NULL, 0, NULL, &factor) == CHOLUPDATE_MPI_INVALID_ARGUMENT);
    return 0;
}
