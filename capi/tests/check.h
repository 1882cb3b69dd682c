/* What the test programs have in common. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program where something is not as it should be. */
#define CHECK(what)                                                                \
    do {                                                                           \
        if (!(what)) {                                                             \
            char said[256];                                                        \
            cholupdate_last_error(said, sizeof said);                              \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #what, said);  \
            exit(1);                                                               \
        }                                                                          \
    } while (0)

/* A call that is refused with this status, by a sentence that has these words. */
#define REFUSED(call, expected, words)                                             \
    do {                                                                           \
        char said[256];                                                            \
        CHECK((call) == (expected));                                               \
        cholupdate_last_error(said, sizeof said);                                  \
        CHECK(strstr(said, words) != NULL);                                        \
    } while (0)

#endif
