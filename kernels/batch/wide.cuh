// Arithmetic in twice the precision of double: an unevaluated sum of two of them (Dekker 1971; Hida, Li and Bailey 2001).
#pragma once

struct Wide {
    double hi, lo;
};

// a + b, exactly; the second if |a| >= |b|.
__device__ __forceinline__ Wide two_sum(double a, double b) {
    const double hi = a + b, of_b = hi - a;
    return {hi, (a - (hi - of_b)) + (b - of_b)};
}
__device__ __forceinline__ Wide quick_two_sum(double a, double b) {
    const double hi = a + b;
    return {hi, b - (hi - a)};
}
__device__ __forceinline__ Wide operator-(Wide a) { return {-a.hi, -a.lo}; }
__device__ __forceinline__ Wide operator+(Wide a, Wide b) {
    const Wide high = two_sum(a.hi, b.hi), low = two_sum(a.lo, b.lo);
    const Wide sum = quick_two_sum(high.hi, high.lo + low.hi);
    return quick_two_sum(sum.hi, sum.lo + low.lo);
}
__device__ __forceinline__ Wide operator-(Wide a, Wide b) { return a + -b; }
__device__ __forceinline__ Wide operator*(Wide a, Wide b) {
    const double product = a.hi * b.hi;
    return quick_two_sum(product, fma(a.hi, b.hi, -product) + (a.hi * b.lo + a.lo * b.hi));
}
__device__ __forceinline__ Wide operator/(Wide a, Wide b) {
    const double first = a.hi / b.hi;
    Wide rest = a - b * Wide{first, 0.0};
    const double second = rest.hi / b.hi;
    rest = rest - b * Wide{second, 0.0};
    return quick_two_sum(first, second) + Wide{rest.hi / b.hi, 0.0};
}
__device__ __forceinline__ Wide root(Wide a) {
    if (a.hi == 0.0) return {0.0, 0.0};
    const double near = sqrt(a.hi);
    const Wide rest = a - Wide{near, 0.0} * Wide{near, 0.0};
    return quick_two_sum(near, rest.hi / (2.0 * near));
}
