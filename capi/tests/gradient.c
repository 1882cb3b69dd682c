/* Derivatives, in both precisions. */
#include "cholupdate.h"
#include "check.h"
#include <math.h>

#define REAL double
#define NAME(verb) cholupdate_d_##verb
#define WORKSPACE cholupdate_d_workspace
#include "gradient.h"
#undef REAL
#undef NAME
#undef WORKSPACE
#define REAL float
#define NAME(verb) cholupdate_s_##verb
#define WORKSPACE cholupdate_s_workspace
#include "gradient.h"

int main(void) {
    cholupdate_d_gradients();
    cholupdate_s_gradients();
    puts("gradient: ok");
    return 0;
}
