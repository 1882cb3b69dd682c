// Warp collectives: shuffles, votes and the FP64 matrix product of a warp.
//
// Protocol. Every lane stores its operand in its `Thread`, waits at `collective`, and reads its result
// there. Lanes named in the mask that have returned take no part; a shuffle from such a lane, undefined on
// a device, is NaN here.
#pragma once
#include "fibers.h"
#include <cmath>
#include <cstring>

namespace fake {

enum Kind { SYNC_WARP, SHUFFLE, SHUFFLE_XOR, SHUFFLE_UP, SHUFFLE_DOWN, BALLOT, MMA_M8N8K4_F64, MMA_M16N8K16_F64 };

inline int lane() { return static_cast<int>(thread->linear & 31); }

inline void shuffle_lanes(Thread* const* lanes) {
    for (int l = 0; l < 32; ++l) {
        if (!lanes[l]) continue;
        const Thread* source = lanes[lanes[l]->source];
        if (source) {
            std::memcpy(lanes[l]->out, source->in, sizeof source->in);
        } else {
            std::memset(lanes[l]->out, 0xFF, sizeof lanes[l]->out);
        }
    }
}

/// The value of lane `source`.
template <class T> T exchange(Kind kind, unsigned mask, T value, int source) {
    static_assert(sizeof(T) <= sizeof(Thread::in), "too wide for a shuffle");
    Thread* me = thread;
    std::memcpy(me->in, &value, sizeof value);
    me->source = source;
    collective(kind, mask, shuffle_lanes);
    std::memcpy(&value, me->out, sizeof value);
    return value;
}

/// `source` if it lies in the lane's own group of `width` lanes, else the lane itself.
inline int within(int source, int width) {
    const int first = lane() & ~(width - 1);
    return source < first || source >= first + width ? lane() : source;
}

inline void ballot_lanes(Thread* const* lanes) {
    unsigned votes = 0;
    for (int l = 0; l < 32; ++l) {
        if (lanes[l] && lanes[l]->in[0]) votes |= 1u << l;
    }
    for (int l = 0; l < 32; ++l) {
        if (lanes[l]) lanes[l]->out[0] = votes;
    }
}

inline unsigned ballot(unsigned mask, bool predicate) {
    Thread* me = thread;
    me->in[0] = predicate;
    collective(BALLOT, mask, ballot_lanes);
    return static_cast<unsigned>(me->out[0]);
}

inline void mma_lanes(Thread* const* lanes) {
    double a[8][4], b[4][8], c[8][8];
    for (int l = 0; l < 32; ++l) {
        if (!lanes[l]) {
            block->error = "a matrix product of a warp that is not full";
            return;
        }
        std::memcpy(&a[l / 4][l % 4], &lanes[l]->in[0], sizeof(double));
        std::memcpy(&b[l % 4][l / 4], &lanes[l]->in[1], sizeof(double));
        std::memcpy(&c[l / 4][l % 4 * 2], lanes[l]->out, 2 * sizeof(double));
    }
    for (int i = 0; i < 8; ++i) {
        for (int p = 0; p < 4; ++p) {
            for (int j = 0; j < 8; ++j) c[i][j] = std::fma(a[i][p], b[p][j], c[i][j]);
        }
    }
    for (int l = 0; l < 32; ++l) std::memcpy(lanes[l]->out, &c[l / 4][l % 4 * 2], 2 * sizeof(double));
}

/// C (8 × 8) += A (8 × 4) · B (4 × 8) by a full warp, with the fragments of PTX `mma.m8n8k4.f64`. A kernel
/// calls it instead of the inline PTX.
inline void mma_m8n8k4_f64(double& c0, double& c1, double a, double b) {
    Thread* me = thread;
    const double c[2] = {c0, c1};
    std::memcpy(&me->in[0], &a, sizeof a);
    std::memcpy(&me->in[1], &b, sizeof b);
    std::memcpy(me->out, c, sizeof c);
    collective(MMA_M8N8K4_F64, ~0u, mma_lanes);
    std::memcpy(&c0, &me->out[0], sizeof c0);
    std::memcpy(&c1, &me->out[1], sizeof c1);
}

/// The positions of a lane's parts of three matrices.
struct MmaParts {
    double* c;
    const double (*a)[2];
    const double* b;
};

inline void mma_16_8_16_lanes(Thread* const* lanes) {
    double a[16][16], b[16][8], c[16][8];
    MmaParts parts[32];
    for (int l = 0; l < 32; ++l) {
        if (!lanes[l]) {
            block->error = "a matrix product of a warp that is not full";
            return;
        }
        const MmaParts* its;
        std::memcpy(&its, lanes[l]->in, sizeof its);
        parts[l] = *its;
        for (int s = 0; s < 4; ++s) {
            for (int half = 0; half < 2; ++half) a[l / 4 + 8 * half][4 * s + l % 4] = parts[l].a[s][half];
            b[4 * s + l % 4][l / 4] = parts[l].b[s];
            c[l / 4 + s / 2 * 8][l % 4 * 2 + s % 2] = parts[l].c[s];
        }
    }
    for (int i = 0; i < 16; ++i) {
        for (int p = 0; p < 16; ++p) {
            for (int j = 0; j < 8; ++j) c[i][j] = std::fma(a[i][p], b[p][j], c[i][j]);
        }
    }
    for (int l = 0; l < 32; ++l) {
        for (int s = 0; s < 4; ++s) parts[l].c[s] = c[l / 4 + s / 2 * 8][l % 4 * 2 + s % 2];
    }
}

/// C (16 × 8) += A (16 × 16) · B (16 × 8) by a full warp, with the fragments of PTX `mma.m16n8k16.f64`.
inline void mma_m16n8k16_f64(double (&c)[4], const double (&a)[4][2], const double (&b)[4]) {
    const MmaParts parts{c, a, b};
    const MmaParts* const mine = &parts;
    std::memcpy(thread->in, &mine, sizeof mine);
    collective(MMA_M16N8K16_F64, ~0u, mma_16_8_16_lanes);
}

} // namespace fake

inline void __syncwarp(unsigned mask = ~0u) {
    fake::collective(fake::SYNC_WARP, mask, [](fake::Thread* const*) {});
}

template <class T> T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    const int first = fake::lane() & ~(width - 1);
    return fake::exchange(fake::SHUFFLE, mask, value, first + (source & (width - 1)));
}

template <class T> T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {
    return fake::exchange(fake::SHUFFLE_XOR, mask, value, fake::within(fake::lane() ^ lanes, width));
}

template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    return fake::exchange(fake::SHUFFLE_UP, mask, value, fake::within(fake::lane() - int(delta), width));
}

template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    return fake::exchange(fake::SHUFFLE_DOWN, mask, value, fake::within(fake::lane() + int(delta), width));
}

inline unsigned __ballot_sync(unsigned mask, int predicate) { return fake::ballot(mask, predicate != 0); }
inline int __any_sync(unsigned mask, int predicate) { return fake::ballot(mask, predicate != 0) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return fake::ballot(mask, predicate == 0) == 0; }
