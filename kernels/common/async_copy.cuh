// Asynchronous copies from global to shared memory (cp.async), as inline PTX. A thread commits the copies it has begun
// as one batch and waits for batches in the order in which it committed them.
#pragma once

#ifdef FAKE_CUDA
template <int BYTES>
void copy_async(void* shared, const void* global, int bytes) {
    fake::copy_async(shared, global, BYTES, bytes);
}
inline void copy_async_16(void* shared, const void* global) { fake::copy_async(shared, global, 16, 16); }
inline void copy_async_commit() { fake::copy_async_commit(); }
inline void copy_async_wait_all() { fake::copy_async_wait(0); }
inline void copy_async_wait_but_one() { fake::copy_async_wait(1); }
template <int BATCHES>
void copy_async_wait() {
    fake::copy_async_wait(BATCHES);
}
inline void prefetch_l2(const void*) {}
#else
// Begins to copy BYTES (4, 8 or 16, both sides aligned to as many) to shared memory. After the first `bytes` it writes
// zeros and reads nothing.
template <int BYTES>
__device__ __forceinline__ void copy_async(void* shared, const void* global, int bytes) {
    const unsigned to = (unsigned)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global), "n"(BYTES),
                 "r"(bytes)
                 : "memory");
}
// Begins to copy 16 bytes to shared memory, bypassing the first-level cache.
__device__ __forceinline__ void copy_async_16(void* shared, const void* global) {
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(shared)),
        "l"(global)
        : "memory");
}
__device__ __forceinline__ void copy_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ __forceinline__ void copy_async_wait_all() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }
__device__ __forceinline__ void copy_async_wait_but_one() {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
}
// Waits for all but the last BATCHES batches.
template <int BATCHES>
__device__ __forceinline__ void copy_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(BATCHES) : "memory");
}

// Prefetches a line of global memory to the second-level cache.
__device__ __forceinline__ void prefetch_l2(const void* at) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}
#endif
