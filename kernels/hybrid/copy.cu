// Copies rows of a column-major matrix between memories that the device can address: its own, and page-locked memory
// of the host: the small pieces that a sweep of the hybrid engine waits for, which a copy engine would queue after the
// panels in flight, and V of the resident engine.
//
// Shapes: entry (i, j), i < rows, j < cols, at from + j * from_stride + i, and at to + j * to_stride + i; the
// two do not overlap.
//
// Launch: any grid, blocks of x only; y of the grid counts columns. One thread copies each entry; the grid may be
// smaller than the matrix. Offsets are 64 bits wide.

template <class T>
__device__ __forceinline__ void copy(T* __restrict__ to, long long to_stride, const T* __restrict__ from,
                                     long long from_stride, long long rows, long long cols) {
    for (long long j = blockIdx.y; j < cols; j += gridDim.y)
        for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < rows;
             i += (long long)gridDim.x * blockDim.x)
            to[j * to_stride + i] = from[j * from_stride + i];
}

#define COPY(NAME, T)                                                                                        \
    extern "C" __global__ void NAME(T* to, long long to_stride, const T* from, long long from_stride,        \
                                    long long rows, long long cols) {                                        \
        copy<T>(to, to_stride, from, from_stride, rows, cols);                                               \
    }

#ifndef ONLY_F32
COPY(copy_f64, double)
#endif
#ifndef ONLY_F64
COPY(copy_f32, float)
#endif
