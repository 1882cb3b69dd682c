// Words of global memory that show by themselves whether they have been written: all bits ones before a launch, which no
// number is and no NaN that arithmetic makes.
#pragma once

__device__ __forceinline__ bool is_unpublished(double x) {
    long long bits;
    memcpy(&bits, &x, sizeof bits);
    return bits == -1;
}
