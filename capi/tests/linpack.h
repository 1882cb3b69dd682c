/* The tests in one precision. */

extern void NAME(chud_)(REAL *, const int *, const int *, const REAL *, REAL *, const int *, const int *, const REAL *, REAL *, REAL *, REAL *);
extern void NAME(chdd_)(REAL *, const int *, const int *, const REAL *, REAL *, const int *, const int *, const REAL *, REAL *, REAL *, REAL *, int *);
extern void NAME(chex_)(REAL *, const int *, const int *, const int *, const int *, REAL *, const int *, const int *, REAL *, REAL *, const int *);

typedef struct {
    REAL r[LD * ROWS], z[LD * NZ], x[ROWS], y[NZ], rho[NZ], c[ROWS], s[ROWS];
} NAME(Problem);

static void NAME(near)(const char *what, int p, double found, double expected) {
    const double most = (p + 10) * 40 * (sizeof(REAL) == 4 ? 6e-8 : 1.1e-16);
    if (!(fabs(found - expected) <= most)) fail(what, p, found, expected);
}

static void NAME(make)(NAME(Problem) *a, int p) {
    int i, j;
    for (i = 0; i < LD * ROWS; i++) a->r[i] = -7;
    for (j = 0; j < p; j++) {
        for (i = 0; i <= j; i++) a->r[i + LD * j] = (REAL)(random_number() / sqrt(p) + (i == j ? 2 : 0));
        a->x[j] = (REAL)random_number();
    }
    for (i = 0; i < LD * NZ; i++) a->z[i] = (REAL)random_number();
    for (j = 0; j < NZ; j++) {
        a->y[j] = (REAL)random_number();
        a->rho[j] = (REAL)(2 + random_number());
    }
    for (j = 0; j < ROWS; j++) a->c[j] = a->s[j] = 9;
}

/* Entry (i, j) of R^T R. */
static double NAME(gram)(const NAME(Problem) *a, int i, int j) {
    double sum = 0;
    int k;
    for (k = 0; k <= (i < j ? i : j); k++) sum += (double)a->r[k + LD * i] * (double)a->r[k + LD * j];
    return sum;
}

/* Entry i of R^T z. */
static double NAME(moment)(const NAME(Problem) *a, int i, int column) {
    double sum = 0;
    int k;
    for (k = 0; k <= i; k++) sum += (double)a->r[k + LD * i] * (double)a->z[k + LD * column];
    return sum;
}

/* z^T z + rho^2. */
static double NAME(total)(const NAME(Problem) *a, int p, int column) {
    double sum = (double)a->rho[column] * (double)a->rho[column];
    int k;
    for (k = 0; k < p; k++) sum += (double)a->z[k + LD * column] * (double)a->z[k + LD * column];
    return sum;
}

