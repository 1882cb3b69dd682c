// Sums of products as if in twice the precision of double: the compensated dot product of Ogita, Rump and Oishi, "Accurate
// sum and dot product", SIAM J. Sci. Comput. 26 (2005).
#pragma once

// A sum: its value in working precision, and its rounding error.
struct Sum {
    double whole = 0, rest = 0;

    __device__ __forceinline__ void add(double x) {
        const double sum = whole + x, part = sum - whole;
        rest += (whole - (sum - part)) + (x - part);
        whole = sum;
    }
    __device__ __forceinline__ void add_product(double a, double b) {
        const double product = a * b;
        add(product);
        rest += fma(a, b, -product);
    }
    // Adds a times another sum.
    __device__ __forceinline__ void add_times(double a, const Sum& other) {
        add_product(a, other.whole);
        rest = fma(a, other.rest, rest);
    }
    __device__ __forceinline__ double rounded() const { return whole + rest; }
    // The root, rounded about once; NaN where the sum is negative.
    __device__ __forceinline__ double root() const {
        const double root = sqrt(rounded());
        return root > 0.0 ? root + (fma(-root, root, whole) + rest) / (root + root) : root;
    }
};
