// Matrix products by a warp on the double-precision tensor cores, as inline PTX; the fake driver has its own.
#pragma once

#ifdef FAKE_CUDA
using fake::mma_m16n8k16_f64;
using fake::mma_m8n8k4_f64;

inline void mma_m16n8k8_f64(double (&c)[4], const double (&a)[2][2], const double (&b)[2]) {
    for (int s = 0; s < 2; ++s) {
        mma_m8n8k4_f64(c[0], c[1], a[s][0], b[s]);
        mma_m8n8k4_f64(c[2], c[3], a[s][1], b[s]);
    }
}
#else
// C (8 x 8) += A (8 x 4) B (4 x 8) by a full warp. Lane l holds a in row l / 4, column l % 4; b in row l % 4, column
// l / 4; c0 and c1 in row l / 4, columns 2 (l % 4) and 2 (l % 4) + 1.
__device__ __forceinline__ void mma_m8n8k4_f64(double& c0, double& c1, double a, double b) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c0), "+d"(c1)
        : "d"(a), "d"(b));
}

// C (16 x 8) += A (16 x 16) B (16 x 8) by a full warp. Lane l holds a[s][h] in row l / 4 + 8 h, column l % 4 + 4 s;
// b[s] in row l % 4 + 4 s, column l / 4; c[2 h] and c[2 h + 1] in row l / 4 + 8 h, columns 2 (l % 4) and 2 (l % 4) +
// 1. From compute capability 9.0 on this is one instruction, which takes half the time of eight small ones.
__device__ __forceinline__ void mma_m16n8k16_f64(double (&c)[4], const double (&a)[4][2],
                                                 const double (&b)[4]) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, "
        "%11}, "
        "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0][0]), "d"(a[0][1]), "d"(a[1][0]), "d"(a[1][1]), "d"(a[2][0]), "d"(a[2][1]), "d"(a[3][0]),
          "d"(a[3][1]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
#pragma unroll
    for (int s = 0; s < 4; ++s) {
        mma_m8n8k4_f64(c[0], c[1], a[s][0], b[s]);
        mma_m8n8k4_f64(c[2], c[3], a[s][1], b[s]);
    }
#endif
}

// The same with A (16 x 8) and B (8 x 8): s < 2.
__device__ __forceinline__ void mma_m16n8k8_f64(double (&c)[4], const double (&a)[2][2],
                                                const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0][0]), "d"(a[0][1]), "d"(a[1][0]), "d"(a[1][1]), "d"(b[0]), "d"(b[1]));
#else
#pragma unroll
    for (int s = 0; s < 2; ++s) {
        mma_m8n8k4_f64(c[0], c[1], a[s][0], b[s]);
        mma_m8n8k4_f64(c[2], c[3], a[s][1], b[s]);
    }
#endif
}
#endif
