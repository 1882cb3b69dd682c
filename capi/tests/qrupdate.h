/* The comparison for one type of numbers. What is real for all of them is a REAL. */

/* The workspace of a shift: 2 n real numbers, or n complex and n real ones. */
#undef WORKSPACE
#undef WORK
#if COMPLEX
#define WORKSPACE NUMBER *, REAL *
#define WORK to->work, to->w
#else
#define WORKSPACE REAL *
#define WORK to->w
#endif

typedef void (*NAME(up))(const int *, NUMBER *, const int *, NUMBER *, REAL *);
typedef void (*NAME(dn))(const int *, NUMBER *, const int *, NUMBER *, REAL *, int *);
typedef void (*NAME(inx))(const int *, NUMBER *, const int *, const int *, NUMBER *, REAL *, int *);
typedef void (*NAME(dex))(const int *, NUMBER *, const int *, const int *, REAL *);
typedef void (*NAME(shx))(const int *, NUMBER *, const int *, const int *, const int *, WORKSPACE);
typedef void (*NAME(up_64))(const int64_t *, NUMBER *, const int64_t *, NUMBER *, REAL *);
typedef void (*NAME(shx_64))(const int64_t *, NUMBER *, const int64_t *, const int64_t *, const int64_t *, WORKSPACE);

typedef struct {
    NAME(up) up;
    NAME(dn) dn;
    NAME(inx) inx;
    NAME(dex) dex;
    NAME(shx) shx;
} NAME(Library);

static NAME(Library) NAME(library)(void *opened) {
    NAME(Library) found;
    void *names[5];
    names[0] = symbol(opened, PREFIX, "ch1up_", "");
    names[1] = symbol(opened, PREFIX, "ch1dn_", "");
    names[2] = symbol(opened, PREFIX, "chinx_", "");
    names[3] = symbol(opened, PREFIX, "chdex_", "");
    names[4] = symbol(opened, PREFIX, "chshx_", "");
    memcpy(&found.up, &names[0], sizeof names[0]);
    memcpy(&found.dn, &names[1], sizeof names[0]);
    memcpy(&found.inx, &names[2], sizeof names[0]);
    memcpy(&found.dex, &names[3], sizeof names[0]);
    memcpy(&found.shx, &names[4], sizeof names[0]);
    return found;
}

/* R, u and workspace of both, with guard values where nothing may be written. */
typedef struct {
    NUMBER r[LD * (MOST + 1)], u[MOST + 2], work[MOST + 1];
    REAL w[2 * MOST + 1];
    int info;
} NAME(State);
static NAME(State) NAME(mine), NAME(other);

static const REAL NAME(mark) = 77;

static NUMBER NAME(random)(void) {
    NUMBER number = (REAL)random_number();
#if COMPLEX
    number += (REAL)random_number() * I;
#endif
    return number;
}

/* The same well-conditioned R for both, with diagonal entries that are not all positive, and zeros below the diagonal. */
static void NAME(problem)(int n, int entries_of_w) {
    NAME(State) *state = &NAME(mine);
    int i, j;
    for (i = 0; i < LD * (MOST + 1); i++) state->r[i] = NAME(mark);
    for (j = 0; j < n; j++)
        for (i = 0; i < n; i++) {
            NUMBER entry = NAME(random)() / (REAL)sqrt(n);
            state->r[i + LD * j] = i < j ? entry : i > j ? 0 : (REAL)(random_number() > 0.3 ? -1 : 1) * (2 + entry);
        }
    for (i = 0; i < MOST + 2; i++) state->u[i] = i < n + 1 ? NAME(random)() : NAME(mark);
    for (i = 0; i < MOST + 1; i++) state->work[i] = i < n ? 0 : NAME(mark);
    for (i = 0; i < 2 * MOST + 1; i++) state->w[i] = i < entries_of_w ? 0 : NAME(mark);
    state->info = 99;
    NAME(other) = *state;
}

static void NAME(near)(const char *what, int n, NUMBER found, NUMBER expected) {
    const double most = (n + 10) * 20 * (sizeof(REAL) == 4 ? 6e-8 : 1.1e-16);
    if (!(cabs((double complex)found - (double complex)expected) <= most)) fail(what, n, found, expected);
}

