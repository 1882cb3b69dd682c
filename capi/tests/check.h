/* Shared by the test programs. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program if a condition does not hold. */
#define CHECK(what)                                                                \
    do {                                                                           \
        if (!(what)) {                                                             \
            char said[256];                                                        \
            cholupdate_last_error(said, sizeof said);                              \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #what, said);  \
            exit(1);                                                               \
        }                                                                          \
    } while (0)

/* Checks that a call is refused with this status, and a message that contains these words. */
#define REFUSED(call, expected, words)                                             \
    do {                                                                           \
        char said[256];                                                            \
        CHECK((call) == (expected));                                               \
        cholupdate_last_error(said, sizeof said);                                  \
        CHECK(strstr(said, words) != NULL);                                        \
    } while (0)

#endif
