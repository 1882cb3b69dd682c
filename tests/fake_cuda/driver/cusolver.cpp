// A cuSOLVER with two routines: the Cholesky factorization and the solve, in stream order as in the real
// library.
#include "driver.h"
#include <cmath>

using namespace fake;

namespace {

enum : Result { SOLVER_SUCCESS = 0, SOLVER_INVALID_VALUE = 3, SOLVER_EXECUTION_FAILED = 6 };

constexpr int LOWER = 0, R_32F = 0;
constexpr size_t WORK_BYTES = 256;

struct Handle {
    void* stream = nullptr;
};

/// The lower triangle of A (n x n, column-major) becomes L; the order of the first minor that is not positive
/// definite, or 0.
template <class T> int factorize(T* a, int64_t n, int64_t stride) {
    for (int64_t j = 0; j < n; ++j) {
        for (int64_t p = 0; p < j; ++p) {
            const T x = a[p * stride + j];
            for (int64_t i = j; i < n; ++i) a[j * stride + i] -= x * a[p * stride + i];
        }
        const T pivot = a[j * stride + j];
        if (!(pivot > 0)) return int(j + 1);
        for (int64_t i = j; i < n; ++i) a[j * stride + i] /= std::sqrt(pivot);
    }
    return 0;
}

template <class T> void run(T* a, int64_t n, int64_t stride, int* info) {
    if (is_live(a, size_t(stride * (n - 1) + n) * sizeof(T)) && is_live(info, sizeof *info)) {
        *info = factorize(a, n, stride);
    }
}

/// B (n x count, column-major) becomes A^-1 B.
template <class T>
void solve(const T* l, int64_t n, int64_t stride, T* b, int64_t b_stride, int64_t count, int* info) {
    if (!is_live(l, size_t(stride * (n - 1) + n) * sizeof(T)) || !is_live(info, sizeof *info) ||
        !is_live(b, size_t(b_stride * (count - 1) + n) * sizeof(T))) {
        return;
    }
    for (T* x = b; x < b + count * b_stride; x += b_stride) {
        for (int64_t j = 0; j < n; ++j) {
            x[j] /= l[j * stride + j];
            for (int64_t i = j + 1; i < n; ++i) x[i] -= l[j * stride + i] * x[j];
        }
        for (int64_t j = n; j-- > 0;) {
            for (int64_t i = j + 1; i < n; ++i) x[j] -= l[j * stride + i] * x[i];
            x[j] /= l[j * stride + j];
        }
    }
    *info = 0;
}

} // namespace

API cusolverDnCreate(Handle** out) {
    if (injected()) return SOLVER_EXECUTION_FAILED;
    return *out = new Handle, SOLVER_SUCCESS;
}
API cusolverDnDestroy(Handle* handle) { return delete handle, SOLVER_SUCCESS; }
API cusolverDnSetStream(Handle* handle, void* stream) {
    if (injected()) return SOLVER_EXECUTION_FAILED;
    return handle->stream = stream, SOLVER_SUCCESS;
}
API cusolverDnCreateParams(Handle** out) { return cusolverDnCreate(out); }
API cusolverDnDestroyParams(Handle* params) { return cusolverDnDestroy(params); }

API cusolverDnXpotrf_bufferSize(Handle*, Handle*, int, int64_t, int, const void*, int64_t, int, size_t* device,
                                size_t* host) {
    if (injected()) return SOLVER_EXECUTION_FAILED;
    *device = *host = WORK_BYTES;
    return SOLVER_SUCCESS;
}

API cusolverDnXpotrf(Handle* handle, Handle*, int triangle, int64_t n, int type, void* a, int64_t stride, int,
                     void*, size_t device_bytes, void*, size_t host_bytes, int* info) {
    if (injected()) return SOLVER_EXECUTION_FAILED;
    const Lock lock(driver.lock);
    Stream* stream = find_stream(handle->stream);
    if (!stream || triangle != LOWER || stride < n || device_bytes < WORK_BYTES || host_bytes < WORK_BYTES) {
        return SOLVER_INVALID_VALUE;
    }
    const Result outcome = submit_counted(*stream, [=] {
        type == R_32F ? run(static_cast<float*>(a), n, stride, info)
                      : run(static_cast<double*>(a), n, stride, info);
    });
    return outcome == SUCCESS ? SOLVER_SUCCESS : SOLVER_EXECUTION_FAILED;
}

API cusolverDnXpotrs(Handle* handle, Handle*, int triangle, int64_t n, int64_t count, int type, const void* l,
                     int64_t stride, int, void* b, int64_t b_stride, int* info) {
    if (injected()) return SOLVER_EXECUTION_FAILED;
    const Lock lock(driver.lock);
    Stream* stream = find_stream(handle->stream);
    if (!stream || triangle != LOWER || stride < n || b_stride < n) return SOLVER_INVALID_VALUE;
    const Result outcome = submit_counted(*stream, [=] {
        type == R_32F
            ? solve(static_cast<const float*>(l), n, stride, static_cast<float*>(b), b_stride, count, info)
            : solve(static_cast<const double*>(l), n, stride, static_cast<double*>(b), b_stride, count, info);
    });
    return outcome == SUCCESS ? SOLVER_SUCCESS : SOLVER_EXECUTION_FAILED;
}