/* The leading triangle of `order` rows agrees, and zeros below it stay; `untouched` columns' worth of rows beyond it do. */
static void NAME(agree)(const char *what, int order, int touched, int entries_of_w) {
    int i, j;
    if (NAME(mine).info != NAME(other).info) fail(what, order, NAME(mine).info, NAME(other).info);
    for (j = 0; j < order; j++)
        for (i = 0; i < order; i++) NAME(near)(what, order, NAME(mine).r[i + LD * j], NAME(other).r[i + LD * j]);
    for (j = 0; j < MOST + 1; j++)
        for (i = j < touched ? touched : 0; i < LD; i++)
            if (NAME(mine).r[i + LD * j] != NAME(mark)) fail(what, order, NAME(mine).r[i + LD * j], 77);
    for (i = entries_of_w; i < 2 * MOST + 1; i++)
        if (NAME(mine).w[i] != NAME(mark)) fail(what, order, NAME(mine).w[i], 77);
    for (i = order + 1; i < MOST + 1; i++)
        if (NAME(mine).work[i] != NAME(mark)) fail(what, order, NAME(mine).work[i], 77);
}

static void NAME(vectors_agree)(const char *what, int n, int with_w) {
    int i;
    for (i = 0; i < n; i++) {
        NAME(near)(what, n, NAME(mine).u[i], NAME(other).u[i]);
        if (with_w) NAME(near)(what, n, NAME(mine).w[i], NAME(other).w[i]);
    }
    if (NAME(mine).u[n + 1] != NAME(mark)) fail(what, n, NAME(mine).u[n + 1], 77);
}

#undef BOTH
#define BOTH(call)                                             \
    do {                                                       \
        NAME(State) *to = &NAME(mine);                         \
        NAME(Library) *lib = &ours;                            \
        call;                                                  \
        to = &NAME(other);                                     \
        lib = &theirs;                                         \
        call;                                                  \
    } while (0)

static void NAME(random_problems)(NAME(Library) ours, NAME(Library) theirs, NAME(up_64) up_64, NAME(shx_64) shx_64) {
    const int ld = LD;
    int n, i, j, round;
    for (n = 0; n <= MOST; n += n < 40 ? 1 : 9) {
        NAME(problem)(n, n);
        BOTH(lib->up(&n, to->r, &ld, to->u, to->w));
        NAME(agree)("ch1up", n, n, n);
        NAME(vectors_agree)("ch1up", n, 1);
        {
            const int64_t long_n = n, long_ld = LD;
            NAME(problem)(n, n);
            up_64(&long_n, NAME(mine).r, &long_ld, NAME(mine).u, NAME(mine).w);
            theirs.up(&n, NAME(other).r, &ld, NAME(other).u, NAME(other).w);
            NAME(agree)("ch1up_64", n, n, n);
        }
        /* Possible and impossible downdates: after the latter R is as it was, and u is R^-H u. */
        for (round = 0; round < 4 && n > 0; round++) {
            NAME(problem)(n, n);
            for (i = 0; i < n; i++) NAME(mine).u[i] *= round % 2 ? (REAL)9 : (REAL)(1 / sqrt(n));
            if (round == 3) NAME(mine).r[(LD + 1) * (n / 2)] = 0;
            NAME(other) = NAME(mine);
            BOTH(lib->dn(&n, to->r, &ld, to->u, to->w, &to->info));
            NAME(agree)("ch1dn", n, n, n);
            NAME(vectors_agree)("ch1dn", n, NAME(mine).info == 0);
        }

        for (j = 1; j <= n + 1 && n < MOST; j += 1 + n / 5) {
            for (round = 0; round < 3 + COMPLEX; round++) {
                NAME(problem)(n, n);
                for (i = 0; i < n + 1; i++) NAME(mine).r[i + LD * n] = NAME(mine).r[n + LD * i] = 0;
                NAME(mine).u[j - 1] = round == 0 ? 9 : round == 1 ? -1 : 3;
                if (round == 2) NAME(mine).r[(LD + 1) * (n / 2)] = 0;
#if COMPLEX
                if (round == 3) NAME(mine).u[j - 1] = 9 + I;
#endif
                NAME(other) = NAME(mine);
                BOTH(lib->inx(&n, to->r, &ld, &j, to->u, to->w, &to->info));
                NAME(agree)("chinx", n + (NAME(mine).info == 0), n + 1, n);
                if (NAME(mine).info != (round == 2 && n == 0 ? 0 : round)) fail("chinx", n, NAME(mine).info, round);
            }
            if (j > n) continue;
            NAME(problem)(n, n);
            BOTH(lib->dex(&n, to->r, &ld, &j, to->w));
            NAME(agree)("chdex", n - 1, n, n);
            for (i = 1; i <= n; i += 1 + n / 5) {
                NAME(problem)(n, (2 - COMPLEX) * n);
                BOTH(lib->shx(&n, to->r, &ld, &i, &j, WORK));
                NAME(agree)("chshx", n, n, (2 - COMPLEX) * n);
                {
                    const int64_t long_n = n, long_ld = LD, long_i = i, long_j = j;
                    NAME(State) *to = &NAME(mine);
                    NAME(problem)(n, (2 - COMPLEX) * n);
                    shx_64(&long_n, to->r, &long_ld, &long_i, &long_j, WORK);
                    to = &NAME(other);
                    theirs.shx(&n, to->r, &ld, &i, &j, WORK);
                    NAME(agree)("chshx_64", n, n, (2 - COMPLEX) * n);
                }
            }
        }
    }
}

