// Words of global memory that show by themselves whether they have been written: before a launch all their bits are
// ones, which is no number, and no NaN that arithmetic gives.
#pragma once

__device__ __forceinline__ bool is_unpublished(double x) {
    long long bits;
    memcpy(&bits, &x, sizeof bits);
    return bits == -1;
}

// The value to publish for x, which may come from an entry with these bits.
__device__ __forceinline__ double publishable(double x) {
    const long long quiet_nan = 0x7ff8000000000000;
    if (is_unpublished(x)) memcpy(&x, &quiet_nan, sizeof x);
    return x;
}
