/* Checks a number, in one precision: REAL, and NAME(verb) for the names of the functions. */

static void NAME(near)(REAL found, double expected) {
    double off = (double)found - expected;
    double most = (sizeof(REAL) == 4 ? 1e-5 : 1e-13) * (1 + (expected < 0 ? -expected : expected));
    if (!(off <= most && off >= -most)) {
        fprintf(stderr, "%.17g, not %.17g\n", (double)found, expected);
        exit(1);
    }
}
