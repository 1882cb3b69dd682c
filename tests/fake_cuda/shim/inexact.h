// Results of instructions that a GPU approximates: correctly rounded or, if a test sets it, wrong.
//
// Protocol. The sign of the error is a seeded hash of the number's bits, and does not depend on the caller.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

namespace fake {

/// Units in the last place.
struct Inexactness {
    int64_t roots, reciprocals;
    uint64_t seed;
};

extern Inexactness inexactness; // driver/control.cpp

inline double wrong_by(int64_t ulps, double x) {
    if (ulps == 0 || !std::isnormal(x)) return x;
    int64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    uint64_t hash = (uint64_t(bits) + inexactness.seed) * 0x9E3779B97F4A7C15u;
    hash = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93u;
    bits += hash >> 63 ? ulps : -ulps;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

inline double reciprocal_root(double x) { return wrong_by(inexactness.roots, 1 / std::sqrt(x)); }
inline double reciprocal(double x) { return wrong_by(inexactness.reciprocals, 1 / x); }
// Wrong by one unit in the last place of a float.
inline float wrong_by(int64_t ulps, float x) {
    const double wrong = wrong_by(ulps, double(x));
    if (ulps == 0 || !std::isnormal(x)) return x;
    return std::nextafter(x, wrong > x ? INFINITY : -INFINITY);
}
inline float reciprocal_root(float x) { return wrong_by(inexactness.roots, 1 / std::sqrt(x)); }
inline float reciprocal(float x) { return wrong_by(inexactness.reciprocals, 1 / x); }

} // namespace fake
