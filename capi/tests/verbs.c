/* Every function does what the header says, in both precisions. */
#include "cholupdate.h"
#include "check.h"

#define REAL double
#define TYPE cholupdate_d
#define WORKSPACE cholupdate_d_workspace
#define NAME(verb) cholupdate_d_##verb
#include "matrix.h"
#include "verbs.h"
#undef REAL
#undef TYPE
#undef WORKSPACE
#undef NAME
#define REAL float
#define TYPE cholupdate_s
#define WORKSPACE cholupdate_s_workspace
#define NAME(verb) cholupdate_s_##verb
#include "matrix.h"
#include "verbs.h"

int main(void) {
    char said[8] = "before";
    int status;
    cholupdate_last_error(said, sizeof said);
    CHECK(said[0] == 0 && cholupdate_last_error_column() == -1);
    CHECK(strncmp(cholupdate_version(), "0.", 2) == 0);
    for (status = -1; status <= 19; status++) CHECK(strlen(cholupdate_status_string(status)) > 1);
    cholupdate_d_verbs();
    cholupdate_s_verbs();
    puts("verbs: ok");
    return 0;
}
