/* Forgetting, carried least squares, modifications in flight, error estimates and extensions, in both precisions. */
#include "cholupdate.h"
#include "check.h"
#include <math.h>

#define REAL double
#define TYPE cholupdate_d
#define PENDING cholupdate_d_pending
#define EXTENSION cholupdate_d_extension
#define NAME(verb) cholupdate_d_##verb
#include "matrix.h"
#include "loops.h"
#undef REAL
#undef TYPE
#undef PENDING
#undef EXTENSION
#undef NAME
#define REAL float
#define TYPE cholupdate_s
#define PENDING cholupdate_s_pending
#define EXTENSION cholupdate_s_extension
#define NAME(verb) cholupdate_s_##verb
#include "matrix.h"
#include "loops.h"

int main(void) {
    cholupdate_d_loops();
    cholupdate_s_loops();
    puts("loops: ok");
    return 0;
}
