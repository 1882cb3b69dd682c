/* Every function on a factor of a complex indefinite matrix, in one precision: REAL, NUMBER, LDLT, BORDERED, NAME(verb) for the checks of
 * complex.h, and OF(verb) for the names of the functions. */

/* A = (H B^H; B -G) with H and G positive definite: the last third of the rows is in G. */
static void NAME(indefinite)(int64_t n, number *a) {
    int64_t i, j;
    any_matrix(n, a);
    for (j = n - n / 3; j < n; j++)
        for (i = n - n / 3; i < n; i++) a[i + j * n] = -a[i + j * n];
}

/* Checks that A is the matrix of the factor, and the inertia. */
static void OF(is)(const LDLT *factor, int64_t n, const number *a) {
    NUMBER lower[MOST * MOST], upper[MOST * MOST], whole[MOST * MOST];
    number l[MOST * MOST] = {0}, adjoint[MOST * MOST], product[MOST * MOST];
    REAL signs[MOST];
    int64_t i, j, order = -1, plus = -1, minus = -1;
    double scale = 1;
    CHECK(OF(order)(factor, &order) == CHOLUPDATE_OK && order == n);
    for (i = 0; i < n * n; i++) lower[i] = upper[i] = 77;
    CHECK(OF(to_factor)(factor, 'L', lower, n) == CHOLUPDATE_OK);
    CHECK(OF(to_factor)(factor, 'U', upper, n) == CHOLUPDATE_OK);
    CHECK(OF(signs)(factor, signs) == CHOLUPDATE_OK);
    CHECK(OF(inertia)(factor, &plus, &minus) == CHOLUPDATE_OK && plus + minus == n);
    CHECK(OF(reconstruct)(factor, whole, n) == CHOLUPDATE_OK);
    for (j = 0; j < n; j++)
        for (i = 0; i < n; i++) {
            const number entry = (number)lower[i + j * n];
            l[i + j * n] = i < j ? 0 : entry;
            CHECK(i >= j ? (number)upper[j + i * n] == conj(entry) : (number)upper[j + i * n] == 77 && entry == 77);
            CHECK(i != j || (creal(entry) > 0 && cimag(entry) == 0 && signs[i] * signs[i] == 1));
            if (cabs(a[i + j * n]) > scale) scale = cabs(a[i + j * n]);
        }
    reference_adjoint(n, l, adjoint);
    for (i = 0; i < n; i++) {
        minus -= signs[i] < 0;
        for (j = 0; j < n; j++) adjoint[i + j * n] *= (double)signs[i];
    }
    CHECK(minus == 0);
    reference_multiply(n, n, n, l, adjoint, product);
    for (i = 0; i < n * n; i++) NAME(close)(product[i], a[i], 8 * scale);
    NAME(all_close)(n * n, whole, a, 8 * scale);
}