/* Both refuse the same argument, or none, and info says which. */
static void NAME(wrong_arguments)(NAME(Library) ours, NAME(Library) theirs) {
    const int sizes[3] = {-1, 0, 4}, places[6] = {-1, 0, 1, 4, 5, 6}, ld = LD, small = 3;
    int s, i, j;
    for (s = 0; s < 3; s++)
        for (i = 0; i < 6; i++)
            for (j = 0; j < 6; j++) {
                char said[2][3][16];
                NAME(State) *to = &NAME(mine);
                NAME(Library) *lib = &ours;
                int who, info[2];
                const int n = sizes[s];
                NAME(problem)(5, 10);
                for (who = 0; who < 2; who++) {
                    int at;
                    for (at = 0; at < 5; at++) to->u[at] = 1;
                    complaint[0] = 0;
                    lib->inx(&n, to->r, &ld, &places[i], to->u, to->w, &to->info);
                    info[who] = to->info;
                    strcpy(said[who][0], complaint);
                    /* The original reports it with the sign of info. */
                    if (COMPLEX && lib == &theirs && to->info < 0) sprintf(said[who][0], "%cCHINX %d", toupper(PREFIX), -to->info);
                    complaint[0] = 0;
                    lib->dex(&n, to->r, &ld, &places[i], to->w);
                    strcpy(said[who][1], complaint);
                    complaint[0] = 0;
                    lib->shx(&n, to->r, &ld, &places[i], &places[j], WORK);
                    strcpy(said[who][2], complaint);
                    to = &NAME(other);
                    lib = &theirs;
                }
                if (info[0] != info[1] || memcmp(said[0][0], said[1][0], strlen(said[1][0]) + 1) != 0 ||
                    strcmp(said[0][1], said[1][1]) != 0 || strcmp(said[0][2], said[1][2]) != 0) {
                    for (who = 0; who < 2; who++) fprintf(stderr, "n %d, i %d, j %d: %d, %s, %s, %s\n", n, places[i], places[j], info[who], said[who][0], said[who][1], said[who][2]);
                    fail("complaints", n, info[0], info[1]);
                }
            }
    {
        const int n = 4, minus = -1;
        NAME(problem)(4, 8);
        complaints = 0;
        BOTH(lib->dn(&n, to->r, &small, to->u, to->w, &to->info));
        if (NAME(mine).info != -3 || NAME(other).info != -3 || complaints != 2) fail("ldr", n, NAME(mine).info, -3);
        BOTH(lib->dn(&minus, to->r, &ld, to->u, to->w, &to->info));
        if (NAME(mine).info != -1 || NAME(other).info != -1 || complaints != 4) fail("n", n, NAME(mine).info, -1);
        NAME(agree)("nothing", 4, 4, 8);
    }
}

static void NAME(compare)(void *ours, void *theirs) {
    NAME(up_64) up_64;
    NAME(shx_64) shx_64;
    void *found = symbol(ours, PREFIX, "ch1up_64_", "");
    memcpy(&up_64, &found, sizeof found);
    found = symbol(ours, PREFIX, "chshx_64_", "");
    memcpy(&shx_64, &found, sizeof found);
    NAME(random_problems)(NAME(library)(ours), NAME(library)(theirs), up_64, shx_64);
    NAME(wrong_arguments)(NAME(library)(ours), NAME(library)(theirs));
}
