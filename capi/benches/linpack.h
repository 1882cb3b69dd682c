/* The loops for one type of numbers. */

/* Applies a rotation to x and y. */
static void NAME(rotate)(double c, NUMBER s, NUMBER *x, NUMBER *y) {
    const NUMBER t = c * *x + s * *y;
    *y = c * *y - CONJ(s) * *x;
    *x = t;
}

void NAME(chud_)(NUMBER *r, const int *ldr, const int *p, const NUMBER *x, NUMBER *z, const int *ldz, const int *nz, const NUMBER *y,
            double *rho, double *c, NUMBER *s) {
    int i, j;
    (void)z, (void)ldz, (void)nz, (void)y, (void)rho;
    for (j = 0; j < *p; j++) {
        NUMBER xj = x[j];
        for (i = 0; i < j; i++) NAME(rotate)(c[i], s[i], &R(i, j), &xj);
        NAME(rotg)(&R(j, j), &xj, &c[j], &s[j]);
    }
}

void NAME(chdd_)(NUMBER *r, const int *ldr, const int *p, const NUMBER *x, NUMBER *z, const int *ldz, const int *nz, const NUMBER *y,
            double *rho, double *c, NUMBER *s, int *info) {
    double norm = 0, alpha;
    int i, j;
    (void)z, (void)ldz, (void)nz, (void)y, (void)rho;
    *info = 0;
    for (j = 0; j < *p; j++) {
        NUMBER sum = 0;
        for (i = 0; i < j; i++) sum += CONJ(R(i, j)) * s[i];
        s[j] = (CONJ(x[j]) - sum) / CONJ(R(j, j));
        norm = hypot(norm, ABS(s[j]));
    }
    if (norm >= 1) {
        *info = -1;
        return;
    }
    alpha = sqrt(1 - norm * norm);
    for (i = *p - 1; i >= 0; i--) {
        const double scale = alpha + ABS(s[i]), a = alpha / scale, b = ABS(s[i]) / scale, length = sqrt(a * a + b * b);
        c[i] = a / length;
        s[i] = CONJ(s[i]) / scale / length;
        alpha = scale * length;
    }
    for (j = 0; j < *p; j++) {
        NUMBER xx = 0;
        for (i = j; i >= 0; i--) {
            const NUMBER t = c[i] * xx + s[i] * R(i, j);
            R(i, j) = c[i] * R(i, j) - CONJ(s[i]) * xx;
            xx = t;
        }
    }
}

void NAME(chex_)(NUMBER *r, const int *ldr, const int *p, const int *k, const int *l, NUMBER *z, const int *ldz, const int *nz, double *c,
            NUMBER *s, const int *job) {
    const int first = *k - 1, last = *l - 1, count = last - first;
    int i, j;
    NUMBER t;
    (void)z, (void)ldz, (void)nz;
    if (*job == 1) {
        for (i = 0; i <= last; i++) s[i] = R(last - i, last);
        for (j = last - 1; j >= first; j--) {
            for (i = 0; i <= j; i++) R(i, j + 1) = R(i, j);
            R(j + 1, j + 1) = 0;
        }
        for (i = 0; i < first; i++) R(i, first) = s[last - i];
        t = s[0];
        for (i = 0; i < count; i++) {
            NAME(rotg)(&s[i + 1], &t, &c[i], &s[i]);
            t = s[i + 1];
        }
        R(first, first) = t;
        for (j = first + 1; j < *p; j++)
            for (i = last > j ? last - j : 0; i < count; i++)
                NAME(rotate)(c[i], s[i], &R(last - 1 - i, j), &R(last - i, j));
        return;
    }
    for (i = 0; i <= first; i++) s[count + i] = R(i, first);
    for (j = first; j < last; j++) {
        for (i = 0; i <= j; i++) R(i, j) = R(i, j + 1);
        s[j - first] = R(j + 1, j + 1);
    }
    for (i = 0; i <= first; i++) R(i, last) = s[count + i];
    for (i = first + 1; i <= last; i++) R(i, last) = 0;
    for (j = first; j < *p; j++) {
        for (i = first; i < (j < last ? j : last); i++) NAME(rotate)(c[i - first], s[i - first], &R(i, j), &R(i + 1, j));
        if (j < last) {
            t = s[j - first];
            NAME(rotg)(&R(j, j), &t, &c[j - first], &s[j - first]);
        }
    }
}
