// Copies of factors from one batch to another, whose matrices may have room for other orders.
//
// Matrix `chosen[k]` of the one, or k without a list, becomes matrix `first + k` of the other, for k < count: L, its order, and
// why it has none. The order is at most the n of the other batch, whose further rows and columns become those of the identity.
//
// Launch: any number of blocks of THREADS threads.
#include "batch/batch.cuh"

constexpr int THREADS = 128;

// Why matrices have no factor, and the places of what is wrong.
struct Reasons {
    int* why;
    int* place_of;
};

struct Choice {
    const int* chosen;
    long long first;
    long long count;
    Reasons from, to;
};

// A thread has a matrix that lies side by side with others, a warp has any other one.
template <class T>
__device__ __forceinline__ void select(const Factors<T>& from, const Factors<T>& to, const Choice& choice) {
    const int members = to.group == 1 ? 32 : 1, member = threadIdx.x % members, n = to.n;
    const long long threads = (long long)gridDim.x * THREADS;
    const long long begin = ((long long)blockIdx.x * THREADS + threadIdx.x) / members;
    for (long long number = begin; number < choice.count; number += threads / members) {
        const long long source = choice.chosen ? choice.chosen[number] : number, b = choice.first + number;
        const int order = from.orders[source];
        const T* const l = from.of(source);
        T* const other = to.of(b);
        for (int j = 0; j < n; ++j)
            for (int i = j + member; i < n; i += members) {
                const T entry = i < order ? l[(long long)place(from.n, i, j) * from.group] : T(i == j);
                other[(long long)place(n, i, j) * to.group] = entry;
            }
        if (member > 0) continue;
        const int why = choice.from.why[source], at = choice.from.place_of[source];
        to.orders[b] = order;
        choice.to.why[b] = why;
        // A row and column of A, in a matrix of the other order.
        choice.to.place_of[b] = why == NOT_FINITE ? at % from.n + at / from.n * n : at;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    batch_select_f32(const Factors<float> from, const Factors<float> to, const Choice choice) {
    select(from, to, choice);
}
extern "C" __global__ void __launch_bounds__(THREADS)
    batch_select_f64(const Factors<double> from, const Factors<double> to, const Choice choice) {
    select(from, to, choice);
}

constexpr int CHOICE = sizeof(Choice);

EXPORT_LAYOUT(batch_copies, THREADS, CHOICE)
