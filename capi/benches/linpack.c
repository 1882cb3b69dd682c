/* dchud, dchdd and dchex of LINPACK (Dongarra, Bunch, Moler, Stewart, 1979, chapter 10) without right-hand sides, loop by loop, with
 * drotg of the BLAS: the original for qrupdate.c. */
#include <math.h>
#include <stddef.h>

#define R(i, j) r[(size_t)(i) + (size_t)(j) * (size_t)*ldr]

static void rotg(double *a, double *b, double *c, double *s) {
    const double roe = fabs(*a) > fabs(*b) ? *a : *b, scale = fabs(*a) + fabs(*b);
    double length, z = 1;
    if (scale == 0) {
        *c = 1, *s = 0, *a = 0, *b = 0;
        return;
    }
    length = copysign(scale * sqrt(*a / scale * (*a / scale) + *b / scale * (*b / scale)), roe);
    *c = *a / length;
    *s = *b / length;
    if (fabs(*a) > fabs(*b)) z = *s;
    else if (*c != 0) z = 1 / *c;
    *a = length;
    *b = z;
}

/* Applies a rotation to x and y. */
static void rotate(double c, double s, double *x, double *y) {
    const double t = c * *x + s * *y;
    *y = c * *y - s * *x;
    *x = t;
}

void dchud_(double *r, const int *ldr, const int *p, const double *x, double *z, const int *ldz, const int *nz, const double *y,
            double *rho, double *c, double *s) {
    int i, j;
    (void)z, (void)ldz, (void)nz, (void)y, (void)rho;
    for (j = 0; j < *p; j++) {
        double xj = x[j];
        for (i = 0; i < j; i++) rotate(c[i], s[i], &R(i, j), &xj);
        rotg(&R(j, j), &xj, &c[j], &s[j]);
    }
}

void dchdd_(double *r, const int *ldr, const int *p, const double *x, double *z, const int *ldz, const int *nz, const double *y,
            double *rho, double *c, double *s, int *info) {
    double norm = 0, alpha;
    int i, j;
    (void)z, (void)ldz, (void)nz, (void)y, (void)rho;
    *info = 0;
    for (j = 0; j < *p; j++) {
        double sum = 0;
        for (i = 0; i < j; i++) sum += R(i, j) * s[i];
        s[j] = (x[j] - sum) / R(j, j);
        norm = hypot(norm, s[j]);
    }
    if (norm >= 1) {
        *info = -1;
        return;
    }
    alpha = sqrt(1 - norm * norm);
    for (i = *p - 1; i >= 0; i--) {
        const double scale = alpha + fabs(s[i]), a = alpha / scale, b = s[i] / scale, length = sqrt(a * a + b * b);
        c[i] = a / length;
        s[i] = b / length;
        alpha = scale * length;
    }
    for (j = 0; j < *p; j++) {
        double xx = 0;
        for (i = j; i >= 0; i--) {
            const double t = c[i] * xx + s[i] * R(i, j);
            R(i, j) = c[i] * R(i, j) - s[i] * xx;
            xx = t;
        }
    }
}

void dchex_(double *r, const int *ldr, const int *p, const int *k, const int *l, double *z, const int *ldz, const int *nz, double *c,
            double *s, const int *job) {
    const int first = *k - 1, last = *l - 1, count = last - first;
    int i, j;
    double t;
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
            rotg(&s[i + 1], &t, &c[i], &s[i]);
            t = s[i + 1];
        }
        R(first, first) = t;
        for (j = first + 1; j < *p; j++)
            for (i = last > j ? last - j : 0; i < count; i++)
                rotate(c[i], s[i], &R(last - 1 - i, j), &R(last - i, j));
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
        for (i = first; i < (j < last ? j : last); i++) rotate(c[i - first], s[i - first], &R(i, j), &R(i + 1, j));
        if (j < last) {
            t = s[j - first];
            rotg(&R(j, j), &t, &c[j - first], &s[j - first]);
        }
    }
}
