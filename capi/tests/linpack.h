/* The tests for one type of numbers. RHO and C are real for all of them. */

extern void NAME(chud_)(NUMBER *, const int *, const int *, const NUMBER *, NUMBER *, const int *, const int *, const NUMBER *, REAL *,
                        REAL *, NUMBER *);
extern void NAME(chdd_)(NUMBER *, const int *, const int *, const NUMBER *, NUMBER *, const int *, const int *, const NUMBER *, REAL *,
                        REAL *, NUMBER *, int *);
extern void NAME(chex_)(NUMBER *, const int *, const int *, const int *, const int *, NUMBER *, const int *, const int *, REAL *, NUMBER *,
                        const int *);
extern void NAME(chud_64_)(NUMBER *, const int64_t *, const int64_t *, const NUMBER *, NUMBER *, const int64_t *, const int64_t *,
                           const NUMBER *, REAL *, REAL *, NUMBER *);

typedef struct {
    NUMBER r[LD * ROWS], z[LD * NZ], x[ROWS], y[NZ], s[ROWS];
    REAL rho[NZ], c[ROWS];
} NAME(Problem);

/* A conjugate, which is the number itself if it is real. */
static NUMBER NAME(bar)(NUMBER number) {
#if COMPLEX
    return (NUMBER)conj(number);
#else
    return number;
#endif
}

/* The square of the absolute value. */
static double NAME(square)(NUMBER number) {
    const double complex x = number;
    return creal(x) * creal(x) + cimag(x) * cimag(x);
}

static NUMBER NAME(random)(void) {
    NUMBER number = (REAL)random_number();
#if COMPLEX
    number += (REAL)random_number() * I;
#endif
    return number;
}

static void NAME(near)(const char *what, int p, double complex found, double complex expected) {
    const double most = (p + 10) * 40 * (sizeof(REAL) == 4 ? 6e-8 : 1.1e-16);
    if (!(cabs(found - expected) <= most)) fail(what, p, found, expected);
}

static void NAME(make)(NAME(Problem) *a, int p) {
    int i, j;
    for (i = 0; i < LD * ROWS; i++) a->r[i] = -7;
    for (j = 0; j < p; j++) {
        for (i = 0; i <= j; i++) a->r[i + LD * j] = NAME(random)() / (REAL)sqrt(p) + (i == j ? 2 : 0);
        a->x[j] = NAME(random)();
    }
    for (i = 0; i < LD * NZ; i++) a->z[i] = NAME(random)();
    for (j = 0; j < NZ; j++) {
        a->y[j] = NAME(random)();
        a->rho[j] = (REAL)(2 + random_number());
    }
    for (j = 0; j < ROWS; j++) a->c[j] = a->s[j] = 9;
}

/* Entry (i, j) of R^H R. */
static double complex NAME(gram)(const NAME(Problem) *a, int i, int j) {
    double complex sum = 0;
    int k;
    for (k = 0; k <= (i < j ? i : j); k++) sum += conj(a->r[k + LD * i]) * (double complex)a->r[k + LD * j];
    return sum;
}

/* Entry i of R^H z. */
static double complex NAME(moment)(const NAME(Problem) *a, int i, int column) {
    double complex sum = 0;
    int k;
    for (k = 0; k <= i; k++) sum += conj(a->r[k + LD * i]) * (double complex)a->z[k + LD * column];
    return sum;
}

/* z^H z + rho^2. */
static double NAME(total)(const NAME(Problem) *a, int p, int column) {
    double sum = (double)a->rho[column] * (double)a->rho[column];
    int k;
    for (k = 0; k < p; k++) sum += NAME(square)(a->z[k + LD * column]);
    return sum;
}