/* Both triangles, known factors with any phases, copies, numbers. */
static void OF(makes)(int64_t n) {
    const number phases[4] = {-1, I, 0.6 - 0.8 * I, 1};
    number a[MOST * MOST], b[MOST], product[MOST];
    NUMBER given[MOST * MOST], l[MOST * MOST], x[MOST], y[MOST];
    REAL signs[MOST], log_abs_det, condition;
    LDLT *factor = NULL, *other = NULL;
    int64_t i, j, plus, minus;
    double growth = 0;
    NAME(indefinite)(n, a);
    NAME(triangle)(n, a, 'U', given);
    CHECK(OF(new)(n, given, n, 'U', NULL, &factor) == CHOLUPDATE_OK);
    OF(is)(factor, n, a);
    OF(free)(factor);
    NAME(triangle)(n, a, 'L', given);
    CHECK(OF(new)(n, given, n, 'L', NULL, &factor) == CHOLUPDATE_OK);
    OF(is)(factor, n, a);
    CHECK(OF(inertia)(factor, &plus, &minus) == CHOLUPDATE_OK && plus == n - n / 3 && minus == n / 3);
    CHECK(OF(clone)(factor, &other) == CHOLUPDATE_OK);
    OF(is)(other, n, a);
    OF(free)(other);
    CHECK(OF(to_factor)(factor, 'L', l, n) == CHOLUPDATE_OK);
    CHECK(OF(signs)(factor, signs) == CHOLUPDATE_OK);
    for (j = 0; j < n; j++)
        for (i = j; i < n; i++) l[i + j * n] = (NUMBER)((number)l[i + j * n] * phases[j % 4]);
    CHECK(OF(from_factor)(n, l, n, 'L', signs, NULL, &other) == CHOLUPDATE_OK);
    OF(is)(other, n, a);
    OF(free)(other);
    CHECK(OF(log_abs_det)(factor, &log_abs_det) == CHOLUPDATE_OK && log_abs_det > 0);
    CHECK(OF(condition)(factor, &condition) == CHOLUPDATE_OK && condition >= 1);
    CHECK(OF(growth)(factor, &growth) == CHOLUPDATE_OK && growth >= 1);

    any_numbers(n, b);
    NAME(rounded)(n, b, x);
    NAME(rounded)(n, b, y);
    CHECK(OF(solve)(factor, 1, x, n) == CHOLUPDATE_OK);
    {
        number solved[MOST] = {0};
        for (i = 0; i < n; i++) solved[i] = (number)x[i];
        reference_multiply(n, n, 1, a, solved, product);
    }
    for (i = 0; i < n; i++) NAME(close)(product[i], b[i], 100.0 * (double)n);
    CHECK(OF(solve_l)(factor, 1, y, n) == CHOLUPDATE_OK);
    for (i = 0; i < n; i++) y[i] = (NUMBER)((number)y[i] * (double)signs[i]);
    CHECK(OF(solve_lt)(factor, 1, y, n) == CHOLUPDATE_OK);
    for (i = 0; i < n; i++) NAME(close)((number)y[i], (number)x[i], 1);
    OF(free)(factor);
}

static void OF(modifies)(int64_t n) {
    enum { K = 3 };
    const double mixed[K] = {2, -1, 0.5}, ones[K] = {1, 1, 1}, minus[K] = {-1, -1, -1};
    const REAL weights[K] = {2, -1, (REAL)0.5}, back[K] = {-2, 1, (REAL)-0.5};
    number a[MOST * MOST], v[MOST * K];
    NUMBER given[MOST * MOST], of_v[MOST * K];
    LDLT *factor = NULL;
    cholupdate_ldlt_report report;
    int64_t i;
    int32_t can = -1;
    NAME(indefinite)(n, a);
    any_numbers(n * K, v);
    NAME(rounded)(n * K, v, of_v);
    NAME(triangle)(n, a, 'L', given);
    CHECK(OF(new)(n, given, n, 'L', NULL, &factor) == CHOLUPDATE_OK);
    CHECK(OF(modify)(factor, K, of_v, n, weights, &report) == CHOLUPDATE_OK);
    reference_modify(n, a, K, v, mixed);
    OF(is)(factor, n, a);
    CHECK(report.positive + report.negative == n && report.growth >= 1);
    CHECK(OF(modify)(factor, K, of_v, n, back, NULL) == CHOLUPDATE_OK);
    CHECK(OF(can_downdate)(factor, K, of_v, n, &can) == CHOLUPDATE_OK && can == 1);
    CHECK(OF(update)(factor, K, of_v, n, NULL) == CHOLUPDATE_OK);
    CHECK(OF(downdate)(factor, K, of_v, n, NULL) == CHOLUPDATE_OK);
    CHECK(OF(modify_scaled)(factor, (REAL)0.5, K, of_v, n, NULL, NULL) == CHOLUPDATE_OK);
    { const double of_back[K] = {-2, 1, -0.5}; reference_modify(n, a, K, v, of_back); }
    for (i = 0; i < n * n; i++) a[i] *= 0.5;
    reference_modify(n, a, K, v, ones);
    OF(is)(factor, n, a);
    CHECK(OF(expect_inertia)(factor, report.positive + 1, report.negative) == CHOLUPDATE_OK);
    CHECK(OF(downdate)(factor, K, of_v, n, NULL) == CHOLUPDATE_UNEXPECTED_INERTIA);
    CHECK(OF(expect_any_inertia)(factor) == CHOLUPDATE_OK);
    CHECK(OF(downdate)(factor, K, of_v, n, NULL) == CHOLUPDATE_OK);
    reference_modify(n, a, K, v, minus);
    OF(is)(factor, n, a);
    OF(free)(factor);
}

