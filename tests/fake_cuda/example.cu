// Kernels that test the fake itself: a kernel file as in the project, and every mistake that must be detected.

// x (len), y (len) <- [c s; -s c] applied to each pair. One thread a pair.
template <class T>
__device__ void rotate(T* __restrict__ x, T* __restrict__ y, const T* __restrict__ cs, int len) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= len) return;
    const T c = __ldg(&cs[0]), s = __ldg(&cs[1]);
    const T u = x[i], v = y[i];
    x[i] = fma(c, u, s * v);
    y[i] = fma(c, v, -(s * u));
}

// out (gridDim) <- sums over each block's part of x (len), by shuffles and shared memory. THREADS a block.
template <class T, int THREADS>
__device__ void block_sum(const T* __restrict__ x, T* __restrict__ out, int len) {
    __shared__ T parts[THREADS / 32];
    const int i = int(blockIdx.x) * THREADS + int(threadIdx.x);
    T sum = i < len ? x[i] : T(0);
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        T total = 0;
        for (int p = 0; p < THREADS / 32; ++p) total += parts[p];
        out[blockIdx.x] = total;
    }
}

#define INSTANTIATE(T, NAME)                                                                                 \
    extern "C" __global__ void __launch_bounds__(1024) rotate_##NAME(T* x, T* y, const T* cs, int len) {     \
        rotate<T>(x, y, cs, len);                                                                            \
    }                                                                                                        \
    extern "C" __global__ void block_sum_##NAME(const T* x, T* out, int len) {                               \
        block_sum<T, 128>(x, out, len);                                                                      \
    }

INSTANTIATE(float, f32)
INSTANTIATE(double, f64)

// out (blockDim) <- its own running sums, in dynamic shared memory.
extern "C" __global__ void running_sum(const int* in, int* out) {
    DYNAMIC_SHARED(int, sums);
    const int t = int(threadIdx.x);
    sums[t] = in[t];
    __syncthreads();
    for (int distance = 1; distance < int(blockDim.x); distance *= 2) {
        const int before = t >= distance ? sums[t - distance] : 0;
        __syncthreads();
        sums[t] += before;
        __syncthreads();
    }
    out[t] = sums[t];
}

// Block b waits for block b - 1 through global memory, and keeps its shared memory meanwhile.
extern "C" __global__ void chain(volatile unsigned* turn, unsigned* order) {
    __shared__ unsigned mine;
    if (threadIdx.x == 0) {
        mine = blockIdx.x;
        while (*turn < blockIdx.x) __nanosleep(40);
    }
    __syncthreads();
    if (threadIdx.x == 1) order[*turn] = mine;
    __syncthreads();
    if (threadIdx.x == 0) *turn = *turn + 1;
}

// Waits forever.
extern "C" __global__ void spin(volatile unsigned* never) {
    while (*never == 0) __nanosleep(40);
}

// Half the block misses the barrier.
extern "C" __global__ void divergent_barrier(int* out) {
    if (threadIdx.x < 16) __syncthreads();
    else __syncwarp(0xffff0000u), __shfl_xor_sync(~0u, 1, 1);
    out[threadIdx.x] = 1;
}

// Reads shared memory that only other threads write, of which there are none.
extern "C" __global__ void unwritten_shared(double* out) {
    __shared__ double fixed[4];
    DYNAMIC_SHARED(double, sized);
    if (threadIdx.x > 0) fixed[1] = sized[1] = 0;
    out[0] = fixed[1];
    out[1] = sized[1];
}

// Writes one element past x (len).
extern "C" __global__ void write_past_end(double* x, int len) {
    if (threadIdx.x == 0) x[len] = 1;
}

// Does nothing, in any number of threads.
extern "C" __global__ void nothing() {}

// x (one for each thread) becomes 1 / x, with the error that the test sets.
extern "C" __global__ void reciprocals(double* x) { x[threadIdx.x] = fake::reciprocal(x[threadIdx.x]); }
