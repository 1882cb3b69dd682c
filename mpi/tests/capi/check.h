/* Shared by the test program's parts. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The process, and the number of processes. */
static int rank, ranks;

/* Ends the program if a condition does not hold. */
#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            char said[256];                                                                        \
            cholupdate_mpi_last_error(said, sizeof said);                                          \
            fprintf(stderr, "%s:%d: %s (%s), process %d\n", __FILE__, __LINE__, #what, said, rank); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Checks that a call is refused with this status, and a message that contains these words. */
#define REFUSED(call, expected, words)                \
    do {                                              \
        char said[256];                               \
        CHECK((call) == (expected));                  \
        cholupdate_mpi_last_error(said, sizeof said); \
        CHECK(strstr(said, words) != NULL);           \
    } while (0)

/* The same for an error that this library has found on the last process: the message names it. */
#define REFUSED_BY_LAST(call, expected, words)                               \
    do {                                                                     \
        char of_last[32] = "";                                               \
        if (ranks > 1) snprintf(of_last, sizeof of_last, "(process %d)", ranks - 1); \
        REFUSED(call, expected, words);                                      \
        REFUSED(CHOLUPDATE_MPI_OK, CHOLUPDATE_MPI_OK, of_last);              \
    } while (0)

#endif