/* The last two rows leave, return in front, go back in two ways, and are replaced by themselves. */
static void OF(moves)(int64_t n) {
    const int64_t last[2] = {n - 2, n - 1};
    number a[MOST * MOST], moved[MOST * MOST];
    NUMBER given[MOST * MOST], columns[MOST * 2], corner[4];
    LDLT *factor = NULL;
    int64_t i, j, order[MOST];
    NAME(indefinite)(n, a);
    NAME(triangle)(n, a, 'L', given);
    CHECK(OF(new)(n, given, n, 'L', NULL, &factor) == CHOLUPDATE_OK);
    CHECK(OF(remove)(factor, 2, last, NULL) == CHOLUPDATE_OK);
    for (j = 0; j < 2; j++)
        for (i = 0; i < n; i++) columns[i + j * n] = (NUMBER)a[i + (n - 2 + j) * n];
    for (j = 0; j < 2; j++)
        for (i = 0; i < 2; i++) corner[i + j * 2] = (NUMBER)a[n - 2 + i + (n - 2 + j) * n];
    CHECK(OF(append)(factor, 2, columns, n, corner, 2, 'L', NULL) == CHOLUPDATE_OK);
    OF(is)(factor, n, a);
    CHECK(OF(replace)(factor, n - 2, 2, columns, n, NULL) == CHOLUPDATE_OK);
    OF(is)(factor, n, a);
    CHECK(OF(remove)(factor, 1, last + 1, NULL) == CHOLUPDATE_OK);
    for (i = 0; i < n; i++) order[i] = (i + n - 1) % n;
    for (j = 0; j < n; j++)
        for (i = 0; i < n; i++) moved[i + j * n] = a[order[i] + order[j] * n];
    for (i = 0; i < n; i++) columns[i] = (NUMBER)moved[i];
    CHECK(OF(insert)(factor, 0, 1, columns, n, NULL) == CHOLUPDATE_OK);
    OF(is)(factor, n, moved);
    CHECK(OF(shift)(factor, 0, n - 1, NULL) == CHOLUPDATE_OK);
    OF(is)(factor, n, a);
    CHECK(OF(permute)(factor, order, NULL) == CHOLUPDATE_OK);
    OF(is)(factor, n, moved);
    OF(free)(factor);
}