#ifdef REFERENCE
/* R, and the first rotations, are those of the original. */
static void NAME(agree)(const char *what, int p, const NAME(Problem) *a, const NAME(Problem) *original, int rotations) {
    int i, j;
    for (j = 0; j < p; j++)
        for (i = 0; i <= j; i++) NAME(near)(what, p, a->r[i + LD * j], original->r[i + LD * j]);
    for (i = 0; i < rotations; i++) {
        NAME(near)(what, p, a->c[i], original->c[i]);
        NAME(near)(what, p, a->s[i], original->s[i]);
    }
}
#endif

static void NAME(one_observation)(int p) {
    static NAME(Problem) before, a, b;
    const int ld = LD, nz = NZ;
    const int64_t long_p = p, long_ld = LD, long_nz = NZ;
    int i, j, k, info = 99;
    NAME(make)(&before, p);
    a = b = before;
    NAME(chud_64_)(b.r, &long_ld, &long_p, b.x, b.z, &long_ld, &long_nz, b.y, b.rho, b.c, b.s);
    NAME(chud_)(a.r, &ld, &p, a.x, a.z, &ld, &nz, a.y, a.rho, a.c, a.s);
    if (memcmp(a.r, b.r, sizeof a.r) != 0 || memcmp(a.z, b.z, sizeof a.z) != 0) fail("chud_64", p, 0, 1);
#ifdef REFERENCE
    {
        const int none = 0;
        NAME(Problem) original = before;
        REFERENCE(chud_)(original.r, &ld, &p, before.x, NULL, &ld, &none, NULL, NULL, original.c, original.s);
        NAME(agree)("chud, original", p, &a, &original, p);
        b = a;
        NAME(chdd_)(b.r, &ld, &p, b.x, NULL, &ld, &none, NULL, NULL, b.c, b.s, &info);
        REFERENCE(chdd_)(original.r, &ld, &p, before.x, NULL, &ld, &none, NULL, NULL, original.c, original.s, &info);
        NAME(agree)("chdd, original", p, &b, &original, p);
    }
#endif
    /* The rotations take (R; x) to the new R, and the row to zero. */
    for (j = 0; j < p; j++) {
        NUMBER rest = before.x[j];
        for (i = 0; i <= j; i++) {
            const NUMBER above = before.r[i + LD * j];
            NAME(near)("chud rotations", p, a.r[i + LD * j], a.c[i] * above + a.s[i] * rest);
            rest = a.c[i] * rest - NAME(bar)(a.s[i]) * above;
        }
        NAME(near)("chud row", p, rest, 0);
    }
    for (j = 0; j < p; j++) {
        for (i = 0; i <= j; i++)
            NAME(near)("chud R", p, NAME(gram)(&a, i, j), NAME(gram)(&before, i, j) + conj(a.x[i]) * (double complex)a.x[j]);
        if (memcmp(&a.r[j + 1 + LD * j], &before.r[j + 1 + LD * j], sizeof(NUMBER)) != 0) fail("chud below", p, a.r[j + 1 + LD * j], -7);
        NAME(near)("chud c, s", p, a.c[j] * a.c[j] + NAME(square)(a.s[j]), 1);
        if (COMPLEX && a.c[j] < 0) fail("chud c", p, a.c[j], -a.c[j]);
        for (k = 0; k < NZ; k++)
            NAME(near)("chud Z", p, NAME(moment)(&a, j, k), NAME(moment)(&before, j, k) + conj(a.x[j]) * (double complex)a.y[k]);
    }
    for (k = 0; k < NZ; k++) NAME(near)("chud RHO", p, NAME(total)(&a, p, k), NAME(total)(&before, p, k) + NAME(square)(a.y[k]));
    if (memcmp(a.x, before.x, sizeof a.x) != 0 || memcmp(a.y, before.y, sizeof a.y) != 0) fail("chud x, y", p, 0, 1);
    NAME(chdd_)(a.r, &ld, &p, a.x, a.z, &ld, &nz, a.y, a.rho, a.c, a.s, &info);
    if (info != 0) fail("chdd info", p, info, 0);
    for (j = 0; j < p; j++) {
        for (i = 0; i <= j; i++) NAME(near)("chdd R", p, NAME(gram)(&a, i, j), NAME(gram)(&before, i, j));
        for (k = 0; k < NZ; k++) NAME(near)("chdd Z", p, NAME(moment)(&a, j, k), NAME(moment)(&before, j, k));
    }
    for (k = 0; k < NZ; k++) NAME(near)("chdd RHO", p, a.rho[k], before.rho[k]);

    /* A negative RHO is not changed, and a RHO that is too small becomes negative. */
    a = before;
    a.rho[0] = -3;
    NAME(chud_)(a.r, &ld, &p, a.x, a.z, &ld, &nz, a.y, a.rho, a.c, a.s);
    if (a.rho[0] != -3) fail("chud RHO", p, a.rho[0], -3);
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

/* Applies the returned rotations to the old R with exchanged columns, which gives the new R; likewise for Z. R may be diagonal, where
 * rotations are of zeros. */
static void NAME(exchange)(int p, int k, int l, int job, int diagonal) {
    static NAME(Problem) before, a, b;
    const int ld = LD, nz = NZ;
    int i, j, at;
    NAME(make)(&before, p);
    for (j = 0; j < p; j++)
        for (i = diagonal ? 0 : j + 1; i < LD; i++)
            if (i != j) before.r[i + LD * j] = 0;
    a = b = before;
    NAME(chex_)(a.r, &ld, &p, &k, &l, a.z, &ld, &nz, a.c, a.s, &job);
#ifdef REFERENCE
    {
        const int none = 0;
        NAME(Problem) original = before;
        REFERENCE(chex_)(original.r, &ld, &p, &k, &l, NULL, &ld, &none, original.c, original.s, &job);
        NAME(agree)("chex, original", p, &a, &original, l - k);
    }
#endif
    for (j = 0; j < p; j++) {
        int from = j;
        if (job == 1 && j == k - 1) from = l - 1;
        else if (job == 1 && j >= k && j <= l - 1) from = j - 1;
        if (job == 2 && j == l - 1) from = k - 1;
        else if (job == 2 && j >= k - 1 && j < l - 1) from = j + 1;
        memcpy(&b.r[LD * j], &before.r[LD * from], LD * sizeof(NUMBER));
    }
    for (at = 1; at <= l - k; at++) {
        const int row = job == 1 ? l - at - 1 : k + at - 2;
        for (j = 0; j < p + NZ; j++) {
            NUMBER *column = j < p ? &b.r[LD * j] : &b.z[LD * (j - p)];
            const NUMBER above = column[row], below = column[row + 1];
            column[row] = a.c[at - 1] * above + a.s[at - 1] * below;
            column[row + 1] = a.c[at - 1] * below - NAME(bar)(a.s[at - 1]) * above;
        }
        if (COMPLEX && a.c[at - 1] < 0) fail("chex c", p, a.c[at - 1], -a.c[at - 1]);
    }
    for (j = 0; j < p; j++)
        for (i = 0; i < p; i++) NAME(near)("chex R", p, i > j ? 0 : a.r[i + LD * j], b.r[i + LD * j]);
    for (j = 0; j < NZ; j++)
        for (i = 0; i < LD; i++) NAME(near)("chex Z", p, a.z[i + LD * j], b.z[i + LD * j]);
}

static void NAME(tests)(void) {
    int p, k, l, job;
    for (p = 1; p <= ROWS; p += p < 6 ? 1 : 5) {
        NAME(one_observation)(p);
        for (k = 1; k < p; k += 1 + p / 6)
            for (l = k + 1; l <= p; l += 1 + p / 6)
                for (job = 1; job <= 2; job++) {
                    NAME(exchange)(p, k, l, job, 0);
                    NAME(exchange)(p, k, l, job, 1);
                }
    }
}