static void NAME(one_observation)(int p) {
    static NAME(Problem) before, a;
    const int ld = LD, nz = NZ;
    int i, j, k, info = 99;
    NAME(make)(&before, p);
    a = before;
    NAME(chud_)(a.r, &ld, &p, a.x, a.z, &ld, &nz, a.y, a.rho, a.c, a.s);
    for (j = 0; j < p; j++) {
        for (i = 0; i <= j; i++) NAME(near)("chud R", p, NAME(gram)(&a, i, j), NAME(gram)(&before, i, j) + (double)a.x[i] * (double)a.x[j]);
        if (memcmp(&a.r[j + 1 + LD * j], &before.r[j + 1 + LD * j], sizeof(REAL)) != 0) fail("chud below", p, (double)a.r[j + 1 + LD * j], -7);
        NAME(near)("chud c, s", p, (double)(a.c[j] * a.c[j] + a.s[j] * a.s[j]), 1);
        for (k = 0; k < NZ; k++) NAME(near)("chud Z", p, NAME(moment)(&a, j, k), NAME(moment)(&before, j, k) + (double)a.x[j] * (double)a.y[k]);
    }
    for (k = 0; k < NZ; k++) NAME(near)("chud RHO", p, NAME(total)(&a, p, k), NAME(total)(&before, p, k) + (double)a.y[k] * (double)a.y[k]);
    if (memcmp(a.x, before.x, sizeof a.x) != 0 || memcmp(a.y, before.y, sizeof a.y) != 0) fail("chud x, y", p, 0, 1);
    NAME(chdd_)(a.r, &ld, &p, a.x, a.z, &ld, &nz, a.y, a.rho, a.c, a.s, &info);
    if (info != 0) fail("chdd info", p, info, 0);
    for (j = 0; j < p; j++) {
        for (i = 0; i <= j; i++) NAME(near)("chdd R", p, NAME(gram)(&a, i, j), NAME(gram)(&before, i, j));
        for (k = 0; k < NZ; k++) NAME(near)("chdd Z", p, NAME(moment)(&a, j, k), NAME(moment)(&before, j, k));
    }
    for (k = 0; k < NZ; k++) NAME(near)("chdd RHO", p, (double)a.rho[k], (double)before.rho[k]);

    /* A negative RHO is not changed, and a RHO that is too small becomes negative. */
    a = before;
    a.rho[0] = -3;
    NAME(chud_)(a.r, &ld, &p, a.x, a.z, &ld, &nz, a.y, a.rho, a.c, a.s);
    if (a.rho[0] != -3) fail("chud RHO", p, (double)a.rho[0], -3);
    a.rho[0] = 0;
    a.y[0] = 5;
    NAME(chdd_)(a.r, &ld, &p, a.x, a.z, &ld, &nz, a.y, a.rho, a.c, a.s, &info);
    if (info != 1 || a.rho[0] != -1 || a.rho[1] < 0) fail("chdd info", p, info, 1);

    /* An impossible downdate leaves R, Z and RHO as they were. */
    a = before;
    for (i = 0; i < p; i++) a.x[i] *= 100;
    NAME(chdd_)(a.r, &ld, &p, a.x, a.z, &ld, &nz, a.y, a.rho, a.c, a.s, &info);
    if (info != -1) fail("chdd info", p, info, -1);
    if (memcmp(a.r, before.r, sizeof a.r) != 0 || memcmp(a.z, before.z, sizeof a.z) != 0 || memcmp(a.rho, before.rho, sizeof a.rho) != 0)
        fail("chdd failed", p, 0, 1);
}

/* Applies the returned rotations to the old R with exchanged columns, which gives the new R; likewise for Z. */
static void NAME(exchange)(int p, int k, int l, int job) {
    static NAME(Problem) before, a, b;
    const int ld = LD, nz = NZ;
    int i, j, at;
    NAME(make)(&before, p);
    for (j = 0; j < p; j++)
        for (i = j + 1; i < LD; i++) before.r[i + LD * j] = 0;
    a = b = before;
    NAME(chex_)(a.r, &ld, &p, &k, &l, a.z, &ld, &nz, a.c, a.s, &job);
    for (j = 0; j < p; j++) {
        int from = j;
        if (job == 1 && j == k - 1) from = l - 1;
        else if (job == 1 && j >= k && j <= l - 1) from = j - 1;
        if (job == 2 && j == l - 1) from = k - 1;
        else if (job == 2 && j >= k - 1 && j < l - 1) from = j + 1;
        memcpy(&b.r[LD * j], &before.r[LD * from], LD * sizeof(REAL));
    }
    for (at = 1; at <= l - k; at++) {
        const int row = job == 1 ? l - at - 1 : k + at - 2;
        for (j = 0; j < p + NZ; j++) {
            REAL *column = j < p ? &b.r[LD * j] : &b.z[LD * (j - p)];
            const REAL above = column[row], below = column[row + 1];
            column[row] = a.c[at - 1] * above + a.s[at - 1] * below;
            column[row + 1] = a.c[at - 1] * below - a.s[at - 1] * above;
        }
    }
    for (j = 0; j < p; j++)
        for (i = 0; i < p; i++) NAME(near)("chex R", p, i > j ? 0 : (double)a.r[i + LD * j], (double)b.r[i + LD * j]);
    for (j = 0; j < NZ; j++)
        for (i = 0; i < LD; i++) NAME(near)("chex Z", p, (double)a.z[i + LD * j], (double)b.z[i + LD * j]);
}

static void NAME(tests)(void) {
    int p, k, l, job;
    for (p = 1; p <= ROWS; p += p < 6 ? 1 : 5) {
        NAME(one_observation)(p);
        for (k = 1; k < p; k += 1 + p / 6)
            for (l = k + 1; l <= p; l += 1 + p / 6)
                for (job = 1; job <= 2; job++) NAME(exchange)(p, k, l, job);
    }
}