/* The last two rows as an extension, and a right-hand side that stays current. */
static void OF(extends_and_carries)(int64_t n) {
    number a[MOST * MOST], b[MOST], solved[MOST] = {0}, product[MOST], v[MOST], y;
    NUMBER given[MOST * MOST], columns[MOST * 2], corner[4], x[MOST], z[MOST], of_v[MOST], of_y;
    REAL signs[MOST], log_abs_det, whole, weight = (REAL)-0.5;
    LDLT *factor = NULL, *all = NULL;
    BORDERED *extension = NULL;
    int64_t i, j, plus = -1, minus = -1, order = -1;
    const double half[1] = {-0.5};
    NAME(indefinite)(n, a);
    NAME(triangle)(n, a, 'L', given);
    CHECK(OF(new)(n, given, n, 'L', NULL, &all) == CHOLUPDATE_OK);
    CHECK(OF(new)(n - 2, given, n, 'L', NULL, &factor) == CHOLUPDATE_OK);
    for (j = 0; j < 2; j++)
        for (i = 0; i < n; i++) columns[i + j * n] = (NUMBER)a[i + (n - 2 + j) * n];
    for (j = 0; j < 2; j++)
        for (i = 0; i < 2; i++) corner[i + j * 2] = (NUMBER)a[n - 2 + i + (n - 2 + j) * n];
    CHECK(OF(extension_new)(factor, 2, columns, n, corner, 2, 'L', &extension) == CHOLUPDATE_OK);
    CHECK(OF(extension_order)(extension, &order) == CHOLUPDATE_OK && order == n);
    CHECK(OF(extension_inertia)(factor, extension, &plus, &minus) == CHOLUPDATE_OK && plus == n - n / 3 && minus == n / 3);
    CHECK(OF(extension_log_abs_det)(factor, extension, &log_abs_det) == CHOLUPDATE_OK);
    CHECK(OF(log_abs_det)(all, &whole) == CHOLUPDATE_OK);
    NAME(close)(log_abs_det, whole, 100);
    CHECK(OF(extension_corner)(extension, 'L', corner, 2, signs) == CHOLUPDATE_OK);
    CHECK(signs[0] * signs[0] == 1 && creal((number)corner[0]) > 0 && cimag((number)corner[0]) == 0);
    any_numbers(n, b);
    NAME(rounded)(n, b, x);
    CHECK(OF(extension_solve)(factor, extension, 1, x, n) == CHOLUPDATE_OK);
    for (i = 0; i < n; i++) solved[i] = (number)x[i];
    reference_multiply(n, n, 1, a, solved, product);
    for (i = 0; i < n; i++) NAME(close)(product[i], b[i], 100.0 * (double)n);
    CHECK(OF(update)(factor, 1, columns, n, NULL) == CHOLUPDATE_OK);
    REFUSED(OF(extension_solve)(factor, extension, 1, x, n), INVALID, "has changed since");
    OF(extension_free)(extension);
    OF(extension_free)(NULL);
    OF(free)(factor);

    /* b - v y / 2 with A - v v^H / 2. */
    any_numbers(n, v);
    y = any_number();
    of_y = (NUMBER)y;
    NAME(rounded)(n, v, of_v);
    NAME(rounded)(n, b, z);
    CHECK(OF(solve_l)(all, 1, z, n) == CHOLUPDATE_OK);
    CHECK(OF(modify_carrying)(all, 1, 1, of_v, n, &weight, 1, &of_y, 1, z, n, NULL) == CHOLUPDATE_OK);
    reference_modify(n, a, 1, v, half);
    OF(is)(all, n, a);
    for (i = 0; i < n; i++) b[i] -= 0.5 * v[i] * y;
    CHECK(OF(signs)(all, signs) == CHOLUPDATE_OK);
    for (i = 0; i < n; i++) z[i] = (NUMBER)((number)z[i] * (double)signs[i]);
    CHECK(OF(solve_lt)(all, 1, z, n) == CHOLUPDATE_OK);
    for (i = 0; i < n; i++) solved[i] = (number)z[i];
    reference_multiply(n, n, 1, a, solved, product);
    for (i = 0; i < n; i++) NAME(close)(product[i], b[i], 100.0 * (double)n);
    REFUSED(OF(modify_carrying)(all, 1, 1, of_v, n, &weight, 1, NULL, 1, z, n, NULL), NULLS, "`y`");
    OF(free)(all);
}

static void OF(all)(void) {
    const int64_t sizes[4] = {3, 9, 16, MOST};
    int at;
    for (at = 0; at < 4; at++) {
        OF(makes)(sizes[at]);
        OF(modifies)(sizes[at]);
        OF(moves)(sizes[at]);
        OF(extends_and_carries)(sizes[at]);
    }
}
