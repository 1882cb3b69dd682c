// A panel's record: what its diagonal step publishes for the rows below, in doubles, and the flag that shows its
// progress.
//
// The operands of matrix products lie in fragments of 16 x 8, each in the order in which the lanes of a warp load it
// for one mma.m16n8k16 as its second operand, two entries at a time (in_fragment):
//
//     P_AT       -P (64 x RANK_BLOCK): fragment V_EIGHTS s + t has rows 16 s .. and columns 8 t ..
//     N_AT       N (RANK_BLOCK x 64): fragment V_SIXTEENS t + s has rows 16 s .. and columns 8 t ..; its rows come in
//                the order in which a warp holds the columns of V (v_rows.cuh)
//     M_AT       M - 1 (16 x 16, upper triangular) of each sixteen columns: a half fragment, of its first eight columns
//                and rows, and a fragment
//     PIVOTS_AT  the new diagonal
//     MODE_AT    the panel's mode
//     BASIS_AT   R^-1 (RANK_BLOCK x RANK_BLOCK), where the panel rebases, in fragments as N
//     GRAM_AT    G after the panel (RANK_BLOCK x RANK_BLOCK), in the order of GramEntries (basis.cuh)
//     BASIS_USED_AT  whether that G is not zero
//     PUBLISHED_MODE_AT  the mode, for readers that poll the payload (payload.cuh)
//
// Columns of N and M - 1 are permuted so that a product leaves each thread with the columns of L that it holds
// (column_in_product).
//
// A panel in the Householder fallback stores instead: rows b_j (64 x RANK_BLOCK) at P_AT; S rho_j (64), x_j (64) and
// interchanges (64) at N_AT; the lower triangle of its new diagonal block, row by row, at DIAGONAL_AT.
#pragma once
#include "common/flags.cuh"
#include "common/memory.cuh"
#include "resident/sweep_args.cuh"

constexpr int FRAGMENT = 128;
// Where entry s of a lane lies in its fragment.
__device__ constexpr int in_fragment(int s, int lane) { return s / 2 * 64 + 2 * lane + s % 2; }
// Of eight columns of a product's second operand, the one that becomes column n of L. Thread q of a row holds columns 2
// q and 2 q + 1 of a product, and columns q and q + 4 of L.
__device__ constexpr int column_in_product(int n) { return 2 * (n % 4) + n / 4; }

constexpr int P_AT = 0;
constexpr int N_AT = P_AT + PANEL_COLS * RANK_BLOCK;
constexpr int M_AT = N_AT + PANEL_COLS * RANK_BLOCK;
constexpr int M_OF_SIXTEEN = FRAGMENT / 2 + FRAGMENT;
constexpr int PIVOTS_AT = M_AT + PANEL_COLS / 16 * M_OF_SIXTEEN;
constexpr int MODE_AT = PIVOTS_AT + PANEL_COLS;
constexpr int STAGED = MODE_AT + 2;    // doubles that an update task copies to shared memory
constexpr int BASIS_AT = STAGED + 14;  // records and their parts begin at multiples of 128 bytes
constexpr int GRAM_AT = BASIS_AT + RANK_BLOCK * RANK_BLOCK;
constexpr int BASIS_USED_AT = GRAM_AT + RANK_BLOCK * RANK_BLOCK;
constexpr int PUBLISHED_MODE_AT = BASIS_USED_AT + 1;
constexpr int DIAGONAL_AT = BASIS_USED_AT + 16;
constexpr int RECORD = DIAGONAL_AT + PANEL_COLS * (PANEL_COLS + 1) / 2;

// Bits of a panel's mode: V was expressed in a new basis before the panel; the panel takes the Householder fallback.
constexpr int REBASED = 1, FALLBACK = 2;
constexpr int MODE_BITS = 2;  // of them
// A bit of the published mode: the payload has been published more than once.
constexpr int PUBLISHED_AGAIN = 4;
// Bits of a panel's flag besides its mode: -P, or the reflectors, are published; N and M are published as well.
constexpr int P_PUBLISHED = 4, COEFFICIENTS_PUBLISHED = 8;

// The mode of one of a row block's panels, of which `modes` has MODE_BITS each.
__device__ __forceinline__ int mode_of(int modes, int panel) {
    return modes >> MODE_BITS * panel & (REBASED | FALLBACK);
}

// By one thread, after a barrier of its block: all that the block has written so far is visible to readers that find
// the flag, on all devices.
template <class T>
__device__ __forceinline__ void publish_panel(const Sweep<T>& sweep, int panel, int flag) {
    store_release(sweep.flags + panel, flag);
    publish_flag_there(sweep.peers, sweep.flags + panel, flag);
}

template <class T>
__device__ __forceinline__ int panel_flag(const Sweep<T>& sweep, int panel) {
    return load_acquire(sweep.flags + panel);
}

// Stores a word of a record's payload.
__device__ __forceinline__ void publish_word(const Peers* peers, double* at, double x) {
    store_relaxed(at, x);
    publish_there(peers, at, x);
}

// Waits until the panel's flag is at least `least`.
template <class T>
__device__ __forceinline__ void poll_panel(const Sweep<T>& sweep, int panel, int least) {
    poll_flag(sweep.peers, sweep.flags + panel, least);
}

// The same by a warp, with one polling lane; returns the panel's mode.
template <class T>
__device__ __forceinline__ int poll_panel_by_warp(const Sweep<T>& sweep, int panel, int least) {
    int found = 0;
    if (threadIdx.x % 32 == 0) found = poll_flag(sweep.peers, sweep.flags + panel, least);
    __syncwarp();
    return __shfl_sync(ALL_LANES, found, 0) & (REBASED | FALLBACK);
}
