/* The tests in one precision. */

extern void NAME(ch1up_)(const int *, REAL *, const int *, REAL *, REAL *);
extern void NAME(ch1dn_)(const int *, REAL *, const int *, REAL *, REAL *, int *);
extern void NAME(chinx_)(const int *, REAL *, const int *, const int *, REAL *, REAL *, int *);
extern void NAME(chdex_)(const int *, REAL *, const int *, const int *, REAL *);
extern void NAME(chshx_)(const int *, REAL *, const int *, const int *, const int *, REAL *);

static REAL NAME(a)[N][N], NAME(r)[LD * (N + 1)], NAME(u)[N + 1], NAME(w)[2 * N];

/* By digits of twelve bits, from the last one on, because the sum is rounded in single precision. */
static REAL NAME(number)(void) {
    const uint64_t x = next();
    const REAL digit = (REAL)1 / 4096;
    REAL sum = digit * (REAL)(x & 0xfff);
    int place;
    for (place = 1; place < 4; place++) sum = digit * ((REAL)(x >> (12 * place) & 0xfff) + sum);
    return sum;
}

/* A = X'X + 1e-3, and its upper factor R. */
static void NAME(make)(void) {
    static REAL x[N][N];
    int i, j, k;
    for (j = 0; j < N; j++)
        for (i = 0; i < N; i++) x[j][i] = NAME(number)();
    for (j = 0; j < N; j++)
        for (i = 0; i <= j; i++) {
            double sum = i == j ? 1e-3 : 0;
            for (k = 0; k < N; k++) sum += (double)x[i][k] * (double)x[j][k];
            NAME(a)[i][j] = NAME(a)[j][i] = (REAL)sum;
        }
    for (i = 0; i < N; i++) NAME(u)[i] = NAME(number)();
}

static void NAME(factor)(void) {
    static double l[N][N];
    int i, j, k;
    for (j = 0; j < N; j++)
        for (i = j; i < N; i++) {
            double sum = (double)NAME(a)[i][j];
            for (k = 0; k < j; k++) sum -= l[i][k] * l[j][k];
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
    for (j = 0; j < N; j++)
        for (i = 0; i < LD; i++) NAME(r)[i + LD * j] = i <= j ? (REAL)l[j][i] : 0;
}

/* R'R is A with the rows `p`. */
static void NAME(check)(const char *what, int order, const int *p) {
    double worst = 0;
    int i, j, k;
    for (j = 0; j < order; j++)
        for (i = 0; i <= j; i++) {
            double sum = -(double)NAME(a)[p[i]][p[j]];
            for (k = 0; k <= i; k++) sum += (double)NAME(r)[k + LD * i] * (double)NAME(r)[k + LD * j];
            if (!(fabs(sum) <= worst)) worst = fabs(sum);
        }
    if (!(worst < 200 * (double)EPS)) {
        fprintf(stderr, "%s: %.2e, not %.2e\n", what, worst, 200 * (double)EPS);
        exit(1);
    }
}

static void NAME(tests)(void) {
    const int n = N, less = N - 1, ld = LD, removed = 25, other = 15, places[2][2] = {{20, 40}, {40, 20}};
    REAL kept[N + 1];
    int p[N], i, side, info = 99;
    for (i = 0; i < N; i++) p[i] = i;
    seed();
    NAME(make)();

    /* Downdated by the vector of the update. */
    NAME(factor)();
    for (i = 0; i < N; i++) kept[i] = NAME(u)[i];
    NAME(ch1up_)(&n, NAME(r), &ld, NAME(u), NAME(w));
    for (i = 0; i < N; i++) NAME(u)[i] = kept[i];
    NAME(ch1dn_)(&n, NAME(r), &ld, NAME(u), NAME(w), &info);
    if (info != 0) exit(1);
    NAME(check)("ch1up, ch1dn", N, p);

    NAME(factor)();
    for (i = 0; i < N; i++) kept[i] = NAME(a)[i][removed - 1];
    NAME(chdex_)(&n, NAME(r), &ld, &removed, NAME(w));
    NAME(chinx_)(&less, NAME(r), &ld, &removed, kept, NAME(w), &info);
    if (info != 0) exit(1);
    NAME(check)("chinx", N, p);

    NAME(factor)();
    NAME(chdex_)(&n, NAME(r), &ld, &other, NAME(w));
    for (i = 0; i < N - 1; i++) p[i] = i < other - 1 ? i : i + 1;
    NAME(check)("chdex", N - 1, p);

    for (side = 0; side < 2; side++) {
        const int from = places[side][0] - 1, to = places[side][1] - 1;
        NAME(factor)();
        NAME(chshx_)(&n, NAME(r), &ld, &places[side][0], &places[side][1], NAME(w));
        for (i = 0; i < N; i++) p[i] = i == to ? from : from < to && i >= from && i < to ? i + 1 : to < from && i > to && i <= from ? i - 1 : i;
        NAME(check)("chshx", N, p);
    }
}
